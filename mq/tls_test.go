package mq_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/mq"
)

// certificate makes one for "localhost" that signs itself.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	x := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, x, x, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// Over TLS the server's certificate is checked against the name of Addr.
func TestTLS(t *testing.T) {
	cert, pool := certificate(t)
	var peer atomic.Pointer[[]*x509.Certificate]
	s, err := startServer(nil, func(l net.Listener) net.Listener {
		return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequestClientCert,
			VerifyConnection: func(st tls.ConnectionState) error { peer.Store(&st.PeerCertificates); return nil }})
	}, "DEFINE QLOCAL(Q)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.stop)
	_, port, _ := net.SplitHostPort(s.addr)
	o := mq.Options{Addr: net.JoinHostPort("localhost", port), Channel: "C", User: "app", Password: "secret",
		TLS: &tls.Config{RootCAs: pool}}
	c, err := mq.Connect(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	q := open(t, c, "Q", mq.Output|mq.Input)
	put(t, q, mq.PutOptions{}, "secret")
	if got := take(t, q, mq.GetOptions{}); got != "secret" {
		t.Errorf("got %q", got)
	}
	if err := c.Disconnect(ctx); err != nil {
		t.Error(err)
	}
	// The address may be another than the certificate's name, and the server may want a certificate too.
	o.Addr, o.TLS = s.addr, &tls.Config{RootCAs: pool, ServerName: "localhost", Certificates: []tls.Certificate{cert}}
	if c, err = mq.Connect(ctx, o); err != nil {
		t.Fatal(err)
	}
	if got := peer.Load(); got == nil || len(*got) != 1 || (*got)[0].DNSNames[0] != "localhost" {
		t.Errorf("the server saw the certificates %v", got)
	}
	c.Close()
	o.TLS = &tls.Config{RootCAs: pool, ServerName: "elsewhere"}
	if _, err := mq.Connect(ctx, o); !errors.Is(err, mq.SSLInitialization) {
		t.Errorf("another name: %v", err)
	}
	o.TLS = &tls.Config{}
	if _, err := mq.Connect(ctx, o); !errors.Is(err, mq.SSLInitialization) || !errors.As(err, new(x509.UnknownAuthorityError)) &&
		!errors.As(err, new(*tls.CertificateVerificationError)) {
		t.Errorf("unknown authority: %v", err)
	}
}
