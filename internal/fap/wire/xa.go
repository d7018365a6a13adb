package wire

// XID is a transaction branch identifier of the X/Open XA specification.
type XID struct {
	Format int32
	Global []byte // at most 64
	Branch []byte // at most 64
}

const maxXIDPart = 64

func (d *Decoder) xid() XID {
	at := d.off
	x := XID{Format: d.i32()}
	g, b := int(d.u8()), int(d.u8())
	if d.err == nil && (g > maxXIDPart || b > maxXIDPart) {
		d.fail(BadLength)
	}
	x.Global, x.Branch = d.take(g), d.take(b)
	d.skip(min(pad4(d.off-at)-(d.off-at), d.rest()))
	return x
}

func (e *Encoder) xid(x XID) {
	at := len(e.b)
	e.i32(x.Format)
	e.u8(byte(len(x.Global)))
	e.u8(byte(len(x.Branch)))
	e.raw(x.Global)
	e.raw(x.Branch)
	e.pad(at)
}

// XAInfo is the body of XA_OPEN and XA_CLOSE.
type XAInfo struct{ Info string }

func (x *XAInfo) decode(d *Decoder) { d.in = "XA"; x.Info = d.tx.field(d.take(int(d.u8()))) }

func (x *XAInfo) encode(e *Encoder) {
	s := e.tx.Append(nil, x.Info)
	s = s[:min(len(s), 255)]
	e.u8(byte(len(s)))
	e.raw(s)
	e.pad(len(e.b) - len(s) - 1)
}

// XABranch is the body of the verbs that name one transaction branch.
type XABranch struct{ XID XID }

func (x *XABranch) decode(d *Decoder) { d.in = "XA"; x.XID = d.xid() }
func (x *XABranch) encode(e *Encoder) { e.xid(x.XID) }

// XACount is the body of XA_RECOVER: how many are wanted.
type XACount struct{ Count int32 }

func (x *XACount) decode(d *Decoder) { d.in = "XA"; x.Count = d.i32() }
func (x *XACount) encode(e *Encoder) { e.i32(x.Count) }

// XAList answers XA_RECOVER.
type XAList struct{ XIDs []XID }

func (x *XAList) decode(d *Decoder) {
	d.in = "XA"
	n := d.count(8)
	for i := 0; i < n && d.err == nil; i++ {
		x.XIDs = append(x.XIDs, d.xid())
	}
}

func (x *XAList) encode(e *Encoder) {
	e.i32(int32(len(x.XIDs)))
	for _, id := range x.XIDs {
		e.xid(id)
	}
}

func newXABody(t Type) Body {
	switch {
	case t == XARecover:
		return &XACount{}
	case t == XARecover+ReplyOffset:
		return &XAList{}
	case t.IsXAReply():
		return &Empty{}
	case t == XAOpen || t == XAClose:
		return &XAInfo{}
	case t == XAComplete:
		return &Empty{}
	}
	return &XABranch{}
}
