package mq

import (
	"context"
	"fmt"
	"strings"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Selector is an attribute of an object: an integer (MQIA_*) or text (MQCA_*). Any number of these may be converted to one.
type Selector int32

// Selectors that programs often ask for. Those marked may be set as well.
const (
	AccountingQ      Selector = mqi.MQIA_ACCOUNTING_Q
	BackoutQueue     Selector = mqi.MQCA_BACKOUT_REQ_Q_NAME
	BackoutThreshold Selector = mqi.MQIA_BACKOUT_THRESHOLD
	BaseObject       Selector = mqi.MQCA_BASE_OBJECT_NAME
	CurrentDepth     Selector = mqi.MQIA_CURRENT_Q_DEPTH
	DeadLetterQueue  Selector = mqi.MQCA_DEAD_LETTER_Q_NAME
	DefPersistence   Selector = mqi.MQIA_DEF_PERSISTENCE
	DefPriority      Selector = mqi.MQIA_DEF_PRIORITY
	Description      Selector = mqi.MQCA_Q_DESC
	GetInhibit       Selector = mqi.MQIA_INHIBIT_GET // may be set: 1 inhibits
	MaxDepth         Selector = mqi.MQIA_MAX_Q_DEPTH
	MaxMsgLength     Selector = mqi.MQIA_MAX_MSG_LENGTH
	OpenInputCount   Selector = mqi.MQIA_OPEN_INPUT_COUNT
	OpenOutputCount  Selector = mqi.MQIA_OPEN_OUTPUT_COUNT
	Platform         Selector = mqi.MQIA_PLATFORM
	PutInhibit       Selector = mqi.MQIA_INHIBIT_PUT // may be set: 1 inhibits
	QMgrName         Selector = mqi.MQCA_Q_MGR_NAME
	QName            Selector = mqi.MQCA_Q_NAME
	QType            Selector = mqi.MQIA_Q_TYPE
	TriggerControl   Selector = mqi.MQIA_TRIGGER_CONTROL // may be set
	TriggerData      Selector = mqi.MQCA_TRIGGER_DATA    // may be set
	TriggerDepth     Selector = mqi.MQIA_TRIGGER_DEPTH   // may be set
	TriggerType      Selector = mqi.MQIA_TRIGGER_TYPE    // may be set
)

// text reports whether the attribute is text.
func (s Selector) text() bool { return s >= mqi.MQCA_FIRST && s <= mqi.MQCA_LAST }

// String is the name, "MQIA_CURRENT_Q_DEPTH".
func (s Selector) String() string {
	if s.text() {
		return mqi.Name("MQCA", int32(s))
	}
	return mqi.Name("MQIA", int32(s))
}

// Attributes are values by their selectors: int32 or string.
type Attributes map[Selector]any

// Int is an integer attribute, 0 when it is not there.
func (a Attributes) Int(s Selector) int { n, _ := a[s].(int32); return int(n) }

// Text is a text attribute without its padding, "" when it is not there.
func (a Attributes) Text(s Selector) string { t, _ := a[s].(string); return t }

// maxText is the longest text attribute: a list of 256 names.
const maxText = 256 * 48

// Inquire asks for attributes of the queue (MQINQ), which must be open with InquireMode. One that queues of this kind do not
// have comes with a warning.
func (q *Queue) Inquire(ctx context.Context, which ...Selector) (Attributes, error) {
	return q.c.inquire(ctx, q.name, &q.h, which)
}

// Inquire asks for attributes of the queue manager.
func (c *Conn) Inquire(ctx context.Context, which ...Selector) (Attributes, error) {
	od := mqi.DefaultOD()
	od.Version, od.ObjectType = 4, mqi.MQOT_Q_MGR
	name := c.QueueManager()
	r, err := c.call(ctx, "MQOPEN", name, wire.MQOPEN, none, &wire.Open{OD: od, Options: mqi.MQOO_INQUIRE})
	if isFailed(err) {
		return nil, err
	}
	h := &handle{r.api.Hobj}
	a, err := c.inquire(ctx, name, h, which)
	if _, cerr := c.call(ctx, "MQCLOSE", name, wire.MQCLOSE, h, &wire.Close{}); err == nil && isFailed(cerr) {
		err = cerr
	}
	return a, err
}

// inquire asks for all integers at once and for texts one by one: their lengths are not in the answer.
func (c *Conn) inquire(ctx context.Context, object string, h *handle, which []Selector) (Attributes, error) {
	var ints []int32
	var calls [][]int32
	for _, s := range which {
		if s.text() {
			calls = append(calls, []int32{int32(s)})
		} else {
			ints = append(ints, int32(s))
		}
	}
	if ints != nil || calls == nil {
		calls = append(calls, ints)
	}
	out := Attributes{}
	var warning error
	for _, sel := range calls {
		b := &wire.Attrs{Selectors: sel}
		text := len(sel) > 0 && Selector(sel[0]).text()
		if text {
			b.CharLength = maxText
		} else {
			b.IntCount = int32(len(sel))
		}
		r, err := c.call(ctx, "MQINQ", object, wire.MQINQ, h, b)
		if isFailed(err) {
			return nil, err
		}
		if err != nil {
			warning = err
		}
		v, ok := r.body.(*wire.Attrs)
		if !ok || !text && len(v.Ints) != len(sel) {
			return nil, fail("MQINQ", object, unexpected, nil)
		}
		if text {
			out[Selector(sel[0])] = strings.TrimRight(codec.Text.Decode(v.Chars), " \x00")
		}
		for i, n := range v.Ints {
			out[Selector(sel[i])] = n
		}
	}
	return out, warning
}

// sizeTriggerData is the width of the only text that can be set.
const sizeTriggerData = 64

// Set sets attributes of the queue (MQSET), which must be open with SetMode: all of them or, with an error, none.
func (q *Queue) Set(ctx context.Context, a Attributes) error {
	b := &wire.Attrs{Values: true}
	var texts []int32
	for s, v := range a {
		switch v := v.(type) {
		case int:
			b.Selectors, b.Ints = append(b.Selectors, int32(s)), append(b.Ints, int32(v))
		case int32:
			b.Selectors, b.Ints = append(b.Selectors, int32(s)), append(b.Ints, v)
		case string:
			if len(v) > sizeTriggerData {
				return fail("MQSET", q.name, Reason(mqi.MQRC_CHAR_ATTR_LENGTH_ERROR), fmt.Errorf("%v has %d bytes", s, len(v)))
			}
			texts = append(texts, int32(s))
			b.Chars = codec.Text.AppendField(b.Chars, v, sizeTriggerData)
		default:
			return fail("MQSET", q.name, Reason(mqi.MQRC_SELECTOR_ERROR), fmt.Errorf("%v cannot be of type %T", s, v))
		}
	}
	b.Selectors = append(b.Selectors, texts...)
	b.IntCount, b.CharLength = int32(len(b.Ints)), int32(len(b.Chars))
	_, err := q.c.call(ctx, "MQSET", q.name, wire.MQSET, &q.h, b)
	return err
}
