package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Many connections at once: what they cost a queue manager that does nothing else.
const (
	// connectionsBudget is the environment variable that says how many; without it the test takes the share of a thousand.
	connectionsBudget = "QMGRD_CONNECTIONS"
	connectionsShare  = 1000
	// What ten thousand may cost, less what a queue manager needs for itself.
	idleEach, busyEach = (300 - processMiB) << 20 / 10_000, (1024 - processMiB) << 20 / 10_000
	processMiB         = 48
	// idleLimit is the processor time of idle ones in 3 s: 5 %, as a clock tick is 10 ms.
	idleLimit = 150 * time.Millisecond
)

// TestConnections: memory with all clients idle and with all busy, processor time of idle ones, and that a client which does
// not read delays nobody.
func TestConnections(t *testing.T) {
	n := connectionsShare
	if v := os.Getenv(connectionsBudget); v != "" {
		var err error
		if n, err = strconv.Atoi(v); err != nil {
			t.Fatalf("%s=%s: %v", connectionsBudget, v, err)
		}
	}
	qm := startMany(t)
	began := time.Now()
	all := make([]*rawClient, n)
	inParallel(all, func(i int) { all[i] = dialRaw(t, qm.addr, "Q") })
	t.Logf("%d connected in %v", n, time.Since(began).Round(time.Millisecond))

	time.Sleep(500 * time.Millisecond)
	idle := rss(t, qm.pid)
	var used time.Duration
	for try := range 5 { // what it still does for those who have just come ends; what idle ones need does not
		cpu0, at := cpuTime(t, qm.pid), time.Now()
		time.Sleep(3 * time.Second)
		used = cpuTime(t, qm.pid) - cpu0
		t.Logf("idle: %d MiB, %d bytes each; %.2f %% of a processor", idle>>20, (idle-qm.rss)/int64(n), 100*used.Seconds()/time.Since(at).Seconds())
		if idle = min(idle, rss(t, qm.pid)); used <= idleLimit {
			break
		}
		t.Logf("try %d: not yet at rest", try+1)
	}
	if limit := processMiB<<20 + int64(n)*idleEach; idle > limit {
		t.Errorf("%d idle connections take %d MiB, more than %d", n, idle>>20, limit>>20)
	}
	if used > idleLimit {
		t.Errorf("%d idle connections used %v of processor time in 3 s", n, used)
	}

	// A client that asks for more than the sockets can hold, and reads nothing.
	slow := dialRaw(t, qm.addr, "SLOW")
	slow.flood()
	peak := int64(0)
	began = time.Now()
	rounds := 0
	var worst time.Duration
	for ; time.Since(began) < 3*time.Second || rounds == 0; rounds++ {
		round := time.Now()
		inParallel(all, func(i int) { all[i].sendPut() })
		inParallel(all, func(i int) { all[i].want(wire.MQPUT) })
		inParallel(all, func(i int) { all[i].sendGet() })
		inParallel(all, func(i int) { all[i].want(wire.MQGET) })
		worst = max(worst, time.Since(round))
		peak = max(peak, rss(t, qm.pid))
	}
	t.Logf("busy: %d MiB; %d rounds of put and get on each, %.0f messages/s, slowest round %v", peak>>20, rounds,
		float64(rounds*n)/time.Since(began).Seconds(), worst.Round(time.Millisecond))
	if limit := processMiB<<20 + int64(n)*busyEach; peak > limit {
		t.Errorf("%d busy connections take %d MiB, more than %d", n, peak>>20, limit>>20)
	}
	out, err := tool("runmqsc", qm.data, strings.NewReader("DISPLAY QSTATUS(Q) CURDEPTH\n"), "QM1")
	if err != nil || !bytes.Contains(out, []byte("CURDEPTH(0)")) {
		t.Errorf("%v: %s", err, out)
	}
	began = time.Now()
	inParallel(all, func(i int) { all[i].nc.Close() })
	slow.nc.Close()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if out, _ = tool("runmqsc", qm.data, strings.NewReader("DISPLAY CHSTATUS(*)\n"), "QM1"); bytes.Contains(out, []byte("AMQ8420I")) {
			t.Logf("all gone after %v", time.Since(began).Round(time.Millisecond))
			return
		}
	}
	t.Errorf("instances are left: %.300s", out)
}

