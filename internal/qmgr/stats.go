package qmgr

import (
	"sync"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Statistics (STATMQI, STATQ) and accounting (ACCTMQI, ACCTQ): what verbs did, counted while the attributes ask for it,
// and written as PCF messages. A verb that nobody counts costs a look at two cached attributes.

// statsState are the counters of the statistics interval under way. mu also guards the accounts of connections; nothing
// is called under it.
type statsState struct {
	mu     invariants.Ranked[invariants.Leaf]
	since  time.Time
	mqi    counts
	queues map[*Queue]*queueCounts
	timer  clock.Timer
	off    bool
	busy   sync.WaitGroup
}

// verbKind is a verb as it is counted.
type verbKind uint8

const (
	didOpen verbKind = iota
	didClose
	didInq
	didSet
	didPut
	didPut1
	didGet
	didBrowse
	didCommit
	didBackout
	didConnect
	didDisconnect
	didBreak // a connection that ended without MQDISC
	didExpire
	didPurge
)

// deed is one verb that has ended.
type deed struct {
	kind    verbKind
	objType int32
	failed  bool
	pers    int // 0 nonpersistent, 1 persistent
	size    int
	put     [2]string     // PutDate and PutTime of the message a get got
	onQueue time.Duration // of a get; made from put when somebody counts it
	n       int           // of expired or purged messages
}

// objectKinds is how many types of objects MQOPEN and the like are counted by: the place in the list is MQOT_*.
const objectKinds = 13

// counts are those of all verbs, of the queue manager or of a connection.
type counts struct {
	opens, closes, inqs, sets                         [objectKinds]int32
	opensFailed, closesFailed, inqsFailed, setsFailed [objectKinds]int32
	puts, put1s, gets, browses                        [2]int32
	putBytes, getBytes, browseBytes                   [2]int64
	putsFailed, put1sFailed, getsFailed, browsFailed  int32
	commits, commitsFailed, backouts                  int32
	conns, discs, breaks, connsMax                    int32
	expired, purged                                   int32
}

func (c *counts) add(d *deed) {
	t := d.objType
	if t < 0 || t >= objectKinds {
		t = 0
	}
	switch d.kind {
	case didOpen:
		tally(&c.opens[t], &c.opensFailed[t], d.failed)
	case didClose:
		tally(&c.closes[t], &c.closesFailed[t], d.failed)
	case didInq:
		tally(&c.inqs[t], &c.inqsFailed[t], d.failed)
	case didSet:
		tally(&c.sets[t], &c.setsFailed[t], d.failed)
	case didPut:
		moved(d, &c.puts, &c.putsFailed, &c.putBytes)
	case didPut1:
		moved(d, &c.put1s, &c.put1sFailed, &c.putBytes)
	case didGet:
		moved(d, &c.gets, &c.getsFailed, &c.getBytes)
	case didBrowse:
		moved(d, &c.browses, &c.browsFailed, &c.browseBytes)
	case didCommit:
		tally(&c.commits, &c.commitsFailed, d.failed)
	case didBackout:
		c.backouts++
	case didConnect:
		c.conns++
	case didDisconnect:
		c.discs++
	case didBreak:
		c.breaks++
	case didExpire:
		c.expired += int32(d.n)
	case didPurge:
		c.purged += int32(d.n)
	}
}

func tally(ok, bad *int32, failed bool) {
	if failed {
		*bad++
	} else {
		*ok++
	}
}

// moved counts a put, get or browse with its bytes.
func moved(d *deed, n *[2]int32, failed *int32, bytes *[2]int64) {
	if d.failed {
		*failed++
		return
	}
	n[d.pers]++
	bytes[d.pers] += int64(d.size)
}

// sizes are the shortest and the longest message of a kind; none counted yet is 0, 0.
type sizes struct{ min, max [2]int32 }

func (s *sizes) add(d *deed, first bool) {
	n := int32(d.size)
	if first {
		s.min[d.pers], s.max[d.pers] = n, n
		return
	}
	s.min[d.pers], s.max[d.pers] = min(s.min[d.pers], n), max(s.max[d.pers], n)
}

// queueCounts are those of one queue.
type queueCounts struct {
	counts
	put, get, browse sizes
	timeSum          [2]int64 // microseconds on the queue, of the messages got
	timeMin, timeMax [2]int64
	opened, closed   time.Time
}

func (c *queueCounts) add(d *deed) {
	c.counts.add(d)
	if d.failed {
		return
	}
	switch d.kind {
	case didPut, didPut1:
		c.put.add(d, c.puts[d.pers]+c.put1s[d.pers] == 1)
	case didBrowse:
		c.browse.add(d, c.browses[d.pers] == 1)
	case didGet:
		first := c.gets[d.pers] == 1
		c.get.add(d, first)
		t := max(d.onQueue.Microseconds(), 0)
		c.timeSum[d.pers] += t
		if first || t < c.timeMin[d.pers] {
			c.timeMin[d.pers] = t
		}
		c.timeMax[d.pers] = max(c.timeMax[d.pers], t)
	}
}

// switchedOn says whether a queue is counted, by its own attribute and the queue manager's: NONE there is off for all.
func switchedOn(all, own string) bool {
	switch {
	case all == "NONE", own == "OFF":
		return false
	case own == "ON":
		return true
	}
	return all == "ON"
}

// count counts a verb of a connection (nil: none), on a queue (nil: none).
func (m *Manager) count(c *Conn, q *Queue, d *deed) {
	cfg := m.eventCfg()
	statQ := q != nil && switchedOn(cfg.statQ, q.cfg.Load().watch.statQ)
	acctMQI, acctQ := c.accounted(cfg, q)
	acct := acctMQI || acctQ
	if !cfg.statMQI && !statQ && !acct {
		return
	}
	if d.kind == didGet {
		d.onQueue = age(m.opt.Clock.Now(), d.put)
	}
	st := &m.ev.stats
	add := func() (due bool) {
		st.mu.Lock()
		defer st.mu.Unlock()
		if cfg.statMQI {
			st.mqi.add(d)
		}
		if statQ {
			st.queue(q).add(d)
		}
		if acct {
			c.account(q, acctMQI, acctQ, d)
			due = d.kind != didDisconnect && d.kind != didBreak && c.acct.overdue(cfg, m.opt.Clock.Now())
		}
		return due
	}
	if add() {
		c.writeAccount(-1)
	}
}

// queue gives the counters of a queue in the interval. Under mu.
func (st *statsState) queue(q *Queue) *queueCounts {
	c := st.queues[q]
	if c == nil {
		if st.queues == nil {
			st.queues = map[*Queue]*queueCounts{}
		}
		c = &queueCounts{}
		st.queues[q] = c
	}
	return c
}

// putDone counts MQPUT and MQPUT1 and raises what they cause when they fail.
func (c *Conn) putDone(op string, h *handle, md *mqi.MD, size int, err error) {
	cc, rc := mqi.Reason(err)
	if rc == mqi.MQRC_PUT_INHIBITED {
		c.inhibited(h.name, rc)
	}
	d := deed{kind: didPut, objType: h.objType, failed: cc == mqi.CCFailed, size: size, pers: persistence(md)}
	if op == "MQPUT1" {
		d.kind = didPut1
	}
	c.m.count(c, h.queue, &d)
}

// getDone counts MQGET and raises what it causes when it fails.
func (c *Conn) getDone(h *handle, md *mqi.MD, gmo *mqi.GMO, size int, err error) {
	if err == ErrHeld { // it goes on when somebody asks
		return
	}
	cc, rc := mqi.Reason(err)
	if rc == mqi.MQRC_GET_INHIBITED {
		c.inhibited(h.name, rc)
	}
	d := deed{kind: didGet, objType: h.objType, failed: cc == mqi.CCFailed || rc == mqi.MQRC_TRUNCATED_MSG_FAILED,
		size: size, pers: persistence(md)}
	if gmo.Options&getBrowse != 0 {
		d.kind = didBrowse
	}
	d.put = [2]string{md.PutDate, md.PutTime}
	c.m.count(c, h.queue, &d)
}

// age is how long ago a message with that PutDate and PutTime was put; 0 when they are none.
func age(now time.Time, put [2]string) time.Duration {
	if len(put[1]) != mqi.MQ_PUT_TIME_LENGTH {
		return 0
	}
	t, err := time.Parse("20060102150405.00", put[0]+put[1][:6]+"."+put[1][6:])
	if err != nil {
		return 0
	}
	return max(now.Sub(t), 0)
}

func persistence(md *mqi.MD) int {
	if md.Persistence == mqi.MQPER_PERSISTENT {
		return 1
	}
	return 0
}

// handleDone counts a verb on a handle that moves no message.
func (c *Conn) handleDone(kind verbKind, h *handle, objType int32, err error) {
	cc, _ := mqi.Reason(err)
	d := deed{kind: kind, objType: objType, failed: cc == mqi.CCFailed}
	var q *Queue
	if h != nil {
		d.objType, q = h.objType, h.queue
	}
	c.m.count(c, q, &d)
}

// unitDone counts MQCMIT and MQBACK.
func (c *Conn) unitDone(kind verbKind, err error) {
	cc, _ := mqi.Reason(err)
	c.m.count(c, nil, &deed{kind: kind, failed: cc == mqi.CCFailed})
}

// ended counts the end of a connection and writes its account.
func (c *Conn) ended(kind verbKind, how int32) {
	c.m.count(c, nil, &deed{kind: kind})
	c.writeAccount(how)
}

// endKind is how a connection ended that did not disconnect.
func (c *Conn) endKind() int32 {
	if c.end == mqi.MQRC_Q_MGR_STOPPING || c.m.rt.stopping.Load() {
		return mqi.MQDISCONNECT_Q_MGR
	}
	return mqi.MQDISCONNECT_IMPLICIT
}
