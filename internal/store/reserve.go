package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// The reserve is room that is allocated already, in the file log/reserve: when the disk is full, the log goes on in it, so that
// messages can still be taken away. It is renamed to a segment, and a segment that is not needed any more is renamed to it, so that no
// room is given to the file system in between that others could take. Nothing is accepted without it.

// minReserve is enough for work to go on; tests make it small.
var minReserve int64 = 256 << 10

const (
	perGet    = 96       // bytes of log that taking one message away needs, in a unit of its own
	smallest  = 256      // bytes of a message in the state file
	leastGive = 16 << 10 // a reserve that is too short for work to go on with it, but enough to take messages away
)

func (s *logStore) reserveName() string { return filepath.Join(s.files.dir, "reserve") }
func (s *logStore) reserveSize() int64  { return max(s.opt.SegmentSize/4, minReserve) }

// owed is how much log it takes until a checkpoint needs no room from the file system: the messages that it has still to bring to the
// state file are taken away, or as many bytes of others that are there already.
func (s *logStore) owed() int64 {
	d := s.delta
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, bytes := int64(0), int64(0)
	for _, g := range d.gens() {
		n, bytes = n+g.alive, bytes+g.bytes
	}
	return align8(max(n, bytes/smallest) * perGet)
}

func (s *logStore) reserveHas() int64 {
	st, err := s.opt.FS.Stat(s.reserveName())
	if err != nil {
		return 0
	}
	return st.Size()
}

// makeReserve sees to it that there is a reserve that is long enough, also when more bytes of log are written. One that is too short,
// because its making was cut short or there was no room for more, is made longer.
func (s *logStore) makeReserve(more int64) {
	made := s.allocateReserve(more)
	if made == nil {
		return
	}
	// After a power cut it is still there. That it is not is no failure.
	_ = errors.Join(made.Sync(), made.Close(), s.opt.FS.SyncDir(s.files.dir))
}

// allocateReserve returns the file when there was something to do.
func (s *logStore) allocateReserve(more int64) vfs.File {
	s.reserveMu.Lock()
	defer s.reserveMu.Unlock()
	least := align8(max(minReserve, s.owed()+more/8))
	has := s.reserveHas()
	if has >= least {
		s.noReserve.Store(false)
		return nil
	}
	s.noReserve.Store(true)
	size := s.reserveSize()
	if free, err := s.opt.FS.Free(s.opt.Dir); err == nil {
		size = min(size, int64(free/16))
	}
	size = max(size, least)
	f, err := s.opt.FS.OpenFile(s.reserveName(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil // without it the store works; it is tried again after the next checkpoint
	}
	if err = f.Allocate(has, size-has); err == nil {
		s.noReserve.Store(false)
		return f
	}
	if has > 0 {
		_ = f.Truncate(has)
	} else {
		_ = s.opt.FS.Remove(s.reserveName())
	}
	f.Close()
	return nil
}

// needReserve refuses what takes room while there is no reserve.
func (s *logStore) needReserve(more int64) error {
	if s.makeReserve(more); !s.noReserve.Load() && !s.noSpare.Load() {
		return nil
	}
	s.ck.ask()
	if s.noSpare.Load() {
		return fmt.Errorf("%w: there is no room for %d bytes more of %s, without which messages could not be taken away any more", ErrFull,
			sparePages*s.state.page, s.state.path)
	}
	return fmt.Errorf("%w: there is no room for %s, without which messages could not be taken away any more", ErrFull,
		s.reserveName())
}

// keepSpare sees to it that the state file has free pages for the commits that give pages back.
func (s *logStore) keepSpare() error {
	err := s.state.keepSpare()
	s.noSpare.Store(err != nil)
	if isFull(err) {
		return nil // puts are refused, and it is tried again
	}
	return err
}

// useReserve makes segment no from the reserve, when that has room for least bytes. It returns nil when it has not.
func (s *logStore) useReserve(no uint32, least int64, first, synced uint64) (*segment, error) {
	s.reserveMu.Lock()
	defer s.reserveMu.Unlock()
	size := s.reserveHas() &^ 7
	if size < least || size < leastGive {
		return nil, nil
	}
	f, err := s.opt.FS.OpenFile(s.reserveName(), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s.noReserve.Store(true)
	s.ck.ask() // it brings room back, and the reserve with it
	seg := &segment{no: no, name: s.files.segName(no), f: f, size: size}
	// The header first: a segment that has its name is one.
	if _, err = f.WriteAt(segHeader(no, first, synced), 0); err == nil {
		err = s.opt.FS.Rename(s.reserveName(), seg.name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.files.add(seg)
	return seg, nil
}

// dropBelow gives up the segments before no.
func (s *logStore) dropBelow(no uint32) error {
	var errs []error
	for _, seg := range s.files.below(no) {
		errs = append(errs, s.spareSegment(seg))
	}
	return errors.Join(errs...)
}

// spareSegment deletes a segment, or makes the reserve of it when there is none or a shorter one.
func (s *logStore) spareSegment(seg *segment) error {
	s.files.forget(seg) // who still has a place in it reads zeros otherwise
	if s.recycle(seg.name, seg.f) {
		return seg.f.Close()
	}
	return errors.Join(seg.f.Close(), s.opt.FS.Remove(seg.name))
}

// recycle makes the reserve of a segment that nothing needs. What is in it must not be found again when it is a segment once more.
func (s *logStore) recycle(name string, f vfs.File) bool {
	s.reserveMu.Lock()
	defer s.reserveMu.Unlock()
	has, least := s.reserveHas(), max(minReserve, s.owed())
	size, err := f.Size()
	if err != nil || has >= least || size <= has || size < leastGive {
		return false
	}
	if most := max(s.reserveSize(), align8(least)); size > most {
		if size = most; f.Truncate(size) != nil {
			return false
		}
	}
	if blank(f, 0, size) != nil || s.opt.FS.Rename(name, s.reserveName()) != nil {
		return false
	}
	s.noReserve.Store(size < least)
	return true
}

// blankFrom makes a segment end at off. Its room is kept, or given up where the file system has no room to write zeros.
func (s *segment) blankFrom(off int64) error {
	err := blank(s.f, off, s.size)
	if !isFull(err) {
		return err
	}
	if err = s.f.Truncate(off); err == nil {
		s.size = off
	}
	return err
}

// blank overwrites what is not zero from off to size with zeros, so that the room stays allocated.
func blank(f vfs.File, off, size int64) error {
	w := &window{f: f, size: size}
	for off < size {
		n := min(int64(len(zeros)), size-off)
		b, err := w.bytes(off, n)
		if err != nil {
			return err
		}
		if !isZero(b) {
			if _, err := f.WriteAt(zeros[:n], off); err != nil {
				return err
			}
		}
		off += n
	}
	return nil
}