// manyQM is a queue manager for TestConnections.
type manyQM struct {
	data, addr string
	pid        int
	rss        int64 // with nobody connected
}

func startMany(t *testing.T) *manyQM {
	t.Helper()
	q := &manyQM{data: t.TempDir(), addr: "127.0.0.1:" + freePort(t.Fatal)}
	for _, args := range [][]string{{"create", "QM1"}, {"start", "QM1", "--listen", q.addr, "--detach"}} {
		if _, err := qmgrd(q.data, nil, args...); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := qmgrd(q.data, nil, "stop", "QM1", "-i", "-w"); err != nil {
			t.Error(err)
		}
	})
	script := "ALTER QMGR CHLAUTH(DISABLED) CONNAUTH(' ')\nDEFINE QLOCAL(Q) MAXDEPTH(999999)\nDEFINE QLOCAL(SLOW)\n" +
		"DEFINE CHANNEL(APP.CH) CHLTYPE(SVRCONN) MCAUSER('app')\nSET AUTHREC OBJTYPE(QMGR) PRINCIPAL('app') AUTHADD(CONNECT)\n" +
		"SET AUTHREC OBJTYPE(QUEUE) PROFILE('*') PRINCIPAL('app') AUTHADD(PUT,GET,BROWSE)\n"
	if _, err := qmgrd(q.data, strings.NewReader("long enough\n"), "user", "add", "QM1", "app"); err != nil {
		t.Fatal(err)
	}
	if out, err := tool("runmqsc", q.data, strings.NewReader(script), "QM1"); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	q.pid = statusJSON(t, q.data, "QM1").PID
	q.rss = rss(t, q.pid)
	return q
}

// inParallel calls fn for each index, some at a time.
func inParallel[T any](all []T, fn func(i int)) {
	var wg sync.WaitGroup
	const workers = 64
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(all); i += workers {
				fn(i)
			}
		})
	}
	wg.Wait()
}

// rawClient is a client that costs little: a socket and a handle.
type rawClient struct {
	t    *testing.T
	nc   net.Conn
	hobj int32
}

func (c *rawClient) send(t wire.Type, hobj int32, flags byte, b wire.Body) {
	h := wire.Header{Magic: wire.TSH, Order: wire.Little, Encoding: wire.EncodingLittle, CCSID: 1208, Type: t, Flags: flags}
	if t != wire.InitialData {
		h.Magic, h.Conv = wire.TSHM, 1
	}
	codec, _ := h.Codec()
	if err := wire.WriteMessage(c.nc, h, wire.Encode(nil, t, wire.API{Hobj: hobj}, b, codec, h.Size()), wire.DefaultTransmission); err != nil {
		c.t.Errorf("%v: %v", t, err)
	}
}

func (c *rawClient) recv() (wire.Header, wire.API, wire.Body) {
	c.nc.SetReadDeadline(time.Now().Add(30 * time.Second))
	h, body, err := wire.ReadSegment(c.nc, 1<<20)
	if err != nil {
		c.t.Errorf("receiving: %v", err)
		return h, wire.API{}, nil
	}
	codec, _ := h.Codec()
	a, b, err := wire.Decode(h.Type, body, codec)
	if err != nil {
		c.t.Errorf("%v: %v", h.Type, err)
	}
	return h, a, b
}

// want receives the answer to a call, which has done its work.
func (c *rawClient) want(t wire.Type) (wire.API, wire.Body) {
	h, a, b := c.recv()
	if h.Type != t.Reply() || a.CompCode != 0 {
		c.t.Errorf("%v: answered by %v %d/%d", t, h.Type, a.CompCode, a.Reason)
	}
	return a, b
}

