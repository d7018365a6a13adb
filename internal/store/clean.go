package store

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// What a commit of the state file leaves for the next start (docs/format/state.md): the free list in it, so that bbolt need not
// look at every page to find it, and the file "clean", which says which state that is. When the state file has moved on since,
// the transaction number does not fit and the start reads everything.

const (
	cleanMagic   = "QMCLEAN1"
	cleanLen     = 8 + 8 + 8 + 4 + 4 // magic | transaction u64 | size u64 | checksum of the free list u32 | checksum u32
	flagFreelist = 0x10
	noFreelist   = ^uint64(0)
)

func cleanPath(dir string) string { return filepath.Join(dir, "clean") }

// freelist checks that no page in use is said to be free: bbolt would write over it. And each page must be either: what is neither has
// lost its way to it, and its records with it.
func (w *pageWalk) freelist() {
	if w.free == noFreelist || w.stop {
		return
	}
	off := int64(w.free) * w.page
	if w.free < 2 || w.free >= w.high {
		w.fault(off, "the page of the free list does not exist")
		return
	}
	ids, err := freeIDs(w.f, off, w.page)
	if err != nil {
		w.fault(off, "free list: %v", err)
		return
	}
	last := uint64(1)
	for _, id := range ids {
		if id <= last || id >= w.high {
			w.fault(off, "free list: page %d is out of order or does not exist", id)
			return
		}
		if w.seen[id/64]&(1<<(id%64)) != 0 {
			w.fault(off, "free list: page %d is in use", id)
			return
		}
		last = id
	}
	head, err := freelistPage(w.f, off, w.page)
	if err != nil || !w.use(w.free, uint64(int64(len(head))/w.page)) {
		w.fault(off, "the page of the free list is in use")
		return
	}
	w.lost(ids)
}

// lost looks for a page that is neither in use nor free, where that can be known: behind a leaf that was not looked at lies the rest
// of that leaf, maybe.
func (w *pageWalk) lost(free []uint64) {
	for id := uint64(2); id < w.high; id++ {
		switch {
		case w.seen[id/64]&(1<<(id%64)) != 0:
		case len(free) > 0 && free[0] == id:
			free = free[1:]
		case w.unread != nil && w.unread[(id-1)/64]&(1<<((id-1)%64)) != 0:
			w.unread[id/64] |= 1 << (id % 64)
		default:
			w.fault(int64(id)*w.page, "page %d is neither in use nor free: nothing leads to what is in it", id)
			return
		}
	}
}

// freeIDs reads the free list at off.
func freeIDs(f io.ReaderAt, off, page int64) ([]uint64, error) {
	b, err := freelistPage(f, off, page)
	if err != nil {
		return nil, err
	}
	n, b := uint64(le.Uint16(b[10:])), b[pageHeaderLen:]
	if n == 0xFFFF {
		n, b = le.Uint64(b), b[8:]
	}
	if n > uint64(len(b)/8) {
		return nil, fmt.Errorf("%d entries do not fit in it", n)
	}
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = le.Uint64(b[8*i:])
	}
	return ids, nil
}

// freelistPage reads the page with its overflow.
func freelistPage(f io.ReaderAt, off, page int64) ([]byte, error) {
	head := make([]byte, pageHeaderLen)
	if _, err := f.ReadAt(head, off); err != nil {
		return nil, err
	}
	pages := 1 + int64(le.Uint32(head[12:]))
	if le.Uint64(head) != uint64(off/page) || le.Uint16(head[8:]) != flagFreelist || pages > maxFreelist/page {
		return nil, errors.New("it is not one")
	}
	b := make([]byte, pages*page)
	_, err := f.ReadAt(b, off)
	return b, err
}

const maxFreelist = 1 << 30

