package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// postGet gets or browses messages until none is there, or count have been sent. Messages are got under syncpoint and
// committed when the reader has acknowledged them (ack.go): a reader that goes away loses nothing.
func (s *Server) postGet(w http.ResponseWriter, r *http.Request) error {
	duplex(w)
	q := r.URL.Query()
	browse := q.Get("browse") == "yes"
	options := int32(mqi.MQGMO_SYNCPOINT)
	open := int32(mqi.MQOO_INPUT_SHARED)
	if browse {
		options, open = mqi.MQGMO_BROWSE_NEXT, mqi.MQOO_BROWSE
	}
	md, gmo, err := selection(r, options)
	if err != nil {
		return err
	}
	wait := time.Duration(max(0, gmo.WaitInterval)) * time.Millisecond
	if q.Get("wait") == "" {
		wait = 0
	}
	count := int64(0)
	if v := q.Get("count"); v != "" {
		if count, err = parseInt("count", v, 1, 1<<31-1); err != nil {
			return err
		}
	}
	ack, err := wantsAcks(q, browse, true)
	if err != nil {
		return err
	}
	x, err := s.openQueue(r, q.Get("queue"), applName(q), open)
	if err != nil {
		return err
	}
	defer x.close()
	out, err := s.newLines(w)
	if err != nil {
		return err
	}
	g := &getter{s: s, x: x, r: r, md: *md, gmo: *gmo, browse: browse, wait: wait, out: out}
	defer g.listen(w, ack)()
	for count == 0 || int64(g.n) < count {
		more, err := g.one()
		if err != nil {
			return out.end(g.n, g.failed(err))
		}
		if !more {
			break
		}
	}
	return g.close()
}

// getter runs one get stream.
type getter struct {
	s      *Server
	x      *session
	r      *http.Request
	md     mqi.MD
	gmo    mqi.GMO
	browse bool
	wait   time.Duration
	props  bool // show properties beside the body
	out    *lines
	open   int // in the open unit of work, or written and not flushed
	n      int

	acks  *acks       // nil: what was flushed counts as read
	taken int         // acknowledged and committed
	marks []qmgr.Mark // ends of the messages behind those, from the stream's beginning
	base  qmgr.Mark   // end of what is committed
}

// listen begins to follow the reader's acknowledgements. The caller must call the result.
func (g *getter) listen(w http.ResponseWriter, ack bool) (stop func()) {
	if !ack {
		return func() {}
	}
	g.acks = readAcks(g.r)
	over := make(chan struct{})
	broken := g.s.endReads(w, over)
	return func() {
		close(over)
		<-g.acks.ended
		broken()
	}
}

// one sends one message; false when none came. What was sent is committed before a wait, so that nothing stands
// uncommitted while the queue is empty.
func (g *getter) one() (bool, error) {
	body, md, err := g.try(0)
	if isReason(err, mqi.MQRC_SYNCPOINT_LIMIT_REACHED) && g.open+len(g.marks) > 0 { // MAXUMSGS is less than a batch
		if err := g.commit(); err != nil {
			return false, err
		}
		body, md, err = g.try(0)
	}
	if isReason(err, mqi.MQRC_NO_MSG_AVAILABLE) && g.wait > 0 {
		if err := g.commit(); err != nil {
			return false, err
		}
		body, md, err = g.try(g.wait)
	}
	if isReason(err, mqi.MQRC_NO_MSG_AVAILABLE) {
		return false, nil
	}
	if err != nil {
		return false, g.stopped(err)
	}
	var props map[string]any
	if g.props {
		props, body = takeProps(md, body)
	}
	m := messageOf(md, body)
	if len(props) > 0 {
		m.Properties = props
	}
	if err := g.out.e.Encode(m); err != nil {
		return false, err
	}
	g.n++
	if g.open++; g.acks != nil {
		g.sent()
		return true, g.window()
	}
	if g.open >= batch {
		return true, g.commit()
	}
	return true, nil
}

// close ends the stream in order.
func (g *getter) close() error {
	err := g.commit()
	if err != nil {
		err = g.failed(err)
	} else {
		g.x.end(g.r.Context())
	}
	return g.out.end(g.n, err)
}

// window commits what is acknowledged by half windows, and lets no more than a batch be on its way.
func (g *getter) window() error {
	if g.open < batch/2 {
		return nil
	}
	if err := g.out.flush(); err != nil {
		return err
	}
	g.open = 0
	return g.settle(max(g.taken, g.n-batch/2))
}

// stopped ends the stream where a call was refused: what was got before it is the reader's, as when a queue is empty. Without
// this the last lines would be written, and their messages put back.
func (g *getter) stopped(err error) error {
	select {
	case <-g.x.c.Done(): // the messages have been put back already
		return err
	default:
		return errors.Join(err, g.commit())
	}
}

func (g *getter) try(wait time.Duration) ([]byte, *mqi.MD, error) {
	md, gmo := g.md, g.gmo
	gmo.Options &^= mqi.MQGMO_WAIT | mqi.MQGMO_NO_WAIT
	gmo.WaitInterval = int32(wait / time.Millisecond)
	if wait > 0 {
		gmo.Options |= mqi.MQGMO_WAIT
	} else {
		gmo.Options |= mqi.MQGMO_NO_WAIT
	}
	body, err := g.x.get(g.r.Context(), &md, &gmo)
	return body, &md, err
}

// commit hands what was written to the reader, then ends the unit of work.
func (g *getter) commit() error {
	if err := g.out.flush(); err != nil {
		return err
	}
	if g.acks != nil {
		g.open = 0
		return g.settle(g.n)
	}
	if g.open == 0 || g.browse {
		return nil
	}
	g.open = 0
	return g.x.c.Commit(g.r.Context())
}

// getExport writes the MQSC that makes the same objects again.
func (s *Server) getExport(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	all, err := flag(q.Get("all"))
	if err != nil {
		return err
	}
	mqOnly, err := flag(q.Get("mq-only"))
	if err != nil {
		return err
	}
	out, err := newStream(w)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	return s.export(out, exportOptions(q, all, mqOnly))
}

func flag(v string) (bool, error) {
	if v == "" {
		return false, nil
	}
	b, err := strconv.ParseBool(v)
	if err != nil {
		return false, refuse("MQWB0104E", "%s: use true or false", clip(v))
	}
	return b, nil
}
