package qmgr

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// delayedBody is a message as the JMS client sends it.
func delayedBody(md *mqi.MD, ms int, text string) []byte {
	md.Format, md.CodedCharSetID = mqi.MQFMT_RF_HEADER_2, 1208
	h := mqi.RFH2{Encoding: mqi.MQENC_NATIVE, CodedCharSetID: 1208, Format: mqi.MQFMT_STRING, NameValueCCSID: 1208,
		Folders: []string{"<mcd><Msd>jms_text</Msd></mcd>", fmt.Sprintf("<mqext><Dly>%d</Dly><Dtm>1795986895204</Dtm></mqext>", ms)}}
	b, err := h.Append(nil, mqi.Coding{Encoding: md.Encoding, CCSID: 1208})
	if err != nil {
		panic(err)
	}
	return append(b, text...)
}

func tryDelayed(c *Conn, h Handle, ms int, text string, opts int32, change ...func(*mqi.MD)) (mqi.MD, error) {
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	for _, f := range change {
		f(&md)
	}
	pmo.Options = opts
	body := delayedBody(&md, ms, text)
	err := c.PutDelayed(bg, h, &md, &pmo, body)
	return md, err
}

// arrives waits until a message is on a queue, and returns the text behind its MQRFH2.
func (r *psRig) arrives(c *Conn, h Handle) (string, mqi.MD) {
	r.t.Helper()
	for range 500 {
		s, md, err := tryGet(c, h, 0)
		if err == nil {
			if md.Format == mqi.MQFMT_RF_HEADER_2 {
				_, rest, err := mqi.ParseRFH2([]byte(s), mqi.Coding{Encoding: md.Encoding, CCSID: 1208})
				if err != nil {
					r.t.Fatal(err)
				}
				s = string(rest)
			}
			return s, md
		}
		wantRC(r.t, err, mqi.MQRC_NO_MSG_AVAILABLE)
		time.Sleep(10 * time.Millisecond)
	}
	r.t.Fatal("no message")
	return "", mqi.MD{}
}

func (r *psRig) staged() int { return r.m.lookup(ClassQueue, delayQueue).Queue.depth() }

// advance moves the clock in steps, so that the loop sees each of its timers, and waits until it sleeps.
func (r *psRig) advance(d time.Duration) {
	r.t.Helper()
	for ; d > 0; d -= 500 * time.Millisecond {
		eventually(r.t, "the loop sleeps until the next message is due", r.moverSleeps)
		r.clk.Advance(500 * time.Millisecond)
	}
	eventually(r.t, "what is due has been moved, or put off", r.moverSleeps)
}

// moverSleeps: nothing that is staged is in the loop's hands, and its timer is that of the first.
func (r *psRig) moverSleeps() bool {
	staged := 0
	if o := r.m.lookup(ClassQueue, delayQueue); o != nil {
		staged = o.Queue.depth()
	}
	d := &r.m.delay
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.heap) < staged {
		return false
	}
	if len(d.heap) > 0 && d.heap[0].due <= r.clk.Now().UnixMilli() {
		select { // a timer that it set while the clock jumped is late: real clocks do not jump
		case d.wake <- struct{}{}:
		default:
		}
		return false
	}
	return len(d.heap) == 0 || r.clk.Waits(time.UnixMilli(d.heap[0].due))
}

