package qmgr

import (
	"context"
	"math"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/xmitq"
)

const (
	putKnown = mqi.MQPMO_SYNCPOINT | mqi.MQPMO_NO_SYNCPOINT | mqi.MQPMO_DEFAULT_CONTEXT | mqi.MQPMO_NEW_MSG_ID |
		mqi.MQPMO_NEW_CORREL_ID | mqi.MQPMO_PASS_IDENTITY_CONTEXT | mqi.MQPMO_PASS_ALL_CONTEXT |
		mqi.MQPMO_SET_IDENTITY_CONTEXT | mqi.MQPMO_SET_ALL_CONTEXT | mqi.MQPMO_ALTERNATE_USER_AUTHORITY |
		mqi.MQPMO_FAIL_IF_QUIESCING | mqi.MQPMO_NO_CONTEXT | mqi.MQPMO_LOGICAL_ORDER | mqi.MQPMO_ASYNC_RESPONSE |
		mqi.MQPMO_SYNC_RESPONSE | mqi.MQPMO_RESOLVE_LOCAL_Q | mqi.MQPMO_WARN_IF_NO_SUBS_MATCHED |
		mqi.MQPMO_RETAIN | mqi.MQPMO_MD_FOR_OUTPUT_ONLY | mqi.MQPMO_SCOPE_QMGR | mqi.MQPMO_SUPPRESS_REPLYTO |
		mqi.MQPMO_NOT_OWN_SUBS

	putContexts = mqi.MQPMO_DEFAULT_CONTEXT | mqi.MQPMO_NO_CONTEXT | mqi.MQPMO_PASS_IDENTITY_CONTEXT |
		mqi.MQPMO_PASS_ALL_CONTEXT | mqi.MQPMO_SET_IDENTITY_CONTEXT | mqi.MQPMO_SET_ALL_CONTEXT
)

// Put puts a message (MQPUT). md gets the fields that the queue manager fills. The body must not be changed
// afterwards. A completion with a warning is an *mqi.Error with CCWarning: the message has been put.
func (c *Conn) Put(ctx context.Context, n Handle, md *mqi.MD, pmo *mqi.PMO, body []byte) (err error) {
	if err := c.begin("MQPUT", ""); err != nil {
		return err
	}
	defer c.verb.Unlock()
	h, err := c.handle("MQPUT", n)
	if err != nil {
		c.countAsync(nil, mqi.MQOT_Q, "", md, pmo, err)
		return err
	}
	defer func() {
		if h.list == nil { // a list counts for each of its queues
			c.putDone("MQPUT", h, md, len(body), err)
		}
		c.countAsync(h, h.objType, h.name, md, pmo, err)
	}()
	if h.topic == nil {
		c.overdueCopies()
	}
	return c.put("MQPUT", h, md, pmo, body)
}

// put1Options says which open option a put option of MQPUT1 stands for.
var put1Options = [...][2]int32{
	{mqi.MQPMO_PASS_IDENTITY_CONTEXT, mqi.MQOO_PASS_IDENTITY_CONTEXT},
	{mqi.MQPMO_PASS_ALL_CONTEXT, mqi.MQOO_PASS_ALL_CONTEXT},
	{mqi.MQPMO_SET_IDENTITY_CONTEXT, mqi.MQOO_SET_IDENTITY_CONTEXT},
	{mqi.MQPMO_SET_ALL_CONTEXT, mqi.MQOO_SET_ALL_CONTEXT},
	{mqi.MQPMO_ALTERNATE_USER_AUTHORITY, mqi.MQOO_ALTERNATE_USER_AUTHORITY},
	{mqi.MQPMO_FAIL_IF_QUIESCING, mqi.MQOO_FAIL_IF_QUIESCING},
	{mqi.MQPMO_RESOLVE_LOCAL_Q, mqi.MQOO_RESOLVE_LOCAL_Q},
}

