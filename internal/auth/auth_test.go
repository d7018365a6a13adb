package auth

import (
	"crypto/tls"
	"crypto/x509/pkix"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

func TestAddressPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, addr string
		hosts         []string
		want          bool
	}{
		{"*", "10.1.2.3", nil, true}, {"", "10.1.2.3", nil, true}, {"10.*", "10.1.2.3", nil, true}, {"10.*", "11.1.2.3", nil, false},
		{"10.1-5.*", "10.5.9.9", nil, true}, {"10.1-5.*", "10.6.9.9", nil, false}, {"10.*.2.3", "10.9.2.3", nil, true},
		{"10.*.2.3", "10.9.2.4", nil, false}, {"10.1.2.3", "10.1.2.3", nil, true}, {"10.1.2", "10.1.2.3", nil, false},
		{"1.1.1.1", "11.1.1.1", nil, false}, {"10.1.2.3", "::ffff:10.1.2.3", nil, true}, {"10.*", "fe80::1", nil, false},
		{"fe80:*", "fe80::1", nil, true}, {"fe80::1", "fe80::1", nil, true}, {"fe80::1", "fe80::2", nil, false},
		{"2001:0-ff:*", "2001:a::1", nil, true}, {"2001:0-ff:*", "2001:100::1", nil, false},
		{"*.example.com", "10.1.2.3", []string{"a.Example.com."}, true}, {"*.example.com", "10.1.2.3", []string{"example.com"}, false},
		{"host1", "10.1.2.3", nil, false}, {"300.1.1.1", "10.1.2.3", nil, false},
	} {
		if got := parseAddress(c.pattern).matches(ParseIP(c.addr), c.hosts); got != c.want {
			t.Errorf("%s of %s %v: %v", c.pattern, c.addr, c.hosts, got)
		}
	}
	if a := ParseIP("[fe80::1%eth0]:1414"); a.WithZone("") != netip.MustParseAddr("fe80::1") {
		t.Error(a)
	}
	order := []string{"10.1.2.3", "10.1.2.1-9", "10.1.2.*", "10.1.*", "10.1-9.*", "10.*", "a.example.com", "*.example.com", "*", ""}
	for i := 1; i < len(order); i++ {
		if a, b := parseAddress(order[i-1]).rank(), parseAddress(order[i]).rank(); a <= b {
			t.Errorf("%q (%d) is not before %q (%d)", order[i-1], a, order[i], b)
		}
	}
}

// Of two records that both fit the first of a pair decides.
func TestMappingPrecedence(t *testing.T) {
	q := &Query{Channel: "APP.ONE", Addr: ParseIP("10.1.2.3"), Hosts: []string{"h.example.com"}, User: "bob", QMgr: "QM2",
		Peer: DN{{"CN", "bob"}, {"OU", "dev"}, {"O", "Example"}}, Issuer: DN{{"CN", "Root CA"}}}
	for _, c := range [][2]Rule{
		{{Channel: "APP.ONE", Type: "ADDRESSMAP", Address: "*"}, {Channel: "APP.*", Type: "SSLPEERMAP", Peer: "CN=bob"}},
		{{Channel: "APP.*", Type: "ADDRESSMAP", Address: "*"}, {Channel: "*", Type: "ADDRESSMAP", Address: "10.1.2.3"}},
		{{Channel: "*", Type: "SSLPEERMAP", Peer: "O=Example"}, {Channel: "*", Type: "USERMAP", User: "bob"}},
		{{Channel: "*", Type: "USERMAP", User: "bob"}, {Channel: "*", Type: "ADDRESSMAP", Address: "10.1.2.3"}},
		{{Channel: "*", Type: "QMGRMAP", QMgr: "QM*"}, {Channel: "*", Type: "ADDRESSMAP", Address: "10.1.2.3"}},
		{{Channel: "*", Type: "QMGRMAP", QMgr: "QM2"}, {Channel: "*", Type: "QMGRMAP", QMgr: "QM*"}},
		{{Channel: "*", Type: "USERMAP", User: "bob", Address: "10.*"}, {Channel: "*", Type: "USERMAP", User: "bob"}},
		{{Channel: "*", Type: "ADDRESSMAP", Address: "10.1.2.*"}, {Channel: "*", Type: "ADDRESSMAP", Address: "10.1.*"}},
		{{Channel: "*", Type: "ADDRESSMAP", Address: "10.*"}, {Channel: "*", Type: "ADDRESSMAP", Address: "h.example.com"}},
		{{Channel: "*", Type: "ADDRESSMAP", Address: "h.example.com"}, {Channel: "*", Type: "ADDRESSMAP", Address: "*"}},
		{{Channel: "*", Type: "SSLPEERMAP", Peer: "CN=bob"}, {Channel: "*", Type: "SSLPEERMAP", Peer: "CN=b*"}},
		{{Channel: "*", Type: "SSLPEERMAP", Peer: "CN=b*"}, {Channel: "*", Type: "SSLPEERMAP", Peer: "OU=dev,O=Example"}},
		{{Channel: "*", Type: "SSLPEERMAP", Peer: "CN=bob", Issuer: "CN=Root*"}, {Channel: "*", Type: "SSLPEERMAP", Peer: "CN=bob"}},
	} {
		for _, rules := range [][]Rule{{c[0], c[1]}, {c[1], c[0]}} {
			if r, _ := Mapping(rules, q); r == nil || r.String() != c[0].String() {
				t.Errorf("%s against %s: %v", &c[0], &c[1], r)
			}
		}
	}
	none := []Rule{{Channel: "APP.TWO", Type: "ADDRESSMAP", Address: "*"}, {Channel: "*", Type: "USERMAP", User: "bo"},
		{Channel: "*", Type: "QMGRMAP", QMgr: "QM3"}, {Channel: "*", Type: "SSLPEERMAP", Peer: "CN=bob", Issuer: "CN=Other"},
		{Channel: "*", Type: "BLOCKUSER", List: []string{"bob"}}, {Channel: "*", Type: "BLOCKADDR", List: []string{"10.*"}}}
	if r, _ := Mapping(none, q); r != nil {
		t.Errorf("%s maps", r)
	}
	if !NeedsHost([]Rule{{Channel: "APP.*", Type: "ADDRESSMAP", Address: "*.x"}}, "APP.ONE") || NeedsHost(none, "APP.ONE") {
		t.Error("NeedsHost")
	}
}

