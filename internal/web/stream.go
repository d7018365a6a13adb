package web

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The paths of qmgrd put, get and browse: many messages a request, any bytes.
//
// put takes frames (length as four bytes, big endian, then the body) and answers a line of JSON for each message once
// it is accepted: {"messageId":…}, at last {"end":N} or {"error":…}. Frames that have arrived together share a unit of
// work, so that they share a sync. get answers Message lines, then the same last line.

// batch is how many messages share a unit of work here, fewer where MAXUMSGS says so.
const batch = 100

// Message is a message as qmgrd get --json shows it. Numbers are those of the MQMD.
type Message struct {
	MessageID      string         `json:"messageId"`
	CorrelationID  string         `json:"correlationId"`
	GroupID        string         `json:"groupId"`
	Persistence    int32          `json:"persistence"`
	Priority       int32          `json:"priority"`
	Expiry         int32          `json:"expiry"`
	Format         string         `json:"format"`
	MessageType    int32          `json:"messageType"`
	ReplyToQueue   string         `json:"replyToQueue"`
	ReplyToQmgr    string         `json:"replyToQmgr"`
	UserIdentifier string         `json:"userIdentifier"`
	PutDate        string         `json:"putDate"`
	PutTime        string         `json:"putTime"`
	BackoutCount   int32          `json:"backoutCount"`
	Encoding       int32          `json:"encoding"`
	CodedCharSetID int32          `json:"codedCharSetId"`
	Properties     map[string]any `json:"properties"`
	Body           *string        `json:"body,omitempty"`
	BodyBase64     []byte         `json:"bodyBase64,omitempty"`

	Report           int32  `json:"report"`
	Feedback         int32  `json:"feedback"`
	PutApplType      int32  `json:"putApplType"`
	PutApplName      string `json:"putApplName"`
	AccountingToken  string `json:"accountingToken"`
	ApplIdentityData string `json:"applIdentityData"`
	ApplOriginData   string `json:"applOriginData"`
	MsgSeqNumber     int32  `json:"msgSeqNumber"`
	Offset           int32  `json:"offset"`
	MsgFlags         int32  `json:"msgFlags"`
	OriginalLength   int32  `json:"originalLength"`
}

func messageOf(md *mqi.MD, body []byte) *Message {
	m := &Message{
		MessageID: hex.EncodeToString(md.MsgID[:]), CorrelationID: hex.EncodeToString(md.CorrelID[:]),
		GroupID: hex.EncodeToString(md.GroupID[:]), Persistence: md.Persistence, Priority: md.Priority,
		Expiry: md.Expiry, Format: md.Format, Encoding: md.Encoding, CodedCharSetID: md.CodedCharSetID, MessageType: md.MsgType, ReplyToQueue: md.ReplyToQ,
		ReplyToQmgr: md.ReplyToQMgr, UserIdentifier: md.UserIdentifier, PutDate: md.PutDate, PutTime: md.PutTime,
		BackoutCount: md.BackoutCount, Properties: map[string]any{}, Report: md.Report, Feedback: md.Feedback,
		PutApplType: md.PutApplType, PutApplName: md.PutApplName, AccountingToken: hex.EncodeToString(md.AccountingToken[:]),
		ApplIdentityData: md.ApplIdentityData, ApplOriginData: md.ApplOriginData, MsgSeqNumber: md.MsgSeqNumber,
		Offset: md.Offset, MsgFlags: md.MsgFlags, OriginalLength: md.OriginalLength,
	}
	if isText(body) {
		text := string(body)
		m.Body = &text
	} else {
		m.BodyBase64 = body
	}
	return m
}

// lastLine ends a stream.
type lastLine struct {
	End   *int     `json:"end,omitempty"`
	Error *Problem `json:"error,omitempty"`
}

// lines writes JSON lines to a stream.
type lines struct {
	s *stream
	w *bufio.Writer
	e *json.Encoder
}

func (s *Server) newLines(w http.ResponseWriter) (*lines, error) {
	st, err := newStream(w)
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	l := &lines{s: st, w: bufio.NewWriterSize(st, 32<<10)}
	l.e = json.NewEncoder(l.w)
	l.e.SetEscapeHTML(false)
	return l, nil
}

func (l *lines) flush() error {
	if err := l.w.Flush(); err != nil {
		return err
	}
	return l.s.FlushError()
}

// end writes the last line. A reader that is gone needs none.
func (l *lines) end(n int, err error) error {
	last := lastLine{End: &n}
	if err != nil {
		last = lastLine{Error: ofError(err)}
	}
	if l.e.Encode(last) == nil {
		_ = l.flush()
	}
	return nil
}

// putDescriptor reads a descriptor from the query of put.
func putDescriptor(q url.Values) (*mqi.MD, error) {
	md := mqi.DefaultMD()
	md.Format, md.CodedCharSetID = formatString, 1208
	if q.Get("format") == "none" {
		md.Format = ""
	}
	switch v := q.Get("persistent"); v {
	case "":
	case "yes":
		md.Persistence = mqi.MQPER_PERSISTENT
	case "no":
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
	default:
		return nil, refuse("MQWB0104E", "persistent=%s: use yes or no", clip(v))
	}
	if v := q.Get("priority"); v != "" {
		n, err := parseInt("priority", v, -1, 9)
		if err != nil {
			return nil, err
		}
		md.Priority = int32(n)
	}
	if v := q.Get("expiry"); v != "" {
		n, err := parseInt("expiry", v, 1, 1<<31-1)
		if err != nil {
			return nil, err
		}
		md.Expiry = int32(n)
	}
	if v := q.Get("correlid"); v != "" {
		id, err := parseID("correlid", v)
		if err != nil {
			return nil, err
		}
		md.CorrelID = id
	}
	if v := q.Get("reply-to"); v != "" {
		md.MsgType = mqi.MQMT_REQUEST
		md.ReplyToQ, md.ReplyToQMgr = parseReplyTo(v)
	}
	return &md, nil
}

