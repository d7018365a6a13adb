package crashtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// Disk full and back (reliability.md §3.3): a disk of 64 MiB is filled by persistent puts until one is refused with a
// reason; gets and units of gets go on; the manager starts on the full disk; when the messages are gone the room is
// there again.

const (
	smallDisk    = 64 << 20
	smallSegment = 4 << 20
)

// smallFS is a real small disk where this test may mount one, and otherwise one that is made small.
func smallFS(t *testing.T) (vfs.FS, string, string) {
	t.Helper()
	dir := t.TempDir()
	mount := filepath.Join(dir, "disk")
	must(t, os.Mkdir(mount, 0o700))
	if mountSmall(t, mount, smallDisk) {
		return vfs.OS(), filepath.Join(mount, "QM1"), "tmpfs"
	}
	efs := errfs.New(vfs.OS())
	efs.SetRoom(smallDisk)
	return efs, filepath.Join(dir, "QM1"), "errfs"
}

// fullDisk is what must be on Q1, in order.
type fullDisk struct {
	fs   vfs.FS
	dir  string
	w    *world
	rnd  *rand.Rand
	want []string
	n    int

	others int64 // what others have of a disk that is made small
}

func (f *fullDisk) start() (err error) {
	f.w, err = openWorldWith(f.fs, f.dir, smallSegment)
	return err
}

func (f *fullDisk) message() string {
	f.n++
	id := fmt.Sprint("m", f.n)
	return id + "|" + filler(id, 512+f.rnd.IntN(64<<10))
}

// fill puts until the disk is full, and returns how many bytes it took.
func (f *fullDisk) fill() (total int, err error) {
	for range 100_000 {
		s := f.message()
		err := f.w.put("Q1", s, mqi.MQPMO_NO_SYNCPOINT, true)
		if err == nil {
			f.want = append(f.want, s)
			total += len(s)
			continue
		}
		switch _, rc := mqi.Reason(err); {
		case f.w.failed():
			return total, fmt.Errorf("the full disk has ended the store: %w", err)
		case rc != mqi.MQRC_RESOURCE_PROBLEM && rc != mqi.MQRC_Q_SPACE_NOT_AVAILABLE:
			return total, fmt.Errorf("a put on a full disk is refused with reason %d: %w", rc, err)
		}
		return total, nil
	}
	return total, fmt.Errorf("%d bytes, and the disk is not full", total)
}

// take gets n messages, outside syncpoint or in one unit.
func (f *fullDisk) take(n int, unit bool) error {
	h, err := f.w.handle("Q1")
	if err != nil {
		return err
	}
	options := int32(mqi.MQGMO_NO_SYNCPOINT)
	if unit {
		options = mqi.MQGMO_SYNCPOINT
	}
	for range n {
		s, err := f.w.get(h, options)
		if err != nil {
			return fmt.Errorf("get on a full disk, %d messages left: %w", len(f.want), err)
		}
		if len(f.want) == 0 || s != f.want[0] {
			return fmt.Errorf("got %q, and %d messages should be there", short(s), len(f.want))
		}
		f.want = f.want[1:]
	}
	if unit {
		if err := f.w.c.Commit(bg); err != nil {
			return fmt.Errorf("commit of gets on a full disk: %w", err)
		}
	}
	return nil
}

func (f *fullDisk) round(i int) (int, error) {
	total, err := f.fill()
	if err != nil {
		return total, err
	}
	if err := f.take(3, false); err != nil {
		return total, err
	}
	if err := f.take(5, true); err != nil {
		return total, err
	}
	if i%2 == 1 { // start again on the disk as full as it gets
		if _, err := f.fill(); err != nil {
			return total, err
		}
		f.w.end([]store.StopMode{store.Immediate, store.Preempt}[i/2%2])
		if err := f.start(); err != nil {
			return total, fmt.Errorf("start on a full disk: %w", err)
		}
	}
	if err := f.take(len(f.want), false); err != nil {
		return total, err
	}
	if err := f.w.st.Checkpoint(bg); err != nil {
		return total, fmt.Errorf("checkpoint when the queue is empty: %w", err)
	}
	return total, nil
}

