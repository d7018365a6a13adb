package qmgr

import (
	"fmt"
	"sync"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// ALTER SUB and DEFINE SUB REPLACE leave a shared subscription shared, whether somebody has it open or not, and after a restart.
func TestSharedAltered(t *testing.T) {
	for _, change := range []string{"ALTER SUB(S) USERDATA('x')", "DEFINE SUB(S) TOPICSTR('news/#') DESTCLAS(MANAGED) REPLACE",
		"ALTER SUB(S) EXPIRY(100000)"} {
		r := newPSBoltRig(t)
		a := r.member("a", "news/#", "S", durable)
		r.ok(change)
		b := r.member("a", "news/#", "S", durable)
		a.leave(t)
		b.leave(t)
		r.ok(change)
		r.restart(store.Immediate)
		a = r.member("a", "news/#", "S", durable)
		b = r.member("a", "news/#", "S", durable)
		r.pub("news/1", "one", 0)
		if got := r.all(a.c, a.queue) + r.all(b.c, b.queue); got != "one" {
			t.Errorf("%s: %q", change, got)
		}
	}
}

// Either a close with MQCO_REMOVE_SUB removes a durable subscription, or another application opens it: not both.
func TestRemoveOrOpen(t *testing.T) {
	r := newPSRig(t)
	opened, removed := 0, 0
	for i := range 600 {
		sharedSub := i%2 == 0
		a, b := r.connect("a"), r.connect("a")
		var hsub, q Handle
		if sharedSub {
			m := r.member("a", "n/#", "S", durable)
			a, hsub = m.c, m.hsub
		} else {
			_, hsub = r.managed(a, "n/#", durable, named("S"))
		}
		var wg sync.WaitGroup
		var closed, err error
		wg.Go(func() { closed = a.Close(bg, hsub, mqi.MQCO_REMOVE_SUB) })
		wg.Go(func() {
			sd := subSD("n/#", mqi.MQSO_RESUME|managed|durable, named("S"))
			if sharedSub {
				sd = subSD("n/#", mqi.MQSO_ALTER|managed|durable|mqi.MQSO_ANY_USERID, named("S"), shared)
			}
			for {
				q, _, err = b.Subscribe(bg, sd, 0)
				if _, rc := mqi.Reason(err); rc != mqi.MQRC_SUBSCRIPTION_IN_USE {
					return
				}
			}
		})
		wg.Wait()
		if err == nil {
			opened++
			r.pub("n/1", fmt.Sprint(i), 0)
			if got := r.all(b, q); got != fmt.Sprint(i) {
				t.Fatalf("round %d: opened, and the publication is %q; the close said %v", i, got, closed)
			}
			wantRC(t, closed, mqi.MQRC_SUBSCRIPTION_IN_USE)
		} else {
			removed++
			wantRC(t, err, mqi.MQRC_NO_SUBSCRIPTION)
			wantRC(t, closed, 0)
		}
		a.Break()
		b.Break()
		r.cmd("DELETE SUB(S)")
	}
	t.Logf("%d opened, %d removed", opened, removed)
}

// What makes a group stays as MQSUB made it.
func TestGroupNotAlterable(t *testing.T) {
	r := newPSBoltRig(t)
	r.ok("DEFINE QLOCAL(D)")
	r.ok("DEFINE QLOCAL(E)")
	d := openFor(t, r.c, "D", mqi.MQOO_INPUT_SHARED)
	for name, topic := range map[string]string{"A": "g/x", "B": "g/#"} {
		_, s, err := r.c.Subscribe(bg, subSD(topic, create|durable|mqi.MQSO_GROUP_SUB|mqi.MQSO_SET_CORREL_ID, named(name),
			func(sd *mqi.SD) { sd.SubCorrelID = mqi.ID{7} }), d)
		wantRC(t, err, 0)
		wantRC(t, r.c.Close(bg, s, 0), 0)
	}
	for _, cmd := range []string{"ALTER SUB(B) DEST(E)", "ALTER SUB(B) DESTCORL('" + hexID([24]byte{8}) + "')"} {
		rep := r.cmd(cmd)
		if !rep.Failed() || rep.RC != mqi.MQRC_GROUPING_NOT_ALTERABLE {
			t.Errorf("%s: %s", cmd, replyText(rep))
		}
	}
	r.ok("ALTER SUB(B) USERDATA('x')")
	r.ok("DEFINE SUB(B) TOPICSTR('g/#') DEST(D) REPLACE")
	for range 2 {
		r.pub("g/x", "1", 0)
		if got := r.all(r.c, openFor(t, r.c, "D", mqi.MQOO_INPUT_SHARED)); got != "1" {
			t.Errorf("the group got %q", got)
		}
		r.restart(store.Immediate)
	}
}

// MAXHANDS counts each queue of a list, and what is closed no more.
func TestHandleCount(t *testing.T) {
	r := newPSRig(t)
	r.ok("DEFINE QLOCAL(A)")
	r.ok("DEFINE QLOCAL(B)")
	for range 3 {
		od := mqi.DefaultOD()
		od.Version, od.RecsPresent = 2, 3
		od.ObjectRecords = []mqi.OR{{ObjectName: "A"}, {ObjectName: "NONE"}, {ObjectName: "B"}}
		h, err := r.c.Open(bg, &od, mqi.MQOO_OUTPUT)
		if cc, _ := mqi.Reason(err); cc == mqi.CCFailed {
			t.Fatal(err)
		}
		q, s := r.managed(r.c, "t", 0)
		if n := r.c.openCount(); n != 4 {
			t.Fatalf("%d handles, want 4", n)
		}
		for _, h := range []Handle{h, s, q} {
			wantRC(t, r.c.Close(bg, h, 0), 0)
		}
		if n := r.c.openCount(); n != 0 {
			t.Fatalf("%d handles are left", n)
		}
	}
	q, s := r.managed(r.c, "t", durable, named("S"))
	wantRC(t, r.c.Close(bg, s, mqi.MQCO_REMOVE_SUB), 0)
	wantRC(t, r.c.Close(bg, q, 0), 0)
	if n := r.c.openCount(); n != 0 {
		t.Fatalf("%d handles are left", n)
	}
}

// A managed queue that is deleted and defined again under its name gets the publications.
func TestManagedQueueAgain(t *testing.T) {
	r := newPSBoltRig(t)
	r.ok("DEFINE SUB(M) TOPICSTR('m/a') DESTCLAS(MANAGED)")
	q := r.field("DISPLAY SUB(M) DEST", "DEST")
	r.pub("m/a", "one", 0, persistent)
	for range 2 {
		r.ok("DELETE QLOCAL(" + q + ") PURGE")
		wantRC(t, tryPub(r.c, "m/a", "none", 0, persistent), mqi.MQRC_PUBLICATION_FAILURE)
		r.ok("DEFINE QLOCAL(" + q + ")")
		r.pub("m/a", "two", 0, persistent)
		r.pub("m/a", "three", mqi.MQPMO_RETAIN)
		if got := r.all(r.c, openFor(t, r.c, q, mqi.MQOO_INPUT_SHARED)); got != "two three" {
			t.Errorf("got %q", got)
		}
		r.c.Break()
		r.c = r.connect("app")
	}
}
