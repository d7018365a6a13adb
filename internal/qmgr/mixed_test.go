package qmgr

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// medley is what the connections of TestOptionsMixed have in common: the texts that were put and got for good.
type medley struct {
	t    *testing.T
	next atomic.Int64

	mu        sync.Mutex
	sent, got map[string]int
	how       map[string]string // a text was put
	expires   map[string]bool
}

func (x *medley) note(m map[string]int, texts ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range texts {
		m[s]++
	}
}

// player is one connection, with what it has done in its unit of work.
type player struct {
	*medley
	rnd        *rand.Rand
	c          *Conn
	hs         []Handle
	puts, gets []string
	marked     []string // got with MARK_SKIP_BACKOUT
	branch     int      // number of its transaction branch, 0: it has units of its own
	token      mqi.Token
	ids        []mqi.ID
	place      *Waiting
	bell       bell
	verb       atomic.Value // for who asks why it hangs
}

func (x *player) one(of ...int32) int32 { return of[x.rnd.IntN(len(of))] }

// some is any of the flags together.
func (x *player) some(of ...int32) (o int32) {
	for _, f := range of {
		if x.rnd.IntN(len(of)+1) == 0 {
			o |= f
		}
	}
	return o
}

func (x *player) handle() Handle { return x.hs[x.rnd.IntN(len(x.hs))] }

func (x *player) open() {
	od := mqi.DefaultOD()
	od.Version, od.ObjectName = 4, []string{"Q0", "Q1", "A0"}[x.rnd.IntN(3)]
	if x.rnd.IntN(4) == 0 {
		od.SelectionString = "Root.MQMD.Priority > 3"
	}
	if h, err := x.c.Open(bg, &od, x.one(inOut|mqi.MQOO_CO_OP|mqi.MQOO_SAVE_ALL_CONTEXT, inOut, mqi.MQOO_BROWSE|mqi.MQOO_CO_OP,
		mqi.MQOO_INPUT_SHARED|mqi.MQOO_OUTPUT)); err == nil {
		x.hs = append(x.hs, h)
	}
}

func (x *player) put() {
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	text := fmt.Sprintf("%d;", x.next.Add(1))
	md.Version, md.Priority, md.Persistence = 2, x.one(0, 4, 8), x.one(0, 1)
	md.CorrelID = mqi.ID{byte(x.rnd.IntN(4))}
	switch x.rnd.IntN(4) {
	case 0:
		md.MsgFlags = x.some(groupMsg, lastGroup, segmentMsg, lastSegment)
		pmo.Options |= logicalPut
	case 1:
		md.MsgFlags = x.some(groupMsg, lastGroup, segmentMsg)
		md.GroupID, md.MsgSeqNumber, md.Offset = mqi.ID{9, byte(x.rnd.IntN(3))}, x.one(1, 2, 3), x.one(0, int32(len(text)))
	}
	if x.rnd.IntN(6) == 0 {
		md.Expiry = x.one(1, 2, 3)
	}
	if x.rnd.IntN(8) == 0 {
		md.Report, md.ReplyToQ = mqi.MQRO_COD, "REPLY"
	}
	pmo.Options |= x.one(0, mqi.MQPMO_SYNCPOINT)
	x.mu.Lock()
	x.how[text] = fmt.Sprintf("flags %x, report %x, persistence %d, options %x", md.MsgFlags, md.Report, md.Persistence, pmo.Options)
	x.expires[text] = md.Expiry > 0
	x.mu.Unlock()
	err := x.c.Put(bg, x.handle(), &md, &pmo, []byte(text))
	if cc, _ := mqi.Reason(err); cc == mqi.CCFailed {
		return
	}
	x.ids = append(x.ids[max(0, len(x.ids)-5):], md.MsgID)
	if pmo.Options&mqi.MQPMO_SYNCPOINT != 0 {
		x.puts = append(x.puts, text)
	} else {
		x.note(x.sent, text)
	}
}

const takesAway = mqi.MQGMO_UNLOCK | mqi.MQGMO_UNMARK_BROWSE_CO_OP | mqi.MQGMO_UNMARK_BROWSE_HANDLE

