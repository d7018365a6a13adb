package qmgr

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/pubsub/selector"
)

// The checks of MQSUB.

const subKnown = mqi.MQSO_ALTER | mqi.MQSO_CREATE | mqi.MQSO_RESUME | mqi.MQSO_DURABLE | mqi.MQSO_GROUP_SUB | mqi.MQSO_MANAGED |
	mqi.MQSO_SET_IDENTITY_CONTEXT | mqi.MQSO_NO_MULTICAST | mqi.MQSO_FIXED_USERID | mqi.MQSO_ANY_USERID |
	mqi.MQSO_PUBLICATIONS_ON_REQUEST | mqi.MQSO_NEW_PUBLICATIONS_ONLY | mqi.MQSO_FAIL_IF_QUIESCING |
	mqi.MQSO_ALTERNATE_USER_AUTHORITY | mqi.MQSO_WILDCARD_CHAR | mqi.MQSO_WILDCARD_TOPIC | mqi.MQSO_SET_CORREL_ID |
	mqi.MQSO_SCOPE_QMGR | mqi.MQSO_NO_READ_AHEAD | mqi.MQSO_READ_AHEAD

// durableStore is the queue by which an operator stops the making of durable subscriptions.
const durableStore = "SYSTEM.DURABLE.SUBSCRIBER.QUEUE"

// checkSubOptions checks MQSO_* for themselves.
func checkSubOptions(o int32) mqi.RC {
	both := func(a, b int32) bool { return o&a != 0 && o&b != 0 }
	switch {
	case o&^subKnown != 0,
		o&(mqi.MQSO_CREATE|mqi.MQSO_RESUME|mqi.MQSO_ALTER) == 0,
		both(mqi.MQSO_WILDCARD_CHAR, mqi.MQSO_WILDCARD_TOPIC),
		both(mqi.MQSO_ANY_USERID, mqi.MQSO_FIXED_USERID),
		both(mqi.MQSO_READ_AHEAD, mqi.MQSO_NO_READ_AHEAD),
		both(mqi.MQSO_GROUP_SUB, mqi.MQSO_MANAGED),
		o&mqi.MQSO_GROUP_SUB != 0 && o&mqi.MQSO_SET_CORREL_ID == 0,
		both(mqi.MQSO_NEW_PUBLICATIONS_ONLY, mqi.MQSO_PUBLICATIONS_ON_REQUEST),
		o&mqi.MQSO_NEW_PUBLICATIONS_ONLY != 0 && o&mqi.MQSO_CREATE == 0:
		return mqi.MQRC_OPTIONS_ERROR
	}
	return 0
}

// check is what can be said before it is known whether the subscription exists.
func (s *subscribing) check() mqi.RC {
	sd, m := s.sd, s.m
	if sd.Version != 1 {
		return mqi.MQRC_SD_ERROR
	}
	if rc := checkSubOptions(sd.Options); rc != 0 {
		return rc
	}
	durable := s.asks(mqi.MQSO_DURABLE)
	named := strings.TrimRight(sd.SubName, " \x00") != ""
	switch {
	case m.pubsubOff():
		return mqi.MQRC_PUBSUB_INHIBITED
	case s.asks(mqi.MQSO_FAIL_IF_QUIESCING) && s.c.quiescing() != 0:
		return s.c.quiescing()
	case tooLong(sd.SubName, mqi.MQ_SUB_NAME_LENGTH), !named && (durable || !s.asks(mqi.MQSO_CREATE)):
		return mqi.MQRC_SUB_NAME_ERROR
	case strings.TrimRight(sd.SubName, " ") == templateSub:
		return mqi.MQRC_INVALID_SUBSCRIPTION
	case tooLong(sd.SubUserData, mqi.MQ_USER_DATA_LENGTH):
		return mqi.MQRC_SUB_USER_DATA_ERROR
	case sd.SubExpiry != mqi.MQEI_UNLIMITED && sd.SubExpiry <= 0:
		return mqi.MQRC_EXPIRY_ERROR
	case sd.PubPriority != mqi.MQPRI_PRIORITY_AS_PUBLISHED && sd.PubPriority != mqi.MQPRI_PRIORITY_AS_Q_DEF &&
		(sd.PubPriority < 0 || sd.PubPriority > 9):
		return mqi.MQRC_PRIORITY_ERROR
	case sd.SubLevel < 0 || sd.SubLevel > pubsub.MaxSubLevel:
		return mqi.MQRC_SD_ERROR
	case s.asks(mqi.MQSO_PUBLICATIONS_ON_REQUEST) && sd.SubLevel > retainedLevel:
		return mqi.MQRC_OPTIONS_ERROR
	}
	s.scheme = pubsub.SchemeTopic
	if s.asks(mqi.MQSO_WILDCARD_CHAR) {
		s.scheme = pubsub.SchemeChar
	}
	n := s.c.openCount() + 1
	if s.asks(mqi.MQSO_MANAGED) {
		n++
	}
	if n > numAttr(m.qmgrDef(), "MAXHANDS", 256) {
		return mqi.MQRC_HANDLE_NOT_AVAILABLE
	}
	return s.checkTopic()
}

