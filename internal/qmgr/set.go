package qmgr

import (
	"context"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// settable are the attributes MQSET changes, with the reason for a wrong value.
var settable = map[int32]mqi.RC{
	mqi.MQIA_INHIBIT_GET:          mqi.MQRC_INHIBIT_VALUE_ERROR,
	mqi.MQIA_INHIBIT_PUT:          mqi.MQRC_INHIBIT_VALUE_ERROR,
	mqi.MQIA_DIST_LISTS:           mqi.MQRC_SELECTOR_ERROR,
	mqi.MQIA_TRIGGER_CONTROL:      mqi.MQRC_TRIGGER_CONTROL_ERROR,
	mqi.MQIA_TRIGGER_DEPTH:        mqi.MQRC_TRIGGER_DEPTH_ERROR,
	mqi.MQIA_TRIGGER_MSG_PRIORITY: mqi.MQRC_TRIGGER_MSG_PRIORITY_ERR,
	mqi.MQIA_TRIGGER_TYPE:         mqi.MQRC_TRIGGER_TYPE_ERROR,
	mqi.MQCA_TRIGGER_DATA:         mqi.MQRC_SELECTOR_ERROR,
}

// Set changes attributes of an open queue (MQSET): all of them, durably, or none.
func (c *Conn) Set(ctx context.Context, n Handle, selectors, ints []int32, chars []byte) error {
	if err := c.begin("MQSET", ""); err != nil {
		return err
	}
	defer c.verb.Unlock()
	h, err := c.handle("MQSET", n)
	if err != nil {
		return err
	}
	fail := func(rc mqi.RC) error { return mqi.E("MQSET", h.name, rc) }
	switch {
	case h.objType != mqi.MQOT_Q:
		return fail(mqi.MQRC_HOBJ_ERROR)
	case h.opts&mqi.MQOO_SET == 0:
		return fail(mqi.MQRC_NOT_OPEN_FOR_SET)
	case len(selectors) > maxSelectors:
		return fail(mqi.MQRC_SELECTOR_LIMIT_EXCEEDED)
	case h.check() != 0:
		return fail(h.check())
	case h.queue != nil && h.queue.lost() != 0:
		return fail(h.queue.lost())
	}
	values, rc := settings(h.res.path[0].Def(), selectors, ints, chars)
	if rc != 0 {
		return fail(rc)
	}
	err = c.m.changeQueue(ctx, c.who, h.res.path[0].Name, values)
	c.handleDone(didSet, h, h.objType, err)
	return err
}

// setting is one attribute with its canonical value.
type setting struct{ key, val string }

// settings checks selectors and values against the definition's attributes.
func settings(d *Def, selectors, ints []int32, chars []byte) ([]setting, mqi.RC) {
	var out []setting
	for _, sel := range selectors {
		bad, ok := settable[sel]
		a := attrOf(d, sel)
		if !ok || a == nil || d.Kind != "QLOCAL" && sel != mqi.MQIA_INHIBIT_GET && sel != mqi.MQIA_INHIBIT_PUT {
			return nil, mqi.MQRC_SELECTOR_ERROR
		}
		if sel >= mqi.MQCA_FIRST {
			n := charLength(a, sel)
			if len(chars) < n {
				return nil, mqi.MQRC_CHAR_ATTR_LENGTH_ERROR
			}
			out = append(out, setting{a.Name, strings.TrimRight(string(chars[:n]), " \x00")})
			chars = chars[n:]
			continue
		}
		if len(ints) == 0 {
			return nil, mqi.MQRC_INT_ATTR_COUNT_ERROR
		}
		val, ok := canonicalInt(a, ints[0])
		if !ok {
			return nil, bad
		}
		out = append(out, setting{a.Name, val})
		ints = ints[1:]
	}
	return out, 0
}

func attrOf(d *Def, sel int32) *attr.Attr {
	for i := range d.Schema.Attrs {
		if a := &d.Schema.Attrs[i]; a.ID == sel && a.PCF != "" && a.Alter == attr.Yes {
			return a
		}
	}
	return nil
}

// canonicalInt is the text of a number as the attribute's canonical value.
func canonicalInt(a *attr.Attr, n int32) (string, bool) {
	switch a.Type {
	case attr.TFlag:
		return map[int32]string{0: "NO", 1: "YES"}[n], n == 0 || n == 1
	case attr.TEnum:
		e, ok := a.EnumByNum(n)
		if !ok {
			return "", false
		}
		return e.Word, true
	}
	return strconv.Itoa(int(n)), int64(n) >= a.Min && int64(n) <= a.Max
}

// changeQueue stores a queue's definition with some values changed and puts it in force.
func (m *Manager) changeQueue(ctx context.Context, id auth.Identity, name string, values []setting) error {
	p := newPending(m)
	defer p.end()
	objs, err := m.latch(ctx, p, key{ClassQueue, name})
	if err != nil {
		return mqi.Wrap("MQSET", name, mqi.MQRC_CONNECTION_BROKEN, err)
	}
	o := objs[0]
	if o.Def() == nil {
		p.finish(nil)
		return mqi.E("MQSET", name, mqi.MQRC_Q_DELETED)
	}
	old := o.Def()
	d := old.clone()
	for _, v := range values {
		d.set(v.key, v.val)
	}
	if d.Get("DEFTYPE") == "TEMPDYN" { // has no record
		m.swapDef(o, d, o.Queue.qid, false)
		p.finish(done(""))
		m.queueChanged(o.Queue, old, d)
		return nil
	}
	u := p.newUnit(done(""))
	m.putObject(u, o, d)
	x := &exec{m: m, ctx: ctx, p: p, id: id}
	x.submit(u)
	if r := p.Wait(ctx); r.Failed() {
		return mqi.Wrap("MQSET", name, mqi.RC(r.RC), errOfReply(r))
	}
	return nil
}
