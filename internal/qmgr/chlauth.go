package qmgr

import (
	"cmp"
	"errors"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Channel authentication records: one object of ClassChlauth for each channel profile, type and what the type tells
// records apart by.

// chlauthType says how the records of a TYPE are told apart and what they hold.
type chlauthType struct {
	keys  []string // part of the identity; ADDRESS may be left out
	need  []string // must be given with ADD and REPLACE
	takes []string // beside DESCR CUSTOM
	list  string   // a list that ADD and REMOVE work on, or ""
}

var chlauthTypes = map[string]chlauthType{
	"ADDRESSMAP": {keys: []string{"ADDRESS"}, need: []string{"ADDRESS"}, takes: []string{"USERSRC", "MCAUSER", "CHCKCLNT", "WARN"}},
	"USERMAP": {keys: []string{"CLNTUSER", "ADDRESS"}, need: []string{"CLNTUSER"},
		takes: []string{"USERSRC", "MCAUSER", "CHCKCLNT", "WARN"}},
	"SSLPEERMAP": {keys: []string{"SSLPEER", "SSLCERTI", "ADDRESS"}, need: []string{"SSLPEER"},
		takes: []string{"USERSRC", "MCAUSER", "CHCKCLNT", "WARN"}},
	"QMGRMAP":   {keys: []string{"QMNAME", "ADDRESS"}, need: []string{"QMNAME"}, takes: []string{"USERSRC", "MCAUSER", "WARN"}},
	"BLOCKUSER": {need: []string{"USERLIST"}, takes: []string{"WARN"}, list: "USERLIST"},
	"BLOCKADDR": {need: []string{"ADDRLIST"}, takes: []string{"WARN"}, list: "ADDRLIST"},
}

// chlauthKey is the identity of a record; its first part is the channel profile, so records list by profile.
func chlauthKey(profile, typ string, vals ...string) string {
	return strings.Join(append([]string{profile, typ}, vals...), keySep)
}

// setChlauth runs SET CHLAUTH.
func (x *exec) setChlauth() *attr.Reply {
	profile := x.c.Name
	typ, _ := x.c.Get("TYPE")
	t, ok := chlauthTypes[typ]
	if !ok {
		return conflict(mqi.MQRCCF_CHLAUTH_TYPE_ERROR, profile, "TYPE("+typ+") is not known")
	}
	action, ok := x.c.Get("ACTION")
	if !ok {
		action = "ADD"
	}
	if typ == "BLOCKADDR" && profile != "*" {
		return conflict(mqi.MQRCCF_CHLAUTH_NAME_ERROR, profile, "TYPE(BLOCKADDR) takes the channel profile '*' only")
	}
	if r := x.chlauthParams(profile, typ, action, t); r != nil {
		return r
	}
	if action == "REMOVEALL" {
		return x.removeAllChlauth(profile, typ)
	}
	var vals []string
	for _, k := range t.keys {
		v, _ := x.c.Get(k)
		if strings.Contains(v, keySep) { // the record would be another's
			return conflict(mqi.MQRCCF_PARM_VALUE_ERROR, profile, k+" holds the control character X'1F'")
		}
		vals = append(vals, v)
	}
	objs, err := x.m.latch(x.ctx, x.p, key{ClassChlauth, chlauthKey(profile, typ, vals...)})
	if err != nil {
		return interrupted(err)
	}
	o := objs[0]
	if action == "REMOVE" {
		return x.removeChlauth(o, t)
	}
	return x.putChlauth(o, profile, typ, action, t)
}

// chlauthParams refuses keywords that do not belong to the type or the action.
func (x *exec) chlauthParams(profile, typ, action string, t chlauthType) *attr.Reply {
	writing := action == "ADD" || action == "REPLACE"
	for i := range x.c.Params {
		switch k := x.c.Params[i].Key; k {
		case "TYPE", "ACTION", "DESCR", "CUSTOM", "CMDSCOPE", "MATCH":
		default:
			own := hasWord(t.keys, k) || k == t.list
			if !own && !hasWord(t.takes, k) {
				return conflict(mqi.MQRCCF_WRONG_CHLAUTH_TYPE, profile, k+" cannot be given with TYPE("+typ+")")
			}
			if !own && !writing {
				return conflict(mqi.MQRCCF_WRONG_CHLAUTH_ACTION, profile, k+" cannot be given with ACTION("+action+")")
			}
		}
	}
	if action == "REMOVEALL" {
		return nil
	}
	for _, k := range t.need {
		if v, ok := x.c.Get(k); !ok || v == "" {
			return conflict(mqi.MQRCCF_PARM_MISSING, profile, "TYPE("+typ+") needs "+k)
		}
	}
	if !writing {
		return nil
	}
	if r := x.chlauthValues(profile); r != nil || t.list != "" {
		return r
	}
	src, _ := x.c.Get("USERSRC")
	mca, hasMCA := x.c.Get("MCAUSER")
	switch {
	case (src == "MAP" || src == "") && blank(mca):
		return conflict(mqi.MQRCCF_CHLAUTH_USERSRC_ERROR, profile, "USERSRC(MAP) needs MCAUSER")
	case src != "MAP" && src != "" && hasMCA && !blank(mca):
		return conflict(mqi.MQRCCF_WRONG_CHLAUTH_USERSRC, profile, "MCAUSER goes with USERSRC(MAP) only")
	case src != "NOACCESS" && x.c.Has("WARN"):
		return conflict(mqi.MQRCCF_WRONG_CHLAUTH_USERSRC, profile, "WARN goes with USERSRC(NOACCESS) only")
	case src == "NOACCESS" && x.c.Has("CHCKCLNT"):
		return conflict(mqi.MQRCCF_WRONG_CHLAUTH_USERSRC, profile, "CHCKCLNT cannot be given with USERSRC(NOACCESS)")
	}
	return nil
}

// chlauthValues refuses values that nothing can fit: the record would look like a rule, and be none.
func (x *exec) chlauthValues(profile string) *attr.Reply {
	address := func(k, v string, hosts bool) *attr.Reply {
		err := auth.CheckAddress(v, hosts)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, auth.ErrAddressRange):
			return conflict(mqi.MQRCCF_IPADDR_RANGE_ERROR, profile, k+"("+v+"): "+err.Error())
		}
		return conflict(mqi.MQRCCF_IPADDR_ERROR, profile, k+"("+v+"): "+err.Error()+"; 10.1.2.3, 10.1.*, 10.1-9.*, fe80::* are some")
	}
	if v := paramOf(x.c, "ADDRESS"); v != "" {
		if r := address("ADDRESS", v, true); r != nil {
			return r
		}
	}
	for _, v := range items(paramOf(x.c, "ADDRLIST")) {
		if r := address("ADDRLIST", v, false); r != nil {
			return r
		}
	}
	if v := paramOf(x.c, "CLNTUSER"); strings.Contains(v, "*") {
		return conflict(mqi.MQRCCF_CHLAUTH_CLNTUSER_ERROR, profile, "CLNTUSER("+v+"): the name of a user has no asterisk; ADDRESSMAP is for everybody")
	}
	for _, k := range []string{"SSLPEER", "SSLCERTI"} {
		if _, ok := peerParam(x.c, k); !ok {
			return conflict(mqi.MQRCCF_SSL_PEER_NAME_ERROR, profile, k+" takes names such as CN=app,O=Example")
		}
	}
	return nil
}

