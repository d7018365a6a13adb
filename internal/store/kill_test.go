package store_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/store"
)

const killEnv = "QMGRD_STORE_KILL_DIR"

// killChild works on the store until it is killed. It prints a line for what was acknowledged, after it was.
func killChild(dir string) {
	s, err := store.Open(store.Options{Dir: dir, SegmentSize: 256 << 10, CheckpointBytes: 128 << 10})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(3)
	}
	next := map[store.QID]store.Seq{}
	_ = s.Live(func(l store.Live) error { next[l.Q] = max(next[l.Q], l.S); return nil })
	fmt.Println("ready")
	var wg sync.WaitGroup
	for w := range 4 {
		q := store.QID(w + 1)
		v, err := s.Get(store.TableMeta, fmt.Append(nil, q))
		n := next[q]
		if err == nil {
			var last store.Seq
			fmt.Sscan(string(v), &last)
			n = max(n, last)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				n++
				tx := &store.Tx{}
				tx.Put(q, n, store.Rec{Head: fmt.Append(nil, n), Body: killBody(q, n), Persistent: true})
				tx.Put(100+q, n, store.Rec{Head: fmt.Append(nil, n), Body: []byte("volatile")})
				tx.Set(store.TableMeta, fmt.Append(nil, q), fmt.Append(nil, n))
				if n > 20 {
					tx.Remove(q, n-20, true)
				}
				if _, err := s.Commit(context.Background(), tx); err != nil {
					fmt.Println("error", err)
					os.Exit(3)
				}
				fmt.Printf("%d %d\n", q, n)
			}
		}()
	}
	wg.Wait()
}

func killBody(q store.QID, n store.Seq) []byte {
	size := 10 + int(n*7919%3000)
	if n%50 == 0 {
		size = 70 << 10
	}
	return []byte(strings.Repeat(fmt.Sprintf("%d.%d;", q, n), size/4+1)[:size])
}

// T-KILL: kill -9 at a random moment, start again, and everything acknowledged is there, once, and nothing older or
// half done. The same directory goes through all rounds, so that recovery is killed as well.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	acked := map[store.QID]store.Seq{}
	for round := range seeds(t, 8, 200) {
		killRound(t, dir, time.Duration(rnd.IntN(120))*time.Millisecond, acked)
		s, err := store.Open(store.Options{Dir: dir, SegmentSize: 256 << 10, CheckpointBytes: 128 << 10})
		if err != nil {
			t.Fatalf("round %d: open: %v", round, err)
		}
		checkKilled(t, s, acked)
		if err := s.Close(store.Preempt, nil); err != nil {
			t.Fatal(err)
		}
		if ps, err := store.Check(dir, nil); err != nil || len(ps) > 0 {
			t.Fatalf("round %d: check: %v, %v", round, ps, err)
		}
	}
	t.Logf("acknowledged: %v", acked)
}

func killRound(t *testing.T, dir string, after time.Duration, acked map[store.QID]store.Seq) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), killEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	sc := bufio.NewScanner(out)
	for sc.Scan() {
		var q store.QID
		var n store.Seq
		if strings.HasPrefix(sc.Text(), "error") {
			t.Errorf("child: %s", sc.Text())
		}
		if k, _ := fmt.Sscanf(sc.Text(), "%d %d", &q, &n); k == 2 {
			acked[q] = max(acked[q], n)
		}
	}
	_ = cmd.Wait()
}

func checkKilled(t *testing.T, s store.Store, acked map[store.QID]store.Seq) {
	t.Helper()
	have := map[store.QID][]store.Live{}
	err := s.Live(func(l store.Live) error {
		if !l.Persistent {
			return fmt.Errorf("nonpersistent message %d/%d came through a kill", l.Q, l.S)
		}
		l.Head = append([]byte{}, l.Head...)
		have[l.Q] = append(have[l.Q], l)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for w := range 4 {
		q := store.QID(w + 1)
		ls := have[q]
		// The last unit that arrived: the last acknowledged one, or the one in flight behind it.
		var last store.Seq
		if n := len(ls); n > 0 {
			last = ls[n-1].S
		}
		if last != acked[q] && last != acked[q]+1 {
			t.Fatalf("queue %d ends with %d, acknowledged is %d", q, last, acked[q])
		}
		acked[q] = last
		if len(ls) != int(min(last, 20)) {
			t.Fatalf("queue %d has %d messages and ends with %d", q, len(ls), last)
		}
		for i, l := range ls {
			if want := last - store.Seq(len(ls)-1-i); l.S != want {
				t.Fatalf("queue %d: message %d where %d should be", q, l.S, want)
			}
			r, err := s.Read(q, l.S, l.L)
			if err != nil || string(r.Body) != string(killBody(q, l.S)) || string(r.Head) != fmt.Sprint(l.S) {
				t.Fatalf("queue %d message %d: %v", q, l.S, err)
			}
		}
		v, err := s.Get(store.TableMeta, fmt.Append(nil, q))
		if last > 0 && (err != nil || string(v) != fmt.Sprint(last)) {
			t.Fatalf("queue %d: the table says %q (%v), the last message is %d", q, v, err, last)
		}
	}
}
