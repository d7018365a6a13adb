package store

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// memFile is a file for fuzzing: no disk in the loop.
type memFile struct{ b []byte }

func (f *memFile) ReadAt(b []byte, off int64) (int, error) {
	return bytes.NewReader(f.b).ReadAt(b, off)
}
func (f *memFile) WriteAt(b []byte, off int64) (int, error) {
	if n := off + int64(len(b)) - int64(len(f.b)); n > 0 {
		f.b = append(f.b, make([]byte, n)...)
	}
	return copy(f.b[off:], b), nil
}
func (f *memFile) Close() error                { return nil }
func (f *memFile) Sync() error                 { return nil }
func (f *memFile) Name() string                { return "seg" }
func (f *memFile) Size() (int64, error)        { return int64(len(f.b)), nil }
func (f *memFile) Truncate(n int64) error      { f.b = f.b[:n]; return nil }
func (f *memFile) Allocate(off, n int64) error { return nil }

// oneFile is a directory with one segment in it.
type oneFile struct {
	vfs.FS
	f *memFile
}

func (o oneFile) OpenFile(name string, _ int, _ fs.FileMode) (vfs.File, error) {
	if filepath.Base(name) != "0000000000000001.seg" {
		return nil, fs.ErrNotExist
	}
	return o.f, nil
}
func (o oneFile) List(string) ([]string, error) { return []string{"0000000000000001.seg"}, nil }

// readLog scans a segment as a start does and returns the intents of the whole units.
func readLog(seg []byte) (ops []logOp, torn string, err error) {
	rep := &replayer{apply: func(o []logOp) {
		for _, op := range o {
			op.key = bytes.Clone(op.key)
			ops = append(ops, op)
		}
	}}
	sc := &scanner{files: newFiles(oneFile{f: &memFile{seg}}, "/"), flag: os.O_RDONLY, visit: rep.visit}
	err = sc.run(position{})
	return ops, sc.torn, err
}