func TestBlocked(t *testing.T) {
	rules := []Rule{{Channel: "*", Type: "BLOCKUSER", List: []string{"*mqadmin", "eve"}},
		{Channel: "APP", Type: "BLOCKUSER", List: []string{"nobody"}},
		{Channel: "*", Type: "BLOCKADDR", List: []string{"10.1.*"}, Warn: true}, {Channel: "*", Type: "BLOCKADDR", List: []string{"10.1.2.3"}}}
	for _, c := range []struct {
		channel, user string
		admin         bool
		entry         string
	}{{"X", "eve", false, "eve"}, {"X", "root", true, "*mqadmin"}, {"X", "bob", false, ""}, {"APP", "root", true, ""},
		{"APP", "eve", false, ""}, {"APP", "nobody", false, "nobody"}} {
		if _, e := BlockedUser(rules, c.channel, c.user, c.admin); e != c.entry {
			t.Errorf("%+v: %q", c, e)
		}
	}
	if r, e := BlockedAddr(rules, ParseIP("10.1.2.3:5")); r == nil || r.Warn || e != "10.1.2.3" {
		t.Error(r, e)
	}
	if r, _ := BlockedAddr(rules, ParseIP("10.1.9.9")); r == nil || !r.Warn {
		t.Error(r)
	}
	if r, _ := BlockedAddr(rules, ParseIP("10.2.9.9")); r != nil {
		t.Error(r)
	}
}

func TestPeerNames(t *testing.T) {
	have := NameOf(pkix.Name{Names: []pkix.AttributeTypeAndValue{
		{Type: []int{2, 5, 4, 6}, Value: "DE"}, {Type: []int{2, 5, 4, 10}, Value: "Example, Inc"}, {Type: []int{2, 5, 4, 11}, Value: "lab"},
		{Type: []int{2, 5, 4, 11}, Value: "team"}, {Type: []int{2, 5, 4, 3}, Value: "app1"}}})
	if got := have.String(); got != `CN=app1,OU=team,OU=lab,O="Example, Inc",C=DE` {
		t.Fatal(got)
	}
	back, ok := ParseDN(have.String())
	if !ok || !reflect.DeepEqual(back, have) {
		t.Errorf("%v %v", back, ok)
	}
	for pattern, want := range map[string]bool{"CN=app1": true, "cn = APP*": true, "CN=*1": true, "CN=app2": false, "OU=team,OU=lab": true,
		"OU=lab,OU=team": false, "OU=lab": true, `O="Example, Inc"`: true, `O=Example\, Inc;C=DE`: true, "L=Bonn": false, "CN": false,
		"": false, "NO=x": false, `CN="app1`: false} {
		if MatchPeer(pattern, have) != want {
			t.Errorf("%s: %v", pattern, !want)
		}
	}
}

func TestProfiles(t *testing.T) {
	for _, c := range []struct {
		profile, name string
		want          bool
	}{{"A.B", "A.B", true}, {"A.*", "A.B", true}, {"A.*", "A.B.C", false}, {"A.**", "A.B.C", true}, {"A.**", "A", true},
		{"A.**", "AB", false}, {"**.C", "A.B.C", true}, {"**.C", "C", true}, {"A.**.C", "A.C", true}, {"A?", "AB", true}, {"A?", "A.", false},
		{"A%C", "ABC", true}, {"A*", "ABC", true}, {"A*", "A", true}, {"**", "", true}, {"**", "X.Y", true}, {"*", "X.Y", false},
		{"A*C.D", "ABC.D", true}, {"A?C", "AC", false}} {
		if MatchProfile(c.profile, c.name) != c.want {
			t.Errorf("%s of %s: %v", c.profile, c.name, !c.want)
		}
	}
	order := []string{"A.B.C", "A.B.?", "A.B.*", "A.B.**", "A.?.C", "A.*.C", "A.*", "A.**", "?.B.C", "*.B.C", "**.C", "**"}
	for i := 1; i < len(order); i++ {
		if !MoreSpecific(order[i-1], order[i]) || MoreSpecific(order[i], order[i-1]) {
			t.Errorf("%s is not before %s", order[i-1], order[i])
		}
	}
}

