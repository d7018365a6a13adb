package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestAlternateRemote: with an alternate user it is that user's rights that count, also over a queue of another queue manager,
// and those of whoever acts decide nothing.
func TestAlternateRemote(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QLOCAL(QM2) USAGE(XMITQ)")
	r.ok("SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(ALTUSR)")
	r.ok("SET AUTHREC PROFILE(QM2) OBJTYPE(QUEUE) PRINCIPAL('ann') AUTHADD(PUT)")
	r.ok("SET AUTHREC PROFILE(QM2) OBJTYPE(RQMNAME) PRINCIPAL('bob') AUTHADD(PUT)")
	od := func(user string) *mqi.OD {
		od := openType(mqi.MQOT_Q, "ANY")
		od.ObjectQMgrName, od.AlternateUserID = "QM2", user
		return od
	}
	check := func(what string, want map[string]mqi.RC) {
		t.Helper()
		for user, rc := range want {
			t.Log(what, user)
			_, err := r.c.Open(bg, od(user), mqi.MQOO_OUTPUT|mqi.MQOO_ALTERNATE_USER_AUTHORITY)
			wantRC(t, err, rc)
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			pmo.Options = mqi.MQPMO_ALTERNATE_USER_AUTHORITY
			wantRC(t, r.c.Put1(bg, od(user), &md, &pmo, []byte("x")), rc)
		}
	}
	want := map[string]mqi.RC{"ann": 0, "bob": 0, "eve": mqi.MQRC_NOT_AUTHORIZED}
	check("joe without rights, for", want)
	r.grant("RQMNAME", "QM2", "PUT")
	check("joe with rights over QM2, for", want)
	_, err := r.c.Open(bg, od(""), mqi.MQOO_OUTPUT)
	wantRC(t, err, 0)
	r.ok("SET AUTHREC PROFILE(QM2) OBJTYPE(RQMNAME) PRINCIPAL('ann') AUTHADD(SETALL)") // says something of ann, and not PUT
	want["ann"] = mqi.MQRC_NOT_AUTHORIZED
	check("joe with rights over QM2, for", want)
}
