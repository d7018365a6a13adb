package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A trigger message is read as its descriptor says: one that came from a machine with EBCDIC and the other byte order starts
// its program like any other.
func TestTriggerMessageCoding(t *testing.T) {
	for _, c := range []mqi.Coding{mqi.NativeCoding(1208), mqi.NativeCoding(819), {Encoding: 273, CCSID: 500}} {
		tm := mqi.TM{QName: "APP.Q", ProcessName: "APP", ApplType: mqi.MQAT_UNIX, ApplID: "printf %s", UserData: "it's ü"}
		body, err := tm.Append(nil, c)
		if err != nil {
			t.Fatal(err)
		}
		var out, complaints bytes.Buffer
		e := &env{ctx: context.Background(), stdout: &out, stderr: &complaints}
		m := &received{Format: mqi.MQFMT_TRIGGER, Encoding: c.Encoding, CodedCharSetID: c.CCSID}
		if err := e.startTriggered(&client{qm: "QM1"}, "INITQ", m, body); err != nil {
			t.Fatal(err)
		}
		_, arg, _ := strings.Cut(out.String(), "\n")
		tmc, _, err := mqi.ParseTMC2([]byte(arg), mqi.NativeCoding(1208))
		if err != nil || tmc.QName != "APP.Q" || tmc.UserData != "it's ü" || tmc.QMgrName != "QM1" {
			t.Errorf("%+v: %+v %v, said %q %q", c, tmc, err, out.String(), complaints.String())
		}
	}
}
