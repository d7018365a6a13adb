package web

import (
	"context"
	"net"
	"net/http"
	"os"
	"os/user"
	"strconv"

	"github.com/qmgrd/qmgrd/internal/auth"
)

type (
	identityKey struct{}
	pidKey      struct{}
)

// Peer is what the kernel says of the other end of a local socket.
type Peer struct{ UID, PID int }

// Admins says who may do everything beside root: the uid the manager runs as and the members of a group.
type Admins struct {
	UID   int
	Group string // may be ""
}

// Identify makes an identity of a peer. A uid without an account is its number.
func (a Admins) Identify(p Peer) auth.Identity {
	id := auth.Identity{User: strconv.Itoa(p.UID), UID: p.UID, Origin: "local"}
	id.Admin = p.UID == 0 || p.UID == a.UID
	u, err := user.LookupId(id.User)
	if err != nil {
		return id
	}
	id.User = u.Username
	gids, err := u.GroupIds()
	if err != nil {
		return id
	}
	for _, gid := range gids {
		name := gid
		if g, err := user.LookupGroupId(gid); err == nil {
			name = g.Name
		}
		id.Groups = append(id.Groups, name)
		id.Admin = id.Admin || a.Group != "" && name == a.Group
	}
	return id
}

// connContext stores who is at the other end, once for a connection. A connection whose peer cannot be told, such as
// one over TCP, has an identity without rights.
func (s *Server) connContext(ctx context.Context, c net.Conn) context.Context {
	id := auth.Identity{User: "nobody", UID: -1, Origin: "http"}
	if s.opt.LoopbackAdmin && c.LocalAddr().Network() == "tcp" {
		// --http-insecure: everybody on this machine is the manager's own user, as the flag's help says.
		id = s.opt.Admins.Identify(Peer{UID: os.Getuid()})
		id.Origin = "http"
	}
	if p, err := peerOf(c); err == nil {
		id = s.opt.Admins.Identify(p)
		ctx = context.WithValue(ctx, pidKey{}, p.PID)
	}
	return context.WithValue(ctx, identityKey{}, id)
}

func identityOf(r *http.Request) auth.Identity {
	id, _ := r.Context().Value(identityKey{}).(auth.Identity)
	return id
}

// pidOf is the process at the other end of a local socket, 0 when that is not known.
func pidOf(r *http.Request) int {
	pid, _ := r.Context().Value(pidKey{}).(int)
	return pid
}
