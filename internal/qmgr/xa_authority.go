package qmgr

import (
	"strings"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// Whose branches a connection may list, take up and settle: its user's own, and with SYSTEM over the queue manager, the
// authority for what a program does as a part of the queue manager, those of others too. Others do not learn that there is
// such a branch.

// of reports whether a branch is of the connection's user.
func (b *branch) of(c *Conn) bool { return b.user == c.who.User }

// is is the view of an operator who has seen this branch: another one may have come under its identifier.
func (b *branch) is(now *branch) bool { return now == b }

var recovery = need{objType: "QMGR", name: selfProfile, auth: auth.SystemAuth}

// mayRecover reports whether the connection may settle the branches of others.
func (c *Conn) mayRecover() bool {
	lacks, _ := c.m.missing(&c.who, &recovery)
	return lacks == 0
}

// ofOthers names a branch of somebody else.
func (s *xaState) ofOthers(x XID, c *Conn) (user string, num uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.branches[x]
	if b == nil || b.of(c) {
		return "", 0, false
	}
	return b.user, b.num, true
}

// xaOthers reports whether the connection may settle the branches of others, if x is one; when it may not the log says so. The
// caller looks at the branch again under the lock.
func (c *Conn) xaOthers(verb string, x XID) bool {
	user, num, others := c.m.xa.ofOthers(x, c)
	if !others {
		return false
	}
	lacks, by := c.m.missing(&c.who, &recovery)
	if lacks == 0 {
		return true
	}
	c.m.opt.Log.Warn().Str(obs.FieldAMQ, "AMQ8077W").Str("verb", verb).Str("user", c.who.User).Str("missing", lacks.String()).
		Str("by", strings.Join(by, ", ")).Uint64("transaction", num).Str("channel", c.opt.Channel).Str("appl", c.opt.ApplName).
		Msgf("%s: transaction %d is of user %s, and user %s lacks %s for the queue manager: the answer is XAER_NOTA", verb, num,
			user, c.who.User, lacks)
	return false
}
