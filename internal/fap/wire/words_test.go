package wire

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// Segments that one write takes to the client together each begin at a word: each is a whole number of words long.
func TestSegmentsAreWords(t *testing.T) {
	codec, _ := (&Header{Order: Big, CCSID: 819}).Codec()
	h := Header{Magic: TSHM, Conv: 1, Order: Big, CCSID: 819, Encoding: 273}
	for n := range 9 {
		data := bytes.Repeat([]byte{'x'}, n+95)
		var out []byte
		for _, max := range []int{DefaultTransmission, 500} {
			h.Type = AsyncMsg
			out = AppendAsync(out, h, &Async{Data: data, Total: int32(len(data)), Resolved: "Q"}, codec, max)
			h.Type = MQGET + 16
			out = AppendMessage(out, h, API{}, &GetReply{Data: data}, codec, max)
			h.Type = SPI + 16
			out = AppendMessage(out, h, API{}, &SPIBody{Reply: true, Part: &SPIOpenPart{}}, codec, max)
		}
		for len(out) > 0 {
			size := int(binary.BigEndian.Uint32(out[4:]))
			if size%4 != 0 {
				t.Errorf("%d bytes of data: a segment of type %d is %d bytes long", len(data), out[17], size)
			}
			out = out[size:]
		}
	}
}

// The Java client takes the rest of the last segment for data of the message when its socket is not shared.
func TestUnsharedSegmentsAreExact(t *testing.T) {
	codec, _ := (&Header{Order: Big, CCSID: 819}).Codec()
	h := Header{Magic: TSH, Type: MQGET + 16, Order: Big, CCSID: 819, Encoding: 273}
	whole := len(AppendMessage(nil, h, API{}, &GetReply{}, codec, DefaultTransmission))
	for n := range 9 {
		out := AppendMessage(nil, h, API{}, &GetReply{Data: make([]byte, n)}, codec, DefaultTransmission)
		if size := int(binary.BigEndian.Uint32(out[4:])); size != whole+n || len(out) != size {
			t.Errorf("%d bytes of data in a segment of %d bytes, want %d", n, size, whole+n)
		}
	}
}
