package qmgr

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// SecurityHost brings what security needs of the machine; daemon implements it. It must not call back into the Manager.
type SecurityHost interface {
	// Users reads the password file.
	Users() (*auth.Users, error)
	// Account is what the system knows of a user id.
	Account(user string) auth.Account
	// ReloadTLS reads certificates and keys again.
	ReloadTLS() error
}

// authzState is what decides about authorities, made ready for use. Records of CHLAUTH and AUTHREC are in force with the
// command that changes them; the AUTHINFO object, passwords and accounts at the start and at REFRESH SECURITY.
type authzState struct {
	gen   atomic.Uint64 // changes of records
	recs  atomic.Pointer[recordSnap]
	rules atomic.Pointer[ruleSnap]

	conn  atomic.Pointer[auth.ConnAuth]
	users atomic.Pointer[auth.Users]

	mu       invariants.Ranked[invariants.Leaf] // a leaf
	accounts map[string]auth.Account
	loads    int // how often accounts has begun anew
}

// maxAccounts bounds the accounts that are remembered.
const maxAccounts = 4096

// recordSnap holds the authority records of a generation.
type recordSnap struct {
	gen  uint64
	recs *auth.Records
}

// ruleSnap holds the channel authentication records of a generation; rules[i] is objs[i].
type ruleSnap struct {
	gen   uint64
	rules []auth.Rule
	objs  []*Object
}

// recordsChanged is called when a record has been changed or deleted.
func (m *Manager) recordsChanged(c Class) {
	if c == ClassAuthrec || c == ClassChlauth {
		m.authz.gen.Add(1)
	}
}

// authRecords are the authority records in force.
func (m *Manager) authRecords() *auth.Records {
	gen := m.authz.gen.Load() // before reading them: a change meanwhile makes the snapshot old
	if s := m.authz.recs.Load(); s != nil && s.gen == gen {
		return s.recs
	}
	var list []auth.Record
	for _, o := range m.list("*", ClassAuthrec) {
		d := o.Def()
		if d == nil {
			continue // deleted meanwhile
		}
		r := auth.Record{Type: d.Get("OBJTYPE"), Profile: d.Get("PROFILE"), EntityType: d.Get("ENTTYPE"), Entity: d.Get("ENTITY")}
		for _, w := range items(d.Get("AUTHLIST")) {
			r.Auths |= auth.ParseAuth(w)
		}
		list = append(list, r)
	}
	s := &recordSnap{gen: gen, recs: auth.NewRecords(list)}
	m.authz.recs.Store(s)
	return s.recs
}

// chlauthRules are the channel authentication records in force, whether or not CHLAUTH(ENABLED) is set.
func (m *Manager) chlauthRules() *ruleSnap {
	gen := m.authz.gen.Load()
	if s := m.authz.rules.Load(); s != nil && s.gen == gen {
		return s
	}
	s := &ruleSnap{gen: gen}
	for _, o := range m.list("*", ClassChlauth) {
		d := o.Def()
		if d == nil {
			continue
		}
		t := chlauthTypes[d.Get("TYPE")]
		r := auth.Rule{Channel: d.Get("CHLAUTH"), Type: d.Get("TYPE"), Address: d.Get("ADDRESS"), User: d.Get("CLNTUSER"),
			QMgr: d.Get("QMNAME"), Peer: d.Get("SSLPEER"), Issuer: d.Get("SSLCERTI"), Source: d.Get("USERSRC"),
			MCAUser: d.Get("MCAUSER"), Check: d.Get("CHCKCLNT"), Warn: d.Get("WARN") == "YES"}
		if t.list != "" {
			r.List = items(d.Get(t.list))
		}
		s.rules = append(s.rules, r)
		s.objs = append(s.objs, o)
	}
	m.authz.rules.Store(s)
	return s
}

// loadSecurity reads what is only read at the start and at REFRESH SECURITY.
func (m *Manager) loadSecurity() error {
	users := auth.NewUsers()
	if h := m.opt.Security; h != nil {
		var err error
		if users, err = h.Users(); err != nil {
			return err
		}
	}
	m.authz.users.Store(users)
	m.authz.mu.Lock()
	m.authz.accounts = map[string]auth.Account{}
	m.authz.loads++
	m.authz.mu.Unlock()
	c := m.connAuthNow()
	m.authz.conn.Store(&c)
	return nil
}

// connAuthNow reads the AUTHINFO object that CONNAUTH names. One that is missing, or asks a directory server, which is not
// built, lets nobody in who has to give a password.
func (m *Manager) connAuthNow() auth.ConnAuth {
	name := m.qmgrDef().Get("CONNAUTH")
	if blank(name) {
		return auth.ConnAuth{}
	}
	if why := m.unusable(name); why != "" {
		m.opt.Log.Error().Str(obs.FieldAMQ, "AMQ5540E").Str("authinfo", name).
			Msg(why + ": clients are refused until ALTER QMGR CONNAUTH names one of type IDPWOS and REFRESH SECURITY TYPE(CONNAUTH)")
		return auth.ConnAuth{Name: name, Client: auth.CheckAll, Local: auth.CheckOptional, Broken: why}
	}
	d := m.lookup(ClassAuthinfo, name).Def()
	return auth.ConnAuth{Name: name, Client: d.Get("CHCKCLNT"), Local: d.Get("CHCKLOCL"), Adopt: d.Get("ADOPTCTX") == "YES",
		Delay: int(max(d.Int("FAILDLAY"), 0))}
}

