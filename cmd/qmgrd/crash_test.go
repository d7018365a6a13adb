package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/daemon"
)

// T-KILL (reliability.md §3.1): a real manager is killed at a random moment, again and again on the same data, while
// a script defines queues and two producers put persistent messages. After each restart everything that was
// acknowledged is there once, whole, in each producer's order; qmgrd check is clean.

const (
	crashQueue = "CRASH.Q"
	producers  = 2
	// keptRounds bounds the queue's depth: it is drained after so many rounds.
	keptRounds = 10
)

func envInt(t *testing.T, name string, otherwise int64) int64 {
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, v)
	}
	return n
}

func TestCrash(t *testing.T) {
	rounds := int(envInt(t, "QMGRD_CRASH_ROUNDS", 20))
	seed := envInt(t, "QMGRD_CRASH_SEED", time.Now().UnixNano())
	t.Logf("%d rounds; to repeat: QMGRD_CRASH_ROUNDS=%d QMGRD_CRASH_SEED=%d", rounds, rounds, seed)
	c := &crashRun{t: t, data: t.TempDir(), rnd: rand.New(rand.NewPCG(uint64(seed), 1)), sent: map[string]bool{},
		acked: map[string]bool{}, triedDefs: map[string]bool{}, ackedDefs: map[string]bool{}}
	defer killAll(c.data)
	c.must("create", "QM1")
	c.start()
	if _, err := tool("runmqsc", c.data, strings.NewReader("DEFINE QLOCAL("+crashQueue+") MAXDEPTH(999999)\n"), "QM1"); err != nil {
		t.Fatal(err)
	}
	for c.round = 1; c.round <= rounds && !t.Failed(); c.round++ {
		c.killDuringWork()
		if out, err := qmgrd(c.data, nil, "check", "QM1"); err != nil {
			t.Fatalf("round %d: check: %v\n%s", c.round, err, out)
		}
		if c.rnd.IntN(5) == 0 {
			c.killDuringStart()
		}
		c.start()
		c.verify(c.round%keptRounds == 0 || c.round == rounds)
	}
	c.must("stop", "QM1", "-i", "-w")
	t.Logf("acknowledged: %d messages, %d definitions", c.ackedTotal, len(c.ackedDefs))
	if c.ackedTotal == 0 || len(c.ackedDefs) == 0 {
		t.Error("nothing was acknowledged: the rounds proved nothing")
	}
}

// startLimit is how long a start may take.
const startLimit = 20 * time.Second

type crashRun struct {
	t     *testing.T
	data  string
	rnd   *rand.Rand
	round int
	proc  *exec.Cmd

	mu         sync.Mutex
	sent       map[string]bool // bodies handed to put since the last drain
	acked      map[string]bool // of these, those whose identifier came back
	triedDefs  map[string]bool
	ackedDefs  map[string]bool
	ackedTotal int
}

func (c *crashRun) must(args ...string) []byte {
	c.t.Helper()
	out, err := qmgrd(c.data, nil, args...)
	if err != nil {
		c.t.Fatalf("round %d: %v", c.round, err)
	}
	return out
}

// start runs the manager as a child and returns when it says ready.
func (c *crashRun) start() {
	c.t.Helper()
	c.proc = exec.Command(filepath.Join(binDir, "qmgrd"), "start", "QM1", "--data", c.data, "--log-level", "error")
	out, err := c.proc.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	var stderr bytes.Buffer
	c.proc.Stderr = &stderr
	if err := c.proc.Start(); err != nil {
		c.t.Fatal(err)
	}
	// A start that hangs tells where: SIGQUIT makes the runtime write every goroutine's stack.
	stuck := time.AfterFunc(startLimit, func() { _ = c.proc.Process.Signal(syscall.SIGQUIT) })
	line, err := bufio.NewReader(out).ReadString('\n')
	if !stuck.Stop() {
		_ = c.proc.Wait()
		c.t.Fatalf("round %d: not ready after %v:\n%s", c.round, startLimit, stderr.String())
	}
	if err != nil || line != "ready\n" {
		_ = c.proc.Wait() // so that stderr is whole
		c.t.Fatalf("round %d: not ready: %q %v: %s", c.round, line, err, stderr.String())
	}
}

