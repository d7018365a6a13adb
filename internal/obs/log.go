package obs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/rs/zerolog"
)

// FieldAMQ is the log field that carries a message identifier ("AMQ5051I"). An event that has it is written to the
// error log too, with the explanation the table of this package holds.
const FieldAMQ = "amq"

// NewLogger returns the manager's logger: JSON lines to w, and every event that has an AMQ identifier or is an error
// to errlog as well. errlog may be nil.
func NewLogger(w io.Writer, level zerolog.Level, qmgr string, errlog *ErrorLog) *zerolog.Logger {
	var out io.Writer = zerolog.SyncWriter(w)
	if errlog != nil {
		out = &tee{json: out, errlog: errlog}
	}
	zerolog.TimeFieldFormat = "2006-01-02T15:04:05.000Z07:00"
	l := zerolog.New(out).Level(level).With().Timestamp().Str("qmgr", qmgr).Logger()
	return &l
}

// tee copies events to the error log. It looks at the encoded line, so that packages need only a *zerolog.Logger.
type tee struct {
	json   io.Writer
	errlog *ErrorLog
}

func (t *tee) Write(p []byte) (int, error) { return t.WriteLevel(zerolog.NoLevel, p) }

func (t *tee) WriteLevel(level zerolog.Level, p []byte) (int, error) {
	n, err := t.json.Write(p)
	hasID := bytes.Contains(p, []byte(`"`+FieldAMQ+`":`))
	if !hasID && (level < zerolog.ErrorLevel || level == zerolog.NoLevel) {
		return n, err
	}
	fields := map[string]any{}
	if json.Unmarshal(p, &fields) != nil {
		return n, err
	}
	id, _ := fields[FieldAMQ].(string)
	if id == "" {
		id = "AMQ6109E"
	}
	text, _ := fields["message"].(string)
	if cause, ok := fields["error"]; ok {
		text += fmt.Sprintf(": %v", cause)
	}
	t.errlog.Write(id, text, fields)
	return n, err
}
