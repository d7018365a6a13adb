package store

import (
	"fmt"
	"hash/crc32"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// The spill file takes the nonpersistent messages, heads and all, that do not fit in memory. It is never synced and is
// deleted at start and at end. The room of an extent is rounded up to a power of two, or to three quarters of one, so that
// a freed one fits the next message of its class; the file shrinks to nothing when the last message leaves.
//
// volatile's lock, which every unit of work takes, guards where extents are. Under it the disk is asked for little: a message is written
// before it is looked at by anybody, without the lock, and a large file is given back by a goroutine (to give back a gigabyte takes a
// file system a good part of a second).

const (
	spillMin    = 512       // bytes of the smallest extent
	spillMinLog = 9         // its logarithm
	spillMargin = 1 << 20   // bytes of the disk that are not for nonpersistent messages
	spillGrant  = 256 << 10 // the free room of the disk is asked for once for so many bytes
	spillKeep   = 64 << 10  // a write buffer up to this size is used again
	spillSmall  = 1 << 20   // a file up to this size is made empty at once
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

// spill is guarded by volatile's lock, but for fill and what reads.
type spill struct {
	fs      vfs.FS
	dir     string
	files   int            // so many were opened: each has a name of its own, since those before may not be gone yet
	f       vfs.File       // nil until the first message, and after the last one of a large file
	gone    sync.WaitGroup // files that are being given back
	end     int64
	granted int64 // so far the file may grow without asking
	live    int
	gaps    [2 * 32][]int64 // free extents by class
}

const spillName = "spill" // of the first file; further ones are spill.1, spill.2 and so on

// newSpill removes what an earlier run left.
func newSpill(fs vfs.FS, dir string) (*spill, error) {
	names, err := fs.List(dir)
	if err != nil {
		return nil, fmt.Errorf("store: look for old spill files: %w", err)
	}
	for _, n := range names {
		if n != spillName && !strings.HasPrefix(n, spillName+".") {
			continue
		}
		if err := fs.Remove(filepath.Join(dir, n)); err != nil {
			return nil, fmt.Errorf("store: remove the old spill file: %w", err)
		}
	}
	return &spill{fs: fs, dir: dir}, nil
}

func (s *spill) open() error {
	name := spillName
	if s.files > 0 {
		name += "." + strconv.Itoa(s.files)
	}
	f, err := s.fs.OpenFile(filepath.Join(s.dir, name), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return full(fmt.Errorf("open spill file: %w", err))
	}
	s.f = f
	s.files++
	return nil
}

// reserve takes room for a message, which is then written there by fill. Until it is freed the file stays what it is.
func (s *spill) reserve(head, body int) (extent, error) {
	if s.f == nil {
		if err := s.open(); err != nil {
			return extent{}, err
		}
	}
	e := extent{head: uint32(head), body: uint32(body)}
	class, room := spillClass(head + body)
	if gaps := s.gaps[class]; len(gaps) > 0 {
		e.off = gaps[len(gaps)-1]
		s.gaps[class] = gaps[:len(gaps)-1]
	} else {
		if err := s.grant(room); err != nil {
			return extent{}, err
		}
		e.off = s.end
		s.end += room
	}
	s.live++
	return e, nil
}

// fill writes the message whose room is e to f, the file of reserve. It needs no lock. Whatever stops it, it costs this unit only:
// nothing that was promised lies there.
func (e *extent) fill(f vfs.File, head, body []byte) error {
	e.hcrc, e.bcrc = crc32.Checksum(head, castagnoli), crc32.Checksum(body, castagnoli)
	buf := spillBuffers.Get().(*[]byte)
	b := append(append((*buf)[:0], head...), body...)
	_, err := f.WriteAt(b, e.off)
	if *buf = b; cap(b) <= spillKeep {
		spillBuffers.Put(buf)
	}
	if err != nil {
		return full(fmt.Errorf("write spill file: %w", err))
	}
	return nil
}

var spillBuffers = sync.Pool{New: func() any { return new([]byte) }}

// grant makes sure that the disk has room for n bytes more, and the margin beside.
func (s *spill) grant(n int64) error {
	if s.end+n <= s.granted {
		return nil
	}
	free, err := s.fs.Free(s.dir)
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
		return corrupt(s.f.Name(), fmt.Sprintf("offset %d", e.off), "checksum of a nonpersistent body")
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
		return corrupt(s.f.Name(), fmt.Sprintf("offset %d", e.off), "checksum of a nonpersistent head")
	}
	return nil
}

// setHead writes another head over that of e, which must be as long. On error what lies there is not to be used.
func (s *spill) setHead(e extent, head []byte) (extent, error) {
	e.hcrc = crc32.Checksum(head, castagnoli)
	_, err := s.f.WriteAt(head, e.off)
	return e, err
}

// free gives the room of a message back, and with the last one that of the whole file.
func (s *spill) free(e extent) {
	s.live--
	if s.live > 0 {
		class, _ := spillClass(int(e.head) + int(e.body))
		s.gaps[class] = append(s.gaps[class], e.off)
		return
	}
	small := s.end <= spillSmall
	s.gaps, s.end, s.granted = [2 * 32][]int64{}, 0, 0
	if small {
		// Failing to give the room back is no loss: the next message starts at 0 again.
		_ = s.f.Truncate(0)
		return
	}
	f := s.f
	s.f = nil
	s.gone.Go(func() {
		// What cannot be removed now is removed by the next start.
		_ = f.Close()
		_ = s.fs.Remove(f.Name())
	})
}

func (s *spill) close() error {
	s.gone.Wait()
	if s.f == nil {
		return nil
	}
	name := s.f.Name()
	err := s.f.Close()
	s.f = nil
	if rerr := s.fs.Remove(name); err == nil {
		err = rerr
	}
	return err
}
