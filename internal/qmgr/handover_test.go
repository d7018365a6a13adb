package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// taker is a get that waits and whose owner lets putters serve it.
type taker struct {
	w           *Waiting
	h           Handle
	busy        bool // its owner does something else just now
	own, disown int
	woken       int
	got         []string
	total       int
	err         error
	md          mqi.MD
	gmo         mqi.GMO
}

func (x *taker) Wake(any) { x.woken++ }
func (x *taker) Own() bool {
	if !x.busy {
		x.own++
	}
	return !x.busy
}
func (x *taker) Disown()     { x.disown++ }
func (x *taker) Settled(any) { x.woken++ }
func (x *taker) Take(by any, body []byte, total int, err error) {
	x.got, x.total, x.err = append(x.got, string(body)), total, err
	x.w.Cancel()
}

// takes starts a get that waits for ever with a buffer of max bytes.
func (r *rig) takes(queue string, max int, opts int32) *taker {
	r.t.Helper()
	c := r.connect()
	x := &taker{h: r.openQ(c, queue, mqi.MQOO_INPUT_SHARED)}
	x.w = c.NewWaiting(x)
	x.again(r, max, opts)
	return x
}

func (x *taker) again(r *rig, max int, opts int32) {
	r.t.Helper()
	x.md, x.gmo = mqi.DefaultMD(), mqi.DefaultGMO()
	x.gmo.Options, x.gmo.WaitInterval = mqi.MQGMO_WAIT|opts, -1
	if _, _, s, err := x.w.Get(x.h, &x.md, &x.gmo, max); s != GetWaits {
		r.t.Fatal(s, err)
	}
}

// putBy puts as a door does that serves those who wait.
func (r *rig) putBy(queue, text string, change ...func(*mqi.MD)) (mqi.MD, error) {
	r.t.Helper()
	h := r.openQ(r.c, queue, mqi.MQOO_OUTPUT)
	defer func() { _ = r.c.Close(bg, h, 0) }()
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	for _, f := range change {
		f(&md)
	}
	err := r.c.PutBy(bg, r, h, &md, &pmo, []byte(text), false)
	return md, err
}

// submits counts the units that come to the store, and fails them with err.
func (r *rig) submits(err error) *int {
	n := new(int)
	r.fault.fail = func(*store.Tx) error { *n++; return err }
	return n
}

// A message that nobody has promised to keep goes past queue and store; what counts messages sees it put and got.
func TestHandOver(t *testing.T) {
	r := newRig(t)
	o := r.define("QLOCAL", "Q")
	x, units := r.takes("Q", 100, 0), r.submits(nil)
	put, err := r.putBy("Q", "one")
	wantRC(t, err, 0)
	if strings.Join(x.got, " ") != "one" || x.err != nil || x.total != 3 || x.md.MsgID != put.MsgID || x.md.MsgID.IsZero() {
		t.Errorf("taken %q, %d bytes, %v, message %x of %x", x.got, x.total, x.err, x.md.MsgID, put.MsgID)
	}
	if *units != 0 || r.depth("Q") != 0 || x.woken != 0 {
		t.Errorf("%d units in the store, depth %d, woken %d times", *units, r.depth("Q"), x.woken)
	}
	if w := &o.Queue.watch; w.puts != 1 || w.gets != 1 || w.enq != 1 || w.deq != 1 || w.highest != 1 {
		t.Errorf("counted %+v", *w)
	}
	wantRC(t, func() error { _, err := r.putBy("Q", "two"); return err }(), 0) // nobody waits any more
	if len(x.got) != 1 || r.depth("Q") != 1 {
		t.Errorf("taken %q, depth %d", x.got, r.depth("Q"))
	}
}

// A persistent one is in the store as put and got in one unit, before anybody is answered: a restart does not find it.
func TestHandOverPersistent(t *testing.T) {
	r := newBoltRig(t)
	r.define("QLOCAL", "Q")
	x := r.takes("Q", 100, 0)
	var ops []int
	r.fault.fail = func(tx *store.Tx) error {
		if len(x.got) > 0 {
			t.Error("the getter was answered before the store")
		}
		ops = append(ops, tx.Len())
		return nil
	}
	_, err := r.putBy("Q", "kept", persistent)
	wantRC(t, err, 0)
	if strings.Join(x.got, " ") != "kept" || x.err != nil || x.md.Persistence != mqi.MQPER_PERSISTENT {
		t.Errorf("taken %q, %v, persistence %d", x.got, x.err, x.md.Persistence)
	}
	if len(ops) != 1 || ops[0] != 2 || r.depth("Q") != 0 {
		t.Errorf("units of %v intents, depth %d", ops, r.depth("Q"))
	}
	r.fault.fail = nil
	r.put(r.c, r.openQ(r.c, "Q", inOut), "next", 0, persistent)
	r.restart(store.Preempt)
	if got := r.texts("Q"); got != "next" {
		t.Errorf("after a restart: %q", got)
	}
}