// Put1 is open, put and close in one (MQPUT1).
func (c *Conn) Put1(ctx context.Context, od *mqi.OD, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	if err := c.begin("MQPUT1", od.ObjectName); err != nil {
		return err
	}
	defer c.verb.Unlock()
	opts := int32(mqi.MQOO_OUTPUT)
	for _, p := range put1Options {
		if pmo.Options&p[0] != 0 {
			opts |= p[1]
		}
	}
	h, err := c.open(ctx, "MQPUT1", od, opts)
	if err != nil {
		c.countAsync(nil, od.ObjectType, od.ObjectName, md, pmo, err)
		return err
	}
	err = c.put("MQPUT1", h, md, pmo, body)
	if h.list == nil {
		c.putDone("MQPUT1", h, md, len(body), err)
	} else if mixed(err) { // MQPUT1 answers in the records of the object descriptor
		od.ResponseRecords = pmo.ResponseRecords
	}
	c.countAsync(h, od.ObjectType, od.ObjectName, md, pmo, err)
	if e := c.closeHandle(ctx, h, mqi.MQCO_NONE); err == nil {
		err = e
	}
	return err
}

// checkPutOptions checks MQPMO_* for themselves and against the handle.
func (c *Conn) checkPutOptions(op string, h *handle, pmo *mqi.PMO) mqi.RC {
	o := pmo.Options
	switch {
	case pmo.Version < 1 || pmo.Version > 3:
		return mqi.MQRC_PMO_ERROR
	case o&^putKnown != 0,
		bits(o&(mqi.MQPMO_SYNCPOINT|mqi.MQPMO_NO_SYNCPOINT)) > 1,
		bits(o&(mqi.MQPMO_ASYNC_RESPONSE|mqi.MQPMO_SYNC_RESPONSE)) > 1,
		bits(o&putContexts) > 1,
		op == "MQPUT" && o&mqi.MQPMO_ALTERNATE_USER_AUTHORITY != 0, // that is for who opens
		op == "MQPUT1" && o&mqi.MQPMO_LOGICAL_ORDER != 0,
		o&mqi.MQPMO_RETAIN != 0 && h.topic == nil:
		return mqi.MQRC_OPTIONS_ERROR
	case pmo.Version >= 3 && (pmo.Action < mqi.MQACTP_NEW || pmo.Action > mqi.MQACTP_REPORT):
		return mqi.MQRC_ACTION_ERROR
	case h.opts&mqi.MQOO_OUTPUT == 0:
		return mqi.MQRC_NOT_OPEN_FOR_OUTPUT
	case h.queue == nil && h.topic == nil && h.list == nil:
		return mqi.MQRC_HOBJ_ERROR
	case h.checkRecords(pmo) != 0:
		return h.checkRecords(pmo)
	case o&mqi.MQPMO_FAIL_IF_QUIESCING != 0 && c.quiescing() != 0:
		return c.quiescing()
	}
	return 0
}

// put is the body of MQPUT and MQPUT1.
func (c *Conn) put(op string, h *handle, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	switch {
	case h.topic != nil:
		return c.publish(op, h, md, pmo, body)
	case h.list != nil:
		return c.putList(op, h, md, pmo, body)
	}
	fail := func(rc mqi.RC) error { return mqi.E(op, h.name, rc) }
	if md.Version < 1 || md.Version > 2 {
		return fail(mqi.MQRC_MD_ERROR)
	}
	if rc := c.checkPutOptions(op, h, pmo); rc != 0 {
		return fail(rc)
	}
	rules := again{h: h, cfg: h.queue.cfg.Load(), qm: c.m.qmgrDef()} // as they are before anything is decided by them
	head, body, limit, warn, rc := c.ready(h, md, pmo, body)
	var group groupPos
	if rc == 0 {
		var w mqi.RC
		group, w, rc = c.m.putInGroup(h.putGroup, &head.md, len(body), pmo.Options&mqi.MQPMO_LOGICAL_ORDER != 0,
			pmo.Options&mqi.MQPMO_SYNCPOINT != 0)
		warn = max(warn, w)
	}
	passed := false
	if rc == 0 && limit == 0 {
		var err error
		if passed, err = c.handOver(h, head, body, pmo); err != nil {
			return storeReason(op, h.name, err)
		}
	}
	var pieces []piece
	if rc == 0 && !passed {
		if c.lent {
			body = append([]byte(nil), body...)
		}
		pieces, rc = c.cutUp(h, head, body, limit)
	}
	if rc != 0 {
		return fail(rc)
	}
	if c.due != 0 {
		return c.stage(op, h, head, body, md, pmo, warn)
	}
	if pieces != nil {
		if err := c.deliver(op, h, pieces, pmo); err != nil {
			return err
		}
	}
	if pmo.Options&mqi.MQPMO_SYNCPOINT != 0 && group != h.putGroup {
		c.begun().remember(&h.putGroup)
	}
	h.putGroup = group
	if passed && warn == 0 {
		c.noteAgain(rules, md, pmo)
	}
	output(md, &head.md)
	pmo.ResolvedQName, pmo.ResolvedQMgrName = h.res.qName, h.res.qmName
	if pmo.Options&mqi.MQPMO_RESOLVE_LOCAL_Q != 0 {
		pmo.ResolvedQName, pmo.ResolvedQMgrName = h.res.base.Name, c.m.opt.Name
	}
	if warn != 0 {
		return mqi.Warn(op, h.name, warn)
	}
	return nil
}

