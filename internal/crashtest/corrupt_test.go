package crashtest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// T-CORRUPT (reliability.md §2): bytes of any file are changed, or a file is cut. The checker and the start report it, or
// a verb refuses the message with 2101; nothing that was not put is served, nothing is left out in silence, and nothing
// panics. Where nothing is stored a change does not matter, and everything is there.

// victim is a queue manager's directory with some of everything in it.
type victim struct {
	name, dir string
	want      string // what must be there when nothing is refused
	files     []string
}

// fullScript fills a directory with everything there is, smallScript with little.
var (
	fullScript = append(slices.Repeat([]string{"put", "large", "npm", "publish", "define", "get"}, 3), "subscribe", "publish",
		"checkpoint", "put", "large", "get", "publish", "npm", "define")
	smallScript = []string{"put", "npm", "checkpoint", "put", "publish", "npm"}
)

// makeVictim fills a directory. A clean one has ended in order, with nonpersistent messages kept; the other is as a
// kill leaves it, with a log to replay.
func makeVictim(t *testing.T, dir string, clean bool, script []string) *victim {
	t.Helper()
	live := filepath.Join(dir, "live")
	if err := os.Mkdir(live, 0o700); err != nil {
		t.Fatal(err)
	}
	w, err := openWorld(vfs.OS(), live)
	must(t, err)
	for _, text := range []string{"DEFINE QLOCAL(Q1) MAXDEPTH(999999) NPMCLASS(HIGH)", "DEFINE QLOCAL(Q2) MAXDEPTH(999999)"} {
		_, err := w.command(text)
		must(t, err)
	}
	m := newModel()
	v := &victim{name: "killed", dir: live}
	for n, name := range script {
		for i := range moreVerbs {
			if v := &moreVerbs[i]; v.name == name {
				must(t, v.do(w, m, n))
			}
		}
	}
	if clean {
		v.name = "clean"
		w.end(store.Immediate)
	} else {
		_, err := w.command("DEFINE QLOCAL(D999) DESCR('last')")
		must(t, err)
		m.objs["D999"] = "last"
		v.dir = filepath.Join(dir, "image")
		must(t, os.CopyFS(v.dir, os.DirFS(live)))
		w.end(store.Preempt)
		m = m.restarted()
	}
	v.want = m.String()
	must(t, filepath.WalkDir(v.dir, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && d.Name() != "reserve" && !strings.Contains(d.Name(), "lock") {
			v.files = append(v.files, strings.TrimPrefix(p, v.dir))
		}
		return err
	}))
	return v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// damage changes one to eight bytes of a file, or cuts it.
func damage(name string, rnd *rand.Rand) (string, error) {
	b, err := os.ReadFile(name)
	if err != nil || len(b) == 0 {
		return "nothing", err
	}
	used := len(b) // most changes go where something is
	for used > 1 && b[used-1] == 0 {
		used--
	}
	if rnd.IntN(4) == 0 {
		at := rnd.IntN(used)
		return fmt.Sprintf("cut at %d", at), os.Truncate(name, int64(at))
	}
	what := "changed at"
	for range 1 + rnd.IntN(2)*rnd.IntN(8) {
		at := rnd.IntN(used)
		if rnd.IntN(8) == 0 {
			at = rnd.IntN(len(b))
		}
		b[at] ^= byte(1 + rnd.IntN(255))
		what += fmt.Sprint(" ", at)
	}
	return what, os.WriteFile(name, b, 0o600)
}

// outcome of one damage.
type outcome int

const (
	harmless outcome = iota
	noted            // by the checker, and by the start in a notice
	refused          // by the start or a verb
)

func (v *victim) try(rnd *rand.Rand, dir string) (outcome, error) {
	return v.tryOn(v.files[rnd.IntN(len(v.files))], dir, func(name string) (string, error) { return damage(name, rnd) })
}

func (v *victim) tryOn(file, dir string, damage func(name string) (string, error)) (outcome, error) {
	if err := os.CopyFS(dir, os.DirFS(v.dir)); err != nil {
		return 0, err
	}
	what, err := damage(dir + file)
	if err != nil {
		return 0, err
	}
	what = fmt.Sprintf("%s, %s %s", v.name, file, what)
	ps, cerr := store.Check(dir, vfs.OS())
	seen := len(ps) > 0 || cerr != nil
	w, err := openWorld(vfs.OS(), dir)
	if err != nil {
		if !seen {
			return 0, fmt.Errorf("%s: the start says %w, and check finds nothing", what, err)
		}
		return refused, nil
	}
	got, err := w.state()
	w.end(store.Preempt)
	_, rc := mqi.Reason(err)
	switch {
	case err != nil && !errors.Is(err, store.ErrCorrupt) && rc != mqi.MQRC_OBJECT_DAMAGED:
		return 0, fmt.Errorf("%s (check: %v %v): a verb says %w", what, ps, cerr, err)
	case err != nil && !seen:
		return 0, fmt.Errorf("%s: a verb says %w, and check finds nothing", what, err)
	case err != nil:
		return refused, nil
	case seen && file == "/kept" && strings.Contains(strings.Join(w.told, " "), "/kept") && v.lessVolatile(got):
		return noted, nil // nonpersistent messages are kept by best effort: some are dropped, and the operator is told
	case got != v.want:
		return 0, fmt.Errorf("%s (check: %v %v): there is\n  %s\nand it must be\n  %s", what, ps, cerr, got, v.want)
	case seen:
		return noted, nil
	}
	return harmless, nil
}

