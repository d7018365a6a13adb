package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestResumeDestination: who resumes another's subscription (VARUSER(ANY)) gets publications in his own name, so he must be
// allowed to put to its queue; and to get and browse when he is given the handle of that queue.
func TestResumeDestination(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(A.Q)")
	r.ok("DEFINE TOPIC(T.OPEN) TOPICSTR('open')")
	r.grant("TOPIC", "T.OPEN", "SUB,RESUME")
	root, err := r.m.Connect(bg, auth.Identity{User: "root", Admin: true}, ConnectOptions{})
	wantRC(t, err, 0)
	const durable = mqi.MQSO_DURABLE | mqi.MQSO_ANY_USERID
	sd := mqi.DefaultSD()
	sd.Options, sd.ObjectString, sd.SubName = mqi.MQSO_CREATE|durable, "open", "S"
	q := openFor(t, root, "A.Q", mqi.MQOO_INPUT_SHARED)
	_, h, err := root.Subscribe(bg, &sd, q)
	wantRC(t, err, 0)
	wantRC(t, root.Close(bg, h, 0), 0)

	again := func(verb int32, q Handle) error {
		sd := mqi.DefaultSD()
		sd.Options, sd.ObjectString, sd.SubName = verb|durable, "open", "S"
		_, h, err := r.c.Subscribe(bg, &sd, q)
		if err == nil {
			err = r.c.Close(bg, h, 0)
		}
		return err
	}
	user := func() string { return r.m.lookup(ClassSub, "S").Def().Get("SUBUSER") }
	r.log.take()
	r.refused(again(mqi.MQSO_RESUME, 0), "MQSUB", `"object":"A.Q"`, "PUT", "GET", "BROWSE")
	r.refused(again(mqi.MQSO_ALTER, 0), `"object":"A.Q"`, "PUT")
	r.grant("QUEUE", "A.Q", "GET,BROWSE")
	r.refused(again(mqi.MQSO_RESUME, 0), `"missing":"PUT"`)
	mine := openFor(t, r.c, "A.Q", mqi.MQOO_INPUT_SHARED)
	r.refused(again(mqi.MQSO_RESUME, mine), `"missing":"PUT"`)
	if user() != "root" {
		t.Errorf("a refused resume has changed the user to %s", user())
	}
	r.revoke("QUEUE", "A.Q")
	r.grant("QUEUE", "A.Q", "PUT")
	wantRC(t, again(mqi.MQSO_RESUME, mine), 0) // with a handle of his own nothing but PUT
	r.log.take()
	r.refused(again(mqi.MQSO_RESUME, 0), "GET", "BROWSE")
	r.grant("QUEUE", "A.Q", "GET,BROWSE")
	wantRC(t, again(mqi.MQSO_RESUME, 0), 0)
	wantRC(t, again(mqi.MQSO_ALTER, 0), 0)
	if user() != "joe" {
		t.Errorf("SUBUSER %q", user())
	}
}

// TestSubIdentityAuthority: the identity context that DEFINE SUB and ALTER SUB choose for publications needs SETID over the queue
// and the queue manager, as MQSO_SET_IDENTITY_CONTEXT does.
func TestSubIdentityAuthority(t *testing.T) {
	r := newAuthRig(t)
	for _, s := range []string{"DEFINE QLOCAL(A.Q)", "DEFINE QLOCAL(B.Q)", "DEFINE TOPIC(T.OPEN) TOPICSTR('open')",
		"DEFINE SUB(MODEL) TOPICSTR('open') DEST(A.Q) PUBAPPID('bank')"} {
		r.ok(s)
	}
	r.grant("TOPIC", "T.OPEN", "CTRL,DSP")
	r.grant("QUEUE", "A.Q", "PUT")
	r.grant("QUEUE", "B.Q", "PUT")
	try := func(cmd, lacking string) {
		t.Helper()
		r.log.take()
		rep := r.asJoe(cmd)
		s := r.log.take()
		if lacking == "" && rep.Failed() {
			t.Errorf("%s: %+v %s", cmd, rep, s)
		} else if lacking != "" && (rep.RC != mqi.MQRC_NOT_AUTHORIZED || !strings.Contains(s, lacking)) {
			t.Errorf("%s: %d %s", cmd, rep.RC, s)
		}
	}
	const plain = "DEFINE SUB(S) TOPICSTR('open') DEST(A.Q)"
	for _, s := range []string{plain + " PUBAPPID('bank')", plain + " PUBACCT('05')", "DEFINE SUB(S) LIKE(MODEL) DEST(A.Q)"} {
		try(s, `"missing":"SETID"`)
	}
	try(plain+" PUBAPPID(' ') PUBACCT('00')", "")
	try("ALTER SUB(S) PUBAPPID('bank')", `"object":"A.Q"`)
	r.grant("QUEUE", "A.Q", "SETID")
	try("ALTER SUB(S) PUBAPPID('bank')", `"missing":"SETID"`) // over the queue manager
	r.grant("QMGR", "self", "SETID")
	try("ALTER SUB(S) PUBAPPID('bank')", "")
	try("ALTER SUB(S) USERDATA('x')", "")
	try("ALTER SUB(S) DEST(B.Q)", `"object":"B.Q"`) // takes the identity along
	try("DEFINE SUB(M) TOPICSTR('open') DESTCLAS(MANAGED) PUBAPPID('bank')", "")
	r.revoke("QMGR", "self")
	r.grant("QMGR", "self", "CONNECT")
	try("ALTER SUB(S) PUBAPPID(' ')", "")
	try("ALTER SUB(S) DEST(B.Q)", "")
	try("ALTER SUB(MODEL) PUBAPPID('x')", "ALTUSR") // it is another user's
}

// TestSubscribeFor: an administrator who subscribes for somebody else lends him no rights.
func TestSubscribeFor(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE TOPIC(T.OPEN) TOPICSTR('open')")
	root, err := r.m.Connect(bg, auth.Identity{User: "root", Admin: true}, ConnectOptions{})
	wantRC(t, err, 0)
	sub := func(as string) error {
		sd := mqi.DefaultSD()
		sd.Options, sd.ObjectString = mqi.MQSO_CREATE|mqi.MQSO_MANAGED|mqi.MQSO_ALTERNATE_USER_AUTHORITY, "open"
		sd.AlternateUserID = as
		_, _, err := root.Subscribe(bg, &sd, 0)
		return err
	}
	r.log.take()
	r.refused(sub("joe"), `"user":"joe"`, "SUB")
	r.ok("SET AUTHREC OBJTYPE(TOPIC) PROFILE(T.OPEN) PRINCIPAL('joe') AUTHADD(SUB)")
	wantRC(t, sub("joe"), 0)
}
