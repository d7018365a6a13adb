package qmgr

import (
	"slices"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// handlers are the commands that are more than DEFINE, ALTER and DELETE of an object.
var handlers map[string]func(*exec) *attr.Reply

func init() {
	handlers = map[string]func(*exec) *attr.Reply{
		"ALTER QMGR":       (*exec).alterQmgr,
		"CLEAR QLOCAL":     (*exec).clearQueue,
		"CLEAR TOPICSTR":   (*exec).clearTopicStr,
		"DELETE AUTHREC":   (*exec).deleteAuthrec,
		"SET AUTHREC":      (*exec).setAuthrec,
		"SET CHLAUTH":      (*exec).setChlauth,
		"PING QMGR":        (*exec).accepted,
		"REFRESH SECURITY": (*exec).refreshSecurity,
		"REFRESH QMGR":     (*exec).refreshQmgr,
		"RESET QMGR":       (*exec).resetQmgr,
		"START LISTENER":   (*exec).startListener,
		"STOP LISTENER":    (*exec).stopListener,
		"START SERVICE":    (*exec).startService,
		"STOP SERVICE":     (*exec).stopService,
		"STOP CONN":        (*exec).stopConnection,

		"START CHANNEL":   (*exec).startChannel,
		"STOP CHANNEL":    (*exec).stopChannel,
		"PING CHANNEL":    (*exec).channelCommand,
		"RESET CHANNEL":   (*exec).channelCommand,
		"RESOLVE CHANNEL": (*exec).channelCommand,
		"PURGE CHANNEL":   (*exec).channelCommand,

		"DISPLAY AUTHREC":  (*exec).displayAuthrec,
		"DISPLAY AUTHSERV": (*exec).displayAuthserv,
		"DISPLAY CHLAUTH":  (*exec).displayChlauth,
		"DISPLAY CHSTATUS": (*exec).displayChstatus,
		"DISPLAY CONN":     (*exec).displayConn,
		"DISPLAY ENTAUTH":  (*exec).displayEntauth,
		"DISPLAY LSSTATUS": (*exec).displayLsstatus,
		"DISPLAY PUBSUB":   (*exec).displayPubsub,
		"DISPLAY QMSTATUS": (*exec).displayQmstatus,
		"DISPLAY QSTATUS":  (*exec).displayQstatus,
		"DISPLAY SBSTATUS": (*exec).displaySbstatus,
		"DISPLAY SVSTATUS": (*exec).displaySvstatus,
		"DISPLAY TPSTATUS": (*exec).displayTpstatus,

		// Nothing of these is built, so there is nothing to find.
		"DISPLAY APSTATUS": nothing(mqi.MQRCCF_APPL_STATUS_NOT_FOUND, msgNoApplStatus),
		"DISPLAY CLUSQMGR": nothing(mqi.MQRCCF_NONE_FOUND, msgNoClusQmgr),
		"DISPLAY TCLUSTER": nothing(mqi.MQRC_UNKNOWN_OBJECT_NAME, msgNotFound),
		"DISPLAY POLICY":   nothing(mqi.MQRCCF_POLICY_NOT_FOUND, msgNotFound),
		"DISPLAY CFSTATUS": (*exec).needsGroup,
		"DISPLAY GROUP":    (*exec).needsGroup,
	}
	for object := range displaySpecs {
		handlers["DISPLAY "+object] = (*exec).displayDefs
	}
}

// nothing answers a DISPLAY of something that no queue manager of this release has.
func nothing(rc mqi.RC, id string) func(*exec) *attr.Reply {
	return func(x *exec) *attr.Reply { return failed(rc, id, x.c.Name) }
}

// accepted answers a command whose success needs no work: that it was executed is what was asked.
func (x *exec) accepted() *attr.Reply { return x.success(x.m.opt.Name) }

// commandText is the command's words and name, for messages.
func (x *exec) commandText() string {
	s := x.c.Verb + " " + x.c.Object
	if x.c.Name != "" {
		s += "(" + x.c.Name + ")"
	}
	return s
}

// refuseForeign answers the commands that only the vendor's product on z/OS has, and CMDSCOPE, which sends a command
// to other members of a queue-sharing group.
func (x *exec) refuseForeign() *attr.Reply {
	if s := x.c.Spec; s != nil && s.Priority == 3 {
		return failed(mqi.MQRCCF_COMMAND_FAILED, msgOtherPlatform, x.commandText())
	}
	if v, ok := x.c.Get("CMDSCOPE"); ok && !blank(v) && v != x.m.opt.Name {
		return failed(mqi.MQRCCF_Q_MGR_NOT_IN_QSG, msgNeedsGroup, "CMDSCOPE("+v+")")
	}
	return nil
}

// refuseDisposition answers commands on shared objects.
func (x *exec) refuseDisposition() *attr.Reply {
	switch v, _ := x.c.Get("QSGDISP"); v {
	case "SHARED", "GROUP", "COPY":
		return failed(mqi.MQRCCF_Q_MGR_NOT_IN_QSG, msgNeedsGroup, "QSGDISP("+v+") of "+x.c.Name)
	}
	return nil
}

func (x *exec) needsGroup() *attr.Reply {
	return failed(mqi.MQRCCF_Q_MGR_NOT_IN_QSG, msgNeedsGroup, x.commandText())
}

// notBuilt is the honest answer to what the language has and this release does not.
func (x *exec) notBuilt() *attr.Reply {
	return failed(mqi.MQRCCF_COMMAND_FAILED, msgNotBuilt, x.commandText())
}

// channelCommand runs START, STOP, PING, RESET, RESOLVE and PURGE CHANNEL as far as it goes: the channel must exist
// and be of a type that the command can work on.
func (x *exec) channelCommand() *attr.Reply {
	o, err := x.m.settled(x.ctx, ClassChannel, x.c.Name)
	switch {
	case err != nil:
		return interrupted(err)
	case o == nil:
		return notFoundOf(ClassChannel, x.c.Name)
	}
	if t, ok := x.c.Get("CHLTYPE"); ok && t != "" && t != chlType(o.Def().Kind) {
		return wrongType(o.Name, o.Def().Kind, attr.Kind("CHANNEL("+t+")"))
	}
	if k := chlType(o.Def().Kind); (k == "SVRCONN" || k == "CLNTCONN") && slices.Contains([]string{"PING", "RESET", "RESOLVE"}, x.c.Verb) {
		return failed(mqi.MQRCCF_CHANNEL_TYPE_ERROR, msgChannelKind, o.Name)
	}
	if x.c.Verb == "STOP" && x.yes("IGNSTATE") {
		return x.success(o.Name) // it does not run
	}
	return failed(mqi.MQRCCF_COMMAND_FAILED, msgNotBuilt, x.commandText()+": message channels")
}

// alterQmgr runs ALTER QMGR.
func (x *exec) alterQmgr() *attr.Reply {
	m := x.m
	objs, err := m.latch(x.ctx, x.p, key{ClassQmgr, qmgrName})
	if err != nil {
		return interrupted(err)
	}
	o := objs[0]
	old := o.Def()
	if old == nil {
		return failed(mqi.MQRC_UNEXPECTED_ERROR, msgUnexpected, "the queue manager has no definition")
	}
	d := old.clone()
	x.apply(d, attrAlter)
	if r := x.check(d, old, o); r != nil {
		return r
	}
	d.stampAltered(m.opt.Clock.Now())
	u := x.p.newUnit(x.success(m.opt.Name))
	m.putObject(u, o, d)
	u.onSwap(func() { m.qmgrChanged(old, d) })
	return x.submit(u)
}

// qmgrChanged tells the parts that keep a copy of a queue manager attribute.
func (m *Manager) qmgrChanged(old, d *Def) {
	if old.Get("TREELIFE") != d.Get("TREELIFE") {
		m.setTreeLife(d)
	}
	name := d.Get("CONNAUTH")
	if name == old.Get("CONNAUTH") || blank(name) {
		return
	}
	if why := m.unusable(name); why != "" {
		m.opt.Log.Warn().Str(obs.FieldAMQ, "AMQ5540W").Str("authinfo", name).
			Msg(why + ": what was in force goes on, but from the next start of the queue manager clients are refused")
	}
}

// refreshQmgr runs REFRESH QMGR. PROXYSUB is true at once: no proxy subscription exists that could be out of step.
func (x *exec) refreshQmgr() *attr.Reply {
	switch typ, _ := x.c.Get("TYPE"); typ {
	case "PROXYSUB":
		return x.success(x.m.opt.Name)
	case "CONFIGEV":
		return x.refreshConfig()
	default:
		return failed(mqi.MQRCCF_COMMAND_FAILED, msgOtherPlatform, "REFRESH QMGR TYPE("+typ+")")
	}
}

// displayAuthserv runs DISPLAY AUTHSERV.
func (x *exec) displayAuthserv() *attr.Reply {
	row := map[string]string{"IFVER": "5", "UIDSUPP": "YES"}
	q := x.request(nil, nil)
	q.all = q.all || len(q.asked) == 0
	return orElse(x.showRows("AUTHSERV", q, []map[string]string{row}), failed(mqi.MQRCCF_NONE_FOUND, msgNotFound, x.m.opt.Name))
}