// ready checks a message for its queue, in the order of facts/mqi.md §5, and completes it. The body comes without an MQMDE; limit as
// checkLength says.
func (c *Conn) ready(h *handle, md *mqi.MD, pmo *mqi.PMO, given []byte) (head *msgHead, body []byte, limit int, warn, rc mqi.RC) {
	body = given
	if head, warn, rc = c.newHead(h, md, pmo); rc == 0 {
		body, rc = extension(&head.md, body)
	}
	if rc == 0 {
		rc = checkV2(&head.md, len(body), h.res.remote)
	}
	if rc == 0 {
		rc = h.check()
	}
	if rc == 0 {
		rc = h.res.putAllowed()
	}
	if rc == 0 {
		limit, rc = c.checkLength(h, &head.md, len(body))
	}
	if rc == 0 {
		rc = c.putProps(head, pmo, body, !h.res.remote)
	}
	if rc == 0 {
		rc = c.complete(h, head, pmo)
	}
	return head, body, limit, warn, rc
}

// newHead makes the head of a message of a put: the descriptor checked, with its context.
func (c *Conn) newHead(h *handle, md *mqi.MD, pmo *mqi.PMO) (head *msgHead, warn, fail mqi.RC) {
	head = &c.head // nothing keeps it beyond the verb
	*head = msgHead{md: *md}
	if pmo.Options&mqi.MQPMO_MD_FOR_OUTPUT_ONLY != 0 {
		head.md = mqi.DefaultMD()
		head.md.Version = md.Version
	}
	if rc := c.setContext(h, &head.md, pmo); rc != 0 {
		return nil, 0, rc
	}
	warn, fail = checkPutMD(&head.md, h.res.remote)
	return head, warn, fail
}

// putAllowed checks PUT(DISABLED) of every definition in the path.
func (r *resolved) putAllowed() mqi.RC {
	for _, o := range r.path {
		inhibited := false
		if o.Queue != nil {
			inhibited = o.Queue.cfg.Load().putInhibited
		} else {
			inhibited = o.Def().Get("PUT") == "DISABLED"
		}
		if inhibited {
			return mqi.MQRC_PUT_INHIBITED
		}
	}
	return 0
}

// defaults are DEFPRTY and DEFPSIST, which the first definition in the path decides.
func (r *resolved) defaults() (priority int32, persistent bool) {
	if q := r.path[0].Queue; q != nil {
		cfg := q.cfg.Load()
		return int32(cfg.defPrty), cfg.defPersist
	}
	d := r.first()
	return int32(numAttr(d, "DEFPRTY", 0)), d.Get("DEFPSIST") == "YES"
}

// checkLength compares with MAXMSGL of the queue and the queue manager. On a transmission queue room is left for the
// header. limit is not 0 when the message must be cut into segments of at most that length.
func (c *Conn) checkLength(h *handle, md *mqi.MD, n int) (limit int, rc mqi.RC) {
	room := min(h.queue.cfg.Load().maxMsgL, math.MaxInt32)
	rc = mqi.MQRC_MSG_TOO_BIG_FOR_Q
	if all := c.m.limits().maxMsgL; all < room {
		room, rc = all, mqi.MQRC_MSG_TOO_BIG_FOR_Q_MGR
	}
	if h.res.remote {
		room -= xmitq.HeaderLen(md)
	}
	switch {
	case n <= room:
		return 0, 0
	case md.Version >= 2 && md.MsgFlags&mqi.MQMF_SEGMENTATION_ALLOWED != 0 && room >= segmentUnit:
		return room, 0
	}
	return 0, rc
}

