package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/qmgrd/qmgrd/internal/daemon"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/paths"
)

// The sample programs: QUEUE [QM]. They end with the reason code's low byte when a call fails, as the vendor's do
// through exit(); 1 where that byte is 0.

// getterWait is how long amqsget waits for another message, in seconds.
const getterWait = 15

// sample finds queue and manager of a command line.
func (e *env) sample(name string, args []string) (*client, string, error) {
	if len(args) < 1 {
		return nil, "", &exitError{code: 99, err: errors.New("what to work on is missing"), usage: true}
	}
	dir, err := paths.DataDir("")
	if err != nil {
		return nil, "", withCode(99, err)
	}
	var qm string
	if len(args) > 1 {
		qm = args[1]
	} else if qm, err = defaultQM(dir); err != nil {
		return nil, "", reasonCode("MQCONN", mqi.MQRC_Q_MGR_NAME_ERROR, err)
	}
	cl, err := connect(dir, qm)
	if err != nil {
		return nil, "", reasonCode("MQCONN", mqi.MQRC_Q_MGR_NAME_ERROR, err)
	}
	fmt.Fprintf(e.stdout, "%s start\n", name)
	return cl, args[0], nil
}

// reasonCode is a failed call of a sample.
func reasonCode(call string, rc mqi.RC, err error) error {
	code := int(rc) & 0xff
	if code == 0 {
		code = 1
	}
	return withCode(code, fmt.Errorf("%s ended with reason code %d (%s): %w", call, rc, rc.Name(), err))
}

// sampleError turns what a stream ended with into a sample's exit.
func sampleError(err error) error {
	var r *refusal
	switch {
	case err == nil:
		return nil
	case errors.As(err, &r) && r.RC != 0:
		call, _, ok := strings.Cut(strings.TrimPrefix(r.Message, "MQWB0300E: "), " of ")
		if !ok {
			call = "the call"
		}
		return reasonCode(call, mqi.RC(r.RC), err)
	case errors.Is(err, daemon.ErrNotRunning):
		return reasonCode("MQCONN", mqi.MQRC_Q_MGR_NOT_AVAILABLE, err)
	}
	return withCode(1, err)
}

// amqsput puts lines until an empty one or the end of input.
func (e *env) amqsput(args []string) error {
	cl, queue, err := e.sample("amqsput", args)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "target queue is %s\n", queue)
	in := *e
	in.stdin = untilBlank(e.stdin)
	if err := in.put(cl, url.Values{"queue": {queue}, "appl": {"amqsput"}}, messageFlags{}, nil); err != nil {
		return sampleError(err)
	}
	fmt.Fprintln(e.stdout, "amqsput end")
	return nil
}

// untilBlank ends a reader before its first empty line.
func untilBlank(r io.Reader) io.Reader {
	pr, pw := io.Pipe()
	go func() {
		in := bufio.NewReader(r)
		for {
			line, err := readLine(in)
			if err != nil || len(line) == 0 {
				if errors.Is(err, io.EOF) {
					err = nil
				}
				pw.CloseWithError(err)
				return
			}
			if _, err := pw.Write(append(line, '\n')); err != nil {
				return
			}
		}
	}()
	return pr
}

// amqsget prints messages until none has come for getterWait seconds.
func (e *env) amqsget(args []string) error {
	cl, queue, err := e.sample("amqsget", args)
	if err != nil {
		return err
	}
	q := url.Values{"queue": {queue}, "browse": {"no"}, "appl": {"amqsget"}}
	_, err = e.take(cl, q, messageFlags{wait: getterWait}, func(_ []byte, m *received) error {
		b, err := m.bytes()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(e.stdout, "message <%s>\n", b)
		return err
	})
	if err != nil {
		return sampleError(err)
	}
	fmt.Fprintf(e.stdout, "no more messages\namqsget end\n")
	return nil
}

// amqsbcg browses a queue and prints descriptors and bodies.
func (e *env) amqsbcg(args []string) error {
	cl, queue, err := e.sample("amqsbcg", args)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "\n MQOPEN - '%s'\n", queue)
	q := url.Values{"queue": {queue}, "browse": {"yes"}, "appl": {"amqsbcg"}}
	n := 0
	_, err = e.take(cl, q, messageFlags{}, func(_ []byte, m *received) error {
		n++
		return e.dump(n, m)
	})
	if err != nil {
		return sampleError(err)
	}
	fmt.Fprintf(e.stdout, "\nno more messages\namqsbcg end\n")
	return nil
}

// dump prints one message: its descriptor, then its body as hexadecimal digits and characters.
func (e *env) dump(n int, m *received) error {
	body, err := m.bytes()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n\n MQGET of message number %d, CompCode:0 Reason:0\n", n)
	m.descriptor(&b)
	fmt.Fprintf(&b, "\n****   Message      ****\n\n length - %d of %d bytes\n\n", len(body), len(body))
	for off := 0; off < len(body); off += 16 {
		row := body[off:min(off+16, len(body))]
		var hex, text strings.Builder
		for i, c := range row {
			fmt.Fprintf(&hex, "%02X", c)
			if i%2 == 1 {
				hex.WriteByte(' ')
			}
			if c < ' ' || c > '~' {
				c = '.'
			}
			text.WriteByte(c)
		}
		fmt.Fprintf(&b, "%08X:  %-50s'%-16s'\n", off, hex.String(), text.String())
	}
	b.WriteByte('\n')
	_, err = e.stdout.Write(b.Bytes())
	return err
}

// descriptor prints the whole MQMD under the names, and in the order, that scripts look for.
func (m *received) descriptor(b *bytes.Buffer) {
	p := func(format string, args ...any) { fmt.Fprintf(b, format, args...) }
	id := func(name, hex string) { p("  %s : X'%s'\n", name, strings.ToUpper(hex)) }
	p("****Message descriptor****\n\n  StrucId  : 'MD  '  Version : 2\n")
	p("  Report   : %d  MsgType : %d\n  Expiry   : %d  Feedback : %d\n", m.Report, m.MessageType, m.Expiry, m.Feedback)
	p("  Encoding : %d  CodedCharSetId : %d\n  Format : '%-8s'\n", m.Encoding, m.CodedCharSetID, m.Format)
	p("  Priority : %d  Persistence : %d\n", m.Priority, m.Persistence)
	id("MsgId", m.MessageID)
	id("CorrelId", m.CorrelationID)
	p("  BackoutCount : %d\n  ReplyToQ       : '%-48s'\n  ReplyToQMgr    : '%-48s'\n", m.BackoutCount, m.ReplyToQueue, m.ReplyToQmgr)
	p("  ** Identity Context\n  UserIdentifier : '%-12s'\n", m.UserIdentifier)
	p("  AccountingToken :\n   X'%s'\n  ApplIdentityData : '%-32s'\n", strings.ToUpper(m.AccountingToken), m.ApplIdentityData)
	p("  ** Origin Context\n  PutApplType    : '%d'\n  PutApplName    : '%-28s'\n", m.PutApplType, m.PutApplName)
	p("  PutDate  : '%-8s'    PutTime  : '%-8s'\n  ApplOriginData : '%-4s'\n\n", m.PutDate, m.PutTime, m.ApplOriginData)
	id("GroupId", m.GroupID)
	p("  MsgSeqNumber   : '%d'\n  Offset         : '%d'\n  MsgFlags       : '%d'\n  OriginalLength : '%d'\n", m.MsgSeqNumber,
		m.Offset, m.MsgFlags, m.OriginalLength)
}
