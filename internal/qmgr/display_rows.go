package qmgr

import (
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// What a DISPLAY of records or status asks for, and the rows that answer it.

// request is what a DISPLAY wants of each row.
type request struct {
	all    bool
	asked  map[string]bool
	always []string
}

// request reads the attribute list of a status or record DISPLAY. groups expands group words.
func (x *exec) request(always []string, groups map[string][]string) request {
	q := request{asked: map[string]bool{}, always: always}
	listed := false
	for i := range x.c.Params {
		p := &x.c.Params[i]
		switch g := groups[p.Key]; {
		case p.Key == "ALL":
			q.all = true
		case g != nil:
			listed = true
			for _, k := range g {
				q.asked[k] = true
			}
		case !p.HasValue && p.Attr != nil:
			listed = true
			q.asked[p.Key] = true
		}
	}
	if !listed && !strings.HasSuffix(x.c.Name, "*") {
		q.all = true
	}
	if x.c.Where != nil {
		q.asked[x.c.Where.Key] = true
	}
	return q
}

func (q *request) wants(name string) bool {
	return q.all || q.asked[name] || hasWord(q.always, name)
}

// showRows answers a status DISPLAY. vals holds what a row has by keyword: what is absent is not shown, what is blank
// is shown blank. It returns nil when WHERE leaves nothing.
func (x *exec) showRows(kind attr.Kind, q request, rows []map[string]string) *attr.Reply {
	s, ok := attr.SchemaOf(kind)
	if !ok {
		return nil
	}
	id := x.rowID()
	var out []attr.Row
	for _, vals := range rows {
		if f := x.c.Where; f != nil {
			v, ok := vals[f.Key]
			a, known := s.Lookup(f.Key)
			if !ok || !known || !filterMatches(f, a, v) {
				continue
			}
		}
		r := attr.Row{ID: id}
		for i := range s.Attrs {
			a := &s.Attrs[i]
			v, ok := vals[a.Name]
			if ok && (a.Positional || q.wants(a.Name)) {
				r.Items = append(r.Items, attr.Item{Key: a.Name, Val: v, Attr: a})
			}
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil
	}
	return rowsReply(out)
}

// orElse gives the reply, or the refusal when nothing was found.
func orElse(r, none *attr.Reply) *attr.Reply {
	if r == nil {
		return none
	}
	return r
}

func (x *exec) rowID() string {
	if x.c.Spec != nil {
		return x.c.Spec.Success
	}
	return ""
}

// rowsReply answers with rows that are there already.
func rowsReply(rows []attr.Row) *attr.Reply {
	return &attr.Reply{Rows: func(yield func(attr.Row) bool) {
		for _, r := range rows {
			if !yield(r) {
				return
			}
		}
	}}
}

// rowsOf answers a DISPLAY of records. keep chooses records, show the attributes of each that apply to it beside those
// that every record has. It returns nil when nothing is left.
func (x *exec) rowsOf(objs []*Object, keep func(*Def) bool, q request, applies func(d *Def, key string) bool) *attr.Reply {
	id := x.rowID()
	var rows []attr.Row
	for _, o := range objs {
		d := o.Def()
		if d == nil || keep != nil && !keep(d) || !x.whereHolds(d) {
			continue
		}
		r := attr.Row{ID: id}
		for i := range d.Schema.Attrs {
			a := &d.Schema.Attrs[i]
			if a.Display == attr.Yes && (a.Positional || q.wants(a.Name)) && applies(d, a.Name) {
				r.Items = append(r.Items, attr.Item{Key: a.Name, Val: d.val(i), Attr: a})
			}
		}
		rows = append(rows, r)
	}
	if len(rows) == 0 {
		return nil
	}
	return rowsReply(rows)
}

func (x *exec) whereHolds(d *Def) bool {
	f := x.c.Where
	if f == nil {
		return true
	}
	i, ok := d.Schema.Index(f.Key)
	return ok && filterMatches(f, &d.Schema.Attrs[i], d.val(i))
}
