package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
)

func TestChannelOfSNI(t *testing.T) {
	for name, want := range map[string]string{
		"dev2e-app2e-svrconn.chl.mq.ibm.com": "DEV.APP.SVRCONN", // seen from the client of 9.4.1
		"a1.chl.mq.ibm.com":                  "A1",
		"61-2f-b.chl.mq.ibm.com":             "a/B",
		"DEV2E-X.chl.mq.ibm.com":             "DEV.X",
		"localhost":                          "", ".chl.mq.ibm.com": "", "a_b.chl.mq.ibm.com": "", "-.chl.mq.ibm.com": "",
	} {
		got, ok := channelOfSNI(name)
		if got != want && ok || ok != (want != "") {
			t.Errorf("%s: %q %v, want %q", name, got, ok, want)
		}
	}
}

func TestCheckTLS(t *testing.T) {
	st := func(version, suite uint16, cn string) *tls.ConnectionState {
		s := &tls.ConnectionState{Version: version, CipherSuite: suite}
		if cn != "" {
			s.PeerCertificates = []*x509.Certificate{{Subject: pkix.Name{Names: []pkix.AttributeTypeAndValue{
				{Type: []int{2, 5, 4, 10}, Value: "Example"}, {Type: []int{2, 5, 4, 3}, Value: cn}}}}}
		}
		return s
	}
	tls13 := st(tls.VersionTLS13, tls.TLS_AES_256_GCM_SHA384, "")
	tls12 := st(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "")
	app := st(tls.VersionTLS13, tls.TLS_AES_256_GCM_SHA384, "app")
	for _, c := range []struct {
		sc   qmgr.ServerConn
		st   *tls.ConnectionState
		want wire.Code
	}{
		{qmgr.ServerConn{}, nil, 0},
		{qmgr.ServerConn{}, tls13, wire.CodeCipherSpec},
		{qmgr.ServerConn{SSLCiph: "ANY_TLS12_OR_HIGHER"}, nil, wire.CodeCipherSpec},
		{qmgr.ServerConn{SSLCiph: "ANY_TLS12_OR_HIGHER"}, tls12, 0},
		{qmgr.ServerConn{SSLCiph: "ANY_TLS12_OR_HIGHER"}, tls13, 0},
		{qmgr.ServerConn{SSLCiph: "ANY_TLS12"}, tls13, wire.CodeCipherSpec},
		{qmgr.ServerConn{SSLCiph: "ANY_TLS13"}, tls12, wire.CodeCipherSpec},
		{qmgr.ServerConn{SSLCiph: "TLS_AES_256_GCM_SHA384"}, tls13, 0},
		{qmgr.ServerConn{SSLCiph: "TLS_AES_128_GCM_SHA256"}, tls13, wire.CodeCipherSpec},
		{qmgr.ServerConn{SSLCiph: "ECDHE_RSA_AES_256_GCM_SHA384"}, tls12, 0},
		{qmgr.ServerConn{SSLCiph: "RC4_SHA_US"}, tls12, wire.CodeCipherSpec},
		{qmgr.ServerConn{SSLCiph: "ANY", NeedCert: true}, tls13, wire.CodeClientCertificate},
		{qmgr.ServerConn{SSLCiph: "ANY", SSLPeer: "CN=app"}, tls13, wire.CodeClientCertificate},
		{qmgr.ServerConn{SSLCiph: "ANY", NeedCert: true}, app, 0},
		{qmgr.ServerConn{SSLCiph: "ANY", SSLPeer: "CN=app,O=Exam*"}, app, 0},
		{qmgr.ServerConn{SSLCiph: "ANY", SSLPeer: "CN=other"}, app, wire.CodePeerName},
	} {
		err := checkTLS(&c.sc, c.st)
		var r *fap.Refusal
		code := wire.Code(0)
		if errors.As(err, &r) {
			code = r.Code
		}
		if code != c.want {
			t.Errorf("%+v: %v, want status %d", c.sc, err, c.want)
		}
	}
}

// doorOf opens a doorway of a queue manager on loopback.
func doorOf(t *testing.T, commands ...string) (*doorway, string, context.CancelFunc) {
	t.Helper()
	log := zerolog.New(io.Discard)
	o := qmgr.Options{Name: "QM1", Store: store.OpenMem(), Clock: clock.Real(), Log: &log, User: "x"}
	if err := qmgr.Create(o); err != nil {
		t.Fatal(err)
	}
	qm, err := qmgr.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		mustRun(t, qm, c)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	d := newDoorway(ctx, &clients{qm: qm, log: &log, clk: clock.Real(), keys: &keys{log: &log}}, "L1", l)
	t.Cleanup(func() {
		cancel()
		l.Close()
		d.wg.Wait()
		stop, done := context.WithTimeout(context.Background(), 20*time.Second)
		defer done()
		if err := qm.Stop(stop, store.Immediate); err != nil {
			t.Error(err)
		}
	})
	return d, l.Addr().String(), cancel
}

// A peer that says nothing holds up nobody, and plain and TLS come through the same port.
func TestDoorway(t *testing.T) {
	d, addr, cancel := doorOf(t)
	dial := func(first string) net.Conn {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		if _, err := io.WriteString(nc, first); err != nil {
			t.Fatal(err)
		}
		return nc
	}
	silent := dial("")
	dial("TSH more")
	nc, err := d.Accept()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 8)
	if _, err := io.ReadFull(nc, b); err != nil || string(b) != "TSH more" {
		t.Errorf("read %q %v", b, err)
	}
	nc.Close()
	dial("\x16\x03\x01")
	nc, err = d.Accept()
	if _, ok := nc.(*tls.Conn); !ok || err != nil {
		t.Errorf("%T %v", nc, err)
	}
	nc.Close()
	cancel()
	if _, err := d.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
	if err := silent.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := silent.Read(b); !errors.Is(err, io.EOF) && (err == nil || strings.Contains(err.Error(), "timeout")) {
		t.Errorf("a silent peer outlives the port: %v", err)
	}
}

// A port that is closed is done with when the last peer that came through it has gone, not before: each STOP LISTENER left a
// goroutine behind for as long as the queue manager ran.
func TestDoorwayEmpties(t *testing.T) {
	d, addr, _ := doorOf(t)
	peers := map[string]net.Conn{"plain": nil, "TLS": nil}
	for name, first := range map[string]string{"plain": "TSH ", "TLS": "\x16\x03\x01"} {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		if _, err := io.WriteString(nc, first); err != nil {
			t.Fatal(err)
		}
		if peers[name], err = d.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	d.Listener.Close()
	go func() {
		_, err := d.Accept()
		ended <- err
	}()
	for name, nc := range peers {
		select {
		case err := <-ended:
			t.Fatalf("the %s peer is still there: %v", name, err)
		case <-time.After(50 * time.Millisecond):
		}
		nc.Close()
		nc.Close() // once more does not count
	}
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("nobody is left, and Accept does not end")
	}
}

// A blocked address is closed before a byte of it is read.
func TestDoorwayBlocks(t *testing.T) {
	_, addr, _ := doorOf(t, "SET CHLAUTH('*') TYPE(BLOCKADDR) ADDRLIST('127.0.0.1')")
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if err := nc.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("the connection stays: %v", err)
	}
}
