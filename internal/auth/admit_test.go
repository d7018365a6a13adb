package auth

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// accounts are the users of these tests.
var accounts = DirectoryFunc(func(user string) Account {
	switch user {
	case "root", "admin", "mqm":
		return Account{Groups: []string{AdminGroup}, Admin: true}
	case "":
		return Account{}
	}
	return Account{Groups: []string{"staff"}}
})

// defaultRules are the records of a new queue manager.
var defaultRules = []Rule{
	{Channel: "*", Type: "BLOCKUSER", List: []string{AnyAdmin}},
	{Channel: "SYSTEM.*", Type: "ADDRESSMAP", Address: "*", Source: "NOACCESS"},
	{Channel: "SYSTEM.ADMIN.SVRCONN", Type: "ADDRESSMAP", Address: "*", Source: "CHANNEL", Check: "ASQMGR"},
}

func rulesOf(word string) []Rule {
	m := Rule{Channel: "APP", Type: "ADDRESSMAP", Address: "*", Source: "CHANNEL", Check: "ASQMGR"}
	exempt := Rule{Channel: "APP", Type: "BLOCKUSER", List: []string{"nobody"}}
	with := func(r ...Rule) []Rule { return append(append([]Rule{}, defaultRules...), r...) }
	switch word {
	case "OFF":
		return nil
	case "CHANNEL":
		return with(m)
	case "REQUIRED":
		m.Check = "REQUIRED"
		return with(m)
	case "REQDADM":
		m.Check = "REQDADM"
		return with(m, exempt)
	case "OPEN":
		return with(m, exempt)
	case "MAP":
		m.Source, m.MCAUser = "MAP", "mapped"
		return with(m)
	case "NOACCESS":
		m.Source = "NOACCESS"
		return with(m)
	}
	return with()
}

func outcomeWord(o *Outcome) string {
	switch o.Refused {
	case StagePassword:
		return "password"
	case StageNoAccess:
		return "noaccess"
	case StageBlocked:
		return "blocked"
	case StageNobody:
		return "nobody"
	}
	if o.Identity("APP", accounts).Admin {
		return "admin " + o.User
	}
	return "user " + o.User
}

func fits(pattern, v string) bool {
	for _, p := range strings.Split(pattern, "|") {
		if p == "*" || p == v || strings.HasPrefix(p, "!") && p[1:] != v {
			return true
		}
	}
	return false
}

// TestAdmitEveryCombination: CHLAUTH × CHCKCLNT × ADOPTCTX × MCAUSER × client user × password (reliability.md §2.2, "rule
// and password order confused").
func TestAdmitEveryCombination(t *testing.T) {
	b, err := os.ReadFile("testdata/admit.tsv")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, l := range strings.Split(string(b), "\n") {
		if f := strings.Split(l, "\t"); !strings.HasPrefix(l, "#") && len(f) == 7 {
			rows = append(rows, f)
		}
	}
	dims := [][]string{{"OFF", "DEFAULT", "CHANNEL", "REQUIRED", "REQDADM", "OPEN", "MAP", "NOACCESS"},
		{"-", "NONE", "OPTIONAL", "REQDADM", "REQUIRED"}, {"NO", "YES"}, {"blank", "app"}, {"blank", "alice", "root"},
		{"none", "bob", "admin", "wrong"}}
	used := make([]int, len(rows))
	n := 0
	pick := make([]string, len(dims))
	var each func(d int)
	each = func(d int) {
		if d < len(dims) {
			for _, pick[d] = range dims[d] {
				each(d + 1)
			}
			return
		}
		n++
		for i, r := range rows {
			ok := true
			for k := range pick {
				ok = ok && fits(r[k], pick[k])
			}
			if ok {
				used[i]++
				checkAdmit(t, pick, r[6])
				return
			}
		}
		t.Errorf("%v: no row", pick)
	}
	each(0)
	for i, u := range used {
		if u == 0 {
			t.Errorf("row %v is not needed", rows[i])
		}
	}
	if n != 8*5*2*2*3*4 {
		t.Errorf("%d combinations", n)
	}
}

func checkAdmit(t *testing.T, pick []string, want string) {
	t.Helper()
	value := func(s string) string {
		if s == "blank" {
			return ""
		}
		return s
	}
	p := &Policy{Rules: rulesOf(pick[0])}
	if pick[1] != "-" {
		p.ConnAuth = ConnAuth{Name: "A", Client: pick[1], Adopt: pick[2] == "YES"}
	}
	asked := 0
	a := &Attempt{Query: Query{Channel: "APP", Addr: ParseIP("10.1.2.3:4000"), User: value(pick[4])}, MCAUser: value(pick[3]),
		Given: pick[5] != "none", Who: pick[5], Verify: func() error { asked++; return wrongIf(pick[5] == "wrong") }}
	o := Admit(p, a, accounts)
	if got := outcomeWord(&o); got != want {
		t.Errorf("%v: %s (%s), want %s", pick, got, o.Why, want)
	}
	if o.Refused != StageNone && o.Why == "" {
		t.Errorf("%v: refused without saying why", pick)
	}
	if looked := pick[1] != "-" && pick[1] != "NONE" && a.Given; asked > 1 || (asked == 1) != looked {
		t.Errorf("%v: the password was checked %d times", pick, asked)
	}
	// An administrator by its own word has no group's rights either.
	if id := o.Identity("APP", accounts); o.Refused == StageNone && o.User == "root" && len(id.Groups) > 0 {
		t.Errorf("%v: groups %v", pick, id.Groups)
	}
}

