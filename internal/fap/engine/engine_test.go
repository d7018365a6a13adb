package engine_test

import (
	"context"
	"net"
	"testing"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/engine"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
)

var ctx = context.Background()

// backend is a queue manager with the definitions given, where user "stranger" is not let in.
func backend(t *testing.T, commands ...string) *engine.Backend {
	t.Helper()
	log := zerolog.Nop()
	o := qmgr.Options{Name: "QM1", Dir: t.TempDir(), Store: store.OpenMem(), Clock: clock.Real(), Log: &log, User: "root"}
	if err := qmgr.Create(o); err != nil {
		t.Fatal(err)
	}
	m, err := qmgr.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Start(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Stop(ctx, store.Immediate) })
	for _, text := range commands {
		c, serr := mqsc.ParseCommand(text)
		if serr != nil {
			t.Fatalf("%s: %v", text, serr)
		}
		if r := m.Execute(ctx, c, auth.System("root")); r.Failed() {
			t.Fatalf("%s: %v", text, r.Msgs)
		}
	}
	return &engine.Backend{Manager: m,
		Start: func(_ context.Context, p fap.Peer) (*fap.Instance, error) {
			return &fap.Instance{Channel: p.Channel}, nil
		},
		Identify: func(_ context.Context, r fap.ConnectRequest) (auth.Identity, error) {
			if r.User == "stranger" {
				return auth.Identity{}, mqi.E("MQCONN", "QM1", mqi.MQRC_NOT_AUTHORIZED)
			}
			return auth.Identity{User: r.User, Admin: true}, nil
		}}
}

func connect(t *testing.T, b *engine.Backend, user string) (fap.Conn, error) {
	t.Helper()
	p := fap.Peer{Addr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}, Channel: "DEV.APP.SVRCONN"}
	i, err := b.Channel(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	return b.Connect(ctx, fap.ConnectRequest{Peer: p, Instance: i, User: user, ApplName: "test", ApplType: mqi.MQAT_JAVA})
}

// TestDefaults: an open tells the attributes of the queue that a client needs, whatever it may do with it.
func TestDefaults(t *testing.T) {
	b := backend(t, "DEFINE QLOCAL(PLAIN)",
		"DEFINE QLOCAL(OTHER) DEFPSIST(YES) DEFPRESP(ASYNC) DEFREADA(YES) PROPCTL(NONE)",
		"DEFINE QALIAS(ALIAS) TARGET(PLAIN) DEFPSIST(YES)")
	c, err := connect(t, b, "app")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Break()
	for name, want := range map[string]wire.Defaults{
		"PLAIN": {PutResponse: 1},
		"OTHER": {Persistence: 1, PutResponse: 2, ReadAhead: 1, PropertyControl: 1},
		"ALIAS": {Persistence: 1, PutResponse: 1},
	} {
		od := mqi.DefaultOD()
		od.ObjectName = name
		h, got, err := c.Open(ctx, &od, mqi.MQOO_OUTPUT)
		if err != nil || h <= 0 || got != want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
	od := mqi.DefaultOD()
	od.ObjectName = "NO.SUCH"
	if _, _, err := c.Open(ctx, &od, mqi.MQOO_OUTPUT); reason(err) != mqi.MQRC_UNKNOWN_OBJECT_NAME {
		t.Errorf("unknown queue: %v", err)
	}
}

// TestContext: messages carry the client's user and program, and a user who is not let in gets 2035.
func TestContext(t *testing.T) {
	b := backend(t, "DEFINE QLOCAL(Q1)")
	if _, err := connect(t, b, "stranger"); reason(err) != mqi.MQRC_NOT_AUTHORIZED {
		t.Errorf("stranger: %v", err)
	}
	c, err := connect(t, b, "app")
	if err != nil {
		t.Fatal(err)
	}
	od := mqi.DefaultOD()
	od.ObjectName = "Q1"
	h, _, err := c.Open(ctx, &od, mqi.MQOO_OUTPUT|mqi.MQOO_INPUT_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	md, pmo, gmo := mqi.DefaultMD(), mqi.DefaultPMO(), mqi.DefaultGMO()
	if err := c.Put(ctx, h, &md, &pmo, []byte("body")); err != nil {
		t.Fatal(err)
	}
	in := mqi.DefaultMD()
	body, total, err := c.Get(ctx, h, &in, &gmo, 100)
	if err != nil || string(body) != "body" || total != 4 || in.UserIdentifier != "app" || in.PutApplName != "test" ||
		in.PutApplType != mqi.MQAT_JAVA || in.MsgID != md.MsgID {
		t.Errorf("%q %+v, %v", body, in, err)
	}
	if err := c.Disconnect(ctx); err != nil {
		t.Error(err)
	}
}

func reason(err error) mqi.RC {
	_, rc := mqi.Reason(err)
	return rc
}

// Message handles of a client are its own: their numbers mean nothing here, and properties come in the data.
func TestClientsMessageHandles(t *testing.T) {
	b := backend(t, "DEFINE QLOCAL(Q) PROPCTL(NONE)")
	c, err := connect(t, b, "app")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Break()
	od := mqi.DefaultOD()
	od.ObjectName = "Q"
	h, _, err := c.Open(ctx, &od, mqi.MQOO_OUTPUT|mqi.MQOO_INPUT_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	props := []mqi.Property{{Name: "colour", Value: mqi.PropString("red"), PD: mqi.DefaultPD()}}
	md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
	md.CodedCharSetID = 1208
	body, err := mqi.JoinProps(&md, []byte("text"), props)
	if err != nil {
		t.Fatal(err)
	}
	pmo.Version, pmo.OriginalMsgHandle, pmo.NewMsgHandle = 3, 4711, 12
	if err := c.Put(ctx, h, &md, &pmo, body); err != nil || pmo.OriginalMsgHandle != 4711 {
		t.Fatalf("%v %+v", err, pmo)
	}
	const asked = mqi.MQGMO_PROPERTIES_IN_HANDLE
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	gmo.Version, gmo.MsgHandle, gmo.Options = 4, 4711, asked
	got, _, err := c.Get(ctx, h, &md, &gmo, 1000)
	if err != nil || gmo.MsgHandle != 4711 || gmo.Options != asked {
		t.Fatalf("%v %+v", err, gmo)
	}
	list, bare, err := mqi.SplitProps(&md, got, true)
	if err != nil || len(list) != 1 || list[0].Value.Text != "red" || string(bare) != "text" {
		t.Errorf("%v %q %v", list, bare, err)
	}
}
