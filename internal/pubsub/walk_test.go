package pubsub

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
)

// Whatever comes and goes between the pages of a walk: what is there all the time is shown exactly once.
func TestWalkWhileTreeChanges(t *testing.T) {
	for _, c := range []struct {
		text   string
		fits   func(a, b int) bool
		fanout int
	}{
		{"#", func(int, int) bool { return true }, 12},
		{"t/+/b3/#", func(_, b int) bool { return b == 3 }, 12},
		{"t/a1/#", func(a, _ int) bool { return a == 1 }, 12},
		{"#/c", func(int, int) bool { return true }, 12},
		{"t/a0/#", func(a, _ int) bool { return a == 0 }, 3000}, // more than are sorted
	} {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 1))
			tr, clk := newTree(t, time.Second)
			var want []string
			as := 5
			if c.fanout > 100 {
				as = 1
			}
			for a := range as {
				for b := range c.fanout {
					s := fmt.Sprintf("t/a%d/b%d/c", a, b)
					if b%2 == 1 {
						_, err := tr.OpenPublisher(s, "c")
						must(t, err)
						if c.fits(a, b) {
							want = append(want, s)
						}
					} else {
						touch(t, tr, s)
					}
				}
			}
			f := filter(t, c.text, SchemeTopic)
			var got []string
			for p := (Page{Limit: 1 + r.IntN(5)}); !p.Done(); {
				if c.fanout > 100 {
					p.Limit = 400
				}
				var rows []Row
				rows, p = tr.Status(f, StatusTopic, p)
				for _, row := range rows {
					if slices.Contains(levelsOf(row.Topic), "c") {
						got = append(got, row.Topic)
					}
				}
				touch(t, tr, fmt.Sprintf("t/a%d/b%d/c", r.IntN(as+1), r.IntN(c.fanout)*2), fmt.Sprintf("t/a%d/new%d/c", r.IntN(as), r.IntN(99)))
				clk.Advance(500 * time.Millisecond)
				tr.Reap(clk.Now(), 1+r.IntN(40))
			}
			seen := map[string]int{}
			for _, s := range got {
				seen[s]++
			}
			for _, s := range want {
				if seen[s] != 1 {
					t.Fatalf("%s, seed %d: %q is shown %d times", c.text, seed, s, seen[s])
				}
			}
			must(t, tr.Check())
		}
	}
}

// A topic whose rows do not fit on a page goes on with the next.
func TestManyRowsOfOneTopic(t *testing.T) {
	tr, _ := newTree(t, 0)
	for i := range 2500 {
		subscribe(t, tr, "a")
		if i%5 == 0 {
			subscribe(t, tr, "a/#")
			subscribe(t, tr, "a/+")
		}
	}
	if rows := status(t, tr, "#", StatusSub, 0); len(rows) != 3000 {
		t.Fatalf("%d rows", len(rows))
	}
	if rows := status(t, tr, "a", StatusSub, 7); len(rows) != 3000 || one(t, tr, "a").SubCount != 3000 {
		t.Fatalf("%d rows", len(rows))
	}
}

// Siblings are shown by name, parents before children.
func TestOrderOfRows(t *testing.T) {
	tr, _ := newTree(t, 0)
	touch(t, tr, "c", "a/z", "b", "a/y", "a/y/1")
	var got []string
	for _, r := range status(t, tr, "#", StatusTopic, 2) {
		got = append(got, r.Topic)
	}
	if want := []string{"", "a", "a/y", "a/y/1", "a/z", "b", "c"}; !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
}

// Equal hashes, growth and shrinking of the set of children.
func TestKids(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, mask := range []uint32{0, 3, 0xff << 24, ^uint32(0)} {
		m, k, in := &nodes{}, &kids{}, map[string]*Node{}
		for i := range 6000 {
			name := fmt.Sprint(r.IntN(1500))
			h := uint32(fnv(name)) & mask
			n := k.find(m, h, name)
			if n != in[name] {
				t.Fatalf("mask %x: %q is found: %t", mask, name, n != nil)
			}
			if grow := i < 3000; n == nil && grow {
				in[name] = m.make(name, h, nil)
				k.add(m, in[name])
			} else if n != nil && !grow {
				k.remove(m, n)
				delete(in, name)
			}
			if i%500 == 0 {
				checkKids(t, m, k, in, h, name)
			}
		}
		for _, n := range in {
			k.remove(m, n)
		}
		if k.len() != 0 || !k.each(m, func(*Node) bool { return false }) {
			t.Fatalf("mask %x: %d children are left", mask, k.len())
		}
	}
}