// postPut puts frames as they arrive.
func (s *Server) postPut(w http.ResponseWriter, r *http.Request) error {
	duplex(w)
	q := r.URL.Query()
	md, err := putDescriptor(q)
	if err != nil {
		return err
	}
	x, err := s.openQueue(r, q.Get("queue"), applName(q), mqi.MQOO_OUTPUT)
	if err != nil {
		return err
	}
	defer x.close()
	return s.putFrames(w, r, x, md, 0)
}

// putFrames puts frames as they arrive; options are further MQPMO_ options.
func (s *Server) putFrames(w http.ResponseWriter, r *http.Request, x *session, md *mqi.MD, options int32) error {
	out, err := s.newLines(w)
	if err != nil {
		return err
	}
	if err := out.flush(); err != nil {
		return nil // nobody reads
	}
	defer s.endReads(w, x.c.Done())()
	p := &putter{x: x, r: r, md: md, options: options, in: bufio.NewReaderSize(r.Body, 64<<10), out: out}
	n, err := p.run()
	if err == nil {
		x.end(r.Context())
	}
	return out.end(n, err)
}

func applName(q url.Values) string {
	if a := q.Get("appl"); a != "" {
		return clip(a)
	}
	return "qmgrd"
}

// putter runs one put stream.
type putter struct {
	x       *session
	r       *http.Request
	md      *mqi.MD
	options int32
	in      *bufio.Reader
	out     *lines
	ids     []string // put in the open unit of work
	n       int      // accepted
}

func (p *putter) run() (int, error) {
	for {
		if p.in.Buffered() == 0 {
			patient(p.r)
		}
		body, err := readFrame(p.in)
		if errors.Is(err, io.EOF) {
			return p.n, p.commit()
		}
		if err != nil {
			select {
			case <-p.x.c.Done():
				err = mqi.Wrap("MQPUT", p.r.URL.Query().Get("queue"), p.x.c.EndReason(), err)
			default:
			}
			return p.n, err
		}
		err = p.one(body)
		if isReason(err, mqi.MQRC_SYNCPOINT_LIMIT_REACHED) && len(p.ids) > 0 { // MAXUMSGS is less than a batch
			if err = p.commit(); err == nil {
				err = p.one(body)
			}
		}
		if err != nil {
			return p.n, errors.Join(err, p.commit()) // what was put before it is accepted
		}
		if len(p.ids) >= batch || !frameReady(p.in) {
			if err := p.commit(); err != nil {
				return p.n, err
			}
		}
	}
}

// one puts one message in the unit of work.
func (p *putter) one(body []byte) error {
	md, pmo := *p.md, mqi.DefaultPMO()
	pmo.Options = mqi.MQPMO_SYNCPOINT | mqi.MQPMO_NEW_MSG_ID | mqi.MQPMO_FAIL_IF_QUIESCING | p.options
	if err := p.x.c.Put(p.r.Context(), p.x.h, &md, &pmo, body); err != nil && !isWarning(err) {
		return err
	}
	p.ids = append(p.ids, hex.EncodeToString(md.MsgID[:]))
	return nil
}

// commit ends the unit of work and acknowledges its messages.
func (p *putter) commit() error {
	if len(p.ids) == 0 {
		return nil
	}
	if err := p.x.c.Commit(p.r.Context()); err != nil {
		return err
	}
	for _, id := range p.ids {
		if err := p.out.e.Encode(map[string]string{"messageId": id}); err != nil {
			return err
		}
	}
	p.n += len(p.ids)
	p.ids = p.ids[:0]
	return p.out.flush()
}

// readFrame reads a length and a body; io.EOF only between frames. A body grows as it arrives, so that a length alone
// costs nothing.
func readFrame(in *bufio.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, refuse("MQWB0103E", "the stream ends inside the length of a message")
		}
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(head[:]))
	if n > maxMessage {
		return nil, refuse("MQWB0106E", "a message of %d bytes, at most %d are taken", n, maxMessage)
	}
	if n <= int64(in.Size()) {
		b := make([]byte, n)
		if _, err := io.ReadFull(in, b); err != nil {
			return nil, refuse("MQWB0103E", "the stream ends inside a message")
		}
		return b, nil
	}
	b, err := io.ReadAll(io.LimitReader(in, n))
	if err == nil && int64(len(b)) < n {
		return nil, refuse("MQWB0103E", "the stream ends inside a message")
	}
	return b, err
}

// frameReady reports whether a whole frame has arrived, so that reading it does not wait.
func frameReady(in *bufio.Reader) bool {
	if in.Buffered() < 4 {
		return false
	}
	head, err := in.Peek(4)
	return err == nil && int64(in.Buffered()) >= 4+int64(binary.BigEndian.Uint32(head))
}
