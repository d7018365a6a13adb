package qmgr

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// MQOPEN, MQPUT and MQPUT1 of topics.

// topicHandle is an open topic.
type topicHandle struct {
	topic string // full topic string
	conn  string // the connection as ACTCONN shows it
	pub   *pubsub.PubHandle
}

// connHex is a connection identifier as ACTCONN shows it. Only for verbs of the connection.
func (c *Conn) connHex() string {
	if c.hex == "" {
		c.hex = strings.ToUpper(hex.EncodeToString(c.id[:]))
	}
	return c.hex
}

// pubsubRC is the reason code of an error of the topic engine.
func pubsubRC(err error) mqi.RC {
	var e *pubsub.Error
	if errors.As(err, &e) {
		return mqi.RC(e.RC)
	}
	return mqi.MQRC_UNEXPECTED_ERROR
}

// pubsubOff reports PSMODE(DISABLED).
func (m *Manager) pubsubOff() bool { return m.qmgrDef().Get("PSMODE") == "DISABLED" }

// aliasOfTopic returns the alias that an open for output names, when its target is a topic; else nil.
func (m *Manager) aliasOfTopic(od *mqi.OD, options int32) *Object {
	if onlyLooks(options) || od.ObjectQMgrName != "" && od.ObjectQMgrName != m.opt.Name {
		return nil
	}
	o := m.lookup(ClassQueue, od.ObjectName)
	if o == nil || o.Def().Kind != "QALIAS" || o.Def().Get("TARGTYPE") != "TOPIC" {
		return nil
	}
	return o
}

