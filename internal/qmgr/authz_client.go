package qmgr

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// Who comes in, and as whom: channel authentication records and CONNAUTH.

// Credentials are a user id and password that a program gives.
type Credentials struct {
	Given          bool
	User, Password string
}

// ClientAttempt is a client that asks to be connected.
type ClientAttempt struct {
	Channel  string
	Addr     string // host:port
	User     string // the id that it says it runs as
	ApplName string
	ApplType int32
	Credentials
	// Unreadable says that the password came protected by an algorithm that is not known.
	Unreadable bool
	// Token says that a token came instead of a password. Tokens are not checked here, so it is as good as a wrong one.
	Token bool
	Peer  *x509.Certificate // nil without
	// Hosts finds the names of its address; called only when a record asks for them.
	Hosts func() []string
}

// chlauthInForce are the rules that decide: none with CHLAUTH(DISABLED).
func (m *Manager) chlauthInForce() []auth.Rule {
	if m.qmgrDef().Get("CHLAUTH") != "ENABLED" {
		return nil
	}
	return m.chlauthRules().rules
}

// AddressBlocked asks the BLOCKADDR records about a peer from which nothing has been read yet. A refusal is logged.
func (m *Manager) AddressBlocked(addr string) bool {
	r, entry := auth.BlockedAddr(m.chlauthInForce(), auth.ParseIP(addr))
	if r == nil {
		return false
	}
	why := r.String() + " ADDRLIST(" + entry + ")"
	a := &ClientAttempt{Addr: addr}
	m.blockedEvent(a, mqi.MQRQ_CHANNEL_BLOCKED_ADDRESS, "", r.Warn)
	ev := m.refusalLog(a, "AMQ9786E", "", r.Warn).Str("by", why)
	if r.Warn {
		ev.Msgf("connection from %s would be refused by %s, which only warns", addr, why)
		return false
	}
	ev.Msgf("connection from %s refused by %s", addr, why)
	return true
}

// asksHost reports that the name of a peer's host is to be looked up.
func (m *Manager) asksHost(rules []auth.Rule, channel string) bool {
	return m.qmgrDef().Get("REVDNS") != "DISABLED" && auth.NeedsHost(rules, channel)
}

// AdmitClient decides who a client is, and whether it comes in. The error is 2035; its cause names the user and what
// decided, for the log and not for the peer.
func (m *Manager) AdmitClient(ctx context.Context, a *ClientAttempt) (auth.Identity, error) {
	conn := *m.authz.conn.Load()
	p := &auth.Policy{Rules: m.chlauthInForce(), ConnAuth: conn}
	sc, _ := m.ServerConn(a.Channel)
	at := &auth.Attempt{
		Query:   auth.Query{Channel: a.Channel, Addr: auth.ParseIP(a.Addr), User: a.User},
		MCAUser: sc.MCAUser, Given: a.Given, Who: a.Credentials.User,
		Verify: func() error { return m.verifyClient(a) },
	}
	if a.Peer != nil {
		at.Peer, at.Issuer = auth.NameOf(a.Peer.Subject), auth.NameOf(a.Peer.Issuer)
	}
	if a.Hosts != nil && m.asksHost(p.Rules, a.Channel) {
		at.Hosts = a.Hosts()
	}
	dir := auth.DirectoryFunc(m.Account)
	o := auth.Admit(p, at, dir)
	for _, w := range o.Warn {
		m.blockedEvent(a, stageQualifier[w.Stage], o.User, true)
		m.refusalLog(a, stageMessage[w.Stage], o.User, true).Str("by", w.Why).
			Msgf("client at %s on channel %s would be refused by %s", a.Addr, a.Channel, w.Why)
	}
	if o.Refused == auth.StageNone {
		return o.Identity(a.Channel, dir), nil
	}
	m.refusedClient(a, &o)
	if o.Wrong {
		m.failDelay(ctx, conn.Delay)
	}
	return auth.Identity{}, mqi.Wrap("MQCONN", m.opt.Name, mqi.MQRC_NOT_AUTHORIZED, errors.New(o.Why))
}

// stageMessage and stageQualifier say how a refusal is logged, and what its event tells.
var (
	stageMessage = map[auth.Stage]string{auth.StagePassword: "AMQ5540E", auth.StageNoAccess: "AMQ9777E", auth.StageBlocked: "AMQ9776E",
		auth.StageNobody: "AMQ9245E"}
	stageQualifier = map[auth.Stage]int32{auth.StageNoAccess: mqi.MQRQ_CHANNEL_BLOCKED_NOACCESS,
		auth.StageBlocked: mqi.MQRQ_CHANNEL_BLOCKED_USERID, auth.StageNobody: mqi.MQRQ_CHANNEL_BLOCKED_USERID}
)

