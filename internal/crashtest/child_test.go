package crashtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/daemon"
	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/mq"
)

// A daemon as a process of its own: this test binary with childEnv set is one, the product's code with a disk that
// kills.

const (
	childEnv = "QMGRD_CRASHTEST_CHILD"
	// killChannel lets every client on this machine in as an administrator of the test.
	killChannel = "CRASH.SVRCONN"
)

// order is what a child is told.
type order struct {
	Data     string
	Point    string // where it kills itself, "" = nowhere
	N        int    // at the n-th time it comes there
	AtStart  bool   // counted from the start, not from arm on
	OpenMax  uint64 // limit of file descriptors, 0 = as it is
	LogLevel string
}

// childMain runs the daemon until it is killed or told to end by SIGTERM.
func childMain(text string) int {
	var o order
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if o.OpenMax > 0 {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: o.OpenMax, Max: o.OpenMax}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	disk := &killFS{FS: vfs.OS(), point: o.Point}
	disk.left.Store(int64(o.N))
	disk.armed.Store(o.AtStart)
	level, err := zerolog.ParseLevel(o.LogLevel)
	if err != nil {
		level = zerolog.ErrorLevel
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { // the parent holds the other end: no child outlives it
		defer cancel()
		for sc := bufio.NewScanner(os.Stdin); sc.Scan(); {
			disk.armed.Store(true)
		}
	}()
	err = daemon.Run(ctx, daemon.Options{Name: "QM1", DataDir: o.Data, Create: true, Listen: "127.0.0.1:0", FS: disk, Log: os.Stderr,
		LogLevel: level, Ready: func() { fmt.Println("ready") }})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// child is a running daemon.
type child struct {
	order  order
	cmd    *exec.Cmd
	in     io.WriteCloser
	stderr bytes.Buffer
	ended  chan struct{}
	addr   string
	web    *http.Client
}

var errNotReady = errors.New("it ended before it was ready")

// startChild returns when the daemon is ready; errNotReady when it died on the way.
func startChild(o order) (*child, error) { return startChildFor(o, 0) }

// startChildFor kills the daemon after limit, ready or not; 0 = never.
func startChildFor(o order, limit time.Duration) (*child, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	c := &child{order: o, cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	c.cmd.Stderr = &c.stderr
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if limit > 0 {
		time.AfterFunc(limit, func() { _ = c.cmd.Process.Kill() })
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		_ = c.cmd.Wait() // it was killed
		close(c.ended)
	}()
	if err != nil || line != "ready\n" {
		c.kill()
		return nil, fmt.Errorf("%w: %q %v: %s", errNotReady, line, err, c.stderr.String())
	}
	socket := paths.Socket(o.Data, "QM1")
	c.web = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return paths.DialUnix(ctx, socket)
	}}}
	return c, nil
}

// arm lets the child count the calls to its place from now on.
func (c *child) arm() { _, _ = io.WriteString(c.in, "arm\n") }

// kill ends the child with signal 9 and returns when it is gone.
func (c *child) kill() {
	_ = c.cmd.Process.Signal(syscall.SIGKILL)
	<-c.ended
	_ = c.in.Close()
	if c.web != nil {
		c.web.CloseIdleConnections()
	}
}

// dead waits at most d for the child to have killed itself.
func (c *child) dead(d time.Duration) bool {
	select {
	case <-c.ended:
		return true
	case <-time.After(d):
		return false
	}
}

// script runs commands through the socket and returns the report.
func (c *child) script(ctx context.Context, text string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://qmgrd/ibmmq/rest/v3/admin/action/qmgr/QM1/mqsc?echo=no&summary=no",
		strings.NewReader(text))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	req.Header.Set("ibm-mq-rest-csrf-token", "crashtest")
	resp, err := c.web.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, b)
	}
	return string(b), err
}

// locate asks for the port that was bound.
func (c *child) locate(ctx context.Context) error {
	st, err := daemon.StatusOf(ctx, c.order.Data, "QM1")
	if err != nil {
		return err
	}
	for _, l := range st.Listeners {
		c.addr = l.Address
	}
	if c.addr == "" {
		return fmt.Errorf("no listener in %+v", st)
	}
	return nil
}

func (c *child) connect(ctx context.Context) (*mq.Conn, error) {
	return mq.Connect(ctx, mq.Options{Addr: c.addr, Channel: killChannel})
}

// me is the user this test runs as: an administrator of what it starts.
func me() string {
	u, err := user.Current()
	if err != nil {
		return "root"
	}
	return u.Username
}