// sampleLog is a segment with units of every shape: each acknowledged before the next.
func sampleLog(t testing.TB) []byte {
	t.Helper()
	f := &memFile{}
	w := &logWriter{files: newFiles(oneFile{f: f}, "/"), segSize: minSegmentSize, lsn: 1, last: 1}
	w.cur, w.off = &segment{no: 1, f: f, size: 1 << 30}, segHeaderLen
	if _, err := f.WriteAt(segHeader(1, 1, 0), 0); err != nil {
		t.Fatal(err)
	}
	large := bytes.Repeat([]byte("large"), 1200)
	for i := range 6 {
		tx := &Tx{}
		tx.Put(1, Seq(i+1), Rec{Head: []byte("head"), Body: []byte("body of some length"), Persistent: true})
		tx.Set(TableMeta, []byte{byte('a' + i)}, bytes.Repeat([]byte{byte(i)}, 80*i))
		if i%3 == 1 {
			tx.Put(2, Seq(i+1), Rec{Body: large, Persistent: true})
			tx.Put(3, Seq(i+1), Rec{Body: large, Persistent: true})
		}
		if i == 4 {
			for n := range 400 { // more than one frame takes
				tx.Set(TableSubs, []byte{byte(n), byte(n >> 8)}, bytes.Repeat([]byte{1}, 60))
			}
			tx.Remove(1, 2, true)
			tx.SetHead(1, 3, []byte("newer"), true)
			tx.Unset(TableMeta, []byte("a"))
			tx.DropQueue(9)
		}
		if _, err := w.unit(tx); err != nil {
			t.Fatal(err)
		}
		if err := w.sync(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.frame(kindMark, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	return append(f.b, make([]byte, 4096)...)
}

func sameOps(a, b []logOp) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if !bytes.Equal(x.key, y.key) {
			return false
		}
		x.key, y.key = nil, nil
		if x.kind != y.kind || x.table != y.table || x.q != y.q || x.s != y.s || x.a != y.a || x.b != y.b {
			return false
		}
	}
	return true
}

func TestSampleLogReads(t *testing.T) {
	ops, torn, err := readLog(sampleLog(t))
	if err != nil || torn != "" || len(ops) != 12+4+404 {
		t.Fatalf("%d intents, torn %q, %v", len(ops), torn, err)
	}
}

// A byte changed anywhere in acknowledged frames is reported; in the room behind them it is cut off. What is read is
// never other than what was written.
func FuzzLogByte(f *testing.F) {
	good := sampleLog(f)
	want, _, err := readLog(good)
	if err != nil {
		f.Fatal(err)
	}
	end := bytes.LastIndexFunc(good, func(r rune) bool { return r != 0 })
	mark := int(align8(int64(end+1))) - frameHeaderLen // only the mark has nothing behind it
	for _, at := range []uint32{0, 9, 12, 20, 33, 40, 50, 60, 70, 100, 3000, 30000} {
		f.Add(at, byte(1))
	}
	f.Fuzz(func(t *testing.T, at uint32, x byte) {
		b := bytes.Clone(good)
		i := int(at) % len(b)
		b[i] ^= x
		ops, torn, err := readLog(b)
		switch {
		case x == 0:
			if err != nil || torn != "" || !sameOps(ops, want) {
				t.Fatalf("unchanged log: %v, %q", err, torn)
			}
		case err != nil:
			if !errors.Is(err, ErrCorrupt) {
				t.Fatalf("offset %d: %v", i, err)
			}
		case i < mark && !padding(good, i):
			t.Fatalf("offset %d of %d: a change was not noticed (torn %q)", i, mark, torn)
		case !sameOps(ops, want):
			t.Fatalf("offset %d: other intents", i)
		}
	})
}

// padding reports whether i lies in the zeros that align a frame: they hold nothing.
func padding(log []byte, i int) bool {
	w := &window{f: &memFile{log}, size: int64(len(log))}
	for off := int64(segHeaderLen); ; {
		f, n, ok, err := readFrame(w, off)
		if err != nil || !ok || off > int64(i) {
			return false
		}
		if end := off + frameHeaderLen + int64(len(f.payload)); int64(i) >= end && int64(i) < off+n {
			return true
		}
		off += n
	}
}

// Anything at all in a segment: no panic, and only whole frames are believed.
func FuzzSegment(f *testing.F) {
	good := sampleLog(f)
	f.Add(good)
	f.Add(good[:200])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, err := readLog(b); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// Intents with a right checksum and wrong content, as another program version could write them.
func FuzzOps(f *testing.F) {
	tx := &Tx{}
	tx.Put(1, 2, Rec{Head: []byte("h"), Body: []byte("b"), Persistent: true})
	tx.Set(TableMeta, []byte("k"), []byte("v"))
	e := &unitEncoder{w: &logWriter{segSize: minSegmentSize}}
	e.reset()
	for i := range tx.ops {
		if err := e.op(&tx.ops[i]); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(e.payload, uint16(2))
	f.Fuzz(func(t *testing.T, p []byte, count uint16) {
		if len(p) < txHeaderLen {
			return
		}
		ops, err := decodeOps(nil, p, txHeaderLen, int(count), 1, 100)
		if err != nil {
			return
		}
		for _, o := range ops {
			for _, r := range []ref{o.a, o.b} {
				if r.seg == 1 && !r.outside && (r.off < 100 || r.off-100+uint64(r.n) > uint64(len(p))) {
					t.Fatalf("ref %+v outside its payload of %d", r, len(p))
				}
			}
		}
	})
}

// nativeFile serves a real file with given content.
type nativeFile struct {
	vfs.FS
	name string
}

func (n nativeFile) OpenNative(string, int, fs.FileMode) (*os.File, error) { return os.Open(n.name) }
func (n nativeFile) Durable(_ string, fn func() error) error               { return fn() }

// Anything at all as a state file: the page walk reports or finds nothing, and never panics or runs away.
func FuzzPages(f *testing.F) {
	dir := f.TempDir()
	st, err := OpenBolt(Options{Dir: dir})
	if err != nil {
		f.Fatal(err)
	}
	for i := range 40 {
		tx := &Tx{}
		tx.Put(1, Seq(i+1), Rec{Head: []byte("h"), Body: bytes.Repeat([]byte{1}, 300*i), Persistent: true})
		tx.Set(TableMeta, []byte{byte(i)}, []byte("v"))
		if _, err := st.Commit(f.Context(), tx); err != nil {
			f.Fatal(err)
		}
	}
	if err := st.Close(Immediate, nil); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, "state.db"))
	if err != nil {
		f.Fatal(err)
	}
	for _, at := range []uint32{0, 16, 24, 4096, 8192, 8200, 12288, 16390} {
		f.Add(at, byte(0xff), uint32(0), byte(0))
	}
	name := filepath.Join(f.TempDir(), "pages")
	f.Fuzz(func(t *testing.T, at uint32, x byte, at2 uint32, y byte) {
		b := bytes.Clone(good)
		b[int(at)%len(b)] ^= x
		b[int(at2)%len(b)] ^= y
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		if err := walkPages(nativeFile{name: name}, name, strictly, func(Problem) bool { n++; return n < 100 }); err != nil {
			t.Fatal(err)
		}
	})
}

func TestRecordChecksum(t *testing.T) {
	b, key := tableBucket(TableMeta), []byte("kx")
	rec := sealRecord(b, key, []byte("value"))
	if v, err := openRecord("f", b, key, rec); err != nil || string(v) != "value" {
		t.Fatalf("%q, %v", v, err)
	}
	if _, err := openRecord("f", b, []byte("ky"), rec); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("a record under another key: %v", err)
	}
	if _, err := openRecord("f", tableBucket(TableSubs), key, rec); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("a record in another table: %v", err)
	}
	for i := range rec {
		rec[i] ^= 0x10
		if _, err := openRecord("f", b, key, rec); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		rec[i] ^= 0x10
	}
	if crc32.Checksum([]byte("123456789"), castagnoli) != 0xe3069283 {
		t.Fatal("not CRC-32C")
	}
}