// The store refuses: who puts hears why, who gets waits on and has the next message.
func TestHandOverRefused(t *testing.T) {
	r := newBoltRig(t)
	r.define("QLOCAL", "Q")
	x := r.takes("Q", 100, 0)
	units := r.submits(store.ErrFull)
	_, err := r.putBy("Q", "lost", persistent)
	wantRC(t, err, mqi.MQRC_Q_SPACE_NOT_AVAILABLE)
	if *units != 1 || len(x.got) != 0 || r.depth("Q") != 0 || x.disown != 1 {
		t.Errorf("%d units, taken %q, depth %d, given back %d times", *units, x.got, r.depth("Q"), x.disown)
	}
	r.fault.fail = nil
	_, err = r.putBy("Q", "next", persistent)
	wantRC(t, err, 0)
	if strings.Join(x.got, " ") != "next" {
		t.Errorf("taken %q", x.got)
	}
}

// A message that does not fit stays, whether it is its data or what its descriptor has no room for; who gets is told 2080.
func TestHandOverTooLong(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		change func(*mqi.MD)
	}{
		"data":      {strings.Repeat("x", 101), func(*mqi.MD) {}},
		"extension": {strings.Repeat("x", 60), func(md *mqi.MD) { md.Version, md.MsgFlags = 2, 1<<20 }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.define("QLOCAL", "Q")
			x := r.takes("Q", 100, 0)
			_, err := r.putBy("Q", c.text, c.change)
			wantRC(t, err, 0)
			if len(x.got) != 0 || r.depth("Q") != 1 || x.woken != 1 {
				t.Fatalf("taken %q, depth %d, woken %d times", x.got, r.depth("Q"), x.woken)
			}
			_, _, s, err := x.w.Resume()
			if s != GetOver {
				t.Fatal(s, err)
			}
			wantRC(t, err, mqi.MQRC_TRUNCATED_MSG_FAILED)
			if r.depth("Q") != 1 {
				t.Error("the message is gone")
			}
		})
	}
}

// Those who wait take turns; one that is busy is passed over.
func TestHandOverTurns(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	x, y := r.takes("Q", 100, 0), r.takes("Q", 100, 0)
	for _, text := range []string{"1", "2", "3", "4"} {
		_, err := r.putBy("Q", text)
		wantRC(t, err, 0)
		for _, z := range []*taker{x, y} {
			if !z.w.in {
				z.again(r, 100, 0)
			}
		}
	}
	if a, b := strings.Join(x.got, " "), strings.Join(y.got, " "); a != "1 3" || b != "2 4" {
		t.Errorf("taken %q and %q", a, b)
	}
	x.busy = true
	_, err := r.putBy("Q", "5")
	wantRC(t, err, 0)
	if len(x.got) != 2 || len(y.got) != 3 {
		t.Errorf("taken %q and %q", x.got, y.got)
	}
}

// What a put or a get causes, or has to respect, goes by way of the queue.
func TestNoHandOver(t *testing.T) {
	for name, c := range map[string]struct {
		attrs []string
		opts  int32 // of the get
		put   func(*mqi.MD)
	}{
		"trigger":           {attrs: []string{"TRIGGER", "YES", "TRIGTYPE", "EVERY"}},
		"depth event":       {attrs: []string{"QDPHIEV", "ENABLED"}},
		"low depth event":   {attrs: []string{"QDPLOEV", "ENABLED"}},
		"service event":     {attrs: []string{"QSVCIEV", "HIGH"}},
		"stream":            {attrs: []string{"STREAMQ", "S"}},
		"syncpoint":         {opts: mqi.MQGMO_SYNCPOINT},
		"report":            {put: func(md *mqi.MD) { md.Report, md.ReplyToQ = mqi.MQRO_COD, "S" }},
		"persistent in uow": {opts: mqi.MQGMO_SYNCPOINT_IF_PERSISTENT, put: persistent},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.define("QLOCAL", "S")
			r.define("QLOCAL", "Q", c.attrs...)
			x := r.takes("Q", 100, c.opts)
			if c.put == nil {
				c.put = func(*mqi.MD) {}
			}
			_, err := r.putBy("Q", "m", c.put)
			wantRC(t, err, 0)
			if len(x.got) != 0 || x.woken != 1 {
				t.Fatalf("taken %q, woken %d times", x.got, x.woken)
			}
			data, _, s, err := x.w.Resume()
			if s == GetBlocks {
				data, _, s, err = x.w.Finish(false)
			}
			if s != GetOver || err != nil || string(data) != "m" {
				t.Errorf("%q, %v, %v", data, s, err)
			}
		})
	}
	r := newRig(t)
	r.define("QLOCAL", "Q", "MAXDEPTH", "0")
	x := r.takes("Q", 100, 0)
	_, err := r.putBy("Q", "m")
	wantRC(t, err, mqi.MQRC_Q_FULL)
	r.alter(ClassQueue, "Q", "MAXDEPTH", "1", "PUT", "DISABLED")
	_, err = r.putBy("Q", "m")
	wantRC(t, err, mqi.MQRC_PUT_INHIBITED)
	if len(x.got) != 0 {
		t.Errorf("taken %q", x.got)
	}
}
