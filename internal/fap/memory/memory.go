// Package memory is a queue manager of a few queues in memory, for tests of the client protocol: real units of work,
// waits, cursors and tokens, and nothing that survives. The product's engine is package qmgr.
package memory

import (
	"context"
	"encoding/binary"
	"strings"
	"sync"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Manager is the backend. Its fields are set before it serves.
type Manager struct {
	Name     string
	Instance fap.Instance      // what every channel gets; Channel, QMgr and QMID are filled in
	Refuse   map[string]error  // by channel name
	Users    map[string]string // passwords; nil: nobody is asked

	mu     sync.Mutex
	queues map[string]*queue
	seq    uint64
	change chan struct{} // closed and replaced when a message becomes available
	ends   int
}

type queue struct {
	name      string
	msgs      []*message
	inhibited bool
	inputs    int // handles that are open for input
}

type message struct {
	md      mqi.MD
	token   mqi.Token
	body    []byte
	owner   *Conn // not nil: uncommitted
	removed bool  // got, when owner is not nil
}

// New makes a manager with the queues named.
func New(name string, queues ...string) *Manager {
	m := &Manager{Name: name, queues: map[string]*queue{}, change: make(chan struct{}),
		Instance: fap.Instance{Heartbeat: 300, ShareCnv: 10, PlainPasswords: true}}
	for _, q := range queues {
		m.queues[q] = &queue{name: q}
	}
	return m
}

// Depth counts the messages of a queue that can be got; Ended the connections that were broken, not disconnected.
func (m *Manager) Depth(q string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, g := range m.queues[q].msgs {
		if g.owner == nil {
			n++
		}
	}
	return n
}

// Ended counts the connections that were broken, not disconnected.
func (m *Manager) Ended() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ends
}

// Channel implements fap.Backend.
func (m *Manager) Channel(_ context.Context, p fap.Peer) (*fap.Instance, error) {
	if err := m.Refuse[p.Channel]; err != nil {
		return nil, err
	}
	i := m.Instance
	i.Channel, i.QMgr, i.QMID = p.Channel, m.Name, m.Name+"_2026-01-01_00.00.00"
	return &i, nil
}

// Connect implements fap.Backend.
func (m *Manager) Connect(_ context.Context, r fap.ConnectRequest) (fap.Conn, error) {
	if m.Users != nil && (r.Auth == nil || r.Protected || m.Users[r.Auth.User] != r.Auth.Password) {
		return nil, mqi.E("MQCONN", m.Name, mqi.MQRC_NOT_AUTHORIZED)
	}
	c := &Conn{m: m, user: r.User, appl: r.ApplName, applType: r.ApplType, handles: map[int32]*handle{}}
	c.id = m.newID("AMQC")
	return c, nil
}

func (m *Manager) newID(kind string) mqi.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seq++
	var id mqi.ID
	copy(id[:], kind+m.Name+strings.Repeat(" ", 12))
	copy(id[16:], make([]byte, 8))
	binary.BigEndian.PutUint64(id[16:], m.seq)
	return id
}

// wake tells the gets that wait; m.mu is held.
func (m *Manager) wake() {
	close(m.change)
	m.change = make(chan struct{})
}

// Conn is one connection.
type Conn struct {
	m        *Manager
	id       mqi.ID
	user     string
	appl     string
	applType int32
	handles  map[int32]*handle
	last     int32
	gone     bool
	async    mqi.AsyncPuts
}

type handle struct {
	q       *queue // nil: the queue manager
	cursor  *message
	options int32
}

// ID implements fap.Conn, as do the methods that follow.
func (c *Conn) ID() mqi.ID { return c.id }

func (c *Conn) Open(_ context.Context, od *mqi.OD, options int32) (int32, wire.Defaults, error) {
	d := wire.Defaults{PutResponse: mqi.MQPRT_SYNC_RESPONSE}
	h := &handle{options: options}
	if od.ObjectType != mqi.MQOT_Q_MGR {
		c.m.mu.Lock()
		h.q = c.m.queues[od.ObjectName]
		c.m.mu.Unlock()
		if h.q == nil {
			return 0, d, mqi.E("MQOPEN", od.ObjectName, mqi.MQRC_UNKNOWN_OBJECT_NAME)
		}
		od.ResolvedQName, od.ResolvedQMgrName, od.ResolvedType = h.q.name, c.m.Name, mqi.MQOT_Q
	}
	c.count(h, 1)
	c.last++
	c.handles[c.last] = h
	return c.last, d, nil
}

