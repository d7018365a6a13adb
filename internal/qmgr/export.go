package qmgr

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// ExportOptions of Export.
type ExportOptions struct {
	All    bool // every attribute, and the SYSTEM objects
	MQOnly bool // leave out what only qmgrd has (flows); there is nothing of it yet
	// Export chooses records: object, sub, chlauth, authrec, policy; "" and all are everything.
	Export string
	// Type chooses objects as dmpmqcfg -t names their types; "" and all are every type.
	Type string
	// Name is the objects', topics' and profiles' name, which may end in an asterisk; "" is all.
	Name string
	// Format is mqsc (also ""), 1line or setmqaut (authority records alone).
	Format string
}

// exportTypes are the object types of Type.
var exportTypes = map[string][]Class{"": exportOrder, "all": exportOrder, "authinfo": {ClassAuthinfo}, "channel": {ClassChannel},
	"clntconn": {ClassClntconn}, "comminfo": {ClassComminfo}, "lstr": {ClassListener}, "listener": {ClassListener},
	"namelist": {ClassNamelist}, "process": {ClassProcess}, "queue": {ClassQueue}, "qmgr": {ClassQmgr}, "srvc": {ClassService},
	"service": {ClassService}, "topic": {ClassTopic}, "sub": {ClassSub}, "cfstruct": {ClassCFStruct}}

// Check reports what is wrong with options that somebody typed.
func (o *ExportOptions) Check() error {
	if !hasWord(strings.Fields("object sub chlauth authrec policy all"), o.Export) && o.Export != "" {
		return fmt.Errorf("export %q is not known: use object, sub, chlauth, authrec, policy or all", o.Export)
	}
	if exportTypes[o.Type] == nil {
		return fmt.Errorf("type %q is not known: use all, authinfo, channel, clntconn, comminfo, lstr, namelist, process, "+
			"queue, qmgr, srvc or topic", o.Type)
	}
	if !hasWord(strings.Fields("mqsc 1line setmqaut"), o.Format) && o.Format != "" {
		return fmt.Errorf("format %q is not known: use mqsc, 1line or setmqaut", o.Format)
	}
	if i := strings.IndexByte(o.Name, '*'); i >= 0 && i < len(o.Name)-1 {
		return fmt.Errorf("name %q: an asterisk may be the last character only", o.Name)
	}
	return nil
}

// exports reports whether records of a word of Export are wanted.
func (o *ExportOptions) exports(word string) bool {
	return o.Export == "" || o.Export == "all" || o.Export == word
}

// named applies Name.
func (o *ExportOptions) named(name string) bool { return o.Name == "" || generic(o.Name, name) }

// wants reports whether objects of a class are wanted.
func (o *ExportOptions) wants(c Class) bool {
	word := "object"
	if c == ClassSub {
		word = "sub"
	}
	if !o.exports(word) || c == ClassQmgr && o.Name != "" && o.Type != "qmgr" {
		return false
	}
	if o.Type == "" || o.Type == "all" {
		return true
	}
	for _, t := range exportTypes[o.Type] {
		if t == c {
			return true
		}
	}
	return false
}

// exportOrder has what is named before what names it.
var exportOrder = []Class{ClassProcess, ClassNamelist, ClassAuthinfo, ClassComminfo, ClassCFStruct, ClassQueue, ClassTopic,
	ClassChannel, ClassClntconn, ClassListener, ClassService, ClassSub}

// Export writes MQSC that makes the objects of this queue manager again: what differs from a new one, or with All
// everything. Secrets are never written. It may be run at any time; an object that changes meanwhile is written as it
// was or as it is, never between.
func (m *Manager) Export(w io.Writer, o ExportOptions) error {
	e := exporter{m: m, w: bufio.NewWriter(w), o: o, system: map[key]*Def{}}
	if err := e.collectDefaults(); err != nil {
		return err
	}
	if o.Format == "setmqaut" {
		e.authrecs()
		return e.flush()
	}
	e.comment("qmgrd export of queue manager " + m.opt.Name)
	if o.wants(ClassQmgr) {
		e.qmgr()
	}
	for _, templates := range []bool{true, false} { // what a DEFINE starts from stands before it
		for _, c := range exportOrder {
			if !o.wants(c) {
				continue
			}
			for _, ob := range m.list("*", c) {
				if !o.named(ob.Name) {
					continue
				}
				if d := ob.Def(); d != nil && systemDefault(d) == templates {
					e.object(ob, d)
				}
			}
		}
	}
	e.turnLate()
	if o.exports("chlauth") && (o.Type == "" || o.Type == "all") {
		e.chlauth()
	}
	if o.exports("authrec") {
		e.authrecs()
	}
	return e.flush()
}

