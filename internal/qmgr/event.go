package qmgr

import (
	"sync"
	"sync/atomic"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Event messages: PCF messages on the SYSTEM.ADMIN.*.EVENT queues. They are put outside of any unit of work of an
// application, cause no events themselves, and are dropped when their queue does not take them.

const (
	perfmEventQueue   = mqi.PerfmEventQueue
	qmgrEventQueue    = mqi.QMgrEventQueue
	configEventQueue  = "SYSTEM.ADMIN.CONFIG.EVENT"
	commandEventQueue = "SYSTEM.ADMIN.COMMAND.EVENT"
)

// events is the state of event messages, statistics and accounting in a Manager.
type events struct {
	initQs sync.Map // names that are INITQ of a triggering queue, or were
	cfg    atomic.Pointer[eventCfg]
	stats  statsState
}

// eventCfg are the queue manager's attributes that switch events and statistics.
type eventCfg struct {
	def *Def // what they were read from

	perfm, inhibit, local, remote, authority, startStop, config, ssl, autoDef bool
	command, channel                                                          string

	statMQI, acctMQI bool
	acctOverride     bool // ACCTCONO
	statQ, acctQ     string
}

// eventCfg gives the attributes in force.
func (m *Manager) eventCfg() *eventCfg {
	d := m.qmgrDef()
	if c := m.ev.cfg.Load(); c != nil && c.def == d {
		return c
	}
	on := func(k string) bool { return d.Get(k) == "ENABLED" }
	c := &eventCfg{def: d, perfm: on("PERFMEV"), inhibit: on("INHIBTEV"), local: on("LOCALEV"), remote: on("REMOTEEV"),
		authority: on("AUTHOREV"), startStop: on("STRSTPEV"), config: on("CONFIGEV"), ssl: on("SSLEV"), autoDef: on("CHADEV"),
		command: d.Get("CMDEV"), channel: d.Get("CHLEV"),
		statMQI: d.Get("STATMQI") == "ON", acctMQI: d.Get("ACCTMQI") == "ON",
		acctOverride: on("ACCTCONO"), statQ: d.Get("STATQ"), acctQ: d.Get("ACCTQ")}
	m.ev.cfg.Store(c)
	return c
}

// ownHead is the descriptor of a message the queue manager makes itself, with the defaults of the queue it is for.
func (m *Manager) ownHead(queue, format string) (*msgHead, mqi.RC) {
	now := m.opt.Clock.Now()
	h := &msgHead{md: mqi.EventMD(m.opt.Name, m.ccsid()), putNanos: now.UnixNano()}
	md := &h.md
	md.MsgID = m.newID("AMQ ")
	md.Format = format
	md.ReplyToQMgr = m.opt.Name
	md.PutDate, md.PutTime = putDateTime(now)
	md.Priority, md.Persistence = 0, mqi.MQPER_NOT_PERSISTENT
	o := m.lookup(ClassQueue, queue)
	if o == nil {
		return h, mqi.MQRC_UNKNOWN_OBJECT_NAME
	}
	d := o.Def()
	md.Priority = int32(min(numAttr(d, "DEFPRTY", 0), 9))
	if d.Get("DEFPSIST") == "YES" {
		md.Persistence = mqi.MQPER_PERSISTENT
	}
	return h, 0
}

// raise puts event messages with the same reason on an event queue; one, or the before and after of a change.
func (m *Manager) raise(queue string, e mqi.CFMsg) { m.putPCF(queue, mqi.MQFMT_EVENT, e) }

// putPCF puts PCF messages of the queue manager's own, all or none. A queue that cannot take them loses them.
func (m *Manager) putPCF(queue, format string, msgs ...mqi.CFMsg) {
	u := &uow{quiet: true}
	defer m.leftover(u)
	rc := mqi.RC(0)
	for i := range msgs {
		var head *msgHead
		if head, rc = m.ownHead(queue, format); rc != 0 {
			break
		}
		body, err := msgs[i].Append(nil, mqi.NativeCoding(m.ccsid()))
		if err != nil {
			_, rc = mqi.Reason(err)
			break
		}
		if rc = m.putAs(u, queue, "", head, body); rc != 0 {
			break
		}
	}
	if rc != 0 {
		m.withdraw(u)
		m.opt.Log.Debug().Str("qmgr", m.opt.Name).Str("queue", queue).Int32("rc", int32(rc)).Msg("event message dropped")
		return
	}
	if err := m.commit(u); err != nil {
		m.opt.Log.Warn().Err(err).Str("qmgr", m.opt.Name).Str("queue", queue).Msg("event message dropped")
	}
}

// RaiseEvent puts an event message if the queue manager's attributes ask for such events. Doors and movers raise what
// they meet: refusals of authority, events of channels.
func (m *Manager) RaiseEvent(e mqi.Event) {
	if !m.eventCfg().wants(&e) {
		return
	}
	e.QMgr = m.opt.Name
	if msg, queue, ok := e.Message(); ok {
		m.raise(queue, msg)
	}
}

// wants says whether an event is switched on.
func (c *eventCfg) wants(e *mqi.Event) bool {
	switch rc := e.Reason; rc {
	case mqi.MQRC_Q_DEPTH_HIGH, mqi.MQRC_Q_DEPTH_LOW, mqi.MQRC_Q_FULL, mqi.MQRC_Q_SERVICE_INTERVAL_HIGH,
		mqi.MQRC_Q_SERVICE_INTERVAL_OK:
		return c.perfm
	case mqi.MQRC_Q_MGR_ACTIVE, mqi.MQRC_Q_MGR_NOT_ACTIVE:
		return c.startStop
	case mqi.MQRC_GET_INHIBITED, mqi.MQRC_PUT_INHIBITED:
		return c.inhibit
	case mqi.MQRC_NOT_AUTHORIZED:
		return c.authority
	case mqi.MQRC_CHANNEL_AUTO_DEF_OK, mqi.MQRC_CHANNEL_AUTO_DEF_ERROR:
		return c.autoDef
	case mqi.MQRC_CHANNEL_SSL_ERROR:
		return c.ssl
	case mqi.MQRC_CHANNEL_STOPPED:
		// EXCEPTION leaves out what went as it was meant to.
		return c.channel == "ENABLED" || c.channel == "EXCEPTION" && e.Qualifier != mqi.MQRQ_CHANNEL_STOPPED_OK
	case mqi.MQRC_CHANNEL_NOT_ACTIVATED, mqi.MQRC_CHANNEL_CONV_ERROR, mqi.MQRC_CHANNEL_BLOCKED,
		mqi.MQRC_CHANNEL_BLOCKED_WARNING, mqi.MQRC_CHANNEL_NOT_AVAILABLE:
		return c.channel == "ENABLED" || c.channel == "EXCEPTION"
	case mqi.MQRC_CHANNEL_STARTED, mqi.MQRC_CHANNEL_ACTIVATED, mqi.MQRC_CHANNEL_STOPPED_BY_USER:
		return c.channel == "ENABLED"
	default:
		return c.local && localReasons[rc] || c.remote && remoteReasons[rc]
	}
}

// startEvents tells that the queue manager works, and starts the statistics interval.
func (m *Manager) startEvents() {
	m.RaiseEvent(mqi.Event{Reason: mqi.MQRC_Q_MGR_ACTIVE})
	m.startStats()
}

// stopEvents tells that the queue manager ends; the last statistics go out.
func (m *Manager) stopEvents(mode store.StopMode) {
	m.stopStats()
	why := int32(mqi.MQRQ_Q_MGR_STOPPING)
	if mode == store.Quiesce {
		why = mqi.MQRQ_Q_MGR_QUIESCING
	}
	m.RaiseEvent(mqi.Event{Reason: mqi.MQRC_Q_MGR_NOT_ACTIVE, Qualifier: why})
}

// event begins an event about what this application did.
func (c *Conn) event(rc mqi.RC) mqi.Event {
	return mqi.Event{Reason: rc, ApplType: c.opt.ApplType, ApplName: c.opt.ApplName, Channel: c.opt.Channel,
		ConnName: c.opt.ConnName}
}

// inhibited raises Put Inhibited or Get Inhibited.
func (c *Conn) inhibited(name string, rc mqi.RC) {
	e := c.event(rc)
	e.QName = name
	c.m.RaiseEvent(e)
}

// localReasons and remoteReasons are the failed opens that LOCALEV and REMOTEEV report.
var (
	localReasons = map[mqi.RC]bool{mqi.MQRC_UNKNOWN_OBJECT_NAME: true, mqi.MQRC_UNKNOWN_ALIAS_BASE_Q: true,
		mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR: true}
	remoteReasons = map[mqi.RC]bool{mqi.MQRC_UNKNOWN_REMOTE_Q_MGR: true, mqi.MQRC_UNKNOWN_XMIT_Q: true,
		mqi.MQRC_UNKNOWN_DEF_XMIT_Q: true, mqi.MQRC_XMIT_Q_TYPE_ERROR: true, mqi.MQRC_XMIT_Q_USAGE_ERROR: true,
		mqi.MQRC_DEF_XMIT_Q_TYPE_ERROR: true, mqi.MQRC_DEF_XMIT_Q_USAGE_ERROR: true, mqi.MQRC_REMOTE_Q_NAME_ERROR: true}
)

// openRefused raises the event of a name that could not be resolved.
func (c *Conn) openRefused(od *mqi.OD, rc mqi.RC) {
	e := c.event(rc)
	if !c.m.eventCfg().wants(&e) {
		return
	}
	e.QName, e.ObjectQMgr = cut(od.ObjectName, mqi.MQ_Q_NAME_LENGTH), cut(od.ObjectQMgrName, mqi.MQ_Q_MGR_NAME_LENGTH)
	name, kind := c.m.culprit(od, rc)
	e.BaseObject, e.XmitQ, e.QType, e.BaseType = name, name, kind, mqi.MQOT_Q
	c.m.RaiseEvent(e)
}

// queueTypes are MQQT_* of the kinds of queues.
var queueTypes = map[string]int32{"QLOCAL": mqi.MQQT_LOCAL, "QMODEL": mqi.MQQT_MODEL, "QALIAS": mqi.MQQT_ALIAS,
	"QREMOTE": mqi.MQQT_REMOTE}

// culprit is the queue that a name could not be resolved for, with its type: the base of an alias, or the transmission
// queue.
func (m *Manager) culprit(od *mqi.OD, rc mqi.RC) (name string, kind int32) {
	o := m.lookup(ClassQueue, od.ObjectName)
	if od.ObjectQMgrName != "" && od.ObjectQMgrName != m.opt.Name {
		name, o = od.ObjectQMgrName, m.lookup(ClassQueue, od.ObjectQMgrName)
	}
	for o != nil && o.Def().Kind == "QALIAS" {
		name = o.Def().Get("TARGET")
		t := m.lookup(ClassQueue, name)
		if t == nil || t.Def().Kind == "QALIAS" {
			break
		}
		o = t
	}
	if o != nil && o.Def().Kind == "QREMOTE" {
		if name = o.Def().Get("XMITQ"); name == "" {
			name = o.Def().Get("RQMNAME")
		}
	}
	switch rc {
	case mqi.MQRC_UNKNOWN_DEF_XMIT_Q, mqi.MQRC_DEF_XMIT_Q_TYPE_ERROR, mqi.MQRC_DEF_XMIT_Q_USAGE_ERROR:
		name = m.qmgrDef().Get("DEFXMITQ")
	}
	if t := m.lookup(ClassQueue, name); t != nil {
		kind = queueTypes[string(t.Def().Kind)]
	}
	return name, kind
}
