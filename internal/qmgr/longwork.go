package qmgr

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/obs"
)

// msgLongUnit warns of a unit of work that has not ended for long: its messages stay hidden and count in the depths of their
// queues, and what it got is backed out when its connection is lost.
const msgLongUnit = "AMQ7486W"

// longUnit is after how long a unit of work is told of, once every hour.
const (
	longUnit      = 5 * time.Minute
	longUnitAgain = time.Hour
)

// warnLongUnits writes to the log which units of work have not ended for long. It runs with the search for expired messages.
func (m *Manager) warnLongUnits() {
	now := m.opt.Clock.Now()
	for _, c := range m.connections() {
		if u := c.longWork(now); u != nil {
			m.opt.Log.Warn().Str(obs.FieldAMQ, msgLongUnit).Str("qmgr", m.opt.Name).Str("appl", c.opt.ApplName).
				Str("conn", strings.ToUpper(hex.EncodeToString(c.id[16:]))).Str("user", c.who.User).Time("since", u.born).
				Msg("unit of work has not ended for long: the application should commit, or STOP CONN backs it out")
		}
	}
}

// longWork is the unit of work if it is to be told of now.
func (c *Conn) longWork(now time.Time) *uow {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.work
	if u == nil || now.Sub(u.born) < longUnit || !u.told.IsZero() && now.Sub(u.told) < longUnitAgain {
		return nil
	}
	u.told = now
	return u
}
