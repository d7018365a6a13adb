package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"
)

// messageFlags are those of put, get and browse.
type messageFlags struct {
	persistent bool
	priority   int
	expiry     int
	correlID   string
	replyTo    string
	count      int
	wait       float64
	json       bool
	file       bool
}

// check looks at what was typed before anything is asked of a queue manager.
func (f *messageFlags) check(c *cobra.Command) error {
	changed := func(name string) bool { return c.Flags().Lookup(name) != nil && c.Flags().Changed(name) }
	id, err := hex.DecodeString(f.correlID)
	switch {
	case f.count < 0 || f.wait < 0:
		return errors.New("--count and --wait take no negative number")
	case changed("priority") && (f.priority < 0 || f.priority > 9):
		return fmt.Errorf("--priority %d: use 0 to 9", f.priority)
	case changed("expiry") && (f.expiry < 1 || f.expiry > math.MaxInt32):
		return fmt.Errorf("--expiry %d: use a number of tenths of a second from 1", f.expiry)
	case err != nil || len(id) > 24:
		return fmt.Errorf("--correlid %s: use up to 48 hexadecimal digits, two for a byte", f.correlID)
	}
	return nil
}

// maxLine bounds a line of standard input: the largest message there is.
const maxLine = 100 << 20

func (e *env) putCmd() *cobra.Command {
	var f messageFlags
	var r remoteFlags
	c := &cobra.Command{Use: "put QM QUEUE", Short: "put each line of standard input as a message",
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(f.check(c), r.check()); err != nil {
				return err
			}
			if r.on() {
				return e.remotePut(c, &r, args[0], f, target{queue: args[1]})
			}
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			q := url.Values{"queue": {args[1]}}
			if c.Flags().Changed("persistent") {
				q.Set("persistent", map[bool]string{true: "yes", false: "no"}[f.persistent])
			}
			if c.Flags().Changed("priority") {
				q.Set("priority", strconv.Itoa(f.priority))
			}
			if c.Flags().Changed("expiry") {
				q.Set("expiry", strconv.Itoa(f.expiry))
			}
			if f.correlID != "" {
				q.Set("correlid", f.correlID)
			}
			if f.replyTo != "" {
				q.Set("reply-to", f.replyTo)
			}
			if f.file {
				q.Set("format", "none")
			}
			cl, err := connect(dir, args[0])
			if err != nil {
				return err
			}
			return e.put(cl, q, f, nil)
		}}
	c.Flags().BoolVar(&f.persistent, "persistent", false, "persistent messages; =false nonpersistent (default: DEFPSIST of the queue)")
	c.Flags().IntVar(&f.priority, "priority", 0, "priority, 0 to 9 (default: DEFPRTY of the queue)")
	c.Flags().IntVar(&f.expiry, "expiry", 0, "life in tenths of a second (default: unlimited)")
	c.Flags().StringVar(&f.correlID, "correlid", "", "correlation identifier, `hex`")
	c.Flags().StringVar(&f.replyTo, "reply-to", "", "reply `queue`, or queue@queuemanager")
	c.Flags().IntVar(&f.count, "count", 0, "put at most so many messages")
	c.Flags().BoolVar(&f.json, "json", false, "print a JSON line with the messageId of each message")
	c.Flags().BoolVar(&f.file, "file", false, "the whole input is one message, bytes as they are, without a format (else MQSTR)")
	r.remote(c)
	return c
}

// put sends standard input and reports each message that was accepted. ack, when not nil, is told each identifier.
func (e *env) put(cl *client, q url.Values, f messageFlags, ack func(id string)) error {
	return e.send(cl, "/qmgrd/put", q, f, ack)
}