// openTopic opens a topic for output: by the name of a topic object, by a topic string, by both, or through an alias.
func (c *Conn) openTopic(op string, h *handle, od *mqi.OD, alias *Object) error {
	const sense = openKinds &^ mqi.MQOO_OUTPUT
	m := c.m
	shown := od.ObjectName
	if shown == "" && od.Version >= 4 {
		shown = od.ObjectString
	}
	fail := func(rc mqi.RC) error { return mqi.E(op, shown, rc) }
	switch {
	case h.opts&mqi.MQOO_OUTPUT == 0 || h.opts&sense != 0:
		return fail(mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	case od.ObjectQMgrName != "" && od.ObjectQMgrName != m.opt.Name:
		return mqi.E(op, od.ObjectQMgrName, mqi.MQRC_UNKNOWN_OBJECT_Q_MGR)
	case m.pubsubOff():
		return fail(mqi.MQRC_PUBSUB_INHIBITED)
	}
	h.res = &resolved{qmName: m.opt.Name}
	name := od.ObjectName
	if alias != nil {
		h.res.path = append(h.res.path, alias)
		name = alias.Def().Get("TARGET")
		if m.lookup(ClassTopic, name) == nil {
			return fail(mqi.MQRC_UNKNOWN_ALIAS_BASE_Q)
		}
	}
	text := ""
	if od.Version >= 4 {
		text = od.ObjectString
	}
	full, obj, err := m.topicOf(name, text)
	if err != nil {
		return mqi.Wrap(op, shown, pubsubRC(err), err)
	}
	if obj != nil {
		h.res.path = append(h.res.path, obj)
	}
	switch {
	case pubsub.IsAdminTopic(full):
		return mqi.E(op, full, mqi.MQRC_ADMIN_TOPIC_STRING_ERROR)
	case op != "MQPUT1" && m.topics.tree.Resolve(full, pubsub.MCAST) == "ONLY": // MQPUT1 asks for all of them at once
		return mqi.E(op, full, mqi.MQRC_MULTICAST_ONLY)
	}
	if err := c.mayPublish(op, h, od, alias, full); err != nil {
		return err
	}
	t := &topicHandle{topic: full, conn: c.connHex()}
	if op == "MQPUT1" {
		t.pub, err = m.topics.tree.OpenBriefly(full)
	} else {
		t.pub, err = m.topics.tree.OpenPublisher(full, t.conn)
	}
	if err != nil {
		return mqi.Wrap(op, shown, pubsubRC(err), err)
	}
	h.topic, h.output = t, true
	if h.name == "" {
		h.name = full
	}
	od.KnownDestCount, od.UnknownDestCount, od.InvalidDestCount = 1, 0, 0
	if od.Version >= 4 {
		od.ResObjectString, od.ResolvedType = full, mqi.MQOT_TOPIC
	}
	return nil
}

// topicOf joins a topic object's string and the application's. obj is nil when no object was named.
func (m *Manager) topicOf(object, text string) (full string, obj *Object, err error) {
	prefix := ""
	if !blank(object) {
		if obj = m.lookup(ClassTopic, object); obj == nil {
			return "", nil, &pubsub.Error{RC: mqi.MQRC_UNKNOWN_OBJECT_NAME, Topic: object, Why: "there is no topic object of this name"}
		}
		prefix = obj.Def().Get("TOPICSTR")
	}
	full, err = pubsub.Combine(prefix, obj != nil, text)
	return full, obj, err
}

// closeTopic closes a topic handle.
func (c *Conn) closeTopic(h *handle, options int32) error {
	if options&^mqi.MQCO_QUIESCE != 0 {
		return mqi.E("MQCLOSE", h.name, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	}
	c.forget(h)
	c.m.topics.tree.ClosePublisher(h.topic.pub)
	return nil
}

// publish is the body of MQPUT and MQPUT1 for a topic: checks, then one copy for each subscription and the retained one,
// all of them in the publisher's unit of work or in one of their own.
func (c *Conn) publish(op string, h *handle, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	fail := func(rc mqi.RC) error { return mqi.E(op, h.name, rc) }
	if md.Version < 1 || md.Version > 2 {
		return fail(mqi.MQRC_MD_ERROR)
	}
	if rc := c.checkPutOptions(op, h, pmo); rc != 0 {
		return fail(rc)
	}
	head := &msgHead{md: *md}
	if pmo.Options&mqi.MQPMO_MD_FOR_OUTPUT_ONLY != 0 {
		head.md = mqi.DefaultMD()
		head.md.Version = md.Version
	}
	if rc := c.setContext(h, &head.md, pmo); rc != 0 {
		return fail(rc)
	}
	warn, rc := checkPutMD(&head.md, false)
	if rc == 0 {
		rc = checkV2(&head.md, len(body), false)
	}
	if rc == 0 {
		rc = c.putProps(head, pmo, body, true)
	}
	if rc == 0 {
		rc = c.checkPublish(h, &head.md, pmo, len(body))
	}
	if rc != 0 {
		return fail(rc)
	}
	body = published(head, body)
	attrs := h.topic.pub.ResolveAll(c.m.topics.tree)
	switch {
	case attrs[pubsub.MCAST] == "ONLY":
		return fail(mqi.MQRC_MULTICAST_ONLY)
	case attrs[pubsub.PUB] == "DISABLED":
		return fail(mqi.MQRC_PUT_INHIBITED)
	}
	c.completePublication(head, pmo, &attrs)
	c.publishedReports(head)
	if c.due != 0 {
		return c.stage(op, h, head, body, md, pmo, warn)
	}
	p := newPublication(c.m, h.topic.topic, head, body)
	p.lent = c.lent
	p.opts, p.owner, p.conn = pmo.Options, c.num, h.topic.conn
	p.useDLQ = attrs[pubsub.USEDLQ] == "YES"
	if pmo.Version >= 3 {
		p.level = uint8(pmo.PubLevel)
	}
	p.rule = attrs[pubsub.NPMSGDLV]
	if p.persistent() {
		p.rule = attrs[pubsub.PMSGDLV]
	}
	matched, err := c.sendPublication(op, h, p)
	if err != nil {
		return err
	}
	now := c.m.opt.Clock.Now()
	h.topic.pub.Published(now)
	c.m.look.published(h.topic.topic, now)
	output(md, &head.md)
	pmo.ResolvedQName, pmo.ResolvedQMgrName = "", c.m.opt.Name
	pmo.KnownDestCount, pmo.UnknownDestCount, pmo.InvalidDestCount = 1, 0, 0
	if matched == 0 && pmo.Options&mqi.MQPMO_WARN_IF_NO_SUBS_MATCHED != 0 {
		warn = mqi.MQRC_NO_SUBS_MATCHED
	}
	if warn != 0 {
		return mqi.Warn(op, h.name, warn)
	}
	return nil
}

// reportsNeedReply are the report options that cannot be without a reply-to queue.
const reportsNeedReply = mqi.MQRO_EXCEPTION | mqi.MQRO_EXPIRATION | mqi.MQRO_COA | mqi.MQRO_COD | mqi.MQRO_PAN | mqi.MQRO_NAN |
	mqi.MQRO_ACTIVITY

// checkPublish are the checks that only a publication has.
func (c *Conn) checkPublish(h *handle, md *mqi.MD, pmo *mqi.PMO, n int) mqi.RC {
	const grouped = mqi.MQMF_MSG_IN_GROUP | mqi.MQMF_LAST_MSG_IN_GROUP | mqi.MQMF_SEGMENT | mqi.MQMF_LAST_SEGMENT
	switch {
	case h.check() != 0:
		return h.check()
	case c.m.pubsubOff():
		return mqi.MQRC_PUBSUB_INHIBITED
	case h.res.putAllowed() != 0: // of the alias
		return h.res.putAllowed()
	case md.Version >= 2 && md.MsgFlags&grouped != 0:
		return mqi.MQRC_MSG_NOT_ALLOWED_IN_GROUP
	case pmo.Options&mqi.MQPMO_SUPPRESS_REPLYTO != 0 && md.Report&reportsNeedReply != 0:
		return mqi.MQRC_MISSING_REPLY_TO_Q
	case pmo.Version >= 3 && (pmo.PubLevel < 0 || pmo.PubLevel > pubsub.MaxSubLevel):
		return mqi.MQRC_PMO_ERROR
	case n > c.m.limits().maxMsgL:
		return mqi.MQRC_MSG_TOO_BIG_FOR_Q_MGR
	}
	return 0
}

// completePublication fills what the queue manager and the topic decide.
func (c *Conn) completePublication(head *msgHead, pmo *mqi.PMO, attrs *pubsub.Attrs) {
	md := &head.md
	now := c.m.opt.Clock.Now()
	if pmo.Options&mqi.MQPMO_NEW_MSG_ID != 0 || md.MsgID.IsZero() {
		md.MsgID = c.m.newID("AMQ ")
	}
	if pmo.Options&mqi.MQPMO_NEW_CORREL_ID != 0 {
		md.CorrelID = c.m.newID("AMQ ")
	}
	if md.Priority == mqi.MQPRI_PRIORITY_AS_TOPIC_DEF {
		n, err := strconv.Atoi(attrs[pubsub.DEFPRTY])
		if err != nil || n < 0 || n > 9 {
			n = 0
		}
		md.Priority = int32(n)
	}
	if md.Persistence == mqi.MQPER_PERSISTENCE_AS_TOPIC_DEF {
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
		if attrs[pubsub.DEFPSIST] == "YES" {
			md.Persistence = mqi.MQPER_PERSISTENT
		}
	}
	c.characters(md)
	if n, err := strconv.Atoi(attrs[pubsub.CAPEXPRY]); err == nil && n > 0 && (md.Expiry < 0 || int(md.Expiry) > n) {
		md.Expiry = int32(n)
	}
	c.replyTo(md)
	md.GroupID, md.MsgSeqNumber, md.Offset, md.OriginalLength = mqi.ID{}, 1, 0, -1
	md.MsgFlags &= mqi.MQMF_SEGMENTATION_ALLOWED
	if md.Version < 2 {
		md.MsgFlags = 0
	}
	md.BackoutCount = 0
	head.putNanos = now.UnixNano()
	head.expire = expiryAt(now, md.Expiry)
	head.deliver = deliverAt(md.Priority)
}
