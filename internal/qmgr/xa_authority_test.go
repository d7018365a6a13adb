package qmgr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// connectXA connects a user, and opens the resource manager.
func (r *authRig) connectXA(id auth.Identity) *Conn {
	r.t.Helper()
	c, err := r.m.Connect(bg, id, ConnectOptions{ApplName: "tm", Channel: "APP.CH"})
	wantRC(r.t, err, 0)
	wantXA(r.t, c.XAOpen(bg, ""), XAOK)
	return c
}

// TestXAOthers: the branches of a user are not there for another one, whatever the verb, until that has SYSTEM over the queue
// manager.
func TestXAOthers(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(Q)")
	r.grant("QUEUE", "Q", "PUT,GET")
	ann := auth.Identity{User: "ann", UID: 1003, Groups: []string{"staff"}}
	mine := r.connectXA(joe)
	q := openFor(t, mine, "Q", mqi.MQOO_OUTPUT)
	begin := func(n string, last int32) XID {
		x := xid(n)
		wantXA(t, mine.XAStart(bg, x, TMNoFlags), XAOK)
		if _, err := tryPut(mine, q, n, syncPut, persistent); err != nil {
			t.Fatal(err)
		}
		wantXA(t, mine.XAEnd(bg, x, last), XAOK)
		return x
	}
	idle, suspended := begin("idle", TMSuccess), begin("suspended", TMSuspend)
	var prepared []XID
	for _, n := range [...]string{"1", "2", "3", "4"} {
		x := begin(n, TMSuccess)
		wantXA(t, mine.XAPrepare(bg, x), XAOK)
		prepared = append(prepared, x)
	}
	if err := r.m.ResolveTransaction(r.m.Transactions()[3].Number, ResolveBack, "op"); err != nil {
		t.Fatal(err)
	}

	anns := r.connectXA(ann)
	r.log.take()
	for what, rc := range map[string]XARet{
		"join": anns.XAStart(bg, idle, TMJoin), "resume": anns.XAStart(bg, suspended, TMResume), "end": anns.XAEnd(bg, suspended, TMSuccess),
		"prepare": anns.XAPrepare(bg, idle), "commit once": anns.XACommit(bg, idle, TMOnePhase),
		"commit": anns.XACommit(bg, prepared[0], TMNoFlags), "rollback": anns.XARollback(bg, prepared[1]),
		"rollback not prepared": anns.XARollback(bg, idle), "forget": anns.XAForget(bg, prepared[3]),
	} {
		if rc != XANotA {
			t.Errorf("%s: %d", what, rc)
		}
	}
	if log := r.log.take(); strings.Count(log, "AMQ8077W") != 8 || !strings.Contains(log, "user ann lacks SYSTEM") {
		t.Errorf("log %s", log)
	}
	// Identifiers are one set for the queue manager: a new branch by one that is in use is refused, whoever's that is.
	for _, x := range []XID{idle, prepared[0], prepared[3]} {
		wantXA(t, anns.XAStart(bg, x, TMNoFlags), XADupID)
	}
	if list, rc := anns.XARecover(bg, 10, TMStartRScan|TMEndRScan); rc != XAOK || len(list) > 0 {
		t.Errorf("another user's xa_recover: %v %d", list, rc)
	}
	if list, rc := mine.XARecover(bg, 10, TMStartRScan|TMEndRScan); rc != XAOK || len(list) != 4 {
		t.Errorf("the user's own xa_recover: %v %d", list, rc)
	}
	other := r.connectXA(joe) // any connection of the user may
	wantXA(t, other.XACommit(bg, prepared[0], TMNoFlags), XAOK)

	r.ok("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('ann') AUTHADD(SYSTEM)")
	if list, rc := anns.XARecover(bg, 10, TMStartRScan|TMEndRScan); rc != XAOK || len(list) != 3 {
		t.Errorf("xa_recover with SYSTEM: %v %d", list, rc)
	}
	wantXA(t, anns.XARollback(bg, prepared[1]), XAOK)
	wantXA(t, anns.XAForget(bg, prepared[3]), XAOK)
	wantXA(t, anns.XAStart(bg, idle, TMJoin), XAOK)
	wantXA(t, anns.XAEnd(bg, idle, TMSuccess), XAOK)
	wantXA(t, other.XAPrepare(bg, idle), XAOK) // it is joe's as before
	admin := r.connectXA(auth.Identity{User: "root", Admin: true})
	wantXA(t, admin.XACommit(bg, prepared[2], TMNoFlags), XAOK)
	wantXA(t, admin.XACommit(bg, idle, TMNoFlags), XAOK)
}

// TestXABounds: neither a connection nor a user can take all the branches of a queue manager.
func TestXABounds(t *testing.T) {
	r := newAuthRig(t)
	n := 0
	begin := func(c *Conn) XARet {
		n++
		x := xid(fmt.Sprint(n))
		rc := c.XAStart(bg, x, TMNoFlags)
		if rc == XAOK {
			wantXA(t, c.XAEnd(bg, x, TMSuccess), XAOK)
		}
		return rc
	}
	var all []*Conn
	for left := maxUserBranches; left > 0; {
		c := r.connectXA(joe)
		all = append(all, c)
		for range min(left, maxConnBranches) {
			wantXA(t, begin(c), XAOK)
			left--
		}
		wantXA(t, begin(c), XARMErr) // of the connection, and at last of the user
	}
	wantXA(t, begin(r.connectXA(joe)), XARMErr)
	wantXA(t, begin(r.connectXA(auth.Identity{User: "ann", UID: 1003, Groups: []string{"staff"}})), XAOK)
	all[0].Break() // its branches are rolled back
	c := r.connectXA(joe)
	wantXA(t, begin(c), XAOK)
	wantXA(t, c.XARollback(bg, xid(fmt.Sprint(n))), XAOK)
	admin := r.connectXA(auth.Identity{User: "root", Admin: true})
	for range maxConnBranches {
		wantXA(t, begin(admin), XAOK)
	}
	wantXA(t, begin(admin), XARMErr)
	if got := len(r.m.xa.byUser); got != 3 {
		t.Errorf("counts of %d users", got)
	}
}
