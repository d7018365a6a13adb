package auth

import (
	"crypto/tls"
	"sort"
)

// CipherSpec is what a value of SSLCIPH allows.
type CipherSpec struct {
	Min, Max uint16   // TLS versions
	Suites   []uint16 // nil: any of the versions
}

// cipherSpecs are the names of SSLCIPH that can be served. Older ones (SSL 3, TLS 1.0, RC4, DES) and those that this
// program's TLS does not have (CCM, CBC with SHA384) are refused when a client comes.
var cipherSpecs = map[string]CipherSpec{
	"ANY":                    {Min: tls.VersionTLS12, Max: tls.VersionTLS13},
	"ANY_TLS12":              {Min: tls.VersionTLS12, Max: tls.VersionTLS12},
	"ANY_TLS12_OR_HIGHER":    {Min: tls.VersionTLS12, Max: tls.VersionTLS13},
	"ANY_TLS13":              {Min: tls.VersionTLS13, Max: tls.VersionTLS13},
	"ANY_TLS13_OR_HIGHER":    {Min: tls.VersionTLS13, Max: tls.VersionTLS13},
	"TLS_AES_128_GCM_SHA256": spec13(tls.TLS_AES_128_GCM_SHA256),
	"TLS_AES_256_GCM_SHA384": spec13(tls.TLS_AES_256_GCM_SHA384),

	"TLS_CHACHA20_POLY1305_SHA256": spec13(tls.TLS_CHACHA20_POLY1305_SHA256),

	"ECDHE_ECDSA_AES_128_CBC_SHA256": spec12(tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256),
	"ECDHE_ECDSA_AES_128_GCM_SHA256": spec12(tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
	"ECDHE_ECDSA_AES_256_GCM_SHA384": spec12(tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
	"ECDHE_RSA_AES_128_CBC_SHA256":   spec12(tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256),
	"ECDHE_RSA_AES_128_GCM_SHA256":   spec12(tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256),
	"ECDHE_RSA_AES_256_GCM_SHA384":   spec12(tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384),

	"TLS_RSA_WITH_AES_128_CBC_SHA256": spec12(tls.TLS_RSA_WITH_AES_128_CBC_SHA256),
	"TLS_RSA_WITH_AES_128_GCM_SHA256": spec12(tls.TLS_RSA_WITH_AES_128_GCM_SHA256),
	"TLS_RSA_WITH_AES_256_GCM_SHA384": spec12(tls.TLS_RSA_WITH_AES_256_GCM_SHA384),
}

func spec13(suite uint16) CipherSpec {
	return CipherSpec{tls.VersionTLS13, tls.VersionTLS13, []uint16{suite}}
}

func spec12(suite uint16) CipherSpec {
	return CipherSpec{tls.VersionTLS12, tls.VersionTLS12, []uint16{suite}}
}

// FindCipherSpec reads SSLCIPH.
func FindCipherSpec(name string) (CipherSpec, bool) {
	c, ok := cipherSpecs[name]
	return c, ok
}

// CipherSpecOf is the name of what was negotiated, blank when there is none.
func CipherSpecOf(version, suite uint16) string {
	for n, c := range cipherSpecs {
		if len(c.Suites) == 1 && c.Suites[0] == suite && c.Min == version {
			return n
		}
	}
	return ""
}

// CipherSpecs lists the names that can be served.
func CipherSpecs() []string {
	out := make([]string, 0, len(cipherSpecs))
	for n := range cipherSpecs {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// Allows reports whether what was negotiated is what the channel wants.
func (c CipherSpec) Allows(version, suite uint16) bool {
	if version < c.Min || version > c.Max {
		return false
	}
	if c.Suites == nil {
		return true
	}
	for _, s := range c.Suites {
		if s == suite {
			return true
		}
	}
	return false
}