func TestDiskFull(t *testing.T) {
	rounds := budget{test: 4, crash: 20, release: 200}.of(t)
	for _, seed := range seeds(t, "disk-full") {
		f := &fullDisk{rnd: random(seed, 0)}
		var kind string
		f.fs, f.dir, kind = smallFS(t)
		must(t, f.start())
		_, err := f.w.command("DEFINE QLOCAL(Q1) MAXDEPTH(999999)")
		must(t, err)
		first, least := 0, 0 // bytes; how much fits depends on when the checkpoints come
		for i := range rounds {
			total, err := f.round(i)
			if err != nil {
				t.Fatalf("seed %d, round %d: %v", seed, i, err)
			}
			if i == 0 {
				first, least = total, total
			}
			least = min(least, total)
			if total < smallDisk/8 {
				t.Errorf("seed %d, round %d: %d bytes fill the disk that took %d at first: room is not given back", seed, i, total, first)
			}
		}
		f.w.end(store.Immediate)
		must(t, checkClean(vfs.OS(), f.dir))
		t.Logf("seed %d: %d rounds on %s of %d MiB; the first took %d MiB of messages, the least %d MiB", seed, rounds, kind,
			smallDisk>>20, first>>20, least>>20)
	}
}

// TestFullToTheLastBlock: what messages leave of a disk others take, to the last block, also what comes back of it. However the manager
// ends, each start lets all messages be taken, outside syncpoint and in units of work, until the disk has room again.
func TestFullToTheLastBlock(t *testing.T) {
	rounds := budget{test: 3, crash: 12, release: 120}.of(t)
	for _, seed := range seeds(t, "disk-full") {
		f := &fullDisk{rnd: random(seed, 1)}
		var kind string
		f.fs, f.dir, kind = smallFS(t)
		if efs, ok := f.fs.(*errfs.FS); ok {
			efs.SetExact(true) // the many commits would give room back that they had not taken, until it is not full any more
		}
		must(t, f.start())
		_, err := f.w.command("DEFINE QLOCAL(Q1) MAXDEPTH(999999)")
		must(t, err)
		for i := range rounds {
			if err := f.crowded(t, i); err != nil {
				t.Fatalf("seed %d, round %d on %s: %v", seed, i, kind, err)
			}
		}
		f.w.end(store.Immediate)
		must(t, checkClean(vfs.OS(), f.dir))
	}
}

// crowded is one round of it.
func (f *fullDisk) crowded(t *testing.T, i int) error {
	t.Helper()
	if _, err := f.fill(); err != nil {
		return err
	}
	for k := 0; len(f.want) > 0; k++ {
		free := f.crowd(t)
		f.w.end([]store.StopMode{store.Preempt, store.Preempt, store.Immediate}[(i+k)%3])
		if err := f.start(); err != nil {
			return fmt.Errorf("start on a full disk: %w", err)
		}
		f.crowd(t)
		if err := f.take(min(1+f.rnd.IntN(max(len(f.want)/4, 10)), len(f.want)), k%2 == 0); err != nil {
			return err
		}
		if k%3 == 0 { // refused, or it finds room that came back
			if _, err := f.fill(); err != nil {
				return err
			}
		}
		if k > 200 {
			return fmt.Errorf("%d messages are left", len(f.want))
		}
		if k%5 == 4 {
			free()
		}
	}
	f.crowd(t)()
	return f.w.st.Checkpoint(bg)
}

// crowd lets others fill the disk; the function that is returned takes back all that they have.
func (f *fullDisk) crowd(t *testing.T) func() {
	t.Helper()
	if efs, ok := f.fs.(*errfs.FS); ok {
		free, err := efs.Free(f.dir)
		must(t, err)
		f.others += int64(free)
		efs.SetRoom(0)
		efs.SetInside(true)
		return func() {
			free, err := efs.Free(f.dir)
			must(t, err)
			efs.SetRoom(int64(free) + f.others)
			efs.SetInside(false)
			f.others = 0
		}
	}
	name := filepath.Join(filepath.Dir(f.dir), "others")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer file.Close()
	for b := make([]byte, 4<<10); err == nil; {
		_, err = file.Write(b)
	}
	return func() { must(t, os.Remove(name)) }
}
