package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Sizes of the structures by version. Pointers have four bytes on the wire.
var (
	sizesMD  = []int{324, 364}
	sizesOD  = []int{168, 200, 336, 400}
	sizesPMO = []int{128, 152, 176}
	sizesGMO = []int{72, 80, 100, 112}
	sizesSD  = []int{312}
	sizesSRO = []int{16}
	sizesSTS = []int{224}
)

// begin reads an eye-catcher and a version, and checks that the whole structure is there.
func (d *Decoder) begin(name, id string, sizes []int) int32 {
	d.in = name
	d.id(id)
	v, size := d.version(sizes)
	if d.err == nil && d.rest() < size-8 {
		d.fail(Short)
	}
	return v
}

func (d *Decoder) md() mqi.MD {
	var m mqi.MD
	m.Version = d.begin("MD", "MD  ", sizesMD)
	m.Report, m.MsgType, m.Expiry, m.Feedback = d.i32(), d.i32(), d.i32(), d.i32()
	m.Encoding, m.CodedCharSetID = d.i32(), d.i32()
	m.Format = d.str(8)
	m.Priority, m.Persistence = d.i32(), d.i32()
	copy(m.MsgID[:], d.take(24))
	copy(m.CorrelID[:], d.take(24))
	m.BackoutCount = d.i32()
	m.ReplyToQ, m.ReplyToQMgr, m.UserIdentifier = d.str(48), d.str(48), d.str(12)
	copy(m.AccountingToken[:], d.take(32))
	m.ApplIdentityData = d.str(32)
	m.PutApplType = d.i32()
	m.PutApplName, m.PutDate, m.PutTime = d.str(28), d.str(8), d.str(8)
	m.ApplOriginData = d.str(4)
	if m.Version >= 2 {
		copy(m.GroupID[:], d.take(24))
		m.MsgSeqNumber, m.Offset, m.MsgFlags, m.OriginalLength = d.i32(), d.i32(), d.i32(), d.i32()
	} else if d.err == nil {
		m.MsgSeqNumber, m.OriginalLength = 1, -1 // what a version 1 stands for
	}
	return m
}

func (e *Encoder) md(m *mqi.MD) { e.mdAs(m, m.Version) }

// mdAs writes a descriptor in the form of a version.
func (e *Encoder) mdAs(m *mqi.MD, version int32) {
	if e.tx.single() {
		e.mdInPlace(m, version)
		return
	}
	e.id("MD  ")
	e.i32(version)
	e.i32(m.Report)
	e.i32(m.MsgType)
	e.i32(m.Expiry)
	e.i32(m.Feedback)
	e.i32(m.Encoding)
	e.i32(m.CodedCharSetID)
	e.str(m.Format, 8)
	e.i32(m.Priority)
	e.i32(m.Persistence)
	e.raw(m.MsgID[:])
	e.raw(m.CorrelID[:])
	e.i32(m.BackoutCount)
	e.str(m.ReplyToQ, 48)
	e.str(m.ReplyToQMgr, 48)
	e.str(m.UserIdentifier, 12)
	e.raw(m.AccountingToken[:])
	e.str(m.ApplIdentityData, 32)
	e.i32(m.PutApplType)
	e.str(m.PutApplName, 28)
	e.str(m.PutDate, 8)
	e.str(m.PutTime, 8)
	e.str(m.ApplOriginData, 4)
	if version >= 2 {
		e.raw(m.GroupID[:])
		e.i32(m.MsgSeqNumber)
		e.i32(m.Offset)
		e.i32(m.MsgFlags)
		e.i32(m.OriginalLength)
	}
}

// Where fields of a descriptor stand, and their lengths.
const (
	atFormat, lenFormat     = 32, 8
	atReplyQ, lenName       = 100, 48
	atReplyQMgr             = atReplyQ + lenName
	atUser, lenUser         = atReplyQMgr + lenName, 12
	atAccounting            = atUser + lenUser
	atIdentity, lenIdentity = atAccounting + 32, 32
	atApplType              = atIdentity + lenIdentity
	atAppl, lenAppl         = atApplType + 4, 28
	atStamp, lenStamp       = atAppl + lenAppl, 8
	atOrigin, lenOrigin     = atStamp + 2*lenStamp, 4
	atGroup                 = atOrigin + lenOrigin
)

