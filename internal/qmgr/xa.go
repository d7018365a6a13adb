package qmgr

import (
	"context"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// Two-phase units of work: the verbs of the X/Open XA specification, for transaction managers that coordinate this queue
// manager with others. Their answers are XA's return values, not reason codes. Starting and ending is here, what settles
// a unit in xa_settle.go, what is kept on disk in xa_record.go, what operators see in xa_admin.go.

// XID names a transaction branch. The parts are bytes, not text.
type XID struct {
	Format         int32
	Global, Branch string
}

// XARet is what an XA verb answers.
type XARet int32

// Return values of the XA verbs.
const (
	XAOK         XARet = 0
	XARBRollback XARet = 100 // rolled back
	XAReadOnly   XARet = 3   // prepared, and over: there was nothing to do
	XAHeurCom    XARet = 7   // an operator committed it
	XAHeurRB     XARet = 6   // an operator rolled it back
	XARMErr      XARet = -3
	XANotA       XARet = -4 // no such branch
	XAInval      XARet = -5
	XAProto      XARet = -6 // not now
	XARMFail     XARet = -7 // the connection or the queue manager is gone
	XADupID      XARet = -8
	XAOutside    XARet = -9 // the connection has a unit of work of its own
)

// Flags of the XA verbs.
const (
	TMNoFlags    int32 = 0
	TMJoin       int32 = 0x00200000
	TMEndRScan   int32 = 0x00800000
	TMStartRScan int32 = 0x01000000
	TMSuspend    int32 = 0x02000000
	TMSuccess    int32 = 0x04000000
	TMResume     int32 = 0x08000000
	TMFail       int32 = 0x20000000
	TMOnePhase   int32 = 0x40000000
)

const (
	// maxXIDPart is the longest part of an XID.
	maxXIDPart = 64
	// maxBranches is how many branches a queue manager keeps, maxUserBranches of one user who is no administrator,
	// maxConnBranches of one connection.
	maxBranches     = 10_000
	maxUserBranches = 2500
	maxConnBranches = 256
)

func (x XID) valid() bool {
	return x.Format != -1 && len(x.Global) > 0 && len(x.Global) <= maxXIDPart && len(x.Branch) <= maxXIDPart
}

type branchState uint8

const (
	branchActive     branchState = iota + 1 // a connection works on it
	branchSuspended                         // ended for a while, by the same connection
	branchIdle                              // ended, to be settled
	branchPrepared                          // survives everything until it is settled
	branchCommitted                         // settled by an operator, not forgotten
	branchRolledBack                        // the same
)

// branch is a transaction branch: one unit of work. Its fields are under xaState.mu; work is its connection's while it is active,
// and belongs to whoever has made it busy while it is settled.
type branch struct {
	xid      XID
	num      uint64 // transaction number, for operators
	state    branchState
	busy     bool // being prepared or settled
	failed   bool // it can only be rolled back
	conn     *Conn
	work     *uow
	born     time.Time
	prepared *preparedWork

	connID mqi.ID // who worked on it, also after a restart
	user   string // whose it is: who began it
	appl   string
	since  time.Time // when it was prepared
}

// preparedWork is what a prepared branch will do when it is committed. Its puts are in the store, hidden.
type preparedWork struct {
	puts      []putRef
	gets      []getRef
	retained  []retainedOp
	fired     []*firing
	sent      []*pubsub.Sub
	recovered bool // by a restart: what it would have triggered is not known any more
}

// xaState is the transaction branches of a queue manager.
type xaState struct {
	mu       invariants.Ranked[invariants.Branches]
	branches map[XID]*branch
	byUser   map[string]int // how many
	last     uint64         // transaction number
}

// xaConn is a connection's part.
type xaConn struct {
	open     bool
	used     bool // has worked on a branch
	active   *branch
	scanning bool   // XARecover goes on
	scanned  uint64 // behind this transaction number
}

// xaBegin starts an XA verb; the caller must unlock c.verb when it answers XAOK.
func (c *Conn) xaBegin(opened bool) XARet {
	if err := c.begin("XA", c.m.opt.Name); err != nil {
		if _, rc := mqi.Reason(err); rc == mqi.MQRC_CALL_IN_PROGRESS {
			return XAProto
		}
		return XARMFail
	}
	if opened && !c.xa.open {
		c.verb.Unlock()
		return XAProto
	}
	return XAOK
}

// XAOpen is xa_open. The information names the queue manager, or is blank.
func (c *Conn) XAOpen(_ context.Context, info string) XARet {
	if rc := c.xaBegin(false); rc != XAOK {
		return rc
	}
	defer c.verb.Unlock()
	if name := strings.TrimSpace(info); name != "" && name != c.m.opt.Name {
		return XAInval
	}
	c.xa.open = true
	return XAOK
}

// XAClose is xa_close. Work on a branch must have been ended.
func (c *Conn) XAClose(context.Context) XARet {
	if rc := c.xaBegin(false); rc != XAOK {
		return rc
	}
	defer c.verb.Unlock()
	if c.xa.active != nil {
		return XAProto
	}
	c.xa.open = false
	return XAOK
}

// XAStart is xa_start: what the connection does under syncpoint from now on belongs to the branch.
func (c *Conn) XAStart(_ context.Context, x XID, flags int32) XARet {
	if rc := c.xaBegin(true); rc != XAOK {
		return rc
	}
	defer c.verb.Unlock()
	switch {
	case !x.valid(), flags != TMNoFlags && flags != TMJoin && flags != TMResume:
		return XAInval
	case c.xa.active != nil:
		return XAProto
	case c.work != nil:
		return XAOutside
	}
	s := &c.m.xa
	all := flags != TMNoFlags && c.xaOthers("xa_start", x)
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.branches[x]
	var rc XARet
	switch {
	case flags == TMNoFlags:
		b, rc = s.add(b, x, c)
	case b != nil && !b.of(c) && !all:
		rc = XANotA
	default:
		rc = b.takeUp(c, flags)
	}
	if rc != XAOK {
		return rc
	}
	b.state, b.conn, b.connID, b.appl = branchActive, c, c.id, c.opt.ApplName
	c.mu.Lock()
	c.work, b.work = b.work, nil
	c.xa.active, c.xa.used = b, true
	c.mu.Unlock()
	return XAOK
}

// add makes a new branch. An identifier that is in use answers XAER_DUPID whoever's it is, as XA has it: identifiers are the
// resource manager's, not a user's, and two units under one would be settled for each other. It is the only answer by which a
// user can tell that another's branch is there, and only with its identifier. s.mu is held.
func (s *xaState) add(old *branch, x XID, c *Conn) (*branch, XARet) {
	switch {
	case old != nil:
		return nil, XADupID
	case len(s.branches) >= maxBranches, s.byUser[c.who.User] >= maxUserBranches && !c.who.Admin, s.crowded(c):
		return nil, XARMErr
	}
	s.last++
	b := &branch{xid: x, num: s.last, born: c.m.opt.Clock.Now(), user: c.who.User}
	s.keep(b)
	return b, XAOK
}

// keep and drop are how branches come and go. s.mu is held.
func (s *xaState) keep(b *branch) {
	s.branches[b.xid] = b
	s.byUser[b.user]++
}

func (s *xaState) drop(b *branch) {
	delete(s.branches, b.xid)
	if s.byUser[b.user]--; s.byUser[b.user] == 0 {
		delete(s.byUser, b.user)
	}
}

// crowded reports whether a connection has as many branches as it may. s.mu is held.
func (s *xaState) crowded(c *Conn) bool {
	if s.byUser[c.who.User] < maxConnBranches && !c.who.Admin { // an administrator takes up those of others
		return false
	}
	n := 0
	for _, b := range s.branches {
		if b.conn == c {
			n++
		}
	}
	return n >= maxConnBranches
}

// takeUp says whether a connection may go on with a branch. The lock is held.
func (b *branch) takeUp(c *Conn, flags int32) XARet {
	switch {
	case b == nil:
		return XANotA
	case b.busy, flags == TMResume && b.state != branchSuspended, flags == TMJoin && b.state != branchIdle:
		return XAProto
	case b.failed:
		return XARBRollback
	}
	if b.conn != c && b.work != nil {
		b.work.places = nil // places of handles of another connection
	}
	return XAOK
}

// XAEnd is xa_end.
func (c *Conn) XAEnd(_ context.Context, x XID, flags int32) XARet {
	if rc := c.xaBegin(true); rc != XAOK {
		return rc
	}
	defer c.verb.Unlock()
	if flags != TMSuccess && flags != TMFail && flags != TMSuspend {
		return XAInval
	}
	s := &c.m.xa
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.branches[x]
	switch {
	case b == nil, b.conn != c && !b.of(c):
		return XANotA
	case b == c.xa.active:
		b.work = c.xaDetach()
	case b.conn != c || b.state != branchSuspended || b.busy:
		return XAProto
	}
	b.state = branchIdle
	switch flags {
	case TMSuspend:
		b.state = branchSuspended
	case TMFail:
		b.failed = true
	}
	return XAOK
}

// xaDetach takes the branch and its work off the connection.
func (c *Conn) xaDetach() *uow {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.work
	c.work, c.xa.active = nil, nil
	if u != nil {
		u.skip, u.skipN = 0, 0 // of no use in a unit that others coordinate
	}
	return u
}

// leaveBranches takes the connection's branches from it, and returns the work that is to be undone.
func (c *Conn) leaveBranches() (undo []*uow) {
	s := &c.m.xa
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.branches {
		switch {
		case b.conn != c:
		case b.busy || b.state > branchIdle:
			b.conn = nil // whoever settles it goes on
		default:
			if b == c.xa.active {
				b.work = c.xaDetach()
			}
			if b.work != nil {
				undo = append(undo, b.work)
			}
			s.drop(b)
		}
	}
	return undo
}

// endBranches rolls back what the connection has not prepared, when it ends.
func (c *Conn) endBranches() {
	if !c.xa.used {
		return
	}
	for _, u := range c.leaveBranches() {
		c.m.undo(u)
		u.forgetPlaces()
	}
}

// coordinated is the reason why the connection cannot end its unit of work: somebody else coordinates it.
func (c *Conn) coordinated() mqi.RC {
	if c.xa.active != nil {
		return mqi.MQRC_ENVIRONMENT_ERROR
	}
	return 0
}