// A delayed message is on the staging queue until it is due, then where it was put, with its own descriptor; the order is that of
// the due times.
func TestDelay(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("DEFINE QALIAS(A) TARGET(Q)")
	h := openFor(t, r.c, "Q", inOut)
	a := openFor(t, r.c, "A", mqi.MQOO_OUTPUT)
	put, err := tryDelayed(r.c, h, 60_000, "late", mqi.MQPMO_NEW_MSG_ID, persistent, func(md *mqi.MD) {
		md.Expiry, md.Priority, md.CorrelID, md.ApplIdentityData = 9000, 7, mqi.ID{1, 2}, "id"
	})
	wantRC(t, err, 0)
	if put.MsgID.IsZero() || put.PutApplName == "" {
		t.Errorf("the put gave %+v", put)
	}
	_, err = tryDelayed(r.c, a, 30_000, "early", 0)
	wantRC(t, err, 0)
	_, err = tryDelayed(r.c, h, 0, "now", 0)
	wantRC(t, err, 0)
	if s, _ := r.arrives(r.c, h); s != "now" {
		t.Errorf("first %q", s)
	}
	if n := r.staged(); n != 2 {
		t.Errorf("%d on the staging queue", n)
	}
	r.advance(29 * time.Second)
	if n := r.staged(); n != 2 {
		t.Errorf("%d on the staging queue after 29 s", n)
	}
	r.advance(2 * time.Second)
	if s, _ := r.arrives(r.c, h); s != "early" {
		t.Errorf("second %q", s)
	}
	r.advance(30 * time.Second)
	s, md := r.arrives(r.c, h)
	if s != "late" || md.MsgID != put.MsgID || md.CorrelID != (mqi.ID{1, 2}) || md.Persistence != mqi.MQPER_PERSISTENT ||
		md.Priority != 7 || md.PutApplName != put.PutApplName || md.UserIdentifier != put.UserIdentifier || md.PutTime != put.PutTime ||
		md.Format != mqi.MQFMT_RF_HEADER_2 || md.Expiry > 9000-600 || md.Expiry < 9000-700 || md.BackoutCount != 0 {
		t.Errorf("%q %+v", s, md)
	}
	if r.staged() != 0 {
		t.Error("something is left on the staging queue")
	}
}

