package wire

import "github.com/qmgrd/qmgrd/internal/mqi"

// The records of distribution lists stand behind their structure, whose offsets of them count from its own beginning: names of
// the destinations (MQOR), fields that differ between them (MQPMR), and what each came to (MQRR).

const (
	sizeOR = 96
	sizeRR = 8
)

// sizePMR is how long a put-message record is: it has the fields that PutMsgRecFields names, in this order.
func sizePMR(fields int32) (n int) {
	for _, f := range [...]struct {
		flag int32
		size int
	}{{mqi.MQPMRF_MSG_ID, 24}, {mqi.MQPMRF_CORREL_ID, 24}, {mqi.MQPMRF_GROUP_ID, 24}, {mqi.MQPMRF_FEEDBACK, 4},
		{mqi.MQPMRF_ACCOUNTING_TOKEN, 32}} {
		if fields&f.flag != 0 {
			n += f.size
		}
	}
	return n
}

// recordArea reads the records of the structure that began at base and has size bytes.
type recordArea struct {
	d          *Decoder
	base, size int
	end        int // behind the farthest record
}

// each reads n records of size bytes at off; none when off is 0.
func (a *recordArea) each(off, n int32, size int, read func()) {
	d := a.d
	if d.err != nil || off == 0 || n <= 0 || size == 0 {
		return
	}
	if int64(off) < int64(a.size) || int64(a.base)+int64(off)+int64(n)*int64(size) > int64(len(d.b)) {
		d.fail(BadLength)
		return
	}
	back := d.off
	d.off = a.base + int(off)
	for range n {
		read()
	}
	a.end = max(a.end, d.off)
	d.off = back
}

// close moves the decoder behind the records.
func (a *recordArea) close() {
	if a.d.err == nil {
		a.d.off = max(a.d.off, a.end)
	}
}

func (a *recordArea) responses(off, n int32) (out []mqi.RR) {
	a.each(off, n, sizeRR, func() { out = append(out, mqi.RR{CC: mqi.CC(a.d.i32()), RC: mqi.RC(a.d.i32())}) })
	return out
}

func (a *recordArea) objects(off, n int32) (out []mqi.OR) {
	a.each(off, n, sizeOR, func() { out = append(out, mqi.OR{ObjectName: a.d.str(48), ObjectQMgrName: a.d.str(48)}) })
	return out
}

func (a *recordArea) puts(off, n, fields int32) (out []mqi.PMR) {
	d := a.d
	a.each(off, n, sizePMR(fields), func() {
		var r mqi.PMR
		for _, id := range [...]struct {
			flag int32
			to   *mqi.ID
		}{{mqi.MQPMRF_MSG_ID, &r.MsgID}, {mqi.MQPMRF_CORREL_ID, &r.CorrelID}, {mqi.MQPMRF_GROUP_ID, &r.GroupID}} {
			if fields&id.flag != 0 {
				copy(id.to[:], d.take(len(id.to)))
			}
		}
		if fields&mqi.MQPMRF_FEEDBACK != 0 {
			r.Feedback = d.i32()
		}
		if fields&mqi.MQPMRF_ACCOUNTING_TOKEN != 0 {
			copy(r.AccountingToken[:], d.take(len(r.AccountingToken)))
		}
		out = append(out, r)
	})
	return out
}

// place writes the offset of records that come now, at the place in the structure that began at base.
func (e *Encoder) place(base, at int) {
	e.o.PutUint32(e.b[base+at:], uint32(len(e.b)-base))
}

// objectRecords and putRecords write the records behind a structure, and their offsets into it.
func (e *Encoder) objectRecords(base int, o *mqi.OD) {
	if o.Version < 2 || o.RecsPresent <= 0 {
		return
	}
	if len(o.ObjectRecords) > 0 {
		e.place(base, 184)
		for i := range o.ObjectRecords {
			e.str(o.ObjectRecords[i].ObjectName, 48)
			e.str(o.ObjectRecords[i].ObjectQMgrName, 48)
		}
	}
	e.responses(base, 188, o.ResponseRecords, o.RecsPresent)
}

func (e *Encoder) putRecords(base int, p *mqi.PMO) {
	if p.Version < 2 || p.RecsPresent <= 0 {
		return
	}
	if len(p.PutMsgRecords) > 0 {
		e.place(base, 136)
		for i := range p.PutMsgRecords {
			e.putRecord(&p.PutMsgRecords[i], p.PutMsgRecFields)
		}
	}
	e.responses(base, 140, p.ResponseRecords, p.RecsPresent)
}

func (e *Encoder) putRecord(r *mqi.PMR, fields int32) {
	if fields&mqi.MQPMRF_MSG_ID != 0 {
		e.raw(r.MsgID[:])
	}
	if fields&mqi.MQPMRF_CORREL_ID != 0 {
		e.raw(r.CorrelID[:])
	}
	if fields&mqi.MQPMRF_GROUP_ID != 0 {
		e.raw(r.GroupID[:])
	}
	if fields&mqi.MQPMRF_FEEDBACK != 0 {
		e.i32(r.Feedback)
	}
	if fields&mqi.MQPMRF_ACCOUNTING_TOKEN != 0 {
		e.raw(r.AccountingToken[:])
	}
}

// responses writes as many response records as there is room for: n.
func (e *Encoder) responses(base, at int, list []mqi.RR, n int32) {
	if len(list) == 0 {
		return
	}
	e.place(base, at)
	for i := range n {
		var r mqi.RR
		if int(i) < len(list) {
			r = list[i]
		}
		e.i32(int32(r.CC))
		e.i32(int32(r.RC))
	}
}