// refusedClient writes the one line of a refusal, and raises its event.
func (m *Manager) refusedClient(a *ClientAttempt, o *auth.Outcome) {
	user := o.User
	if user == "" {
		if user = a.User; a.Given {
			user = a.Credentials.User
		}
	}
	m.refusalLog(a, stageMessage[o.Refused], user, false).Str("by", o.Why).Str("qualifier", "client refused").
		Msgf("client refused: user %q at %s on channel %s (says it runs as %q): %s", user, a.Addr, a.Channel, a.User, o.Why)
	if o.Refused != auth.StagePassword {
		m.blockedEvent(a, stageQualifier[o.Refused], user, false)
		return
	}
	m.RaiseEvent(mqi.Event{Reason: mqi.MQRC_NOT_AUTHORIZED, Qualifier: mqi.MQRQ_CSP_NOT_AUTHORIZED, User: user, ClientUser: user,
		ApplType: a.ApplType, ApplName: a.ApplName, Channel: a.Channel, ConnName: host(a.Addr)})
}

func (m *Manager) refusalLog(a *ClientAttempt, id, user string, warn bool) *zerolog.Event {
	if warn {
		id = id[:len(id)-1] + "W"
	}
	return m.opt.Log.Warn().Str(obs.FieldAMQ, id).Str("user", user).Str("address", a.Addr).Str("channel", a.Channel).
		Str("appl", a.ApplName)
}

func (m *Manager) blockedEvent(a *ClientAttempt, qualifier int32, user string, warn bool) {
	e := mqi.Event{Reason: mqi.MQRC_CHANNEL_BLOCKED, Qualifier: qualifier, Channel: a.Channel, ConnName: host(a.Addr), User: user,
		ClientUser: a.User, ApplType: a.ApplType, ApplName: a.ApplName}
	if warn {
		e.Reason = mqi.MQRC_CHANNEL_BLOCKED_WARNING
	}
	m.RaiseEvent(e)
}

func host(addr string) string {
	if h, _, err := net.SplitHostPort(addr); err == nil {
		return h
	}
	return addr
}

// verify checks credentials by the password file. What it says is for the log: whoever asks learns neither who is known nor, by the
// time it takes, anything else.
func (m *Manager) verify(c Credentials) error {
	users := m.authz.users.Load()
	right := users.Check(c.User, c.Password)
	_, known := users.Find(c.User)
	switch {
	case m.authz.conn.Load().Broken != "":
		return errors.New("no password is taken: " + m.authz.conn.Load().Broken)
	case right:
		return nil
	case !known:
		return fmt.Errorf("there is no user %s in the password file (qmgrd user list)", c.User)
	}
	return fmt.Errorf("the password of user %s is wrong", c.User)
}

// verifyClient is verify for a client, whose password may have come unreadable.
func (m *Manager) verifyClient(a *ClientAttempt) error {
	if a.Token {
		return errors.New("a token came instead of user id and password; tokens are not checked here, so give those")
	}
	if a.Unreadable {
		return fmt.Errorf("the password of user %s is wrong (it came protected by an algorithm that cannot be read: use TLS, or allow "+
			"passwords in clear, docs/security.md)", a.Credentials.User)
	}
	return m.verify(a.Credentials)
}

// failDelay holds up the answer to a wrong password, for whoever asks and for nobody else.
func (m *Manager) failDelay(ctx context.Context, seconds int) {
	if seconds <= 0 {
		return
	}
	select {
	case <-m.opt.Clock.After(time.Duration(seconds) * time.Second):
	case <-ctx.Done():
	case <-m.ctx.Done():
	}
}

// AdmitLocal decides about a program on this machine: CHCKLOCL.
func (m *Manager) AdmitLocal(ctx context.Context, id auth.Identity, c Credentials) (auth.Identity, error) {
	conn := *m.authz.conn.Load()
	got, o := auth.AdmitLocal(&conn, id, c.Given, c.User, func() error { return m.verify(c) }, auth.DirectoryFunc(m.Account))
	if o.Refused == auth.StageNone {
		return got, nil
	}
	user := id.User
	if c.Given {
		user = c.User
	}
	m.opt.Log.Warn().Str(obs.FieldAMQ, stageMessage[o.Refused]).Str("user", user).Str("by", o.Why).
		Msgf("local program of user %s refused: %s", id.User, o.Why)
	m.RaiseEvent(mqi.Event{Reason: mqi.MQRC_NOT_AUTHORIZED, Qualifier: mqi.MQRQ_CSP_NOT_AUTHORIZED, User: user, ClientUser: user})
	if o.Wrong {
		m.failDelay(ctx, conn.Delay)
	}
	return auth.Identity{}, mqi.Wrap("MQCONN", m.opt.Name, mqi.MQRC_NOT_AUTHORIZED, errors.New(o.Why))
}
