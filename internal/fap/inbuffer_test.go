package fap

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// TestAnnouncedLength: a peer that announces much and sends little costs little, in one piece or byte by byte.
func TestAnnouncedLength(t *testing.T) {
	h := wire.Header{Magic: wire.TSHM, Conv: 1, Order: wire.Big, Type: wire.MQPUT, CCSID: 819}
	const most = 65 << 20
	stream := append(h.Append(nil, 64<<20), make([]byte, 10_000)...)
	for _, r := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream))} {
		var in inBuffer
		var err error
		for size := 0; err == nil; err = in.fill(r, size) {
			var whole bool
			if _, _, size, whole, err = wire.CutSegment(in.bytes(), most); whole || err != nil {
				t.Fatalf("whole: %v, %v", whole, err)
			}
		}
		if err != io.ErrUnexpectedEOF || len(in.b) > 4*len(stream) {
			t.Errorf("%v, %d bytes of buffer", err, len(in.b))
		}
	}
}
