package daemon

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// Keys and certificates, where SSLKEYR leads (docs/security.md). SSLKEYR is a directory, a PKCS#12 file, or as with the
// vendor's product the name of a file without its ending; then PKCS#12 is NAME.p12, and PEM files are looked for in the
// directory.

// keyring is what was found.
type keyring struct {
	byLabel  map[string]*tls.Certificate // labels in small letters
	standard *tls.Certificate
	trust    *x509.CertPool
}

// keys holds the keyring in force.
type keys struct {
	log  *zerolog.Logger
	home string // keys below it must be readable by their owner alone
	pass string // file with the password of a PKCS#12 file, "" for none
	ring atomic.Pointer[keyring]
	// fallback is read when the place of the queue manager's keys is empty (--dev in a container).
	fallback string
}

// load reads what place leads to. Without anything there, there is no keyring, which is no error.
func (k *keys) load(place, label string) error {
	r, err := k.read(place)
	if err != nil {
		return err
	}
	if r == nil && k.fallback != "" {
		if r, err = k.read(k.fallback); err != nil {
			return err
		}
	}
	if r != nil {
		r.choose(label)
	}
	k.ring.Store(r)
	return nil
}

// choose sets the certificate of channels without CERTLABL: that of the queue manager's, else the first by name.
func (r *keyring) choose(label string) {
	if r.standard = r.byLabel[strings.ToLower(label)]; r.standard != nil {
		return
	}
	labels := make([]string, 0, len(r.byLabel))
	for l := range r.byLabel {
		labels = append(labels, l)
	}
	sort.Strings(labels)
	if len(labels) > 0 {
		r.standard = r.byLabel[labels[0]]
	}
}

func (k *keys) read(place string) (*keyring, error) {
	if place == "" {
		return nil, nil
	}
	r := &keyring{byLabel: map[string]*tls.Certificate{}, trust: x509.NewCertPool()}
	kdb := strings.HasSuffix(place, ".kdb")
	stem := strings.TrimSuffix(place, ".kdb")
	dir, err := isDir(stem)
	if err != nil {
		return nil, err
	}
	switch {
	case dir:
		err = k.readDir(r, stem)
	case strings.HasSuffix(place, ".p12") || strings.HasSuffix(place, ".pfx"):
		err = k.readPKCS12(r, place)
	default:
		p12 := stem + ".p12"
		if _, serr := os.Stat(p12); serr == nil {
			err = k.readPKCS12(r, p12)
		} else {
			err = k.readDir(r, filepath.Dir(stem))
		}
	}
	if err != nil {
		return nil, err
	}
	if len(r.byLabel) > 0 {
		return r, nil
	}
	if _, serr := os.Stat(stem + ".kdb"); kdb || serr == nil {
		k.log.Warn().Str(obs.FieldAMQ, "AMQ9657E").Str("file", stem+".kdb").
			Msgf("key repository %s.kdb is of a form that only the vendor's tools read: export it there to PKCS#12 as %s.p12, or put "+
				"PEM files into %s, then REFRESH SECURITY TYPE(SSL)", stem, stem, filepath.Dir(stem))
	}
	return nil, nil
}

func isDir(name string) (bool, error) {
	st, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && st.IsDir(), err
}

// readDir reads the PEM files of a directory: LABEL.pem with key and certificates, LABEL.key with LABEL.crt, or
// LABEL/tls.key with LABEL/tls.crt and LABEL/ca.crt. What is trusted is in trust.pem, trust/ or, where the directory is
// called keys, in trust/ beside it.
func (k *keys) readDir(r *keyring, dir string) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		label, ext := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), filepath.Ext(e.Name())
		sub, err := isDir(name)
		switch {
		case err != nil:
			return err
		case sub && e.Name() == "trust":
			err = r.readTrust(name)
		case sub:
			err = k.readPair(r, e.Name(), filepath.Join(name, "tls.crt"), filepath.Join(name, "tls.key"), filepath.Join(name, "ca.crt"))
		case e.Name() == "trust.pem":
			err = r.trustFile(name)
		case ext == ".pem":
			err = k.readPair(r, label, name, name, "")
		case ext == ".key":
			err = k.readPair(r, label, filepath.Join(dir, label+".crt"), name, "")
		}
		if err != nil {
			return err
		}
	}
	if filepath.Base(dir) == "keys" {
		return r.readTrust(filepath.Join(filepath.Dir(dir), "trust"))
	}
	return nil
}

// readPair reads a key with its certificates; files that are not there are no pair.
func (k *keys) readPair(r *keyring, label, crt, key, ca string) error {
	keyPEM, err := k.readSecret(key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	crtPEM, err := os.ReadFile(crt)
	if err != nil {
		return fmt.Errorf("certificate of %s: %w", label, err)
	}
	if crt == key && !hasKey(keyPEM) {
		return nil // certificates alone, for somebody else
	}
	pair, err := tls.X509KeyPair(crtPEM, keyPEM)
	if err != nil {
		return fmt.Errorf("%s and %s: %w", crt, key, err)
	}
	r.add(label, &pair)
	if ca == "" {
		return nil
	}
	if err := r.trustFile(ca); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func hasKey(b []byte) bool {
	for blk, rest := pem.Decode(b); blk != nil; blk, rest = pem.Decode(rest) {
		if strings.HasSuffix(blk.Type, "PRIVATE KEY") {
			return true
		}
	}
	return false
}

// add takes a pair, and trusts what its chain ends with.
func (r *keyring) add(label string, pair *tls.Certificate) {
	r.byLabel[strings.ToLower(label)] = pair
	for _, der := range pair.Certificate[1:] {
		if c, err := x509.ParseCertificate(der); err == nil && c.IsCA {
			r.trust.AddCert(c)
		}
	}
}

// readSecret reads a file with a key. In the queue manager's own directory nobody but its owner may be able to read it.
func (k *keys) readSecret(name string) ([]byte, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(k.home, name); err == nil && filepath.IsLocal(rel) && st.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by others than its owner: chmod 600 it", name)
	}
	return os.ReadFile(name)
}

func (r *keyring) readTrust(dir string) error {
	list, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		sub, err := isDir(name)
		switch ext := filepath.Ext(name); {
		case err != nil:
			return err
		case sub:
			if err := r.trustFile(filepath.Join(name, "tls.crt")); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		case ext == ".pem" || ext == ".crt":
			if err := r.trustFile(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *keyring) trustFile(name string) error {
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !r.trust.AppendCertsFromPEM(b) {
		return fmt.Errorf("%s has no certificate in it", name)
	}
	return nil
}

// readPKCS12 reads a key with its chain; the label is the file's name.
func (k *keys) readPKCS12(r *keyring, name string) error {
	b, err := k.readSecret(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	password := ""
	if k.pass != "" {
		p, err := os.ReadFile(k.pass)
		if err != nil {
			return fmt.Errorf("qm.ini: SSL: KeyPasswordFile: %w", err)
		}
		password = strings.TrimRight(string(p), "\r\n")
	}
	pair, _, err := auth.KeyOfPKCS12(b, password)
	if errors.Is(err, auth.ErrPassword) {
		return fmt.Errorf("%s: the password is not that of SSL: KeyPasswordFile in qm.ini", name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	base, dir := filepath.Base(name), filepath.Dir(name)
	r.add(strings.TrimSuffix(base, filepath.Ext(base)), &pair)
	if err := r.trustFile(filepath.Join(dir, "trust.pem")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return r.readTrust(filepath.Join(dir, "trust"))
}