// dialRaw connects and opens a queue.
func dialRaw(t *testing.T, addr, queue string) *rawClient {
	nc, err := net.DialTimeout("tcp", addr, 20*time.Second)
	if err != nil {
		t.Error(err)
		nc, _ = net.Pipe()
	}
	c := &rawClient{t: t, nc: nc}
	id := &wire.ID{Size: wire.IDSize(12), FAP: 12, Cap1: wire.Cap1Conversion | wire.Cap1Split | wire.Cap1MQRequest, Cap2: wire.Cap2SPI,
		Cap3: wire.Cap3SyncGet, MaxTransmission: wire.DefaultTransmission, MaxMsgLength: 4 << 20, Channel: "APP.CH", CCSID: 1208,
		QMgr: "QM1", HeartbeatIv: 300, EFLLength: uint16(wire.IDSize(12) - 102), Convs: 1, Product: "MQCC09040100"}
	c.send(wire.InitialData, 0, wire.FlagConfirm, id)
	if _, _, b := c.recv(); b == nil || b.(*wire.ID).Err1 != 0 {
		t.Errorf("negotiation: %+v", b)
		return c
	}
	c.send(wire.UserIDData, 0, 0, &wire.UserID{User: "APP", LongUser: "app"})
	c.send(wire.MQCONN, 0, 0, &wire.Conn{QMgr: "QM1", ApplName: "many", ApplType: 6, Version: 2})
	c.want(wire.MQCONN)
	od := mqi.DefaultOD()
	od.ObjectName = queue
	c.send(wire.MQOPEN, 0, 0, &wire.Open{OD: od, Options: mqi.MQOO_INPUT_SHARED | mqi.MQOO_OUTPUT | mqi.MQOO_BROWSE})
	a, _ := c.want(wire.MQOPEN)
	c.hobj = a.Hobj
	return c
}

func (c *rawClient) put(size int) *wire.Put {
	p := &wire.Put{MD: mqi.DefaultMD(), PMO: mqi.DefaultPMO(), Data: bytes.Repeat([]byte("x"), size)}
	p.PMO.Options = mqi.MQPMO_NO_SYNCPOINT | mqi.MQPMO_NEW_MSG_ID
	return p
}

func (c *rawClient) sendPut() { c.send(wire.MQPUT, c.hobj, 0, c.put(1024)) }

func (c *rawClient) sendGet() {
	g := &wire.Get{MD: mqi.DefaultMD(), GMO: mqi.DefaultGMO(), MaxLength: 4096}
	g.GMO.Options, g.GMO.WaitInterval = mqi.MQGMO_NO_SYNCPOINT|mqi.MQGMO_WAIT, 20_000
	c.send(wire.MQGET, c.hobj, 0, g)
}

// flood puts a large message and asks for it again and again without reading an answer.
func (c *rawClient) flood() {
	b := c.put(30_000)
	c.send(wire.MQPUT, c.hobj, 0, b)
	c.want(wire.MQPUT)
	g := &wire.Get{MD: mqi.DefaultMD(), GMO: mqi.DefaultGMO(), MaxLength: 40_000}
	g.GMO.Options = mqi.MQGMO_BROWSE_FIRST
	go func() {
		h := wire.Header{Magic: wire.TSHM, Conv: 1, Order: wire.Little, Encoding: wire.EncodingLittle, CCSID: 1208, Type: wire.MQGET}
		codec, _ := h.Codec()
		for { // until the sockets' buffers are full, and then until the end
			if wire.WriteMessage(c.nc, h, wire.Encode(nil, h.Type, wire.API{Hobj: c.hobj}, g, codec, h.Size()), wire.DefaultTransmission) != nil {
				return
			}
		}
	}()
}

// rss is the memory of a process that is not swapped out.
func rss(t *testing.T, pid int) int64 {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(string(b), "\n") {
		var kb int64
		if _, err := fmt.Sscanf(l, "VmRSS: %d kB", &kb); err == nil {
			return kb << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// cpuTime is the processor time that a process has used, in ticks of 10 ms.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+2:]))
	user, err1 := strconv.Atoi(f[11])
	system, err2 := strconv.Atoi(f[12])
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}
