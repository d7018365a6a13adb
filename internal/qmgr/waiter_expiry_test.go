package qmgr

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A message whose time is over when it becomes visible is given to no get that waits: it is discarded, with its report.
func TestWaitExpired(t *testing.T) {
	for _, x := range []struct {
		name    string
		prepare func(r *psRig, c *Conn, h Handle) func() // returns what makes the message visible
	}{
		{"commit", func(r *psRig, c *Conn, h Handle) func() {
			r.mustPut(c, h, mqi.MQPMO_SYNCPOINT)
			return func() { wantRC(r.t, c.Commit(bg), 0) }
		}},
		{"backout", func(r *psRig, c *Conn, h Handle) func() {
			r.mustPut(c, h, 0)
			_, _, err := tryGet(c, h, mqi.MQGMO_SYNCPOINT)
			wantRC(r.t, err, 0)
			return func() { wantRC(r.t, c.Backout(bg), 0) }
		}},
		{"unlock", func(r *psRig, c *Conn, h Handle) func() {
			r.mustPut(c, h, 0)
			_, _, err := tryGet(c, h, mqi.MQGMO_BROWSE_FIRST|mqi.MQGMO_LOCK)
			wantRC(r.t, err, 0)
			return func() { r.close(c, h, 0) }
		}},
	} {
		r := newPSRig(t)
		r.ok("DEFINE QLOCAL(Q)")
		r.ok("DEFINE QLOCAL(R)")
		p := r.connect("root")
		show := x.prepare(r, p, openFor(t, p, "Q", inOut|mqi.MQOO_BROWSE))
		hg := openFor(t, r.c, "Q", inOut)
		got := make(chan string, 1)
		go func() {
			s, _, err := tryGet(r.c, hg, mqi.MQGMO_WAIT, func(_ *mqi.MD, g *mqi.GMO) { g.WaitInterval = 60000 })
			if err != nil {
				s = err.Error()
			}
			got <- s
		}()
		q := r.m.lookup(ClassQueue, "Q").Queue
		r.eventually("waits", func() bool { q.mu.Lock(); defer q.mu.Unlock(); return q.wait.n == 1 })
		r.clk.Advance(5 * time.Second)
		show()
		r.eventually(x.name+": the report", func() bool { return r.curDepth("R") == 1 })
		r.eventually(x.name+": discarded", func() bool { return q.depth() == 0 })
		h2 := openFor(t, p, "Q", mqi.MQOO_OUTPUT)
		_, err := tryPut(p, h2, "fresh", 0)
		wantRC(t, err, 0)
		if s := <-got; s != "fresh" {
			t.Errorf("%s: the get has %q", x.name, s)
		}
	}
}

// mustPut puts a message that lives for a second and asks for a report of its end.
func (r *psRig) mustPut(c *Conn, h Handle, options int32) {
	r.t.Helper()
	_, err := tryPut(c, h, "old", options, func(md *mqi.MD) {
		md.Expiry, md.Report, md.ReplyToQ = 10, mqi.MQRO_EXPIRATION, "R"
	})
	wantRC(r.t, err, 0)
}
