package store

import (
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// The log's files: log/<number>.seg, and big/<number> for values too large for a segment.

const (
	defaultSegmentSize = 64 << 20
	minSegmentSize     = 64 << 10
	segSuffix          = ".seg"
)

// errMoved answers a read from a segment or big file that a checkpoint has deleted meanwhile.
var errMoved = errors.New("store: the record has moved")

type segment struct {
	no   uint32
	name string
	f    vfs.File
	size int64

	filled int64 // up to here its pages have been written to, as far as the writer knows
}

// files holds what is open. Reading holds the read lock, deleting the write lock.
type files struct {
	fs       vfs.FS
	dir, big string

	mu   invariants.RankedRW[invariants.Leaf]
	segs map[uint32]*segment
}

func newFiles(fsys vfs.FS, dir string) *files {
	return &files{fs: fsys, dir: filepath.Join(dir, "log"), big: filepath.Join(dir, "big"), segs: map[uint32]*segment{}}
}

func (l *files) segName(no uint32) string {
	return filepath.Join(l.dir, fmt.Sprintf("%016x%s", no, segSuffix))
}
func (l *files) bigName(id uint64) string { return filepath.Join(l.big, fmt.Sprintf("%016x", id)) }

// numbers lists what a directory holds under hexadecimal names with the suffix.
func (l *files) numbers(dir, suffix string) ([]uint64, error) {
	names, err := l.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("store: list %s: %w", dir, err)
	}
	var out []uint64
	for _, n := range names {
		hex, ok := strings.CutSuffix(n, suffix)
		if !ok || len(hex) != 16 {
			continue
		}
		if id, err := strconv.ParseUint(hex, 16, 64); err == nil {
			out = append(out, id)
		}
	}
	return out, nil
}

// create makes a segment with room for size bytes. On error nothing is left.
func (l *files) create(no uint32, size int64, first, synced uint64) (*segment, error) {
	s := &segment{no: no, name: l.segName(no), size: size}
	f, err := l.fs.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	s.f = f
	if err = f.Allocate(0, size); err == nil {
		if _, err = f.WriteAt(segHeader(no, first, synced), 0); err == nil {
			err = l.fs.SyncDir(l.dir)
		}
	}
	if err != nil {
		f.Close()
		if rerr := l.fs.Remove(s.name); rerr != nil && !isFull(err) {
			err = errors.Join(err, rerr)
		}
		return nil, err
	}
	l.add(s)
	return s, nil
}

func (l *files) add(s *segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segs[s.no] = s
}

func (l *files) openSeg(no uint32, flag int) (*segment, error) {
	s := &segment{no: no, name: l.segName(no)}
	f, err := l.fs.OpenFile(s.name, flag, 0)
	if err != nil {
		return nil, err
	}
	if s.size, err = f.Size(); err != nil {
		f.Close()
		return nil, err
	}
	s.f = f
	return s, nil
}

// forget takes a segment out of what is open.
func (l *files) forget(s *segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.segs, s.no)
}

// below lists the segments before no, the largest first.
func (l *files) below(no uint32) []*segment {
	l.mu.RLock()
	defer l.mu.RUnlock()
	var old []*segment
	for n, s := range l.segs {
		if n < no {
			old = append(old, s)
		}
	}
	slices.SortFunc(old, func(a, b *segment) int { return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.no, b.no)) })
	return old
}

func (l *files) count() (n int, bytes int64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, s := range l.segs {
		n, bytes = n+1, bytes+s.size
	}
	return n, bytes
}

func (l *files) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, s := range l.segs {
		errs = append(errs, s.f.Close())
	}
	l.segs = map[uint32]*segment{}
	return errors.Join(errs...)
}

// read returns the bytes of r, checked.
func (l *files) read(r ref) ([]byte, error) {
	if r.n == 0 {
		return nil, nil
	}
	return l.readTo(make([]byte, r.n), r)
}

// readTo reads a value into a buffer of its size.
func (l *files) readTo(b []byte, r ref) ([]byte, error) {
	if r.n == 0 {
		return nil, nil
	}
	name, err := l.readInto(b, r)
	if err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != r.crc {
		return nil, corrupt(name, fmt.Sprintf("offset %d", r.at()), "checksum of a stored value does not match")
	}
	return b, nil
}

