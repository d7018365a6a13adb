package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/store/storetest"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// kind is an implementation on some file system.
type kind struct {
	name string
	open func(vfs.FS, string) (store.Store, error)
}

// The clock stands still: what a test sees does not depend on when a background tick comes.
func opts(f vfs.FS, dir string) store.Options {
	return store.Options{Dir: dir, FS: f, SegmentSize: 64 << 10, JoinDelay: -1, LogSegments: 4,
		Clock: clock.NewFake(time.Unix(0, 0))}
}

var kinds = []kind{
	{"bolt", func(f vfs.FS, dir string) (store.Store, error) { return store.OpenBolt(opts(f, dir)) }},
	{"log", func(f vfs.FS, dir string) (store.Store, error) { return store.OpenLog(opts(f, dir)) }},
}

// scratch is a directory for real files; in memory where the system has that, since what is tested is not the disk.
func scratch(t testing.TB) string {
	t.Helper()
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		if dir, err := os.MkdirTemp("/dev/shm", "qmgrd-store-test-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	return t.TempDir()
}

func seeds(t *testing.T, short, long int) int {
	t.Helper()
	switch {
	case os.Getenv("QMGRD_LONG_TESTS") != "":
		return long
	case testing.Short() || invariants.Enabled: // the race detector makes it ten times slower
		return max(short/2, 1)
	}
	return short
}

// play runs a history on disk until it ends or the power fails. It returns the model of what was acknowledged, and
// the models that a crash may also leave: the unit in flight may have arrived.
func play(t *testing.T, k kind, disk *crashfs.FS, seed uint64, steps int) (acked *storetest.History, inFlight *storetest.History) {
	t.Helper()
	h := storetest.NewHistory(seed)
	s, err := k.open(disk, "/d/QM")
	if err != nil {
		if !disk.Dead() {
			t.Fatalf("open: %v", err)
		}
		return h, nil
	}
	defer func() {
		if s != nil {
			_ = s.Close(store.Preempt, nil)
		}
	}()
	for range steps {
		u := h.Next()
		next := h.Clone()
		next.Apply(u)
		if _, err := s.Commit(context.Background(), u.Tx()); err != nil {
			if !disk.Dead() {
				t.Fatalf("seed %d: commit: %v", seed, err)
			}
			return h, next
		}
		h.Apply(u)
		switch r := h.Rand.IntN(20); {
		case r < 3:
			if err := s.Checkpoint(context.Background()); err != nil && !disk.Dead() {
				t.Fatalf("seed %d: checkpoint: %v", seed, err)
			}
		case r == 3:
			m := store.StopMode(h.Rand.IntN(3))
			before := h.Clone()
			h.Restart(m)
			if err := s.Close(m, h.Keep); err != nil {
				if !disk.Dead() {
					t.Fatalf("seed %d: close: %v", seed, err)
				}
				return h, before
			}
			if s, err = k.open(disk, "/d/QM"); err != nil {
				if !disk.Dead() {
					t.Fatalf("seed %d: open again: %v", seed, err)
				}
				// Nonpersistent messages that were kept may be gone with the open that was cut short.
				return h, h
			}
			if err := h.Compare(s); err != nil && !disk.Dead() {
				t.Fatalf("seed %d: after a restart: %v", seed, err)
			}
		}
		if disk.Dead() {
			return h, nil
		}
	}
	return h, nil
}

// verify opens the disk after a crash. Everything acknowledged is there, the unit in flight is whole or absent, a
// second start finds the same, and the checker finds nothing.
func verify(k kind, disk *crashfs.FS, acked, inFlight *storetest.History) error {
	for range 2 {
		s, err := k.open(disk, "/d/QM")
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		ok := acked.ComparePersistent(s)
		if ok != nil && inFlight != nil && inFlight.ComparePersistent(s) == nil {
			ok = nil
		}
		if err := s.Close(store.Preempt, nil); err != nil && ok == nil {
			ok = fmt.Errorf("close: %w", err)
		}
		if ok != nil {
			return ok
		}
	}
	ps, err := store.Check("/d/QM", disk)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	for _, p := range ps {
		if p.What != storeMetaNote {
			return fmt.Errorf("check: %v", p)
		}
	}
	return nil
}

// goOn works on after a crash, and restarts: what the crash left half done must not come back later.
func goOn(k kind, disk *crashfs.FS, acked, inFlight *storetest.History) error {
	s, err := k.open(disk, "/d/QM")
	if err != nil {
		return err
	}
	h := acked
	h.Restart(store.Preempt)
	if h.Compare(s) != nil && inFlight != nil {
		h = inFlight
		h.Restart(store.Preempt)
	}
	for i := range 16 {
		u := h.Next()
		if _, err := s.Commit(context.Background(), u.Tx()); err != nil {
			return err
		}
		h.Apply(u)
		if i == 7 {
			if err := s.Checkpoint(context.Background()); err != nil {
				return err
			}
		}
		if i%5 != 4 {
			continue
		}
		if err := s.Close(store.Preempt, nil); err != nil {
			return err
		}
		h.Restart(store.Preempt)
		if s, err = k.open(disk, "/d/QM"); err != nil {
			return err
		}
		if err := h.Compare(s); err != nil {
			return err
		}
	}
	return s.Close(store.Preempt, nil)
}

const storeMetaNote = "one of the two meta pages is damaged: the state before or after the last commit is used"

// The power fails at every change the store makes to the disk, in every way crashfs knows.
func TestCrashAtEveryChange(t *testing.T) {
	defer store.SetCheckpointBatch(256)() // several transactions, so that a crash falls between them
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			for seed := range uint64(seeds(t, 2, 300)) {
				for n := 1; ; n++ {
					done := false
					for _, keep := range []crashfs.Keep{crashfs.None, crashfs.All, crashfs.Random, crashfs.Random} {
						disk := crashfs.New(scratchSub(t))
						disk.CrashAt(n)
						acked, inFlight := play(t, k, disk, seed, 20)
						done = !disk.Dead()
						after, err := disk.Crash(keep, seed*1000+uint64(n), scratchSub(t))
						if err != nil {
							t.Fatal(err)
						}
						if err := verify(k, after, acked, inFlight); err != nil {
							t.Fatalf("seed %d, crash before change %d, keep %d: %v", seed, n, keep, err)
						}
						if err := goOn(k, after, acked, inFlight); err != nil {
							t.Fatalf("seed %d, crash before change %d, keep %d, work after it: %v", seed, n, keep, err)
						}
						wipe(t)
						if done {
							break
						}
					}
					if done {
						t.Logf("seed %d: %d crash points", seed, n-1)
						break
					}
				}
			}
		})
	}
}

