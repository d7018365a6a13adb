package fap

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// structReasons are the reason codes of a structure that cannot be used.
var structReasons = map[string]mqi.RC{
	"MD": mqi.MQRC_MD_ERROR, "OD": mqi.MQRC_OD_ERROR, "PMO": mqi.MQRC_PMO_ERROR, "GMO": mqi.MQRC_GMO_ERROR,
	"SD": mqi.MQRC_SD_ERROR, "SRO": mqi.MQRC_SRO_ERROR, "STS": mqi.MQRC_STS_ERROR,
}

// serveNow runs a message of a quick type in the reader, if it need not wait.
func (c *conv) serveNow(m call) (served bool, err error) {
	if m.h.Type == wire.RequestMsgs && (m.h.Flags&wire.FlagConfirm != 0 || c.waiter == nil) {
		return false, nil
	}
	if m.h.Type == wire.MQPUT && c.prompt == nil {
		return false, nil
	}
	if m.h.Type == wire.MQPUT {
		return c.putNow(m)
	}
	a, b, err := decode(m.h, m.body)
	if err != nil {
		return true, c.badStructure(m, err)
	}
	switch b := b.(type) {
	case *wire.Get:
		return c.get(m, a, b)
	case *wire.Request:
		return true, c.request(m, b)
	case *wire.Notify:
		return true, c.notified(m, b)
	}
	if settles(m.h.Type) {
		c.waitDisk(func() { err = c.verb(m, a, b) })
		return true, err
	}
	return true, c.verb(m, a, b)
}

// serve runs one message in the conversation's goroutine. An error ends the socket.
func (c *conv) serve(m call) error {
	if m.h.Type == wire.InitialData {
		return c.k.complain(&wire.Error{Struct: "TSH", Off: 9, Why: wire.BadValue})
	}
	a, b, err := decode(m.h, m.body)
	if err != nil {
		return c.badStructure(m, err)
	}
	switch b := b.(type) {
	case *wire.ConAuth:
		c.auth = b
		h := m.h
		h.Type, h.Flags = wire.StatusData, 0
		if err := c.add(h, wire.API{}, &wire.Status{}); err != nil {
			return err
		}
		c.k.out.flush()
		return nil
	case *wire.Conn:
		return c.connect(m, b)
	}
	if c.conn == nil {
		if m.h.Type.IsCall() {
			c.doneGet(m.h.Type)
			return c.reply(m.h, api(mqi.E(m.h.Type.String(), "", mqi.MQRC_HCONN_ERROR), a.Hobj), &wire.Empty{})
		}
		return fmt.Errorf("%v before MQCONN", m.h.Type)
	}
	switch b := b.(type) {
	case *wire.Request:
		return c.request(m, b)
	case *wire.Notify:
		return c.notified(m, b)
	}
	return c.verb(m, a, b)
}

// badStructure answers a call whose structure is of an unknown kind; bytes that don't fit end the socket.
func (c *conv) badStructure(m call, err error) error {
	var bad *wire.Error
	if !errors.As(err, &bad) || !m.h.Type.IsCall() {
		return c.k.complain(err)
	}
	c.doneGet(m.h.Type)
	rc, known := structReasons[bad.Struct]
	if !known || bad.Why == wire.Short {
		return c.k.complain(err)
	}
	return c.reply(m.h, api(mqi.Wrap(m.h.Type.String(), "", rc, err), m.hobj()), &wire.Empty{})
}

// verb runs an MQI call.
func (c *conv) verb(m call, a wire.API, b wire.Body) error {
	switch b := b.(type) {
	case *wire.Open:
		return c.open(m, a, b)
	case *wire.Close:
		return c.close(m, a, b)
	case *wire.Put:
		return c.put(m, a, b, false)
	case *wire.Put1:
		return c.put1(m, b)
	case *wire.Get:
		_, err := c.get(m, a, b)
		return err
	case *wire.Attrs:
		if b.Values {
			return c.set(m, a, b)
		}
		return c.inquire(m, a, b)
	case *wire.SPIBody:
		return c.spi(m, a, b)
	case *wire.Stat:
		return c.status(m, a, b)
	case *wire.Sub:
		return c.sub(m, a, b)
	case *wire.SubRq:
		return c.subRequest(m, a, b)
	}
	switch m.h.Type {
	case wire.MQCMIT:
		defer c.runWoken()
		return c.reply(m.h, api(c.conn.Commit(c.ctx), -1), &wire.Empty{})
	case wire.MQBACK:
		defer c.runWoken()
		return c.reply(m.h, api(c.conn.Backout(c.ctx), -1), &wire.Empty{})
	case wire.MQDISC:
		return c.disconnect(m)
	}
	if m.h.Type.IsXA() {
		return c.xa(m, a, b)
	}
	return c.k.complain(&wire.Error{Struct: "TSH", Off: 9, Why: wire.BadValue})
}

