package engine_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

type noWaker struct{}

func (noWaker) Wake(any)                     {}
func (noWaker) Own() bool                    { return false }
func (noWaker) Disown()                      {}
func (noWaker) Settled(any)                  {}
func (noWaker) Take(any, []byte, int, error) {}

// TestWholeByTheSameRight: who may get through an alias, and nothing else, is given all of a message that is longer than his
// buffer, and then the message by its token: streams of clients do both.
func TestWholeByTheSameRight(t *testing.T) {
	b := backend(t, "DEFINE QLOCAL(Q1)", "DEFINE QALIAS(A1) TARGET(Q1)", "SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('app') AUTHADD(CONNECT)",
		"SET AUTHREC PROFILE(A1) OBJTYPE(QUEUE) PRINCIPAL('app') AUTHADD(GET)")
	b.Identify = func(_ context.Context, r fap.ConnectRequest) (auth.Identity, error) {
		return auth.Identity{User: r.User, Admin: r.User == "root"}, nil
	}
	root, err := connect(t, b, "root")
	if err != nil {
		t.Fatal(err)
	}
	defer root.Break()
	app, err := connect(t, b, "app")
	if err != nil {
		t.Fatal(err)
	}
	defer app.Break()
	od := mqi.DefaultOD()
	od.ObjectName = "Q1"
	out, _, err := root.Open(ctx, &od, mqi.MQOO_OUTPUT)
	if err != nil {
		t.Fatal(err)
	}
	od = mqi.DefaultOD()
	od.ObjectName = "A1"
	in, _, err := app.Open(ctx, &od, mqi.MQOO_INPUT_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat([]byte("long "), 2000)
	for _, waiting := range []bool{false, true} {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		if err := root.Put(ctx, out, &md, &pmo, text); err != nil {
			t.Fatal(err)
		}
		get := func(gmo *mqi.GMO, max int) ([]byte, int, error) {
			md := mqi.DefaultMD()
			md.Version, gmo.Version = 2, 4
			if !waiting {
				return app.Get(ctx, in, &md, gmo, max)
			}
			body, total, s, err := app.(fap.Waiter).NewWait(noWaker{}).Get(in, &md, gmo, max)
			if s != fap.Over {
				t.Fatalf("state %v", s)
			}
			return body, total, err
		}
		gmo := mqi.DefaultGMO()
		body, total, err := get(&gmo, 4096)
		if reason(err) != mqi.MQRC_TRUNCATED_MSG_FAILED || !bytes.Equal(body, text) || total != len(text) {
			t.Fatalf("waiting %v: %d bytes of %d, %v", waiting, len(body), total, err)
		}
		by := mqi.DefaultGMO()
		by.MatchOptions, by.MsgToken = mqi.MQMO_MATCH_MSG_TOKEN, gmo.MsgToken
		if body, _, err = get(&by, len(text)); err != nil || !bytes.Equal(body, text) {
			t.Fatalf("waiting %v, by token: %d bytes, %v", waiting, len(body), err)
		}
	}
}
