package qmgr

import (
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/pubsub/selector"
)

// Who gets a publication, and how a copy reaches the queue of a subscription.

// publication is a message on its way to subscribers.
type publication struct {
	m        *Manager
	topic    string
	head     *msgHead // complete; copies differ in context, priority, CorrelId
	body     []byte
	opts     int32 // MQPMO_*
	level    uint8 // PubLevel
	owner    uint32
	conn     string // publisher's connection, for NOT_OWN_SUBS
	rule     string // PMSGDLV or NPMSGDLV of the topic
	useDLQ   bool
	retained bool // from the store of retained publications
	by       any  // not nil: copies go to gets that wait, in this one's name (Waker)
	lent     bool // body is the caller's, for the verb
	handed   bool // the last copy went to a get that waited
	copy     msgHead

	choose *selector.Message // made when the first selector asks for it
	beside []byte            // properties of copies without user data
}

func newPublication(m *Manager, topic string, head *msgHead, body []byte) *publication {
	return &publication{m: m, topic: topic, head: head, body: body, level: pubsub.MaxSubLevel}
}

func (p *publication) persistent() bool { return p.head.md.Persistence == mqi.MQPER_PERSISTENT }

// sendPublication makes the copies and the retained change, and says how many subscriptions the publication is for.
func (c *Conn) sendPublication(op string, h *handle, p *publication) (matched int, err error) {
	m := c.m
	sync := p.opts&mqi.MQPMO_SYNCPOINT != 0
	if sync {
		if rc := c.room(1); rc != 0 {
			return 0, mqi.E(op, h.name, rc)
		}
	}
	u := &uow{}
	defer m.leftover(u)
	if p.opts&mqi.MQPMO_RETAIN != 0 {
		if rc := m.mayRetain(h.topic.pub); rc != 0 {
			return 0, mqi.E(op, h.name, rc)
		}
		change := &retainedOp{topic: p.topic, head: encodeHead(p.head), body: p.kept(p.body), pers: p.persistent(),
			expires: p.head.expire, pub: p, seen: m.retain.born.Load(), serial: m.topics.serial.Load()}
		if !sync {
			change.at = h.topic.pub // open until the change is in force
		}
		u.retained = append(u.retained, change)
	}
	if p.opts&(mqi.MQPMO_SYNCPOINT|mqi.MQPMO_RETAIN) == 0 && p.rule == "ALLAVAIL" && !p.persistent() {
		p.by = c.host // no refusal takes back what others have got
	}
	if p.by != nil && c.gather.on && p.opts&mqi.MQPMO_ASYNC_RESPONSE != 0 {
		return c.gatherIn(p), nil
	}
	c.overdueCopies()
	subs := p.recipients(m.topics.tree.Match(c.matches[:0], p.topic))
	c.matches = subs
	if rc := m.fanOut(u, p, subs); rc != 0 {
		m.withdraw(u)
		return 0, mqi.E(op, h.name, rc)
	}
	if sync {
		w := c.begun()
		w.join(u)
		w.n++
		return len(subs), nil
	}
	u.by = c.collector()
	return len(subs), storeReason(op, h.name, m.commit(u))
}

// join makes another unit's work part of this one.
func (u *uow) join(o *uow) {
	o.ended = true
	u.tx.Join(&o.tx)
	u.n += o.n // trigger messages, and reports of arrival
	u.puts = append(u.puts, o.puts...)
	u.retained = append(u.retained, o.retained...)
	u.sent = append(u.sent, o.sent...)
	u.fired = append(u.fired, o.fired...)
	u.later = append(u.later, o.later...)
}

