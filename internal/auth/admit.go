package auth

import "fmt"

// Words of CHCKCLNT and CHCKLOCL.
const (
	CheckNone     = "NONE"
	CheckOptional = "OPTIONAL"
	CheckAdmins   = "REQDADM"
	CheckAll      = "REQUIRED"
)

// Policy is how a queue manager lets clients in.
type Policy struct {
	Rules []Rule // empty with CHLAUTH(DISABLED)
	ConnAuth
}

// ConnAuth is the AUTHINFO object that the queue manager's CONNAUTH names. Name is blank when there is none.
type ConnAuth struct {
	Name   string
	Client string // CHCKCLNT
	Local  string // CHCKLOCL
	Adopt  bool   // ADOPTCTX
	Delay  int    // FAILDLAY, seconds
	Broken string // why the object cannot be used: no password is right; empty: it can
}

// checks reports whether credentials are looked at under a CHCKxxx word.
func (c *ConnAuth) checks(word string) bool { return c.Name != "" && word != CheckNone && word != "" }

// Attempt is a client that wants to connect.
type Attempt struct {
	Query          // User is the id that the client says it runs as
	MCAUser string // of the channel

	Given bool   // it sent credentials
	Who   string // their user id
	// Verify checks the password, and says for the log what is wrong with the credentials; called at most once, and only when
	// they are looked at.
	Verify func() error
}

// Stage is the part of the decision that refused somebody.
type Stage int

const (
	StageNone     Stage = iota
	StagePassword       // credentials wrong or missing: CONNAUTH
	StageNoAccess       // USERSRC(NOACCESS)
	StageBlocked        // BLOCKUSER
	StageNobody         // no user id at all
)

// Outcome of Admit.
type Outcome struct {
	User   string
	Proven bool   // the id comes from a password, a record or the channel, and not from the client's word alone
	By     string // where the id comes from, for the log

	Refused Stage
	Why     string // of a refusal: what decided, with the name of the record or object
	Wrong   bool   // credentials were given and are wrong: the answer is to be held up by FAILDLAY
	Warn    []Warning
}

// Warning is a record with WARN(YES) that would have refused.
type Warning struct {
	Stage Stage
	Why   string
}

// Admit decides about a client: its credentials, then the mapping record (which sees the adopted user), then what the
// resulting user needs, then BLOCKUSER.
//
// The user is, in this order, that of a record with USERSRC(MAP), the one of the credentials with ADOPTCTX(YES), MCAUSER
// of the channel, and at last the one that the client says it runs as.
func Admit(p *Policy, a *Attempt, dir Directory) Outcome {
	var o Outcome
	verified := false
	if a.Given && p.checks(p.Client) {
		if err := a.Verify(); err != nil {
			o.refuse(StagePassword, "AUTHINFO(%s) CHCKCLNT(%s): %v", p.Name, p.Client, err)
			o.Wrong = true
			return o
		}
		verified = true
	}
	q := a.Query
	adopted := verified && p.Adopt
	if adopted {
		q.User = a.Who
	}
	rule, warns := Mapping(p.Rules, &q)
	if warns != nil {
		o.Warn = append(o.Warn, Warning{StageNoAccess, warns.String() + " USERSRC(NOACCESS) WARN(YES)"})
	}
	if rule != nil && rule.Source == "NOACCESS" {
		o.refuse(StageNoAccess, "%s USERSRC(NOACCESS)", rule)
		return o
	}
	o.choose(a, rule, adopted, verified)
	if o.User == "" {
		o.refuse(StageNobody, "neither the client nor CHANNEL(%s) MCAUSER, a CHLAUTH record or a password gives a user", a.Channel)
		return o
	}
	acc := dir.Account(o.User)
	if why := p.missingPassword(rule, verified, acc.Admin); why != "" {
		o.refuse(StagePassword, "%s", why)
		return o
	}
	if r, entry := BlockedUser(p.Rules, a.Channel, o.User, acc.Admin); r != nil {
		if !r.Warn {
			o.refuse(StageBlocked, "%s USERLIST(%s)", r, entry)
			return o
		}
		o.Warn = append(o.Warn, Warning{StageBlocked, fmt.Sprintf("%s USERLIST(%s) WARN(YES)", r, entry)})
	}
	return o
}

// refuse sets the refusal.
func (o *Outcome) refuse(s Stage, format string, args ...any) {
	o.Refused, o.Why = s, fmt.Sprintf(format, args...)
}

// choose finds the user.
func (o *Outcome) choose(a *Attempt, rule *Rule, adopted, verified bool) {
	o.Proven = true
	switch {
	case rule != nil && rule.Source == "MAP":
		o.User, o.By = rule.MCAUser, rule.String()
	case adopted:
		o.User, o.By = a.Who, "the credentials"
	case a.MCAUser != "":
		o.User, o.By = a.MCAUser, "CHANNEL("+a.Channel+") MCAUSER"
	default:
		o.User, o.By = a.User, "the client"
		o.Proven = verified && a.Who == a.User
	}
}

// missingPassword says why a user without a good password is not let in, or "". A record may ask for more than the queue
// manager; when the queue manager does not check passwords at all, nobody can give what such a record asks for.
func (p *Policy) missingPassword(rule *Rule, verified, admin bool) string {
	if verified {
		return ""
	}
	if rule != nil {
		switch {
		case rule.Check == CheckAll, rule.Check == CheckAdmins && admin:
			why := fmt.Sprintf("%s CHCKCLNT(%s): a user id and password are needed", rule, rule.Check)
			if !p.checks(p.Client) {
				why += ", and the queue manager's CONNAUTH checks none"
			}
			return why
		}
	}
	switch {
	case !p.checks(p.Client):
	case p.Client == CheckAll, p.Client == CheckAdmins && admin:
		return fmt.Sprintf("AUTHINFO(%s) CHCKCLNT(%s): a user id and password are needed", p.Name, p.Client)
	}
	return ""
}

// Identity makes the identity of a client that was let in. A user who is an administrator by the client's word alone is
// nobody in particular: no rights come with the name.
func (o *Outcome) Identity(channel string, dir Directory) Identity {
	id := Identity{User: o.User, UID: -1, Origin: "channel " + channel}
	acc := dir.Account(o.User)
	switch {
	case o.Proven:
		id.Groups, id.Admin = acc.Groups, acc.Admin
	case acc.Admin:
		id.Unproven = true
	default:
		id.Groups = acc.Groups
	}
	return id
}

// AdmitLocal decides about a program on this machine, whose user the system knows. Its credentials, if any, make it
// another user with ADOPTCTX(YES).
func AdmitLocal(c *ConnAuth, id Identity, given bool, who string, verify func() error, dir Directory) (Identity, Outcome) {
	var o Outcome
	verified := false
	if given && c.checks(c.Local) {
		if err := verify(); err != nil {
			o.refuse(StagePassword, "AUTHINFO(%s) CHCKLOCL(%s): %v", c.Name, c.Local, err)
			o.Wrong = true
			return id, o
		}
		verified = true
	}
	if !verified && c.checks(c.Local) && (c.Local == CheckAll || c.Local == CheckAdmins && id.Admin) {
		o.refuse(StagePassword, "AUTHINFO(%s) CHCKLOCL(%s): a user id and password are needed", c.Name, c.Local)
		return id, o
	}
	if verified && c.Adopt && who != id.User {
		acc := dir.Account(who)
		id = Identity{User: who, UID: -1, Groups: acc.Groups, Admin: acc.Admin, Origin: id.Origin}
	}
	return id, o
}
