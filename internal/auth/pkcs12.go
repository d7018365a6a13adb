package auth

import (
	"crypto/tls"
	"crypto/x509"

	pkcs12 "software.sslmate.com/src/go-pkcs12"
)

// ErrPassword says that a PKCS#12 file has another password.
var ErrPassword = pkcs12.ErrIncorrectPassword

// KeyOfPKCS12 reads a private key with its certificate and those behind it. chain is all but the certificate itself.
func KeyOfPKCS12(b []byte, password string) (pair tls.Certificate, chain []*x509.Certificate, err error) {
	key, cert, chain, err := pkcs12.DecodeChain(b, password)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	pair = tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key, Leaf: cert}
	for _, c := range chain {
		pair.Certificate = append(pair.Certificate, c.Raw)
	}
	return pair, chain, nil
}
