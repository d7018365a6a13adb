package mq

import (
	"cmp"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// CCDT is a client channel definition table: where to find queue managers, for Options.CCDT. Tables are read in JSON; the
// binary ones that a queue manager of the vendor's writes are refused.
type CCDT struct {
	Channels []ClientChannel
}

// ClientChannel is one definition of a table: the attributes of a client-connection channel that this package obeys.
type ClientChannel struct {
	Name         string // CHANNEL, of the server-connection channel
	QueueManager string // QMNAME: the name, or that of a group, by which programs ask for it
	Addr         string // CONNAME: host:port, several with commas between them
	CipherSpec   string // SSLCIPH; blank: no TLS
	PeerName     string // SSLPEER: the pattern that the name in the server's certificate must match
	Weight       int    // CLNTWGHT: 0 comes first, others by chance
	NoAffinity   bool   // AFFINITY(NONE): the chance is a new one for each connection
	Heartbeat    time.Duration
	MaxMsgLength int
}

const (
	maxCCDT     = 16 << 20
	defaultPort = 1414
)

// ReadCCDT reads a table from a file. name is its path or a file URL, as in MQCCDTURL.
func ReadCCDT(name string) (*CCDT, error) {
	path := name
	if u, err := url.Parse(name); err == nil && len(u.Scheme) > 1 { // one letter is a drive
		if u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
			return nil, fmt.Errorf("%s: tables are read from files of this machine only", u.Redacted())
		}
		path = u.Path + u.Opaque
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxCCDT+1))
	if err != nil {
		return nil, err
	}
	t, err := ParseCCDT(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ccdtChannel is a definition as JSON has it. What is not here is not obeyed, and may be there.
type ccdtChannel struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	General struct {
		MaxMsgLength int `json:"maximumMessageLength"`
	} `json:"general"`
	ClientConnection struct {
		QueueManager string `json:"queueManager"`
		Connection   []struct {
			Host string `json:"host"`
			Port int    `json:"port"`
		} `json:"connection"`
	} `json:"clientConnection"`
	TransmissionSecurity struct {
		CipherSpec string `json:"cipherSpecification"`
		PeerName   string `json:"certificatePeerName"`
	} `json:"transmissionSecurity"`
	ConnectionManagement struct {
		Weight    int    `json:"clientWeight"`
		Affinity  string `json:"affinity"`
		Heartbeat int    `json:"heartbeatInterval"`
	} `json:"connectionManagement"`
}