// mdInPlace is mdAs where blanks are those of ASCII, as in most descriptors: the room is made at once, blank, and filled. A descriptor
// field by field costs three times that, and goes out with every message.
func (e *Encoder) mdInPlace(m *mqi.MD, version int32) {
	size := sizesMD[0]
	if version >= 2 {
		size = sizesMD[1]
	}
	at := len(e.b)
	e.b = append(e.b, blankMD[:size]...)
	p := places{e.b[at:], e.o == byteOrder(binary.BigEndian)}
	p.put(4, version)
	p.put(8, m.Report)
	p.put(12, m.MsgType)
	p.put(16, m.Expiry)
	p.put(20, m.Feedback)
	p.put(24, m.Encoding)
	p.put(28, m.CodedCharSetID)
	e.within(p.b[atFormat:atFormat+lenFormat], m.Format)
	p.put(40, m.Priority)
	p.put(44, m.Persistence)
	copy(p.b[48:], m.MsgID[:])
	copy(p.b[72:], m.CorrelID[:])
	p.put(96, m.BackoutCount)
	e.within(p.b[atReplyQ:atReplyQ+lenName], m.ReplyToQ)
	e.within(p.b[atReplyQMgr:atReplyQMgr+lenName], m.ReplyToQMgr)
	e.within(p.b[atUser:atUser+lenUser], m.UserIdentifier)
	copy(p.b[atAccounting:], m.AccountingToken[:])
	e.within(p.b[atIdentity:atIdentity+lenIdentity], m.ApplIdentityData)
	p.put(atApplType, m.PutApplType)
	e.within(p.b[atAppl:atAppl+lenAppl], m.PutApplName)
	e.within(p.b[atStamp:atStamp+lenStamp], m.PutDate)
	e.within(p.b[atStamp+lenStamp:atStamp+2*lenStamp], m.PutTime)
	e.within(p.b[atOrigin:atOrigin+lenOrigin], m.ApplOriginData)
	if version >= 2 {
		copy(p.b[atGroup:], m.GroupID[:])
		p.put(atGroup+24, m.MsgSeqNumber)
		p.put(atGroup+28, m.Offset)
		p.put(atGroup+32, m.MsgFlags)
		p.put(atGroup+36, m.OriginalLength)
	}
}

// blankMD is a descriptor of blanks.
var blankMD = append([]byte("MD  "), bytes.Repeat([]byte{' '}, sizesMD[1]-4)...)

// within writes a text into a field of blanks.
func (e *Encoder) within(field []byte, s string) {
	if s == "" {
		return
	}
	if n := copy(field, s); n < len(s) || e.tx.cm != nil && !ascii(s) { // cut between characters, or converted
		copy(field, e.tx.AppendField(field[:0:len(field)], s, len(field)))
	}
}

// places are numbers in a structure of fixed places.
type places struct {
	b   []byte
	big bool
}

func (p places) put(at int, v int32) {
	u := uint32(v)
	if p.big {
		u = bits.ReverseBytes32(u)
	}
	binary.LittleEndian.PutUint32(p.b[at:], u)
}

func (d *Decoder) pmo() mqi.PMO {
	base := d.off
	var p mqi.PMO
	var puts, responses int32 // where their records are
	p.Version = d.begin("PMO", "PMO ", sizesPMO)
	p.Options, p.Timeout, p.Context = d.i32(), d.i32(), d.i32()
	p.KnownDestCount, p.UnknownDestCount, p.InvalidDestCount = d.i32(), d.i32(), d.i32()
	p.ResolvedQName, p.ResolvedQMgrName = d.str(48), d.str(48)
	if p.Version >= 2 {
		p.RecsPresent, p.PutMsgRecFields = d.i32(), d.i32()
		puts, responses = d.i32(), d.i32()
		d.skip(8) // pointers of the records
	}
	if p.Version >= 3 {
		p.OriginalMsgHandle, p.NewMsgHandle = d.i64(), d.i64()
		p.Action, p.PubLevel = d.i32(), d.i32()
	} else if d.err == nil {
		p.PubLevel = mqi.DefaultPMO().PubLevel
	}
	if p.RecsPresent > 0 && d.err == nil {
		a := recordArea{d: d, base: base, size: sizesPMO[p.Version-1]}
		p.PutMsgRecords = a.puts(puts, p.RecsPresent, p.PutMsgRecFields)
		p.ResponseRecords = a.responses(responses, p.RecsPresent)
		a.close()
	}
	return p
}

