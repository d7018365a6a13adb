package store

import (
	"fmt"
	"hash/crc32"
	"slices"
)

// Frames and segment headers of the log (docs/format/log.md).
//
//	frame    len u32 | crc u32 | lsn u64 | synced u64 | kind u8 | 7 zero bytes | payload | zeros up to 8 bytes
//	header   magic 8 | segment u32 | crc u32 | first lsn u64 | synced u64
//
// The checksum covers all of a frame but itself. synced is the highest LSN known to be durable when the frame was
// written: it tells a reader which damage a power cut explains and which it does not.

const (
	frameHeaderLen = 32
	segHeaderLen   = 32
	segMagic       = "QMLOG1\r\n"
	maxPayload     = 16 << 20 // no frame is longer; protects a reader from a wrong length
)

type frameKind uint8

const (
	kindTx   frameKind = 1 // the end of a unit of work: with it the unit is there
	kindBody frameKind = 2 // a part: one large value of a unit
	kindOps  frameKind = 3 // a part: intents of a unit that does not fit in one frame
	kindMark frameKind = 4 // nothing but synced
	kindStop frameKind = 5 // a clean end
)

type frame struct {
	lsn, synced uint64
	kind        frameKind
	payload     []byte
}

func align8(n int64) int64 { return (n + 7) &^ 7 }

func frameSize(payload int) int64 { return align8(frameHeaderLen + int64(payload)) }

// appendFrame appends the frame with its padding.
func appendFrame(dst []byte, f frame) []byte {
	at := len(dst)
	dst = le.AppendUint32(dst, uint32(len(f.payload)))
	dst = append(dst, 0, 0, 0, 0)
	dst = le.AppendUint64(dst, f.lsn)
	dst = le.AppendUint64(dst, f.synced)
	dst = append(dst, byte(f.kind), 0, 0, 0, 0, 0, 0, 0)
	dst = append(dst, f.payload...)
	le.PutUint32(dst[at+4:], frameCRC(dst[at:at+frameHeaderLen], f.payload))
	for len(dst)%8 != at%8 {
		dst = append(dst, 0)
	}
	return dst
}

func frameCRC(header, payload []byte) uint32 {
	c := crc32.Update(0, castagnoli, header[:4])
	c = crc32.Update(c, castagnoli, header[8:])
	return crc32.Update(c, castagnoli, payload)
}

// parseHeader decodes a frame header and checks what can be checked without the payload. n is the payload's length.
func parseHeader(h []byte) (f frame, n int, crc uint32, ok bool) {
	n = int(le.Uint32(h))
	f = frame{lsn: le.Uint64(h[8:]), synced: le.Uint64(h[16:]), kind: frameKind(h[24])}
	for _, b := range h[25:frameHeaderLen] {
		if b != 0 {
			return frame{}, 0, 0, false
		}
	}
	ok = n <= maxPayload && f.lsn > 0 && f.synced < f.lsn && f.kind >= kindTx && f.kind <= kindStop
	return f, n, le.Uint32(h[4:]), ok
}

func segHeader(no uint32, first, synced uint64) []byte {
	b := append(make([]byte, 0, segHeaderLen), segMagic...)
	b = le.AppendUint32(b, no)
	b = append(b, 0, 0, 0, 0)
	b = le.AppendUint64(b, first)
	b = le.AppendUint64(b, synced)
	le.PutUint32(b[12:], segHeaderCRC(b))
	return b
}

func segHeaderCRC(b []byte) uint32 {
	c := crc32.Update(0, castagnoli, b[:12])
	return crc32.Update(c, castagnoli, b[16:segHeaderLen])
}

func parseSegHeader(b []byte, no uint32) (first, synced uint64, ok bool) {
	ok = len(b) == segHeaderLen && string(b[:8]) == segMagic && le.Uint32(b[8:]) == no &&
		le.Uint32(b[12:]) == segHeaderCRC(b)
	if !ok {
		return 0, 0, false
	}
	return le.Uint64(b[16:]), le.Uint64(b[24:]), true
}

// ref says where a value lies and what its checksum is. n = 0 lies nowhere.
type ref struct {
	seg uint32 // segment number; segBig = off is the number of a big file
	n   uint32
	crc uint32
	off uint64

	outside bool // while decoding: not in the frame that names it
}

const segBig = 1<<32 - 1