// What a delayed put refuses.
func TestDelayRefused(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	h := openFor(t, r.c, "Q", inOut)
	_, err := tryDelayed(r.c, h, 2000, "x", 0, func(md *mqi.MD) { md.Expiry = 10 })
	wantRC(t, err, mqi.MQRC_EXPIRY_ERROR)
	r.ok("ALTER QLOCAL(Q) CAPEXPRY(10)")
	h2 := openFor(t, r.c, "Q", inOut)
	_, err = tryDelayed(r.c, h2, 2000, "x", 0)
	wantRC(t, err, mqi.MQRC_EXPIRY_ERROR)
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	wantRC(t, r.c.PutDelayed(bg, h, &md, &pmo, []byte("no header")), mqi.MQRC_RFH_FORMAT_ERROR)
	r.ok("ALTER QLOCAL(Q) CAPEXPRY(NOLIMIT)")
	r.ok("ALTER QLOCAL(Q) PUT(DISABLED)")
	_, err = tryDelayed(r.c, h, 2000, "x", 0)
	wantRC(t, err, mqi.MQRC_PUT_INHIBITED)
	r.ok("ALTER QLOCAL(Q) PUT(ENABLED)")
	r.ok("ALTER QLOCAL(" + delayQueue + ") MAXDEPTH(1)")
	_, err = tryDelayed(r.c, h, 2000, "x", 0)
	wantRC(t, err, 0)
	_, err = tryDelayed(r.c, h, 2000, "x", 0)
	wantRC(t, err, mqi.MQRC_Q_FULL)
	r.ok("CLEAR QLOCAL(" + delayQueue + ")")
	r.advance(3 * time.Second)
	r.ok("DELETE QLOCAL(" + delayQueue + ")")
	_, err = tryDelayed(r.c, h, 2000, "x", 0)
	wantRC(t, err, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	if !strings.Contains(fmt.Sprint(err), delayQueue) {
		t.Errorf("the error does not name the staging queue: %v", err)
	}
}

// A unit of work that ends late delays on; one that is backed out delivers nothing.
func TestDelaySyncpoint(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	h := openFor(t, r.c, "Q", inOut)
	_, err := tryDelayed(r.c, h, 1000, "undone", mqi.MQPMO_SYNCPOINT)
	wantRC(t, err, 0)
	wantRC(t, r.c.Backout(bg), 0)
	_, err = tryDelayed(r.c, h, 1000, "done", mqi.MQPMO_SYNCPOINT)
	wantRC(t, err, 0)
	r.advance(5 * time.Second)
	if n := r.m.lookup(ClassQueue, "Q").Queue.depth(); n != 0 {
		t.Errorf("%d delivered before the commit", n)
	}
	wantRC(t, r.c.Commit(bg), 0)
	r.advance(time.Second)
	if s, _ := r.arrives(r.c, h); s != "done" {
		t.Errorf("got %q", s)
	}
}

// Persistent ones survive; what was due while the queue manager was down comes at once.
func TestDelayRestart(t *testing.T) {
	for _, mode := range [...]store.StopMode{store.Preempt, store.Immediate} {
		r := newPSBoltRig(t)
		r.ok("DEFINE QLOCAL(Q)")
		h := openFor(t, r.c, "Q", inOut)
		for i, ms := range [...]int{5000, 60_000} {
			_, err := tryDelayed(r.c, h, ms, fmt.Sprint("kept ", i), 0, persistent)
			wantRC(t, err, 0)
		}
		_, err := tryDelayed(r.c, h, 5000, "lost", 0)
		wantRC(t, err, 0)
		r.restart(mode)
		r.clk.Advance(20 * time.Second)
		h = openFor(t, r.c, "Q", inOut)
		r.advance(time.Second)
		if s, _ := r.arrives(r.c, h); s != "kept 0" {
			t.Errorf("got %q", s)
		}
		r.advance(60 * time.Second)
		if s, _ := r.arrives(r.c, h); s != "kept 1" {
			t.Errorf("got %q", s)
		}
		if r.staged() != 0 {
			t.Error("something is left on the staging queue")
		}
	}
}

// A destination that takes no messages: the dead-letter queue has them, or without one they are tried again.
func TestDelayFull(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q) MAXDEPTH(1)")
	r.ok("DEFINE QLOCAL(DLQ)")
	h := openFor(t, r.c, "Q", inOut)
	for i := range 3 {
		_, err := tryDelayed(r.c, h, 1000, fmt.Sprint(i), 0, persistent)
		wantRC(t, err, 0)
	}
	r.advance(3 * time.Second)
	if s, _ := r.arrives(r.c, h); s != "0" {
		t.Errorf("got %q", s)
	}
	if n := r.staged(); n != 2 { // no dead-letter queue
		t.Errorf("%d on the staging queue, want 2", n)
	}
	r.ok("ALTER QMGR DEADQ(DLQ)")
	r.advance(32 * time.Second)
	if n := r.staged(); n != 0 {
		t.Errorf("%d on the staging queue, want none", n)
	}
	if s, _ := r.arrives(r.c, h); s != "1" {
		t.Errorf("got %q", s)
	}
	d := openFor(t, r.c, "DLQ", inOut)
	s, md := r.arrives(r.c, d)
	dlh, _, err := mqi.ParseDLH([]byte(s), mqi.Coding{Encoding: md.Encoding, CCSID: 1208})
	if err != nil || dlh.Reason != int32(mqi.MQRC_Q_FULL) || dlh.DestQName != "Q" || dlh.Format != mqi.MQFMT_RF_HEADER_2 {
		t.Errorf("dead letter %+v, %v", dlh, err)
	}
	if r.staged() != 0 {
		t.Error("something is left on the staging queue")
	}
}

// A delayed publication goes to those who subscribe when it is due, and is retained then.
func TestDelayPublication(t *testing.T) {
	r := newPSRig(t)
	q1, _ := r.managed(r.c, "t/a", 0)
	h := r.openTopic(r.c, "t/a")
	_, err := tryDelayed(r.c, h, 5000, "news", mqi.MQPMO_RETAIN)
	wantRC(t, err, 0)
	q2, _ := r.managed(r.c, "t/a", 0)
	r.advance(6 * time.Second)
	for i, q := range [...]Handle{q1, q2} {
		if s, _ := r.arrives(r.c, q); s != "news" {
			t.Errorf("subscriber %d got %q", i, s)
		}
	}
	q3, _ := r.managed(r.c, "t/a", 0)
	if s, _ := r.arrives(r.c, q3); s != "news" {
		t.Errorf("retained %q", s)
	}
}

