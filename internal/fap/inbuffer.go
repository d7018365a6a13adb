package fap

import (
	"io"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

const (
	// readBuffer is what a client costs that does nothing. A buffer that reads fill is doubled, up to readMost, and beyond it
	// for a segment that is longer, as its bytes arrive: a peer that announces much and sends little costs little.
	readBuffer = 2048
	readMost   = 64 << 10
)

// inBuffer holds what was read and not served yet.
type inBuffer struct {
	b    []byte
	r, w int
	grow bool // the last read filled it
}

// bytes are those that wait; they stay until fill.
func (i *inBuffer) bytes() []byte { return i.b[i.r:i.w] }

func (i *inBuffer) skip(n int) { i.r += n }

// fill reads more. size is the length of the segment that stands first, 0 when that is not known. io.EOF means that the peer
// closed between two segments.
func (i *inBuffer) fill(nc io.Reader, size int) error {
	invariants.Blocking("waiting for a peer")
	n := len(i.b)
	switch {
	case n == 0:
		n = readBuffer
	case i.grow && n < readMost, i.w-i.r == n:
		n *= 2
	}
	i.grow = false
	if n > len(i.b) {
		b := make([]byte, n)
		i.w = copy(b, i.b[i.r:i.w])
		i.b, i.r = b, 0
	} else if i.r > 0 {
		i.w = copy(i.b, i.b[i.r:i.w])
		i.r = 0
	}
	got, err := nc.Read(i.b[i.w:])
	i.w += got
	i.grow = i.w == len(i.b)
	switch {
	case got > 0:
		return nil
	case err == io.EOF && i.w > 0:
		return io.ErrUnexpectedEOF
	case err == nil:
		return io.ErrNoProgress
	}
	return err
}
