package qmgr

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// refreshConfig runs REFRESH QMGR TYPE(CONFIGEV): a Refresh Object event for each object that OBJECT, NAME and INCLINT
// choose, so that a monitor which missed events is up to date again.
func (x *exec) refreshConfig() *attr.Reply {
	m := x.m
	if m.qmgrDef().Get("CONFIGEV") != "ENABLED" {
		return conflict(mqi.MQRCCF_COMMAND_INHIBITED, m.opt.Name, "configuration events are off: ALTER QMGR CONFIGEV(ENABLED) first")
	}
	name, ok := x.c.Get("NAME")
	if !ok || blank(name) {
		name = "*"
	}
	since := x.changedSince()
	found := 0
	for _, class := range slices.Sorted(maps.Keys(objectTypes)) {
		pattern := name
		if class == ClassQmgr {
			if !generic(name, m.opt.Name) {
				continue
			}
			pattern = qmgrName
		}
		for _, o := range m.list(pattern, class) {
			d := o.Def()
			if d == nil || !x.refreshes(class, d.Kind) || d.Get("ALTDATE")+d.Get("ALTTIME") < since {
				continue
			}
			m.configRefresh(x, class, d)
			found++
		}
	}
	if found == 0 && name != "*" && since == "" {
		return failed(mqi.MQRC_UNKNOWN_OBJECT_NAME, msgNotFound, name)
	}
	return x.success(m.opt.Name)
}

// changedSince is the earliest date and time of alteration that INCLINT, in minutes, lets through; "" is any.
func (x *exec) changedSince() string {
	v, _ := x.c.Get("INCLINT")
	n, err := strconv.Atoi(v)
	if err != nil || n <= 0 {
		return ""
	}
	t := x.m.opt.Clock.Now().Add(-time.Duration(n) * time.Minute)
	return mqDate(t) + mqTime(t)
}

// refreshes reports whether OBJECT means a kind.
func (x *exec) refreshes(class Class, k attr.Kind) bool {
	switch want, _ := x.c.Get("OBJECT"); want {
	case "", "ALL":
		return true
	case "CHANNEL":
		return class == ClassChannel || class == ClassClntconn
	case string(class):
		return true
	default:
		return want == string(k)
	}
}

func (m *Manager) configRefresh(x *exec, class Class, d *Def) {
	t := objectTypes[class]
	m.raise(configEventQueue, mqi.CFMsg{Type: mqi.MQCFT_EVENT, Version: mqi.MQCFH_VERSION_2, Command: mqi.MQCMD_CONFIG_EVENT,
		MsgSeqNumber: 1, Control: mqi.MQCFC_LAST, CompCode: mqi.CCWarning, Reason: mqi.MQRC_CONFIG_REFRESH_OBJECT,
		Params: append([]mqi.CFParam{
			mqi.CFString(mqi.MQCACF_EVENT_USER_ID, strings.TrimSpace(x.id.User)),
			mqi.CFInt(mqi.MQIACF_EVENT_ORIGIN, x.origin()),
			mqi.CFString(mqi.MQCACF_EVENT_Q_MGR, m.opt.Name),
			mqi.CFInt(mqi.MQIACF_OBJECT_TYPE, t.typ),
		}, defParams(d, t.name)...)})
}
