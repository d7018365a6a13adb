package obs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// MaxErrorLog is the size at which AMQERR01.LOG becomes AMQERR02.LOG when qm.ini names no other.
const MaxErrorLog = 32 << 20

// ErrorLog writes errors/AMQERR01.LOG. A failing write is dropped: the JSON log has the event too, and a full disk
// must not end a manager by way of its log.
type ErrorLog struct {
	file    *Rotating
	qmgr    string
	version string
	now     func() time.Time
}

// OpenErrorLog appends to dir/AMQERR01.LOG; 02 and 03 are older. max 0 is MaxErrorLog.
func OpenErrorLog(dir, qmgr, version string, max int64, now func() time.Time) (*ErrorLog, error) {
	if max <= 0 {
		max = MaxErrorLog
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	f, err := OpenRotating(max, filepath.Join(dir, "AMQERR01.LOG"), filepath.Join(dir, "AMQERR02.LOG"),
		filepath.Join(dir, "AMQERR03.LOG"))
	if err != nil {
		return nil, err
	}
	return &ErrorLog{file: f, qmgr: qmgr, version: version, now: now}, nil
}

// Write adds one entry. fields are the event's: those that are not shown elsewhere are listed as inserts.
func (l *ErrorLog) Write(id, text string, fields map[string]any) {
	_, _ = l.file.Write(l.entry(id, text, fields))
}

// Close ends the file.
func (l *ErrorLog) Close() error { return l.file.Close() }

func (l *ErrorLog) entry(id, text string, fields map[string]any) []byte {
	var b bytes.Buffer
	now := l.now()
	host, _ := os.Hostname()
	fmt.Fprintf(&b, "%s - Process(%d) Program(qmgrd)\n", now.Format("01/02/2006 03:04:05 PM"), os.Getpid())
	fmt.Fprintf(&b, "%20sHost(%s) VRMF(%s) QMgr(%s)\n", "", host, l.version, l.qmgr)
	fmt.Fprintf(&b, "%20sTime(%s)\n", "", now.UTC().Format("2006-01-02T15:04:05.000Z"))
	if ins := inserts(fields); ins != "" {
		fmt.Fprintf(&b, "%20s%s\n", "", ins)
	}
	fmt.Fprintf(&b, "\n%s: %s\n", id, clean(text))
	if n, ok := Explain(id); ok {
		fmt.Fprintf(&b, "\nEXPLANATION:\n%s\nACTION:\n%s\n", n.Explanation, n.Action)
	}
	fmt.Fprintf(&b, "%s\n", strings.Repeat("-", 79))
	return b.Bytes()
}

func inserts(fields map[string]any) string {
	var keys []string
	for k := range fields {
		switch k {
		case FieldAMQ, "message", "error", "level", "time", "qmgr":
		default:
			keys = append(keys, k)
		}
	}
	sort.Strings(keys)
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%s(%s)", k, clean(fmt.Sprint(fields[k])))
	}
	return strings.Join(keys, " ")
}

// clean keeps an entry in shape: text that came from outside cannot begin a line of its own or move the cursor.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
}
