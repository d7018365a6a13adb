package mq_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"math/big"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/mq"
)

// certificate makes one for "localhost" that signs itself.
func certificate() (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	x := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, x, x, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool, nil
}

// Over TLS the server's certificate is checked against the name of Addr.
func TestTLS(t *testing.T) {
	cert, pool, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
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

// The authorities that are trusted usually come from a file, and the client's certificate from tls.LoadX509KeyPair.
func ExampleConnect_tls() {
	own, authorities, err := certificate()
	if err != nil {
		log.Fatal(err)
	}
	s, err := startServer(nil, func(l net.Listener) net.Listener {
		return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities})
	})
	if err != nil {
		log.Fatal(err)
	}
	defer s.stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: s.addr, Channel: "SECURE.SVRCONN", TLS: &tls.Config{
		RootCAs:      authorities,
		Certificates: []tls.Certificate{own},
		ServerName:   "localhost", // when Addr is not the name in the server's certificate
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	fmt.Println(c.QueueManager())
	// Output: QM1
}
