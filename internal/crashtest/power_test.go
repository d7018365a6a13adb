package crashtest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
)

// T-POWER (reliability.md §3.2): the power fails before the n-th change of the disk, and of what was not synced some,
// all or nothing is there afterwards, in any order and torn. Everything that was answered is there; what was in flight
// is whole or absent; nothing else is there; the checker finds nothing.

// play runs verbs until they end or the power fails. It returns the states that may be there afterwards.
func play(w *world, disk *crashfs.FS, vs []verb) ([]*model, error) {
	m := baseModel()
	for n := range vs {
		v := &vs[n]
		if !possible(v, m) {
			continue
		}
		may := append(v.may(m, n), m.clone())
		err := v.do(w, m, n)
		switch {
		case err == nil:
		case errors.Is(err, errWrong), !disk.Dead():
			return nil, fmt.Errorf("step %d, %s: %w", n, v.name, err)
		default:
			return may, nil
		}
	}
	return []*model{m}, nil
}

// crashOnce runs verbs on a fresh disk and lets the power fail before the n-th change after the start.
func crashOnce(dir string, vs []verb, n int) (disk *crashfs.FS, may []*model, err error) {
	if disk, err = cloneBase(dir); err != nil {
		return nil, nil, err
	}
	w, err := openWorld(disk, worldDir)
	if err != nil {
		return nil, nil, err
	}
	disk.CrashAt(n)
	may, err = play(w, disk, vs)
	w.end(store.Preempt)
	return disk, may, err
}

// image makes a picture of the disk after the crash and looks at it.
func image(disk *crashfs.FS, may []*model, keep crashfs.Keep, seed uint64, dir string, starts int) error {
	sub, err := os.MkdirTemp(dir, "image")
	if err != nil {
		return err
	}
	defer os.RemoveAll(sub)
	after, err := disk.Crash(keep, seed, sub)
	if err != nil {
		return err
	}
	if err := verifyImage(after, worldDir, may, starts); err != nil {
		return fmt.Errorf("keep %d, image seed %d: %w", keep, seed, err)
	}
	return nil
}

// everyPoint crashes one sequence at each change it makes, its end (a killed stop) included.
func everyPoint(vs []verb, seed uint64, dir string) (images int, err error) {
	for n := 1; ; n++ {
		sub := filepath.Join(dir, fmt.Sprint(n))
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return images, err
		}
		disk, may, err := crashOnce(sub, vs, n)
		if err != nil {
			return images, fmt.Errorf("%v, crash before change %d: %w", names(vs), n, err)
		}
		done := !disk.Dead()
		for _, keep := range [...]crashfs.Keep{crashfs.None, crashfs.All, crashfs.Random} {
			if err := image(disk, may, keep, seed+uint64(n), sub, 1); err != nil {
				return images, fmt.Errorf("%v, crash before change %d: %w", names(vs), n, err)
			}
			images++
		}
		_ = os.RemoveAll(sub)
		if done {
			return images, nil
		}
	}
}

// Every sequence of at most three verbs × every change × (nothing kept, all kept, a random part kept). All kept at the
// change before is a prefix kept, so the prefixes of the order of writes are among them.
func TestPowerSequences(t *testing.T) {
	count := budget{test: sequences / 50, crash: sequences / 10, release: sequences}.of(t)
	for _, seed := range seeds(t, "power-sequences") {
		order := random(seed, 1).Perm(sequences)[:min(count, sequences)]
		var images atomic.Int64
		pool(t, len(order), func(i int, dir string) error {
			n, err := everyPoint(sequence(order[i]), seed, dir)
			images.Add(int64(n))
			if err != nil {
				return fmt.Errorf("seed %d, sequence %d: %w", seed, order[i], err)
			}
			return nil
		})
		t.Logf("seed %d: %d of %d sequences, %d images", seed, len(order), sequences, images.Load())
	}
}

const imagesARun = 5

// Longer random histories, with messages of all sizes, crashed at a random change; several random pictures of each, and
// of some a second crash in the recovery.
func TestPowerRandom(t *testing.T) {
	count := budget{test: 4_000, crash: 20_000, release: 2_000_000}.of(t)
	for _, seed := range seeds(t, "power-random") {
		var images, second atomic.Int64
		pool(t, max(count/imagesARun, 1), func(i int, dir string) error {
			rnd := random(seed, i+100)
			vs := history(rnd)
			point := 1 + rnd.IntN(4*len(vs))
			disk, may, err := crashOnce(dir, vs, point)
			if err == nil {
				for k := range imagesARun {
					images.Add(1)
					imageSeed := rnd.Uint64()
					if k == 0 && rnd.IntN(3) == 0 {
						second.Add(1)
						err = crashedTwice(disk, may, imageSeed, 1+rnd.IntN(20), dir)
					} else {
						err = image(disk, may, crashfs.Random, imageSeed, dir, 1+rnd.IntN(8)/7)
					}
					if err != nil {
						break
					}
				}
			}
			if err != nil {
				return fmt.Errorf("seed %d, history %d, %v, crash before change %d: %w", seed, i, names(vs), point, err)
			}
			return nil
		})
		t.Logf("seed %d: %d images, of which %d crashed again while they recovered", seed, images.Load(), second.Load())
	}
}

// crashedTwice lets the power fail again while the picture recovers.
func crashedTwice(disk *crashfs.FS, may []*model, seed uint64, point int, dir string) error {
	sub, err := os.MkdirTemp(dir, "twice")
	if err != nil {
		return err
	}
	defer os.RemoveAll(sub)
	after, err := disk.Crash(crashfs.Random, seed, sub)
	if err != nil {
		return err
	}
	after.CrashAt(point)
	if w, err := openWorld(after, worldDir); err == nil {
		w.end(store.Preempt)
	} else if !after.Dead() {
		return fmt.Errorf("image seed %d: start: %w", seed, err)
	}
	return image(after, may, crashfs.Random, seed+1, sub, 1)
}
