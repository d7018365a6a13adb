package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"strings"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// TLS of server-connection channels.

// sniSuffix ends the server name by which a client of MQ 9.1 and later says which channel it wants.
const sniSuffix = ".chl.mq.ibm.com"

// channelOfSNI reads the channel's name from a TLS server name: small letters stand for capitals, digits for themselves,
// and other characters are two hexadecimal digits and a dash. Small letters of a channel's name are such others.
func channelOfSNI(name string) (string, bool) {
	s, ok := strings.CutSuffix(strings.ToLower(name), sniSuffix)
	if !ok {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if i+2 < len(s) && s[i+2] == '-' && isHex(s[i]) && isHex(s[i+1]) {
			var v byte
			if _, err := fmt.Sscanf(s[i:i+2], "%02x", &v); err != nil {
				return "", false
			}
			b.WriteByte(v)
			i += 3
			continue
		}
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z':
			c -= 'a' - 'A'
		case c < '0' || c > '9':
			return "", false
		}
		b.WriteByte(c)
		i++
	}
	return b.String(), b.Len() > 0
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

var errNoKeys = errors.New("the queue manager has no certificate: see docs/security.md for where SSLKEYR looks for one")

// tlsConfig is made anew for each peer, so that keys can be changed under way. Client certificates are asked for and
// checked when they come; whether one must come is the channel's SSLCAUTH, which is known later.
func (c *clients) tlsConfig(peer *begun) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetConfigForClient: func(hi *tls.ClientHelloInfo) (*tls.Config, error) {
		name, named := channelOfSNI(hi.ServerName)
		if named {
			peer.channel = name
		}
		ring := c.keys.ring.Load()
		if ring == nil || ring.standard == nil {
			return nil, errNoKeys
		}
		cert := ring.standard
		spec, _ := auth.FindCipherSpec("ANY_TLS12_OR_HIGHER")
		var rsa []uint16
		if named {
			sc, _ := c.qm.ServerConn(name)
			if s, ok := auth.FindCipherSpec(sc.SSLCiph); ok {
				spec = s
			}
			if sc.CertLabel != "" {
				if cert = ring.byLabel[strings.ToLower(sc.CertLabel)]; cert == nil {
					return nil, fmt.Errorf("channel %s: there is no certificate CERTLABL(%s)", name, sc.CertLabel)
				}
			}
		} else {
			rsa = everySuite()
		}
		if spec.Suites != nil {
			rsa = spec.Suites
		}
		return &tls.Config{MinVersion: spec.Min, MaxVersion: spec.Max, CipherSuites: rsa, Certificates: []tls.Certificate{*cert},
			ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: ring.trust}, nil
	}}
}

// everySuite is what a client may want that does not say which channel it is for.
func everySuite() []uint16 {
	var out []uint16
	for _, n := range auth.CipherSpecs() {
		s, _ := auth.FindCipherSpec(n)
		out = append(out, s.Suites...)
	}
	return out
}

// checkTLS compares what was negotiated with what the channel prescribes.
func checkTLS(sc *qmgr.ServerConn, st *tls.ConnectionState) error {
	refuse := func(code wire.Code, format string, a ...any) error {
		return &fap.Refusal{Code: code, Err: fmt.Errorf(format, a...)}
	}
	if sc.SSLCiph == "" {
		if st != nil {
			return refuse(wire.CodeCipherSpec, "the client uses TLS and the channel has SSLCIPH( )")
		}
		return nil
	}
	spec, ok := auth.FindCipherSpec(sc.SSLCiph)
	switch {
	case !ok:
		return refuse(wire.CodeCipherSpec, "SSLCIPH(%s) is not served; use one of %s", sc.SSLCiph, strings.Join(auth.CipherSpecs(), " "))
	case st == nil:
		return refuse(wire.CodeCipherSpec, "the client does not use TLS and the channel has SSLCIPH(%s)", sc.SSLCiph)
	case !spec.Allows(st.Version, st.CipherSuite):
		return refuse(wire.CodeCipherSpec, "the client uses %s with %s and the channel has SSLCIPH(%s)",
			tls.VersionName(st.Version), tls.CipherSuiteName(st.CipherSuite), sc.SSLCiph)
	case len(st.PeerCertificates) == 0:
		if sc.NeedCert || sc.SSLPeer != "" {
			return refuse(wire.CodeClientCertificate, "the client sent no certificate and the channel has %s", wantsCert(sc))
		}
		return nil
	}
	if name := auth.NameOf(st.PeerCertificates[0].Subject); sc.SSLPeer != "" && !auth.MatchPeer(sc.SSLPeer, name) {
		return refuse(wire.CodePeerName, "the certificate of the client is %s and the channel has SSLPEER(%s)", name, sc.SSLPeer)
	}
	return nil
}

func wantsCert(sc *qmgr.ServerConn) string {
	if sc.NeedCert {
		return "SSLCAUTH(REQUIRED)"
	}
	return "SSLPEER(" + sc.SSLPeer + ")"
}

// sslEvent raises Channel SSL Error.
func (c *clients) sslEvent(sc *qmgr.ServerConn, host string, err error) {
	e := mqi.Event{Reason: mqi.MQRC_CHANNEL_SSL_ERROR, Channel: sc.Name, ConnName: host}
	var r *fap.Refusal
	if errors.As(err, &r) {
		switch r.Code {
		case wire.CodePeerName:
			e.Qualifier, e.SSLPeer = mqi.MQRQ_SSL_PEER_NAME_ERROR, sc.SSLPeer
		case wire.CodeClientCertificate:
			e.Qualifier = mqi.MQRQ_SSL_CLIENT_AUTH_ERROR
		default:
			e.Qualifier = mqi.MQRQ_SSL_CIPHER_SPEC_ERROR
		}
	}
	c.qm.RaiseEvent(e)
}
