package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// usersName is the password file in a manager's folder.
const usersName = "users"

// ReadUsers reads the password file of a manager; without one there are no users. One that others can read is refused,
// because hashes are worth guessing at.
func ReadUsers(dir string) (*auth.Users, error) {
	name := filepath.Join(dir, usersName)
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return auth.NewUsers(), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others than its owner: chmod 600 it", name)
	}
	b := make([]byte, st.Size())
	if n, err := f.ReadAt(b, 0); n < len(b) {
		return nil, err
	}
	u, err := auth.ParseUsers(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return u, nil
}

// writeUsers replaces the password file as a whole. It belongs to whom the folder belongs to.
func writeUsers(dir string, u *auth.Users) error {
	f, err := os.CreateTemp(dir, "."+usersName+"-") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // of a name that is gone when all went well
	_, err = f.Write(u.Format())
	if st, serr := os.Stat(dir); serr == nil {
		if sys, ok := st.Sys().(*syscall.Stat_t); ok && os.Geteuid() == 0 {
			err = errors.Join(err, f.Chown(int(sys.Uid), int(sys.Gid)))
		}
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, usersName)); err != nil {
		return err
	}
	return vfs.OS().SyncDir(dir)
}

// EditUsers changes the password file of a manager, running or not. One change at a time.
func EditUsers(dataDir, qm string, edit func(*auth.Users) error) error {
	dir, err := find(dataDir, qm)
	if err != nil {
		return err
	}
	return editUsers(dir, edit)
}

func editUsers(dir string, edit func(*auth.Users) error) error {
	l, err := vfs.OS().Lock(filepath.Join(dir, usersName+".lock"))
	if errors.Is(err, vfs.ErrLocked) {
		return fmt.Errorf("somebody else changes the users in %s at this moment; try again", dir)
	}
	if err != nil {
		return err
	}
	defer l.Close()
	u, err := ReadUsers(dir)
	if err != nil {
		return err
	}
	if err := edit(u); err != nil {
		return err
	}
	return writeUsers(dir, u)
}

// ListUsers shows the users of a manager.
func ListUsers(dataDir, qm string) ([]auth.User, error) {
	dir, err := find(dataDir, qm)
	if err != nil {
		return nil, err
	}
	u, err := ReadUsers(dir)
	if err != nil {
		return nil, err
	}
	return u.List(), nil
}

// securityHost implements qmgr.SecurityHost.
type securityHost struct{ d *daemon }

// Users implements qmgr.SecurityHost.
func (h securityHost) Users() (*auth.Users, error) { return ReadUsers(h.d.dir) }

// ReloadTLS implements qmgr.SecurityHost.
func (h securityHost) ReloadTLS() error { return h.d.loadKeys() }

// Account implements qmgr.SecurityHost: the groups of a user of this machine, and whether it administers the manager as it
// does by the local socket.
func (h securityHost) Account(name string) auth.Account {
	u, err := user.Lookup(name)
	if err != nil {
		return auth.Account{}
	}
	a := auth.Account{Admin: u.Uid == "0" || u.Uid == strconv.Itoa(os.Getuid())}
	gids, err := u.GroupIds()
	if err != nil {
		return a
	}
	for _, gid := range gids {
		g, err := user.LookupGroupId(gid)
		if err != nil {
			continue
		}
		a.Groups = append(a.Groups, g.Name)
		a.Admin = a.Admin || g.Name == h.d.cfg.AdminGroup
	}
	return a
}

// loadKeys reads keys and certificates from where the queue manager's attributes lead.
func (d *daemon) loadKeys() error { return d.keys.load(d.qm.KeyRepository()) }
