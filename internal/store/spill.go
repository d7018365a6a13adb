package store

import (
	"fmt"
	"hash/crc32"
	"math/bits"
	"os"
	"path/filepath"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// The spill file takes the nonpersistent messages, heads and all, that do not fit in memory. It is never synced and is
// deleted at start and at end. The room of an extent is rounded up to a power of two, or to three quarters of one, so that
// a freed one fits the next message of its class; the file shrinks to nothing when the last message leaves.

const (
	spillMin    = 512       // bytes of the smallest extent
	spillMinLog = 9         // its logarithm
	spillMargin = 1 << 20   // bytes of the disk that are not for nonpersistent messages
	spillGrant  = 256 << 10 // the free room of the disk is asked for once for so many bytes
	spillKeep   = 64 << 10  // a write buffer up to this size is used again
)

// extent is a message in the spill file. Deep queues consist of these: 24 bytes, free of pointers.
type extent struct {
	off        int64
	head, body uint32 // lengths; the body lies behind the head
	hcrc, bcrc uint32
}

// spillClass numbers the sizes that extents have; room is that of this class.
func spillClass(n int) (class int, room int64) {
	if n <= spillMin {
		return 0, spillMin
	}
	log := bits.Len(uint(n-1)) - 1
	class = 2 * (log - spillMinLog)
	if n <= 3<<(log-1) {
		return class + 1, 3 << (log - 1)
	}
	return class + 2, 2 << log
}

// spill is guarded by volatile's lock.
type spill struct {
	fs      vfs.FS
	name    string
	f       vfs.File // nil until the first message
	end     int64
	granted int64 // so far the file may grow without asking
	live    int
	gaps    [2 * 32][]int64 // free extents by class
	buf     []byte
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

func (s *spill) write(head, body []byte) (extent, error) {
	if s.f == nil {
		f, err := s.fs.OpenFile(s.name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return extent{}, full(fmt.Errorf("open spill file: %w", err))
		}
		s.f = f
	}
	e := extent{head: uint32(len(head)), body: uint32(len(body)), hcrc: crc32.Checksum(head, castagnoli),
		bcrc: crc32.Checksum(body, castagnoli)}
	class, room := spillClass(len(head) + len(body))
	gaps := s.gaps[class]
	if n := len(gaps); n > 0 {
		e.off = gaps[n-1]
	} else {
		e.off = s.end
		if err := s.grant(room); err != nil {
			return extent{}, err
		}
	}
	b := append(append(s.buf[:0], head...), body...)
	if s.buf = b; cap(b) > spillKeep {
		s.buf = nil
	}
	// Whatever stops the write, it costs this unit only: nothing that was promised lies here.
	if _, err := s.f.WriteAt(b, e.off); err != nil {
		return extent{}, full(fmt.Errorf("write spill file: %w", err))
	}
	if n := len(gaps); n > 0 {
		s.gaps[class] = gaps[:n-1]
	} else {
		s.end += room
	}
	s.live++
	return e, nil
}

// grant makes sure that the disk has room for n bytes more, and the margin beside.
func (s *spill) grant(n int64) error {
	if s.end+n <= s.granted {
		return nil
	}
	free, err := s.fs.Free(filepath.Dir(s.name))
	switch {
	case err != nil: // the write will tell
	case free < spillMargin+uint64(n):
		return fmt.Errorf("%w: %d bytes are left, and the log needs them", ErrFull, free)
	default:
		s.granted = s.end + int64(min(free-spillMargin, max(spillGrant, uint64(n))))
	}
	return nil
}

// read returns head and body in one new piece of memory.
func (s *spill) read(e extent) (head, body []byte, err error) {
	b := make([]byte, uint64(e.head)+uint64(e.body))
	if err := s.readInto(b, e); err != nil {
		return nil, nil, err
	}
	head, body = b[:e.head:e.head], b[e.head:]
	return head, body, s.checkBody(body, e)
}

// readBody passes over the head, which counts no more.
func (s *spill) readBody(e extent) ([]byte, error) {
	b := make([]byte, e.body)
	if _, err := s.f.ReadAt(b, e.off+int64(e.head)); err != nil {
		return nil, fmt.Errorf("store: read spill file at %d: %w", e.off, err)
	}
	return b, s.checkBody(b, e)
}

func (s *spill) checkBody(b []byte, e extent) error {
	if crc32.Checksum(b, castagnoli) != e.bcrc {
		return corrupt(s.name, fmt.Sprintf("offset %d", e.off), "checksum of a nonpersistent body")
	}
	return nil
}

// readHead leaves the body where it is.
func (s *spill) readHead(e extent) ([]byte, error) {
	b := make([]byte, e.head)
	return b, s.readInto(b, e)
}

// readInto reads the extent's begin, at least its head, and checks that.
func (s *spill) readInto(b []byte, e extent) error {
	if _, err := s.f.ReadAt(b, e.off); err != nil {
		return fmt.Errorf("store: read spill file at %d: %w", e.off, err)
	}
	if crc32.Checksum(b[:e.head], castagnoli) != e.hcrc {
		return corrupt(s.name, fmt.Sprintf("offset %d", e.off), "checksum of a nonpersistent head")
	}
	return nil
}

// setHead writes another head over that of e, which must be as long. On error what lies there is not to be used.
func (s *spill) setHead(e extent, head []byte) (extent, error) {
	e.hcrc = crc32.Checksum(head, castagnoli)
	_, err := s.f.WriteAt(head, e.off)
	return e, err
}

func (s *spill) free(e extent) {
	s.live--
	if s.live > 0 {
		class, _ := spillClass(int(e.head) + int(e.body))
		s.gaps[class] = append(s.gaps[class], e.off)
		return
	}
	s.gaps, s.end, s.granted = [2 * 32][]int64{}, 0, 0
	// Failing to give the room back is no loss: the next message starts at 0 again.
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
