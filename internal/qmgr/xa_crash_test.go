package qmgr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs/crashfs"
)

// xaUnits makes branches: each gets a number from IN, puts it on Q1 and Q2, is prepared, and then committed. It
// returns the branch at work when the power failed, and whether its prepare was acknowledged.
func (r *crashRun) xaUnits(m *Manager, disk *crashfs.FS) (n int, prepared bool) {
	c, err := m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	wantXA(r.t, c.XAOpen(bg, ""), XAOK)
	in := openFor(r.t, c, "IN", mqi.MQOO_INPUT_SHARED|mqi.MQOO_OUTPUT)
	q1, q2 := openFor(r.t, c, "Q1", mqi.MQOO_OUTPUT), openFor(r.t, c, "Q2", mqi.MQOO_OUTPUT)
	for n = 1; n <= 12; n++ {
		text := fmt.Sprint(n)
		if _, err := tryPut(c, in, text, 0, persistent); err != nil {
			return n, false
		}
		x := xid(text)
		wantXA(r.t, c.XAStart(bg, x, TMNoFlags), XAOK)
		if _, _, err := tryGet(c, in, syncGet); err != nil {
			return n, false
		}
		for _, h := range [...]Handle{q1, q2} {
			if _, err := tryPut(c, h, text, syncPut, persistent); err != nil {
				return n, false
			}
		}
		wantXA(r.t, c.XAEnd(bg, x, TMSuccess), XAOK)
		if rc := c.XAPrepare(bg, x); rc != XAOK {
			if !disk.Dead() {
				r.t.Fatalf("prepare %d", rc)
			}
			return n, false
		}
		rc := c.XACommit(bg, x, TMNoFlags)
		if rc != XAOK {
			return n, true
		}
	}
	return n, false
}

// contents are the messages of a queue, as others see them.
func (r *crashRun) contents(m *Manager, name string) string {
	c, err := m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	defer c.Break()
	h := openFor(r.t, c, name, mqi.MQOO_BROWSE)
	var out []string
	for opt := int32(mqi.MQGMO_BROWSE_FIRST); ; opt = mqi.MQGMO_BROWSE_NEXT {
		s, _, err := tryGet(c, h, opt)
		if err != nil {
			wantRC(r.t, err, mqi.MQRC_NO_MSG_AVAILABLE)
			return strings.Join(out, " ")
		}
		out = append(out, s)
	}
}

// A branch is prepared as a whole or not at all, wherever the power fails; what was acknowledged as prepared is in doubt or
// done; and when it is settled after the restart its messages are where they belong, once.
func TestCrashXA(t *testing.T) {
	dir := shm(t)
	points := 48
	if testing.Short() {
		points = 16
	}
	doubts := 0
	for i := range points {
		r, disk, m := crashPoint(t, dir, i)
		for _, q := range [...]string{"IN", "Q1", "Q2"} {
			r.command(m, "DEFINE QLOCAL("+q+")")
		}
		disk.CrashAt(disk.Ops() + 1 + i)
		n, prepared := r.xaUnits(m, disk)
		r.end(m)
		after := r.crash(disk, i)
		m, err := r.open(after)
		if err != nil {
			t.Fatalf("point %d: %v", i, err)
		}
		doubts += r.settleXA(m, i, n, prepared)
		r.end(m)
	}
	if doubts == 0 {
		t.Error("no power failure left a branch in doubt: the test proves nothing")
	}
}

// settleXA checks what a restart finds after branch n was at work, and settles what is in doubt.
func (r *crashRun) settleXA(m *Manager, point, n int, prepared bool) (doubts int) {
	c, err := m.Connect(bg, auth.Identity{User: "app", Admin: true}, ConnectOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	wantXA(r.t, c.XAOpen(bg, ""), XAOK)
	var done []string
	for k := 1; k < n; k++ {
		done = append(done, fmt.Sprint(k))
	}
	before := strings.Join(done, " ")
	with := strings.TrimSpace(before + " " + fmt.Sprint(n))
	now := [3]string{r.contents(m, "IN"), r.contents(m, "Q1"), r.contents(m, "Q2")}
	list, _ := c.XARecover(bg, 9, TMStartRScan)
	last := fmt.Sprint(n)
	switch {
	case len(list) == 1 && list[0] == xid(last):
		if now != [3]string{"", before, before} {
			r.t.Fatalf("point %d: branch %d is in doubt, the queues show %q", point, n, now)
		}
		want := [3]string{"", with, with}
		if point%2 == 0 {
			wantXA(r.t, c.XACommit(bg, list[0], TMNoFlags), XAOK)
		} else {
			wantXA(r.t, c.XARollback(bg, list[0]), XAOK)
			want = [3]string{last, before, before}
		}
		if now = [3]string{r.contents(m, "IN"), r.contents(m, "Q1"), r.contents(m, "Q2")}; now != want {
			r.t.Fatalf("point %d: branch %d settled, the queues show %q", point, n, now)
		}
		doubts = 1
	case len(list) > 0:
		r.t.Fatalf("point %d: in doubt: %v, branch %d was at work", point, list, n)
	case prepared && now != [3]string{"", with, with}: // the commit came through
		r.t.Fatalf("point %d: branch %d was prepared and is gone: %q", point, n, now)
	case now != [3]string{"", with, with} && now != [3]string{last, before, before} && now != [3]string{"", before, before}:
		r.t.Fatalf("point %d: after branch %d: %q", point, n, now)
	}
	for _, q := range [...]string{"IN", "Q1", "Q2"} {
		if m.lookup(ClassQueue, q).Queue.uncommitted() {
			r.t.Fatalf("point %d: %s has uncommitted work", point, q)
		}
	}
	if err := m.opt.Store.Range(store.TableIndoubt, nil, nil, func(k, _ []byte) error { return fmt.Errorf("%x is left", k) }); err != nil {
		r.t.Fatalf("point %d: %v", point, err)
	}
	return doubts
}
