package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
)

// changeState changes the records of a state file whose store is closed; its pages stay as bbolt makes them.
func changeState(t *testing.T, dir string, fn func(*bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(statePath(dir), 0o600, boltOptions(vfs.OS().(vfs.Native), false))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(fn), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// A ruined file does not fill the screen: a check ends its list at maxProblems, whoever finds them.
func TestCheckEndsItsList(t *testing.T) {
	dir := t.TempDir()
	filled(t, dir, maxProblems+200, Immediate)
	changeState(t, dir, func(tx *bolt.Tx) error {
		b := tx.Bucket(queueBucket(bucketHead, 1))
		for i := range maxProblems + 200 {
			if err := b.Put(seqKey(Seq(i+1)), []byte("no checksum")); err != nil {
				return err
			}
		}
		return nil
	})
	if ps, err := Check(dir, nil); err != nil || len(ps) != maxProblems {
		t.Errorf("%d problems, %v", len(ps), err)
	}

	// Files of their own that the log names and that are gone are counted too.
	dir = t.TempDir()
	s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize, CheckpointBytes: 1 << 40})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		tx := &Tx{}
		tx.Put(1, Seq(i+1), Rec{Head: []byte("head"), Body: make([]byte, 2*minSegmentSize), Persistent: true})
		if _, err := s.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(Preempt, nil); err != nil {
		t.Fatal(err)
	}
	bigs, err := filepath.Glob(filepath.Join(dir, "big", "*"))
	if err != nil || len(bigs) != 3 {
		t.Fatalf("%v, %v", bigs, err)
	}
	for _, name := range bigs {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	for _, before := range []int{0, maxProblems - 2, maxProblems} {
		c := &checker{fs: vfs.OS(), dir: dir, out: make([]Problem, before)}
		if err := c.checkLog(); err != nil || len(c.out) != min(before+3, maxProblems) {
			t.Errorf("%d problems, then %d, %v", before, len(c.out), err)
		}
	}
	for i := range maxProblems + 1 {
		c := &checker{out: make([]Problem, i)}
		if more := c.add(Problem{}); more != (i+1 < maxProblems) || len(c.out) != min(i+1, maxProblems) {
			t.Fatalf("after %d problems one more: %d, and go on: %v", i, len(c.out), more)
		}
	}
}

// A record whose key is no message number is a fault, though its checksum is right: no message would be found by it, and a start
// refuses it too.
func TestKeyThatIsNoMessageNumber(t *testing.T) {
	for _, kind := range []byte{bucketHead, bucketBody} {
		for _, key := range []string{"short", "longer than 8"} {
			dir := t.TempDir()
			filled(t, dir, 3, Immediate)
			changeState(t, dir, func(tx *bolt.Tx) error {
				name := queueBucket(kind, 1)
				if kind == bucketBody { // its head is there
					head := queueBucket(bucketHead, 1)
					rec := sealRecord(head, []byte(key), le.AppendUint32(nil, 4), []byte("head"))
					if err := tx.Bucket(head).Put([]byte(key), rec); err != nil {
						return err
					}
				}
				return tx.Bucket(name).Put([]byte(key), sealRecord(name, []byte(key), le.AppendUint32(nil, 0)))
			})
			ps, err := Check(dir, nil)
			wrong := 0
			for _, p := range ps {
				if strings.Contains(p.What, "key is not a message number") {
					wrong++
				}
			}
			want := 1
			if kind == bucketBody {
				want = 2
			}
			if err != nil || wrong != want || len(ps) != want {
				t.Errorf("%c, %q: %v, %v", kind, key, ps, err)
			}
			s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize})
			if err == nil {
				err = s.Live(func(Live) error { return nil })
				_ = s.Close(Preempt, nil)
			}
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%c, %q: the start says %v", kind, key, err)
			}
		}
	}
}

// mostlyFree leaves a state file of which a start makes a copy: 10 messages of 3 kB are in it, the numbers behind 990.
func mostlyFree(t *testing.T) (dir string) {
	t.Helper()
	min := compactMin
	t.Cleanup(func() { compactMin = min })
	compactMin = 64 << 10
	dir = t.TempDir()
	filled(t, dir, 1000, Immediate)
	emptied(t, dir, 990, Immediate)
	return dir
}

