package store

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// The spill file takes the bodies of nonpersistent messages that do not fit in memory. It is never synced and is
// deleted at start and at end. Extents are powers of two, so that a freed one fits the next body of its class; the
// file shrinks to nothing when the last body leaves.

const (
	spillMinClass = 9       // 512 bytes
	spillMargin   = 1 << 20 // bytes of the disk that are not for nonpersistent messages
)

type extent struct {
	off   int64
	n     uint32
	class uint8 // log2 of the room taken; 0 = no extent
}

// spill is guarded by volatile's lock.
type spill struct {
	fs   vfs.FS
	name string
	f    vfs.File // nil until the first body
	end  int64
	live int
	gaps [64][]int64 // free extents by class
}

// newSpill removes what an earlier run left.
func newSpill(fs vfs.FS, dir string) (*spill, error) {
	sp := &spill{fs: fs, name: filepath.Join(dir, "spill")}
	if _, err := fs.Stat(sp.name); err == nil {
		if err := fs.Remove(sp.name); err != nil {
			return nil, fmt.Errorf("store: remove the old spill file: %w", err)
		}
	}
	return sp, nil
}

func (s *spill) write(b []byte) (extent, error) {
	if s.f == nil {
		f, err := s.fs.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return extent{}, full(fmt.Errorf("open spill file: %w", err))
		}
		s.f = f
	}
	class := uint8(max(spillMinClass, bits.Len(uint(len(b)-1))))
	e := extent{n: uint32(len(b)), class: class}
	gaps := s.gaps[class]
	if n := len(gaps); n > 0 {
		e.off = gaps[n-1]
	} else {
		e.off = s.end
		if free, err := s.fs.Free(filepath.Dir(s.name)); err == nil && free < spillMargin+uint64(len(b)) {
			return extent{}, fmt.Errorf("%w: %d bytes are left, and the log needs them", ErrFull, free)
		}
	}
	// Whatever stops the write, it costs this unit only: nothing that was promised lies here.
	if _, err := s.f.WriteAt(b, e.off); err != nil {
		return extent{}, full(fmt.Errorf("write spill file: %w", err))
	}
	if n := len(gaps); n > 0 {
		s.gaps[class] = gaps[:n-1]
	} else {
		s.end += 1 << class
	}
	s.live++
	return e, nil
}

func (s *spill) read(e extent) ([]byte, error) {
	b := make([]byte, e.n)
	if _, err := s.f.ReadAt(b, e.off); err != nil {
		return nil, fmt.Errorf("store: read spill file at %d: %w", e.off, err)
	}
	return b, nil
}

func (s *spill) free(e extent) {
	s.live--
	if s.live > 0 {
		s.gaps[e.class] = append(s.gaps[e.class], e.off)
		return
	}
	s.gaps, s.end = [64][]int64{}, 0
	// Failing to give the room back is no loss: the next body starts at 0 again.
	_ = s.f.Truncate(0)
}

func (s *spill) close() error {
	if s.f == nil {
		return nil
	}
	err := s.f.Close()
	s.f = nil
	if rerr := s.fs.Remove(s.name); err == nil {
		err = rerr
	}
	return err
}