func TestRecords(t *testing.T) {
	r := NewRecords([]Record{
		{"QUEUE", "APP.**", Group, "g", Put | Get}, {"QUEUE", "APP.X", Group, "g", Browse}, {"QUEUE", "APP.*", Group, "h", Inquire},
		{"QUEUE", "**", Principal, "bob", Set}, {"TOPIC", "APP.X", Group, "g", Publish}, {"QUEUE", "APP.X", Group, "bob", Delete},
	})
	for _, c := range []struct {
		objType, name, user string
		groups              []string
		want                Auth
		by                  int
	}{
		{"QUEUE", "APP.Y", "al", []string{"g"}, Put | Get, 1},
		{"QUEUE", "APP.X", "al", []string{"g"}, Browse, 1}, // the exact profile decides alone
		{"QUEUE", "APP.X", "al", []string{"g", "h"}, Browse | Inquire, 2},
		{"QUEUE", "APP.X", "bob", []string{"g"}, Browse | Set, 2},
		{"QUEUE", "OTHER", "bob", nil, Set, 1},
		{"QUEUE", "APP.X", "g", nil, 0, 0}, // a group's name is no user's
		{"TOPIC", "APP.Y", "al", []string{"g"}, 0, 0},
		{"QUEUE", "OTHER", "", nil, 0, 0},
	} {
		got, by := r.Has(c.objType, c.name, c.user, c.groups)
		if got != c.want || len(by) != c.by {
			t.Errorf("%+v: %s by %v", c, got, by)
		}
	}
	for _, w := range AuthWords() {
		if ParseAuth(w) == 0 || ParseAuth(w).String() != w {
			t.Error(w)
		}
	}
	if ParseAuth("NONE") != 0 || (Put|Get).String() != "GET PUT" {
		t.Error("words")
	}
}

func TestCipherSpecs(t *testing.T) {
	for _, n := range CipherSpecs() {
		s, _ := FindCipherSpec(n)
		for _, suite := range s.Suites {
			// The name of a suite is that of the specification, with or without TLS_ … WITH.
			want := tls.CipherSuiteName(suite)
			if got := strings.Replace(n, "RSA_AES", "RSA_WITH_AES", 1); strings.TrimPrefix(strings.Replace(got, "ECDSA_AES", "ECDSA_WITH_AES", 1), "TLS_") != strings.TrimPrefix(want, "TLS_") {
				t.Errorf("%s is %s", n, want)
			}
			if !s.Allows(s.Min, suite) || s.Allows(s.Min, 1) || s.Allows(tls.VersionTLS11, suite) {
				t.Errorf("%s: Allows", n)
			}
		}
	}
	if _, ok := FindCipherSpec("RC4_MD5_US"); ok {
		t.Error("RC4")
	}
	any12, _ := FindCipherSpec("ANY_TLS12_OR_HIGHER")
	if !any12.Allows(tls.VersionTLS13, tls.TLS_AES_128_GCM_SHA256) || any12.Allows(tls.VersionTLS11, 1) {
		t.Error("ANY_TLS12_OR_HIGHER")
	}
}

// Every open of an object asks the profiles: none takes long, however many wildcards it has.
func TestProfileOfManyWildcards(t *testing.T) {
	name := strings.Repeat("A", 48)
	for profile, want := range map[string]bool{strings.Repeat("*A", 23) + "B": false, strings.Repeat("**A", 15) + "B": false, strings.Repeat("*A", 24): true,
		strings.Repeat("**A*", 12): true, strings.Repeat("**.", 15) + "B": false} {
		if MatchProfile(profile, name) != want {
			t.Errorf("%s fits: %t", profile, !want)
		}
	}
}

func FuzzPatterns(f *testing.F) {
	f.Add("A.**", "A.B", "CN=a,OU=\"x\"", "10.1-5.*")
	f.Fuzz(func(t *testing.T, profile, name, dn, addr string) {
		if len(profile) > 48 || len(name) > 48 {
			return
		}
		if !strings.Contains(profile, "*") && MatchStars(profile, name) != (profile == name) {
			t.Errorf("%q %q", profile, name)
		}
		if !strings.ContainsAny(profile, "*?%") && MatchProfile(profile, name) != (profile == name) {
			t.Errorf("%q %q", profile, name)
		}
		if d, ok := ParseDN(dn); ok {
			if _, ok := ParseDN(d.String()); !ok {
				t.Errorf("%q became %q", dn, d.String())
			}
		}
		a := parseAddress(addr)
		a.matches(ParseIP("10.1.2.3"), nil)
		a.matches(ParseIP("fe80::1"), nil)
		a.rank()
	})
}
