package qmgr

import (
	"context"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// maxSelectors is how many attributes one MQINQ or MQSET may name.
const maxSelectors = 256

// Inq returns attributes of an open object (MQINQ): the integers in the order of their selectors, and the character
// values one behind the other, blank-padded. Warnings 2068, 2022 and 2008 come with what could be returned.
func (c *Conn) Inq(ctx context.Context, n Handle, selectors []int32, maxInts, maxChars int) ([]int32, []byte, error) {
	if err := c.begin("MQINQ", ""); err != nil {
		return nil, nil, err
	}
	defer c.verb.Unlock()
	h, err := c.handle("MQINQ", n)
	if err != nil {
		return nil, nil, err
	}
	c.handleDone(didInq, h, h.objType, nil)
	switch {
	case h.opts&mqi.MQOO_INQUIRE == 0:
		return nil, nil, mqi.E("MQINQ", h.name, mqi.MQRC_NOT_OPEN_FOR_INQUIRE)
	case len(selectors) > maxSelectors:
		return nil, nil, mqi.E("MQINQ", h.name, mqi.MQRC_SELECTOR_LIMIT_EXCEEDED)
	case maxInts < 0:
		return nil, nil, mqi.E("MQINQ", h.name, mqi.MQRC_INT_ATTR_COUNT_ERROR)
	case maxChars < 0:
		return nil, nil, mqi.E("MQINQ", h.name, mqi.MQRC_CHAR_ATTR_LENGTH_ERROR)
	case h.check() != 0:
		return nil, nil, mqi.E("MQINQ", h.name, h.check())
	case h.queue != nil && h.queue.lost() != 0:
		return nil, nil, mqi.E("MQINQ", h.name, h.queue.lost())
	}
	q := inquiry{h: h, obj: h.res.path[0], def: h.res.path[0].Def(), maxInts: maxInts, maxChars: maxChars}
	for _, s := range selectors {
		if rc := q.add(s); rc != 0 {
			return nil, nil, mqi.E("MQINQ", h.name, rc)
		}
	}
	for _, rc := range [...]mqi.RC{mqi.MQRC_SELECTOR_NOT_FOR_TYPE, mqi.MQRC_INT_ATTR_COUNT_TOO_SMALL,
		mqi.MQRC_CHAR_ATTRS_TOO_SHORT} {
		if q.warned[rc] {
			return q.ints, q.chars, mqi.Warn("MQINQ", h.name, rc)
		}
	}
	return q.ints, q.chars, nil
}

// inquiry collects the answer of one MQINQ.
type inquiry struct {
	h                 *handle
	obj               *Object
	def               *Def
	maxInts, maxChars int
	ints              []int32
	chars             []byte
	warned            map[mqi.RC]bool
}

func (q *inquiry) warn(rc mqi.RC) {
	if q.warned == nil {
		q.warned = map[mqi.RC]bool{}
	}
	q.warned[rc] = true
}

func (q *inquiry) add(sel int32) mqi.RC {
	a, val, ok := q.value(sel)
	switch {
	case sel >= mqi.MQIA_FIRST && sel <= mqi.MQIA_LAST:
		v := int32(mqi.MQIAV_NOT_APPLICABLE)
		if ok {
			v = intValue(a, val)
		} else if !known("MQIA", sel) {
			return mqi.MQRC_SELECTOR_ERROR
		} else {
			q.warn(mqi.MQRC_SELECTOR_NOT_FOR_TYPE)
		}
		if len(q.ints) >= q.maxInts {
			q.warn(mqi.MQRC_INT_ATTR_COUNT_TOO_SMALL)
			return 0
		}
		q.ints = append(q.ints, v)
	case sel >= mqi.MQCA_FIRST && sel <= mqi.MQCA_LAST:
		if !ok && !known("MQCA", sel) {
			return mqi.MQRC_SELECTOR_ERROR
		}
		text := ""
		if ok {
			text = charValue(a, val)
		} else {
			text = strings.Repeat("*", charLength(a, sel))
			q.warn(mqi.MQRC_SELECTOR_NOT_FOR_TYPE)
		}
		if room := q.maxChars - len(q.chars); len(text) > room {
			text = text[:max(room, 0)]
			q.warn(mqi.MQRC_CHAR_ATTRS_TOO_SHORT)
		}
		q.chars = append(q.chars, text...)
	default:
		return mqi.MQRC_SELECTOR_ERROR
	}
	return 0
}

// known reports whether a number is a selector at all.
func known(family string, v int32) bool {
	return mqi.Name(family, v) != family+"_"+strconv.Itoa(int(v))
}

// value finds the attribute a selector names; live figures come from the queue.
func (q *inquiry) value(sel int32) (*attr.Attr, string, bool) {
	if run := q.obj.Queue; run != nil {
		in, out := run.opens()
		switch sel {
		case mqi.MQIA_CURRENT_Q_DEPTH:
			return nil, strconv.Itoa(run.shownDepth()), true
		case mqi.MQIA_OPEN_INPUT_COUNT:
			return nil, strconv.Itoa(in), true
		case mqi.MQIA_OPEN_OUTPUT_COUNT:
			return nil, strconv.Itoa(out), true
		}
	}
	if sel == mqi.MQIA_NAME_COUNT && q.obj.Class == ClassNamelist {
		n := 0
		if v := q.def.Get("NAMES"); v != "" {
			n = strings.Count(v, attr.ListSep) + 1
		}
		return nil, strconv.Itoa(n), true
	}
	for i := range q.def.Schema.Attrs {
		if a := &q.def.Schema.Attrs[i]; a.ID == sel && a.PCF != "" && (a.Display == attr.Yes || a.Define == attr.Yes) {
			return a, q.def.val(i), true
		}
	}
	return nil, "", false
}

// intValue is the number behind a canonical value.
func intValue(a *attr.Attr, val string) int32 {
	if a != nil {
		if a.Type == attr.TFlag {
			if val == "YES" {
				return 1
			}
			return 0
		}
		for i := range a.Enum {
			if e := &a.Enum[i]; e.Word == val && e.HasNum {
				return e.Num
			}
		}
	}
	n, err := strconv.ParseInt(val, 10, 32)
	if err != nil {
		return mqi.MQIAV_NOT_APPLICABLE
	}
	return int32(n)
}

// charValue pads a value to the length of its attribute; a list gives its items one behind the other.
func charValue(a *attr.Attr, val string) string {
	if a.IsList() && val == "" {
		return ""
	}
	n := charLength(a, 0)
	var b []byte
	for _, item := range strings.Split(val, attr.ListSep) {
		b = appendChars(b, item, n)
	}
	return string(b)
}

// charLength is the length MQINQ returns for a character attribute.
func charLength(a *attr.Attr, sel int32) int {
	if a != nil {
		sel = a.ID
	}
	switch sel {
	case mqi.MQCA_CREATION_DATE, mqi.MQCA_ALTERATION_DATE:
		return mqi.MQ_DATE_LENGTH
	case mqi.MQCA_CREATION_TIME, mqi.MQCA_ALTERATION_TIME:
		return mqi.MQ_TIME_LENGTH
	}
	if a != nil && a.MaxLen > 0 {
		return a.MaxLen
	}
	return mqi.MQ_OBJECT_NAME_LENGTH
}

// appendChars appends a character field, padded with blanks or cut to n bytes.
func appendChars(b []byte, s string, n int) []byte {
	s = cut(s, n)
	b = append(b, s...)
	for i := len(s); i < n; i++ {
		b = append(b, ' ')
	}
	return b
}
