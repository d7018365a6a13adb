package qmgr

import (
	"encoding/hex"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// queueStats is what real-time monitoring shows of a queue. It is always collected; MONQ decides whether it is shown.
type queueStats struct {
	lastGet, lastPut int64 // Unix nanoseconds
	qtShort, qtLong  int64 // microseconds, moving averages over about 8 and 64 gets
	gets, puts       uint64
}

func (s *queueStats) put(now time.Time) {
	s.lastPut = now.UnixNano()
	s.puts++
}

// get notes a get of a message that was put at putNanos.
func (s *queueStats) get(now time.Time, putNanos int64) {
	s.lastGet = now.UnixNano()
	t := max((s.lastGet-putNanos)/1000, 0)
	if s.gets == 0 {
		s.qtShort, s.qtLong = t, t
	} else {
		s.qtShort += (t - s.qtShort) / 8
		s.qtLong += (t - s.qtLong) / 64
	}
	s.gets++
}

const statMax = 999999999

// statusItems are the values of DISPLAY QSTATUS TYPE(QUEUE), by keyword. The monitoring fields are blank when MONQ is
// off.
func (q *Queue) statusItems() map[string]string {
	monq := q.monq()
	now := q.m.opt.Clock.Now()
	kept := q.kept()
	q.mu.Lock()
	defer q.mu.Unlock()
	out := map[string]string{
		"CURDEPTH": strconv.Itoa(q.depthLocked() + kept),
		"IPPROCS":  strconv.Itoa(q.in),
		"OPPROCS":  strconv.Itoa(q.out),
		"UNCOM":    yesNo(q.uncom > 0),
		"MONQ":     monq,
		"LGETDATE": "", "LGETTIME": "", "LPUTDATE": "", "LPUTTIME": "", "MSGAGE": "", "QTIME": "",
	}
	if monq == "OFF" {
		return out
	}
	if n := q.stats.lastGet; n != 0 {
		out["LGETDATE"], out["LGETTIME"] = mqDate(time.Unix(0, n)), mqTime(time.Unix(0, n))
		out["QTIME"] = fmt.Sprintf("%d%s%d", min(q.stats.qtShort, statMax), attr.ListSep, min(q.stats.qtLong, statMax))
	}
	if n := q.stats.lastPut; n != 0 {
		out["LPUTDATE"], out["LPUTTIME"] = mqDate(time.Unix(0, n)), mqTime(time.Unix(0, n))
	}
	out["MSGAGE"] = strconv.FormatInt(min(q.oldestAge(now), statMax), 10)
	return out
}

// oldestAge is the age of the oldest message in seconds, 0 for an empty queue.
func (q *Queue) oldestAge(now time.Time) int64 {
	var first *entry
	for p := range q.lists {
		if s := q.lists[p].head; s != 0 {
			if e := q.slab.at(s); first == nil || e.seq < first.seq {
				first = e
			}
		}
	}
	if first == nil {
		return 0
	}
	return max(now.Unix()-int64(first.put), 0)
}

// monq is the monitoring level in force: the queue's, or the queue manager's when it says QMGR. NONE at the queue
// manager switches monitoring off for all.
func (q *Queue) monq() string {
	own, all := q.obj.Def().Get("MONQ"), q.m.qmgrDef().Get("MONQ")
	switch {
	case all == "NONE", own == "OFF":
		return "OFF"
	case own == "QMGR" || own == "":
		own = all
	}
	if own == "" {
		return "OFF"
	}
	return own
}

// applRow are the items DISPLAY CONN and DISPLAY QSTATUS TYPE(HANDLE) share.
func (c *Conn) applRow() map[string]string {
	return map[string]string{
		"APPLTAG":  c.opt.ApplName,
		"APPLDESC": c.opt.ApplDesc,
		"APPLTYPE": applType(c.opt),
		"CHANNEL":  c.opt.Channel,
		"CONNAME":  c.opt.ConnName,
		"PID":      strconv.Itoa(c.opt.PID),
		"TID":      strconv.Itoa(c.opt.TID),
		"USERID":   c.who.User,
		"ASTATE":   c.consumes.word(),
		"URTYPE":   "QMGR",
		"QMURID":   c.unitID(),
		"URID":     "XA_FORMATID[] XA_GTRID[] XA_BQUAL[]",
	}
}

// applType is the word DISPLAY uses for who is connected.
func applType(o ConnectOptions) string {
	switch {
	case o.Internal || o.ApplType == mqi.MQAT_QMGR:
		return "QMGR"
	}
	return "USER" // clients of channels too
}

// handleRowsOf are the rows of DISPLAY QSTATUS TYPE(HANDLE) of some queues, from one walk over the connections for all of them.
func (m *Manager) handleRowsOf(wanted func(queue string) bool) []map[string]string {
	var out []map[string]string
	for _, c := range m.sortedConns() {
		for _, h := range c.sortedHandles() {
			if h.queue == nil || !wanted(h.queue.obj.Name) {
				continue
			}
			row := c.applRow()
			row["QUEUE"] = h.queue.obj.Name
			row["TYPE"] = "HANDLE"
			row["BROWSE"] = yesNo(h.browse)
			row["INPUT"] = h.inputWord()
			row["INQUIRE"] = yesNo(h.opts&mqi.MQOO_INQUIRE != 0)
			row["OUTPUT"] = yesNo(h.output)
			row["SET"] = yesNo(h.opts&mqi.MQOO_SET != 0)
			row["HSTATE"], row["ASTATE"] = h.state(), h.consumption()
			out = append(out, row)
		}
	}
	return out
}

func (h *handle) inputWord() string {
	switch {
	case !h.input:
		return "NO"
	case h.excl:
		return "EXCL"
	}
	return "SHARED"
}

// state is ACTIVE while a verb of the handle's connection is in progress.
func (h *handle) state() string {
	if h.conn.inVerb() || h.conn.waiting() {
		return "ACTIVE"
	}
	return "INACTIVE"
}

// connRows are the rows of DISPLAY CONN TYPE(CONN).
func (m *Manager) connRows() []map[string]string {
	var out []map[string]string
	branches := m.branchRows()
	for _, c := range m.sortedConns() {
		row := c.applRow()
		c.connNames(row, "CONN")
		row["CONNOPTS"] = strings.Join(mqi.FlagNames("MQCNO", c.opt.Options), attr.ListSep)
		row["CONNTAG"] = "MQCT" + strings.ToUpper(hex.EncodeToString(c.id[16:])) + c.m.qmgrDef().Get("QMID")
		row["UOWSTATE"], row["UOWSTDA"], row["UOWSTTI"] = "NONE", "", ""
		row["UOWLOG"], row["UOWLOGDA"], row["UOWLOGTI"] = "", "", ""
		row["EXTURID"] = row["URID"]
		if born, ok := c.workSince(); ok {
			row["UOWSTATE"] = "ACTIVE"
			row["UOWSTDA"], row["UOWSTTI"] = mqDate(born), mqTime(born)
		}
		out = append(out, branches.onConn(c, row)...)
	}
	return append(out, branches.rest()...)
}

// workSince is when the unit of work began, if there is one.
func (c *Conn) workSince() (born time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work == nil {
		return born, false
	}
	return c.work.born, true
}

// unitID is QMURID: two numbers of 32 bits, 0.0 without a unit of work.
func (c *Conn) unitID() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work == nil {
		return "0.0"
	}
	return fmt.Sprintf("%d.%d", c.work.num>>32, uint32(c.work.num))
}