func fnv(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

func checkKids(t *testing.T, m *nodes, k *kids, in map[string]*Node, h uint32, name string) {
	t.Helper()
	if k.len() != len(in) || len(k.sorted(m)) != len(in) {
		t.Fatalf("%d children, want %d", k.len(), len(in))
	}
	want := 0
	for _, n := range in {
		if n.hash > h || n.hash == h && string(m.name(n)) >= name {
			want++
		}
	}
	got := 0
	k.from(m, h, name, func(n *Node) bool {
		if n.hash < h || n.hash == h && string(m.name(n)) < name {
			t.Fatalf("%q is not behind %q", m.name(n), name)
		}
		got++
		return true
	})
	if got != want {
		t.Fatalf("from gives %d children, want %d", got, want)
	}
}

// Everything at once, for the race detector; then the counts must be right.
func TestConcurrentUse(t *testing.T) {
	tr, clk := newTree(t, time.Second)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 7))
			var subs []*Sub
			for range 400 {
				s := fmt.Sprintf("x%d/y%d/z%d", r.IntN(5), r.IntN(5), r.IntN(5))
				switch r.IntN(8) {
				case 0:
					_ = use(tr, s)
				case 1:
					if p, err := tr.OpenPublisher(s, "c"); err == nil {
						p.Published(clk.Now())
						tr.ClosePublisher(p)
					}
				case 2:
					sub := &Sub{Topic: fmt.Sprintf("x%d/+/#", r.IntN(5)), Level: 1}
					if tr.Subscribe(sub) == nil {
						sub.Attach("c", clk.Now())
						subs = append(subs, sub)
					}
				case 3:
					if len(subs) > 0 {
						tr.Unsubscribe(subs[0])
						subs = subs[1:]
					}
				case 4:
					for _, sub := range tr.Match(nil, s) {
						sub.Delivered(1, clk.Now())
					}
				case 5:
					_, _, _ = tr.SetRetained(s, RetainedRef(r.Uint64()), clk.Now().Add(time.Second))
				case 6:
					clk.Advance(50 * time.Millisecond)
					tr.Reap(clk.Now(), 20)
					tr.ExpireRetained(clk.Now(), 20)
				default:
					f, _ := ParseFilter("x1/#", SchemeTopic)
					tr.Status(f, StatusType(r.IntN(3)), Page{Limit: 5})
				}
			}
			for _, sub := range subs {
				tr.Unsubscribe(sub)
			}
		})
	}
	wg.Wait()
	must(t, tr.Check())
	if tr.SubCount() != 0 {
		t.Fatalf("SUBCOUNT %d", tr.SubCount())
	}
	pass(tr, clk, 10*time.Second)
	wantTopics(t, tr, "#")
}

// A publication that is matched from the cache must not miss a subscription that was made before it.
func TestCacheSeesChanges(t *testing.T) {
	tr, _ := newTree(t, 0)
	for i := range 50 {
		for range 3 {
			if n := len(tr.Match(nil, "a/b")); n != i {
				t.Fatalf("%d matches, want %d", n, i)
			}
		}
		subscribe(t, tr, []string{"a/b", "a/+", "#"}[i%3])
	}
}

// The loop of the queue manager: it sleeps until something is due, and a change of TREELIFE wakes it.
func TestRunRemovesWhatIsDue(t *testing.T) {
	clk := clock.NewFake(time.Unix(1_700_000_000, 0))
	tr := New(Options{Clock: clk, Life: time.Hour})
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	var expired []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		tr.Run(ctx, func(gone []RetainedAt) {
			mu.Lock()
			defer mu.Unlock()
			for _, r := range gone {
				expired = append(expired, r.Topic)
			}
		})
	}()
	eventually := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(what)
			}
			clk.Advance(time.Second)
		}
	}
	touch(t, tr, "a")
	tr.SetLife(2 * time.Second)
	eventually("a stays", func() bool { return !tr.Has("a") })
	_, _, err := tr.SetRetained("r", 1, clk.Now().Add(3*time.Second))
	must(t, err)
	eventually("r stays", func() bool { return !tr.Has("r") })
	cancel()
	<-done
	if !slices.Equal(expired, []string{"r"}) {
		t.Fatalf("expired %q", expired)
	}
}

// A retained publication that ends before the next unused topic goes is removed at its time.
func TestRunMeetsEarlierExpiry(t *testing.T) {
	clk := clock.NewFake(time.Unix(1_700_000_000, 0))
	tr := New(Options{Clock: clk, Life: time.Hour})
	touch(t, tr, "unused")
	_, _, err := tr.SetRetained("r", 1, clk.Now().Add(30*time.Second))
	must(t, err)
	due := clk.Now().Add(30 * time.Second)
	if at, ok := tr.NextDue(); !ok || !at.Equal(due) {
		t.Errorf("due at %v, %t", at, ok)
	}
	gone := make(chan RetainedAt, 1)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tr.Run(ctx, func(list []RetainedAt) { gone <- list[0] })
	}()
	for end := time.Now().Add(20 * time.Second); !clk.Waits(due); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody waits for the end of the publication")
		}
	}
	clk.Advance(30 * time.Second)
	select {
	case r := <-gone:
		if r.Topic != "r" || !tr.Has("unused") {
			t.Errorf("%q has ended", r.Topic)
		}
	case <-time.After(20 * time.Second):
		t.Error("the publication stays")
	}
	cancel()
	<-done
	if at, ok := tr.NextDue(); !ok || at.Before(clk.Now().Add(40*time.Minute)) {
		t.Errorf("then due at %v, %t", at, ok)
	}
}