// asks makes up what a get asks for.
func (x *player) asks() (md mqi.MD, gmo mqi.GMO) {
	md, gmo = mqi.DefaultMD(), mqi.DefaultGMO()
	o := x.some(mqi.MQGMO_WAIT, completeGet, logicalGet, mqi.MQGMO_ALL_MSGS_AVAILABLE, mqi.MQGMO_ALL_SEGMENTS_AVAILABLE)
	switch x.rnd.IntN(12) {
	case 0, 1, 2:
		o |= x.one(mqi.MQGMO_BROWSE_FIRST, mqi.MQGMO_BROWSE_NEXT, mqi.MQGMO_BROWSE_NEXT, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR)
		o |= x.some(mqi.MQGMO_LOCK, mqi.MQGMO_MARK_BROWSE_HANDLE, mqi.MQGMO_MARK_BROWSE_CO_OP, mqi.MQGMO_UNMARKED_BROWSE_MSG)
	case 3:
		o = x.one(mqi.MQGMO_UNLOCK, mqi.MQGMO_UNMARK_BROWSE_CO_OP, mqi.MQGMO_UNMARK_BROWSE_HANDLE)
	case 4, 5:
		o |= mqi.MQGMO_MSG_UNDER_CURSOR | x.one(0, mqi.MQGMO_SYNCPOINT)
	case 6:
		if x.branch == 0 {
			o |= mqi.MQGMO_SYNCPOINT | mqi.MQGMO_MARK_SKIP_BACKOUT
		}
	default:
		o |= x.one(0, mqi.MQGMO_SYNCPOINT, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT, mqi.MQGMO_SYNCPOINT)
	}
	md.Version, gmo.Version, gmo.Options, gmo.WaitInterval, gmo.MatchOptions = 2, 4, o, x.one(0, 1, 3), 0
	switch x.rnd.IntN(8) {
	case 0:
		gmo.MatchOptions, md.CorrelID = mqi.MQMO_MATCH_CORREL_ID, mqi.ID{byte(x.rnd.IntN(4))}
	case 1:
		if len(x.ids) > 0 {
			gmo.MatchOptions, md.MsgID = mqi.MQMO_MATCH_MSG_ID, x.ids[x.rnd.IntN(len(x.ids))]
		}
	case 2:
		gmo.MatchOptions, gmo.MsgToken = mqi.MQMO_MATCH_MSG_TOKEN, x.token
	case 3:
		gmo.MatchOptions = mqi.MQMO_MATCH_GROUP_ID | mqi.MQMO_MATCH_MSG_SEQ_NUMBER
		md.GroupID, md.MsgSeqNumber = mqi.ID{9, byte(x.rnd.IntN(3))}, x.one(1, 2, 3)
	}
	return md, gmo
}

func (x *player) get() {
	md, gmo := x.asks()
	o, size := gmo.Options, 1<<16
	if x.rnd.IntN(10) == 0 {
		size = 1
	}
	x.verb.Store(fmt.Sprintf("get, options %x, match %x", o, gmo.MatchOptions))
	data, err := x.getBy(x.handle(), &md, &gmo, size)
	if cc, rc := mqi.Reason(err); cc == mqi.CCFailed || rc == mqi.MQRC_TRUNCATED_MSG_FAILED || o&takesAway != 0 {
		return
	}
	if x.token = gmo.MsgToken; o&getBrowse != 0 {
		return
	}
	texts := strings.SplitAfter(string(data), ";")
	texts = texts[:len(texts)-1] // behind the last one is nothing
	switch {
	case o&mqi.MQGMO_MARK_SKIP_BACKOUT != 0:
		x.marked = texts
	case o&mqi.MQGMO_SYNCPOINT != 0, o&mqi.MQGMO_SYNCPOINT_IF_PERSISTENT != 0 && md.Persistence == mqi.MQPER_PERSISTENT:
		x.gets = append(x.gets, texts...)
	default:
		x.note(x.got, texts...)
	}
}

// getBy gets in this goroutine or as one who waits without any.
func (x *player) getBy(h Handle, md *mqi.MD, gmo *mqi.GMO, size int) ([]byte, error) {
	s, data, err := GetUnfit, []byte(nil), error(nil)
	if x.rnd.IntN(2) == 0 {
		data, _, s, err = x.place.Get(h, md, gmo, size)
	}
	for {
		switch s {
		case GetOver:
			return data, err
		case GetUnfit:
			data, _, err = x.c.Get(bg, h, md, gmo, size)
			return data, err
		case GetBlocks:
			data, _, s, err = x.place.Finish(true)
		default:
			if s == GetWaits && x.rnd.IntN(20) == 0 {
				x.place.Cancel()
				return nil, mqi.E("MQGET", "", mqi.MQRC_NO_MSG_AVAILABLE)
			}
			<-x.bell
			data, _, s, err = x.place.Resume()
		}
	}
}

// settled is called when the unit of work has ended.
func (x *player) settled(committed bool) {
	if committed {
		x.note(x.sent, x.puts...)
		x.note(x.got, x.gets...)
		x.note(x.got, x.marked...)
		x.gets = nil
	} else {
		x.gets = x.marked // a unit of work of its own now
	}
	x.puts, x.marked = nil, nil
}

func (x *player) end() {
	committed := x.rnd.IntN(3) > 0
	switch {
	case x.branch > 0:
		committed = x.endBranch()
		x.begin()
	case committed:
		wantRC(x.t, x.c.Commit(bg), 0)
	default:
		wantRC(x.t, x.c.Backout(bg), 0)
	}
	x.settled(committed)
}

func (x *player) xid() XID { return xid(fmt.Sprint(x.c.num, ".", x.branch)) }

