package wire

import "github.com/qmgrd/qmgrd/internal/mqi"

// Strings of variable length (MQCHARV) stand behind their structure; the structure holds offset, length and CCSID.

const (
	// replyRoom is the space that a client keeps for a string that comes back, in its MQCHARV.
	replyRoom = 10240
	// maxCharV bounds one string: topic and selection strings have at most 10240 characters.
	maxCharV = 4 * replyRoom
	ccsidUTF = 1208
)

// charv is one such string while its structure is read.
type charv struct {
	off, length, ccsid int32
}

// stringArea reads the strings of the structure that began at base and has size bytes.
type stringArea struct {
	d          *Decoder
	base, size int
	end        int // farthest byte used, from base
}

func (d *Decoder) charv() charv {
	d.skip(4) // the pointer means nothing here
	off := d.i32()
	d.skip(4) // buffer size
	return charv{off: off, length: d.i32(), ccsid: d.i32()}
}

func (a *stringArea) read(v charv) string {
	d := a.d
	if d.err != nil || v.length == 0 {
		return ""
	}
	if v.length < 0 || v.length > maxCharV || int(v.off) < a.size || int(v.off) > len(d.b)-a.base-int(v.length) {
		d.fail(BadLength)
		return ""
	}
	end := int(v.off) + int(v.length)
	a.end = max(a.end, end)
	t := d.tx
	if v.ccsid > 0 && v.ccsid < 1<<16 {
		if c, ok := NewText(uint16(v.ccsid), d.o); ok {
			t = c
		}
	}
	p := d.b[a.base+int(v.off) : a.base+end]
	for t.wide == nil && len(p) > 0 && p[len(p)-1] == 0 { // a C string's end
		p = p[:len(p)-1]
	}
	return t.Decode(p)
}

// close moves the decoder behind the strings.
func (a *stringArea) close() {
	if a.d.err == nil && a.end > a.size {
		a.d.off = min(a.base+pad4(a.end), len(a.d.b))
	}
}

// charvs are the strings of a structure while it is written.
type charvs struct {
	e    *Encoder
	base int
	size int
	area []byte
}

// add writes one MQCHARV, and keeps the string for the area behind the structure.
func (c *charvs) add(s string, room int32) {
	off := c.size + len(c.area)
	c.area = append(c.area, s...)
	for len(c.area)%4 != 0 {
		c.area = append(c.area, 0)
	}
	if s == "" && room == 0 {
		off = 0
	}
	c.e.i32(0)
	c.e.i32(int32(off))
	c.e.i32(max(room, int32(len(s))))
	c.e.i32(int32(len(s)))
	c.e.i32(ccsidUTF)
}

func (d *Decoder) od() mqi.OD {
	base := d.off
	var o mqi.OD
	var objects, responses int32 // where their records are
	o.Version = d.begin("OD", "OD  ", sizesOD)
	o.ObjectType, o.ObjectName, o.ObjectQMgrName = d.i32(), d.str(48), d.str(48)
	o.DynamicQName, o.AlternateUserID = d.str(48), d.str(12)
	if o.Version >= 2 {
		o.RecsPresent, o.KnownDestCount, o.UnknownDestCount = d.i32(), d.i32(), d.i32()
		o.InvalidDestCount = d.i32()
		objects, responses = d.i32(), d.i32()
		d.skip(8) // pointers of the records
	}
	if o.Version >= 3 {
		copy(o.AlternateSecurity[:], d.take(40))
		o.ResolvedQName, o.ResolvedQMgrName = d.str(48), d.str(48)
	}
	if o.Version >= 4 {
		object, selection, resolved := d.charv(), d.charv(), d.charv()
		o.ResolvedType = d.i32()
		a := stringArea{d: d, base: base, size: sizesOD[3]}
		o.ObjectString, o.SelectionString, o.ResObjectString = a.read(object), a.read(selection), a.read(resolved)
		a.close()
	}
	if o.RecsPresent > 0 && d.err == nil {
		a := recordArea{d: d, base: base, size: sizesOD[o.Version-1]}
		o.ObjectRecords, o.ResponseRecords = a.objects(objects, o.RecsPresent), a.responses(responses, o.RecsPresent)
		a.close()
	}
	return o
}

// od writes the descriptor with its strings. A reply must not name a string that it does not carry, so the server empties
// ObjectString and SelectionString first.
func (e *Encoder) od(o *mqi.OD) {
	base := len(e.b)
	e.id("OD  ")
	e.i32(o.Version)
	e.i32(o.ObjectType)
	e.str(o.ObjectName, 48)
	e.str(o.ObjectQMgrName, 48)
	e.str(o.DynamicQName, 48)
	e.str(o.AlternateUserID, 12)
	if o.Version >= 2 {
		e.i32(o.RecsPresent)
		e.i32(o.KnownDestCount)
		e.i32(o.UnknownDestCount)
		e.i32(o.InvalidDestCount)
		e.zero(16)
	}
	if o.Version >= 3 {
		e.raw(o.AlternateSecurity[:])
		e.str(o.ResolvedQName, 48)
		e.str(o.ResolvedQMgrName, 48)
	}
	if o.Version >= 4 {
		c := charvs{e: e, base: base, size: sizesOD[3]}
		c.add(o.ObjectString, 0)
		c.add(o.SelectionString, 0)
		c.add(o.ResObjectString, 0)
		e.i32(o.ResolvedType)
		e.raw(c.area)
	}
	e.objectRecords(base, o)
}

func (d *Decoder) sd() mqi.SD {
	base := d.off
	var s mqi.SD
	s.Version = d.begin("SD", "SD  ", sizesSD)
	s.Options, s.ObjectName, s.AlternateUserID = d.i32(), d.str(48), d.str(12)
	copy(s.AlternateSecurityID[:], d.take(40))
	s.SubExpiry = d.i32()
	object, name, user := d.charv(), d.charv(), d.charv()
	copy(s.SubCorrelID[:], d.take(24))
	s.PubPriority = d.i32()
	copy(s.PubAccountingToken[:], d.take(32))
	s.PubApplIdentityData = d.str(32)
	selection := d.charv()
	s.SubLevel = d.i32()
	resolved := d.charv()
	a := stringArea{d: d, base: base, size: sizesSD[0]}
	s.ObjectString, s.SubName, s.SubUserData = a.read(object), a.read(name), a.read(user)
	s.SelectionString, s.ResObjectString = a.read(selection), a.read(resolved)
	a.close()
	return s
}

func (e *Encoder) sd(s *mqi.SD) {
	base := len(e.b)
	e.id("SD  ")
	e.i32(s.Version)
	e.i32(s.Options)
	e.str(s.ObjectName, 48)
	e.str(s.AlternateUserID, 12)
	e.raw(s.AlternateSecurityID[:])
	e.i32(s.SubExpiry)
	c := charvs{e: e, base: base, size: sizesSD[0]}
	c.add(s.ObjectString, 0)
	c.add(s.SubName, 0)
	c.add(s.SubUserData, 0)
	e.raw(s.SubCorrelID[:])
	e.i32(s.PubPriority)
	e.raw(s.PubAccountingToken[:])
	e.str(s.PubApplIdentityData, 32)
	c.add(s.SelectionString, 0)
	e.i32(s.SubLevel)
	c.add(s.ResObjectString, 0)
	e.raw(c.area)
}