// recipients leaves of the matching subscriptions, in place, those that get this publication.
func (p *publication) recipients(matched []*pubsub.Sub) []*pubsub.Sub {
	out := matched[:0]
	now := p.m.opt.Clock.Now().UnixMilli()
	for _, s := range matched {
		cfg := cfgOf(s)
		switch {
		case cfg == nil, cfg.reqOnly,
			cfg.expires != 0 && cfg.expires <= now,
			p.opts&mqi.MQPMO_NOT_OWN_SUBS != 0 && s.Owner.(*subState).held.has(p.conn),
			p.opts&mqi.MQPMO_SCOPE_QMGR != 0 && s.Type == pubsub.SubProxy,
			!p.selected(cfg.sel):
			continue
		}
		out = append(out, s)
	}
	return pubsub.OncePerGroup(pubsub.AtLevel(out, p.level))
}

// selected reports whether a selector lets the publication through.
func (p *publication) selected(sel *selector.Selector) bool {
	if sel == nil {
		return true
	}
	if p.choose == nil {
		p.choose = &selector.Message{MD: &p.head.md, Props: p.properties()}
	}
	return sel.Matches(*p.choose)
}

// fanOut puts a copy on the queue of each subscription as part of u. When one that the delivery rule needs cannot have
// its copy nobody gets one: the caller must give u back.
func (m *Manager) fanOut(u *uow, p *publication, subs []*pubsub.Sub) mqi.RC {
	for _, s := range subs {
		rc := m.sendCopy(u, p, s)
		switch {
		case rc != 0:
		case p.handed:
			s.Delivered(1, m.opt.Clock.Now())
			continue
		default:
			u.sent = append(u.sent, s)
			continue
		}
		if s.Owner.(*subState).gone.Load() {
			continue // it ended while its copy was made
		}
		if p.rule == "ALL" || p.rule == "ALLDUR" && s.Durable {
			m.opt.Log.Warn().Str("topic", p.topic).Str("sub", s.Name).Int32("rc", int32(rc)).
				Msg("publication refused: a subscription that must have it cannot")
			return mqi.MQRC_PUBLICATION_FAILURE
		}
	}
	return 0
}

// sendCopy puts one subscription's copy on its queue, or on the dead-letter queue when the topic says USEDLQ(YES). The
// reason code says why neither took it.
func (m *Manager) sendCopy(u *uow, p *publication, s *pubsub.Sub) mqi.RC {
	p.handed = false
	cfg := cfgOf(s)
	head, body := p.copyFor(cfg)
	rc := m.putCopy(u, p, cfg, head, body)
	if rc != 0 && cfg.queue != nil && cfg.queue.isDead() {
		if now := m.renewed(s, cfg); now != nil {
			cfg = now
			head, body = p.copyFor(cfg)
			rc = m.putCopy(u, p, cfg, head, body)
		}
	}
	if rc == 0 || !p.useDLQ {
		return rc
	}
	dlq := m.qmgrDef().Get("DEADQ")
	if blank(dlq) {
		return rc
	}
	qm := cfg.destQMgr
	if qm == "" {
		qm = m.opt.Name
	}
	dead, deadBody := m.deadLetter(rc, cfg.dest, qm, head, p.kept(body))
	if m.putAs(u, dlq, "", dead, deadBody) != 0 {
		return rc
	}
	return 0
}

// renewed leads a managed subscription whose queue was deleted to the one that has been defined under its name since; nil
// when there is none.
func (m *Manager) renewed(s *pubsub.Sub, cfg *subCfg) *subCfg {
	o := m.lookup(ClassQueue, cfg.dest)
	if o == nil || o.Queue == cfg.queue {
		return nil
	}
	now := *cfg
	now.queue = o.Queue
	s.Owner.(*subState).cfg.CompareAndSwap(cfg, &now) // else it has been altered meanwhile
	return &now
}

// copyFor is the message as one subscription gets it.
func (p *publication) copyFor(cfg *subCfg) (*msgHead, []byte) {
	h := &p.copy // who keeps a copy's head encodes it
	*h = *p.head
	md := &h.md
	if !cfg.keepCorrel {
		md.CorrelID = cfg.correl
	}
	md.UserIdentifier, md.AccountingToken, md.ApplIdentityData = cfg.user, cfg.account, cfg.applID
	md.PutApplType, md.PutApplName = mqi.MQAT_QMGR_PUBLISH, cut(p.m.opt.Name, mqi.MQ_PUT_APPL_NAME_LENGTH)
	md.ApplOriginData = ""
	if cfg.priority >= 0 {
		md.Priority = cfg.priority
	}
	if p.opts&mqi.MQPMO_SUPPRESS_REPLYTO != 0 {
		md.ReplyToQ, md.ReplyToQMgr = "", ""
	}
	return h, p.describe(h, cfg)
}

