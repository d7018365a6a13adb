package wire

import "github.com/qmgrd/qmgrd/internal/mqi"

// Conn is the body of MQCONN and its reply.
type Conn struct {
	QMgr            string // 48
	ApplName        string // 28
	ApplType        int32
	AccountingToken mqi.Account
	Options         int32
	XOptions        int32
	// Version of the block that follows, 0 when there is none. Which one is sent depends on the level.
	Version    int32
	CapFlags   int32
	ConnTag    [128]byte // reply: its first 24 bytes are the ConnectionId
	RetConnTag [128]byte // version 3
	Extra      [12]byte  // version 4, meaning unknown
	ReconnID   mqi.ID    // version 2
	ReconnQMID string    // version 2, 48
	// Cut says that a block of version 2 ends where one of version 1 does, as Java clients of 9.0 send it.
	Cut bool
}

// sizesFCNO are the least lengths; version 2 is 212 when it is not cut.
var sizesFCNO = []int{140, 140, 340, 352}

func (c *Conn) decode(d *Decoder) {
	d.in = "MQCONN"
	c.QMgr, c.ApplName, c.ApplType = d.str(48), d.str(28), d.i32()
	copy(c.AccountingToken[:], d.take(32))
	c.Options, c.XOptions = d.i32(), d.i32()
	if d.err != nil || d.rest() == 0 {
		return
	}
	c.Version = d.begin("FCNO", "FCNO", sizesFCNO)
	c.CapFlags = d.i32()
	copy(c.ConnTag[:], d.take(128))
	if c.Version >= 3 {
		copy(c.RetConnTag[:], d.take(128))
	}
	if c.Version >= 4 {
		copy(c.Extra[:], d.take(12))
	}
	c.Cut = c.Version == 2 && d.rest() < 24+48
	if c.Version >= 2 && !c.Cut {
		copy(c.ReconnID[:], d.take(24))
		c.ReconnQMID = d.str(48)
	}
}

func (c *Conn) encode(e *Encoder) {
	e.str(c.QMgr, 48)
	e.str(c.ApplName, 28)
	e.i32(c.ApplType)
	e.raw(c.AccountingToken[:])
	e.i32(c.Options)
	e.i32(c.XOptions)
	if c.Version == 0 {
		return
	}
	e.id("FCNO")
	e.i32(c.Version)
	e.i32(c.CapFlags)
	e.raw(c.ConnTag[:])
	if c.Version >= 3 {
		e.raw(c.RetConnTag[:])
	}
	if c.Version >= 4 {
		e.raw(c.Extra[:])
	}
	if c.Version >= 2 && !c.Cut {
		e.raw(c.ReconnID[:])
		e.str(c.ReconnQMID, 48)
	}
}

// Defaults are the attributes of an object that a client wants to know when it opens it (the FOPA block, and LPOO of SPI
// OPEN).
type Defaults struct {
	Persistence     int32
	PutResponse     int32
	ReadAhead       int32
	PropertyControl int32
}

func (d *Decoder) defaults() Defaults {
	return Defaults{Persistence: d.i32(), PutResponse: d.i32(), ReadAhead: d.i32(), PropertyControl: d.i32()}
}

func (e *Encoder) defaults(f Defaults) {
	e.i32(f.Persistence)
	e.i32(f.PutResponse)
	e.i32(f.ReadAhead)
	e.i32(f.PropertyControl)
}

// Open is the body of MQOPEN and its reply.
type Open struct {
	OD       mqi.OD
	Options  int32
	HasFOPA  bool
	Defaults Defaults
}

const sizeFOPA = 28

func (o *Open) decode(d *Decoder) {
	o.OD = d.od()
	d.in = "MQOPEN"
	o.Options = d.i32()
	if o.HasFOPA = d.peek("FOPA"); !o.HasFOPA {
		return
	}
	d.begin("FOPA", "FOPA", []int{sizeFOPA})
	d.skip(4)
	o.Defaults = d.defaults()
}

func (o *Open) encode(e *Encoder) {
	e.od(&o.OD)
	e.i32(o.Options)
	if o.HasFOPA {
		e.id("FOPA")
		e.i32(1)
		e.i32(sizeFOPA)
		e.defaults(o.Defaults)
	}
}

// Close is the body of MQCLOSE; the reply has none.
type Close struct{ Options int32 }

func (c *Close) decode(d *Decoder) { d.in = "MQCLOSE"; c.Options = d.i32() }
func (c *Close) encode(e *Encoder) { e.i32(c.Options) }

// Put is the body of MQPUT, PutReply that of its reply.
type Put struct {
	MD   mqi.MD
	PMO  mqi.PMO
	Data []byte
}

type PutReply struct {
	MD  mqi.MD
	PMO mqi.PMO
}

func (p *Put) decode(d *Decoder) {
	p.MD, p.PMO = d.md(), d.pmo()
	d.in = "MQPUT"
	p.Data = d.take(d.count(1))
}

func (p *Put) encode(e *Encoder) {
	e.md(&p.MD)
	e.pmo(&p.PMO)
	e.data(p.Data)
}

// data writes a length, the bytes and padding.
func (e *Encoder) data(p []byte) {
	e.i32(int32(len(p)))
	at := len(e.b)
	e.raw(p)
	e.pad(at)
}

func (p *PutReply) decode(d *Decoder) { p.MD, p.PMO = d.md(), d.pmo() }
func (p *PutReply) encode(e *Encoder) { e.md(&p.MD); e.pmo(&p.PMO) }

