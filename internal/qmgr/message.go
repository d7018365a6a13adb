package qmgr

import (
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// msgHead is the descriptor as the queue manager keeps it, with what it needs beside: the place in the delivery order,
// the moment of the put, and when the message expires.
type msgHead struct {
	md       mqi.MD
	deliver  uint8 // delivery priority
	putNanos int64 // Unix
	expire   int64 // Unix milliseconds, 0 never
	props    []byte
}

// The encoding: a fixed part (version, delivery priority, backout count, times, numbers, identifiers), then character
// fields as length and bytes. Version 1. A later version adds behind, and readers accept what they know.
const (
	headVersion = 1
	headBackout = 2 // offset of the backout count
	headFixed   = 2 + 4 + 8 + 8 + 14*4
	headIDs     = 3 * 24
)

var errHead = errors.New("message head is not readable")

// headTexts is the number of character fields.
const headTexts = 9

// texts are the character fields in the order of the encoding.
func (h *msgHead) texts() [headTexts]*string {
	md := &h.md
	return [...]*string{&md.Format, &md.ReplyToQ, &md.ReplyToQMgr, &md.UserIdentifier, &md.ApplIdentityData,
		&md.PutApplName, &md.PutDate, &md.PutTime, &md.ApplOriginData}
}

func encodeHead(h *msgHead) []byte {
	return appendHead(make([]byte, 0, headFixed+headIDs+96+len(h.props)), h)
}

func appendHead(b []byte, h *msgHead) []byte {
	md := &h.md
	b = append(b, headVersion, h.deliver)
	le := binary.LittleEndian
	b = le.AppendUint32(b, uint32(md.BackoutCount))
	b = le.AppendUint64(b, uint64(h.putNanos))
	b = le.AppendUint64(b, uint64(h.expire))
	for _, v := range [...]int32{md.Version, md.Report, md.MsgType, md.Feedback, md.Encoding, md.CodedCharSetID,
		md.Priority, md.Persistence, md.PutApplType, md.MsgSeqNumber, md.Offset, md.MsgFlags, md.OriginalLength, 0} {
		b = le.AppendUint32(b, uint32(v))
	}
	b = append(b, md.MsgID[:]...)
	b = append(b, md.CorrelID[:]...)
	b = append(b, md.GroupID[:]...)
	for _, s := range h.texts() {
		b = append(b, byte(len(*s)))
		b = append(b, *s...)
	}
	acct := md.AccountingToken[:]
	if md.AccountingToken == (mqi.Account{}) {
		acct = nil
	}
	b = append(b, byte(len(acct)))
	b = append(b, acct...)
	b = le.AppendUint32(b, uint32(len(h.props)))
	return append(b, h.props...)
}

func decodeHead(b []byte) (*msgHead, error) {
	h := new(msgHead)
	if err := h.decode(b, true, nil); err != nil {
		return nil, err
	}
	return h, nil
}

// decode reads all of a head. Without texts the names and properties are only checked to be there: loading a queue looks at
// millions of heads, and at no name in them. Texts that are equal in like, if that is given, are not made again.
func (h *msgHead) decode(b []byte, texts bool, like *msgHead) error {
	if len(b) < headFixed+headIDs || b[0] != headVersion {
		return errHead
	}
	le := binary.LittleEndian
	*h = msgHead{deliver: b[1]}
	md := &h.md
	md.BackoutCount = int32(le.Uint32(b[headBackout:]))
	h.putNanos = int64(le.Uint64(b[6:]))
	h.expire = int64(le.Uint64(b[14:]))
	p := b[22:]
	var reserved int32
	for _, v := range [...]*int32{&md.Version, &md.Report, &md.MsgType, &md.Feedback, &md.Encoding, &md.CodedCharSetID,
		&md.Priority, &md.Persistence, &md.PutApplType, &md.MsgSeqNumber, &md.Offset, &md.MsgFlags, &md.OriginalLength,
		&reserved} {
		*v = int32(le.Uint32(p))
		p = p[4:]
	}
	for _, id := range [...]*mqi.ID{&md.MsgID, &md.CorrelID, &md.GroupID} {
		p = p[copy(id[:], p):]
	}
	var old [headTexts]*string
	if like != nil {
		old = like.texts()
	}
	for i, s := range h.texts() {
		f, rest, ok := shortField(p)
		if !ok {
			return errHead
		}
		switch p = rest; {
		case !texts:
		case old[i] != nil && *old[i] == string(f):
			*s = *old[i]
		default:
			*s = string(f)
		}
	}
	acct, p, ok := shortField(p)
	if !ok || len(p) < 4 {
		return errHead
	}
	copy(md.AccountingToken[:], acct)
	n := int(le.Uint32(p))
	if n > len(p)-4 {
		return errHead
	}
	if n > 0 && texts {
		h.props = append([]byte(nil), p[4:4+n]...)
	}
	return nil
}

func shortField(p []byte) (f, rest []byte, ok bool) {
	if len(p) == 0 || len(p)-1 < int(p[0]) {
		return nil, nil, false
	}
	n := int(p[0])
	return p[1 : 1+n], p[1+n:], true
}

// withBackout returns a copy of an encoded head with another backout count.
func withBackout(head []byte, n int32) []byte {
	c := append([]byte(nil), head...)
	binary.LittleEndian.PutUint32(c[headBackout:], uint32(n))
	return c
}

// hashID makes the 32 bits an index entry keeps of an identifier. Every eight bytes are mixed in with the finaliser of
// MurmurHash3, so that identifiers that differ in a counter only are spread well.
func hashID(id *mqi.ID) uint32 {
	var h uint64
	for i := 0; i < len(id); i += 8 {
		h ^= binary.LittleEndian.Uint64(id[i:])
		h ^= h >> 33
		h *= 0xff51afd7ed558ccd
		h ^= h >> 33
		h *= 0xc4ceb9fe1a85ec53
		h ^= h >> 33
	}
	return uint32(h)
}

// expiryAt returns the moment a message with this Expiry ends, 0 for never.
func expiryAt(now time.Time, tenths int32) int64 {
	if tenths < 0 {
		return 0
	}
	return now.UnixMilli() + int64(tenths)*100
}

// expiryLeft is what MQMD.Expiry says now.
func expiryLeft(now time.Time, expire int64) int32 {
	if expire == 0 {
		return mqi.MQEI_UNLIMITED
	}
	left := (expire - now.UnixMilli() + 99) / 100
	if left < 1 {
		left = 1
	}
	return int32(left)
}

// putDateTime are MQMD.PutDate and PutTime of a moment, in GMT.
func putDateTime(t time.Time) (date, tod string) {
	s := t.UTC().Format("20060102150405.00")
	return s[:8], s[8:14] + s[15:17]
}

// stamps keeps the last text of a moment: within a hundredth of a second all messages have the same.
type stamps struct {
	last atomic.Pointer[stamp]
}

type stamp struct {
	hundredths int64 // Unix
	date, tod  string
}

// of is putDateTime.
func (s *stamps) of(t time.Time) (date, tod string) {
	n := t.UnixMilli() / 10
	if l := s.last.Load(); l != nil && l.hundredths == n {
		return l.date, l.tod
	}
	l := &stamp{hundredths: n}
	l.date, l.tod = putDateTime(t)
	s.last.Store(l)
	return l.date, l.tod
}
