package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	pkcs12 "software.sslmate.com/src/go-pkcs12"

	"github.com/qmgrd/qmgrd/mq"
)

// cmdMQClient connects as a client, and puts to or gets from a queue: mqclient ADDR CHANNEL [user=U password=P] [tls=DIR]
// [cert=NAME] [version=1.2] [put=Q] [get=Q] [pub=TOPIC]. It prints what came of it, and fails when the reason is not 0.
func cmdMQClient(ts *testscript.TestScript, neg bool, args []string) {
	o := mq.Options{Addr: args[0], Channel: args[1], ApplName: "mqclient"}
	a := map[string]string{}
	for _, s := range args[2:] {
		k, v, _ := strings.Cut(s, "=")
		a[k] = v
	}
	o.User, o.Password = a["user"], a["password"]
	if dir := a["tls"]; dir != "" {
		o.TLS = clientTLS(ts, dir, a)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	err := useClient(ctx, ts, o, a)
	var e *mq.Error
	switch {
	case err == nil:
		fmt.Fprintln(ts.Stdout(), "reason 0")
	case errors.As(err, &e):
		fmt.Fprintf(ts.Stdout(), "reason %d %s: %v\n", e.Reason, e.Reason, err)
	default:
		fmt.Fprintf(ts.Stdout(), "failed: %v\n", err)
	}
	if neg == (err == nil) {
		ts.Fatalf("mqclient %s: %v", strings.Join(args, " "), err)
	}
}

func useClient(ctx context.Context, ts *testscript.TestScript, o mq.Options, a map[string]string) error {
	c, err := mq.Connect(ctx, o)
	if err != nil {
		return err
	}
	defer c.Close()
	if q := a["put"]; q != "" {
		h, err := c.Open(ctx, q, mq.Output)
		if err != nil {
			return err
		}
		if err := h.Put(ctx, mq.NewMessage([]byte("hello")), mq.PutOptions{}); err != nil {
			return err
		}
	}
	if q := a["get"]; q != "" {
		h, err := c.Open(ctx, q, mq.Input)
		if err != nil {
			return err
		}
		m, err := h.Get(ctx, mq.GetOptions{})
		if err != nil {
			return err
		}
		fmt.Fprintf(ts.Stdout(), "got %s of %s\n", m.Body, m.User)
	}
	return nil
}

func clientTLS(ts *testscript.TestScript, dir string, a map[string]string) *tls.Config {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(ts.ReadFile(filepath.Join(dir, "ca.pem"))))
	cfg := &tls.Config{RootCAs: pool, ServerName: "localhost"}
	if name := a["sni"]; name != "" { // as clients of MQ name their channel
		cfg.ServerName = name
	}
	if n := a["cert"]; n != "" {
		pair, err := tls.X509KeyPair([]byte(ts.ReadFile(filepath.Join(dir, n+".pem"))), []byte(ts.ReadFile(filepath.Join(dir, n+".pem"))))
		ts.Check(err)
		cfg.Certificates = []tls.Certificate{pair}
	}
	if a["version"] == "1.2" {
		cfg.MaxVersion = tls.VersionTLS12
	}
	if a["suite"] != "" {
		for _, s := range tls.CipherSuites() {
			if s.Name == a["suite"] {
				cfg.CipherSuites = []uint16{s.ID}
			}
		}
	}
	return cfg
}

// cmdMakeCerts makes a certificate authority and certificates that it signed: makecerts DIR NAME…. DIR gets ca.pem, NAME.pem
// with key and certificate, NAME.key and NAME.crt, and NAME.p12 with the password "p12 secret". Those of NAME that begins with "old" have
// expired.
func cmdMakeCerts(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: makecerts DIR NAME...")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	write := func(name string, blocks ...*pem.Block) {
		var b []byte
		for _, blk := range blocks {
			b = append(b, pem.EncodeToMemory(blk)...)
		}
		ts.Check(os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test CA", Organization: []string{"Example"}},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	ts.Check(err)
	caCert, err := x509.ParseCertificate(caDER)
	ts.Check(err)
	write("ca.pem", &pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	for i, name := range args[1:] {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		ts.Check(err)
		x := &x509.Certificate{SerialNumber: big.NewInt(int64(i + 2)), NotAfter: time.Now().Add(time.Hour),
			Subject:  pkix.Name{CommonName: name, OrganizationalUnit: []string{"dev"}, Organization: []string{"Example"}},
			DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
		if strings.HasPrefix(name, "old") {
			x.NotAfter = time.Now().Add(-time.Hour)
		}
		der, err := x509.CreateCertificate(rand.Reader, x, caCert, &key.PublicKey, caKey)
		ts.Check(err)
		leaf, err := x509.ParseCertificate(der)
		ts.Check(err)
		keyDER, err := x509.MarshalPKCS8PrivateKey(key)
		ts.Check(err)
		k, c := &pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}, &pem.Block{Type: "CERTIFICATE", Bytes: der}
		write(name+".pem", k, c)
		write(name+".key", k)
		write(name+".crt", c)
		p12, err := pkcs12.Modern.Encode(key, leaf, []*x509.Certificate{caCert}, "p12 secret")
		ts.Check(err)
		ts.Check(os.WriteFile(filepath.Join(dir, name+".p12"), p12, 0o600))
	}
}

// cmdNotInTree wants a text in no file of a directory: notintree DIR TEXT.
func cmdNotInTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: notintree DIR TEXT")
	}
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(name string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(b), args[1]) {
			err = fmt.Errorf("%s holds the text", name)
		}
		return err
	}))
}