// unusable says why no password can be checked by the object that CONNAUTH names; empty when they can.
func (m *Manager) unusable(connAuth string) string {
	o := m.lookup(ClassAuthinfo, connAuth)
	if o == nil {
		return "CONNAUTH(" + connAuth + ") names no AUTHINFO object"
	}
	switch t := subtype(o.Def().Kind); t {
	case "IDPWOS":
		return ""
	case "IDPWLDAP":
		return "CONNAUTH(" + connAuth + ") is of AUTHTYPE(IDPWLDAP), and directory servers (LDAP) are not asked by this release"
	default:
		return "CONNAUTH(" + connAuth + ") is of AUTHTYPE(" + t + "), not IDPWOS"
	}
}

// Account is what is known of a user id: by the password file, and by the system.
func (m *Manager) Account(user string) auth.Account {
	if user == UnknownUser {
		return auth.Account{}
	}
	a, loads, ok := m.authz.account(user)
	if ok {
		return a
	}
	if h := m.opt.Security; h != nil {
		a = h.Account(user)
	}
	a.Admin = a.Admin || user == m.opt.User && user != "" || user == "root" || user == auth.AdminGroup
	if u, ok := m.authz.users.Load().Find(user); ok {
		a.Groups = u.Groups // what the file says comes before what the system says
	}
	a.Admin = a.Admin || hasWord(a.Groups, auth.AdminGroup)
	m.authz.keep(user, a, loads)
	return a
}

// account is what is remembered of a user id, and since when accounts are.
func (s *authzState) account(user string) (a auth.Account, loads int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok = s.accounts[user]
	return a, s.loads, ok
}

// keep remembers an account, unless REFRESH SECURITY came while it was looked up.
func (s *authzState) keep(user string, a auth.Account, loads int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if loads != s.loads {
		return
	}
	if len(s.accounts) >= maxAccounts {
		clear(s.accounts)
	}
	s.accounts[user] = a
}

// need is an authority over an object.
type need struct {
	objType string // OBJTYPE of records
	name    string
	auth    auth.Auth
	topic   string // topic string, when the object was found by one
}

func (n *need) String() string {
	s := n.objType + " " + n.name
	if n.objType == "QMGR" {
		s = "the queue manager"
	}
	if n.topic != "" {
		s = "topic " + n.topic
	}
	return s
}

// missing returns what an identity lacks, and the records that were found.
func (m *Manager) missing(id *auth.Identity, n *need) (lacks auth.Auth, by []string) {
	switch {
	case id.Admin || n.auth == 0:
		return 0, nil
	case id.Unproven: // not even what a record gives to that name
		return n.auth, nil
	}
	have, by := m.authRecords().Has(n.objType, n.name, id.User, id.Groups)
	return n.auth &^ have, by
}

// denial is a refusal on its way to the log and to the event queue.
type denial struct {
	op    string
	need  need
	lacks auth.Auth
	by    []string
	user  string
	event mqi.Event

	unproven bool // the user is an administrator by the client's word alone
}

// deny writes the one line that says who was refused what, and by which record.
func (m *Manager) deny(d *denial) *mqi.Error {
	by := "no authority record fits the user or a group of the user"
	if len(d.by) > 0 {
		by = strings.Join(d.by, ", ")
	}
	if d.unproven {
		by = "an administrator by the client's word alone, which gives no authority: a password or a CHLAUTH record would"
	}
	m.opt.Log.Warn().Str(obs.FieldAMQ, "AMQ8077W").Str("verb", d.op).Str("user", d.user).Str("object", d.need.name).
		Str("objtype", d.need.objType).Str("missing", d.lacks.String()).Str("by", by).Str("channel", d.event.Channel).
		Str("address", d.event.ConnName).Str("appl", d.event.ApplName).
		Msgf("%s: user %s lacks %s for %s (%s)", d.op, d.user, d.lacks, &d.need, by)
	e := d.event
	e.Reason, e.User = mqi.MQRC_NOT_AUTHORIZED, d.user
	m.RaiseEvent(e)
	return mqi.Wrap(d.op, d.need.name, mqi.MQRC_NOT_AUTHORIZED, fmt.Errorf("user %s lacks %s for %s", d.user, d.lacks, &d.need))
}

// refreshSecurity runs REFRESH SECURITY: CONNAUTH, passwords and accounts, or with TYPE(SSL) keys and certificates; without
// TYPE, all but those.
func (x *exec) refreshSecurity() *attr.Reply {
	m := x.m
	typ, _ := x.c.Get("TYPE")
	if typ == "SSL" {
		if h := m.opt.Security; h != nil {
			if err := h.ReloadTLS(); err != nil {
				return failed(mqi.MQRCCF_COMMAND_FAILED, msgUnexpected, "keys and certificates stay as they are: "+err.Error())
			}
		}
		return x.success(m.opt.Name)
	}
	name := m.qmgrDef().Get("CONNAUTH")
	if !blank(name) {
		o := m.lookup(ClassAuthinfo, name)
		if o == nil {
			return notFoundOf(ClassAuthinfo, name)
		}
		if k := o.Def().Kind; subtype(k) != "IDPWOS" {
			if subtype(k) == "IDPWLDAP" {
				return failed(mqi.MQRCCF_COMMAND_FAILED, msgNotBuilt, "CONNAUTH("+name+"): AUTHTYPE(IDPWLDAP)")
			}
			return wrongType(name, k, "AUTHINFO(IDPWOS)")
		}
	}
	if err := m.loadSecurity(); err != nil {
		return failed(mqi.MQRCCF_COMMAND_FAILED, msgUnexpected, "users stay as they are: "+err.Error())
	}
	return x.success(m.opt.Name)
}