// complete fills what the queue manager decides: identifiers, defaults of the queue, expiry, delivery priority.
func (c *Conn) complete(h *handle, head *msgHead, pmo *mqi.PMO) mqi.RC {
	md := &head.md
	now := c.m.opt.Clock.Now()
	cfg := h.queue.cfg.Load()
	priority, persistent := h.res.defaults()
	if pmo.Options&mqi.MQPMO_NEW_MSG_ID != 0 || md.MsgID.IsZero() {
		md.MsgID = c.m.newID("AMQ ")
	}
	if pmo.Options&mqi.MQPMO_NEW_CORREL_ID != 0 {
		md.CorrelID = c.m.newID("AMQ ")
	}
	if md.Priority == mqi.MQPRI_PRIORITY_AS_Q_DEF {
		md.Priority = priority
	}
	if md.Persistence == mqi.MQPER_PERSISTENCE_AS_Q_DEF {
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
		if persistent {
			md.Persistence = mqi.MQPER_PERSISTENT
		}
	}
	if md.Persistence == mqi.MQPER_PERSISTENT && cfg.deftype == "TEMPDYN" {
		return mqi.MQRC_PERSISTENT_NOT_ALLOWED
	}
	c.characters(md)
	c.replyTo(md)
	c.place(md)
	md.BackoutCount = 0
	head.putNanos = now.UnixNano()
	head.expire = expiryAt(now, md.Expiry)
	for _, o := range h.res.path {
		head.capExpiry(now, o)
	}
	head.deliver = deliverAt(md.Priority)
	if cfg.fifo {
		head.deliver = cfg.defPrty
	}
	return 0
}

// characters fills the character set of the data, where it is said to be the queue manager's or that of the descriptor.
func (c *Conn) characters(md *mqi.MD) {
	if md.CodedCharSetID == mqi.MQCCSI_Q_MGR || md.CodedCharSetID == mqi.MQCCSI_INHERIT {
		md.CodedCharSetID = c.m.ccsid()
	}
}

// deliverAt is the place in the delivery order that a priority stands for: one above the highest stays in the descriptor, and
// counts as the highest.
func deliverAt(priority int32) uint8 { return uint8(max(0, min(priority, 9))) }

// memberFlags adds to the flag of a last one that it is one: the copy that is sent says both.
func memberFlags(f int32) int32 {
	if f&mqi.MQMF_LAST_MSG_IN_GROUP != 0 {
		f |= mqi.MQMF_MSG_IN_GROUP
	}
	if f&mqi.MQMF_LAST_SEGMENT != 0 {
		f |= mqi.MQMF_SEGMENT
	}
	return f
}

// place fills where in a group and a logical message this one stands. One in no group has number 1, one that is no segment offset 0.
func (c *Conn) place(md *mqi.MD) {
	if md.Version < 2 {
		md.GroupID, md.MsgSeqNumber, md.Offset, md.MsgFlags, md.OriginalLength = mqi.ID{}, 1, 0, 0, -1
		return
	}
	md.MsgFlags = memberFlags(md.MsgFlags)
	inGroup, segment := md.MsgFlags&mqi.MQMF_MSG_IN_GROUP != 0, md.MsgFlags&mqi.MQMF_SEGMENT != 0
	switch {
	case !inGroup && !segment && md.MsgFlags&mqi.MQMF_SEGMENTATION_ALLOWED == 0:
		md.GroupID = mqi.ID{}
	case md.GroupID.IsZero():
		md.GroupID = c.m.newID("AMQ ")
	}
	if !inGroup {
		md.MsgSeqNumber = 1
	}
	if !segment {
		md.Offset = 0
	}
}

// replyTo fills ReplyToQMgr, through a reply-to alias when ReplyToQ names a remote definition.
func (c *Conn) replyTo(md *mqi.MD) {
	if md.ReplyToQMgr != "" {
		return
	}
	md.ReplyToQMgr = c.m.opt.Name
	if md.ReplyToQ == "" {
		return
	}
	if o := c.m.lookup(ClassQueue, md.ReplyToQ); o != nil && o.Def().Kind == "QREMOTE" {
		if d := o.Def(); d.Get("RNAME") != "" {
			md.ReplyToQ = d.Get("RNAME")
			if q := d.Get("RQMNAME"); q != "" {
				md.ReplyToQMgr = q
			}
		}
	}
}

