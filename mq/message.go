package mq

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// ID is a message, correlation or group identifier.
type ID [24]byte

// Persistence says whether a message survives a restart of the queue manager.
type Persistence int

// Persistence of a message that is put. What was got is Persistent or NonPersistent.
const (
	PersistenceAsQueue Persistence = iota // DEFPSIST of the queue
	NonPersistent
	Persistent
)

// Message types, for Message.Type. Programs may use their own from 65536.
const (
	Request  int32 = mqi.MQMT_REQUEST
	Reply    int32 = mqi.MQMT_REPLY
	Report   int32 = mqi.MQMT_REPORT
	Datagram int32 = mqi.MQMT_DATAGRAM
)

// Flags of a message that belongs to a group, or is a segment of a longer one.
const (
	InGroup        int32 = mqi.MQMF_MSG_IN_GROUP
	LastInGroup    int32 = mqi.MQMF_LAST_MSG_IN_GROUP
	Segment        int32 = mqi.MQMF_SEGMENT
	LastSegment    int32 = mqi.MQMF_LAST_SEGMENT
	MayBeSegmented int32 = mqi.MQMF_SEGMENTATION_ALLOWED
)

// PriorityAsQueue lets DEFPRTY of the queue decide.
const PriorityAsQueue = int(mqi.MQPRI_PRIORITY_AS_Q_DEF)

// FormatString says that the body is text in the code page CCSID. Blank is a format that only the programs know.
const FormatString = "MQSTR"

// Message is a message with its descriptor. Use NewMessage to make one: the zero value has priority 0.
type Message struct {
	Body []byte

	Type        int32 // MQMT_*; 0 is Datagram
	Persistence Persistence
	Priority    int
	Expiry      time.Duration // 0: never; rounded up to tenths of a second
	Format      string
	CCSID       int32 // code page of a text body; 0: that of the queue manager
	Encoding    int32 // of numbers in the body; 0: little endian

	MsgID    ID // zero: the queue manager makes one, and Put fills it in
	CorrelID ID
	GroupID  ID
	Seq      int32 // in the group, from 1
	Offset   int32 // of a segment
	Flags    int32 // InGroup and the others, MQMF_*

	// Properties are put with the message. Those of a message that is got are here if the get asked for them.
	Properties Properties

	ReplyTo     string // queue for replies and reports
	ReplyToQMgr string
	Report      int32 // MQRO_*
	Feedback    int32

	// What follows is set by the queue manager when the message is put.
	User         string
	Appl         string
	ApplType     int32
	PutTime      time.Time // UTC; zero when the message has none
	BackoutCount int32

	AccountingToken          [32]byte
	ApplIdentity, ApplOrigin string // context that a program with the authority for it has set
	OriginalLength           int32  // of the message that a report tells about a segment of; -1: not known
	Queue                    string // that the message was got from; an alias's target

	token mqi.Token
}

// NewMessage makes a message of program data with the queue's default persistence and priority.
func NewMessage(body []byte) *Message { return &Message{Body: body, Priority: PriorityAsQueue} }

// NewText makes a message of text.
func NewText(s string) *Message {
	return &Message{Body: []byte(s), Priority: PriorityAsQueue, Format: FormatString, CCSID: ccsidUTF8}
}

// NewReply makes the answer to m, correlated by its message id.
func NewReply(m *Message, body []byte) *Message {
	r := NewMessage(body)
	r.Type, r.CorrelID, r.Persistence, r.Priority = Reply, m.MsgID, m.Persistence, m.Priority
	return r
}

const ccsidUTF8 = 1208

// tenth is the unit of MQMD's expiry.
const tenth = 100 * time.Millisecond

// md makes the descriptor of a message to put.
func (m *Message) md(md *mqi.MD) {
	*md = mqi.DefaultMD()
	md.Version = 2
	if m.Type != 0 {
		md.MsgType = m.Type
	}
	switch m.Persistence {
	case NonPersistent:
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
	case Persistent:
		md.Persistence = mqi.MQPER_PERSISTENT
	}
	md.Priority = int32(m.Priority)
	if m.Expiry > 0 {
		md.Expiry = int32(min((m.Expiry+tenth-1)/tenth, 1<<31-1))
	}
	if m.Encoding != 0 {
		md.Encoding = m.Encoding
	}
	md.Format, md.CodedCharSetID = m.Format, m.CCSID
	md.MsgID, md.CorrelID, md.GroupID = mqi.ID(m.MsgID), mqi.ID(m.CorrelID), mqi.ID(m.GroupID)
	if m.Seq != 0 {
		md.MsgSeqNumber = m.Seq
	}
	md.Offset, md.MsgFlags = m.Offset, m.Flags
	md.ReplyToQ, md.ReplyToQMgr, md.Report, md.Feedback = m.ReplyTo, m.ReplyToQMgr, m.Report, m.Feedback
}

// took fills in what the queue manager made of the descriptor.
func (m *Message) took(md *mqi.MD) {
	m.MsgID, m.CorrelID, m.GroupID = ID(md.MsgID), ID(md.CorrelID), ID(md.GroupID)
	m.Seq, m.Offset = md.MsgSeqNumber, md.Offset
	m.PutTime = putTime(md.PutDate, md.PutTime)
}

// got makes a message of what arrived. m.Body stays as it is.
func (m *Message) got(md *mqi.MD, queue string, token mqi.Token) {
	*m = Message{Body: m.Body, Type: md.MsgType, Priority: int(md.Priority), Format: md.Format, CCSID: md.CodedCharSetID,
		Encoding: md.Encoding, Flags: md.MsgFlags, ReplyTo: md.ReplyToQ, ReplyToQMgr: md.ReplyToQMgr, Report: md.Report,
		Feedback: md.Feedback, User: md.UserIdentifier, Appl: md.PutApplName, ApplType: md.PutApplType,
		BackoutCount: md.BackoutCount, Queue: queue, Persistence: NonPersistent, token: token,
		AccountingToken: md.AccountingToken, ApplIdentity: md.ApplIdentityData, ApplOrigin: md.ApplOriginData,
		OriginalLength: md.OriginalLength}
	if md.Persistence == mqi.MQPER_PERSISTENT {
		m.Persistence = Persistent
	}
	if md.Expiry > 0 {
		m.Expiry = time.Duration(md.Expiry) * tenth
	}
	m.took(md)
}

// putTime reads YYYYMMDD and HHMMSSTH, which are UTC.
func putTime(date, clock string) time.Time {
	d, ok := digits(date, 8)
	h, ok2 := digits(clock, 8)
	if !ok || !ok2 {
		return time.Time{}
	}
	return time.Date(d/10000, time.Month(d/100%100), d%100, h/1000000, h/10000%100, h/100%100, h%100*int(10*time.Millisecond),
		time.UTC)
}

func digits(s string, n int) (int, bool) {
	if len(s) != n {
		return 0, false
	}
	v := 0
	for i := range n {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int(c-'0')
	}
	return v, true
}