func (r ref) loc() Loc { return Loc{Seg: r.seg, Len: r.n, Off: r.off} }

// logOp is an intent as the log has it.
type logOp struct {
	kind  opKind
	table Table
	q     QID
	s     Seq
	key   []byte // of Set and Unset
	a, b  ref    // head and body, or key and value
}

// Intents in a payload:
//
//	kind u8 | table u8 | zero u16 | queue u32 | seq u64 | value a | value b
//	value: tag u8 | len u32 | crc u32 | then by tag
//	  0 the bytes follow     1 u32: they lie there in this payload
//	  2 u32 segment, u64 offset (a body frame)     3 u64 number of a big file
const (
	tagInline = iota
	tagSame
	tagPart
	tagBig
)

const (
	opHeaderLen  = 16
	txHeaderLen  = 16 // unit u64 | parts u32 | intents u32
	valueMinLen  = 9
	valueMaxHead = 21
)

// decodeOps decodes count intents from payload[at:]. seg and base place the payload, so that inline values get refs.
// key bytes alias payload. They are appended to ops, which may be nil.
func decodeOps(ops []logOp, payload []byte, at, count int, seg uint32, base uint64) ([]logOp, error) {
	if count < 0 || count > (len(payload)-at)/opHeaderLen {
		return nil, fmt.Errorf("%d intents do not fit in %d bytes", count, len(payload)-at)
	}
	ops = slices.Grow(ops, count)
	for range count {
		if len(payload)-at < opHeaderLen {
			return nil, fmt.Errorf("intent at %d is cut off", at)
		}
		h := payload[at:]
		o := logOp{kind: opKind(h[0]), table: Table(h[1]), q: QID(le.Uint32(h[4:])), s: Seq(le.Uint64(h[8:]))}
		if o.kind < opPut || o.kind > opDropQueue || h[2] != 0 || h[3] != 0 {
			return nil, fmt.Errorf("intent at %d is of kind %d", at, h[0])
		}
		at += opHeaderLen
		var err error
		var inline []byte
		if o.a, inline, at, err = decodeValue(payload, at, seg, base); err != nil {
			return nil, err
		}
		if o.kind == opSet || o.kind == opUnset {
			if o.key = inline; inline == nil && o.a.n > 0 {
				return nil, fmt.Errorf("intent before %d has its key elsewhere", at)
			}
		}
		if o.b, _, at, err = decodeValue(payload, at, seg, base); err != nil {
			return nil, err
		}
		ops = append(ops, o)
	}
	if at != len(payload) {
		return nil, fmt.Errorf("%d bytes behind the last intent", len(payload)-at)
	}
	return ops, nil
}

func decodeValue(p []byte, at int, seg uint32, base uint64) (r ref, inline []byte, next int, err error) {
	start := at
	cut := func() error { return fmt.Errorf("value at %d is cut off", start) }
	if len(p)-at < valueMinLen {
		return r, nil, 0, cut()
	}
	tag := p[at]
	r.n, r.crc = le.Uint32(p[at+1:]), le.Uint32(p[at+5:])
	at += valueMinLen
	switch tag {
	case tagInline:
		if uint64(r.n) > uint64(len(p)-at) {
			return r, nil, 0, cut()
		}
		r.seg, r.off = seg, base+uint64(at)
		return r, p[at : at+int(r.n) : at+int(r.n)], at + int(r.n), nil
	case tagSame:
		if len(p)-at < 4 {
			return r, nil, 0, cut()
		}
		off := le.Uint32(p[at:])
		if uint64(off)+uint64(r.n) > uint64(len(p)) {
			return r, nil, 0, cut()
		}
		r.seg, r.off = seg, base+uint64(off)
		return r, p[off : off+r.n : off+r.n], at + 4, nil
	case tagPart:
		if len(p)-at < 12 {
			return r, nil, 0, cut()
		}
		r.seg, r.off, r.outside = le.Uint32(p[at:]), le.Uint64(p[at+4:]), true
		return r, nil, at + 12, nil
	case tagBig:
		if len(p)-at < 8 {
			return r, nil, 0, cut()
		}
		r.seg, r.off = segBig, le.Uint64(p[at:])
		return r, nil, at + 8, nil
	}
	return r, nil, 0, fmt.Errorf("value at %d has tag %d", at-valueMinLen, tag)
}
