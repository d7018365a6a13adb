package qmgr

import (
	"fmt"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
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
