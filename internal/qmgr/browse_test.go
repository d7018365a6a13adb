package qmgr

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func browseRig(t *testing.T, texts ...string) (*rig, Handle) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	for _, s := range texts {
		r.put(r.c, h, s, 0)
	}
	return r, h
}

func (r *rig) wantNext(h Handle, opts int32, want string) {
	r.t.Helper()
	s, _, err := tryGet(r.c, h, opts)
	if want == "" {
		wantRC(r.t, err, mqi.MQRC_NO_MSG_AVAILABLE)
		return
	}
	if err != nil || s != want {
		r.t.Fatalf("browsed %q, %v, want %q", s, err, want)
	}
}

func TestBrowseCursor(t *testing.T) {
	r, h := browseRig(t, "a", "b", "c", "d")
	const first, next, here = mqi.MQGMO_BROWSE_FIRST, mqi.MQGMO_BROWSE_NEXT, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR
	r.wantNext(h, next, "a") // before the first message at open
	r.wantNext(h, next, "b")
	r.wantNext(h, here, "b")
	// The message under the cursor and its neighbours leave.
	r.wantNext(h, mqi.MQGMO_MSG_UNDER_CURSOR, "b")
	_, _, err := tryGet(r.c, h, mqi.MQGMO_MSG_UNDER_CURSOR)
	wantRC(t, err, mqi.MQRC_NO_MSG_UNDER_CURSOR)
	r.wantNext(h, 0, "a")
	r.wantNext(h, 0, "c")
	r.wantNext(h, next, "d")
	r.wantNext(h, next, "")
	// What comes later is seen, unless its priority places it before the cursor.
	r.put(r.c, h, "high", 0, func(md *mqi.MD) { md.Priority = 9 })
	r.wantNext(h, next, "")
	r.put(r.c, h, "e", 0)
	r.wantNext(h, next, "e")
	r.wantNext(h, first, "high")
	r.wantNext(h, next, "d")
	// A message got in a unit of work isn't browsed, and comes back to its place.
	h2 := r.openQ(r.c, "Q", inOut)
	r.wantNext(h2, mqi.MQGMO_SYNCPOINT, "high")
	r.wantNext(h2, first, "d")
	wantRC(t, r.c.Backout(bg), 0)
	r.wantNext(h2, first, "high")
}

func TestBrowseUncommittedKeepsPlace(t *testing.T) {
	r, h := browseRig(t)
	c2 := r.connect()
	h2 := r.openQ(c2, "Q", inOut)
	r.put(r.c, h, "1", 0)
	r.put(c2, h2, "2", mqi.MQPMO_SYNCPOINT)
	r.put(r.c, h, "3", 0)
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST, "1")
	r.wantNext(h, mqi.MQGMO_BROWSE_NEXT, "3")
	_, _, err := tryGet(c2, h2, 0, func(md *mqi.MD, g *mqi.GMO) { md.MsgID[0] = 1 })
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	wantRC(t, c2.Commit(bg), 0)
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST, "1")
	r.wantNext(h, mqi.MQGMO_BROWSE_NEXT, "2")
	r.wantNext(h, mqi.MQGMO_BROWSE_NEXT, "3")
}

func TestBrowseLock(t *testing.T) {
	r, h := browseRig(t, "a", "b")
	other := r.openQ(r.c, "Q", inOut)
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK, "a")
	r.wantNext(other, mqi.MQGMO_BROWSE_FIRST, "b") // no other handle sees it
	r.wantNext(other, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK, "b")
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST, "a") // its own does; the lock is gone
	r.wantNext(other, mqi.MQGMO_BROWSE_FIRST, "a")
}

// A browse that waits sees the message when its lock is given up.
func TestBrowseWaitsForUnlock(t *testing.T) {
	r, h := browseRig(t, "a")
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK, "a")
	_, ch := r.getWait("Q", mqi.MQGMO_BROWSE_FIRST)
	r.awaitWaiters("Q", 1)
	_, _, err := tryGet(r.c, h, mqi.MQGMO_UNLOCK)
	wantRC(t, err, 0)
	if m := r.receive(ch); m.err != nil || m.text != "a" {
		t.Fatalf("%q %v", m.text, m.err)
	}
}