// The header is read back as written, and nothing else is taken for one.
func TestDelayHeader(t *testing.T) {
	want := delayHeader{due: 12345, options: mqi.MQPMO_RETAIN, report: 7, queue: "Q", qmgr: "QM", topic: "a/b", format: "MQHRF2"}
	b := append(want.append(nil), "data"...)
	got, data, err := parseDelay(b)
	if err != nil || got != want || string(data) != "data" {
		t.Fatalf("%+v %q %v", got, data, err)
	}
	for n := range len(b) - len("data") {
		if _, _, err := parseDelay(b[:n]); err == nil {
			t.Errorf("%d of %d bytes were read", n, len(b))
		}
	}
}

// FuzzDelayHeader: whatever is on the staging queue, reading it ends without harm.
func FuzzDelayHeader(f *testing.F) {
	d := delayHeader{due: 1, queue: "Q"}
	f.Add(d.append(nil))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _, _ = parseDelay(b) })
}

// MAXUMSGS bounds applications' units of work, not the one in which the queue manager moves what is due; and what it could not
// move has not been backed out by anybody.
func TestDelayBesideMAXUMSGS(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("ALTER QMGR MAXUMSGS(1)")
	h := openFor(t, r.c, "Q", inOut)
	for range 5 {
		_, err := tryDelayed(r.c, h, 1000, "x", 0, persistent)
		wantRC(t, err, 0)
	}
	r.ok("ALTER QLOCAL(Q) PUT(DISABLED)")
	r.advance(2 * time.Second)
	eventually(t, "5 messages staged, since nothing takes them", func() bool { return r.staged() == 5 }) // one may be in the mover's hands just now
	s := openFor(t, r.c, delayQueue, mqi.MQOO_BROWSE)
	if _, md, err := tryGet(r.c, s, mqi.MQGMO_BROWSE_FIRST); err != nil || md.BackoutCount != 0 {
		t.Errorf("backout count %d, %v", md.BackoutCount, err)
	}
	r.ok("ALTER QLOCAL(Q) PUT(ENABLED)")
	r.advance(delayRetry + time.Second)
	for range 5 {
		if _, md := r.arrives(r.c, h); md.BackoutCount != 0 {
			t.Errorf("backout count %d", md.BackoutCount)
		}
	}
}

// The staging queue's MAXMSGL holds.
func TestDelayTooLong(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.ok("ALTER QLOCAL(" + delayQueue + ") MAXMSGL(10)")
	_, err := tryDelayed(r.c, openFor(t, r.c, "Q", inOut), 1000, "x", 0)
	wantRC(t, err, mqi.MQRC_MSG_TOO_BIG_FOR_Q)
	if r.staged() != 0 {
		t.Error("it was staged all the same")
	}
}

// A delayed message that somebody who browses has locked when it is due is delivered when the lock is gone.
func TestDelayLocked(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	h := openFor(t, r.c, "Q", inOut)
	_, err := tryDelayed(r.c, h, 1000, "x", 0)
	wantRC(t, err, 0)
	look := openFor(t, r.c, delayQueue, mqi.MQOO_BROWSE)
	_, _, err = tryGet(r.c, look, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK)
	wantRC(t, err, 0)
	r.advance(5 * time.Second)
	if n := r.staged(); n != 1 {
		t.Fatalf("%d staged", n)
	}
	_, _, err = tryGet(r.c, look, mqi.MQGMO_UNLOCK)
	wantRC(t, err, 0)
	r.advance(time.Second)
	if s, _ := r.arrives(r.c, h); s != "x" {
		t.Errorf("got %q", s)
	}
}