func (c *Conn) Close(_ context.Context, hobj, _ int32) error {
	if c.handles[hobj] == nil {
		return mqi.E("MQCLOSE", "", mqi.MQRC_HOBJ_ERROR)
	}
	c.count(c.handles[hobj], -1)
	delete(c.handles, hobj)
	return nil
}

// count adds to the handles that its queue is open for input by.
func (c *Conn) count(h *handle, n int) {
	if h.q == nil || h.options&input == 0 {
		return
	}
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	h.q.inputs += n
}

// closeAll closes what a connection that ends has open.
func (c *Conn) closeAll() {
	for _, h := range c.handles {
		c.count(h, -1)
	}
}

func (c *Conn) Put(_ context.Context, hobj int32, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	err := c.put(hobj, md, pmo, body)
	if pmo.Options&mqi.MQPMO_ASYNC_RESPONSE != 0 {
		c.CountAsync(hobj, "", md, pmo, err)
	}
	return err
}

// CountAsync implements fap.Statuser.
func (c *Conn) CountAsync(_ int32, object string, _ *mqi.MD, _ *mqi.PMO, err error) {
	if s := c.async.Count(err); s != nil {
		s.ObjectType, s.ObjectName = mqi.MQOT_Q, object
	}
}

// Stat implements fap.Statuser.
func (c *Conn) Stat(kind int32) (mqi.STS, error) {
	if kind != mqi.MQSTAT_TYPE_ASYNC_ERROR {
		return mqi.STS{}, mqi.E("MQSTAT", "", mqi.MQRC_STAT_TYPE_ERROR)
	}
	return c.async.Take(), nil
}

func (c *Conn) put(hobj int32, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	h := c.handles[hobj]
	switch {
	case h == nil || h.q == nil:
		return mqi.E("MQPUT", "", mqi.MQRC_HOBJ_ERROR)
	case h.options&mqi.MQOO_OUTPUT == 0:
		return mqi.E("MQPUT", h.q.name, mqi.MQRC_NOT_OPEN_FOR_OUTPUT)
	}
	if md.MsgID.IsZero() || pmo.Options&mqi.MQPMO_NEW_MSG_ID != 0 {
		md.MsgID = c.m.newID("AMQ ")
	}
	md.UserIdentifier, md.PutApplName, md.PutApplType = c.user, c.appl, c.applType
	md.PutDate, md.PutTime = "20260101", "00000000"
	md.Persistence &= 1
	md.Priority = max(md.Priority, 0)
	pmo.ResolvedQName, pmo.ResolvedQMgrName = h.q.name, c.m.Name
	g := &message{md: *md, body: append([]byte(nil), body...)}
	g.md.Version = 2
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	c.m.seq++
	binary.BigEndian.PutUint64(g.token[:], c.m.seq)
	if pmo.Options&mqi.MQPMO_SYNCPOINT != 0 {
		g.owner = c
	}
	h.q.msgs = append(h.q.msgs, g)
	c.m.wake()
	return nil
}

func (c *Conn) Put1(ctx context.Context, od *mqi.OD, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	h, _, err := c.Open(ctx, od, mqi.MQOO_OUTPUT)
	if err != nil {
		if pmo.Options&mqi.MQPMO_ASYNC_RESPONSE != 0 {
			c.CountAsync(-1, od.ObjectName, md, pmo, err)
		}
		return err
	}
	defer c.Close(ctx, h, 0)
	return c.Put(ctx, h, md, pmo, body)
}

func (c *Conn) Get(ctx context.Context, hobj int32, md *mqi.MD, gmo *mqi.GMO, limit int) ([]byte, int, error) {
	return c.get(ctx, hobj, md, gmo, limit, false)
}

// GetAhead implements fap.Conn.
func (c *Conn) GetAhead(ctx context.Context, hobj int32, md *mqi.MD, gmo *mqi.GMO, limit int) ([]byte, int, error) {
	return c.get(ctx, hobj, md, gmo, limit, gmo.Options&browse == 0)
}

