package qmgr

import (
	"encoding/hex"
	"fmt"
	"maps"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// What operators see of two-phase units of work, and how they settle one whose transaction manager does not come back.

// Transaction is a unit of work that waits for an outcome, or whose outcome, decided by an operator, waits for being
// forgotten.
type Transaction struct {
	Number   uint64    `json:"number"`
	State    string    `json:"state"` // PREPARED, COMMITTED or BACKEDOUT
	Format   int32     `json:"formatId"`
	Global   string    `json:"gtrid"` // hex
	Branch   string    `json:"bqual"` // hex
	Started  time.Time `json:"started"`
	Prepared time.Time `json:"prepared"`
	User     string    `json:"userIdentifier"`
	Appl     string    `json:"appl"`
	Puts     int       `json:"puts"`
	Gets     int       `json:"gets"`
	Queues   []string  `json:"queues"` // of its puts and gets
}

var branchWords = map[branchState]string{branchActive: "ACTIVE", branchSuspended: "ACTIVE", branchIdle: "ACTIVE",
	branchPrepared: "PREPARED", branchCommitted: "COMMITTED", branchRolledBack: "BACKEDOUT"}

// Transactions lists the units of work that are prepared, and those settled by an operator that nobody has forgotten yet.
func (m *Manager) Transactions() []Transaction {
	out := []Transaction{}
	for _, b := range m.xa.waiting() {
		t := Transaction{Number: b.num, State: branchWords[b.state], Format: b.xid.Format, Started: b.born, Prepared: b.since,
			Global: hexOf(b.xid.Global), Branch: hexOf(b.xid.Branch), User: b.user, Appl: b.appl, Queues: []string{}}
		if w := b.prepared; w != nil {
			t.Puts, t.Gets = len(w.puts), len(w.gets)
			names := map[string]bool{}
			for _, p := range w.puts {
				names[p.q.obj.Name] = true
			}
			for i := range w.gets {
				names[w.gets[i].q.obj.Name] = true
			}
			for n := range names {
				t.Queues = append(t.Queues, n)
			}
			sort.Strings(t.Queues)
		}
		out = append(out, t)
	}
	return out
}

// What an operator can do with a transaction.
const (
	ResolveCommit = "commit"
	ResolveBack   = "backout"
	ResolveForget = "forget"
)

// ResolveTransaction settles a prepared unit of work in place of its transaction manager, which hears of it (XA_HEURCOM,
// XA_HEURRB) and then forgets it; or forgets one that was settled so.
func (m *Manager) ResolveTransaction(number uint64, action, user string) error {
	if b := m.xa.byNumber(number); b != nil {
		return m.resolve(b, action, user)
	}
	return mqi.Wrap(opResolve, strconv.FormatUint(number, 10), mqi.MQRC_UOW_NOT_AVAILABLE, fmt.Errorf("there is no prepared unit of work with the "+
		"number %d; qmgrd trn list %s (dspmqtrn) shows those there are", number, m.opt.Name))
}

const opResolve = "RESOLVE"

// resolve is ResolveTransaction of a branch that was there a moment ago.
func (m *Manager) resolve(b *branch, action, user string) error {
	number := strconv.FormatUint(b.num, 10)
	refuse := func(why string) error {
		return mqi.Wrap(opResolve, number, mqi.MQRC_UOW_NOT_AVAILABLE, fmt.Errorf("%s", why))
	}
	var err error
	switch action {
	case ResolveForget:
		if rc := m.forgetBranch(b.xid, b.is); rc == XAProto {
			return refuse("it is prepared: commit it or back it out")
		} else if rc != XAOK {
			return refuse(fmt.Sprintf("it cannot be forgotten (XA return value %d)", rc))
		}
		return nil
	case ResolveCommit, ResolveBack:
		if _, rc := m.xa.hold(b.xid, b.is, func(b *branch) XARet {
			if b.state != branchPrepared {
				return XAProto
			}
			return XAOK
		}); rc != XAOK {
			return refuse("it is not prepared, or its transaction manager is settling it right now")
		}
		m.xa.settle(b, func() XARet {
			if action == ResolveCommit {
				err = m.commitPrepared(b, branchCommitted)
			} else {
				err = m.rollbackPrepared(b, branchRolledBack)
			}
			return XAOK
		})
	default:
		return mqi.E(opResolve, action, mqi.MQRC_OPTIONS_ERROR)
	}
	if err != nil {
		return storeReason(opResolve, number, err)
	}
	m.opt.Log.Warn().Str(obs.FieldAMQ, "AMQ7488W").Str("qmgr", m.opt.Name).Uint64("transaction", b.num).Str("user", user).
		Str("action", action).Str("xid", b.xid.String()).
		Msgf("transaction %d was settled by hand (%s): other resource managers of its global unit of work may end otherwise",
			b.num, action)
	return nil
}

func (s *xaState) byNumber(n uint64) *branch {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.branches {
		if b.num == n && b.state >= branchPrepared {
			return b
		}
	}
	return nil
}

func hexOf(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }

// String is the identifier as DISPLAY CONN shows it.
func (x XID) String() string {
	return fmt.Sprintf("XA_FORMATID[%08X] XA_GTRID[%s] XA_BQUAL[%s]", uint32(x.Format), hexOf(x.Global), hexOf(x.Branch))
}

// branchRows are the branches for DISPLAY CONN. A connection's row shows its branch; further ones, and those whose
// connection is gone, have a row of their own.
type branchRows struct {
	byConn map[*Conn][]branch
	alone  []branch
}

func (m *Manager) branchRows() *branchRows {
	r := &branchRows{byConn: map[*Conn][]branch{}}
	s := &m.xa
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []branch
	for _, b := range s.branches {
		if b.state <= branchPrepared {
			all = append(all, *b)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].num < all[j].num })
	for _, b := range all {
		if b.conn == nil {
			r.alone = append(r.alone, b)
			continue
		}
		r.byConn[b.conn] = append(r.byConn[b.conn], b)
	}
	return r
}

// onConn gives the rows of a connection: its own, filled with its branch, and one for each further branch.
func (r *branchRows) onConn(c *Conn, row map[string]string) (rows []map[string]string) {
	list := r.byConn[c]
	delete(r.byConn, c)
	rows = append(rows, row)
	for i := range list {
		if i > 0 {
			row = maps.Clone(row)
			rows = append(rows, row)
		}
		list[i].fill(row)
	}
	return rows
}

// rest are the rows of branches whose connection is gone.
func (r *branchRows) rest() (rows []map[string]string) {
	for _, list := range r.byConn { // the connection has ended meanwhile
		r.alone = append(r.alone, list...)
	}
	for i := range r.alone {
		b := &r.alone[i]
		row := map[string]string{"CONN": hexOf(string(b.connID[16:])), "EXTCONN": hexOf(string(b.connID[:16])),
			"APPLTAG": b.appl, "APPLDESC": "", "APPLTYPE": "USER", "CHANNEL": "", "CONNAME": "", "PID": "0", "TID": "0",
			"USERID": b.user, "ASTATE": "NONE", "CONNOPTS": "", "CONNTAG": "", "UOWLOG": "", "UOWLOGDA": "", "UOWLOGTI": ""}
		b.fill(row)
		rows = append(rows, row)
	}
	return rows
}

func (b *branch) fill(row map[string]string) {
	row["UOWSTATE"] = branchWords[b.state]
	row["UOWSTDA"], row["UOWSTTI"] = mqDate(b.born), mqTime(b.born)
	row["URTYPE"], row["QMURID"], row["EXTURID"] = "XA", fmt.Sprintf("0.%d", b.num), b.xid.String()
}