// putChlauth runs ADD and REPLACE.
func (x *exec) putChlauth(o *Object, profile, typ, action string, t chlauthType) *attr.Reply {
	old := o.Def()
	if old != nil && action == "ADD" && t.list == "" {
		return failed(mqi.MQRCCF_CHLAUTH_ALREADY_EXISTS, msgChlauthExists, profile)
	}
	d, err := newDef("CHLAUTH", o.Name)
	if err != nil {
		return failed(mqi.MQRC_UNEXPECTED_ERROR, msgUnexpected, err.Error())
	}
	if old != nil && action == "ADD" {
		d = old.clone()
	}
	d.set("TYPE", typ)
	for i := range x.c.Params {
		p := &x.c.Params[i]
		if p.Key == "ACTION" || p.Key == "MATCH" || p.Key == "CMDSCOPE" {
			continue
		}
		if p.Key == t.list && action == "ADD" && old != nil {
			d.set(p.Key, joinLists(old.Get(p.Key), p.Val))
			continue
		}
		d.set(p.Key, p.Val)
	}
	if t.list != "" && len(items(d.Get(t.list))) > maxBlockItems {
		return conflict(mqi.MQRCCF_CHLAUTH_MAX_EXCEEDED, profile, "a block list holds at most 256 entries")
	}
	d.stampAltered(x.m.opt.Clock.Now())
	u := x.p.newUnit(x.success(profile))
	x.m.putObject(u, o, d)
	return x.submit(u)
}

const maxBlockItems = 256

