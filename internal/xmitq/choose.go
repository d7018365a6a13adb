package xmitq

import (
	"crypto/sha256"
	"fmt"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Picks the way of a put to another member of a queue-sharing group. Rules: seed 004, open and put processing.

// Kind of a way.
type Kind uint8

const (
	Xmit Kind = iota // a transmission queue that a channel serves
	IGQ              // SYSTEM.QSG.TRANSMIT.QUEUE
)

// IGQQueue is the shared transmission queue of intra-group queuing.
const IGQQueue = "SYSTEM.QSG.TRANSMIT.QUEUE"

// The longest messages, header included, that a structure takes.
const (
	maxLowLevel  = 63 * 1024 // CFLEVEL 1 to 3
	maxHighLevel = 104857600 // CFLEVEL 4 and 5
)

// Target is what ordinary name resolution found for a name on another queue manager.
type Target struct {
	QName string // at the remote queue manager
	QMgr  string
	XmitQ string // "" when RC says why there is none
	RC    mqi.RC // 2087, 2196 … of the resolution, 0 with an XmitQ
}

// Structure is the coupling facility structure of the shared queue.
type Structure struct {
	Level   int  // CFLEVEL
	Recover bool // RECOVER(YES)
	// RC is 0, or why it can't be used now: 2345 out of reach, 2346 in use, 2347, 2348, 2349 not defined, 2373 failed,
	// 2192 full.
	RC mqi.RC
}

// SharedQueue is the state of SYSTEM.QSG.TRANSMIT.QUEUE.
type SharedQueue struct {
	Version   uint64 // from 1 on, another number after each change of the definition
	Shared    bool   // QSGDISP(SHARED)
	XmitUsage bool   // USAGE(XMITQ)
	MaxMsgL   int
	MaxDepth  int
	Depth     int
	Put       bool // PUT(ENABLED)
	Structure Structure
}

// Group is what a queue manager knows of its queue-sharing group at one moment. The zero value is no group.
type Group struct {
	Member func(qmgr string) bool // nil: not in a group
	IGQ    bool                   // IGQ(ENABLED) here
	Queue  *SharedQueue           // nil: not defined
}

// takes reports whether intra-group queuing is in force for a queue manager.
func (g *Group) takes(qmgr string) bool { return g.IGQ && g.Member != nil && g.Member(qmgr) }

// Candidates are the ways an open found. Which one is taken is decided by each put.
type Candidates struct {
	target  Target
	igq     bool
	version uint64 // of the shared queue at open; 0 when it was not defined
}

// Resolve is the part of MQOPEN that knows of intra-group queuing. Without it for the target, the open stands or falls
// with the transmission queue of the channel. With it, that queue may be missing: short messages need none.
func Resolve(t Target, g Group) (Candidates, error) {
	c := Candidates{target: t, igq: g.takes(t.QMgr)}
	if !c.igq {
		if t.RC != 0 {
			return Candidates{}, mqi.E("MQOPEN", t.QName, t.RC)
		}
		return c, nil
	}
	if g.Queue != nil {
		c.version = g.Queue.Version
	}
	switch t.RC {
	case 0:
	case mqi.MQRC_UNKNOWN_REMOTE_Q_MGR, mqi.MQRC_UNKNOWN_XMIT_Q, mqi.MQRC_UNKNOWN_DEF_XMIT_Q:
		// The shared queue is the only way, so it has to be usable.
		if rc := g.Queue.broken(); rc != 0 {
			return Candidates{}, mqi.Wrap("MQOPEN", t.QName, rc, fmt.Errorf("%s is the only way to %s and cannot be used", IGQQueue, t.QMgr))
		}
	default:
		return Candidates{}, mqi.E("MQOPEN", t.QName, t.RC)
	}
	return c, nil
}

// broken says why the queue cannot be used at all, 0 if it can.
func (q *SharedQueue) broken() mqi.RC {
	switch {
	case q == nil:
		return mqi.MQRC_UNKNOWN_XMIT_Q
	case !q.Shared:
		return mqi.MQRC_XMIT_Q_TYPE_ERROR
	case !q.XmitUsage:
		return mqi.MQRC_XMIT_Q_USAGE_ERROR
	}
	return q.Structure.RC
}

// limit is the longest message, header included, that counts as short. Two things steer it: the structure's level
// and the queue's MAXMSGL. Without a definition the default level's limit keeps short messages short.
func (q *SharedQueue) limit() int {
	if q == nil {
		return maxLowLevel
	}
	if q.Structure.Level >= 4 {
		return min(maxHighLevel, q.MaxMsgL)
	}
	return min(maxLowLevel, q.MaxMsgL)
}

// Shape is what of a message decides its way.
type Shape struct {
	Len        int // of the data as it will be stored, properties included
	MD         *mqi.MD
	Persistent bool
}

// Route is the way of one message.
type Route struct {
	Kind  Kind
	XmitQ string // the queue to put to
}

// Choose picks the way of a put. A way that cannot take the message fails the put: the other one is never tried. After a
// change of IGQ or of the shared queue's definition the handle is worth nothing any more, and each put gives 2041.
func (c Candidates) Choose(m Shape, g Group) (Route, error) {
	now := g.takes(c.target.QMgr)
	var version uint64
	if now && g.Queue != nil {
		version = g.Queue.Version
	}
	if now != c.igq || version != c.version {
		return Route{}, c.fail(mqi.MQRC_OBJECT_CHANGED, fmt.Errorf("IGQ or %s was altered after the open; close and open again", IGQQueue))
	}
	if !c.igq || m.Len+HeaderLen(m.MD) > g.Queue.limit() {
		if c.target.RC != 0 {
			return Route{}, c.fail(mqi.MQRC_MSG_TOO_BIG_FOR_Q, fmt.Errorf("too long for %s, and %s has no other transmission queue", IGQQueue, c.target.QMgr))
		}
		return Route{Kind: Xmit, XmitQ: c.target.XmitQ}, nil
	}
	if rc := g.Queue.refuses(m); rc != 0 {
		return Route{}, c.fail(rc, fmt.Errorf("%s cannot take the message", IGQQueue))
	}
	return Route{Kind: IGQ, XmitQ: IGQQueue}, nil
}

// refuses says why the shared queue does not take a short message, 0 if it does.
func (q *SharedQueue) refuses(m Shape) mqi.RC {
	if rc := q.broken(); rc != 0 {
		return rc
	}
	switch {
	case !q.Put:
		return mqi.MQRC_PUT_INHIBITED
	case m.Persistent && (q.Structure.Level <= 2 || !q.Structure.Recover):
		return mqi.MQRC_PERSISTENT_NOT_ALLOWED
	case q.Depth >= q.MaxDepth:
		return mqi.MQRC_Q_FULL
	}
	return 0
}

func (c Candidates) fail(rc mqi.RC, why error) error {
	return mqi.Wrap("MQPUT", c.target.QName, rc, why)
}

// Resolved are ResolvedQName and ResolvedQMgrName: the same whichever way is taken.
func (c Candidates) Resolved() (qName, qMgr string) { return c.target.QName, c.target.QMgr }

// AgentKey is the CorrelID with which a message for a member lies on the shared queue, so that its agent finds it. It is
// the member's name; one that does not fit is replaced by its digest.
func AgentKey(qmgr string) (id mqi.ID) {
	if len(qmgr) > len(id) {
		sum := sha256.Sum256([]byte(qmgr))
		copy(id[:], sum[:])
		return id
	}
	n := copy(id[:], qmgr)
	for i := n; i < len(id); i++ {
		id[i] = ' '
	}
	return id
}