func (c *Conn) get(ctx context.Context, hobj int32, md *mqi.MD, gmo *mqi.GMO, limit int, spare bool) ([]byte, int, error) {
	h := c.handles[hobj]
	if h == nil || h.q == nil {
		return nil, 0, mqi.E("MQGET", "", mqi.MQRC_HOBJ_ERROR)
	}
	var late <-chan time.Time
	if gmo.Options&mqi.MQGMO_WAIT != 0 && gmo.WaitInterval >= 0 {
		t := time.NewTimer(time.Duration(gmo.WaitInterval) * time.Millisecond)
		defer t.Stop()
		late = t.C
	}
	for {
		c.m.mu.Lock()
		if h.q.inhibited {
			c.m.mu.Unlock()
			return nil, 0, mqi.E("MQGET", h.q.name, mqi.MQRC_GET_INHIBITED)
		}
		g := h.find(md, gmo)
		if g != nil && spare && (g.md.Persistence == mqi.MQPER_PERSISTENT || gmo.Options&mqi.MQGMO_SYNCPOINT != 0) {
			c.m.mu.Unlock()
			return nil, 0, fap.ErrHeld
		}
		if g != nil {
			body, total, err := c.give(h, g, md, gmo, limit)
			c.m.mu.Unlock()
			return body, total, err
		}
		change := c.m.change
		c.m.mu.Unlock()
		none := mqi.E("MQGET", h.q.name, mqi.MQRC_NO_MSG_AVAILABLE)
		if gmo.Options&mqi.MQGMO_WAIT == 0 {
			return nil, 0, none
		}
		select {
		case <-change:
		case <-late:
			return nil, 0, none
		case <-ctx.Done():
			return nil, 0, mqi.Wrap("MQGET", h.q.name, mqi.MQRC_CALL_INTERRUPTED, ctx.Err())
		}
	}
}

const browse = mqi.MQGMO_BROWSE_FIRST | mqi.MQGMO_BROWSE_NEXT

const input = mqi.MQOO_INPUT_AS_Q_DEF | mqi.MQOO_INPUT_SHARED | mqi.MQOO_INPUT_EXCLUSIVE

// find chooses a message; the manager's lock is held.
func (h *handle) find(md *mqi.MD, gmo *mqi.GMO) *message {
	after := gmo.Options&mqi.MQGMO_BROWSE_NEXT != 0 && h.cursor != nil
	for _, g := range h.q.msgs {
		if after {
			after = g != h.cursor
			continue
		}
		if g.owner == nil && fits(g, md, gmo) {
			return g
		}
	}
	return nil
}

func fits(g *message, md *mqi.MD, gmo *mqi.GMO) bool {
	m := gmo.MatchOptions
	if m&mqi.MQMO_MATCH_MSG_TOKEN != 0 {
		return g.token == gmo.MsgToken
	}
	return (m&mqi.MQMO_MATCH_MSG_ID == 0 || md.MsgID.IsZero() || md.MsgID == g.md.MsgID) &&
		(m&mqi.MQMO_MATCH_CORREL_ID == 0 || md.CorrelID.IsZero() || md.CorrelID == g.md.CorrelID)
}

// give hands a message over; the manager's lock is held.
func (c *Conn) give(h *handle, g *message, md *mqi.MD, gmo *mqi.GMO, limit int) ([]byte, int, error) {
	*md = g.md
	gmo.ResolvedQName, gmo.MsgToken, gmo.ReturnedLength = h.q.name, g.token, int32(min(len(g.body), limit))
	var warn error
	if len(g.body) > limit {
		if gmo.Options&mqi.MQGMO_ACCEPT_TRUNCATED_MSG == 0 {
			return g.body, len(g.body), mqi.Warn("MQGET", h.q.name, mqi.MQRC_TRUNCATED_MSG_FAILED)
		}
		warn = mqi.Warn("MQGET", h.q.name, mqi.MQRC_TRUNCATED_MSG_ACCEPTED)
	}
	switch {
	case gmo.Options&browse != 0:
		h.cursor = g
	case gmo.Options&mqi.MQGMO_SYNCPOINT != 0,
		gmo.Options&mqi.MQGMO_SYNCPOINT_IF_PERSISTENT != 0 && g.md.Persistence == mqi.MQPER_PERSISTENT:
		g.owner, g.removed = c, true
	default:
		h.q.drop(g)
	}
	return g.body[:min(len(g.body), limit)], len(g.body), warn
}

