package wire

import "github.com/qmgrd/qmgrd/internal/mqi"

// SPI verbs.
const (
	SPIQuery     = 1
	SPIPut       = 2
	SPIGet       = 3
	SPIActivate  = 4
	SPISyncpoint = 5
	SPIReserve   = 6
	SPISubscribe = 7
	SPINotify    = 11
	SPIOpen      = 12
)

// SPIBody is the body of SPI and its reply: three integers, the in-out structure (SPxU) and the in or out structure (SPxI,
// SPxO).
type SPIBody struct {
	Reply      bool
	Verb       int32
	OutVersion int32
	OutLength  int32
	Part       SPIPart
}

// SPIPart is what one verb carries. inOut is the content of SPxU behind its 12-byte head, nil-op for most.
type SPIPart interface {
	letter() string // the x of SPxU
	decodeInOut(*Decoder)
	encodeInOut(*Encoder)
	decode(*Decoder)
	encode(*Encoder)
}

// NewSPIPart returns the part of a verb and direction, nil for a verb that is not known.
func NewSPIPart(verb int32, reply bool) SPIPart {
	switch verb {
	case SPIQuery:
		if reply {
			return &SPIQueryOut{}
		}
		return &SPIQueryIn{}
	case SPIPut:
		if reply {
			return &SPIPutOut{}
		}
		return &SPIPutIn{}
	case SPIReserve:
		if reply {
			return &SPIReserveOut{}
		}
		return &SPIReserveIn{}
	case SPISubscribe:
		return &SPISub{}
	case SPINotify:
		if reply {
			return &SPINotifyOut{}
		}
		return &SPINotifyIn{}
	case SPIOpen:
		return &SPIOpenPart{}
	}
	return nil
}

func (s *SPIBody) decode(d *Decoder) {
	d.in = "SPI"
	s.Verb, s.OutVersion, s.OutLength = d.i32(), d.i32(), d.i32()
	if d.err != nil {
		return
	}
	if s.Part = NewSPIPart(s.Verb, s.Reply); s.Part == nil {
		return // the caller refuses the verb
	}
	at := d.off
	d.begin("SP"+s.Part.letter()+"U", "SP"+s.Part.letter()+"U", []int{12})
	n := int(d.i32())
	if d.err == nil && (n < 12 || n > len(d.b)-at) {
		d.fail(BadLength)
		return
	}
	s.Part.decodeInOut(d)
	if d.err != nil {
		return
	}
	d.off = at + n
	last := "I"
	if s.Reply {
		last = "O"
	}
	d.begin("SP"+s.Part.letter()+last, "SP"+s.Part.letter()+last, []int{12})
	if n := d.i32(); d.err == nil && n < 12 {
		d.fail(BadLength)
	}
	s.Part.decode(d)
}

func (s *SPIBody) encode(e *Encoder) {
	e.i32(s.Verb)
	e.i32(s.OutVersion)
	e.i32(s.OutLength)
	if s.Part == nil {
		return
	}
	last := "I"
	if s.Reply {
		last = "O"
	}
	e.sized("SP"+s.Part.letter()+"U", s.Part.encodeInOut)
	e.sized("SP"+s.Part.letter()+last, s.Part.encode)
}

// sized writes a structure of version 1 with its length.
func (e *Encoder) sized(id string, content func(*Encoder)) {
	at := len(e.b)
	e.id(id)
	e.i32(1)
	e.i32(0)
	content(e)
	e.setI32(at+8, int32(len(e.b)-at))
}

type noInOut struct{}

func (noInOut) decodeInOut(*Decoder) {}
func (noInOut) encodeInOut(*Encoder) {}

// SPIQueryIn asks which verbs there are.
type SPIQueryIn struct{ noInOut }

func (*SPIQueryIn) letter() string  { return "Q" }
func (*SPIQueryIn) decode(*Decoder) {}
func (*SPIQueryIn) encode(*Encoder) {}

// SPIQueryOut lists them.
type SPIQueryOut struct {
	noInOut
	Verbs []SPIVerb
}

// SPIVerb is one verb with the highest versions of its structures.
type SPIVerb struct{ Verb, InOut, In, Out, Flags int32 }

func (*SPIQueryOut) letter() string { return "Q" }

func (q *SPIQueryOut) decode(d *Decoder) {
	n := d.count(20)
	for i := 0; i < n; i++ {
		q.Verbs = append(q.Verbs, SPIVerb{Verb: d.i32(), InOut: d.i32(), In: d.i32(), Out: d.i32(), Flags: d.i32()})
	}
}

func (q *SPIQueryOut) encode(e *Encoder) {
	e.i32(int32(len(q.Verbs)))
	for _, v := range q.Verbs {
		e.i32(v.Verb)
		e.i32(v.InOut)
		e.i32(v.In)
		e.i32(v.Out)
		e.i32(v.Flags)
	}
}

// LpiSaveContext are the bits of LpiOptions by which the handle keeps the identity (1) and the origin (2) of what it got,
// to be passed on by a put: JMS requeues messages so, and does not set MQOO_SAVE_ALL_CONTEXT.
const LpiSaveContext = 3

// SPIOpenPart is MQOPEN with the defaults of the object; request and reply look the same.
type SPIOpenPart struct {
	noInOut
	Options    int32
	LpiOptions int32
	Defaults   Defaults
	OD         mqi.OD
}

func (*SPIOpenPart) letter() string { return "O" }

func (o *SPIOpenPart) decode(d *Decoder) {
	d.begin("LPOO", "LPOO", []int{32})
	o.Options, o.LpiOptions, o.Defaults = d.i32(), d.i32(), d.defaults()
	o.OD = d.od()
}

