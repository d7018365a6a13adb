package crashtest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/mq"
)

// startServing makes a queue manager in a process of its own that lets this test's clients in.
func startServing(t *testing.T, o order) *child {
	t.Helper()
	o.Data = t.TempDir()
	k, err := startChild(order{Data: o.Data})
	must(t, err)
	out, err := k.script(bg, "DEFINE QLOCAL(K.0) MAXDEPTH(999999)\nDEFINE CHANNEL("+killChannel+") CHLTYPE(SVRCONN) MCAUSER('"+me()+
		"')\nALTER QMGR CHLAUTH(DISABLED) CONNAUTH(' ')\nREFRESH SECURITY TYPE(CONNAUTH)\n")
	must(t, err)
	if strings.Contains(out, "E:") {
		t.Fatal(out)
	}
	k.kill()
	must(t, os.WriteFile(paths.Dir(o.Data, "QM1")+"/qm.ini", []byte("Log:\n   SegmentSize=1M\n"), 0o600))
	k, err = startChild(o)
	must(t, err)
	t.Cleanup(k.kill)
	must(t, k.locate(bg))
	return k
}

// cpu is the processor time a process has used.
func (k *child) cpu(t *testing.T) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", k.cmd.Process.Pid))
	must(t, err)
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	user, err := strconv.Atoi(string(f[11]))
	must(t, err)
	system, err := strconv.Atoi(string(f[12]))
	must(t, err)
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ is 100
}

func (k *child) fds(t *testing.T) int {
	t.Helper()
	es, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", k.cmd.Process.Pid))
	must(t, err)
	return len(es)
}

// rss is the memory in use, in KiB.
func (k *child) rss(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", k.cmd.Process.Pid))
	must(t, err)
	_, after, _ := strings.Cut(string(b), "VmRSS:")
	n, err := strconv.Atoi(strings.Fields(after)[0])
	must(t, err)
	return n
}

// putAndGet sends messages through a connection and back.
func putAndGet(ctx context.Context, q *mq.Queue, count, size int) error {
	for i := range count {
		id := fmt.Sprint("f", i)
		m := mq.NewMessage([]byte(id + "|" + filler(id, size)))
		m.Persistence = mq.Persistent
		if err := q.Put(ctx, m, mq.PutOptions{}); err != nil {
			return err
		}
		g, err := q.Get(ctx, mq.GetOptions{})
		if err != nil {
			return err
		}
		if !bytes.Equal(g.Body, m.Body) {
			return fmt.Errorf("%s came back as %.40q", id, g.Body)
		}
	}
	return nil
}