// kept is a copy's body in memory that may be kept.
func (p *publication) kept(body []byte) []byte {
	if !p.lent || len(body) == 0 {
		return body
	}
	own := len(p.body) > 0 && &body[0] == &p.body[0]
	p.body, p.lent = append([]byte(nil), p.body...), false
	if own {
		return p.body
	}
	return body // has a header in front, made for this copy
}

// putCopy puts a copy on the subscription's queue.
func (m *Manager) putCopy(u *uow, p *publication, cfg *subCfg, h *msgHead, body []byte) mqi.RC {
	q := cfg.queue
	var r *resolved
	if q == nil {
		var rc mqi.RC
		if q, r, rc = m.destination(cfg); rc != 0 {
			return rc
		}
	}
	qc := q.cfg.Load()
	if cfg.priority == mqi.MQPRI_PRIORITY_AS_Q_DEF {
		h.md.Priority = int32(qc.defPrty)
		if r != nil {
			h.md.Priority = int32(numAttr(r.first(), "DEFPRTY", 0))
		}
	}
	h.deliver = deliverAt(h.md.Priority)
	if qc.fifo {
		h.deliver = qc.defPrty
	}
	if qc.deftype == "TEMPDYN" {
		h.md.Persistence = mqi.MQPER_NOT_PERSISTENT // such a queue takes no others, and the subscription ends with it
	}
	if r != nil || qc.capExpiry > 0 {
		now := m.opt.Clock.Now()
		h.capExpiry(now, q.obj)
		if r != nil {
			for _, o := range r.path {
				h.capExpiry(now, o)
			}
		}
	}
	n := len(body)
	if r != nil && r.remote {
		n += mqi.MQ_MSG_HEADER_LENGTH
	}
	if n > qc.maxMsgL {
		return mqi.MQRC_MSG_TOO_BIG_FOR_Q
	}
	if p.handed = r == nil && m.handTo(p.by, q, h, body, false); p.handed {
		return 0
	}
	body = p.kept(body)
	var reports []*report
	if r != nil && r.remote {
		h, body = m.envelope(r, h, body)
	} else {
		reports = m.arrivalReports(h, body)
	}
	if rc := m.enqueue(u, q, h, body, p.owner); rc != 0 {
		return rc
	}
	u.n += len(reports)
	for _, rep := range reports {
		rep.checked = !p.retained // by who published it
		m.sendReport(u, rep)
	}
	return 0
}

// destination finds the queue of a subscription that names one. A plain local queue needs no resolution.
func (m *Manager) destination(cfg *subCfg) (*Queue, *resolved, mqi.RC) {
	if cfg.destQMgr == "" || cfg.destQMgr == m.opt.Name {
		o := m.lookup(ClassQueue, cfg.dest)
		switch {
		case o == nil:
			return nil, nil, mqi.MQRC_UNKNOWN_OBJECT_NAME
		case o.Queue != nil:
			return o.Queue, nil, 0
		case o.Def().Kind == "QALIAS" && o.Def().Get("TARGTYPE") == "TOPIC":
			return nil, nil, mqi.MQRC_ALIAS_TARGTYPE_CHANGED
		}
	}
	r, rc := m.namespace().resolve(cfg.destQMgr, cfg.dest, mqi.MQOO_OUTPUT)
	switch {
	case rc != 0:
		return nil, nil, rc
	case r.base == nil || r.base.Queue == nil:
		return nil, nil, mqi.MQRC_Q_TYPE_ERROR
	}
	if rc := r.putAllowed(); rc != 0 {
		return nil, nil, rc
	}
	return r.base.Queue, r, 0
}
