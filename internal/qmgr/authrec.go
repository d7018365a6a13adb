package qmgr

import (
	"sort"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Authority records: one object of ClassAuthrec for each object type, profile and entity.

// authsOf are the authorities an object type knows, without CRT, which belongs to the profile @class.
var authsOf = map[string][]string{
	"QMGR":     strings.Fields("ALTUSR CHG CONNECT DLT DSP INQ SET SETALL SETID CTRL SYSTEM"),
	"QUEUE":    strings.Fields("BROWSE CHG CLR DLT DSP GET INQ PUT PASSALL PASSID SET SETALL SETID"),
	"TOPIC":    strings.Fields("CHG CLR DLT DSP PASSALL PASSID SETALL SETID CTRL PUB SUB RESUME"),
	"CHANNEL":  strings.Fields("CHG DLT DSP CTRL CTRLX"),
	"CLNTCONN": strings.Fields("CHG DLT DSP"),
	"LISTENER": strings.Fields("CHG DLT DSP CTRL"),
	"SERVICE":  strings.Fields("CHG DLT DSP CTRL"),
	"NAMELIST": strings.Fields("CHG DLT DSP INQ"),
	"AUTHINFO": strings.Fields("CHG DLT DSP INQ"),
	"PROCESS":  strings.Fields("CHG DLT DSP INQ SET"),
	"COMMINFO": strings.Fields("CHG DLT DSP"),
	"RQMNAME":  strings.Fields("PUT PASSALL PASSID SETALL SETID"),
}

// adminAuths are what ALLADM stands for; the rest, but SYSTEM and CRT, is ALLMQI.
var adminAuths = map[string]bool{"CHG": true, "CLR": true, "DLT": true, "DSP": true, "CTRL": true, "CTRLX": true}

const (
	selfProfile  = "self"
	classProfile = "@class"
	crtAuth      = "CRT"
)

func authrecKey(objType, profile, entType, entity string) string {
	return strings.Join([]string{objType, profile, entType, entity}, keySep)
}

// expandAuths takes a list with ALL, ALLADM, ALLMQI and NONE to single authorities; bad is the first word that the
// object type does not have.
func expandAuths(objType string, words []string) (set map[string]bool, bad string) {
	set = map[string]bool{}
	for _, w := range words {
		switch w {
		case "NONE":
		case crtAuth:
			set[crtAuth] = true
		case "ALL", "ALLADM", "ALLMQI":
			for _, a := range authsOf[objType] {
				if w == "ALL" && a != "SYSTEM" || w == "ALLADM" && adminAuths[a] || w == "ALLMQI" && !adminAuths[a] && a != "SYSTEM" {
					set[a] = true
				}
			}
		default:
			if !hasWord(authsOf[objType], w) {
				return nil, w
			}
			set[w] = true
		}
	}
	return set, ""
}

func hasWord(list []string, w string) bool {
	for _, s := range list {
		if s == w {
			return true
		}
	}
	return false
}

// authList is a set in printing order; NONE when it is empty.
func authList(set map[string]bool) string {
	var out []string
	for _, a := range auth.AuthWords() {
		if set[a] {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return "NONE"
	}
	return strings.Join(out, attr.ListSep)
}

// entity is a principal or a group.
type entity struct{ kind, name string }

// entities lists whom a command names, sorted so that records are latched in one order.
func (x *exec) entities() []entity {
	var out []entity
	for _, kind := range []string{"GROUP", "PRINCIPAL"} {
		v, _ := x.c.Get(kind)
		for _, n := range items(v) {
			if !blank(n) {
				out = append(out, entity{kind, n})
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].kind+out[i].name < out[j].kind+out[j].name })
	return out
}

// authTarget reads OBJTYPE and PROFILE of SET and DELETE AUTHREC.
func (x *exec) authTarget() (objType, profile string, r *attr.Reply) {
	objType, _ = x.c.Get("OBJTYPE")
	profile, _ = x.c.Get("PROFILE")
	profile = foldProfile(objType, profile)
	switch {
	case strings.Contains(profile, keySep): // its record would be another's
		return "", "", conflict(mqi.MQRCCF_PROFILE_NAME_ERROR, profile, "PROFILE holds the control character X'1F'")
	case authsOf[objType] == nil:
		return "", "", conflict(mqi.MQRCCF_PARM_VALUE_ERROR, profile, "OBJTYPE("+objType+") has no authorities")
	case objType == "QMGR":
		if blank(profile) || profile == x.m.opt.Name {
			profile = selfProfile
		}
	case blank(profile):
		return "", "", conflict(mqi.MQRCCF_PROFILE_NAME_MISSING, objType, "PROFILE is needed unless OBJTYPE(QMGR) is given")
	}
	return objType, profile, nil
}

// foldProfile gives the two profiles that are words of the language their own case: without quotes they arrive as SELF
// and @CLASS. Of other object types than the queue manager SELF is a name.
func foldProfile(objType, p string) string {
	if p == strings.ToUpper(selfProfile) && objType == "QMGR" || p == strings.ToUpper(classProfile) {
		return strings.ToLower(p)
	}
	return p
}

// setAuthrec runs SET AUTHREC: it adds to and takes from the records of each entity.
func (x *exec) setAuthrec() *attr.Reply {
	objType, profile, r := x.authTarget()
	if r != nil {
		return r
	}
	ents := x.entities()
	if len(ents) == 0 {
		return conflict(mqi.MQRCCF_ENTITY_NAME_MISSING, profile, "PRINCIPAL or GROUP is needed")
	}
	addText, hasAdd := x.c.Get("AUTHADD")
	rmvText, hasRmv := x.c.Get("AUTHRMV")
	if !hasAdd && !hasRmv {
		return conflict(mqi.MQRCCF_AUTH_VALUE_MISSING, profile, "AUTHADD or AUTHRMV is needed")
	}
	add, bad := expandAuths(objType, items(addText))
	rmv, bad2 := expandAuths(objType, items(rmvText))
	if bad += bad2; bad != "" {
		return conflict(mqi.MQRCCF_AUTH_VALUE_ERROR, profile, "OBJTYPE("+objType+") has no authority "+bad)
	}
	crt := add[crtAuth] || rmv[crtAuth] // kept with the type, whatever profile was named
	var keys []key
	for _, e := range ents {
		keys = append(keys, key{ClassAuthrec, authrecKey(objType, profile, e.kind, e.name)})
		if crt && profile != classProfile {
			keys = append(keys, key{ClassAuthrec, authrecKey(objType, classProfile, e.kind, e.name)})
		}
	}
	objs, err := x.m.latch(x.ctx, x.p, keys...)
	if err != nil {
		return interrupted(err)
	}
	u := x.p.newUnit(x.success(profile))
	for _, o := range objs {
		if r := x.changeAuthrec(u, o, add, rmv); r != nil {
			return r
		}
	}
	return x.submit(u)
}

// changeAuthrec adds one record's change to a unit.
func (x *exec) changeAuthrec(u *unit, o *Object, add, rmv map[string]bool) *attr.Reply {
	part := strings.Split(o.Name, keySep)
	isClass := part[1] == classProfile
	d, err := authrecDef(part[0], part[1], part[2], part[3])
	if err != nil {
		return failed(mqi.MQRC_UNEXPECTED_ERROR, msgUnexpected, err.Error())
	}
	set := map[string]bool{}
	if old := o.Def(); old != nil {
		for _, a := range items(old.Get("AUTHLIST")) {
			set[a] = true
		}
	}
	delete(set, "NONE")
	for a := range add {
		if (a == crtAuth) == isClass || isClass {
			set[a] = true
		}
	}
	for a := range rmv {
		delete(set, a)
	}
	if !isClass {
		delete(set, crtAuth)
	}
	d.set("AUTHLIST", authList(set))
	x.m.putObject(u, o, d)
	return nil
}

// authrecDef makes a record without authorities.
func authrecDef(objType, profile, entType, name string) (*Def, error) {
	d, err := newDef("AUTHREC", authrecKey(objType, profile, entType, name))
	if err != nil {
		return nil, err
	}
	d.set("PROFILE", profile)
	d.set("OBJTYPE", objType)
	d.set("ENTTYPE", entType)
	d.set("ENTITY", name)
	return d, nil
}

// deleteAuthrec runs DELETE AUTHREC.
func (x *exec) deleteAuthrec() *attr.Reply {
	objType, profile, r := x.authTarget()
	if r != nil {
		return r
	}
	var keys []key
	for _, e := range x.entities() {
		keys = append(keys, key{ClassAuthrec, authrecKey(objType, profile, e.kind, e.name)})
	}
	u, r := x.dropThere(profile, keys)
	if r != nil {
		return r
	}
	if len(u.swap) == 0 {
		if x.yes("IGNSTATE") {
			return u.ok
		}
		return failed(mqi.MQRCCF_PROFILE_NAME_ERROR, msgNoAuthrec, profile)
	}
	return x.submit(u)
}

// authTypeOf is the OBJTYPE of an object's authority records, "" when it has none.
func authTypeOf(c Class) string {
	if authsOf[string(c)] != nil {
		return string(c)
	}
	return ""
}

// authrecsOf finds the records that go with an object when it is deleted: those of exactly its name.
func (x *exec) authrecsOf(o *Object) []key {
	t := authTypeOf(o.Class)
	if v, ok := x.c.Get("AUTHREC"); t == "" || ok && v == "NO" {
		return nil
	}
	return x.m.keysOf(ClassAuthrec, t+keySep+o.Name+keySep)
}

// displayAuthrec runs DISPLAY AUTHREC.
func (x *exec) displayAuthrec() *attr.Reply {
	profile, hasProfile := x.c.Get("PROFILE")
	objType, _ := x.c.Get("OBJTYPE")
	match, _ := x.c.Get("MATCH")
	if objType == "QMGR" && (blank(profile) || profile == x.m.opt.Name) && hasProfile {
		profile = selfProfile
	}
	ents := x.entities()
	keep := func(d *Def) bool {
		if objType != "" && objType != "ALL" && d.Get("OBJTYPE") != objType {
			return false
		}
		if len(ents) > 0 && !hasEntity(ents, d) {
			return false
		}
		return !hasProfile || blank(profile) || authProfileFits(d.Get("PROFILE"), foldProfile(d.Get("OBJTYPE"), profile), match)
	}
	q := x.request(strings.Fields("PROFILE ENTITY ENTTYPE OBJTYPE"), nil)
	r := x.rowsOf(x.m.list("*", ClassAuthrec), keep, q, func(_ *Def, k string) bool { return hasWord(authrecShown, k) })
	return orElse(r, failed(mqi.MQRC_UNKNOWN_OBJECT_NAME, msgNoAuthrec, profile))
}

func hasEntity(ents []entity, d *Def) bool {
	for _, e := range ents {
		if e.kind == d.Get("ENTTYPE") && generic(e.name, d.Get("ENTITY")) {
			return true
		}
	}
	return false
}

// authProfileFits applies MATCH: PROFILE (the default) takes the records whose profile decides about the name, EXACT
// the one of that very profile, MEMBERSHIP is like PROFILE for entities that are named.
func authProfileFits(have, asked, match string) bool {
	if match == "EXACT" {
		return have == asked
	}
	return have == asked || auth.MatchProfile(have, asked) || generic(asked, have)
}

// authrecShown are the attributes of a record; the others of its table belong to the commands.
var authrecShown = strings.Fields("PROFILE ENTITY ENTTYPE OBJTYPE AUTHLIST")

// effective is what an entity may do with an object, as a call of it would find: for a user what the groups have too, and
// everything for an administrator. known is false when there is neither a record nor an account.
func (m *Manager) effective(objType, name string, e entity) (set map[string]bool, known bool) {
	set = map[string]bool{}
	user, groups, isAdmin := "", []string{e.name}, e.name == auth.AdminGroup
	if e.kind == "PRINCIPAL" {
		a := m.Account(e.name)
		user, groups, isAdmin = e.name, a.Groups, a.Admin
	}
	if isAdmin {
		for _, a := range authsOf[objType] {
			set[a] = true
		}
		return set, true
	}
	have, by := m.authRecords().Has(objType, name, user, groups)
	for _, w := range strings.Fields(have.String()) {
		set[w] = true
	}
	return set, len(by) > 0 || len(groups) > 0 && e.kind == "PRINCIPAL"
}

// displayEntauth runs DISPLAY ENTAUTH: what an entity may do with an object, as verbs would find; a principal with its
// groups.
func (x *exec) displayEntauth() *attr.Reply {
	objType, _ := x.c.Get("OBJTYPE")
	name, _ := x.c.Get("OBJNAME")
	if objType == "QMGR" {
		name = selfProfile
	}
	var rows []map[string]string
	for _, e := range x.entities() {
		set, known := x.m.effective(objType, name, e)
		if !known {
			return failed(mqi.MQRC_UNKNOWN_ENTITY, msgUnknownEntity, e.name)
		}
		rows = append(rows, map[string]string{"ENTITY": e.name, "ENTTYPE": e.kind, "OBJTYPE": objType, "AUTHLIST": authList(set)})
	}
	none := conflict(mqi.MQRCCF_ENTITY_NAME_MISSING, name, "PRINCIPAL or GROUP is needed")
	return orElse(x.showRows("ENTAUTH", x.request(authrecShown, nil), rows), none)
}