// T-IOERR, out of file descriptors (reliability.md §3.3): 1,000 clients on the port and the socket of a manager that may
// open 256 files. Those that are in work on, also when the log needs a file; nothing spins; when the crowd is gone,
// newcomers are let in.
func TestOutOfDescriptors(t *testing.T) {
	k := startServing(t, order{OpenMax: 256})
	ctx, cancel := context.WithTimeout(bg, 2*time.Minute)
	defer cancel()
	c, err := k.connect(ctx)
	must(t, err)
	defer c.Close()
	q, err := c.Open(ctx, "K.0", mq.InputShared|mq.Output)
	must(t, err)
	must(t, putAndGet(ctx, q, 5, 1000))
	crowd := makeCrowd(k, 1000)
	defer crowd.leave()
	open := k.fds(t)
	for end := time.Now().Add(20 * time.Second); open < 200; open = k.fds(t) {
		if time.Now().After(end) {
			t.Fatalf("%d descriptors are open: the crowd is not in", open)
		}
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(500 * time.Millisecond)
	var busy time.Duration
	for range 5 { // what it does for the last that came ends; a listener that spins does not
		before := k.cpu(t)
		time.Sleep(2 * time.Second)
		if busy = k.cpu(t) - before; busy <= 100*time.Millisecond {
			break
		}
	}
	if busy > 100*time.Millisecond {
		t.Errorf("%v of processor time in 2 s while nobody works: a listener spins", busy)
	}
	if err := putAndGet(ctx, q, 400, 60_000); err != nil { // several log segments, and checkpoints
		t.Errorf("the client that was in cannot work: %v\n%s", err, k.stderr.String())
	}
	crowd.leave()
	begun := time.Now()
	c2, err := k.connect(ctx)
	must(t, err)
	must(t, c2.Disconnect(ctx))
	_, err = k.script(ctx, "DISPLAY QMGR\n")
	must(t, err)
	took := time.Since(begun)
	if took > 20*time.Second { // 1 s on a machine that has nothing else to do
		t.Errorf("it took %v until a newcomer was let in", took)
	}
	must(t, putAndGet(ctx, q, 5, 1000))
	t.Logf("%d of 1,000 connections made, %d descriptors of 256 open; %v of processor time in 2 s; a newcomer was let in after %v",
		crowd.n, open, busy, took)
}

// crowd is many connections that say nothing.
type crowd struct {
	n     int
	conns []net.Conn
}

func makeCrowd(k *child, n int) *crowd {
	c := &crowd{}
	socket := paths.Socket(k.order.Data, "QM1")
	var dialer net.Dialer
	for i := range n {
		ctx, cancel := context.WithTimeout(bg, 100*time.Millisecond)
		var nc net.Conn
		var err error
		if i%3 == 2 {
			nc, err = paths.DialUnix(ctx, socket)
		} else {
			nc, err = dialer.DialContext(ctx, "tcp", k.addr)
		}
		cancel()
		if err == nil {
			c.conns, c.n = append(c.conns, nc), c.n+1
		}
	}
	return c
}

func (c *crowd) leave() {
	for _, nc := range c.conns {
		nc.Close()
	}
	c.conns = nil
}

// Leaks (reliability.md §3.6): after 1,000 connections that came and went, half of them without a word in the middle of
// a unit of work, descriptors and memory are as before.
func TestNoLeaks(t *testing.T) {
	cycles := budget{test: 200, crash: 1_000, release: 20_000}.of(t)
	t.Setenv("GOGC", "50") // as at rest: under load the daemon lets 32 MiB of garbage lie
	k := startServing(t, order{})
	ctx, cancel := context.WithTimeout(bg, 20*time.Minute)
	defer cancel()
	must(t, comeAndGo(ctx, k, 200)) // what is kept for reuse is there now
	fds, rss := k.fds(t), k.settled(t)
	must(t, comeAndGo(ctx, k, cycles))
	for end := time.Now().Add(20 * time.Second); k.fds(t) > fds && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	after := k.settled(t)
	if n := k.fds(t); n > fds {
		t.Errorf("%d descriptors before, %d after", fds, n)
	}
	// 2 %, and what a garbage collector that has not run since may hold.
	if after > rss+rss/50+4<<10 {
		t.Errorf("%d KiB resident before, %d KiB after", rss, after)
	}
	out, err := k.script(ctx, "DISPLAY QSTATUS(K.0) CURDEPTH IPPROCS OPPROCS UNCOM\n")
	must(t, err)
	for _, want := range []string{"CURDEPTH(0)", "IPPROCS(0)", "OPPROCS(0)", "UNCOM(NO)"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
	t.Logf("%d cycles; %d descriptors before and %d after; %d KiB resident before, %d after", cycles, fds, k.fds(t), rss, after)
}

// settled is the least memory in use within a second.
func (k *child) settled(t *testing.T) int {
	t.Helper()
	least := k.rss(t)
	for range 10 {
		time.Sleep(100 * time.Millisecond)
		least = min(least, k.rss(t))
	}
	return least
}

func comeAndGo(ctx context.Context, k *child, n int) error {
	for i := range n {
		c, err := k.connect(ctx)
		if err != nil {
			return err
		}
		q, err := c.Open(ctx, "K.0", mq.InputShared|mq.Output)
		if err != nil {
			return err
		}
		if err := q.Put(ctx, mq.NewMessage([]byte("x|")), mq.PutOptions{Syncpoint: true}); err != nil {
			return err
		}
		if i%2 == 0 {
			_ = c.Close() // no MQDISC: the socket is gone
			continue
		}
		if err := c.Backout(ctx); err != nil {
			return err
		}
		if err := c.Disconnect(ctx); err != nil {
			return err
		}
	}
	return nil
}