// ParseCCDT reads a table in JSON. Definitions of other types than clientConnection are left out.
func ParseCCDT(data []byte) (*CCDT, error) {
	if len(data) > maxCCDT {
		return nil, fmt.Errorf("a channel definition table has at most %d bytes", maxCCDT)
	}
	if strings.HasPrefix(string(data), "AMQ") {
		return nil, errors.New("this is a binary channel definition table; write one in JSON")
	}
	var file struct {
		Channel []ccdtChannel `json:"channel"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("a channel definition table in JSON is wanted: %w", err)
	}
	if file.Channel == nil {
		return nil, errors.New(`a channel definition table has an array "channel"`)
	}
	t := &CCDT{}
	for i := range file.Channel {
		d := &file.Channel[i]
		c, err := d.channel()
		switch {
		case err != nil:
			return nil, fmt.Errorf("definition %d (channel %q): %w", i+1, d.Name, err)
		case c != nil:
			t.Channels = append(t.Channels, *c)
		}
	}
	return t, nil
}

// channel checks a definition; nil when it is of another type.
func (d *ccdtChannel) channel() (*ClientChannel, error) {
	m := &d.ConnectionManagement
	switch {
	case d.Name == "", d.Type == "":
		return nil, errors.New(`"name" and "type" are required`)
	case !strings.EqualFold(d.Type, "clientConnection"):
		return nil, nil
	case len(d.Name) > mqi.MQ_CHANNEL_NAME_LENGTH:
		return nil, fmt.Errorf("the name is longer than %d characters", mqi.MQ_CHANNEL_NAME_LENGTH)
	case len(d.ClientConnection.Connection) == 0:
		return nil, errors.New(`"clientConnection" has no "connection"`)
	case m.Weight < 0 || m.Weight > 99:
		return nil, fmt.Errorf(`"clientWeight" is %d, not one of 0 to 99`, m.Weight)
	case m.Heartbeat < 0, d.General.MaxMsgLength < 0:
		return nil, errors.New("a number is negative")
	case m.Affinity != "" && !strings.EqualFold(m.Affinity, "none") && !strings.EqualFold(m.Affinity, "preferred"):
		return nil, fmt.Errorf(`"affinity" is %q, neither "preferred" nor "none"`, m.Affinity)
	}
	c := &ClientChannel{Name: d.Name, QueueManager: d.ClientConnection.QueueManager, CipherSpec: d.TransmissionSecurity.CipherSpec,
		PeerName: d.TransmissionSecurity.PeerName, Weight: m.Weight, NoAffinity: strings.EqualFold(m.Affinity, "none"),
		Heartbeat: time.Duration(m.Heartbeat) * time.Second, MaxMsgLength: d.General.MaxMsgLength}
	var addrs []string
	for _, a := range d.ClientConnection.Connection {
		port := cmp.Or(a.Port, defaultPort)
		host := strings.TrimSuffix(strings.TrimPrefix(a.Host, "["), "]") // of an IPv6 address
		if host == "" || strings.ContainsAny(host, ", []()") || port < 1 || port > 65535 {
			return nil, fmt.Errorf("host %q with port %d is no address", a.Host, a.Port)
		}
		addrs = append(addrs, net.JoinHostPort(host, strconv.Itoa(port)))
	}
	c.Addr = strings.Join(addrs, ",")
	return c, nil
}

// Matching lists the definitions for a queue manager name as MQCONN takes it, in the order in which they are to be tried: those
// whose QueueManager it is, without the asterisk that it may begin with. A blank name, or an asterisk alone, means those with a
// blank QueueManager. Of these the ones of weight 0 come first, by channel name, then the others by chance, each in proportion to
// its weight: one order for all programs of a machine, or with affinity none, a new one each time.
func (t *CCDT) Matching(name string) []ClientChannel {
	name = strings.TrimPrefix(strings.TrimSpace(name), "*")
	var out []ClientChannel
	for _, c := range t.Channels {
		if strings.TrimSpace(c.QueueManager) == name {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b ClientChannel) int {
		return cmp.Or(cmp.Compare(min(a.Weight, 1), min(b.Weight, 1)), strings.Compare(a.Name, b.Name))
	})
	first := 0
	for first < len(out) && out[first].Weight == 0 {
		first++
	}
	draw(out[first:], name)
	return out
}

// draw puts definitions into an order by weight.
func draw(list []ClientChannel, name string) {
	chance := rand.IntN
	if !slices.ContainsFunc(list, func(c ClientChannel) bool { return c.NoAffinity }) {
		host, _ := os.Hostname()
		h := fnv.New64a()
		io.WriteString(h, host)
		chance = rand.New(rand.NewPCG(h.Sum64(), uint64(len(name)))).IntN
	}
	for ; len(list) > 1; list = list[1:] {
		sum := 0
		for _, c := range list {
			sum += c.Weight
		}
		at, left := 0, chance(sum)
		for left >= list[at].Weight {
			left -= list[at].Weight
			at++
		}
		c := list[at]
		copy(list[1:at+1], list[:at])
		list[0] = c
	}
}

// candidate is a connection to try.
type candidate struct {
	Options
	bad error // it cannot be
}

// candidates are the connections to try, in turn.
func (o *Options) candidates() ([]candidate, error) {
	bad := func(r Reason, why string) error { return fail("MQCONN", o.QueueManager, r, errors.New(why)) }
	if o.CCDT == nil {
		return []candidate{{Options: *o}}, nil
	}
	if o.Addr != "" || o.Channel != "" {
		return nil, bad(optionsError, "CCDT says what Addr and Channel are")
	}
	list := o.CCDT.Matching(o.QueueManager)
	if len(list) == 0 {
		return nil, bad(QMgrNameError, "no definition of the channel definition table is for that name")
	}
	var out []candidate
	for _, c := range list {
		n := candidate{Options: *o}
		n.Addr, n.Channel = c.Addr, c.Name
		n.Heartbeat = cmp.Or(o.Heartbeat, c.Heartbeat)
		if c.MaxMsgLength > 0 && (o.MaxMsgLength == 0 || c.MaxMsgLength < o.MaxMsgLength) {
			n.MaxMsgLength = c.MaxMsgLength
		}
		n.TLS, n.bad = c.tls(o.TLS)
		out = append(out, n)
	}
	return out, nil
}

// tls narrows a configuration to what the definition allows; nil when it is without TLS.
func (c *ClientChannel) tls(base *tls.Config) (*tls.Config, error) {
	if c.CipherSpec == "" {
		return nil, nil
	}
	spec, ok := auth.FindCipherSpec(c.CipherSpec)
	switch {
	case !ok:
		return nil, fail("MQCONN", c.Name, unsupportedCipher, fmt.Errorf("cipher specification %s is not one of %s", c.CipherSpec,
			strings.Join(auth.CipherSpecs(), " ")))
	case base == nil:
		return nil, fail("MQCONN", c.Name, KeyRepositoryError, fmt.Errorf("the definition has cipher specification %s: "+
			"Options.TLS must say which certificates are trusted", c.CipherSpec))
	}
	t := base.Clone()
	t.MinVersion, t.MaxVersion, t.CipherSuites = spec.Min, spec.Max, spec.Suites
	if c.PeerName != "" {
		before := t.VerifyConnection
		t.VerifyConnection = func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !auth.MatchPeer(c.PeerName, auth.NameOf(s.PeerCertificates[0].Subject)) {
				return fmt.Errorf("the name in the server's certificate does not match %s", c.PeerName)
			}
			if before != nil {
				return before(s)
			}
			return nil
		}
	}
	return t, nil
}
