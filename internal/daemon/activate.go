package daemon

import (
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// firstActivated is the first descriptor systemd hands over (SD_LISTEN_FDS_START).
const firstActivated = 3

// maxActivated bounds how many we look at.
const maxActivated = 64

// activation holds the sockets that systemd opened for us, until somebody asks for their address.
type activation struct {
	mu  invariants.Mutex
	tcp []net.Listener
}

// newActivation takes LISTEN_FDS out of the environment. Sockets that are not TCP are closed: admin.sock is ours.
func newActivation() *activation {
	a := &activation{}
	pid, fds := os.Getenv("LISTEN_PID"), os.Getenv("LISTEN_FDS")
	for _, v := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
		os.Unsetenv(v)
	}
	n, err := strconv.Atoi(fds)
	if err != nil || pid != strconv.Itoa(os.Getpid()) || n < 0 || n > maxActivated {
		return a
	}
	for fd := firstActivated; fd < firstActivated+n; fd++ {
		f := os.NewFile(uintptr(fd), "LISTEN_FD_"+strconv.Itoa(fd))
		l, err := net.FileListener(f)
		f.Close()
		if err != nil {
			continue
		}
		if _, ok := l.(*net.TCPListener); !ok {
			l.Close()
			continue
		}
		a.tcp = append(a.tcp, l)
	}
	return a
}

// take returns the inherited socket for addr, or nil. The port must agree; a host, when addr has one, too.
func (a *activation) take(addr string) net.Listener {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "0" {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, l := range a.tcp {
		lhost, lport, err := net.SplitHostPort(l.Addr().String())
		if err != nil || lport != port {
			continue
		}
		if host != "" && !strings.EqualFold(host, lhost) && !net.ParseIP(host).Equal(net.ParseIP(lhost)) {
			continue
		}
		a.tcp = append(a.tcp[:i], a.tcp[i+1:]...)
		return l
	}
	return nil
}

// closeRest closes what nobody asked for.
func (a *activation) closeRest() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.tcp {
		l.Close()
	}
	a.tcp = nil
}