// The power fails while the store starts after a crash, at every change that makes.
func TestCrashInRecovery(t *testing.T) {
	k := kinds[1]
	for seed := range uint64(seeds(t, 4, 200)) {
		for n := 1; n < 60; n++ {
			disk := crashfs.New(scratchSub(t))
			disk.CrashAt(40 + int(seed)*17)
			acked, inFlight := play(t, k, disk, seed+100, 20)
			second, err := disk.Crash(crashfs.Random, seed, scratchSub(t))
			if err != nil {
				t.Fatal(err)
			}
			second.CrashAt(n)
			if s, err := k.open(second, "/d/QM"); err == nil {
				_ = s.Close(store.Preempt, nil)
			} else if !second.Dead() {
				t.Fatalf("seed %d: open: %v", seed, err)
			}
			done := !second.Dead()
			third, err := second.Crash(crashfs.Random, seed+uint64(n), scratchSub(t))
			if err != nil {
				t.Fatal(err)
			}
			if err := verify(k, third, acked, inFlight); err != nil {
				t.Fatalf("seed %d, second crash before change %d: %v", seed, n, err)
			}
			wipe(t)
			if done {
				break
			}
		}
	}
}

var scratchDirs = map[string]struct {
	dir string
	n   int
}{}

// scratchSub returns a fresh directory below the test's scratch directory; wipe removes them.
func scratchSub(t testing.TB) string {
	e, ok := scratchDirs[t.Name()]
	if !ok {
		e.dir = scratch(t)
		t.Cleanup(func() { delete(scratchDirs, t.Name()) }) // the test may run again
	}
	e.n++
	scratchDirs[t.Name()] = e
	dir := filepath.Join(e.dir, fmt.Sprint(e.n))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func wipe(t testing.TB) {
	e := scratchDirs[t.Name()]
	names, _ := filepath.Glob(filepath.Join(e.dir, "*"))
	for _, n := range names {
		os.RemoveAll(n)
	}
}

// Every n-th call of every kind fails. A store may refuse work, but must not forget, double or invent any.
func TestErrorAtEveryCall(t *testing.T) {
	for _, k := range kinds {
		for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC} {
			for _, call := range errfs.Kinds {
				t.Run(fmt.Sprintf("%s/%v/%s", k.name, errno, call), func(t *testing.T) {
					for n := 1; n < 400; n++ {
						if hits := playWithError(t, k, errfs.Rule{Kind: call, N: n, Err: errno, Short: n%2 == 0}); hits == 0 {
							break
						}
						wipe(t)
					}
				})
			}
		}
	}
}