var volatileText = regexp.MustCompile(`npm\d+ ?`)

// lessVolatile says whether nothing but nonpersistent messages is missing from a state.
func (v *victim) lessVolatile(got string) bool {
	strip := func(s string) string { return strings.ReplaceAll(volatileText.ReplaceAllString(s, ""), " ]", "]") }
	there := volatileText.FindAllString(got, -1)
	return strip(got) == strip(v.want) &&
		!slices.ContainsFunc(there, func(x string) bool { return !strings.Contains(v.want, strings.TrimSpace(x)) })
}

func TestCorrupt(t *testing.T) {
	tries := budget{test: 400, crash: 2_000, release: 100_000}.of(t)
	base := scratch(t)
	for i, clean := range []bool{true, false} {
		dir := filepath.Join(base, fmt.Sprint(i))
		must(t, os.Mkdir(dir, 0o700))
		v := makeVictim(t, dir, clean, fullScript)
		for _, seed := range seeds(t, "corrupt") {
			var count [3]atomic.Int64
			pool(t, tries, func(n int, dir string) error {
				o, err := v.try(random(seed, n), filepath.Join(dir, "copy"))
				if err != nil {
					return fmt.Errorf("seed %d, try %d: %w", seed, n, err)
				}
				count[o].Add(1)
				return nil
			})
			t.Logf("%s, seed %d: %d damages to %q: %d refused, %d noted by check, %d where nothing is stored", v.name, seed,
				tries, v.files, count[refused].Load(), count[noted].Load(), count[harmless].Load())
			if !t.Failed() && count[refused].Load()+count[noted].Load() < int64(tries/4) {
				t.Errorf("only %d of %d damages were seen", count[refused].Load()+count[noted].Load(), tries)
			}
		}
	}
}

// place is one damage of TestCorruptEverywhere: one bit of a file, or its end.
type place struct {
	file string
	at   int
	bit  int // 8: the file ends at at
}

func (p place) damage(name string) (string, error) {
	if p.bit == 8 {
		return fmt.Sprintf("cut at %d", p.at), os.Truncate(name, int64(p.at))
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	b[p.at] ^= 1 << p.bit
	return fmt.Sprintf("bit %d of byte %d changed", p.bit, p.at), os.WriteFile(name, b, 0o600)
}

// TestCorruptEverywhere: of a small store each bit, one after the other, and each end that a file can have. The smaller budgets take
// every n-th of them.
func TestCorruptEverywhere(t *testing.T) {
	most := budget{test: 150, crash: 1_500, release: 1 << 30}.of(t)
	base := scratch(t)
	for i, clean := range []bool{true, false} {
		dir := filepath.Join(base, fmt.Sprint(i))
		must(t, os.Mkdir(dir, 0o700))
		v := makeVictim(t, dir, clean, smallScript)
		var all []place
		for _, f := range v.files {
			b, err := os.ReadFile(v.dir + f)
			must(t, err)
			for at := range len(b) {
				if at > 0 && b[at] == 0 && b[at-1] == 0 && at%512 > 0 { // of empty room, the first byte of each sector
					continue
				}
				for bit := range 9 {
					all = append(all, place{f, at, bit})
				}
			}
		}
		for _, seed := range seeds(t, "everywhere") {
			first, step := 0, max(len(all)/most, 1)
			if step > 1 {
				step -= 1 - step%2 // odd, so that all bits have their turn
				first = random(seed, 0).IntN(step)
			}
			var count [3]atomic.Int64
			n := (len(all) - first + step - 1) / step
			pool(t, n, func(n int, dir string) error {
				p := all[first+n*step]
				o, err := v.tryOn(p.file, filepath.Join(dir, "copy"), p.damage)
				count[o].Add(1)
				return err
			})
			t.Logf("%s, seed %d: %d of %d damages to %q: %d refused, %d noted by check, %d where nothing is stored", v.name, seed,
				n, len(all), v.files, count[refused].Load(), count[noted].Load(), count[harmless].Load())
		}
	}
}
