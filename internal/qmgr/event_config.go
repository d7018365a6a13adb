package qmgr

import (
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// change is what a unit does to one object: old is nil when it is created, now when it is deleted.
type change struct {
	o        *Object
	old, now *Def
}

// objectTypes are MQOT_* of the classes that configuration events tell about, with the parameter of the name.
var objectTypes = map[Class]struct{ typ, name int32 }{
	ClassQueue:    {mqi.MQOT_Q, mqi.MQCA_Q_NAME},
	ClassNamelist: {mqi.MQOT_NAMELIST, mqi.MQCA_NAMELIST_NAME},
	ClassProcess:  {mqi.MQOT_PROCESS, mqi.MQCA_PROCESS_NAME},
	ClassQmgr:     {mqi.MQOT_Q_MGR, mqi.MQCA_Q_MGR_NAME},
	ClassChannel:  {mqi.MQOT_CHANNEL, mqi.MQCACH_CHANNEL_NAME},
	ClassClntconn: {mqi.MQOT_CHANNEL, mqi.MQCACH_CHANNEL_NAME},
	ClassAuthinfo: {mqi.MQOT_AUTH_INFO, mqi.MQCA_AUTH_INFO_NAME},
	ClassTopic:    {mqi.MQOT_TOPIC, mqi.MQCA_TOPIC_NAME},
	ClassComminfo: {mqi.MQOT_COMM_INFO, mqi.MQCA_COMM_INFO_NAME},
	ClassListener: {mqi.MQOT_LISTENER, mqi.MQCACH_LISTENER_NAME},
	ClassService:  {mqi.MQOT_SERVICE, mqi.MQCA_SERVICE_NAME},
}

// origin is where a command or change comes from.
func (x *exec) origin() int32 {
	switch {
	case x.c == nil && x.id.User == "":
		return mqi.MQEVO_INTERNAL
	case x.c == nil:
		return mqi.MQEVO_MQSET
	case strings.HasPrefix(x.id.Origin, "channel"), x.id.Origin == OriginCommandQueue:
		return mqi.MQEVO_MSG
	case x.id.Origin == "qmgr":
		return mqi.MQEVO_INIT
	}
	return mqi.MQEVO_CONSOLE
}

// changed does what changes of objects cause, after they are in force and nothing is latched for them: configuration
// events, and trigger messages for what queues hold already.
func (m *Manager) changed(u *unit, err error) {
	if err != nil {
		return
	}
	if m.eventCfg().config {
		for i := range u.changes {
			m.configEvent(u, &u.changes[i])
		}
	}
	for _, c := range u.changes {
		if c.o.Class == ClassQmgr && c.old != nil && c.old.Get("STATINT") != c.now.Get("STATINT") {
			m.restartStats()
		}
		if c.old != nil && c.now != nil && c.o.Queue != nil {
			m.queueChanged(c.o.Queue, c.old, c.now)
		}
	}
}

// configEvent raises Create, Change (before and after) or Delete Object.
func (m *Manager) configEvent(u *unit, c *change) {
	t, ok := objectTypes[c.o.Class]
	if !ok {
		return
	}
	message := func(rc mqi.RC, seq, control int32, d *Def) mqi.CFMsg {
		p := []mqi.CFParam{
			mqi.CFString(mqi.MQCACF_EVENT_USER_ID, u.id.User),
			mqi.CFInt(mqi.MQIACF_EVENT_ORIGIN, u.origin),
			mqi.CFString(mqi.MQCACF_EVENT_Q_MGR, m.opt.Name),
			mqi.CFInt(mqi.MQIACF_OBJECT_TYPE, t.typ),
		}
		return mqi.CFMsg{Type: mqi.MQCFT_EVENT, Version: mqi.MQCFH_VERSION_2, Command: mqi.MQCMD_CONFIG_EVENT,
			MsgSeqNumber: seq, Control: control, CompCode: mqi.CCWarning, Reason: rc,
			Params: append(p, defParams(d, t.name)...)}
	}
	switch {
	case c.old == nil:
		m.raise(configEventQueue, message(mqi.MQRC_CONFIG_CREATE_OBJECT, 1, mqi.MQCFC_LAST, c.now))
	case c.now == nil:
		m.raise(configEventQueue, message(mqi.MQRC_CONFIG_DELETE_OBJECT, 1, mqi.MQCFC_LAST, c.old))
	default:
		m.putPCF(configEventQueue, mqi.MQFMT_EVENT,
			message(mqi.MQRC_CONFIG_CHANGE_OBJECT, 1, mqi.MQCFC_NOT_LAST, c.old),
			message(mqi.MQRC_CONFIG_CHANGE_OBJECT, 2, mqi.MQCFC_LAST, c.now))
	}
}

// defParams are a definition's name and attributes in PCF. What is secret stays out.
func defParams(d *Def, nameID int32) []mqi.CFParam {
	out := []mqi.CFParam{mqi.CFString(nameID, d.Name)}
	if d.Kind == "QMGR" {
		out = nil // QMNAME is among the attributes
	}
	for i := range d.Schema.Attrs {
		a := &d.Schema.Attrs[i]
		if a.ID == 0 || a.Hidden || a.Positional || a.ZOS || a.Define == attr.Option || a.Alter == attr.Option {
			continue
		}
		if p, ok := attrParam(a, d.val(i)); ok {
			out = append(out, p)
		}
	}
	return out
}

// attrParam is one attribute's value as a parameter; false for values PCF has no form for here.
func attrParam(a *attr.Attr, val string) (mqi.CFParam, bool) {
	switch a.Type {
	case attr.TEnum, attr.TFlag, attr.TInt, attr.TIntOrEnum:
		if e, ok := a.EnumByWord(val); ok && e.HasNum {
			return mqi.CFInt(a.ID, e.Num), true
		}
		n, err := strconv.ParseInt(val, 10, 32)
		return mqi.CFInt(a.ID, int32(n)), err == nil
	case attr.TListName, attr.TListString:
		if val == "" {
			return mqi.CFStrings(a.ID), true
		}
		return mqi.CFStrings(a.ID, strings.Split(val, attr.ListSep)...), true
	case attr.TName, attr.TString, attr.TDate, attr.TTime:
		return mqi.CFString(a.ID, val), true
	}
	return mqi.CFParam{}, false
}

// commandDone raises the command event of a command that has succeeded.
func (m *Manager) commandDone(p *Pending) {
	x := p.cmd
	if x == nil || p.reply == nil || p.reply.Failed() {
		return
	}
	switch m.eventCfg().command {
	case "ENABLED":
	case "NODISPLAY":
		if x.c.Verb == "DISPLAY" {
			return
		}
	default:
		return
	}
	number := int32(mqi.MQCMD_NONE)
	if x.c.Spec != nil && x.c.Spec.PCFNum != 0 {
		number = x.c.Spec.PCFNum
	}
	m.raise(commandEventQueue, mqi.CFMsg{Type: mqi.MQCFT_EVENT, Version: mqi.MQCFH_VERSION_3,
		Command: mqi.MQCMD_COMMAND_EVENT, MsgSeqNumber: 1, Control: mqi.MQCFC_LAST, CompCode: mqi.CCWarning,
		Reason: mqi.MQRC_COMMAND_MQSC, Params: []mqi.CFParam{
			mqi.CFGroup(mqi.MQGACF_COMMAND_CONTEXT,
				mqi.CFString(mqi.MQCACF_EVENT_USER_ID, x.id.User),
				mqi.CFInt(mqi.MQIACF_EVENT_ORIGIN, x.origin()),
				mqi.CFString(mqi.MQCACF_EVENT_Q_MGR, m.opt.Name),
				mqi.CFInt(mqi.MQIACF_COMMAND, number)),
			mqi.CFGroup(mqi.MQGACF_COMMAND_DATA, mqi.CFString(mqi.MQCACF_COMMAND_MQSC, mqsc.ShownText(x.c))),
		}})
}