func (e *exporter) flush() error {
	if e.err != nil {
		return e.err
	}
	return e.w.Flush()
}

// exporter keeps the first error, so that callers need not look after each line.
type exporter struct {
	m      *Manager
	w      *bufio.Writer
	o      ExportOptions
	system map[key]*Def // SYSTEM objects as a new queue manager has them
	late   []lateAlter
	err    error
}

func (e *exporter) comment(s string) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, "* %s\n", s)
	}
}

// collectDefaults makes the definitions a new queue manager starts with, to compare with.
func (e *exporter) collectDefaults() error {
	for _, s := range attr.SystemObjects() {
		if s.QSG || s.Kind == "CHLAUTH" {
			continue
		}
		d, err := systemDef(s)
		if err != nil {
			return err
		}
		e.system[key{classOf(s.Kind), s.Name}] = d
	}
	return nil
}

// items lists the attributes to write: those that differ from base, or all when there is no base.
func (e *exporter) items(d, base *Def) []attr.Item {
	var out []attr.Item
	need := requiredOf(d.Kind)
	for i := range d.Schema.Attrs {
		a := &d.Schema.Attrs[i]
		same := base != nil && base.val(i) == d.val(i) || base == nil && (a.ZOS || notInAll[a.Name]) && d.val(i) == a.Default
		if a.Positional || same && !(need[a.Name] && d.val(i) != "") {
			continue
		}
		if a.Hidden {
			if d.val(i) != "" {
				e.secret(d, a.Name)
			}
			continue
		}
		out = append(out, attr.Item{Key: a.Name, Val: d.val(i), Attr: a})
	}
	return out
}

// secret says which password has to be set again by hand: what is kept of it is no password.
func (e *exporter) secret(d *Def, key string) {
	object, command := string(d.Kind), "ALTER "+string(d.Kind)
	if d.Kind != "QMGR" {
		verb, sub, _ := strings.Cut(strings.TrimSuffix(string(d.Kind), ")"), "(")
		object = verb + "(" + d.Name + ")"
		command = "ALTER " + object
		switch verb {
		case "CHANNEL":
			command += " CHLTYPE(" + sub + ")"
		case "AUTHINFO":
			command += " AUTHTYPE(" + sub + ")"
		}
	}
	e.comment(key + " of " + object + " is set and is not exported: set it with " + command + " " + key + "('...')")
}

// requiredOf are the keywords that DEFINE of a kind may insist on: they are written whatever their value.
func requiredOf(k attr.Kind) map[string]bool {
	object, _, _ := strings.Cut(string(k), "(")
	need := map[string]bool{}
	if v, ok := attr.LookupVerb("DEFINE", object); ok {
		for _, rule := range v.Required {
			words, _, _ := strings.Cut(rule, "?")
			for _, w := range strings.Split(words, "|") {
				need[w] = true
			}
		}
	}
	return need
}

func (e *exporter) write(k attr.Kind, name string, items []attr.Item, o mqsc.FormatOptions) {
	o.OneLine = e.o.Format == "1line"
	if e.err == nil {
		e.err = mqsc.FormatDefine(e.w, k, name, items, o)
	}
}

// qmgr writes one ALTER QMGR with what differs from a new queue manager, if anything does.
func (e *exporter) qmgr() {
	d := e.m.qmgrDef()
	base, err := newDef("QMGR", e.m.opt.Name)
	if err != nil {
		e.err = err
		return
	}
	// Names of the place the manager was created at are made anew by the next one.
	for _, k := range []string{"CERTLABL", "SSLKEYR"} {
		if d.Get(k) == newQmgrValue(e.m, k) {
			base.set(k, d.Get(k))
		}
	}
	if e.o.All {
		base = nil
	}
	var items []attr.Item
	for _, it := range e.items(d, base) {
		if it.Attr.Alter == attr.Yes {
			items = append(items, it)
		}
	}
	items = e.holdBack(d, "", items)
	if len(items) > 0 {
		e.write("QMGR", "", items, mqsc.FormatOptions{Verb: "ALTER"})
	}
}