func (c *crashRun) kill() {
	c.t.Helper()
	if err := c.proc.Process.Signal(syscall.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
	_ = c.proc.Wait() // "signal: killed"
}

// killDuringStart kills a manager while it recovers.
func (c *crashRun) killDuringStart() {
	p := exec.Command(filepath.Join(binDir, "qmgrd"), "start", "QM1", "--data", c.data, "--log-level", "error")
	if err := p.Start(); err != nil {
		c.t.Fatal(err)
	}
	time.Sleep(time.Duration(c.rnd.IntN(25)) * time.Millisecond)
	if err := p.Process.Signal(syscall.SIGKILL); err != nil {
		c.t.Fatal(err)
	}
	_ = p.Wait()
}

// killDuringWork lets a script and the producers work, kills the manager, and notes what was acknowledged.
func (c *crashRun) killDuringWork() {
	ctx, stop := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() { c.produce(ctx, p) })
	}
	wg.Go(func() { c.define(ctx) })
	time.Sleep(time.Duration(20+c.rnd.IntN(300)) * time.Millisecond)
	c.kill()
	stop()
	wg.Wait()
}

// pacer makes bursts with pauses, so that a round stays small and the kill meets waiting as well as working managers.
type pacer struct {
	rnd  *rand.Rand
	left int
}

func (c *crashRun) pacer(n int) *pacer {
	return &pacer{rnd: rand.New(rand.NewPCG(uint64(c.round), uint64(n)))}
}

func (p *pacer) pause(most int) {
	if p.left--; p.left > 0 {
		return
	}
	time.Sleep(time.Duration(p.rnd.IntN(30)) * time.Millisecond)
	p.left = 1 + p.rnd.IntN(most)
}

// produce puts numbered, self-checking bodies. put answers in order, so the n-th identifier is the n-th body's.
func (c *crashRun) produce(ctx context.Context, p int) {
	in, out, wait := c.worker("qmgrd", "put", "QM1", crashQueue, "--persistent", "--json")
	burst := c.pacer(p)
	var mu sync.Mutex
	var order []string
	go func() {
		defer in.Close()
		for n := 0; ctx.Err() == nil; n++ {
			body := fmt.Sprintf("r%d p%d n%d %s", c.round, p, n, strings.Repeat("x", n%700))
			c.mu.Lock()
			c.sent[body] = true
			c.mu.Unlock()
			mu.Lock()
			order = append(order, body)
			mu.Unlock()
			if _, err := io.WriteString(in, body+"\n"); err != nil {
				return
			}
			burst.pause(100)
		}
	}()
	for n, sc := 0, bufio.NewScanner(out); sc.Scan(); n++ {
		mu.Lock()
		body := order[n]
		mu.Unlock()
		c.mu.Lock()
		c.acked[body] = true
		c.ackedTotal++
		c.mu.Unlock()
	}
	wait()
}

var (
	echoed  = regexp.MustCompile(`^ *\d+ : DEFINE QLOCAL\((\S+)\)`)
	created = regexp.MustCompile(`^AMQ8006I`)
)

// define pipes definitions; the report has each command, then its answer.
func (c *crashRun) define(ctx context.Context) {
	in, out, wait := c.worker("runmqsc", "QM1")
	burst := c.pacer(producers)
	go func() {
		defer in.Close()
		for n := 0; ctx.Err() == nil; n++ {
			name := fmt.Sprintf("D.R%d.N%d", c.round, n)
			c.mu.Lock()
			c.triedDefs[name] = true
			c.mu.Unlock()
			if _, err := fmt.Fprintf(in, "DEFINE QLOCAL(%s) DESCR('%d')\n", name, n); err != nil {
				return
			}
			burst.pause(12)
		}
	}()
	last := ""
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if m := echoed.FindStringSubmatch(sc.Text()); m != nil {
			last = m[1]
		} else if created.MatchString(sc.Text()) && last != "" {
			c.mu.Lock()
			c.ackedDefs[last] = true
			c.mu.Unlock()
			last = ""
		}
	}
	wait()
}