// placed is a value and the memory of its size that it is read into.
type placed struct {
	r  ref
	to []byte
}

const (
	runGap   = 512       // so many bytes between two values are read along with them
	runBytes = 256 << 10 // and at most so many in one go
)

// readAll reads many values, in the order in which they lie; it sorts at. What lies close together is read in one go,
// into buf, which is used again.
func (l *files) readAll(buf *[]byte, at []placed) error {
	slices.SortFunc(at, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.r.seg, b.r.seg), cmp.Compare(a.r.off, b.r.off))
	})
	for len(at) > 0 {
		n, end := 1, at[0].r.off+uint64(at[0].r.n)
		for n < len(at) && at[0].r.seg != segBig && at[n].r.seg == at[0].r.seg && at[n].r.off <= end+runGap &&
			at[n].r.off+uint64(at[n].r.n)-at[0].r.off <= runBytes {
			end = max(end, at[n].r.off+uint64(at[n].r.n))
			n++
		}
		if err := l.readRun(buf, at[:n], end); err != nil {
			return err
		}
		at = at[n:]
	}
	return nil
}

// readRun reads values of one segment that end at end. One alone may also be a big file.
func (l *files) readRun(buf *[]byte, at []placed, end uint64) error {
	if len(at) == 1 {
		_, err := l.readTo(at[0].to, at[0].r)
		return err
	}
	from := at[0].r.off
	if *buf == nil {
		*buf = make([]byte, runBytes)
	}
	run := (*buf)[:end-from]
	name, err := l.readInto(run, ref{seg: at[0].r.seg, off: from})
	if err != nil {
		return err
	}
	for _, p := range at {
		copy(p.to, run[p.r.off-from:])
		if crc32.Checksum(p.to, castagnoli) != p.r.crc {
			return corrupt(name, fmt.Sprintf("offset %d", p.r.at()), "checksum of a stored value does not match")
		}
	}
	return nil
}

// pairGap is how far a body may lie behind its head to be read along with it.
const pairGap = 64

// readPair reads head and body, in one go when they lie side by side, as they do in the frame of a short message.
func (l *files) readPair(head, body ref) (h, b []byte, err error) {
	gap := int64(body.off) - int64(head.off) - int64(head.n)
	if head.n == 0 || body.n == 0 || head.seg != body.seg || head.seg == segBig || gap < 0 || gap > pairGap {
		if h, err = l.read(head); err == nil {
			b, err = l.read(body)
		}
		return h, b, err
	}
	all := make([]byte, int64(head.n)+gap+int64(body.n))
	name, err := l.readInto(all, ref{seg: head.seg, off: head.off})
	if err != nil {
		return nil, nil, err
	}
	h, b = all[:head.n:head.n], all[int64(head.n)+gap:]
	for _, v := range []struct {
		b []byte
		r ref
	}{{h, head}, {b, body}} {
		if crc32.Checksum(v.b, castagnoli) != v.r.crc {
			return nil, nil, corrupt(name, fmt.Sprintf("offset %d", v.r.off), "checksum of a stored value does not match")
		}
	}
	return h, b, nil
}

// at is the offset in the file that r names.
func (r ref) at() int64 {
	if r.seg == segBig {
		return 0
	}
	return int64(r.off)
}

func (l *files) readInto(b []byte, r ref) (name string, err error) {
	if r.seg == segBig {
		name = l.bigName(r.off)
		f, err := l.fs.OpenFile(name, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return name, errMoved
		}
		if err != nil {
			return name, fmt.Errorf("store: %w", err)
		}
		defer f.Close()
		return name, readErr(name, readFull(f, b, 0))
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	s := l.segs[r.seg]
	if s == nil {
		return l.segName(r.seg), errMoved
	}
	return s.name, readErr(s.name, readFull(s.f, b, int64(r.off)))
}

func readErr(name string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return corrupt(name, "end", "the file is too short")
	}
	if err != nil {
		return fmt.Errorf("store: read %s: %w", name, err)
	}
	return nil
}

// writeBig stores a large value in a file of its own, durably but for the directory.
func (l *files) writeBig(id uint64, b []byte) error {
	f, err := l.fs.OpenFile(l.bigName(id), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(b, 0); err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (l *files) removeBig(id uint64) error { return l.fs.Remove(l.bigName(id)) }