func (o *SPIOpenPart) encode(e *Encoder) {
	e.id("LPOO")
	e.i32(1)
	e.i32(o.Options)
	e.i32(o.LpiOptions)
	e.defaults(o.Defaults)
	e.od(&o.OD)
}

// SPIPutIn is a put with descriptor and options in the in-out structure.
type SPIPutIn struct {
	MD      mqi.MD
	PMO     mqi.PMO
	Options int32
	Data    []byte
}

func (*SPIPutIn) letter() string           { return "P" }
func (p *SPIPutIn) decodeInOut(d *Decoder) { p.MD, p.PMO = d.md(), d.pmo() }
func (p *SPIPutIn) encodeInOut(e *Encoder) { e.md(&p.MD); e.pmo(&p.PMO) }

func (p *SPIPutIn) decode(d *Decoder) {
	p.Options = d.i32()
	p.Data = d.take(d.count(1))
}

func (p *SPIPutIn) encode(e *Encoder) {
	e.i32(p.Options)
	e.i32(int32(len(p.Data)))
	e.raw(p.Data)
}

// SPIPutOut answers it.
type SPIPutOut struct {
	MD  mqi.MD
	PMO mqi.PMO
}

func (*SPIPutOut) letter() string           { return "P" }
func (p *SPIPutOut) decodeInOut(d *Decoder) { p.MD, p.PMO = d.md(), d.pmo() }
func (p *SPIPutOut) encodeInOut(e *Encoder) { e.md(&p.MD); e.pmo(&p.PMO) }
func (*SPIPutOut) decode(*Decoder)          {}
func (*SPIPutOut) encode(*Encoder)          {}

// SPIReserveIn asks for message ids that the client may make by itself.
type SPIReserveIn struct {
	noInOut
	TagSize, Reservation int32
}

func (*SPIReserveIn) letter() string      { return "R" }
func (r *SPIReserveIn) decode(d *Decoder) { r.TagSize, r.Reservation = d.i32(), d.i32() }
func (r *SPIReserveIn) encode(e *Encoder) { e.i32(r.TagSize); e.i32(r.Reservation) }

// SPIReserveOut gives the first of them. The client counts in the three bytes around Offset.
type SPIReserveOut struct {
	noInOut
	Actual, Offset int32
	Base           mqi.ID
}

func (*SPIReserveOut) letter() string { return "R" }

func (r *SPIReserveOut) decode(d *Decoder) {
	r.Actual, r.Offset = d.i32(), d.i32()
	copy(r.Base[:], d.take(24))
}

func (r *SPIReserveOut) encode(e *Encoder) {
	e.i32(r.Actual)
	e.i32(r.Offset)
	e.raw(r.Base[:])
}

// SPINotifyIn wakes a waiting get of another conversation.
type SPINotifyIn struct {
	noInOut
	Options, Reason int32
	Connection      mqi.ID
}

func (*SPINotifyIn) letter() string { return "N" }

func (n *SPINotifyIn) decode(d *Decoder) {
	n.Options, n.Reason = d.i32(), d.i32()
	copy(n.Connection[:], d.take(24))
}

func (n *SPINotifyIn) encode(e *Encoder) {
	e.i32(n.Options)
	e.i32(n.Reason)
	e.raw(n.Connection[:])
}

// SPINotifyOut answers it.
type SPINotifyOut struct{ noInOut }

func (*SPINotifyOut) letter() string  { return "N" }
func (*SPINotifyOut) decode(*Decoder) {}
func (*SPINotifyOut) encode(*Encoder) {}

// SPISub is a subscription of JMS: MQSUB with a description of the destination; request and reply look the same.
type SPISub struct {
	noInOut
	Hsub int32
	LSD  LSD
	SD   mqi.SD
}

// LSD is the block in front of MQSD.
type LSD struct {
	Options         int32 // 0x10, 0x40: shared subscriptions
	SubID           mqi.ID
	DestReadAhead   int32
	DestOpenOptions int32
	DestQMgr        string // 48
	DestQ           string // 48
	SubCorrelID     mqi.ID
	PropertyStyle   int32
	SubScope        int32
	SubType         int32
}

const sizeLSD = 196

// LSDJoinShared in LSD.Options: the subscription may be shared. Clients set 0x40 with it.
const LSDJoinShared = 0x10

func (*SPISub) letter() string { return "B" }

func (s *SPISub) decode(d *Decoder) {
	s.Hsub = d.i32()
	d.begin("LSD", "LSD ", []int{sizeLSD})
	l := &s.LSD
	l.Options = d.i32()
	d.charv() // SubIdentity, always empty
	copy(l.SubID[:], d.take(24))
	l.DestReadAhead, l.DestOpenOptions = d.i32(), d.i32()
	l.DestQMgr, l.DestQ = d.str(48), d.str(48)
	copy(l.SubCorrelID[:], d.take(24))
	l.PropertyStyle, l.SubScope, l.SubType = d.i32(), d.i32(), d.i32()
	s.SD = d.sd()
}

func (s *SPISub) encode(e *Encoder) {
	e.i32(s.Hsub)
	l := &s.LSD
	e.id("LSD ")
	e.i32(1)
	e.i32(l.Options)
	for _, v := range [...]int32{0, sizeLSD, 0, 0, ccsidUTF} {
		e.i32(v)
	}
	e.raw(l.SubID[:])
	e.i32(l.DestReadAhead)
	e.i32(l.DestOpenOptions)
	e.str(l.DestQMgr, 48)
	e.str(l.DestQ, 48)
	e.raw(l.SubCorrelID[:])
	e.i32(l.PropertyStyle)
	e.i32(l.SubScope)
	e.i32(l.SubType)
	e.sd(&s.SD)
}
