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
	perfmEventQueue   = "SYSTEM.ADMIN.PERFM.EVENT"
	qmgrEventQueue    = "SYSTEM.ADMIN.QMGR.EVENT"
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

	perfm, inhibit, local, remote, authority, startStop, config bool
	command                                                     string

	statMQI, acctMQI bool
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
		authority: on("AUTHOREV"), startStop: on("STRSTPEV"), config: on("CONFIGEV"), command: d.Get("CMDEV"),
		statMQI: d.Get("STATMQI") == "ON", acctMQI: d.Get("ACCTMQI") == "ON", statQ: d.Get("STATQ"), acctQ: d.Get("ACCTQ")}
	m.ev.cfg.Store(c)
	return c
}

// ownHead is the descriptor of a message the queue manager makes itself, with the defaults of the queue it is for.
func (m *Manager) ownHead(queue, format string) (*msgHead, mqi.RC) {
	now := m.opt.Clock.Now()
	h := &msgHead{md: mqi.DefaultMD(), putNanos: now.UnixNano()}
	md := &h.md
	md.MsgID = m.newID("AMQ ")
	md.Format, md.CodedCharSetID = format, m.ccsid()
	md.ReplyToQMgr = m.opt.Name
	md.PutApplType, md.PutApplName = mqi.MQAT_QMGR, cut(m.opt.Name, mqi.MQ_PUT_APPL_NAME_LENGTH)
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
		m.giveBack(u)
		m.opt.Log.Debug().Str("qmgr", m.opt.Name).Str("queue", queue).Int32("rc", int32(rc)).Msg("event message dropped")
		return
	}
	if err := m.commit(u); err != nil {
		m.opt.Log.Warn().Err(err).Str("qmgr", m.opt.Name).Str("queue", queue).Msg("event message dropped")
	}
}

// qmgrEvent raises an event of the queue manager.
func (m *Manager) qmgrEvent(rc mqi.RC, params ...mqi.CFParam) {
	params = append([]mqi.CFParam{mqi.CFString(mqi.MQCA_Q_MGR_NAME, m.opt.Name)}, params...)
	m.raise(qmgrEventQueue, mqi.CFMsg{Type: mqi.MQCFT_EVENT, Version: mqi.MQCFH_VERSION_1, Command: mqi.MQCMD_Q_MGR_EVENT,
		MsgSeqNumber: 1, Control: mqi.MQCFC_LAST, CompCode: mqi.CCWarning, Reason: rc, Params: params})
}

// startEvents tells that the queue manager works, and starts the statistics interval.
func (m *Manager) startEvents() {
	if m.eventCfg().startStop {
		m.qmgrEvent(mqi.MQRC_Q_MGR_ACTIVE)
	}
	m.startStats()
}

// stopEvents tells that the queue manager ends; the last statistics go out.
func (m *Manager) stopEvents(mode store.StopMode) {
	m.stopStats()
	if !m.eventCfg().startStop {
		return
	}
	why := int32(mqi.MQRQ_Q_MGR_STOPPING)
	if mode == store.Quiesce {
		why = mqi.MQRQ_Q_MGR_QUIESCING
	}
	m.qmgrEvent(mqi.MQRC_Q_MGR_NOT_ACTIVE, mqi.CFInt(mqi.MQIACF_REASON_QUALIFIER, why))
}

// applParams name the application an event is about.
func (c *Conn) applParams() []mqi.CFParam {
	p := []mqi.CFParam{mqi.CFInt(mqi.MQIA_APPL_TYPE, c.opt.ApplType), mqi.CFString(mqi.MQCACF_APPL_NAME, c.opt.ApplName)}
	if c.opt.Channel != "" {
		p = append(p, mqi.CFString(mqi.MQCACH_CONNECTION_NAME, c.opt.ConnName),
			mqi.CFString(mqi.MQCACH_CHANNEL_NAME, c.opt.Channel))
	}
	return p
}

// inhibited raises Put Inhibited or Get Inhibited.
func (c *Conn) inhibited(name string, rc mqi.RC) {
	if !c.m.eventCfg().inhibit {
		return
	}
	c.m.qmgrEvent(rc, append([]mqi.CFParam{mqi.CFString(mqi.MQCA_Q_NAME, name)}, c.applParams()...)...)
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
	cfg := c.m.eventCfg()
	if !(cfg.local && localReasons[rc] || cfg.remote && remoteReasons[rc]) {
		return
	}
	p := []mqi.CFParam{mqi.CFString(mqi.MQCA_Q_NAME, od.ObjectName)}
	name, kind := c.m.culprit(od, rc)
	switch rc {
	case mqi.MQRC_UNKNOWN_ALIAS_BASE_Q, mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR:
		p = append(p, mqi.CFString(mqi.MQCA_BASE_OBJECT_NAME, name))
	case mqi.MQRC_UNKNOWN_REMOTE_Q_MGR, mqi.MQRC_UNKNOWN_OBJECT_NAME, mqi.MQRC_REMOTE_Q_NAME_ERROR:
	default:
		p = append(p, mqi.CFString(mqi.MQCA_XMIT_Q_NAME, name))
	}
	switch rc {
	case mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR, mqi.MQRC_XMIT_Q_TYPE_ERROR, mqi.MQRC_DEF_XMIT_Q_TYPE_ERROR:
		p = append(p, mqi.CFInt(mqi.MQIA_Q_TYPE, kind))
	}
	p = append(p, c.applParams()...)
	if od.ObjectQMgrName != "" {
		p = append(p, mqi.CFString(mqi.MQCACF_OBJECT_Q_MGR_NAME, od.ObjectQMgrName))
	}
	c.m.qmgrEvent(rc, p...)
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

// Refusal is a connect, open or close that authority did not allow.
type Refusal struct {
	Qualifier int32 // MQRQ_CONN_NOT_AUTHORIZED, MQRQ_OPEN_NOT_AUTHORIZED …
	User      string
	ApplType  int32
	ApplName  string
	Queue     string // of an open or close
	QMgr      string // ObjectQMgrName as given
	Options   int32  // of an open or close
}

// NotAuthorized raises a Not Authorized event for what a door or a verb refused with 2035.
func (m *Manager) NotAuthorized(r Refusal) {
	if !m.eventCfg().authority {
		return
	}
	p := []mqi.CFParam{mqi.CFInt(mqi.MQIACF_REASON_QUALIFIER, r.Qualifier)}
	if r.Queue != "" {
		p = append(p, mqi.CFString(mqi.MQCA_Q_NAME, r.Queue), mqi.CFInt(mqi.MQIACF_OPEN_OPTIONS, r.Options))
	}
	p = append(p, mqi.CFString(mqi.MQCACF_USER_IDENTIFIER, r.User), mqi.CFInt(mqi.MQIA_APPL_TYPE, r.ApplType),
		mqi.CFString(mqi.MQCACF_APPL_NAME, r.ApplName))
	if r.QMgr != "" {
		p = append(p, mqi.CFString(mqi.MQCACF_OBJECT_Q_MGR_NAME, r.QMgr))
	}
	m.qmgrEvent(mqi.MQRC_NOT_AUTHORIZED, p...)
}