// Put1 is the body of MQPUT1, Put1Reply that of its reply.
type Put1 struct {
	OD mqi.OD
	Put
}

type Put1Reply struct {
	OD mqi.OD
	PutReply
}

func (p *Put1) decode(d *Decoder)      { p.OD = d.od(); p.Put.decode(d) }
func (p *Put1) encode(e *Encoder)      { e.od(&p.OD); p.Put.encode(e) }
func (p *Put1Reply) decode(d *Decoder) { p.OD = d.od(); p.PutReply.decode(d) }
func (p *Put1Reply) encode(e *Encoder) { e.od(&p.OD); p.PutReply.encode(e) }

// Get is the body of MQGET.
type Get struct {
	MD        mqi.MD
	GMO       mqi.GMO
	MaxLength int32
}

func (g *Get) decode(d *Decoder) {
	g.MD, g.GMO = d.md(), d.gmo()
	d.in = "MQGET"
	if g.MaxLength = d.i32(); d.err == nil && g.MaxLength < 0 {
		d.fail(BadLength)
	}
}

func (g *Get) encode(e *Encoder) {
	e.md(&g.MD)
	e.gmo(&g.GMO)
	e.i32(g.MaxLength)
}

// GetReply is the answer. DataLength is the length of the message; of a truncated one Data is less.
type GetReply struct {
	MD         mqi.MD
	GMO        mqi.GMO
	DataLength int32
	Data       []byte
}

func (g *GetReply) decode(d *Decoder) {
	g.MD, g.GMO = d.md(), d.gmo()
	d.in = "MQGET"
	if g.DataLength = d.i32(); d.err == nil && g.DataLength < 0 {
		d.fail(BadLength)
	}
	g.Data = d.take(min(d.rest(), int(g.DataLength)))
}

func (g *GetReply) encode(e *Encoder) {
	e.md(&g.MD)
	e.gmo(&g.GMO)
	e.i32(g.DataLength)
	e.raw(g.Data)
}

// Attrs is the body of MQINQ, MQSET and the reply to MQINQ. A request of MQINQ has counts but no values.
type Attrs struct {
	Selectors  []int32
	IntCount   int32
	CharLength int32
	Values     bool // values stand behind the selectors
	Ints       []int32
	Chars      []byte // in the code page of the segment

	Bad mqi.RC // why the counts of a request cannot be served; the rest is not there then

	Reply bool // whose counts are right
}

// maxSelectors is the MQI's own limit; maxInts bounds the answer to somebody who asks for more numbers than there are selectors.
const (
	maxSelectors = 256
	maxInts      = 16384
)

func (a *Attrs) decode(d *Decoder) {
	d.in = "MQINQ"
	n := int(d.i32())
	a.IntCount, a.CharLength = d.i32(), d.i32()
	if d.err != nil {
		return
	}
	bad := a.badCount(n)
	if bad != 0 && a.Reply || bad == 0 && n > d.rest()/4 {
		d.fail(BadLength)
		return
	}
	if a.Bad = bad; bad != 0 {
		return // the verb says so
	}
	a.Selectors = d.i32s(n)
	if !a.Values {
		return
	}
	if int(a.IntCount) > d.rest()/4 {
		d.fail(BadLength)
		return
	}
	a.Ints = d.i32s(int(a.IntCount))
	a.Chars = d.take(int(a.CharLength))
}

func (a *Attrs) badCount(selectors int) mqi.RC {
	switch {
	case selectors < 0:
		return mqi.MQRC_SELECTOR_COUNT_ERROR
	case selectors > maxSelectors:
		return mqi.MQRC_SELECTOR_LIMIT_EXCEEDED
	case a.IntCount < 0, a.IntCount > maxInts:
		return mqi.MQRC_INT_ATTR_COUNT_ERROR
	case a.CharLength < 0:
		return mqi.MQRC_CHAR_ATTR_LENGTH_ERROR
	}
	return 0
}

func (d *Decoder) i32s(n int) []int32 {
	v := make([]int32, n)
	for i := range v {
		v[i] = d.i32()
	}
	return v
}

func (a *Attrs) encode(e *Encoder) {
	e.i32(int32(len(a.Selectors)))
	e.i32(a.IntCount)
	e.i32(a.CharLength)
	for _, s := range a.Selectors {
		e.i32(s)
	}
	for _, v := range a.Ints {
		e.i32(v)
	}
	e.raw(a.Chars)
}

// Stat is the body of MQSTAT and its reply.
type Stat struct {
	Type int32
	STS  mqi.STS
}

func (s *Stat) decode(d *Decoder) { d.in = "MQSTAT"; s.Type = d.i32(); s.STS = d.sts() }
func (s *Stat) encode(e *Encoder) { e.i32(s.Type); e.sts(&s.STS) }

// Sub is the body of MQSUB and its reply.
type Sub struct {
	Hsub    int32
	Unknown int32 // 0 always seen
	SD      mqi.SD
}

func (s *Sub) decode(d *Decoder) { d.in = "MQSUB"; s.Hsub, s.Unknown = d.i32(), d.i32(); s.SD = d.sd() }
func (s *Sub) encode(e *Encoder) { e.i32(s.Hsub); e.i32(s.Unknown); e.sd(&s.SD) }

// SubRq is the body of MQSUBRQ and its reply.
type SubRq struct {
	Action int32
	SRO    mqi.SRO
}

func (s *SubRq) decode(d *Decoder) { d.in = "MQSUBRQ"; s.Action = d.i32(); s.SRO = d.sro() }
func (s *SubRq) encode(e *Encoder) { e.i32(s.Action); e.sro(&s.SRO) }