func (e *Encoder) pmo(p *mqi.PMO) {
	base := len(e.b)
	e.id("PMO ")
	e.i32(p.Version)
	e.i32(p.Options)
	e.i32(p.Timeout)
	e.i32(p.Context)
	e.i32(p.KnownDestCount)
	e.i32(p.UnknownDestCount)
	e.i32(p.InvalidDestCount)
	e.str(p.ResolvedQName, 48)
	e.str(p.ResolvedQMgrName, 48)
	if p.Version >= 2 {
		e.i32(p.RecsPresent)
		e.i32(p.PutMsgRecFields)
		e.zero(16)
	}
	if p.Version >= 3 {
		e.i64(p.OriginalMsgHandle)
		e.i64(p.NewMsgHandle)
		e.i32(p.Action)
		e.i32(p.PubLevel)
	}
	e.putRecords(base, p)
}

func (d *Decoder) gmo() mqi.GMO {
	g := mqi.DefaultGMO()
	g.Version = d.begin("GMO", "GMO ", sizesGMO)
	g.Options, g.WaitInterval, g.Signal1, g.Signal2 = d.i32(), d.i32(), d.i32(), d.i32()
	g.ResolvedQName = d.str(48)
	if g.Version >= 2 {
		g.MatchOptions = d.i32()
		g.GroupStatus, g.SegmentStatus, g.Segmentation = d.u8(), d.u8(), d.u8()
		d.skip(1)
	}
	if g.Version >= 3 {
		copy(g.MsgToken[:], d.take(16))
		g.ReturnedLength = d.i32()
	}
	if g.Version >= 4 {
		d.skip(4)
		g.MsgHandle = d.i64()
	}
	return g
}

func (e *Encoder) gmo(g *mqi.GMO) {
	e.id("GMO ")
	e.i32(g.Version)
	e.i32(g.Options)
	e.i32(g.WaitInterval)
	e.i32(g.Signal1)
	e.i32(g.Signal2)
	e.str(g.ResolvedQName, 48)
	if g.Version >= 2 {
		e.i32(g.MatchOptions)
		e.raw([]byte{g.GroupStatus, g.SegmentStatus, g.Segmentation, 0})
	}
	if g.Version >= 3 {
		e.raw(g.MsgToken[:])
		e.i32(g.ReturnedLength)
	}
	if g.Version >= 4 {
		e.zero(4)
		e.i64(g.MsgHandle)
	}
}

func (d *Decoder) sro() mqi.SRO {
	v := d.begin("SRO", "SRO ", sizesSRO)
	return mqi.SRO{Version: v, Options: d.i32(), NumPubs: d.i32()}
}

func (e *Encoder) sro(s *mqi.SRO) {
	e.id("SRO ")
	e.i32(s.Version)
	e.i32(s.Options)
	e.i32(s.NumPubs)
}

func (d *Decoder) sts() mqi.STS {
	var s mqi.STS
	s.Version = d.begin("STS", "STAT", sizesSTS)
	s.CompCode, s.Reason = mqi.CC(d.i32()), mqi.RC(d.i32())
	s.PutSuccessCount, s.PutWarningCount, s.PutFailureCount = d.i32(), d.i32(), d.i32()
	s.ObjectType, s.ObjectName, s.ObjectQMgrName = d.i32(), d.str(48), d.str(48)
	s.ResolvedObject, s.ResolvedQMgrName = d.str(48), d.str(48)
	return s
}

func (e *Encoder) sts(s *mqi.STS) {
	e.id("STAT")
	e.i32(s.Version)
	e.i32(int32(s.CompCode))
	e.i32(int32(s.Reason))
	e.i32(s.PutSuccessCount)
	e.i32(s.PutWarningCount)
	e.i32(s.PutFailureCount)
	e.i32(s.ObjectType)
	e.str(s.ObjectName, 48)
	e.str(s.ObjectQMgrName, 48)
	e.str(s.ResolvedObject, 48)
	e.str(s.ResolvedQMgrName, 48)
}
