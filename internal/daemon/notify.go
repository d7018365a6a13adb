package daemon

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// notifier talks to systemd over NOTIFY_SOCKET. Without that variable every call does nothing.
type notifier struct {
	addr string
	clk  clock.Clock
}

// notifyPatience is what one word waits for a supervisor that does not read: its hanging is not ours, at an end least of all.
const notifyPatience = time.Second

// newNotifier takes the variable out of the environment, so that the programs of services do not speak for us.
func newNotifier(clk clock.Clock) notifier {
	a := os.Getenv("NOTIFY_SOCKET")
	os.Unsetenv("NOTIFY_SOCKET")
	if strings.HasPrefix(a, "@") {
		a = "\x00" + a[1:]
	}
	return notifier{addr: a, clk: clk}
}

func (n notifier) send(state string) {
	if n.addr == "" {
		return
	}
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: n.addr, Net: "unixgram"})
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetWriteDeadline(n.clk.Now().Add(notifyPatience))
	_, _ = c.Write([]byte(state)) // systemd's absence is not our failure
}

// watchdog answers WATCHDOG_USEC at half its period, as long as alive says so.
func (n notifier) watchdog(ctx context.Context, alive func() bool) error {
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if pid := os.Getenv("WATCHDOG_PID"); err != nil || usec <= 0 || n.addr == "" ||
		pid != "" && pid != strconv.Itoa(os.Getpid()) {
		return nil
	}
	period := time.Duration(usec) * time.Microsecond / 2
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-n.clk.After(period):
			if alive() {
				n.send("WATCHDOG=1")
			}
		}
	}
}