// standard are the defaults that a failed open, and an object without such attributes, answers.
var standard = wire.Defaults{PutResponse: mqi.MQPRT_SYNC_RESPONSE}

func (c *conv) open(m call, a wire.API, b *wire.Open) error {
	hobj, d, err := c.openObject(&b.OD, b.Options)
	b.Defaults = d
	return c.reply(m.h, api(err, hobj), b)
}

// openObject opens, and makes the descriptor one of a reply: it keeps its version, and names no string that does not follow.
func (c *conv) openObject(od *mqi.OD, options int32) (int32, wire.Defaults, error) {
	v := od.Version
	asked := len(od.ResponseRecords)
	hobj, d, err := c.conn.Open(c.ctx, od, options)
	od.ResponseRecords = roomFor(asked, od.ResponseRecords)
	if failed(err) {
		hobj, d = 0, standard
	}
	replyOD(od, v)
	return hobj, d, err
}

// roomFor leaves of response records those that the client has a place for.
func roomFor(n int, list []mqi.RR) []mqi.RR { return list[:min(n, len(list))] }

func replyOD(od *mqi.OD, version int32) {
	od.Version = version
	od.ObjectString, od.SelectionString = "", ""
}

func (c *conv) close(m call, a wire.API, b *wire.Close) error {
	c.streams.hush(a.Hobj)
	err := c.conn.Close(c.ctx, a.Hobj, b.Options)
	if !failed(err) {
		c.streams.forget(a.Hobj)
	}
	return c.reply(m.h, api(err, -1), &wire.Empty{})
}

// tooLong refuses what the channel does not carry.
func (c *conv) tooLong(op string, n int) error {
	if n > c.k.link.Load().maxMsg {
		return mqi.E(op, c.k.peer.Channel, mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL)
	}
	return nil
}

// put serves MQPUT. With now it need not wait, and the data are the read buffer's.
func (c *conv) put(m call, a wire.API, b *wire.Put, now bool) error {
	md, pmo := &b.MD, &b.PMO
	options, mdVersion, pmoVersion, room := pmo.Options, md.Version, pmo.Version, len(pmo.ResponseRecords)
	err := c.tooLong("MQPUT", len(b.Data))
	switch {
	case err != nil:
		c.countAsync(a.Hobj, "", md, pmo, err)
	case c.prompt != nil:
		c.taker = nil
		err = c.prompt.PutBy(c.ctx, c, a.Hobj, md, pmo, b.Data, now)
		c.again = now && c.repeater != nil && c.repeater.Repeats()
		if now && options&mqi.MQPMO_ASYNC_RESPONSE != 0 && (c.gatherer == nil || c.gatherer.Gathered() == 0) {
			c.overtaken(a.Hobj)
		}
	default:
		err = c.conn.Put(c.ctx, a.Hobj, md, pmo, b.Data)
	}
	pmo.ResponseRecords = roomFor(room, pmo.ResponseRecords)
	defer c.runWoken()
	if options&mqi.MQPMO_ASYNC_RESPONSE != 0 {
		return nil // no answer: the client does not wait for one
	}
	md.Version, pmo.Version = mdVersion, pmoVersion
	c.turn.put = true
	return c.reply(m.h, api(err, a.Hobj), &wire.PutReply{MD: *md, PMO: *pmo})
}

// runWoken sends the messages that a verb has made available, when its own answer is on its way.
func (c *conv) runWoken() {
	if c.waiter != nil {
		c.waiter.RunWoken(c)
	}
}

func (c *conv) put1(m call, b *wire.Put1) error {
	od, md, pmo := b.OD, b.MD, b.PMO
	err := c.tooLong("MQPUT1", len(b.Data))
	if err != nil {
		c.countAsync(-1, od.ObjectName, &md, &pmo, err)
	} else {
		err = c.conn.Put1(c.ctx, &od, &md, &pmo, b.Data)
	}
	od.ResponseRecords = roomFor(len(b.OD.ResponseRecords), od.ResponseRecords)
	pmo.ResponseRecords = roomFor(len(b.PMO.ResponseRecords), pmo.ResponseRecords)
	defer c.runWoken()
	if b.PMO.Options&mqi.MQPMO_ASYNC_RESPONSE != 0 {
		return nil
	}
	md.Version, pmo.Version = b.MD.Version, b.PMO.Version
	replyOD(&od, b.OD.Version)
	r := &wire.Put1Reply{OD: od, PutReply: wire.PutReply{MD: md, PMO: pmo}}
	return c.reply(m.h, api(err, -1), r)
}

