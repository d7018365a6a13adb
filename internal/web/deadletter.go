package web

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// maxRuleTable bounds the rule table of the dead-letter handler.
const maxRuleTable = 1 << 20

// postDeadLetters runs the dead-letter handler with the rule table in the body. Each line of the reply says what was done
// with a message; the reply ends with the handler, or the handler with its reader.
func (s *Server) postDeadLetters(w http.ResponseWriter, r *http.Request) error {
	rules, err := readBody(r, maxRuleTable)
	if err != nil {
		return err
	}
	table, err := qmgr.ParseDeadLetterTable(bytes.NewReader(rules))
	if err != nil {
		return refuse("MQWB0104E", "%v", err)
	}
	out, err := s.newLines(w)
	if err != nil {
		return err
	}
	if err := out.flush(); err != nil {
		return nil // nobody reads
	}
	n := 0
	err = s.opt.Manager.HandleDeadLetters(r.Context(), identityOf(r), r.URL.Query().Get("queue"), table,
		func(format string, args ...any) {
			n++
			if out.e.Encode(map[string]string{"text": fmt.Sprintf(format, args...)}) == nil {
				_ = out.flush() // a reader that is gone ends the request's context
			}
		})
	return out.end(n, err)
}

// postUndeliverable puts the message in the body on the dead-letter queue: reason, queue and format say what MQDLH says.
func (s *Server) postUndeliverable(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	reason, err := parseInt("reason", q.Get("reason"), 1, 999999999)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	if err != nil {
		return err
	}
	if len(body) > maxMessage {
		return refuse("MQWB0106E", "the body has more than %d bytes", maxMessage)
	}
	c, err := s.opt.Manager.Connect(r.Context(), identityOf(r), qmgr.ConnectOptions{ApplName: applName(q)})
	if err != nil {
		return err
	}
	defer leave(r, c)
	md := mqi.DefaultMD()
	md.Format, md.Priority, md.Persistence = q.Get("format"), 0, mqi.MQPER_NOT_PERSISTENT
	for _, v := range []struct {
		key string
		to  *int32
	}{{"encoding", &md.Encoding}, {"ccsid", &md.CodedCharSetID}} {
		if text := q.Get(v.key); text != "" {
			n, err := parseInt(v.key, text, 0, 1<<31-1)
			if err != nil {
				return err
			}
			*v.to = int32(n)
		}
	}
	if err := c.Undeliverable(r.Context(), &md, body, q.Get("queue"), "", mqi.RC(reason), false); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