func (x *player) begin() {
	x.branch++
	wantXA(x.t, x.c.XAStart(bg, x.xid(), TMNoFlags), XAOK)
}

func (x *player) endBranch() (committed bool) {
	id, way := x.xid(), x.rnd.IntN(4)
	wantXA(x.t, x.c.XAEnd(bg, id, TMSuccess), XAOK)
	if way < 2 {
		if x.c.XAPrepare(bg, id) == XAReadOnly {
			return true
		}
	}
	switch way {
	case 0:
		wantXA(x.t, x.c.XACommit(bg, id, TMNoFlags), XAOK)
	case 2:
		wantXA(x.t, x.c.XACommit(bg, id, TMOnePhase), XAOK)
	default:
		wantXA(x.t, x.c.XARollback(bg, id), XAOK)
	}
	return way%2 == 0
}

func (x *player) play(verbs int) {
	defer x.c.Break()
	x.bell = make(bell, 1)
	x.place = x.c.NewWaiting(x.bell)
	if x.c.num%3 == 0 {
		wantXA(x.t, x.c.XAOpen(bg, ""), XAOK)
		x.begin()
	}
	for range verbs {
		switch k := x.rnd.IntN(20); {
		case len(x.hs) == 0 || k == 0 && len(x.hs) < 6:
			x.open()
		case k == 1:
			i := x.rnd.IntN(len(x.hs))
			_ = x.c.Close(bg, x.hs[i], 0) // in the middle of a group it warns
			x.hs = append(x.hs[:i], x.hs[i+1:]...)
		case k < 4:
			x.verb.Store("end")
			x.end()
		case k < 10:
			x.verb.Store("put")
			x.put()
		default:
			x.get()
		}
	}
}

// drain gets what is left.
func (x *medley) drain(r *rig, name string) {
	h := r.openQ(r.c, name, inOut)
	for {
		s, _, err := tryGet(r.c, h, 0)
		if err != nil {
			wantRC(x.t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			break
		}
		x.note(x.got, s)
	}
	q := r.m.lookup(ClassQueue, name).Queue
	checkQueue(x.t, q)
	if q.depth() != 0 || q.uncom != 0 || q.got != 0 || q.wait.n != 0 || len(q.cursors) != 0 || len(q.coop) != 0 || q.parts.bySlot != nil {
		x.t.Errorf("%s: depth %d, uncommitted %d, got %d, %d wait, %d cursors, %d marks, %d places in groups", name, q.depth(), q.uncom, q.got,
			q.wait.n, len(q.cursors), len(q.coop), len(q.parts.bySlot))
	}
}

// Gets, browses and puts with all kinds of options, in units of work and branches, meet on two queues, which are inhibited at times: each
// verb ends, no message is lost, none comes twice.
func TestOptionsMixed(t *testing.T) {
	for range 3 {
		r := newRig(t)
		r.m.opt.Clock = clock.Real()
		for _, name := range []string{"Q0", "Q1", "REPLY"} {
			r.define("QLOCAL", name, "MAXDEPTH", "100000")
		}
		r.define("QALIAS", "A0", "TARGET", "Q0")
		r.alter(ClassQmgr, qmgrName, "MARKINT", "20")
		x := &medley{t: t, sent: map[string]int{}, got: map[string]int{}, how: map[string]string{}, expires: map[string]bool{}}
		seed := rand.Uint64()
		var players []*player
		var wg sync.WaitGroup
		for i := range uint64(8) {
			c, err := r.m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{ApplName: "mixed"})
			wantRC(t, err, 0)
			p := &player{medley: x, rnd: rand.New(rand.NewPCG(seed, i)), c: c}
			players = append(players, p)
			wg.Go(func() { p.play(1000) })
		}
		over := make(chan struct{})
		go func() { wg.Wait(); close(over) }()
		deadline := time.After(60 * time.Second)
		for i, running := 0, true; running; i++ {
			select {
			case <-over:
				running = false
			case <-time.After(300 * time.Microsecond):
				r.alter(ClassQueue, "Q0", "GET", []string{"DISABLED", "ENABLED", "ENABLED"}[i%3], "PUT", []string{"ENABLED", "DISABLED"}[i%2])
			case <-deadline:
				for _, p := range players {
					t.Logf("in a verb: %v; the last was %v", p.c.inVerb(), p.verb.Load())
				}
				panic(fmt.Sprintf("seed %d: a verb does not end", seed))
			}
		}
		r.alter(ClassQueue, "Q0", "GET", "ENABLED")
		x.drain(r, "Q0")
		x.drain(r, "Q1")
		for s, n := range x.got {
			if n != 1 || x.sent[s] != 1 {
				t.Errorf("seed %d: %s put %d times, got %d times: %s", seed, s, x.sent[s], n, x.how[s])
			}
		}
		for s := range x.sent {
			if x.got[s] == 0 && !x.expires[s] {
				t.Errorf("seed %d: %s is lost: %s", seed, s, x.how[s])
			}
		}
		r.stop()
	}
}
