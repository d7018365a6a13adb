package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// aheadOf gets without a wait, for nobody.
func (r *rig) aheadOf(c *Conn, h Handle, opts int32) (string, error) {
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	gmo.Options = opts
	b, _, err := c.GetAhead(bg, h, &md, &gmo, 100)
	return string(b), err
}

func pers(md *mqi.MD)    { md.Persistence = mqi.MQPER_PERSISTENT }
func notPers(md *mqi.MD) { md.Persistence = mqi.MQPER_NOT_PERSISTENT }

// A get for nobody leaves messages that must not be lost where they are, with all that is behind them; others have them.
func TestGetAhead(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	c := r.connect()
	h := r.openQ(c, "Q", mqi.MQOO_INPUT_SHARED|mqi.MQOO_BROWSE)
	for i, f := range []func(*mqi.MD){notPers, pers, notPers} {
		if _, err := r.putBy("Q", []string{"one", "two", "three"}[i], f); err != nil {
			t.Fatal(err)
		}
	}
	if b, err := r.aheadOf(c, h, 0); b != "one" || err != nil {
		t.Fatalf("%q, %v", b, err)
	}
	for _, o := range []int32{0, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT, mqi.MQGMO_SYNCPOINT, mqi.MQGMO_WAIT} {
		if b, err := r.aheadOf(c, h, o); err != ErrHeld {
			t.Errorf("options %#x: %q, %v", o, b, err)
		}
	}
	if b, err := r.aheadOf(c, h, mqi.MQGMO_BROWSE_FIRST); b != "two" || err != nil {
		t.Errorf("browsed %q, %v", b, err)
	}
	if b, err := r.aheadOf(c, h, mqi.MQGMO_MSG_UNDER_CURSOR); err != ErrHeld {
		t.Errorf("under the cursor %q, %v", b, err)
	}
	sel := r.connect()
	s, err := openSelecting(sel, "Q", "A = 1", mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	if b, err := r.aheadOf(sel, s, 0); b != "" || err == nil || err == ErrHeld {
		t.Errorf("held for one that does not meet the selector: %q, %v", b, err)
	}
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	if b, _, err := c.Get(bg, h, &md, &gmo, 100); string(b) != "two" || err != nil {
		t.Errorf("asked for: %q, %v", b, err)
	}
	if b, err := r.aheadOf(c, h, mqi.MQGMO_SYNCPOINT); err != ErrHeld {
		t.Errorf("nonpersistent under syncpoint: %q, %v", b, err)
	}
	if b, err := r.aheadOf(c, h, mqi.MQGMO_SYNCPOINT_IF_PERSISTENT); b != "three" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
}

// One that waits for nobody ends when such a message comes, and the next one who waits for it has it.
func TestWaitAhead(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	for _, id := range []bool{false, true} {
		idle := r.takes("Q", 100, 0)
		idle.w.Cancel()
		idle.md, idle.gmo = mqi.DefaultMD(), mqi.DefaultGMO()
		idle.gmo.Options, idle.gmo.WaitInterval = mqi.MQGMO_WAIT, -1
		if idle.gmo.MatchOptions = 0; id {
			idle.gmo.MatchOptions, idle.md.CorrelID = mqi.MQMO_MATCH_CORREL_ID, mqi.ID{1}
		}
		if _, _, s, err := idle.w.GetAhead(idle.h, &idle.md, &idle.gmo, 100, false); s != GetWaits {
			t.Fatal(s, err)
		}
		asks := r.takes("Q", 100, 0)
		if _, err := r.putBy("Q", "keep", pers, func(md *mqi.MD) { md.CorrelID = mqi.ID{1} }); err != nil {
			t.Fatal(err)
		}
		want, held := GetOver, ErrHeld
		if id { // it has to look into the message, which has gone to the other one
			want, held = GetWaits, nil
		}
		if _, _, s, err := idle.w.Resume(); s != want || err != held {
			t.Errorf("the one that nobody asked for: %v, %v", s, err)
		}
		idle.w.Cancel()
		b, _, s, err := asks.w.Resume()
		if s == GetBlocks {
			b, _, s, err = asks.w.Finish(false)
		}
		if len(asks.got) > 0 {
			b, s = []byte(asks.got[0]), GetOver
		}
		if string(b) != "keep" || s != GetOver || err != nil {
			t.Errorf("the one who waits: %q, %v, %v", b, s, err)
		}
		asks.w.Cancel()
	}
	if r.depth("Q") != 0 {
		t.Errorf("depth %d", r.depth("Q"))
	}
}

// stays is a get that takes what it is handed and waits on.
type stays struct{ *taker }

func (x stays) Take(by any, body []byte, total int, err error) { x.got = append(x.got, string(body)) }

// asksAhead has a connection wait on Q for a message that somebody asks for, with room for more.
func (r *rig) asksAhead(c *Conn) stays {
	r.t.Helper()
	x := stays{&taker{}}
	x.ahead(r, c, "Q", x, 100)
	return x
}

// ahead has a connection wait on a queue as asksAhead does, with a buffer of max bytes. w is told.
func (x *taker) ahead(r *rig, c *Conn, queue string, w Waker, max int) {
	r.t.Helper()
	x.h = r.openQ(c, queue, mqi.MQOO_INPUT_SHARED)
	x.w = c.NewWaiting(w)
	x.md, x.gmo = mqi.DefaultMD(), mqi.DefaultGMO()
	x.gmo.Options, x.gmo.WaitInterval = mqi.MQGMO_WAIT, -1
	if _, _, s, err := x.w.GetAhead(x.h, &x.md, &x.gmo, max, true); s != GetWaits {
		r.t.Fatal(s, err)
	}
}

// One that waits on behind the message that somebody has asked for is handed only what may be lost.
func TestHandOverAhead(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	for _, first := range []func(*mqi.MD){pers, notPers} {
		c := r.connect()
		x := r.asksAhead(c)
		for i, f := range []func(*mqi.MD){first, notPers, notPers, pers, notPers} {
			if _, err := r.putBy("Q", string(rune('a'+i)), f); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(x.got, ""); got != "abc" || r.depth("Q") != 2 {
			t.Errorf("handed %q, depth %d", got, r.depth("Q"))
		}
		if _, _, s, err := x.w.Resume(); s != GetOver || err != ErrHeld {
			t.Errorf("it goes on: %v, %v", s, err)
		}
		for r.depth("Q") > 0 {
			md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
			if _, _, err := c.Get(bg, x.h, &md, &gmo, 100); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// So it is also when something makes it look again meanwhile.
func TestLookAgainAhead(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	c := r.connect()
	x := r.asksAhead(c)
	if _, err := r.putBy("Q", "a", notPers); err != nil || len(x.got) != 1 {
		t.Fatal(x.got, err)
	}
	q := r.m.lookup(ClassQueue, "Q").Queue
	q.under(q.serveExpired)
	if _, _, s, err := x.w.Resume(); s != GetWaits {
		t.Fatal(s, err)
	}
	if _, err := r.putBy("Q", "b", pers); err != nil {
		t.Fatal(err)
	}
	if b, _, s, err := x.w.Resume(); s != GetOver || err != ErrHeld || r.depth("Q") != 1 {
		t.Errorf("%q, state %v, %v; depth %d", b, s, err, r.depth("Q"))
	}
}

// A message whose identifier only has the hash of the one that is asked for is nobody's reason to wait: a get for nobody goes past it,
// or waits on, and what it is for comes to it.
func TestAheadWithEqualHash(t *testing.T) {
	a, b := collidingIDs(t)
	for _, what := range []int32{mqi.MQMO_MATCH_CORREL_ID, mqi.MQMO_MATCH_MSG_ID} {
		r := newRig(t)
		r.define("QLOCAL", "Q")
		c := r.connect()
		id := func(id mqi.ID) func(*mqi.MD) { return func(md *mqi.MD) { md.MsgID, md.CorrelID = id, id } }
		if _, err := r.putBy("Q", "of another", pers, id(a)); err != nil {
			t.Fatal(err)
		}
		h := r.openQ(c, "Q", mqi.MQOO_INPUT_SHARED)
		ahead := func() (string, error) {
			md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
			md.MsgID, md.CorrelID, gmo.Version, gmo.MatchOptions = b, b, 2, what
			data, _, err := c.GetAhead(bg, h, &md, &gmo, 100)
			return string(data), err
		}
		if got, err := ahead(); err == ErrHeld {
			t.Errorf("match %d: held for the other one: %q", what, got)
		} else {
			wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
		}
		waits := stays{&taker{h: h}}
		waits.w = c.NewWaiting(waits)
		waits.md, waits.gmo = mqi.DefaultMD(), mqi.DefaultGMO()
		waits.md.MsgID, waits.md.CorrelID = b, b
		waits.gmo.Version, waits.gmo.MatchOptions, waits.gmo.Options, waits.gmo.WaitInterval = 2, what, mqi.MQGMO_WAIT, -1
		if _, _, s, err := waits.w.GetAhead(h, &waits.md, &waits.gmo, 100, false); s != GetWaits {
			t.Fatalf("match %d: it does not wait: %v, %v", what, s, err)
		}
		if _, err := r.putBy("Q", "of another, too", pers, id(a)); err != nil {
			t.Fatal(err)
		}
		if got, _, s, err := waits.w.Resume(); s != GetWaits {
			t.Errorf("match %d: when the other one comes: %q, %v, %v", what, got, s, err)
		}
		if _, err := r.putBy("Q", "its own", pers, id(b)); err != nil {
			t.Fatal(err)
		}
		if got, _, s, err := waits.w.Resume(); s != GetOver || err != ErrHeld {
			t.Errorf("match %d: when its own comes: %q, %v, %v", what, got, s, err)
		}
		if _, err := ahead(); err != ErrHeld {
			t.Errorf("match %d: its own: %v", what, err)
		}
		if r.depth("Q") != 3 {
			t.Errorf("match %d: depth %d", what, r.depth("Q"))
		}
		r.stop()
	}
}
