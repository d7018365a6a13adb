package qmgr

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Who made a dynamic queue owns the queue, and nothing of the queue manager: contexts that need a right over that are refused,
// and nobody is the maker by saying so.
func TestDynamicMaker(t *testing.T) {
	for _, deftype := range []string{"PERMDYN", "TEMPDYN"} {
		r := newAuthRig(t)
		r.ok("DEFINE QMODEL(A.MODEL) DEFTYPE(" + deftype + ") DEFSOPT(SHARED) SHARE")
		r.ok("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('eve') AUTHADD(CONNECT)")
		r.grant("QUEUE", "A.MODEL", "GET,DSP,PUT")
		od := openType(mqi.MQOT_Q, "A.MODEL")
		od.DynamicQName = "OWN.*"
		_, err := r.c.Open(bg, od, mqi.MQOO_INPUT_SHARED)
		wantRC(t, err, 0)
		name := od.ObjectName

		for opt, word := range map[int32]string{mqi.MQOO_SET_ALL_CONTEXT: "SETALL", mqi.MQOO_SET_IDENTITY_CONTEXT: "SETID"} {
			r.log.take()
			_, err = r.c.Open(bg, openType(mqi.MQOT_Q, name), mqi.MQOO_OUTPUT|opt)
			r.refused(err, word, `"objtype":"QMGR"`)
			pmo := mqi.DefaultPMO()
			pmo.Options = map[int32]int32{mqi.MQOO_SET_ALL_CONTEXT: mqi.MQPMO_SET_ALL_CONTEXT,
				mqi.MQOO_SET_IDENTITY_CONTEXT: mqi.MQPMO_SET_IDENTITY_CONTEXT}[opt]
			md := mqi.DefaultMD()
			md.UserIdentifier = "root"
			r.refused(r.c.Put1(bg, openType(mqi.MQOT_Q, name), &md, &pmo, []byte("x")), word)
		}
		_, err = r.c.Open(bg, openType(mqi.MQOT_Q, name), mqi.MQOO_OUTPUT|mqi.MQOO_INPUT_SHARED|mqi.MQOO_PASS_ALL_CONTEXT)
		wantRC(t, err, 0)

		eve, err := r.m.Connect(bg, auth.Identity{User: "eve", UID: -1}, ConnectOptions{})
		wantRC(t, err, 0)
		for _, options := range []int32{mqi.MQOO_INPUT_SHARED, mqi.MQOO_OUTPUT, mqi.MQOO_BROWSE, mqi.MQOO_INQUIRE} {
			r.log.take()
			as := openType(mqi.MQOT_Q, name)
			_, err = eve.Open(bg, as, options)
			r.refused(err, `"user":"eve"`, name)
			as.AlternateUserID = "joe"
			_, err = eve.Open(bg, as, options) // without the option the name means nothing
			r.refused(err, `"user":"eve"`, name)
			_, err = eve.Open(bg, as, options|mqi.MQOO_ALTERNATE_USER_AUTHORITY)
			r.refused(err, `"user":"eve"`, "ALTUSR")
		}
		// With the right to act for others it is the other's authority by the records that counts.
		r.ok("SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('eve') AUTHADD(ALTUSR)")
		as := openType(mqi.MQOT_Q, name)
		as.AlternateUserID = "joe"
		_, err = eve.Open(bg, as, mqi.MQOO_OUTPUT|mqi.MQOO_ALTERNATE_USER_AUTHORITY|mqi.MQOO_SET_ALL_CONTEXT)
		wantRC(t, err, mqi.MQRC_NOT_AUTHORIZED)
		// The maker who acts for somebody else has that one's rights.
		as.AlternateUserID = "al"
		r.log.take()
		_, err = r.c.Open(bg, as, mqi.MQOO_OUTPUT|mqi.MQOO_ALTERNATE_USER_AUTHORITY)
		r.refused(err, "ALTUSR")
	}
}

// A subscription whose queue the subscriber made needs SETID over the queue manager as any other.
func TestDynamicMakerSubscribes(t *testing.T) {
	r := newAuthRig(t)
	r.ok("DEFINE QMODEL(A.MODEL) DEFTYPE(TEMPDYN)")
	r.grant("QUEUE", "A.MODEL", "GET,DSP")
	r.grant("TOPIC", "SYSTEM.BASE.TOPIC", "SUB")
	q, err := r.c.Open(bg, openType(mqi.MQOT_Q, "A.MODEL"), mqi.MQOO_INPUT_SHARED)
	wantRC(t, err, 0)
	sd := mqi.DefaultSD()
	sd.Options, sd.ObjectString = mqi.MQSO_CREATE, "t"
	_, _, err = r.c.Subscribe(bg, &sd, q)
	wantRC(t, err, 0)
	sd.Options |= mqi.MQSO_SET_IDENTITY_CONTEXT
	r.log.take()
	_, _, err = r.c.Subscribe(bg, &sd, q)
	r.refused(err, "SETID", `"objtype":"QMGR"`)
}
