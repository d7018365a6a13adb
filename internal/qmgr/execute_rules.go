package qmgr

import (
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// rule is a condition over several attributes, or over one and the queue manager. It answers nil when it holds.
type rule func(x *exec, d, old *Def, o *Object) *attr.Reply

// check runs the rules of a definition's kind. old is nil for a new object.
func (x *exec) check(d, old *Def, o *Object) *attr.Reply {
	for _, f := range rulesOf(d.Kind) {
		if r := f(x, d, old, o); r != nil {
			return r
		}
	}
	return nil
}

func rulesOf(k attr.Kind) []rule {
	switch {
	case k == "QLOCAL":
		return []rule{ruleGroup, ruleOneCluster, ruleXmitNotClustered, ruleDepthLimits, ruleStream, ruleUsage, ruleNoShare}
	case k == "QMODEL":
		return []rule{ruleGroup, ruleDepthLimits}
	case k == "QALIAS":
		return []rule{ruleGroup, ruleOneCluster, ruleAliasOpen}
	case k == "QREMOTE":
		return []rule{ruleGroup, ruleOneCluster, ruleRemoteOpen}
	case classOf(k) == ClassAuthinfo:
		return []rule{ruleGroup, ruleAuthinfo}
	case isChannel(k):
		return []rule{ruleGroup, ruleConname, ruleXmitq, rulePeer, ruleOneCluster}
	}
	switch k {
	case "TOPIC":
		return []rule{ruleGroup, ruleTopic}
	case "SUB":
		return []rule{ruleSub}
	case "CFSTRUCT":
		return []rule{ruleNeedsGroup}
	case "QMGR":
		return []rule{ruleQmgr}
	}
	return []rule{ruleGroup}
}

// conflict is the refusal of values that do not go together; text says which and what to do.
func conflict(rc mqi.RC, name, text string) *attr.Reply { return failed(rc, msgConflict, name, text) }

// ruleGroup refuses dispositions that only a member of a queue-sharing group can have.
func ruleGroup(x *exec, d, _ *Def, _ *Object) *attr.Reply {
	switch disp := d.Get("QSGDISP"); disp {
	case "", "QMGR":
		return nil
	default:
		return failed(mqi.MQRCCF_Q_MGR_NOT_IN_QSG, msgNeedsGroup, "QSGDISP("+disp+") of "+d.Name)
	}
}

func ruleNeedsGroup(x *exec, d, _ *Def, _ *Object) *attr.Reply {
	return failed(mqi.MQRCCF_Q_MGR_NOT_IN_QSG, msgNeedsGroup, string(d.Kind)+" "+d.Name)
}

func ruleOneCluster(_ *exec, d, _ *Def, _ *Object) *attr.Reply {
	if !blank(d.Get("CLUSTER")) && !blank(d.Get("CLUSNL")) {
		return conflict(mqi.MQRCCF_CLUSTER_NAME_CONFLICT, d.Name, "only one of CLUSTER and CLUSNL may have a value; set the other to ' '")
	}
	return nil
}

func ruleXmitNotClustered(_ *exec, d, _ *Def, _ *Object) *attr.Reply {
	if d.Get("USAGE") == "XMITQ" && !(blank(d.Get("CLUSTER")) && blank(d.Get("CLUSNL"))) {
		return conflict(mqi.MQRCCF_CLUSTER_Q_USAGE_ERROR, d.Name, "a transmission queue cannot be in a cluster")
	}
	return nil
}

func ruleDepthLimits(_ *exec, d, _ *Def, _ *Object) *attr.Reply {
	if d.Int("QDEPTHLO") > d.Int("QDEPTHHI") {
		return conflict(mqi.MQRCCF_Q_ATTR_CONFLICT, d.Name, "QDEPTHLO must not be above QDEPTHHI")
	}
	return nil
}

func ruleStream(_ *exec, d, _ *Def, _ *Object) *attr.Reply {
	if s := d.Get("STREAMQ"); !blank(s) && s == d.Name {
		return conflict(mqi.MQRCCF_Q_ATTR_CONFLICT, d.Name, "STREAMQ cannot name the queue itself")
	}
	return nil
}

// forced reports whether the command may change what is in use: ALTER with FORCE; DEFINE REPLACE never.
func (x *exec) forced() bool { return x.c.Verb == "ALTER" && x.c.Has("FORCE") }

// ruleUsage: a queue that holds messages or is open changes between NORMAL and XMITQ only with FORCE.
func ruleUsage(x *exec, d, old *Def, o *Object) *attr.Reply {
	if old == nil || o.Queue == nil || d.Get("USAGE") == old.Get("USAGE") || x.forced() {
		return nil
	}
	if o.Queue.inUse() || o.Queue.depth() > 0 {
		return failed(mqi.MQRCCF_OBJECT_OPEN, msgInUse, d.Name)
	}
	return nil
}

// ruleNoShare: NOSHARE while more than one handle is open for input needs FORCE.
func ruleNoShare(x *exec, d, old *Def, o *Object) *attr.Reply {
	if old == nil || o.Queue == nil || d.Yes("SHARE") || !old.Yes("SHARE") || x.forced() {
		return nil
	}
	if in, _ := o.Queue.opens(); in > 1 {
		return failed(mqi.MQRCCF_OBJECT_OPEN, msgInUse, d.Name)
	}
	return nil
}

func ruleAliasOpen(x *exec, d, old *Def, _ *Object) *attr.Reply {
	return x.openChange(d, old, "TARGET", "TARGTYPE")
}

func ruleRemoteOpen(x *exec, d, old *Def, _ *Object) *attr.Reply {
	return x.openChange(d, old, "XMITQ")
}

// openChange refuses a change of where a name leads while it is open, unless FORCE is given.
func (x *exec) openChange(d, old *Def, keys ...string) *attr.Reply {
	if old == nil || x.forced() {
		return nil
	}
	for _, k := range keys {
		if d.Get(k) != old.Get(k) && x.m.openedVia(d.Name) > 0 {
			return failed(mqi.MQRCCF_OBJECT_OPEN, msgInUse, d.Name)
		}
	}
	return nil
}

// systemDefault reports whether the object is one that other definitions start from; it may lack what they must have.
func systemDefault(d *Def) bool {
	return strings.HasPrefix(d.Name, "SYSTEM.DEF.") || strings.HasPrefix(d.Name, "SYSTEM.DEFAULT.") || strings.HasPrefix(d.Name, "SYSTEM.AUTO.")
}

func ruleConname(_ *exec, d, _ *Def, _ *Object) *attr.Reply {
	switch chlType(d.Kind) {
	case "SDR", "RQSTR", "CLNTCONN", "CLUSSDR":
		if blank(d.Get("CONNAME")) && !systemDefault(d) {
			return failed(mqi.MQRCCF_MISSING_CONN_NAME, msgConnameNeeded, chlType(d.Kind))
		}
	}
	return nil
}

// rulePeer refuses a distinguished name that cannot be read: no certificate would fit it.
func rulePeer(_ *exec, d, old *Def, _ *Object) *attr.Reply {
	v := d.Get("SSLPEER")
	if blank(v) || old != nil && old.Get("SSLPEER") == v {
		return nil
	}
	if _, ok := auth.ParseDN(v); !ok {
		return conflict(mqi.MQRCCF_SSL_PEER_NAME_ERROR, d.Name, "SSLPEER takes names such as CN=app,O=Example")
	}
	return nil
}

func ruleXmitq(_ *exec, d, _ *Def, _ *Object) *attr.Reply {
	switch chlType(d.Kind) {
	case "SDR", "SVR":
		if blank(d.Get("XMITQ")) && !systemDefault(d) {
			return failed(mqi.MQRCCF_XMIT_Q_NAME_ERROR, msgXmitqNeeded, chlType(d.Kind))
		}
	}
	return nil
}

func ruleAuthinfo(_ *exec, d, _ *Def, _ *Object) *attr.Reply {
	if systemDefault(d) {
		return nil
	}
	switch subtype(d.Kind) {
	case "CRLLDAP", "IDPWLDAP":
		if blank(d.Get("CONNAME")) {
			return conflict(mqi.MQRCCF_PARM_MISSING, d.Name, "AUTHTYPE("+subtype(d.Kind)+") needs CONNAME")
		}
	case "OCSP":
		if blank(d.Get("OCSPURL")) {
			return conflict(mqi.MQRCCF_PARM_MISSING, d.Name, "AUTHTYPE(OCSP) needs OCSPURL")
		}
	}
	return nil
}

func ruleQmgr(x *exec, d, old *Def, _ *Object) *attr.Reply {
	if !blank(d.Get("REPOS")) && !blank(d.Get("REPOSNL")) {
		return conflict(mqi.MQRCCF_Q_MGR_ATTR_CONFLICT, x.m.opt.Name, "only one of REPOS and REPOSNL may have a value; set the other to ' '")
	}
	if d.Get("DEFXMITQ") == "SYSTEM.CLUSTER.TRANSMIT.QUEUE" {
		return conflict(mqi.MQRCCF_Q_MGR_ATTR_CONFLICT, x.m.opt.Name, "DEFXMITQ cannot be the cluster transmission queue")
	}
	if d.Get("PARENT") == x.m.opt.Name {
		return conflict(mqi.MQRCCF_Q_MGR_ATTR_CONFLICT, x.m.opt.Name, "PARENT cannot be the queue manager itself")
	}
	if d.Get("LOGGEREV") == "ENABLED" && old.Get("LOGGEREV") != "ENABLED" {
		return failed(mqi.MQRCCF_PARM_VALUE_ERROR, msgLoggerEvents, x.m.opt.Name)
	}
	if n := d.Int("CCSID"); n != old.Int("CCSID") && !mqi.FitsQueueManager(int32(n)) {
		return conflict(mqi.MQRCCF_CCSID_ERROR, x.m.opt.Name, "CCSID("+d.Get("CCSID")+") is none that the queue manager's own texts can be in; "+
			"1208, 819, 850, 923 and 1252, for one, can be")
	}
	if s := d.Get("SUITEB"); strings.Contains(s, attr.ListSep) && hasItem(s, "NONE") {
		return conflict(mqi.MQRCCF_PARM_CONFLICT, x.m.opt.Name, "SUITEB(NONE) excludes the other values")
	}
	if n := d.Int("MAXPROPL"); n > 104857600 {
		return conflict(mqi.MQRCCF_PARM_VALUE_ERROR, x.m.opt.Name, "MAXPROPL is above the longest message")
	}
	return nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// hasItem reports whether a list value has the item.
func hasItem(list, item string) bool {
	for _, s := range strings.Split(list, attr.ListSep) {
		if s == item {
			return true
		}
	}
	return false
}

// items splits a list value; nil for an empty one.
func items(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, attr.ListSep)
}
