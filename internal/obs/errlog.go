package obs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"
)

// MaxErrorLog is the size at which AMQERR01.LOG becomes AMQERR02.LOG when qm.ini names no other.
const MaxErrorLog = 32 << 20

// errorLogs is how many files there are: 01 is written, 02 and 03 are older.
const errorLogs = 3

// ErrorLog writes errors/AMQERR01.LOG. A failing write is dropped: the JSON log has the event too, and a full disk
// must not end a manager by way of its log.
type ErrorLog struct {
	mu      sync.Mutex
	dir     string
	max     int64
	size    int64
	f       *os.File
	qmgr    string
	version string
	now     func() time.Time
}

// OpenErrorLog appends to dir/AMQERR01.LOG. max 0 is MaxErrorLog.
func OpenErrorLog(dir, qmgr, version string, max int64, now func() time.Time) (*ErrorLog, error) {
	if max <= 0 {
		max = MaxErrorLog
	}
	l := &ErrorLog{dir: dir, max: max, qmgr: qmgr, version: version, now: now}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	return l, l.open()
}

func (l *ErrorLog) name(n int) string {
	return filepath.Join(l.dir, fmt.Sprintf("AMQERR%02d.LOG", n))
}

func (l *ErrorLog) open() error {
	f, err := os.OpenFile(l.name(1), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	l.f, l.size = f, st.Size()
	return nil
}

// rotate moves 02 to 03 and 01 to 02. Called with mu held.
func (l *ErrorLog) rotate() error {
	l.f.Close()
	l.f = nil
	for n := errorLogs; n > 1; n-- {
		if err := os.Rename(l.name(n-1), l.name(n)); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return l.open()
}

// Write adds one entry. fields are the event's: those that are not shown elsewhere are listed as inserts.
func (l *ErrorLog) Write(id, text string, fields map[string]any) {
	entry := l.entry(id, text, fields)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil && l.open() != nil {
		return
	}
	if l.size > 0 && l.size+int64(len(entry)) > l.max {
		if l.rotate() != nil {
			return
		}
	}
	n, _ := l.f.Write(entry)
	l.size += int64(n)
}

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

// Close ends the file.
func (l *ErrorLog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.f == nil {
		return nil
	}
	err := l.f.Close()
	l.f = nil
	return err
}