// What a start copies to give room back is all there is: a leaf whose count of cells has changed while the manager was down, of which
// neither "clean" nor bbolt knows, would lose its messages for good.
func TestDamagedStateFileIsNotCopied(t *testing.T) {
	dir := mostlyFree(t)
	b, err := os.ReadFile(statePath(dir))
	if err != nil {
		t.Fatal(err)
	}
	page, changed := os.Getpagesize(), 0
	for at := 2 * page; at+page <= len(b); at += page { // it, and what it was copied from, which is free
		if le.Uint16(b[at+8:]) == flagLeaf && bytes.Contains(b[at:at+page], bytes.Repeat([]byte{byte(995 & 0xFF), 0xA7}, 64)) {
			b[at+10]--
			changed++
		}
	}
	if changed == 0 {
		t.Fatal("no leaf with the body of a message")
	}
	if err := os.WriteFile(statePath(dir), b, 0o600); err != nil {
		t.Fatal(err)
	}
	if !endedCleanly(vfs.OS(), vfs.OS().(vfs.Native), dir) {
		t.Fatal("\"clean\" knows it")
	}
	_, err = Open(Options{Dir: dir, SegmentSize: minSegmentSize})
	if !errors.Is(err, ErrCorrupt) {
		t.Errorf("the start says %v", err)
	}
	if after, err := os.ReadFile(statePath(dir)); err != nil || string(after) != string(b) {
		t.Errorf("the file is another one: %d bytes, had %d, %v", len(after), len(b), err)
	}
	if _, err := os.Stat(statePath(dir) + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a copy is left: %v", err)
	}
}

// A copy that a start did not finish is thrown away, whatever is in it: the next start makes another of what is there now.
func TestUnfinishedCopyIsThrownAway(t *testing.T) {
	for _, left := range []string{"half of one", "messages that were taken since"} {
		dir := mostlyFree(t)
		before := stateSize(t, dir)
		content := []byte("half of one")
		if left != string(content) {
			other := t.TempDir()
			filled(t, other, 20, Immediate)
			var err error
			if content, err = os.ReadFile(statePath(other)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(statePath(dir)+".new", content, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize})
		if err != nil {
			t.Fatalf("%s: %v", left, err)
		}
		if after := stateSize(t, dir); after > before/4 {
			t.Errorf("%s: the file has %d bytes, had %d", left, after, before)
		}
		var there []Seq
		if err := s.Live(func(l Live) error { there = append(there, l.S); return nil }); err != nil || len(there) != 10 || there[0] != 991 {
			t.Errorf("%s: messages %v, %v", left, there, err)
		}
		if err := s.Close(Preempt, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(statePath(dir) + ".new"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: it is still there: %v", left, err)
		}
	}
}

// What an orderly end says of the state file is on disk when it is over: a power cut after it makes the next start no longer.
func TestCleanEndIsOnDisk(t *testing.T) {
	disk := crashfs.New(t.TempDir())
	o := Options{Dir: "/d/QM", FS: disk, SegmentSize: minSegmentSize}
	for i := range 2 {
		s, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		tx := &Tx{}
		tx.Put(1, Seq(i+1), Rec{Head: []byte("head"), Body: []byte("body"), Persistent: true})
		if _, err := s.Commit(t.Context(), tx); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(Immediate, nil); err != nil {
			t.Fatal(err)
		}
		if err := disk.SyncDir(o.Dir); err != nil { // the name is there from the first end on
			t.Fatal(err)
		}
	}
	after, err := disk.Crash(crashfs.None, 1, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if !endedCleanly(after, after, o.Dir) {
		t.Error("the clean end is not known as one after a power cut")
	}
}

// fullLater lets the commit of a copy run and then has no room for it.
type fullLater struct {
	vfs.FS
	native vfs.Native
}

func (f fullLater) OpenNative(name string, flag int, perm os.FileMode) (*os.File, error) {
	return f.native.OpenNative(name, flag, perm)
}

func (f fullLater) Durable(name string, commit func() error) error {
	err := f.native.Durable(name, commit)
	if strings.HasSuffix(name, ".new") {
		err = errors.Join(err, ErrFull)
	}
	return err
}

// A copy for which there is no room is given up, and takes none.
func TestCopyWithoutRoom(t *testing.T) {
	dir := mostlyFree(t)
	before := stateSize(t, dir)
	s, err := Open(Options{Dir: dir, SegmentSize: minSegmentSize, FS: fullLater{vfs.OS(), vfs.OS().(vfs.Native)}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(Preempt, nil)
	if after := stateSize(t, dir); after != before {
		t.Errorf("%d bytes, %d before", after, before)
	}
	if _, err := os.Stat(statePath(dir) + ".new"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	if r, err := s.Read(1, 995, Loc{}); err != nil || r.Body[0] != byte(994&0xFF) {
		t.Errorf("a message: %v", err)
	}
}
