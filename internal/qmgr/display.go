package qmgr

import (
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// displaySpec says how the definitions of one DISPLAY object are found and shown.
type displaySpec struct {
	classes []Class
	kind    attr.Kind // "" takes every kind of the classes
	always  []string  // shown whatever is asked for
	key     string    // keyword of the name, when it is not the row's own
}

var displaySpecs = map[string]displaySpec{
	"QUEUE":    {classes: []Class{ClassQueue}, always: []string{"TYPE"}, key: "QUEUE"},
	"QLOCAL":   {classes: []Class{ClassQueue}, kind: "QLOCAL", always: []string{"TYPE"}, key: "QUEUE"},
	"QMODEL":   {classes: []Class{ClassQueue}, kind: "QMODEL", always: []string{"TYPE"}, key: "QUEUE"},
	"QALIAS":   {classes: []Class{ClassQueue}, kind: "QALIAS", always: []string{"TYPE"}, key: "QUEUE"},
	"QREMOTE":  {classes: []Class{ClassQueue}, kind: "QREMOTE", always: []string{"TYPE"}, key: "QUEUE"},
	"QCLUSTER": {classes: []Class{ClassQueue}, kind: "QCLUSTER", always: []string{"TYPE"}, key: "QUEUE"},
	"TOPIC":    {classes: []Class{ClassTopic}, always: []string{"TYPE"}},
	"SUB":      {classes: []Class{ClassSub}, always: []string{"SUBID"}},
	"CHANNEL":  {classes: []Class{ClassChannel, ClassClntconn}, always: []string{"CHLTYPE"}, key: "CHANNEL"},
	"PROCESS":  {classes: []Class{ClassProcess}},
	"NAMELIST": {classes: []Class{ClassNamelist}},
	"AUTHINFO": {classes: []Class{ClassAuthinfo}, always: []string{"AUTHTYPE"}},
	"LISTENER": {classes: []Class{ClassListener}},
	"SERVICE":  {classes: []Class{ClassService}},
	"COMMINFO": {classes: []Class{ClassComminfo}, always: []string{"TYPE"}},
	"CFSTRUCT": {classes: []Class{ClassCFStruct}},
	"QMGR":     {classes: []Class{ClassQmgr}, always: []string{"QMNAME"}},
}

// selectors choose objects by an attribute when they stand with a value in a DISPLAY: keyword → attribute.
var selectors = map[string]string{
	"TYPE": "TYPE", "QTYPE": "TYPE", "CHLTYPE": "CHLTYPE", "AUTHTYPE": "AUTHTYPE", "TRPTYPE": "TRPTYPE", "TARGTYPE": "TARGTYPE",
	"CLUSTER": "CLUSTER", "CLUSNL": "CLUSNL", "NLTYPE": "NLTYPE", "QSGDISP": "QSGDISP", "CFSTRUCT": "CFSTRUCT", "STGCLASS": "STGCLASS",
	"DURABLE": "DURABLE", "SUBTYPE": "SUBTYPE", "SUBID": "SUBID", "TOPICSTR": "TOPICSTR", "TOPICOBJ": "TOPICOBJ",
	"DEST": "DEST", "DESTQMGR": "DESTQMGR", "SUBUSER": "SUBUSER", "DESTCLAS": "DESTCLAS",
}

// displayed is a DISPLAY of definitions being answered.
type displayed struct {
	x     *exec
	spec  displaySpec
	all   bool
	asked map[string]bool // attributes asked for, by canonical keyword
	sel   []attr.Param    // selectors
	plans map[attr.Kind][]int

	defined bool // DISTYPE(DEFINED): a subscription as it was defined, not as it resolves
}

// displayDefs runs DISPLAY of every kind of definition.
func (x *exec) displayDefs() *attr.Reply {
	d := displayed{x: x, spec: displaySpecs[x.c.Object], plans: map[attr.Kind][]int{}}
	if r := x.checkFilter(); r != nil {
		return r
	}
	d.readParams()
	if d.spec.kind == "QCLUSTER" {
		return x.notFound(x.c.Name) // no repository holds anything: clusters are not built
	}
	pattern := x.c.Name
	if x.c.Object == "QMGR" {
		pattern = qmgrName
	}
	if _, ok := x.c.Get("SUBID"); ok && pattern == "" {
		pattern = "*" // the selector finds it
	}
	objs := x.list(pattern, d.spec.classes...)
	first := -1
	for i, o := range objs {
		if d.matches(o) {
			first = i
			break
		}
	}
	if first < 0 {
		name := pattern
		if v, ok := x.c.Get("SUBID"); ok && x.c.Name == "" {
			name = v
		}
		r := notFoundOf(d.spec.classes[0], name)
		r.Msgs[0].ID = msgNotFound // DISPLAY has one answer for all objects
		return r
	}
	objs = objs[first:]
	return &attr.Reply{Rows: func(yield func(attr.Row) bool) {
		for i, o := range objs {
			if i > 0 && !d.matches(o) {
				continue
			}
			if !yield(d.row(o)) {
				return
			}
		}
	}}
}

// readParams sorts the parameters into selectors and attributes asked for.
func (d *displayed) readParams() {
	c := d.x.c
	d.asked = map[string]bool{}
	listed := false
	for i := range c.Params {
		p := c.Params[i]
		switch {
		case p.Key == "ALL":
			d.all = true
		case p.HasValue && selectors[p.Key] != "" && p.Val != "":
			if p.Val != "ALL" || p.Key == "CLUSTER" {
				d.sel = append(d.sel, p)
			}
			if p.Key == "CLUSTER" || p.Key == "CLUSNL" || p.Key == "CFSTRUCT" || p.Key == "QSGDISP" {
				d.asked[p.Key] = true
			}
		case p.Key == "DISTYPE" && p.HasValue:
			d.defined = p.Val == "DEFINED"
		case p.Key == "CMDSCOPE" || p.Key == "CLUSINFO":
		case groupOf(c.Object, p.Key) != nil:
			listed = true
			for _, k := range groupOf(c.Object, p.Key) {
				d.asked[k] = true
			}
		default:
			listed = true
			d.asked[p.Key] = true
		}
	}
	generic := strings.HasSuffix(c.Name, "*")
	if !listed && !generic {
		d.all = true
	}
	if c.Where != nil {
		d.asked[c.Where.Key] = true
	}
}

// groupOf returns the attributes that a group word of a DISPLAY stands for, nil when it is none.
func groupOf(object, word string) []string {
	switch object {
	case "QMGR":
		return qmgrGroups[word]
	case "SUB":
		if word == "SUMMARY" {
			return []string{"DEST", "DURABLE", "SUBTYPE", "SUBUSER", "TOPICOBJ", "TOPICSTR"}
		}
	}
	return nil
}

// qmgrGroups are the group words of DISPLAY QMGR.
var qmgrGroups = map[string][]string{
	"SYSTEM": strings.Fields(`ACCTCONO ACCTINT ACCTMQI ACCTQ ACTIVREC ACTVCONO ACTVTRC ADVCAP ALTDATE ALTTIME AMQPCAP CCSID
		CMDLEVEL COMMANDQ CONNAUTH CRDATE CRTIME CUSTOM DEADQ DESCR DISTL IMGINTVL IMGLOGLN IMGRCOVO IMGRCOVQ IMGSCHED INITKEY
		MARKINT MAXHANDS MAXMSGL MAXPROPL MAXPRTY MAXUMSGS MONQ PLATFORM QMNAME ROUTEREC SCMDSERV SPLCAP STATINT STATMQI STATQ
		SYNCPT TRIGINT VERSION XRCAP`),
	"EVENT": strings.Fields(`AUTHOREV CHLEV CMDEV CONFIGEV INHIBTEV LOCALEV LOGGEREV PERFMEV REMOTEEV SSLEV STRSTPEV`),
	"CHINIT": strings.Fields(`CERTLABL CERTVPOL CHAD CHADEV CHADEXIT CHLAUTH DEFXMITQ IPADDRV KEYRPWD MONACLS MONCHL REVDNS
		SCHINIT SSLCRLNL SSLCRYP SSLFIPS SSLKEYR SSLRKEYC STATACLS STATCHL SUITEB`),
	"CLUSTER": strings.Fields(`CLWLDATA CLWLEXIT CLWLLEN CLWLMRUC CLWLUSEQ DEFCLXQ MONACLS QMID REPOS REPOSNL STATACLS`),
	"PUBSUB":  strings.Fields(`PARENT PSCLUS PSMODE PSNPMSG PSNPRES PSRTYCNT PSSYNCPT TREELIFE`),
}

// notInAll are attributes that DISPLAY ALL leaves out: those that only a clustered object has, and those of a command
// level above ours. They are shown when named.
var notInAll = map[string]bool{
	"CLUSDATE": true, "CLUSQMGR": true, "CLUSQT": true, "CLUSTIME": true, "CLSTATE": true,
	"AUTHEVSC": true, "OTELPCTL": true, "OTELTRAC": true,
}

// plan returns the places of the attributes to show for a kind, in table order.
func (d *displayed) plan(def *Def) []int {
	if p, ok := d.plans[def.Kind]; ok {
		return p
	}
	var p []int
	for i := range def.Schema.Attrs {
		a := &def.Schema.Attrs[i]
		if a.Positional {
			p = append(p, i)
			continue
		}
		if a.Display != attr.Yes && !d.isAlways(a.Name) || a.Type == attr.TGroup {
			continue
		}
		switch {
		case d.isAlways(a.Name), d.asked[a.Name], d.all && d.inAll(def, a):
			p = append(p, i)
		}
	}
	d.plans[def.Kind] = p
	return p
}

func (d *displayed) inAll(def *Def, a *attr.Attr) bool {
	if a.ZOS || notInAll[a.Name] {
		return false
	}
	return a.Name != "QMID" || def.Kind == "QMGR" // of queues and topics: the host of a clustered one
}

func (d *displayed) isAlways(name string) bool {
	for _, a := range d.spec.always {
		if a == name {
			return true
		}
	}
	return false
}

// row shows one object.
func (d *displayed) row(o *Object) attr.Row {
	def := o.Def()
	plan := d.plan(def)
	items := make([]attr.Item, 0, len(plan))
	for _, i := range plan {
		a := &def.Schema.Attrs[i]
		it := attr.Item{Key: a.Name, Val: d.value(o, def, i), Attr: a}
		if a.Positional && d.spec.key != "" {
			it.Key = d.spec.key
		}
		items = append(items, it)
	}
	id := ""
	if d.x.c.Spec != nil {
		id = d.x.c.Spec.Success
	}
	return attr.Row{ID: id, Items: items}
}

func (d *displayed) value(o *Object, def *Def, i int) string {
	if d.defined && def.Kind == "SUB" {
		if def.Schema.Attrs[i].Name == "DISTYPE" {
			return "DEFINED"
		}
		return def.val(i)
	}
	return d.x.m.value(o, def, i)
}

// value is what DISPLAY shows for an attribute: as stored, or as it is at this moment.
func (m *Manager) value(o *Object, d *Def, i int) string {
	a := &d.Schema.Attrs[i]
	v := d.val(i)
	if a.Hidden {
		if v != "" {
			return mqsc.HiddenMask
		}
		return ""
	}
	switch d.Kind {
	case "QLOCAL":
		return queueValue(o, a.Name, v)
	case "NAMELIST":
		if a.Name == "NAMCOUNT" {
			return strconv.Itoa(len(items(d.Get("NAMES"))))
		}
	case "SUB":
		return m.subValue(d, a.Name, v)
	case "QMGR":
		return m.qmgrValue(a.Name, v)
	}
	return v
}

func queueValue(o *Object, key, v string) string {
	switch key {
	case "CURDEPTH":
		return strconv.Itoa(o.Queue.shownDepth())
	case "IPPROCS":
		in, _ := o.Queue.opens()
		return strconv.Itoa(in)
	case "OPPROCS":
		_, out := o.Queue.opens()
		return strconv.Itoa(out)
	}
	return v
}

// Level of the vendor's product that we answer as.
const (
	cmdLevel  = "941"
	mqVersion = "09040100"
)

func (m *Manager) qmgrValue(key, v string) string {
	switch key {
	case "CMDLEVEL":
		return cmdLevel
	case "VERSION":
		return mqVersion
	case "PLATFORM":
		return "UNIX"
	case "QMNAME":
		return m.opt.Name
	case "SYNCPT":
		return "YES"
	}
	return v
}

// matches applies kind, selectors and WHERE to an object.
func (d *displayed) matches(o *Object) bool {
	def := o.Def()
	if def == nil || d.spec.kind != "" && def.Kind != d.spec.kind {
		return false
	}
	for i := range d.sel {
		if !d.selects(o, def, &d.sel[i]) {
			return false
		}
	}
	f := d.x.c.Where
	if f == nil {
		return true
	}
	i, ok := def.Schema.Index(f.Key)
	if !ok {
		return false
	}
	return filterMatches(f, &def.Schema.Attrs[i], d.value(o, def, i))
}

func (d *displayed) selects(o *Object, def *Def, p *attr.Param) bool {
	i, ok := def.Schema.Index(selectors[p.Key])
	if !ok {
		return false
	}
	v := d.value(o, def, i)
	switch {
	case p.Key == "TYPE" && isChannel(def.Kind):
		v = chlType(def.Kind)
	case p.Key == "TYPE" && def.Kind == "TOPIC" && p.Val == "LOCAL":
		return true
	case p.Key == "SUBTYPE" && p.Val == "USER":
		return v == "ADMIN" || v == "API"
	case p.Key == "QSGDISP" && (p.Val == "LIVE" || p.Val == "PRIVATE"):
		return v == "QMGR" || v == ""
	}
	return generic(p.Val, v)
}

// generic matches a value against a pattern that may end in an asterisk.
func generic(pattern, v string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(v, prefix)
	}
	return v == pattern
}

// checkFilter refuses a WHERE that makes no sense for its attribute.
func (x *exec) checkFilter() *attr.Reply {
	f := x.c.Where
	if f == nil {
		return nil
	}
	if f.Attr != nil && !filterFits(f) {
		return failed(mqi.MQRCCF_FILTER_ERROR, msgBadFilter, f.Key+" "+f.Op+" "+f.Val)
	}
	return nil
}
