package daemon

import (
	"context"
	"net"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// lookupTime bounds the search for the name of a client's host.
const lookupTime = 3 * time.Second

// identify asks the queue manager who a client is.
func (c *clients) identify(ctx context.Context, r fap.ConnectRequest) (auth.Identity, error) {
	a := &qmgr.ClientAttempt{Channel: r.Instance.Channel, Addr: r.Peer.Addr.String(), User: r.User, ApplName: r.ApplName,
		ApplType: r.ApplType, Hosts: func() []string { return hostNames(ctx, auth.ParseIP(r.Peer.Addr.String()).WithZone("").String()) }}
	credentials(a, &r)
	if t := r.Peer.TLS; t != nil && len(t.PeerCertificates) > 0 {
		a.Peer = t.PeerCertificates[0]
	}
	if c.qm.ChannelStopped(r.Instance.Channel) { // since the instance began
		return auth.Identity{}, mqi.E("MQCONN", r.Instance.Channel, mqi.MQRC_CHANNEL_NOT_AVAILABLE)
	}
	c.early.asks(pairOf(r.Peer.Local, r.Peer.Addr), c.clk.Now())
	return c.qm.AdmitClient(ctx, a)
}

// credentials are those of MQCSP, or of compatibility mode.
func credentials(a *qmgr.ClientAttempt, r *fap.ConnectRequest) {
	switch c := r.Auth; {
	case c != nil && (c.Token != "" || c.AuthType == mqi.MQCSP_AUTH_ID_TOKEN):
		a.Credentials = qmgr.Credentials{Given: true, User: c.User}
		a.Token = true
	case c != nil && c.User != "":
		a.Credentials = qmgr.Credentials{Given: true, User: c.User, Password: c.Password}
		a.Unreadable = r.Protected
	case r.Password != "": // with the short user id
		a.Credentials = qmgr.Credentials{Given: true, User: r.User, Password: r.Password}
	}
}

// connected notes a client whose MQCONN has succeeded. Until then it counts as one that has not connected.
func (c *clients) connected(r fap.ConnectRequest, id auth.Identity) {
	c.early.connected(pairOf(r.Peer.Local, r.Peer.Addr))
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.who[r.Instance]; w != nil {
		w.user, w.appl = id.User, r.ApplName
	}
}

// hostNames finds the names of an address, and keeps those that lead back to it.
func hostNames(ctx context.Context, ip string) []string {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	names, err := net.DefaultResolver.LookupAddr(ctx, ip)
	if err != nil {
		return nil // a host without a name fits no record with one
	}
	var out []string
	for _, n := range names {
		addrs, err := net.DefaultResolver.LookupIPAddr(ctx, n)
		if err != nil {
			continue
		}
		for _, back := range addrs {
			if back.IP.Equal(net.ParseIP(ip)) {
				out = append(out, n)
				break
			}
		}
	}
	return out
}

// plainPasswords says whether a peer without TLS may send its password in clear: on this machine, and elsewhere when the
// operator says so.
func (c *clients) plainPasswords(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return c.plainEverywhere || ok && t.IP.IsLoopback()
}