func (q *queue) drop(g *message) {
	for i, o := range q.msgs {
		if o == g {
			q.msgs = append(q.msgs[:i:i], q.msgs[i+1:]...)
			return
		}
	}
}

// end finishes the unit of work.
func (c *Conn) end(commit bool) {
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	for _, q := range c.m.queues {
		for _, g := range append([]*message(nil), q.msgs...) {
			switch {
			case g.owner != c:
			case g.removed == commit:
				q.drop(g) // a committed get, or a put that is backed out
			default:
				if g.removed {
					g.md.BackoutCount++
				}
				g.owner, g.removed = nil, false
			}
		}
	}
	c.m.wake()
}

func (c *Conn) Commit(context.Context) error  { c.end(true); return nil }
func (c *Conn) Backout(context.Context) error { c.end(false); return nil }
func (c *Conn) Disconnect(context.Context) error {
	c.end(true)
	c.closeAll()
	c.gone = true
	return nil
}

func (c *Conn) Break() {
	if c.gone {
		return
	}
	c.gone = true
	c.end(false)
	c.closeAll()
	c.m.mu.Lock()
	c.m.ends++
	c.m.mu.Unlock()
}

func (c *Conn) Inq(_ context.Context, hobj int32, selectors []int32, maxInts, _ int) (ints []int32, chars []byte, err error) {
	h := c.handles[hobj]
	if h == nil {
		return nil, nil, mqi.E("MQINQ", "", mqi.MQRC_HOBJ_ERROR)
	}
	for _, s := range selectors {
		if s >= mqi.MQCA_FIRST {
			text := map[int32]string{mqi.MQCA_Q_MGR_NAME: c.m.Name, mqi.MQCA_Q_MGR_IDENTIFIER: c.m.Name + "_ID",
				mqi.MQCA_Q_DESC: "a test queue"}[s]
			if s == mqi.MQCA_Q_NAME && h.q != nil {
				text = h.q.name
			}
			n := 48
			if s == mqi.MQCA_Q_DESC {
				n = 64
			}
			chars = append(chars, (text + strings.Repeat(" ", n))[:n]...)
			continue
		}
		v := map[int32]int32{mqi.MQIA_COMMAND_LEVEL: 941, mqi.MQIA_PLATFORM: 3, mqi.MQIA_CODED_CHAR_SET_ID: 819,
			mqi.MQIA_Q_TYPE: 1, mqi.MQIA_MAX_MSG_LENGTH: 4 << 20}[s]
		if s == mqi.MQIA_CURRENT_Q_DEPTH && h.q != nil {
			v = int32(c.m.Depth(h.q.name))
		}
		if s == mqi.MQIA_OPEN_INPUT_COUNT && h.q != nil {
			c.m.mu.Lock()
			v = int32(h.q.inputs)
			c.m.mu.Unlock()
		}
		ints = append(ints, v)
	}
	if len(ints) > maxInts {
		return ints[:max(maxInts, 0)], chars, mqi.Warn("MQINQ", "", mqi.MQRC_INT_ATTR_COUNT_TOO_SMALL)
	}
	return ints, chars, nil
}

func (c *Conn) Set(_ context.Context, hobj int32, selectors, ints []int32, _ []byte) error {
	h := c.handles[hobj]
	if h == nil || h.q == nil {
		return mqi.E("MQSET", "", mqi.MQRC_HOBJ_ERROR)
	}
	if len(selectors) != 1 || len(ints) != 1 || selectors[0] != mqi.MQIA_INHIBIT_GET {
		return mqi.E("MQSET", h.q.name, mqi.MQRC_SELECTOR_ERROR)
	}
	c.m.mu.Lock()
	defer c.m.mu.Unlock()
	h.q.inhibited = ints[0] == mqi.MQQA_GET_INHIBITED
	c.m.wake()
	return nil
}