// connNames fills CONN, EXTCONN and TYPE.
func (c *Conn) connNames(row map[string]string, typ string) {
	row["CONN"] = strings.ToUpper(hex.EncodeToString(c.id[16:]))
	row["EXTCONN"] = strings.ToUpper(hex.EncodeToString(c.id[:16]))
	row["TYPE"] = typ
}

// connHandleRows are the rows of DISPLAY CONN TYPE(HANDLE): one for each open object.
func (m *Manager) connHandleRows() []map[string]string {
	var out []map[string]string
	for _, c := range m.sortedConns() {
		for _, h := range c.sortedHandles() {
			row := map[string]string{
				"OBJNAME":  h.name,
				"OBJTYPE":  objTypeWord(h.objType),
				"OPENOPTS": strings.Join(mqi.FlagNames("MQOO", h.opts), attr.ListSep),
				"HSTATE":   h.state(),
				"READA":    "NO",
				"ASTATE":   h.consumption(),
				"QSGDISP":  "QMGR",
				"DEST":     "", "DESTQMGR": "", "SUBID": "", "SUBNAME": "", "TOPICSTR": "",
			}
			h.pubsubNames(row)
			if h.objType == mqi.MQOT_Q_MGR {
				row["OBJNAME"] = m.opt.Name
			}
			c.connNames(row, "HANDLE")
			out = append(out, row)
		}
	}
	return out
}

func objTypeWord(t int32) string {
	switch t {
	case mqi.MQOT_Q:
		return "QUEUE"
	case mqi.MQOT_Q_MGR:
		return "QMGR"
	case mqi.MQOT_PROCESS:
		return "PROCESS"
	case mqi.MQOT_NAMELIST:
		return "NAMELIST"
	}
	return "TOPIC"
}

func (m *Manager) sortedConns() []*Conn {
	cs := m.connections()
	sort.Slice(cs, func(i, j int) bool { return cs[i].num < cs[j].num })
	return cs
}

func (c *Conn) sortedHandles() []*handle {
	var hs []*handle
	for _, h := range c.openHandles() {
		h.handlesOf(func(one *handle) { hs = append(hs, one) })
	}
	sort.Slice(hs, func(i, j int) bool { return hs[i].num < hs[j].num })
	return hs
}