func (e *env) send(cl *client, path string, q url.Values, f messageFlags, ack func(id string)) error {
	pr, pw := io.Pipe()
	sent := make(chan error, 1)
	go func() {
		err := e.sendFrames(pw, f)
		pw.CloseWithError(err) // nil is io.EOF
		sent <- err
	}()
	resp, err := cl.do(e.ctx, http.MethodPost, path, q, pr)
	if err != nil {
		pr.CloseWithError(err)
		return err
	}
	defer resp.Body.Close()
	accepted := 0
	err = e.readLines(resp.Body, func(line []byte) error {
		var m struct{ MessageID string }
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		accepted++
		if ack != nil {
			ack(m.MessageID)
		}
		if f.json {
			_, err := fmt.Fprintf(e.stdout, "%s\n", line)
			return err
		}
		return nil
	})
	pr.CloseWithError(errors.New("the queue manager takes no more"))
	if err != nil {
		return withCode(exitRefused, fmt.Errorf("%w (accepted before it: %s)", err, counted(accepted, "message")))
	}
	// Only a stream that was read to its end can have ended well.
	return <-sent
}

// sendFrames frames lines, or the whole input, for the put stream. What is at hand is sent at once.
func (e *env) sendFrames(w io.Writer, f messageFlags) error {
	out := bufio.NewWriterSize(w, 64<<10)
	if f.file {
		b, err := io.ReadAll(io.LimitReader(e.stdin, maxLine+1))
		if err == nil && len(b) > maxLine {
			err = fmt.Errorf("the input has more than %d bytes", maxLine)
		}
		if err != nil {
			return err
		}
		return errors.Join(frame(out, b), out.Flush())
	}
	in := bufio.NewReaderSize(e.stdin, 64<<10)
	for n := 0; f.count == 0 || n < f.count; n++ {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := frame(out, line); err != nil {
			return err
		}
	}
	return out.Flush()
}

// readLine reads a line without its end; a last line may lack it. io.EOF comes alone.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("a line has more than %d bytes", maxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if errors.Is(err, io.EOF) && len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, err
		}
		line = line[:len(line)-1]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		return line, nil
	}
}

func frame(w io.Writer, b []byte) error {
	var head [4]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(b)))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(b)
	return err
}

// readLines hands every line of a stream but the last to fn; the last says how it ended.
func (e *env) readLines(r io.Reader, fn func(line []byte) error) error {
	return e.readSome(r, fn, func() error { return nil })
}

// readSome is readLines with a function for the moment before it has to wait.
func (e *env) readSome(r io.Reader, fn func(line []byte) error, idle func() error) error {
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		if in.Buffered() == 0 {
			if err := idle(); err != nil {
				return err
			}
		}
		line, err := in.ReadBytes('\n')
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = errors.New("the queue manager ended the connection")
			}
			return withCode(exitRefused, err)
		}
		if bytes.HasPrefix(line, []byte(`{"e`)) { // end or error: messages begin with messageId
			var last struct {
				End   *int
				Error *refusal
			}
			if err := json.Unmarshal(line, &last); err == nil && last.Error != nil {
				last.Error.Message = restID.ReplaceAllString(last.Error.Message, "")
				return withCode(exitRefused, last.Error)
			} else if err == nil && last.End != nil {
				return nil
			}
		}
		if err := fn(line[:len(line)-1]); err != nil {
			return err
		}
	}
}

// received is a message as the get stream has it.
type received struct {
	MessageID      string
	CorrelationID  string
	GroupID        string
	Persistence    int32
	Priority       int32
	Expiry         int32
	Format         string
	Encoding       int32
	CodedCharSetID int32
	MessageType    int32
	ReplyToQueue   string
	ReplyToQmgr    string
	UserIdentifier string
	PutDate        string
	PutTime        string
	BackoutCount   int32
	Body           *string
	BodyBase64     string

	Report           int32
	Feedback         int32
	PutApplType      int32
	PutApplName      string
	AccountingToken  string
	ApplIdentityData string
	ApplOriginData   string
	MsgSeqNumber     int32
	Offset           int32
	MsgFlags         int32
	OriginalLength   int32
}