func playWithError(t *testing.T, k kind, rule errfs.Rule) (hits int) {
	t.Helper()
	disk := crashfs.New(scratchSub(t))
	efs := errfs.New(disk)
	if s, err := k.open(efs, "/d/QM"); err != nil {
		t.Fatal(err)
	} else {
		_ = s.Close(store.Preempt, nil)
	}
	efs.Set(&rule)
	h := storetest.NewHistory(7)
	s, err := k.open(efs, "/d/QM")
	if err != nil {
		if efs.Hits() == 0 {
			t.Fatalf("%+v: open: %v", rule, err)
		}
	}
	var inFlight *storetest.History
	if err == nil {
		inFlight = playOn(t, s, h, rule)
	}
	hits = efs.Hits()
	efs.Set(nil)
	if err := verify(k, disk, h, inFlight); err != nil {
		t.Fatalf("%+v: afterwards: %v", rule, err)
	}
	return hits
}

// playOn commits units whatever happens; h holds what was acknowledged. The unit that met ErrFailed first was in
// flight and may be there or not; the result is the model with it.
func playOn(t *testing.T, s store.Store, h *storetest.History, rule errfs.Rule) (inFlight *storetest.History) {
	t.Helper()
	failed := false
	for i := range 25 {
		u := h.Next()
		_, err := s.Commit(context.Background(), u.Tx())
		switch {
		case err == nil && failed:
			t.Fatalf("%+v: a failed store acknowledged a unit", rule)
		case err == nil:
			h.Apply(u)
		case errors.Is(err, store.ErrFailed):
			if !failed {
				inFlight = h.Clone()
				inFlight.Apply(u)
			}
			failed = true
			select {
			case <-s.Failed():
			default:
				t.Fatalf("%+v: ErrFailed, but Failed is not closed", rule)
			}
			if errors.Is(rule.Err, syscall.ENOSPC) && rule.Kind == errfs.Write {
				t.Fatalf("%+v: no room must not end the store: %v", rule, err)
			}
		case errors.Is(err, store.ErrFull):
			if rule.Err != syscall.ENOSPC {
				t.Fatalf("%+v: ErrFull for another error: %v", rule, err)
			}
		default:
			t.Fatalf("%+v: commit: %v", rule, err)
		}
		if i%8 == 7 && !failed {
			_ = s.Checkpoint(context.Background())
		}
		select {
		case <-s.Failed():
			failed = true
		default:
		}
		if !failed {
			err := h.CompareReads(s)
			// A checkpoint in the background may have met the error meanwhile.
			failed = errors.Is(err, store.ErrFailed)
			if err != nil && !failed && rule.Kind != errfs.Read && rule.Kind != errfs.Open {
				t.Fatalf("%+v: %v", rule, err)
			}
		}
	}
	_ = s.Close(store.Preempt, nil)
	return inFlight
}