func (c *conv) inquire(m call, a wire.API, b *wire.Attrs) error {
	if b.Bad != 0 {
		return c.reply(m.h, api(mqi.E("MQINQ", "", b.Bad), a.Hobj), &wire.Empty{})
	}
	ints, chars, err := c.conn.Inq(c.ctx, a.Hobj, b.Selectors, int(b.IntCount), int(b.CharLength))
	if failed(err) {
		return c.reply(m.h, api(err, a.Hobj), &wire.Empty{})
	}
	codec, _ := m.h.Codec()
	chars = recode(chars, codec.Text)
	// Clients look for the characters behind as many numbers as they asked for.
	ints = append(ints, make([]int32, int(b.IntCount)-len(ints))...)
	return c.reply(m.h, api(err, a.Hobj), &wire.Attrs{Selectors: b.Selectors, IntCount: b.IntCount, Ints: ints,
		CharLength: int32(len(chars)), Chars: chars, Values: true})
}

// recode takes blank padded UTF-8 fields to the client's code page. They keep their width: what a character loses is given
// back as blanks where its field's padding begins.
func recode(fields []byte, t wire.Text) []byte {
	if t.CCSID == 1208 {
		return fields
	}
	out := make([]byte, 0, len(fields))
	lost := 0
	for i := 0; i < len(fields); {
		r, n := utf8.DecodeRune(fields[i:])
		if r == ' ' && lost > 0 && (i+1 == len(fields) || fields[i+1] == ' ') {
			out = t.AppendField(out, "", lost)
			lost = 0
		}
		at := len(out)
		out = t.Append(out, string(r))
		lost += n - (len(out) - at)
		i += n
	}
	return t.AppendField(out, "", max(lost, 0))
}

func (c *conv) set(m call, a wire.API, b *wire.Attrs) error {
	if b.Bad != 0 {
		return c.reply(m.h, api(mqi.E("MQSET", "", b.Bad), a.Hobj), &wire.Empty{})
	}
	codec, _ := m.h.Codec()
	chars := []byte(codec.Text.Decode(b.Chars))
	return c.reply(m.h, api(c.conn.Set(c.ctx, a.Hobj, b.Selectors, b.Ints, chars), a.Hobj), &wire.Empty{})
}

func (c *conv) sub(m call, a wire.API, b *wire.Sub) error {
	queue, hsub, err := c.subscribe(&b.SD, a.Hobj)
	b.Hsub = hsub
	return c.reply(m.h, api(err, queue), b)
}

// subscribe keeps the strings of the descriptor for the reply (reconnect.go).
func (c *conv) subscribe(sd *mqi.SD, hobj int32) (queue, hsub int32, err error) {
	s, ok := c.conn.(Subscriber)
	if !ok {
		err = mqi.E("MQSUB", sd.SubName, mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	} else {
		queue, hsub, err = s.Subscribe(c.ctx, sd, max(hobj, 0))
	}
	return queue, hsub, err
}

func (c *conv) subRequest(m call, a wire.API, b *wire.SubRq) error {
	var err error
	if s, ok := c.conn.(Subscriber); ok {
		err = s.SubRequest(c.ctx, a.Hobj, b.Action, &b.SRO)
	} else {
		err = mqi.E("MQSUBRQ", "", mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	}
	return c.reply(m.h, api(err, a.Hobj), b)
}

// countAsync notes a put without answer that the channel has refused; the others the connection counts itself.
func (c *conv) countAsync(hobj int32, object string, md *mqi.MD, pmo *mqi.PMO, err error) {
	if s, ok := c.conn.(Statuser); ok && pmo.Options&mqi.MQPMO_ASYNC_RESPONSE != 0 {
		s.CountAsync(hobj, object, md, pmo, err)
	}
}

// status serves MQSTAT; asking sets the counts back.
func (c *conv) status(m call, a wire.API, b *wire.Stat) error {
	s, ok := c.conn.(Statuser)
	if !ok {
		return c.reply(m.h, api(mqi.E("MQSTAT", "", mqi.MQRC_FUNCTION_NOT_SUPPORTED), a.Hobj), b)
	}
	sts, err := s.Stat(b.Type)
	if err == nil {
		sts.Version = b.STS.Version
		b.STS = sts
	}
	return c.reply(m.h, api(err, a.Hobj), b)
}