// object writes one DEFINE. A SYSTEM object is written only when it was changed, or with All.
func (e *exporter) object(o *Object, d *Def) {
	if d.Kind == "QLOCAL" && d.Get("DEFTYPE") != "PREDEFINED" {
		return // dynamic queues are made by opening, or by their subscription
	}
	if d.Kind == "SUB" && d.Get("DURABLE") == "NO" {
		return // it ends with its application
	}
	base := e.base(d)
	if sys, ok := e.system[key{o.Class, o.Name}]; ok {
		if !e.o.All && sameDefinition(d, sys) {
			return
		}
	}
	if e.o.All {
		base = nil
	}
	items := e.items(d, base)
	if d.Kind == "SUB" {
		items = subItems(d, e.m.wholeTopic(d, items))
	}
	e.write(d.Kind, o.Name, e.holdBack(d, o.Name, items), mqsc.FormatOptions{Replace: true})
}

// base is what DEFINE starts from for the kind in a queue manager that has replayed this export up to here: the
// template of the kind as it is now, since it is exported before, but for the template itself, the table.
func (e *exporter) base(d *Def) *Def {
	base, err := newDef(d.Kind, d.Name)
	if err != nil {
		e.err = err
		return nil
	}
	if t := templateOf(d.Kind); t != d.Name {
		if o := e.m.lookup(classOf(d.Kind), t); o != nil && o.Def().Kind == d.Kind {
			for i := range base.Schema.Attrs {
				if a := &base.Schema.Attrs[i]; a.Define == attr.Yes && !a.Positional {
					base.setVal(i, o.Def().val(i))
				}
			}
		}
	}
	if d.Kind == "TOPIC" || d.Kind == "SUB" {
		base.set("TOPICSTR", "")
	}
	if d.Kind == "SUB" && d.Name != templateSub {
		base.set("DESTCORL", "") // left out it becomes the new SUBID, whatever the template says
	}
	return base
}

// sameDefinition compares what can be defined.
func sameDefinition(a, b *Def) bool {
	for i := range a.Schema.Attrs {
		if a.Schema.Attrs[i].Define == attr.Yes && a.val(i) != b.val(i) {
			return false
		}
	}
	return true
}

// wholeTopic gives a subscription its whole topic string when its topic object is no longer what it was made by.
func (m *Manager) wholeTopic(d *Def, items []attr.Item) []attr.Item {
	topic := d.subExtra().topic
	o := m.lookup(ClassTopic, d.Get("TOPICOBJ"))
	if topic == "" || blank(d.Get("TOPICOBJ")) {
		return items
	}
	if o != nil {
		if now, err := pubsub.Combine(o.Def().Get("TOPICSTR"), true, d.Get("TOPICSTR")); err == nil && now == topic {
			return items
		}
	}
	i, ok := d.Schema.Index("TOPICSTR")
	if !ok {
		return items
	}
	items = slices.DeleteFunc(items, func(it attr.Item) bool { return it.Key == "TOPICOBJ" })
	return setItem(items, attr.Item{Key: "TOPICSTR", Val: topic, Attr: &d.Schema.Attrs[i]})
}

// subItems leaves out the destination that a managed subscription makes for itself.
func subItems(d *Def, items []attr.Item) []attr.Item {
	if managedQueue(d) == "" {
		return items
	}
	out := items[:0]
	for _, it := range items {
		if it.Key != "DEST" && it.Key != "DESTQMGR" {
			out = append(out, it)
		}
	}
	return out
}

// chlauth writes the channel authentication records, and the removal of default records that are gone.
func (e *exporter) chlauth() {
	have := map[string]bool{}
	for _, o := range e.m.list("*", ClassChlauth) {
		d := o.Def()
		have[o.Name] = true
		if !e.o.named(d.Get("CHLAUTH")) {
			continue
		}
		if sys := e.defaultChlauth(o.Name); sys != nil && !e.o.All && sameDefinition(d, sys) {
			continue
		}
		var items []attr.Item
		for i := range d.Schema.Attrs {
			a := &d.Schema.Attrs[i]
			if a.Positional || a.Define != attr.Yes || !chlauthApplies(d, a.Name) || a.Name != "TYPE" && d.val(i) == "" {
				continue
			}
			items = append(items, attr.Item{Key: a.Name, Val: d.val(i), Attr: a})
		}
		items = append(items, e.word(d, "ACTION", "REPLACE"))
		e.write("CHLAUTH", d.Get("CHLAUTH"), items, mqsc.FormatOptions{Verb: "SET"})
	}
	for _, s := range attr.SystemObjects() {
		if s.Kind != "CHLAUTH" {
			continue
		}
		d, err := systemChlauth(s)
		if err != nil || have[d.Name] || !e.o.named(s.Name) {
			continue
		}
		items := []attr.Item{e.word(d, "TYPE", d.Get("TYPE"))}
		for _, k := range chlauthTypes[d.Get("TYPE")].need {
			items = append(items, e.word(d, k, d.Get(k)))
		}
		items = append(items, e.word(d, "ACTION", "REMOVE"))
		e.write("CHLAUTH", s.Name, items, mqsc.FormatOptions{Verb: "SET"})
	}
}