// checkTopic finds the full topic string. To resume a subscription none need be given.
func (s *subscribing) checkTopic() mqi.RC {
	sd := s.sd
	if !s.asks(mqi.MQSO_CREATE) && (!s.describes() || blank(sd.ObjectName) && sd.ObjectString == "") {
		return 0
	}
	var err error
	if s.full, _, err = s.m.topicOf(sd.ObjectName, sd.ObjectString); err != nil {
		return pubsubRC(err)
	}
	if s.filter, err = pubsub.ParseFilter(s.full, s.scheme); err != nil {
		return pubsubRC(err)
	}
	return 0
}

// checkCreate are the rules for a new subscription.
func (s *subscribing) checkCreate() mqi.RC {
	m := s.m
	if s.asks(mqi.MQSO_GROUP_SUB) && s.sd.SubCorrelID.IsZero() {
		return mqi.MQRC_OPTIONS_ERROR // nothing to know the group by
	}
	if no := m.newSubStopped(s.full, s.asks(mqi.MQSO_DURABLE)); no != nil {
		return no.rc
	}
	if rc := checkSelector(s.sd.SelectionString); rc != 0 {
		return rc
	}
	if !s.asks(mqi.MQSO_NEW_PUBLICATIONS_ONLY | mqi.MQSO_PUBLICATIONS_ON_REQUEST) {
		return m.retainedReadable()
	}
	return 0
}

// subStop is a switch that keeps a new subscription from being made.
type subStop struct {
	rc           mqi.RC
	object, attr string // what an operator turned off, and where
}

// newSubStopped finds what stops a new subscription to a topic, nil for nothing. MQSUB and DEFINE SUB ask alike.
func (m *Manager) newSubStopped(full string, durable bool) *subStop {
	if m.pubsubOff() {
		return &subStop{mqi.MQRC_PUBSUB_INHIBITED, "queue manager " + m.opt.Name, "PSMODE(DISABLED)"}
	}
	attrs := m.topics.tree.ResolveAll(full)
	by := func(rc mqi.RC, a pubsub.Attr, shown string) *subStop {
		name := m.topics.tree.Origin(full, a)
		if name == "" {
			name = "SYSTEM.BASE.TOPIC"
		}
		return &subStop{rc, "topic object " + name, shown}
	}
	switch {
	case attrs[pubsub.SUB] == "DISABLED":
		return by(mqi.MQRC_SUB_INHIBITED, pubsub.SUB, "SUB(DISABLED)")
	case attrs[pubsub.MCAST] == "ONLY":
		return by(mqi.MQRC_MULTICAST_ONLY, pubsub.MCAST, "MCAST(ONLY)")
	case !durable:
		return nil
	case attrs[pubsub.DURSUB] == "NO":
		return by(mqi.MQRC_DURABILITY_NOT_ALLOWED, pubsub.DURSUB, "DURSUB(NO)")
	}
	if why := m.noDurableRoom(); why != "" {
		return &subStop{mqi.MQRC_DURABILITY_NOT_ALLOWED, "queue " + durableStore, why}
	}
	return nil
}

// noDurableRoom tells why no durable subscription may be made, "" when one may.
func (m *Manager) noDurableRoom() string {
	o := m.lookup(ClassQueue, durableStore)
	if o == nil || o.Queue == nil {
		return "missing: DEFINE it"
	}
	switch cfg := o.Queue.cfg.Load(); {
	case cfg.putInhibited:
		return "PUT(DISABLED)"
	case o.Queue.shownDepth() >= cfg.maxDepth:
		return "full at MAXDEPTH(" + strconv.Itoa(cfg.maxDepth) + ")"
	}
	return ""
}

func checkSelector(text string) mqi.RC {
	_, err := selector.Parse(text)
	if err == nil {
		return 0
	}
	var e *selector.Error
	if errors.As(err, &e) {
		return mqi.RC(e.RC)
	}
	return mqi.MQRC_SELECTOR_SYNTAX_ERROR
}

// tooLong counts characters.
func tooLong(s string, most int) bool { return len(s) > most && utf8.RuneCountInString(s) > most }
