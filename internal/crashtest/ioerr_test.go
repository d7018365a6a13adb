package crashtest

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// T-IOERR and T-FSYNCERR (reliability.md §3.3): the n-th call of every kind fails, once or from then on. What is refused
// was not done, what is answered is there after a restart and after a power cut, and once a sync has failed nothing is
// answered any more.

// errScript is the history that is run against failing disks: every verb, with a checkpoint in the middle.
func errScript() []verb {
	by := map[string]verb{}
	for _, v := range moreVerbs {
		by[v.name] = v
	}
	var out []verb
	for _, n := range []string{"put", "uput", "uget", "commit", "publish", "checkpoint", "subscribe", "publish", "define", "get",
		"large", "ularge", "uget", "commit", "alter", "checkpoint", "clear", "uput", "uget", "backout", "npm", "unsubscribe",
		"put", "checkpoint", "get"} {
		out = append(out, by[n])
	}
	return out
}

// durable are the verbs whose answer needs the disk when there is work for them.
var durable = []string{"put", "publish", "define", "alter", "large", "clear", "unsubscribe"}

// onError is one run: what may be there, as far as the answers tell.
type onError struct {
	w    *world
	may  []*model // the state, and beside it what calls that a failed store cut short may have left
	rule errfs.Rule
	over bool // the store has failed
}

// step runs one verb on the failing disk.
func (r *onError) step(v *verb, n int) error {
	m := r.may[0]
	if !possible(v, m) {
		return nil
	}
	was := r.over
	cut := v.may(m, n)
	err := v.do(r.w, m, n)
	r.over = r.over || r.w.failed()
	switch {
	case errors.Is(err, errWrong) && !r.over:
		return fmt.Errorf("step %d, %s: %w", n, v.name, err)
	case err == nil && was && slices.Contains(durable, v.name):
		return fmt.Errorf("step %d: the store had failed, and yet %s was answered", n, v.name)
	case err == nil:
		return nil
	case r.over:
		r.may = append(r.may, cut...)
		return nil
	case v.name == "commit": // 2003: backed out
		m.end(false)
	case v.name == "subscribe": // made, but not given all that is retained
		return r.settle(append(cut, m.clone()))
	}
	_, rc := mqi.Reason(err)
	if rc == 0 && !errors.Is(err, errRefused) && v.name != "checkpoint" {
		return fmt.Errorf("step %d, %s: an error without a reason: %w", n, v.name, err)
	}
	return nil
}

// settle asks the running manager which of several states it is in.
func (r *onError) settle(may []*model) error {
	got, err := r.w.subState()
	if err != nil {
		return nil // the disk fails still: the end will tell
	}
	for _, c := range may {
		if c.subs["S1"] == got {
			r.may[0] = c
			return nil
		}
	}
	return fmt.Errorf("subscription there: %v", got)
}

func (w *world) subState() (bool, error) {
	rows, err := w.command("DISPLAY SUB(S1*)")
	return len(rows) > 0, err
}

// failingRun runs the script on a disk that fails as the rule says, and reports whether a call was reached.
func failingRun(rule errfs.Rule, dir string) (hits int, err error) {
	disk, err := cloneBase(dir)
	if err != nil {
		return 0, err
	}
	efs := errfs.New(disk)
	efs.Set(&rule)
	w, err := openWorld(efs, worldDir)
	if err != nil && efs.Hits() == 0 {
		return 0, err
	}
	may := []*model{baseModel()}
	if err == nil {
		r := &onError{w: w, may: may, rule: rule}
		for n, v := range errScript() {
			if err = r.step(&v, n); err != nil {
				break
			}
		}
		may = r.may
		if err == nil && rule.Kind == errfs.Sync && efs.Hits() > 0 && !r.over && rule.Err != syscall.ENOSPC {
			err = errors.New("a sync failed, and the store goes on")
		}
		if err == nil && rule.Kind == errfs.Open && rule.Err == syscall.EMFILE && r.over {
			err = errors.New("no descriptor was free, and the store gave up for good")
		}
		hits = efs.Hits()
		efs.Set(nil)
		if err == nil && !r.over {
			err = r.live()
			may = r.may
		}
		w.end(store.Preempt)
	} else {
		hits = efs.Hits()
		efs.Set(nil)
		err = nil
	}
	if err != nil {
		return hits, err
	}
	// The page cache survives, and it does not.
	for _, keep := range [...]crashfs.Keep{crashfs.All, crashfs.None} {
		if err := image(disk, may, keep, 1, dir, 1); err != nil {
			return hits, err
		}
	}
	return hits, nil
}

// live compares a manager that has outlived the error, before it ends.
func (r *onError) live() error {
	got, err := r.w.state()
	if err != nil {
		return fmt.Errorf("the disk is well again, and a read says: %w", err)
	}
	want := make([]string, 0, len(r.may))
	for _, m := range r.may {
		want = append(want, m.String())
	}
	if !slices.Contains(want, got) {
		return fmt.Errorf("the disk is well again; there is\n  %s\nand it must be one of\n  %q", got, want)
	}
	return nil
}

func TestIOError(t *testing.T) {
	type job struct {
		kind   errfs.Kind
		errno  syscall.Errno
		sticky bool
	}
	var jobs []job
	for _, kind := range errfs.Kinds {
		for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENOSPC, syscall.EMFILE, syscall.EDQUOT} {
			jobs = append(jobs, job{kind, errno, false}, job{kind, errno, true})
		}
	}
	// The share takes every so many-th call, from a random one on: a budget in percent.
	step := 100 / budget{test: 20, crash: 100, release: 100}.of(t)
	for _, seed := range seeds(t, "ioerr") {
		var runs, hit atomic.Int64
		pool(t, len(jobs), func(i int, dir string) error {
			j := jobs[i]
			for n := 1 + random(seed, i).IntN(step); ; n += step {
				sub, err := os.MkdirTemp(dir, "run")
				if err != nil {
					return err
				}
				hits, err := failingRun(errfs.Rule{Kind: j.kind, N: n, Err: j.errno, Sticky: j.sticky, Short: n%2 == 0}, sub)
				_ = os.RemoveAll(sub)
				runs.Add(1)
				if err != nil {
					return fmt.Errorf("seed %d: %s call %d, %v, sticky %v: %w", seed, j.kind, n, j.errno, j.sticky, err)
				}
				if hits == 0 {
					return nil
				}
				hit.Add(1)
			}
		})
		t.Logf("seed %d: %d runs, an error was met in %d", seed, runs.Load(), hit.Load())
	}
}
