package qmgr

import (
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// insertValue gives what a command's insert stands for. What a service's insert names when its program is started is not
// known here.
func (m *Manager) insertValue(word string) (string, bool) {
	switch word = strings.ToUpper(word); word {
	case "QMNAME", "MQ_Q_MGR_DATA_NAME":
		return m.opt.Name, true
	case "MQ_USER_ID":
		return m.opt.User, true
	}
	v, ok := m.opt.Inserts[word]
	return v, ok
}

// expandInserts puts values for the inserts in the names and addresses of the command. The texts of a service keep theirs:
// they get their values when its program is started.
func (x *exec) expandInserts() *attr.Reply {
	if !hasInserts(x.c) {
		return nil
	}
	c := *x.c // the caller's command stays as it is
	c.Params = append([]attr.Param(nil), x.c.Params...)
	what := c.Object + "(" + c.Name + ")"
	var r *attr.Reply
	if c.Name, r = x.expand(nameAttr(&c), what, c.Name); r != nil {
		return r
	}
	for i := range c.Params {
		p := &c.Params[i]
		if p.Attr == nil || !p.HasValue || !p.Attr.TakesInserts() {
			continue
		}
		if p.Val, r = x.expand(p.Attr, p.Key+"("+p.Val+")", p.Val); r != nil {
			return r
		}
	}
	if f := c.Where; f != nil && f.Attr != nil && f.Attr.TakesInserts() {
		w := *f
		if w.Val, r = x.expand(nil, "WHERE("+f.Key+")", f.Val); r != nil {
			return r
		}
		c.Where = &w
	}
	x.c = &c
	return nil
}

// hasInserts reports whether a command may hold any; most do not.
func hasInserts(c *attr.Command) bool {
	if strings.IndexByte(c.Name, '+') >= 0 {
		return true
	}
	for i := range c.Params {
		if strings.IndexByte(c.Params[i].Val, '+') >= 0 {
			return true
		}
	}
	return c.Where != nil && strings.IndexByte(c.Where.Val, '+') >= 0
}

// nameAttr is the row of the command's object name, nil when the name is no MQ name: that of a topic string holds plus
// signs of its own.
func nameAttr(c *attr.Command) *attr.Attr {
	s, ok := attr.SchemaOf(c.Kind)
	if !ok {
		return nil
	}
	a := s.NameAttr()
	if a == nil || a.Type != attr.TName {
		return nil
	}
	return a
}

// expand replaces the inserts of one value and checks what comes of it.
func (x *exec) expand(a *attr.Attr, what, v string) (string, *attr.Reply) {
	if a == nil || strings.IndexByte(v, '+') < 0 {
		return v, nil
	}
	for _, word := range attr.Inserts(v) {
		if _, ok := x.m.insertValue(word); !ok {
			return v, failed(mqi.MQRCCF_OBJECT_NAME_ERROR, msgNoInsert, "+"+word+"+", what, insertHint(word))
		}
	}
	v = attr.ReplaceInserts(v, x.m.insertValue)
	check := v
	if a.Positional { // a generic name
		check = strings.TrimSuffix(v, "*")
	}
	if _, err := attr.CheckShown(a, check); err != nil {
		return v, conflict(mqi.MQRCCF_OBJECT_NAME_ERROR, what, err.Error())
	}
	return v, nil
}

// insertHint says what to do about an insert without a value.
func insertHint(word string) string {
	switch strings.ToUpper(word) {
	case "AUTOCL":
		return "write the cluster's name, or give it in qm.ini (AutoCluster: ClusterName)"
	case "CONNAME":
		return "write the connection name, as 'host(port)', or give it in qm.ini (Variables: CONNAME=host(port))"
	}
	return "write the value itself, or give it in qm.ini (Variables: " + word + "=value)"
}