// worker starts a program with a pipe at either end.
func (c *crashRun) worker(name string, args ...string) (io.WriteCloser, io.Reader, func()) {
	cmd := exec.Command(filepath.Join(binDir, name), append(args, "--data", c.data)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		c.t.Error(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Error(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Error(err)
	}
	return in, out, func() { _ = cmd.Wait() } // it ends with an error: the manager was killed
}

// verify compares what is there with what was acknowledged, and drains the queue when asked to.
func (c *crashRun) verify(drain bool) {
	c.t.Helper()
	verb := "browse"
	if drain {
		verb = "get"
	}
	found := map[string]int{}
	next := map[string]int{}
	for line := range bytes.Lines(c.must(verb, "QM1", crashQueue, "--json")) {
		var m received
		if err := json.Unmarshal(line, &m); err != nil || m.Body == nil {
			c.t.Fatalf("round %d: a message that is not whole: %v %.200s", c.round, err, line)
		}
		if !c.sent[*m.Body] {
			c.t.Errorf("round %d: a message nobody put: %.100q", c.round, *m.Body)
		}
		if found[*m.Body]++; found[*m.Body] > 1 {
			c.t.Errorf("round %d: twice: %.100q", c.round, *m.Body)
		}
		var r, p, n int
		if _, err := fmt.Sscanf(*m.Body, "r%d p%d n%d", &r, &p, &n); err != nil {
			c.t.Errorf("round %d: body %.100q: %v", c.round, *m.Body, err)
		}
		key := fmt.Sprint(r, "/", p)
		if n != next[key] {
			c.t.Errorf("round %d: producer %s: message %d where %d was next", c.round, key, n, next[key])
		}
		next[key] = n + 1
	}
	for body := range c.acked {
		if found[body] == 0 {
			c.t.Errorf("round %d: acknowledged and lost: %.100q", c.round, body)
		}
	}
	if drain {
		clear(c.sent)
		clear(c.acked)
	}
	c.verifyDefs()
}

var shown = regexp.MustCompile(`QUEUE\((D\.R\d+\.N(\d+))\)`)

func (c *crashRun) verifyDefs() {
	c.t.Helper()
	out, err := tool("runmqsc", c.data, strings.NewReader("DISPLAY QLOCAL(D.*) DESCR\n"), "-e", "QM1")
	if err != nil && len(c.ackedDefs) > 0 {
		c.t.Fatalf("round %d: %v", c.round, err)
	}
	there := map[string]bool{}
	blocks := strings.Split(string(out), "AMQ8409I")
	for _, b := range blocks[1:] {
		m := shown.FindStringSubmatch(b)
		if m == nil {
			c.t.Errorf("round %d: a queue nobody defined: %s", c.round, b)
			continue
		}
		if !c.triedDefs[m[1]] || there[m[1]] || !strings.Contains(b, "DESCR("+m[2]+")") {
			c.t.Errorf("round %d: queue %s is not as it was defined: %s", c.round, m[1], b)
		}
		there[m[1]] = true
	}
	for name := range c.ackedDefs {
		if !there[name] {
			c.t.Errorf("round %d: acknowledged and lost: queue %s", c.round, name)
		}
	}
}

// TestCrashedManagerSaysSo: after a kill, status tells it from an orderly end.
func TestCrashedManagerSaysSo(t *testing.T) {
	data := t.TempDir()
	defer killAll(data)
	if _, err := qmgrd(data, nil, "start", "QM1", "--create", "--detach"); err != nil {
		t.Fatal(err)
	}
	st := statusJSON(t, data, "QM1")
	if st.Status != daemon.StatusRunning || st.PID == 0 {
		t.Fatalf("status %+v", st)
	}
	if err := syscall.Kill(st.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := daemon.WaitEnded(ctx, data, "QM1"); err != nil {
		t.Fatal(err)
	}
	if st := statusJSON(t, data, "QM1"); st.Status != daemon.StatusEndedCrashed || st.PID != 0 {
		t.Errorf("status %+v", st)
	}
}