// output copies to the caller what a put returns. The character set stays as the caller gave it.
func output(to, from *mqi.MD) {
	to.MsgID, to.CorrelID = from.MsgID, from.CorrelID
	to.Priority, to.Persistence = from.Priority, from.Persistence
	to.UserIdentifier, to.AccountingToken, to.ApplIdentityData = from.UserIdentifier, from.AccountingToken,
		from.ApplIdentityData
	to.PutApplType, to.PutApplName, to.PutDate, to.PutTime, to.ApplOriginData = from.PutApplType, from.PutApplName,
		from.PutDate, from.PutTime, from.ApplOriginData
	if to.Version >= 2 {
		// MsgFlags stay as the application set them.
		to.GroupID, to.MsgSeqNumber, to.Offset = from.GroupID, from.MsgSeqNumber, from.Offset
	}
}

// deliver gives the pieces of a message their places, in the connection's unit of work or in one of their own.
func (c *Conn) deliver(op string, h *handle, pieces []piece, pmo *mqi.PMO) error {
	sync := pmo.Options&mqi.MQPMO_SYNCPOINT != 0
	n := len(pieces)
	for i := range pieces {
		if p := &pieces[i]; !h.res.remote { // confirmation of arrival is the destination's
			p.reports = c.arrived(p.head, p.body)
			n += len(p.reports)
		}
	}
	u := &uow{}
	if sync {
		if rc := c.room(n); rc != 0 {
			return mqi.E(op, h.name, rc)
		}
		if n == 1 && c.work != nil {
			u = c.work
		}
	} else if len(pieces) > 1 && pieces[0].head.md.Persistence == mqi.MQPER_PERSISTENT && c.work != nil {
		return mqi.E(op, h.name, mqi.MQRC_UOW_NOT_AVAILABLE)
	}
	if u != c.work {
		defer c.m.leftover(u)
	}
	for i := range pieces {
		if rc := c.deliverPiece(u, h, &pieces[i]); rc != 0 {
			if u != c.work { // this put's alone
				c.m.withdraw(u)
			}
			return mqi.E(op, h.name, rc)
		}
	}
	switch {
	case !sync && h.gather != nil:
		h.gather.join(u)
		return nil
	case !sync:
		u.by, u.host = c.collector(), c.host
		return storeReason(op, h.name, c.commitPut(u, h.queue, pieces[0].head, pmo))
	}
	w := c.begun()
	if w != u {
		w.join(u)
	}
	w.n += n
	return nil
}

func (c *Conn) deliverPiece(u *uow, h *handle, p *piece) mqi.RC {
	head, body := p.head, p.body
	if h.res.remote {
		head, body = c.m.envelope(h.res, head, body)
	}
	if rc := c.m.enqueue(u, h.queue, head, body, c.num); rc != 0 {
		return rc
	}
	for _, r := range p.reports {
		c.m.sendReport(u, r)
	}
	return 0
}

// enqueue puts a finished message on a local queue as part of u, and its copy on the queue's STREAMQ.
func (m *Manager) enqueue(u *uow, q *Queue, head *msgHead, body []byte, owner uint32) mqi.RC {
	if q.obj.Name == delayQueue { // what is there is believed, and delivered as the queue manager: stage alone puts there
		return mqi.MQRC_PUT_INHIBITED
	}
	if cfg := q.cfg.Load(); cfg.streamQ != "" {
		return m.enqueueStreamed(u, q, cfg, head, body, owner)
	}
	return m.enqueueAlone(u, q, head, body, owner)
}

func (m *Manager) enqueueAlone(u *uow, q *Queue, head *msgHead, body []byte, owner uint32) mqi.RC {
	now := m.opt.Clock.Now()
	n := newMsg{prio: min(head.deliver, 9), mid: hashID(&head.md.MsgID), cid: hashID(&head.md.CorrelID), size: len(body),
		expire: head.expire, pers: head.md.Persistence == mqi.MQPER_PERSISTENT, report: wantsReport(head.md.Report),
		part: partOf(&head.md, len(body)), owner: owner, now: now}
	slot, seq, rc := q.reserve(&n)
	if rc != 0 {
		m.afterRefusal(u, q, &n)
		return rc
	}
	u.put(q, slot, seq, store.Rec{Head: u.encode(head), Body: body, Persistent: n.pers})
	m.afterPut(u, q, &n)
	return 0
}
