package qmgr

import (
	"fmt"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// rfh2 is a message body with one folder of properties, in big-endian as JMS sends it.
func rfh2(folder, text string) string {
	for len(folder)%4 != 0 {
		folder += " "
	}
	be := func(n int) string { return string([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) }
	return "RFH " + be(2) + be(36+4+len(folder)) + be(273) + be(1208) + "MQSTR   " + be(0) + be(1208) +
		be(len(folder)) + folder + text
}

func openSelecting(c *Conn, q, sel string, opts int32) (Handle, error) {
	od := mqi.DefaultOD()
	od.Version, od.ObjectName, od.SelectionString = 4, q, sel
	return c.Open(bg, &od, opts)
}

func TestSelectors(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	put := r.openQ(r.c, "Q", inOut)
	_, err := openSelecting(r.c, "Q", "colour = ", inOut)
	wantRC(t, err, mqi.MQRC_SELECTOR_SYNTAX_ERROR)
	_, err = openSelecting(r.c, "Q", "colour = 'red'", mqi.MQOO_OUTPUT)
	wantRC(t, err, mqi.MQRC_SELECTOR_INVALID_FOR_TYPE)
	send := func(colour string, n int) {
		r.put(r.c, put, rfh2(fmt.Sprintf("<usr><colour>%s</colour><n dt='i4'>%d</n></usr>", colour, n), colour), 0,
			func(md *mqi.MD) { md.Format, md.Encoding, md.CodedCharSetID = mqi.MQFMT_RF_HEADER_2, 273, 1208 })
	}
	send("red", 1)
	send("blue", 2)
	send("red", 3)
	r.put(r.c, put, "plain", 0)
	red, err := openSelecting(r.c, "Q", "colour = 'red' AND n > 2", inOut)
	wantRC(t, err, 0)
	_, md := r.get(r.c, red, mqi.MQGMO_BROWSE_FIRST)
	_, md2 := r.get(r.c, red, 0)
	if md.MsgID != md2.MsgID || r.depth("Q") != 3 {
		t.Errorf("browse and get differ, depth %d", r.depth("Q"))
	}
	_, _, err = tryGet(r.c, red, 0)
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	// One that only browses sees what it selects, all of it and nothing else.
	look, err := openSelecting(r.c, "Q", "colour = 'blue' OR n = 1", mqi.MQOO_BROWSE)
	wantRC(t, err, 0)
	seen := ""
	for opts := int32(mqi.MQGMO_BROWSE_FIRST); ; opts = mqi.MQGMO_BROWSE_NEXT {
		text, _, err := tryGet(r.c, look, opts)
		if err != nil {
			wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			break
		}
		seen += text[len(text)-4:] + ";"
	}
	if seen != ">red;blue;" && seen != " red;blue;" {
		t.Errorf("browsed %q", seen)
	}
	_, _, err = tryGet(r.c, look, 0)
	wantRC(t, err, mqi.MQRC_NOT_OPEN_FOR_INPUT)
	wantRC(t, r.c.Close(bg, look, 0), 0)
	// A waiting get with a selector passes over what isn't for it, and others get that at once.
	c2 := r.connect()
	h2, err := openSelecting(c2, "Q", "n = 9", inOut)
	wantRC(t, err, 0)
	got := make(chan gotMsg, 1)
	go func() {
		_, md, err := tryGet(c2, h2, mqi.MQGMO_WAIT, func(_ *mqi.MD, g *mqi.GMO) { g.WaitInterval = -1 })
		got <- gotMsg{fmt.Sprint(md.Priority), err}
	}()
	r.awaitWaiters("Q", 1)
	for i := 4; i < 9; i++ {
		send("green", i)
		if _, _, err := tryGet(r.c, put, 0); err != nil {
			t.Fatal(err)
		}
	}
	send("green", 9)
	if g := r.receive(got); g.err != nil {
		t.Errorf("%v", g)
	}
	if r.depth("Q") != 3 {
		t.Errorf("depth %d", r.depth("Q"))
	}
}

// looked is a store that tells of every message that is read.
type looked struct {
	store.Store
	tell func()
}

func (l *looked) Read(q store.QID, s store.Seq, at store.Loc) (store.Rec, error) {
	rec, err := l.Store.Read(q, s, at)
	l.tell()
	return rec, err
}

// A token names one message: when the selector does not select that one, there is none.
func TestTokenOfAMessageNotSelected(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	r.put(r.c, h, "plain", 0)
	gmo.Version, gmo.Options = 3, mqi.MQGMO_BROWSE_FIRST
	_, _, err := r.c.Get(bg, h, &md, &gmo, 100)
	wantRC(t, err, 0)
	red, err := openSelecting(r.c, "Q", "colour = 'red'", inOut)
	wantRC(t, err, 0)
	n := 0
	r.m.opt.Store = &looked{r.m.opt.Store, func() {
		if n++; n > 100 {
			panic("the message is looked into again and again")
		}
	}}
	for _, opts := range []int32{0, mqi.MQGMO_BROWSE_FIRST, mqi.MQGMO_BROWSE_NEXT, mqi.MQGMO_SYNCPOINT} {
		gmo.Options, gmo.MatchOptions = opts, mqi.MQMO_MATCH_MSG_TOKEN
		_, _, err = r.c.Get(bg, red, &md, &gmo, 100)
		wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	}
	gmo.Options = 0
	_, _, err = r.c.Get(bg, h, &md, &gmo, 100)
	wantRC(t, err, 0)
}

// The wait of a get that looks into messages ends when its time is over, although others come before the place that it has reached
// each time it has looked at all.
func TestWaitEndsWhileOthersCome(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	for range 3 {
		r.put(r.c, h, "plain", 0)
	}
	red, err := openSelecting(r.c, "Q", "colour = 'red'", inOut)
	wantRC(t, err, 0)
	other, n := r.connect(), 0
	to := r.openQ(other, "Q", inOut)
	r.m.opt.Store = &looked{r.m.opt.Store, func() {
		if n++; n%200 == 0 {
			r.clk.Advance(100 * time.Millisecond)
		}
		if n%3 == 0 {
			r.put(other, to, "plain", 0, func(md *mqi.MD) { md.Priority = 9 })
		}
	}}
	_, _, err = tryGet(r.c, red, mqi.MQGMO_WAIT, func(_ *mqi.MD, g *mqi.GMO) { g.WaitInterval = 1000 })
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
}