func (m *received) bytes() ([]byte, error) {
	if m.Body != nil {
		return []byte(*m.Body), nil
	}
	return base64.StdEncoding.DecodeString(m.BodyBase64)
}

func (e *env) getCmd() *cobra.Command {
	return e.takeCmd("get", "get messages and print their bodies", "no")
}
func (e *env) browseCmd() *cobra.Command {
	return e.takeCmd("browse", "print messages and leave them", "yes")
}

func (e *env) takeCmd(name, short, browse string) *cobra.Command {
	var f messageFlags
	var r remoteFlags
	c := &cobra.Command{Use: name + " QM QUEUE", Short: short, Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := errors.Join(f.check(c), r.check()); err != nil {
				return err
			}
			if r.on() {
				return e.remoteGet(&r, args[0], args[1], browse == "yes", f)
			}
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			q := url.Values{"queue": {args[1]}, "browse": {browse}}
			cl, err := connect(dir, args[0])
			if err != nil {
				return err
			}
			n, err := e.take(cl, q, f, func(line []byte, m *received) error { return e.printMessage(line, m, f) })
			if err != nil {
				return err
			}
			if n < f.count {
				return withCode(exitRefused, fmt.Errorf("%d of %d messages came from %s", n, f.count, args[1]))
			}
			return nil
		}}
	c.Flags().StringVar(&f.correlID, "correlid", "", "only messages with this correlation identifier, `hex`")
	c.Flags().IntVar(&f.count, "count", 0, "end after so many messages (default: all that are there)")
	c.Flags().Float64Var(&f.wait, "wait", 0, "wait so many `seconds` for a message")
	c.Flags().BoolVar(&f.json, "json", false, "print descriptor and body as JSON, one message a line")
	c.Flags().BoolVar(&f.file, "file", false, "print bodies as they are, without line ends")
	r.remote(c)
	return c
}

// take reads a get or browse stream; fn sees each message.
func (e *env) take(cl *client, q url.Values, f messageFlags, fn func(line []byte, m *received) error) (int, error) {
	return e.receive(cl, "/qmgrd/get", q, f, fn)
}

func (e *env) receive(cl *client, path string, q url.Values, f messageFlags, fn func(line []byte, m *received) error) (int, error) {
	if f.count > 0 {
		q.Set("count", strconv.Itoa(f.count))
	}
	if f.wait > 0 {
		q.Set("wait", strconv.FormatInt(int64(f.wait*1000), 10))
	}
	if f.correlID != "" {
		q.Set("correlationId", f.correlID)
	}
	var body io.Reader
	acks := io.WriteCloser(nil)
	if q.Get("browse") != "yes" {
		q.Set("ack", "yes")
		body, acks = io.Pipe()
		defer acks.Close()
	}
	resp, err := cl.do(e.ctx, http.MethodPost, path, q, body)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	n, told := 0, 0
	ack := func() error { // what is printed is ours; the rest stays where it is
		if acks == nil || told == n {
			return nil
		}
		told = n
		// When nobody takes it the queue manager has ended the stream, and its last line says why.
		_, _ = fmt.Fprintf(acks, "%d\n", n)
		return nil
	}
	err = e.readSome(resp.Body, func(line []byte) error {
		var m received
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		if err := fn(line, &m); err != nil {
			_ = ack() // those before it
			return err
		}
		if n++; n-told >= ackEvery {
			return ack()
		}
		return nil
	}, ack)
	return n, err
}

// ackEvery is how many messages share an acknowledgement when more are at hand.
const ackEvery = 20

func (e *env) printMessage(line []byte, m *received, f messageFlags) error {
	if f.json {
		_, err := fmt.Fprintf(e.stdout, "%s\n", line)
		return err
	}
	b, err := m.bytes()
	if err != nil {
		return err
	}
	if !f.file {
		b = append(b, '\n')
	}
	_, err = e.stdout.Write(b)
	return err
}

// counted says a number of things in words.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