func TestBrowseUnlock(t *testing.T) {
	r, h := browseRig(t, "a")
	other := r.openQ(r.c, "Q", inOut)
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK, "a")
	r.wantNext(other, 0, "")
	_, _, err := tryGet(r.c, h, mqi.MQGMO_UNLOCK)
	wantRC(t, err, 0)
	_, _, err = tryGet(r.c, h, mqi.MQGMO_UNLOCK)
	wantRC(t, err, mqi.MQRC_NO_MSG_LOCKED)
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK, "a")
	r.wantNext(h, mqi.MQGMO_MSG_UNDER_CURSOR, "a")
	r.put(r.c, h, "b", 0)
	r.wantNext(h, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK, "b")
	wantRC(t, r.c.Close(bg, h, 0), 0)
	r.wantNext(other, 0, "b")
}

// A browse that finds nothing more gives up the lock on what it stands on, when it begins to wait too; one whose buffer is too
// small does not.
func TestBrowseOnGivesUpLock(t *testing.T) {
	const lockFirst, next = mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_LOCK, mqi.MQGMO_BROWSE_NEXT
	for name, c := range map[string]struct {
		on   func(r *rig, h Handle)
		kept bool
	}{
		"at the end": {func(r *rig, h Handle) { r.wantNext(h, next, "") }, false},
		"too small": {func(r *rig, h Handle) {
			r.put(r.c, h, "b", 0)
			md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
			gmo.Options = next | mqi.MQGMO_LOCK
			_, _, err := r.c.Get(bg, h, &md, &gmo, 0)
			wantRC(r.t, err, mqi.MQRC_TRUNCATED_MSG_FAILED)
		}, true},
		"refused": {func(r *rig, h Handle) {
			_, _, err := tryGet(r.c, h, next, func(_ *mqi.MD, g *mqi.GMO) { g.MatchOptions = 1 << 20 })
			wantRC(r.t, err, mqi.MQRC_MATCH_OPTIONS_ERROR)
		}, true},
		"under the cursor": {func(r *rig, h Handle) { r.wantNext(h, mqi.MQGMO_BROWSE_MSG_UNDER_CURSOR, "a") }, true},
	} {
		r, h := browseRig(t, "a")
		r.wantNext(h, lockFirst, "a")
		c.on(r, h)
		_, _, err := tryGet(r.c, h, mqi.MQGMO_UNLOCK)
		if _, rc := reasonOf(err); (rc == 0) != c.kept {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, h := browseRig(t, "a")
	r.wantNext(h, lockFirst, "a")
	ch := r.waitOn(r.c, h, next)
	r.awaitWaiters("Q", 1)
	c := r.connect()
	other := r.openQ(c, "Q", inOut)
	if text, _, err := tryGet(c, other, 0); err != nil || text != "a" {
		t.Errorf("while it waits: %q %v", text, err)
	}
	r.put(c, other, "b", 0)
	if m := r.receive(ch); m.err != nil || m.text != "b" {
		t.Errorf("%q %v", m.text, m.err)
	}
}

// The lock of a message that comes in segments is on all of them.
func TestBrowseLockSegments(t *testing.T) {
	const browse = mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_LOCK | completeGet
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h, other := r.openQ(r.c, "Q", inOut), r.openQ(r.c, "Q", inOut)
	for i, text := range []string{"a", "b", "c"} {
		r.put(r.c, h, text, logicalPut, flagged([]int32{segmentMsg, segmentMsg, lastSegment}[i]))
	}
	r.wantNext(h, browse, "abc")
	r.wantNext(other, 0, "")
	r.wantNext(other, completeGet, "")
	r.wantNext(other, mqi.MQGMO_BROWSE_FIRST, "")
	_, _, err := tryGet(r.c, h, mqi.MQGMO_UNLOCK)
	wantRC(t, err, 0)
	r.wantNext(other, browse, "abc")
	r.wantNext(h, 0, "")
	r.wantNext(other, mqi.MQGMO_MSG_UNDER_CURSOR|completeGet, "abc")
	_, _, err = tryGet(r.c, other, mqi.MQGMO_UNLOCK)
	wantRC(t, err, mqi.MQRC_NO_MSG_LOCKED)
}

func TestBrowseMarks(t *testing.T) {
	r, h := browseRig(t, "a", "b", "c")
	const unmarked = mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_UNMARKED_BROWSE_MSG
	r.wantNext(h, unmarked|mqi.MQGMO_MARK_BROWSE_HANDLE, "a")
	r.wantNext(h, unmarked|mqi.MQGMO_MARK_BROWSE_HANDLE, "b")
	other := r.openQ(r.c, "Q", inOut)
	r.wantNext(other, unmarked, "a") // another handle's mark
	_, _, err := tryGet(r.c, h, mqi.MQGMO_UNMARK_BROWSE_HANDLE)
	wantRC(t, err, 0)
	r.wantNext(h, unmarked, "b")

	co1, co2 := r.openQ(r.c, "Q", inOut|mqi.MQOO_CO_OP), r.openQ(r.c, "Q", inOut|mqi.MQOO_CO_OP)
	_, _, err = tryGet(r.c, other, unmarked|mqi.MQGMO_MARK_BROWSE_CO_OP)
	wantRC(t, err, mqi.MQRC_OPTIONS_ERROR)
	r.wantNext(co1, unmarked|mqi.MQGMO_MARK_BROWSE_CO_OP, "a")
	r.wantNext(co2, unmarked|mqi.MQGMO_MARK_BROWSE_CO_OP, "b")
	r.wantNext(co1, unmarked|mqi.MQGMO_MARK_BROWSE_CO_OP, "c")
	r.wantNext(co2, unmarked, "")
	r.wantNext(other, unmarked, "a")
	_, _, err = tryGet(r.c, co2, mqi.MQGMO_UNMARK_BROWSE_CO_OP)
	wantRC(t, err, 0)
	r.wantNext(co1, unmarked, "b")
	r.clk.Advance(5001 * time.Millisecond) // MARKINT
	r.wantNext(co2, unmarked, "a")
}

func TestBrowseMarkIntervalWakes(t *testing.T) {
	r, _ := browseRig(t, "a")
	const unmarked = mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_UNMARKED_BROWSE_MSG
	co := r.openQ(r.c, "Q", inOut|mqi.MQOO_CO_OP)
	r.wantNext(co, unmarked|mqi.MQGMO_MARK_BROWSE_CO_OP, "a")
	c2 := r.connect()
	h2 := r.openQ(c2, "Q", inOut|mqi.MQOO_CO_OP)
	got := make(chan string, 1)
	go func() {
		s, _, err := tryGet(c2, h2, unmarked|mqi.MQGMO_WAIT, func(_ *mqi.MD, g *mqi.GMO) { g.WaitInterval = -1 })
		if err != nil {
			s = err.Error()
		}
		got <- s
	}()
	r.awaitWaiters("Q", 1)
	for {
		r.clk.Advance(6 * time.Second)
		select {
		case s := <-got:
			if s != "a" {
				t.Errorf("got %q", s)
			}
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// awaitWaiters returns when n gets wait on the queue.
func (r *rig) awaitWaiters(name string, n int) {
	r.t.Helper()
	q := r.m.lookup(ClassQueue, name).Queue
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		q.mu.Lock()
		have := q.wait.n
		q.mu.Unlock()
		if have == n {
			return
		}
	}
	r.t.Fatalf("there are not %d waiting gets on %s", n, name)
}

// A browse by identifier goes on behind the message that the cursor is on, however many with that identifier come before.
func TestBrowseByIdentifierGoesOn(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q", "MAXDEPTH", "999999")
	h := r.openQ(r.c, "Q", inOut)
	const many, some = 40_000, 500
	for i := range many {
		r.put(r.c, h, "m", 0, func(md *mqi.MD) { md.Priority, md.CorrelID = int32(i%2), mqi.ID{1} })
	}
	browse := func(opts int32) error {
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		md.CorrelID, gmo.Version, gmo.Options, gmo.MatchOptions = mqi.ID{1}, 2, opts, mqi.MQMO_MATCH_CORREL_ID
		_, _, err := r.c.Get(bg, h, &md, &gmo, 100)
		return err
	}
	wantRC(t, browse(mqi.MQGMO_BROWSE_FIRST), 0)
	var first, last time.Duration
	for n := 1; n < many; n += some {
		began := time.Now()
		for range min(some, many-n) {
			wantRC(t, browse(mqi.MQGMO_BROWSE_NEXT), 0)
		}
		if last = time.Since(began); n == 1 {
			first = last
		}
	}
	wantRC(t, browse(mqi.MQGMO_BROWSE_NEXT), mqi.MQRC_NO_MSG_AVAILABLE)
	if last > 20*first+50*time.Millisecond {
		t.Errorf("the first %d took %v, the last %v", some, first, last)
	}
}
