package mq_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pkcs12 "software.sslmate.com/src/go-pkcs12"

	"github.com/qmgrd/qmgrd/mq"
)

// definition is a clientConnection channel in JSON; more is further members.
func definition(name, qmgr, host, port, more string) string {
	return fmt.Sprintf(`{"name": %q, "type": "clientConnection", "clientConnection": {"queueManager": %q, "connection": [{"host": %q, "port": %s}]}%s}`,
		name, qmgr, host, port, more)
}

func table(t *testing.T, definitions ...string) *mq.CCDT {
	t.Helper()
	c, err := mq.ParseCCDT([]byte(`{"channel": [` + strings.Join(definitions, ",") + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseCCDT(t *testing.T) {
	got, err := mq.ParseCCDT([]byte(`{"channel": [
		{"name": "A.CHL", "type": "clientConnection", "general": {"description": "x", "maximumMessageLength": 2000},
		 "clientConnection": {"queueManager": "QM1", "connection": [{"host": "one", "port": 1500}, {"host": "::1"}]},
		 "connectionManagement": {"clientWeight": 7, "affinity": "none", "heartbeatInterval": 5, "sharingConversations": 10},
		 "transmissionSecurity": {"cipherSpecification": "ANY_TLS12", "certificatePeerName": "CN=qm1"}, "compression": {"header": ["none"]}},
		{"name": "OTHER", "type": "sender"}]}`))
	if err != nil || len(got.Channels) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	want := mq.ClientChannel{Name: "A.CHL", QueueManager: "QM1", Addr: "one:1500,[::1]:1414", CipherSpec: "ANY_TLS12", PeerName: "CN=qm1",
		Weight: 7, NoAffinity: true, Heartbeat: 5e9, MaxMsgLength: 2000}
	if got.Channels[0] != want {
		t.Errorf("%+v", got.Channels[0])
	}
	good := definition("A", "Q", "h", "1", "")
	for in, why := range map[string]string{
		"AMQRFCHL\x00\x01": "binary", "": "JSON", "[]": "JSON", "{}": `"channel"`,
		`{"channel": [` + definition("", "Q", "h", "1", "") + `]}`:                                                 "required",
		`{"channel": [` + good + `, {"name": "X", "type": "clientConnection"}]}`:                                   `definition 2 (channel "X")`,
		`{"channel": [` + definition("A", "Q", "", "1", "") + `]}`:                                                 "no address",
		`{"channel": [` + definition("A", "Q", "h", "70000", "") + `]}`:                                            "no address",
		`{"channel": [` + definition("A", "Q", "a,b", "1", "") + `]}`:                                              "no address",
		`{"channel": [` + definition(strings.Repeat("A", 21), "Q", "h", "1", "") + `]}`:                            "longer",
		`{"channel": [` + definition("A", "Q", "h", "1", `, "connectionManagement": {"clientWeight": 100}`) + `]}`: "clientWeight",
		`{"channel": [` + definition("A", "Q", "h", "1", `, "connectionManagement": {"affinity": "x"}`) + `]}`:     "affinity",
	} {
		if _, err := mq.ParseCCDT([]byte(in)); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", in, err, why)
		}
	}
}

func names(list []mq.ClientChannel) string {
	var out []string
	for _, c := range list {
		out = append(out, c.Name)
	}
	return strings.Join(out, " ")
}

// The order of definitions: by weight, then by name or chance.
func TestMatching(t *testing.T) {
	weight := func(n int, more string) string {
		return fmt.Sprintf(`, "connectionManagement": {"clientWeight": %d%s}`, n, more)
	}
	c := table(t, definition("D", "G", "h", "1", weight(1, "")), definition("B", "G", "h", "1", ""), definition("A", "G", "h", "1", weight(0, "")),
		definition("C", "G", "h", "1", weight(98, "")), definition("Z", "", "h", "1", ""), definition("Y", "OTHER", "h", "1", ""))
	for name, want := range map[string]string{"": "Z", "*": "Z", " ": "Z", "OTHER": "Y", "*OTHER": "Y", "NONE": ""} {
		if got := names(c.Matching(name)); got != want {
			t.Errorf("%q: %s", name, got)
		}
	}
	first := names(c.Matching("G"))
	if !strings.HasPrefix(first, "A B ") || len(first) != 7 {
		t.Errorf("order %s", first)
	}
	for range 50 {
		if got := names(c.Matching("*G")); got != first {
			t.Fatalf("with affinity another order: %s, %s", got, first)
		}
	}
	count := map[string]int{}
	c = table(t, definition("A", "G", "h", "1", weight(10, "")), definition("B", "G", "h", "1", weight(30, `, "affinity": "none"`)))
	for range 4000 {
		count[c.Matching("G")[0].Name]++
	}
	if count["A"] < 800 || count["A"] > 1200 {
		t.Errorf("weights 10 and 30: first %v", count)
	}
}

func TestReadCCDT(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a b.json")
	if err := os.WriteFile(file, []byte(`{"channel": [`+definition("A", "Q", "h", "1", "")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, "file://" + strings.ReplaceAll(file, " ", "%20"), "file:" + strings.ReplaceAll(file, " ", "%20")} {
		if c, err := mq.ReadCCDT(name); err != nil || len(c.Channels) != 1 {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	if _, err := mq.ReadCCDT("http://user:secret@host/ccdt.json"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("http: %v", err)
	}
	if _, err := mq.ReadCCDT(file + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// A definition whose address or channel is not there leaves it to the next; the name decides which are tried.
func TestConnectByCCDT(t *testing.T) {
	s, err := startServer(nil, nil, "DEFINE QLOCAL(Q)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, dead, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	_, port, _ := net.SplitHostPort(s.addr)
	at := func(name, qmgr, port string) string { return definition(name, qmgr, "127.0.0.1", port, "") }
	tls12 := `, "transmissionSecurity": {"cipherSpecification": "ANY_TLS12"}`
	c := table(t, at("A", "QM1", dead), at("NONE", "QM1", port), at("X", "QM1", port), at("W", "QM2", port), at("C", "GROUP", port),
		definition("S", "QM1", "127.0.0.1", port, tls12), definition("S", "TLS", "127.0.0.1", port, tls12))
	for name, want := range map[string]error{"QM1": nil, "*GROUP": nil, "GROUP": mq.QMgrNameError, "QM2": mq.QMgrNameError, "": mq.QMgrNameError,
		"QM9": mq.QMgrNameError, "*TLS": mq.KeyRepositoryError} {
		conn, err := mq.Connect(ctx, mq.Options{CCDT: c, QueueManager: name})
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
		if err == nil {
			if conn.QueueManager() != "QM1" {
				t.Errorf("%q: queue manager %s", name, conn.QueueManager())
			}
			conn.Disconnect(ctx)
		}
	}
	if _, err := mq.Connect(ctx, mq.Options{CCDT: c, QueueManager: "QM1", Addr: s.addr}); err == nil {
		t.Error("an address beside a table was taken")
	}
}

// TLS by a table and a key repository: the chain is checked, and the name when the definition says so.
func TestKeyRepository(t *testing.T) {
	cert, _, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan int, 10)
	s, err := startServer(nil, func(l net.Listener) net.Listener {
		return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequestClientCert,
			VerifyConnection: func(st tls.ConnectionState) error { seen <- len(st.PeerCertificates); return nil }})
	}, "DEFINE QLOCAL(Q)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	_, port, _ := net.SplitHostPort(s.addr)
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	leaf, _ := x509.ParseCertificate(cert.Certificate[0])
	crt := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf.Raw})
	key, _ := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	write("trust.pem", crt)
	write("both.pem", slices.Concat(crt, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})))
	both, err := pkcs12.Modern.Encode(cert.PrivateKey, leaf, nil, "pw")
	if err != nil {
		t.Fatal(err)
	}
	write("key.p12", both)
	store, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{leaf}, "pw")
	if err != nil {
		t.Fatal(err)
	}
	write("store.p12", store)
	other, _, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
	write("other.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate[0]}))
	connect := func(repository, security string) error {
		t.Helper()
		cfg, err := mq.KeyRepository(filepath.Join(dir, repository), "pw")
		if err != nil {
			t.Fatal(err)
		}
		c := table(t, definition("C", "QM1", "127.0.0.1", port, `, "transmissionSecurity": {`+security+`}`))
		conn, err := mq.Connect(ctx, mq.Options{CCDT: c, QueueManager: "QM1", TLS: cfg})
		if err == nil {
			conn.Disconnect(ctx)
		}
		return err
	}
	const any, exact = `"cipherSpecification": "ANY_TLS12_OR_HIGHER"`, `"cipherSpecification": "TLS_AES_128_GCM_SHA256"`
	for repository, certs := range map[string]int{"trust": 0, "trust.pem": 0, "both": 1, "key": 1, "key.p12": 1, "store": 0} {
		if err := connect(repository, any); err != nil {
			t.Errorf("%s: %v", repository, err)
		} else if n := <-seen; n != certs {
			t.Errorf("%s: the server saw %d certificates, want %d", repository, n, certs)
		}
	}
	if err := connect("trust", exact); err != nil {
		t.Error(err)
	}
	for security, want := range map[string]error{any + `, "certificatePeerName": "CN=somebody"`: mq.SSLInitialization,
		`"cipherSpecification": "RC4_MD5_US"`: mq.Reason(2400)} {
		if err := connect("trust", security); !errors.Is(err, want) {
			t.Errorf("%s: %v", security, err)
		}
	}
	if err := connect("other", any); !errors.Is(err, mq.SSLInitialization) {
		t.Errorf("a stranger's certificate: %v", err)
	}
	write("old.kdb", []byte("x"))
	for name, why := range map[string]string{"none": "neither", "old.kdb": "vendor", "": "neither"} {
		if _, err := mq.KeyRepository(filepath.Join(dir, name), "pw"); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := mq.KeyRepository(filepath.Join(dir, "key"), "wrong"); err == nil || !strings.Contains(err.Error(), "password") {
		t.Errorf("wrong password: %v", err)
	}
}

// Whatever a table says, every definition of it has addresses to dial, and is found by its queue manager's name alone.
func FuzzCCDT(f *testing.F) {
	f.Add([]byte(`{"channel": [` + definition("A", "Q", "h", "1", "") + "," + definition("B", "", "::1", "1500",
		`, "connectionManagement": {"clientWeight": 9, "affinity": "none"}, "transmissionSecurity": {"cipherSpecification": "ANY"}`) + `]}`))
	f.Add([]byte("AMQR"))
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := mq.ParseCCDT(b)
		if err != nil {
			return
		}
		for _, c := range table.Channels {
			for _, a := range strings.Split(c.Addr, ",") {
				if _, port, err := net.SplitHostPort(a); err != nil || port == "0" {
					t.Errorf("address %q of %q", a, c.Addr)
				}
			}
			name := strings.TrimSpace(c.QueueManager)
			if strings.HasPrefix(name, "*") {
				continue // no name of a queue manager
			}
			if !slices.Contains(table.Matching(name), c) {
				t.Errorf("%q is not found by its name", c.QueueManager)
			}
		}
	})
}
