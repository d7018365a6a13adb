package wire

import "bytes"

// PutDecoder reads one MQPUT after the other. Messages of one program have most of their character fields in common, so that
// the texts of the last one are used again where the bytes are the same.
type PutDecoder struct {
	d    Decoder
	page uint16
	put  Put
	kept kept
	head []byte // the last body, up to the length of its data
	hobj int32
}

// kept are the character fields of MQMD and MQPMO, in the order of the structures.
type kept [11]struct {
	raw  []byte
	text string
}

// Decode reads the body of an MQPUT. What it returns stays until the next call, and its data are a part of b.
func (p *PutDecoder) Decode(b []byte, c Codec) (API, *Put, error) {
	if p.page != c.Text.CCSID {
		p.kept, p.page = kept{}, c.Text.CCSID
	}
	p.d = Decoder{b: b, o: c.Order.order(), tx: c.Text, kept: &p.kept}
	p.head = p.head[:0]
	a := p.d.api()
	p.put.decode(&p.d)
	if p.d.err == nil {
		p.head, p.hobj = append(p.head, b[:p.d.off-len(p.put.Data)-sizeLength]...), a.Hobj
	}
	p.d.b = nil
	return a, &p.put, p.d.err
}

const sizeLength = 4

// Again reads the body of an MQPUT that differs from the last one in nothing but its data, which are a part of b. It is of the same
// byte order and code page.
func (p *PutDecoder) Again(b []byte) (hobj int32, data []byte, ok bool) {
	n := len(p.head)
	if n == 0 || len(b) < n+sizeLength || !bytes.Equal(p.head[sizeLength:], b[sizeLength:n]) { // the first is the length of all
		return 0, nil, false
	}
	k := p.d.o.Uint32(b[n:])
	if b = b[n+sizeLength:]; int64(k) > int64(len(b)) {
		return 0, nil, false
	}
	return p.hobj, b[:k:k], true
}
