package wire

// PutDecoder reads one MQPUT after the other. Messages of one program have most of their character fields in common, so that
// the texts of the last one are used again where the bytes are the same.
type PutDecoder struct {
	d    Decoder
	page uint16
	put  Put
	kept kept
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
	a := p.d.api()
	p.put.decode(&p.d)
	p.d.b = nil
	return a, &p.put, p.d.err
}