// fingerprint describes the state that a state file holds: what "clean" says.
func fingerprint(nat vfs.Native, path string) ([]byte, error) {
	f, err := nat.OpenNative(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	w := &pageWalk{f: f, path: path, size: st.Size(), depth: strictly, report: func(Problem) bool { return false }}
	if _, ok := w.metas(); !ok || w.stop || w.free == noFreelist {
		return nil, errors.New("the state file does not end cleanly")
	}
	page, err := freelistPage(f, int64(w.free)*w.page, w.page)
	if err != nil {
		return nil, err
	}
	b := append([]byte(cleanMagic), make([]byte, 0, cleanLen)...)
	b = le.AppendUint64(b, w.txid)
	b = le.AppendUint64(b, uint64(w.size))
	b = le.AppendUint32(b, crc32.Checksum(page, castagnoli))
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// endedCleanly reports whether the state file is as the last commit left it, and has the free list.
func endedCleanly(fsys vfs.FS, nat vfs.Native, dir string) bool {
	f, err := fsys.OpenFile(cleanPath(dir), os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	said := make([]byte, cleanLen)
	if n, err := f.Size(); err != nil || n != cleanLen || readFull(f, said, 0) != nil {
		return false
	}
	is, err := fingerprint(nat, statePath(dir))
	return err == nil && string(said) == string(is)
}

// How much of the free list a commit writes down. That of a file which was deep once is long: it is left to the last commit of
// a checkpoint, or the end.
const (
	listNever uint8 = iota
	listSmall
	listAlways
)

const (
	smallList = 16 << 10 // pages
	largeList = 1 << 20  // more are never listed but at the end
)

// listFree says whether a commit writes down a free list of so many pages.
func listFree(list uint8, last bool, pages int) bool {
	switch list {
	case listNever:
		return false
	case listAlways:
		return true
	}
	return pages <= smallList || last && pages <= largeList
}

// sayClean writes "clean" for the state file as it is. A kill right before it makes the next start longer, and so does a power
// cut, after which "clean" may be an old one: that it cannot be written is no failure.
func (s *state) sayClean(sync bool) {
	b, err := fingerprint(s.nat, s.path)
	if err != nil {
		return
	}
	f, err := s.fs.OpenFile(cleanPath(s.dir), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	// Half of it, or an old one, is one that does not fit.
	if _, err = f.WriteAt(b, 0); err == nil && sync {
		_ = f.Sync()
	}
	f.Close()
}

// endClean writes the free list down and closes the state file; then "clean" says so.
func (s *state) endClean() error {
	_, uerr := s.commit(func(*stateTx) error { return nil }, listAlways)
	if err := s.close(); err != nil || uerr != nil {
		return err
	}
	s.sayClean(true)
	return nil
}

// A state file that is mostly free is copied at start: its room goes back to the file system.
const (
	compactFrom  = 16 << 20 // bytes that are free
	compactShare = 4        // one part of so many is in use, or less
	compactTx    = 8 << 20
)

// compactMin is compactFrom; tests make it small.
var compactMin = int64(compactFrom)

// wasteful reports whether a copy of the file would be much smaller, and how large.
func (s *state) wasteful() (used int64, yes bool) {
	tx, err := s.db.Begin(true) // its end counts the free pages
	if err != nil {
		return 0, false
	}
	size := tx.Size()
	_ = tx.Rollback()
	free := int64(s.spare())
	used = max(size-free, 0)
	return used, free >= compactMin && used <= size/compactShare
}

// compactState copies the state file when that is worth it. The copy takes the file's name when it is whole and on
// disk; until then, and when anything fails, the file stays as it is.
func compactState(s *state, dir string) (*state, error) {
	used, yes := s.wasteful()
	if free, err := s.fs.Free(dir); !yes || err != nil || int64(free) < 2*used {
		return s, nil
	}
	// What is copied must be all there is: a page that was not walked could hide records.
	if err := verifyPages(s.nat, s.path, everyPage); err != nil {
		return s, err
	}
	tmp := s.path + ".new"
	if err := s.fs.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	err := s.nat.Durable(tmp, func() error {
		to, err := bolt.Open(tmp, 0o600, boltOptions(s.nat, false))
		if err != nil {
			return err
		}
		to.NoSync = true
		err = guard(s.fs, s.path, func() error { return bolt.Compact(to, s.db, compactTx) })
		if err == nil {
			err = to.Sync()
		}
		return errors.Join(err, to.Close())
	})
	if err != nil {
		_ = s.fs.Remove(tmp)
		if errors.Is(err, ErrCorrupt) {
			return s, err
		}
		return s, nil
	}
	if err := s.close(); err != nil {
		return s, fmt.Errorf("store: close %s: %w", s.path, err)
	}
	if err := s.fs.Rename(tmp, s.path); err != nil {
		return nil, fmt.Errorf("store: compact %s: %w", s.path, err)
	}
	if err := s.fs.SyncDir(dir); err != nil {
		return nil, fmt.Errorf("store: compact %s: %w", s.path, err)
	}
	return openState(s.fs, dir, false)
}
