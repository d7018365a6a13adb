package crashtest

import (
	"bufio"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// budget is what each part may cost: rounds, sequences or images, by QMGRD_BUDGET: test (the default), crash, release.
type budget struct{ test, crash, release int }

// raceShare is what the race detector leaves of a budget: it makes everything some ten times slower.
const raceShare = 10

// of returns the number that is in force. QMGRD_SCALE is a percentage of it.
func (b budget) of(t testing.TB) int {
	t.Helper()
	n := b.test
	switch v := os.Getenv("QMGRD_BUDGET"); v {
	case "", "test":
		if testing.Short() {
			n /= 5
		}
	case "crash":
		n = b.crash
	case "release":
		n = b.release
	default:
		t.Fatalf("QMGRD_BUDGET=%s: it is test, crash or release", v)
	}
	n = n * envInt(t, "QMGRD_SCALE", 100) / 100
	if invariants.Enabled {
		n /= raceShare
	}
	return max(n, 1)
}

func envInt(t testing.TB, name string, otherwise int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s=%s is no number", name, v)
	}
	return n
}

// seeds are those to run: QMGRD_SEED alone, or those that found a bug once and a fresh one.
func seeds(t testing.TB, part string) []uint64 {
	t.Helper()
	if n := envInt(t, "QMGRD_SEED", 0); n != 0 {
		t.Logf("%s: QMGRD_SEED=%d", part, n)
		return []uint64{uint64(n)}
	}
	out := append(keptSeeds(t, part), uint64(time.Now().UnixNano()>>10&0xffffffff))
	t.Logf("%s: seed %d, and %d kept ones; to repeat: QMGRD_SEED=%d", part, out[len(out)-1], len(out)-1, out[len(out)-1])
	return out
}

// keptSeeds reads testdata/crash/seeds.txt: part, seed, and what it found.
func keptSeeds(t testing.TB, part string) (out []uint64) {
	t.Helper()
	f, err := os.Open("../../testdata/crash/seeds.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		w := strings.Fields(sc.Text())
		if len(w) < 2 || w[0] != part {
			continue
		}
		n, err := strconv.ParseUint(w[1], 10, 64)
		if err != nil {
			t.Fatalf("seeds.txt: %s", sc.Text())
		}
		out = append(out, n)
	}
	return out
}

func random(seed uint64, stream int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(stream))) }

// scratch is a directory for files whose disk is not what is tested; in memory where the system has that.
func scratch(t testing.TB) string {
	t.Helper()
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		if dir, err := os.MkdirTemp("/dev/shm", "qmgrd-crashtest-"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	return t.TempDir()
}

// keepArtefacts copies what a failed test leaves to a place that stays.
func keepArtefacts(t testing.TB, dir string) {
	t.Helper()
	if !t.Failed() {
		return
	}
	to := os.Getenv("QMGRD_ARTEFACTS")
	if to == "" {
		to = os.TempDir()
	}
	to = filepath.Join(to, fmt.Sprintf("qmgrd-%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), os.Getpid()))
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		switch target := filepath.Join(to, strings.TrimPrefix(p, dir)); {
		case err != nil:
			return err
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case d.Type().IsRegular(): // not the socket
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			return os.WriteFile(target, b, 0o600)
		}
		return nil
	})
	if err != nil {
		t.Logf("keep %s: %v", dir, err)
		return
	}
	t.Logf("what the failure left is in %s", to)
}

// pool runs jobs 0 to n-1 on all cores until one fails. Each worker has a directory of its own.
func pool(t *testing.T, n int, job func(i int, dir string) error) {
	t.Helper()
	base := scratch(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	next, failed := 0, false
	for w := range runtime.GOMAXPROCS(0) {
		dir := filepath.Join(base, strconv.Itoa(w))
		wg.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				over := failed || i >= n
				mu.Unlock()
				if over {
					return
				}
				err := os.MkdirAll(dir, 0o700)
				if err == nil {
					err = job(i, dir)
				}
				_ = os.RemoveAll(dir)
				if err != nil {
					mu.Lock()
					failed = true
					mu.Unlock()
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
