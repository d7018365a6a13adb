package mq

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	pkcs12 "software.sslmate.com/src/go-pkcs12"

	"github.com/qmgrd/qmgrd/internal/auth"
)

// KeyRepository reads the certificates of MQSSLKEYR for Options.TLS: name is a PKCS#12 or PEM file, or either without its ending
// (.p12, .pem). Its authorities are trusted, and with a private key its certificate is shown to servers that ask for one.
// password is that of PKCS#12.
//
// As with MQ clients the server's certificate must come from one of the authorities, while the name in it may be any: the
// SSLPEER of a definition table (CCDT) restricts that, or a VerifyConnection of your own.
func KeyRepository(name, password string) (*tls.Config, error) {
	path, b, err := readRepository(name)
	if err != nil {
		return nil, err
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	if bytes.Contains(b, []byte("-----BEGIN ")) {
		err = pemRepository(c, b)
	} else {
		err = pkcs12Repository(c, b, password)
	}
	if err != nil {
		return nil, fmt.Errorf("key repository %s: %w", path, err)
	}
	c.InsecureSkipVerify = true // which leaves all to this:
	c.VerifyConnection = func(s tls.ConnectionState) error { return fromAuthority(s, c.RootCAs) }
	return c, nil
}

// readRepository finds the file that name leads to.
func readRepository(name string) (string, []byte, error) {
	for _, path := range []string{name, name + ".p12", name + ".pem"} {
		b, err := os.ReadFile(path)
		switch st, _ := os.Stat(path); {
		case err == nil && filepath.Ext(path) == ".kdb":
			return "", nil, fmt.Errorf("key repository %s is of a form that only the vendor's tools read: export it to PKCS#12", path)
		case err == nil:
			return path, b, nil
		case st != nil && st.IsDir(), errors.Is(err, fs.ErrNotExist):
		default:
			return "", nil, err
		}
	}
	return "", nil, fmt.Errorf("key repository %s: there is neither such a file nor one with .p12 or .pem behind the name", name)
}

func pemRepository(c *tls.Config, b []byte) error {
	if bytes.Contains(b, []byte("PRIVATE KEY-----")) {
		pair, err := tls.X509KeyPair(b, b)
		if err != nil {
			return err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	if !c.RootCAs.AppendCertsFromPEM(b) {
		return errors.New("no certificate in it")
	}
	return nil
}

// pkcs12Repository reads a key with its chain, or a store of trusted certificates only.
func pkcs12Repository(c *tls.Config, b []byte, password string) error {
	pair, chain, err := auth.KeyOfPKCS12(b, password)
	if err == nil {
		c.Certificates = []tls.Certificate{pair}
		chain = append(chain, pair.Leaf) // one that signs itself
	} else if !errors.Is(err, auth.ErrPassword) {
		var trust error
		if chain, trust = pkcs12.DecodeTrustStore(b, password); trust == nil {
			err = nil
		}
	}
	if errors.Is(err, auth.ErrPassword) {
		return errors.New("the password is wrong")
	}
	if err != nil {
		return err
	}
	for _, x := range chain {
		c.RootCAs.AddCert(x)
	}
	return nil
}

// fromAuthority checks the server's chain. Nothing is said of the name in it.
func fromAuthority(s tls.ConnectionState, roots *x509.CertPool) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("the server has no certificate")
	}
	between := x509.NewCertPool()
	for _, x := range s.PeerCertificates[1:] {
		between.AddCert(x)
	}
	_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", strings.TrimSpace(s.PeerCertificates[0].Subject.String()), err)
	}
	return nil
}
