package paths

// Sockets with paths of any length: the kernel takes 107 bytes in an address, so a longer path goes through an open
// directory, as /proc/self/fd/N/NAME.

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// maxSocketPath is the longest path that a socket address holds (sun_path less its final NUL).
const maxSocketPath = 107

// DialUnix connects to the socket at path.
func DialUnix(ctx context.Context, path string) (net.Conn, error) {
	addr, dir, err := shortAddr(path)
	if err != nil {
		return nil, err
	}
	if dir != nil {
		defer dir.Close()
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", addr)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", path, unwrapOp(err))
	}
	return conn, nil
}

// Listener is a listening socket that removes its file when it is closed.
type Listener struct {
	*net.UnixListener
	path string
	dir  *os.File // kept open while the address goes through it, or nil
	once sync.Once
	err  error
}

// ListenUnix listens on the socket at path. A socket file that nobody answers on is left over from a process that is
// gone, and is replaced; one that is answered is refused.
func ListenUnix(path string) (*Listener, error) {
	if err := removeStale(path); err != nil {
		return nil, err
	}
	addr, dir, err := shortAddr(path)
	if err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: addr, Net: "unix"})
	if err != nil {
		if dir != nil {
			dir.Close()
		}
		return nil, fmt.Errorf("listen on %s: %w", path, unwrapOp(err))
	}
	l.SetUnlinkOnClose(false) // Close removes the file by its real path
	return &Listener{UnixListener: l, path: path, dir: dir}, nil
}

// Close stops listening and removes the socket's file.
func (l *Listener) Close() error {
	l.once.Do(func() {
		rm := os.Remove(l.path)
		if errors.Is(rm, os.ErrNotExist) {
			rm = nil
		}
		l.err = errors.Join(l.UnixListener.Close(), rm)
		if l.dir != nil {
			l.dir.Close()
		}
	})
	return l.err
}

// Addr gives the real path, not the one through the open directory.
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

func removeStale(path string) error {
	fi, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if fi.Mode().Type() != os.ModeSocket {
		return fmt.Errorf("listen on %s: a file that is not a socket is there", path)
	}
	conn, err := DialUnix(context.Background(), path)
	if err == nil {
		conn.Close()
		return fmt.Errorf("listen on %s: %w", path, syscall.EADDRINUSE)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}

// shortAddr gives an address for path that the kernel takes, and the directory to keep open while it is used.
func shortAddr(path string) (string, *os.File, error) {
	if len(path) <= maxSocketPath {
		return path, nil, nil
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		dir.Close()
		return "", nil, fmt.Errorf("socket path %s has %d bytes, more than %d: use a shorter data directory",
			path, len(path), maxSocketPath)
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(path)), dir, nil
}

// unwrapOp drops net's wrapper, which would name the address through the open directory.
func unwrapOp(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}
