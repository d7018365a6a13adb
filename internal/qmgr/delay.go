package qmgr

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Delivery delay of JMS 2.0: the message goes to a staging queue, behind a header that says where to and when, and a
// component of the queue manager (delay_loop.go) moves it when it is due.

// delayQueue is the staging queue.
const delayQueue = "SYSTEM.DDELAY.LOCAL.QUEUE"

// delayFormat is the format of a message there. The header is ours: what the vendor's looks like is not public.
const delayFormat = "QMDELAY"

const (
	delayID      = "QDLY"
	delayVersion = 1
)

// maxDelay is the longest delay: about 1100 years, so that no arithmetic with it overflows.
const maxDelay = 35_000_000_000_000 // milliseconds

var errDelayHeader = errors.New("the header of a delayed message is not readable")

// delayHeader stands in front of the data of a message on the staging queue. The descriptor is the message's own, but for
// format and reports.
type delayHeader struct {
	due     int64 // Unix milliseconds
	options int32 // MQPMO_* that the delivery needs
	report  int32 // MQRO_* of the message
	queue   string
	qmgr    string
	topic   string // publication: queue and qmgr are blank
	format  string
}

// append encodes the header: identifier, version, length of the whole, due time, put and report options, and the names, each as length and
// bytes. Numbers are big-endian.
func (d *delayHeader) append(b []byte) []byte {
	be := binary.BigEndian
	at := len(b)
	b = append(b, delayID...)
	b = be.AppendUint32(b, delayVersion)
	b = be.AppendUint32(b, 0)
	b = be.AppendUint64(b, uint64(d.due))
	b = be.AppendUint32(b, uint32(d.options))
	b = be.AppendUint32(b, uint32(d.report))
	for _, s := range [...]string{d.queue, d.qmgr, d.topic, d.format} {
		b = be.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	be.PutUint32(b[at+8:], uint32(len(b)-at))
	return b
}

const delayFixed = 4 + 4 + 4 + 8 + 4 + 4

// parseDelay reads the header, and gives the data behind it.
func parseDelay(b []byte) (d delayHeader, data []byte, err error) {
	be := binary.BigEndian
	if len(b) < delayFixed || string(b[:4]) != delayID || be.Uint32(b[4:]) != delayVersion || uint64(be.Uint32(b[8:])) > uint64(len(b)) {
		return d, nil, errDelayHeader
	}
	n := int(be.Uint32(b[8:]))
	d.due, d.options, d.report = int64(be.Uint64(b[12:])), int32(be.Uint32(b[20:])), int32(be.Uint32(b[24:]))
	p := b[min(delayFixed, n):n]
	for _, s := range [...]*string{&d.queue, &d.qmgr, &d.topic, &d.format} {
		if len(p) < 4 || uint64(be.Uint32(p)) > uint64(len(p)-4) {
			return d, nil, errDelayHeader
		}
		m := int(be.Uint32(p))
		*s, p = string(p[4:4+m]), p[4+m:]
	}
	if len(p) > 0 || d.queue == "" && d.topic == "" {
		return d, nil, errDelayHeader
	}
	return d, b[n:], nil
}

// PutDelayed puts a message that is to be delivered later: how much later says folder mqext of its MQRFH2, Dly in
// milliseconds. Everything is checked as for an MQPUT now; the delivery checks all but authority once more. Dly counts from now; the moment in Dtm
// was computed by the client's clock, and counts when there is no Dly.
func (c *Conn) PutDelayed(_ context.Context, n Handle, md *mqi.MD, pmo *mqi.PMO, body []byte) (err error) {
	const op = "SPI PUT"
	if err := c.begin(op, ""); err != nil {
		return err
	}
	defer c.verb.Unlock()
	h, err := c.handle(op, n)
	if err != nil {
		c.countAsync(nil, mqi.MQOT_Q, "", md, pmo, err)
		return err
	}
	defer func() {
		c.putDone("MQPUT", h, md, len(body), err)
		c.countAsync(h, h.objType, h.name, md, pmo, err)
	}()
	if h.list != nil {
		return mqi.E(op, h.name, mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	}
	now := c.m.opt.Clock.Now().UnixMilli()
	due, err := dueTime(md, body, now)
	switch {
	case err != nil:
		return mqi.Wrap(op, h.name, mqi.MQRC_RFH_FORMAT_ERROR, err)
	case due <= now:
		return c.put(op, h, md, pmo, body)
	}
	c.due = due
	defer func() { c.due = 0 }()
	return c.put(op, h, md, pmo, body)
}

// dueTime finds out when a message is to be delivered.
func dueTime(md *mqi.MD, body []byte, now int64) (int64, error) {
	if md.Format != mqi.MQFMT_RF_HEADER_2 {
		return 0, fmt.Errorf("a delayed message has no MQRFH2 that says how long")
	}
	h, _, err := mqi.ParseRFH2(body, mqi.Coding{Encoding: md.Encoding, CCSID: orDefault(md.CodedCharSetID)})
	if err != nil {
		return 0, err
	}
	values := map[string]int64{}
	for _, f := range h.Folders {
		if !strings.HasPrefix(f, "<mqext") {
			continue
		}
		props, err := mqi.FolderProps(f)
		if err != nil {
			return 0, err
		}
		for i := range props {
			v := &props[i].Value
			n, err := strconv.ParseInt(v.Text, 10, 64)
			if v.Type != mqi.MQTYPE_STRING {
				n, err = v.Int, nil
			}
			if err == nil {
				values[props[i].Name] = n
			}
		}
	}
	if d, ok := values["mqext.Dly"]; ok && d >= 0 {
		return now + min(d, maxDelay), nil
	}
	if t, ok := values["mqext.Dtm"]; ok {
		return min(t, now+maxDelay), nil
	}
	return 0, fmt.Errorf("folder mqext has neither Dly nor Dtm with a number")
}

// stage puts a finished message on the staging queue, in place of its delivery now.
func (c *Conn) stage(op string, h *handle, head *msgHead, body []byte, md *mqi.MD, pmo *mqi.PMO, warn mqi.RC) error {
	if head.expire != 0 && head.expire < c.due {
		return mqi.E(op, h.name, mqi.MQRC_EXPIRY_ERROR)
	}
	q := c.m.lookup(ClassQueue, delayQueue)
	if q == nil || q.Queue == nil {
		return mqi.E(op, delayQueue, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	}
	d := delayHeader{due: c.due, report: head.md.Report}
	if h.topic != nil {
		d.topic = h.topic.topic
		d.options = pmo.Options & (mqi.MQPMO_RETAIN | mqi.MQPMO_SCOPE_QMGR | mqi.MQPMO_SUPPRESS_REPLYTO)
	} else {
		d.queue, d.qmgr = h.res.qName, h.res.qmName
	}
	staged := *head
	body = c.m.propsToData(&staged, body)
	if len(body) > q.Queue.cfg.Load().maxMsgL { // our header does not count
		return mqi.E(op, delayQueue, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	}
	d.format = staged.md.Format
	staged.md.Format, staged.deliver = delayFormat, 0
	staged.md.Report &= mqi.MQRO_EXPIRATION_WITH_FULL_DATA | mqi.MQRO_PASS_MSG_ID | mqi.MQRO_PASS_CORREL_ID |
		mqi.MQRO_PASS_DISCARD_AND_EXPIRY
	if err := c.stageIn(op, q.Queue, &staged, append(d.append(nil), body...), pmo.Options&mqi.MQPMO_SYNCPOINT != 0); err != nil {
		return err
	}
	output(md, &head.md)
	if h.topic == nil {
		pmo.ResolvedQName, pmo.ResolvedQMgrName = h.res.qName, h.res.qmName
	} else {
		pmo.ResolvedQMgrName = c.m.opt.Name
	}
	if warn != 0 {
		return mqi.Warn(op, h.name, warn)
	}
	return nil
}

// stageIn puts the message, and has it moved when it is due: by then its unit of work may have ended, or not.
func (c *Conn) stageIn(op string, q *Queue, head *msgHead, body []byte, sync bool) error {
	u := &uow{}
	if sync {
		if rc := c.room(1); rc != 0 {
			return mqi.E(op, delayQueue, rc)
		}
		u = c.begun()
	}
	if !sync {
		defer c.m.leftover(u)
	}
	if rc := c.m.enqueueAlone(u, q, head, body, c.num); rc != 0 {
		return mqi.E(op, delayQueue, rc)
	}
	p := u.puts[len(u.puts)-1]
	c.m.delay.add(delayed{due: c.due, slot: p.slot, seq: q.seqAt(p.slot)})
	if sync {
		u.n++
		return nil
	}
	return storeReason("MQPUT", delayQueue, c.m.commit(u))
}

// undelayed is the message behind the header, as it was put.
func undelayed(h *msgHead, body []byte) (*msgHead, []byte, *delayHeader, error) {
	d, data, err := parseDelay(body)
	if err != nil {
		return nil, nil, nil, err
	}
	out := *h
	out.md.Format, out.md.Report = d.format, d.report
	return &out, data, &d, nil
}
