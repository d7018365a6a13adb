package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The branch $SYS/MQ is kept apart: wildcards from above, attributes from above and rights given above do not reach it.
func TestAdminTopicsAreApart(t *testing.T) {
	r := newPSRig(t)
	r.ok("ALTER TOPIC(SYSTEM.BASE.TOPIC) DEFPRTY(7) CAPEXPRY(100)")
	r.ok("ALTER TOPIC(SYSTEM.ADMIN.TOPIC) DEFPRTY(ASPARENT)")
	if got := r.field("DISPLAY TPSTATUS('$SYS/MQ') DEFPRTY", "DEFPRTY"); got != "0" {
		t.Errorf("DEFPRTY(%s) of $SYS/MQ", got)
	}
	r.managed(r.c, "$SYS", 0)
	if got := r.field("DISPLAY TPSTATUS('$SYS') DEFPRTY", "DEFPRTY"); got != "7" {
		t.Errorf("DEFPRTY(%s) of $SYS", got)
	}
	if reply := r.cmd("ALTER TOPIC(SYSTEM.ADMIN.TOPIC) WILDCARD(PASSTHRU)"); !reply.Failed() {
		t.Error("WILDCARD of SYSTEM.ADMIN.TOPIC was altered")
	}
	wantRC(t, tryPub(r.c, "$SYS/MQ/x", "x", 0), mqi.MQRC_ADMIN_TOPIC_STRING_ERROR)

	r.ok("SET AUTHREC PROFILE(SYSTEM.BASE.TOPIC) OBJTYPE(TOPIC) PRINCIPAL('plain') AUTHADD(SUB)")
	r.ok("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('plain') AUTHADD(CONNECT)")
	c, err := r.m.Connect(bg, auth.Identity{User: "plain", UID: 1002}, ConnectOptions{})
	wantRC(t, err, 0)
	_, _, err = c.Subscribe(bg, subSD("ordinary/#", create|managed), 0)
	wantRC(t, err, 0)
	_, _, err = c.Subscribe(bg, subSD("$SYS/MQ/INFO/#", create|managed), 0)
	wantRC(t, err, mqi.MQRC_NOT_AUTHORIZED)
	r.ok("SET AUTHREC PROFILE(SYSTEM.ADMIN.TOPIC) OBJTYPE(TOPIC) PRINCIPAL('plain') AUTHADD(SUB)")
	_, _, err = c.Subscribe(bg, subSD("$SYS/MQ/INFO/#", create|managed), 0)
	wantRC(t, err, 0)
}

// Interceptors, of a level above 1, are sent no retained publications.
func TestRetainedIsOfLevelOne(t *testing.T) {
	r := newPSRig(t)
	r.pub("lv", "kept", mqi.MQPMO_RETAIN)
	for level, want := range map[int32]string{0: "kept", 1: "kept", 2: "", 9: ""} {
		q, _ := r.managed(r.c, "lv", 0, func(sd *mqi.SD) { sd.SubLevel = level })
		if got := r.all(r.c, q); got != want {
			t.Errorf("level %d got %q", level, got)
		}
	}
}

// MQSO_RESUME says nothing beside MQSO_ALTER.
func TestResumeBesideAlter(t *testing.T) {
	r := newPSRig(t)
	_, s := r.managed(r.c, "a", durable, named("N"))
	r.close(r.c, s, 0)
	_, _, err := r.c.Subscribe(bg, subSD("a", resume|alter|managed|durable, named("N"),
		func(sd *mqi.SD) { sd.SubUserData = "new" }), 0)
	wantRC(t, err, 0)
	if got := r.field("DISPLAY SUB(N) USERDATA", "USERDATA"); got != "new" {
		t.Errorf("USERDATA(%s)", got)
	}
}