// joinLists adds the items of b that a does not have.
func joinLists(a, b string) string {
	out := items(a)
	for _, s := range items(b) {
		if !hasWord(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, attr.ListSep)
}

// removeChlauth runs REMOVE: of a list the named entries, of a mapping the record.
func (x *exec) removeChlauth(o *Object, t chlauthType) *attr.Reply {
	old := o.Def()
	if old == nil {
		return failed(mqi.MQRCCF_CHLAUTH_NOT_FOUND, msgNoChlauth, x.c.Name)
	}
	u := x.p.newUnit(x.success(x.c.Name))
	if t.list != "" {
		var left []string
		gone, _ := x.c.Get(t.list)
		for _, s := range items(old.Get(t.list)) {
			if !hasItem(gone, s) {
				left = append(left, s)
			}
		}
		if len(left) > 0 {
			d := old.clone()
			d.set(t.list, strings.Join(left, attr.ListSep))
			d.stampAltered(x.m.opt.Clock.Now())
			x.m.putObject(u, o, d)
			return x.submit(u)
		}
	}
	x.m.dropObject(u, o)
	return x.submit(u)
}

// dropThere latches what the keys name and begins a unit that drops what is there of it; swap is empty when nothing is.
func (x *exec) dropThere(profile string, keys []key) (*unit, *attr.Reply) {
	objs, err := x.m.latch(x.ctx, x.p, keys...)
	if err != nil {
		return nil, interrupted(err)
	}
	u := x.p.newUnit(x.success(profile))
	for _, o := range objs {
		if o.Def() != nil {
			x.m.dropObject(u, o)
		}
	}
	return u, nil
}

// removeAllChlauth runs REMOVEALL: every record of the profile and type.
func (x *exec) removeAllChlauth(profile, typ string) *attr.Reply {
	one := chlauthKey(profile, typ)
	keys := append(x.m.keysOf(ClassChlauth, one+keySep), key{ClassChlauth, one})
	u, r := x.dropThere(profile, keys)
	if r != nil {
		return r
	}
	if len(u.swap) == 0 {
		return failed(mqi.MQRCCF_CHLAUTH_NOT_FOUND, msgNoChlauth, profile)
	}
	return x.submit(u)
}

// chlauthRequest: a DISPLAY CHLAUTH that names nothing shows what tells the record apart and what it maps to.
func (x *exec) chlauthRequest() request {
	q := x.request(strings.Fields("CHLAUTH TYPE"), nil)
	if len(q.asked) == 0 && !x.c.Has("ALL") {
		q.all = false
		q.always = strings.Fields("CHLAUTH TYPE ADDRESS CLNTUSER SSLPEER SSLCERTI QMNAME USERLIST ADDRLIST USERSRC MCAUSER")
	}
	return q
}

// chlauthApplies reports whether a record of its type and values has an attribute.
func chlauthApplies(d *Def, k string) bool {
	typ := d.Get("TYPE")
	t := chlauthTypes[typ]
	src := d.Get("USERSRC")
	switch k {
	case "CHLAUTH", "TYPE", "DESCR", "CUSTOM", "ALTDATE", "ALTTIME":
		return true
	case "USERSRC":
		return t.list == ""
	case "WARN":
		return t.list != "" || src == "NOACCESS"
	case "CHCKCLNT":
		return t.list == "" && src != "NOACCESS" && typ != "QMGRMAP"
	case "MCAUSER":
		return t.list == "" && src == "MAP"
	}
	return k == t.list || hasWord(t.keys, k)
}

// displayChlauth runs DISPLAY CHLAUTH.
func (x *exec) displayChlauth() *attr.Reply {
	pattern := x.c.Name
	match, _ := x.c.Get("MATCH")
	if match == "RUNCHECK" {
		return x.runcheck()
	}
	typ, hasType := x.c.Get("TYPE")
	keep := func(d *Def) bool {
		if hasType && typ != "" && typ != "ALL" && d.Get("TYPE") != typ {
			return false
		}
		for _, k := range []string{"ADDRESS", "CLNTUSER", "SSLPEER", "SSLCERTI", "QMNAME"} {
			if v, ok := x.c.Get(k); ok && v != "" && !generic(v, d.Get(k)) {
				return false
			}
		}
		return chlauthProfileFits(d.Get("CHLAUTH"), pattern, match)
	}
	r := x.rowsOf(x.m.list("*", ClassChlauth), keep, x.chlauthRequest(), chlauthApplies)
	return orElse(r, failed(mqi.MQRCCF_CHLAUTH_NOT_FOUND, msgNoChlauth, pattern))
}

// chlauthProfileFits applies MATCH. EXACT: the very profile. GENERIC, the default: asterisks of what was asked are
// wild. ALL: every profile that could decide about a channel of that name.
func chlauthProfileFits(have, asked, match string) bool {
	switch match {
	case "EXACT":
		return have == asked
	case "ALL":
		return auth.MatchStars(have, asked) || auth.MatchStars(asked, have)
	}
	return auth.MatchStars(asked, have)
}

// runcheck answers DISPLAY CHLAUTH MATCH(RUNCHECK): the record that would decide about a channel that comes in, behind those that
// would only have warned.
func (x *exec) runcheck() *attr.Reply {
	if strings.Contains(x.c.Name, "*") {
		return conflict(mqi.MQRCCF_CHLAUTH_RUNCHECK_ERROR, x.c.Name, "MATCH(RUNCHECK) takes the full name of a channel")
	}
	addr, _ := x.c.Get("ADDRESS")
	switch {
	case addr == "":
		return conflict(mqi.MQRCCF_CHLAUTH_RUNCHECK_ERROR, x.c.Name, "MATCH(RUNCHECK) needs ADDRESS")
	case strings.Contains(addr, "*"):
		return conflict(mqi.MQRCCF_CHLAUTH_RUNCHECK_ERROR, x.c.Name, "MATCH(RUNCHECK) takes the full address of a client")
	}
	peer, okPeer := peerParam(x.c, "SSLPEER")
	issuer, okIssuer := peerParam(x.c, "SSLCERTI")
	if !okPeer || !okIssuer {
		return conflict(mqi.MQRCCF_PARM_VALUE_ERROR, x.c.Name, "SSLPEER and SSLCERTI take names such as CN=app,O=Example")
	}
	q := auth.Query{Channel: x.c.Name, Addr: auth.ParseIP(addr), User: paramOf(x.c, "CLNTUSER"), QMgr: paramOf(x.c, "QMNAME"),
		Peer: peer, Issuer: issuer}
	rules := x.m.chlauthRules()
	switch {
	case !q.Addr.IsValid():
		q.Hosts = []string{addr}
	case x.m.opt.HostNames != nil && x.m.asksHost(rules.rules, x.c.Name):
		q.Hosts = x.m.opt.HostNames(x.ctx, q.Addr.String())
	}
	sc, _ := x.m.ServerConn(x.c.Name)
	list := rules.runcheck(&q, sc.MCAUser, auth.DirectoryFunc(x.m.Account))
	if len(list) == 0 {
		return failed(mqi.MQRCCF_CHLAUTH_NOT_FOUND, msgNoChlauth, x.c.Name)
	}
	return x.rowsOf(list, nil, x.chlauthRequest(), chlauthApplies)
}

// runcheck finds the record that decides, in the order of auth.Admit: one that blocks the address, else the mapping, unless the
// user that results is blocked. Where no record gives a user it is MCAUSER of the channel, and without one the client's.
func (s *ruleSnap) runcheck(q *auth.Query, mcaUser string, dir auth.Directory) (list []*Object) {
	decides := func(r *auth.Rule) bool {
		list = append(list, s.object(r))
		return !r.Warn
	}
	if r, _ := auth.BlockedAddr(s.rules, q.Addr); r != nil && decides(r) {
		return list
	}
	rule, warns := auth.Mapping(s.rules, q)
	if warns != nil {
		list = append(list, s.object(warns))
	}
	if rule != nil && rule.Source == "NOACCESS" {
		return append(list, s.object(rule))
	}
	user := cmp.Or(mcaUser, q.User)
	if rule != nil && rule.Source == "MAP" {
		user = rule.MCAUser
	}
	if user != "" {
		if r, _ := auth.BlockedUser(s.rules, q.Channel, user, dir.Account(user).Admin); r != nil && decides(r) {
			return list
		}
	}
	if rule != nil {
		decides(rule)
	}
	return list
}

func (s *ruleSnap) object(r *auth.Rule) *Object {
	for i := range s.rules {
		if &s.rules[i] == r {
			return s.objs[i]
		}
	}
	return nil // never: r is one of them
}

// peerParam reads a distinguished name; ok is false when it cannot be read.
func peerParam(c *attr.Command, k string) (d auth.DN, ok bool) {
	v := paramOf(c, k)
	if v == "" {
		return nil, true
	}
	return auth.ParseDN(v)
}

func paramOf(c *attr.Command, k string) string {
	v, _ := c.Get(k)
	return v
}
