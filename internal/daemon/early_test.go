package daemon

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// TestRefusedIsEarly: a peer has not connected until the queue manager has let it in, however well it is known who it is: who
// lacks CONNECT gets past no limit.
func TestRefusedIsEarly(t *testing.T) {
	d, _, _ := doorOf(t, "DEFINE CHANNEL(APP) CHLTYPE(SVRCONN) MCAUSER('guest')", "ALTER QMGR CHLAUTH(DISABLED) CONNAUTH(' ')",
		"REFRESH SECURITY TYPE(CONNAUTH)")
	c := newClients(d.c.qm, d.c.log, d.c.clk, d.c.keys, nil)
	p := &silent{addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 5000}}
	if _, err := c.early.enter(p, time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
	peer := fap.Peer{Addr: p.addr, Channel: "APP", QMgr: "QM1"}
	inst, err := c.start(context.Background(), peer)
	if err != nil {
		t.Fatal(err)
	}
	defer inst.Close()
	ask := fap.ConnectRequest{Peer: peer, Instance: inst, User: "joe", ApplName: "test"}
	_, err = c.backend().Connect(context.Background(), ask)
	if _, rc := mqi.Reason(err); rc != mqi.MQRC_NOT_AUTHORIZED {
		t.Fatalf("without CONNECT: %v", err)
	}
	if len(c.early.open) != 1 || c.early.ends.connected != 0 || *c.who[inst] != (client{}) {
		t.Errorf("refused: %d peers have not connected, %d have; %+v", len(c.early.open), c.early.ends.connected, *c.who[inst])
	}
	mustRun(t, d.c.qm, "SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('guest') AUTHADD(CONNECT)")
	conn, err := c.backend().Connect(context.Background(), ask)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.early.open) != 0 || c.early.ends.connected != 1 || *c.who[inst] != (client{user: "guest", appl: "test"}) {
		t.Errorf("connected: %d peers have not connected, %d have; %+v", len(c.early.open), c.early.ends.connected, *c.who[inst])
	}
	if err := conn.Disconnect(context.Background()); err != nil {
		t.Fatal(err)
	}
}
