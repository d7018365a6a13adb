package pcf

import (
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// Escape commands are MQSC in PCF, and so are their answers: each response holds the lines of one message of runmqsc.

// escaped sends the answer to an Escape command. Its responses bear the number of the command in the text where that has
// one, and the outcome of it, so that nobody has to read the text to know.
func (q *Request) escaped(r *attr.Reply, seq *int32, send func(mqi.CFMsg) bool) {
	line := func(text string) bool {
		m := q.response(*seq)
		if s := q.Command.Spec; s != nil && s.PCFNum != 0 {
			m.Command = s.PCFNum
		}
		m.Params = []mqi.CFParam{mqi.CFInt(mqi.MQIACF_ESCAPE_TYPE, mqi.MQET_MQSC), mqi.CFString(mqi.MQCACF_ESCAPE_TEXT, text)}
		m.CompCode, m.Reason = mqi.CC(r.CC), mqi.RC(r.RC)
		return send(m)
	}
	if r.Rows != nil {
		for row := range r.Rows {
			one := &attr.Reply{Rows: func(yield func(attr.Row) bool) { yield(row) }}
			if !line(replyText(q.Command, one)) {
				return
			}
		}
	}
	for _, msg := range r.Msgs {
		if !line(replyText(q.Command, &attr.Reply{Msgs: []attr.Message{msg}})) {
			return
		}
	}
}

// EscapeError is the answer to an Escape command whose text is no command.
func EscapeError(m *mqi.CFMsg, err error) mqi.CFMsg {
	out := ErrorResponse(m, err)
	text := err.Error()
	if e, ok := err.(*mqi.Error); ok && e.Err != nil {
		text = e.Err.Error()
	}
	out.Params = append(out.Params, mqi.CFInt(mqi.MQIACF_ESCAPE_TYPE, mqi.MQET_MQSC),
		mqi.CFString(mqi.MQCACF_ESCAPE_TEXT, text))
	return out
}

// replyText writes a part of a reply as runmqsc does.
func replyText(c *attr.Command, r *attr.Reply) string {
	var b strings.Builder
	if err := mqsc.WriteReply(&b, c, r); err != nil {
		return err.Error() // a Builder takes everything
	}
	return strings.TrimRight(b.String(), "\n")
}