// word is an item of the command that FormatDefine writes whatever the table says about storing it.
func (e *exporter) word(d *Def, k, v string) attr.Item {
	row := attr.Attr{Name: k, Type: attr.TEnum}
	if i, ok := d.Schema.Index(k); ok {
		row = d.Schema.Attrs[i]
	}
	row.Define, row.Positional = attr.Yes, false
	return attr.Item{Key: k, Val: v, Attr: &row}
}

func (e *exporter) defaultChlauth(name string) *Def {
	for _, s := range attr.SystemObjects() {
		if s.Kind == "CHLAUTH" {
			if d, err := systemChlauth(s); err == nil && d.Name == name {
				return d
			}
		}
	}
	return nil
}

// authrecs writes the authority records that a new queue manager with these objects would not have.
func (e *exporter) authrecs() {
	for _, o := range e.m.list("*", ClassAuthrec) {
		d := o.Def()
		if !e.o.All && e.isDefaultAuthrec(d) || !e.o.named(d.Get("PROFILE")) || !e.ofType(d.Get("OBJTYPE")) {
			continue
		}
		if e.o.Format == "setmqaut" {
			e.setmqaut(d)
			continue
		}
		var items []attr.Item
		if p := d.Get("PROFILE"); p != selfProfile || d.Get("OBJTYPE") != "QMGR" {
			items = append(items, e.word(d, "PROFILE", p))
		}
		items = append(items, e.word(d, "OBJTYPE", d.Get("OBJTYPE")), e.word(d, d.Get("ENTTYPE"), d.Get("ENTITY")),
			e.word(d, "AUTHADD", d.Get("AUTHLIST")))
		e.write("AUTHREC", "", items, mqsc.FormatOptions{Verb: "SET"})
	}
}

// ofType applies Type to an authority record.
func (e *exporter) ofType(objType string) bool {
	if e.o.Type == "" || e.o.Type == "all" {
		return true
	}
	for _, c := range exportTypes[e.o.Type] {
		if string(c) == objType {
			return true
		}
	}
	return false
}

// setmqaut writes a record as the command that makes it.
func (e *exporter) setmqaut(d *Def) {
	line := "setmqaut -m '" + e.m.opt.Name + "'"
	if p := d.Get("PROFILE"); p != selfProfile || d.Get("OBJTYPE") != "QMGR" {
		line += " -n '" + p + "'"
	}
	flag := " -g '"
	if d.Get("ENTTYPE") == "PRINCIPAL" {
		flag = " -p '"
	}
	line += " -t " + strings.ToLower(d.Get("OBJTYPE")) + flag + strings.ReplaceAll(d.Get("ENTITY"), "'", `'\''`) + "'"
	for _, a := range items(d.Get("AUTHLIST")) {
		line += " +" + strings.ToLower(a)
	}
	if e.err == nil {
		_, e.err = fmt.Fprintln(e.w, line)
	}
}

// isDefaultAuthrec reports whether a record is one of those that Create makes, unchanged.
func (e *exporter) isDefaultAuthrec(d *Def) bool {
	if d.Get("ENTTYPE") != "GROUP" || d.Get("ENTITY") != ownerGroup && d.Get("ENTITY") != e.m.opt.Group {
		return false
	}
	t, p := d.Get("OBJTYPE"), d.Get("PROFILE")
	auths := authsOf[t]
	switch {
	case p == classProfile:
		auths = []string{crtAuth}
	case p == selfProfile && t == "QMGR":
	case e.system[key{Class(t), p}] == nil:
		return false
	}
	set := map[string]bool{}
	for _, a := range auths {
		set[a] = true
	}
	return d.Get("AUTHLIST") == authList(set)
}
