package qmgr

import (
	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// Switches that keep new subscriptions from being made (newSubStopped) would stop those of the export itself: they are turned behind
// them.

// lateSwitch is an attribute with the value that stops, and the one to be written until then.
type lateSwitch struct{ key, stops, until string }

var (
	topicSwitches = []lateSwitch{{"SUB", "DISABLED", "ENABLED"}, {"DURSUB", "NO", "YES"}, {"MCAST", "ONLY", "DISABLED"}}
	qmgrSwitches  = []lateSwitch{{"PSMODE", "DISABLED", "ENABLED"}}
	queueSwitches = map[string][]lateSwitch{durableStore: {{"PUT", "DISABLED", "ENABLED"}}, retainedQueue: {{"GET", "DISABLED", "ENABLED"}}}
)

func switchesOf(d *Def) []lateSwitch {
	switch d.Kind {
	case "TOPIC":
		return topicSwitches
	case "QMGR":
		return qmgrSwitches
	case "QLOCAL":
		return queueSwitches[d.Name]
	}
	return nil
}

// lateAlter is an ALTER that stands behind the subscriptions.
type lateAlter struct {
	kind  attr.Kind
	name  string
	items []attr.Item
}

// holdBack takes the switches of an object that stop subscriptions out of what is written now.
func (e *exporter) holdBack(d *Def, name string, items []attr.Item) []attr.Item {
	if !e.makesSubs() || systemDefault(d) {
		return items // a template is part of no topic tree, and what it says is what others start from
	}
	var late []attr.Item
	for _, s := range switchesOf(d) {
		i, ok := d.Schema.Index(s.key)
		if !ok || d.val(i) != s.stops {
			continue
		}
		it := attr.Item{Key: s.key, Val: s.stops, Attr: &d.Schema.Attrs[i]}
		late = append(late, it)
		it.Val = s.until
		items = setItem(items, it)
	}
	if len(late) > 0 {
		e.late = append(e.late, lateAlter{d.Kind, name, late})
	}
	return items
}

// setItem gives an attribute another value, also one that is left out since it is the template's.
func setItem(items []attr.Item, it attr.Item) []attr.Item {
	for i := range items {
		if items[i].Key == it.Key {
			items[i] = it
			return items
		}
	}
	return append(items, it)
}

// makesSubs reports whether the export makes subscriptions.
func (e *exporter) makesSubs() bool {
	if !e.o.wants(ClassSub) {
		return false
	}
	for _, o := range e.m.list("*", ClassSub) {
		if d := o.Def(); d != nil && d.Name != templateSub && d.Get("DURABLE") != "NO" && e.o.named(o.Name) {
			return true
		}
	}
	return false
}

// turnLate writes what was held back.
func (e *exporter) turnLate() {
	for _, l := range e.late {
		e.write(l.kind, l.name, l.items, mqsc.FormatOptions{Verb: "ALTER"})
	}
}