func TestAdmitWarn(t *testing.T) {
	p := &Policy{Rules: []Rule{{Channel: "*", Type: "BLOCKUSER", List: []string{"al", "alice"}, Warn: true},
		{Channel: "*", Type: "ADDRESSMAP", Address: "*", Source: "NOACCESS", Warn: true}}}
	o := Admit(p, &Attempt{Query: Query{Channel: "APP", User: "alice"}}, accounts)
	if o.Refused != StageNone || o.User != "alice" || len(o.Warn) != 2 {
		t.Fatalf("%+v", o)
	}
	if o.Warn[0].Stage != StageNoAccess || o.Warn[1].Stage != StageBlocked || !strings.Contains(o.Warn[1].Why, "USERLIST(alice)") {
		t.Errorf("%+v", o.Warn)
	}
}

// A record on trial (WARN(YES)) changes nothing: the next one gives the user, asks for the password, and refuses.
func TestAdmitWarnThenNext(t *testing.T) {
	trial := Rule{Channel: "APP", Type: "ADDRESSMAP", Address: "10.1.2.3", Source: "NOACCESS", Warn: true}
	wider := Rule{Channel: "*", Type: "ADDRESSMAP", Address: "10.*", Source: "NOACCESS", Warn: true}
	for _, c := range []struct {
		next  Rule
		given bool
		want  string
	}{
		{Rule{Source: "MAP", MCAUser: "mapped"}, false, "user mapped"},
		{Rule{Source: "CHANNEL", Check: CheckAll}, false, "password"},
		{Rule{Source: "CHANNEL", Check: CheckAll}, true, "user bob"},
		{Rule{Source: "NOACCESS"}, true, "noaccess"},
		{Rule{Source: "NOACCESS", Warn: true}, true, "user bob"},
	} {
		c.next.Channel, c.next.Type, c.next.Address = "*", "ADDRESSMAP", "*"
		p := &Policy{Rules: []Rule{trial, wider, c.next}, ConnAuth: ConnAuth{Name: "A", Client: CheckOptional, Adopt: true}}
		o := Admit(p, &Attempt{Query: Query{Channel: "APP", Addr: ParseIP("10.1.2.3"), User: "alice"}, Given: c.given, Who: "bob",
			Verify: func() error { return nil }}, accounts)
		if got := outcomeWord(&o); got != c.want || len(o.Warn) != 1 || !strings.Contains(o.Warn[0].Why, "10.1.2.3") {
			t.Errorf("%s USERSRC(%s): %s, %v, want %s", &c.next, c.next.Source, got, o.Warn, c.want)
		}
	}
}

// The credentials' user is the one that USERMAP sees, when it is adopted.
func TestAdmitMapsAdoptedUser(t *testing.T) {
	rules := []Rule{{Channel: "*", Type: "ADDRESSMAP", Address: "*", Source: "NOACCESS"},
		{Channel: "ADM", Type: "USERMAP", User: "admin", Source: "CHANNEL"}}
	for _, c := range []struct {
		adopt bool
		who   string
		want  string
	}{{true, "admin", "admin admin"}, {true, "bob", "noaccess"}, {false, "admin", "noaccess"}} {
		p := &Policy{Rules: rules, ConnAuth: ConnAuth{Name: "A", Client: CheckAdmins, Adopt: c.adopt}}
		o := Admit(p, &Attempt{Query: Query{Channel: "ADM", User: "joe"}, Given: true, Who: c.who,
			Verify: func() error { return nil }}, accounts)
		if got := outcomeWord(&o); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestAdmitLocal(t *testing.T) {
	root := Identity{User: "root", Admin: true, Origin: "local"}
	joe := Identity{User: "joe", UID: 7, Origin: "local"}
	for _, c := range []struct {
		check  string
		adopt  bool
		id     Identity
		given  bool
		right  bool
		user   string
		passes bool
	}{
		{CheckNone, true, joe, true, false, "joe", true},
		{CheckOptional, true, joe, false, false, "joe", true},
		{CheckOptional, true, joe, true, true, "bob", true},
		{CheckOptional, false, joe, true, true, "joe", true},
		{CheckOptional, true, joe, true, false, "joe", false},
		{CheckAdmins, true, joe, false, false, "joe", true},
		{CheckAdmins, true, root, false, false, "root", false},
		{CheckAdmins, false, root, true, true, "root", true},
		{CheckAll, true, joe, false, false, "joe", false},
		{CheckAll, true, joe, true, true, "bob", true},
	} {
		conn := &ConnAuth{Name: "A", Local: c.check, Adopt: c.adopt}
		id, o := AdmitLocal(conn, c.id, c.given, "bob", func() error { return wrongIf(!c.right) }, accounts)
		if (o.Refused == StageNone) != c.passes || id.User != c.user || o.Wrong != (c.given && !c.right && c.check != CheckNone) {
			t.Errorf("%+v: user %s, %+v", c, id.User, o)
		}
	}
}

// wrongIf is what a check of credentials says.
func wrongIf(wrong bool) error {
	if wrong {
		return errors.New("the password is wrong")
	}
	return nil
}
