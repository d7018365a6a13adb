package qmgr

import (
	"errors"
	"time"

	"github.com/qmgrd/qmgrd/internal/store"
)

// expiryScan is how often every queue is searched for messages whose time is over. A get or browse that meets one
// discards it at once.
const expiryScan = 60 * time.Second

func (m *Manager) startExpirer() {
	x := &m.rt.expire
	x.mu.Lock()
	defer x.mu.Unlock()
	x.timer = m.opt.Clock.AfterFunc(expiryScan, m.expireTick)
}

func (m *Manager) expireTick() {
	x := &m.rt.expire
	x.mu.Lock()
	if x.off {
		x.mu.Unlock()
		return
	}
	x.busy.Add(1)
	x.mu.Unlock()
	m.expireAll()
	m.warnLongUnits()
	x.busy.Done()
	x.mu.Lock()
	if !x.off {
		x.timer.Reset(expiryScan)
	}
	x.mu.Unlock()
}

func (m *Manager) stopExpirer() {
	x := &m.rt.expire
	x.mu.Lock()
	x.off = true
	if x.timer != nil {
		x.timer.Stop()
	}
	x.mu.Unlock()
	x.busy.Wait()
}

// expireAll discards what has expired, queue by queue.
func (m *Manager) expireAll() {
	now := m.opt.Clock.Now().UnixMilli()
	for _, o := range m.localQueues() {
		q := o.Queue
		for after := (place{}); ; {
			dead, last, more := q.expired(now, after)
			if err := m.discard(q, dead); err != nil {
				m.opt.Log.Error().Err(err).Str("qmgr", m.opt.Name).Str("queue", o.Name).
					Msg("expired messages could not be discarded")
				return
			}
			if !more {
				break
			}
			after = last
		}
	}
}

// scanBatch bounds how many entries one hold of a queue's lock looks at.
const scanBatch = 8192

// expired condemns the expired messages behind a place, looking at a bounded number of entries.
func (q *Queue) expired(now int64, after place) (dead []deadMsg, last place, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.soonest == 0 || q.soonest > now {
		return nil, after, false
	}
	if !after.set {
		q.scanMin = 0
	}
	n := 0
	s := q.scanStart(after)
	for s != 0 {
		e := q.slab.at(s)
		last = place{prio: e.prio, seq: e.seq, set: true}
		next := q.following(s)
		switch {
		case e.expire == 0:
		case e.expire <= now && e.flags&(hidden|fLocked) == 0:
			q.condemn(s, &dead)
		case q.scanMin == 0 || e.expire < q.scanMin:
			q.scanMin = e.expire
		}
		q.scanSlot = s
		if n++; n >= scanBatch || len(dead) >= expireBatch {
			return dead, last, next != 0
		}
		s = next
	}
	q.soonest = q.scanMin
	return dead, last, false
}

// scanStart finds where a scan goes on: behind the entry looked at last, or by walking when that has left.
func (q *Queue) scanStart(after place) uint32 {
	if after.set && q.slab.valid(q.scanSlot, after.seq) {
		return q.following(q.scanSlot)
	}
	for p := len(q.lists) - 1; p >= 0; p-- {
		for s := q.lists[p].head; s != 0; s = q.slab.at(s).next {
			if after.behind(q.slab.at(s)) {
				return s
			}
		}
	}
	return 0
}

// following is the next entry in delivery order.
func (q *Queue) following(slot uint32) uint32 {
	e := q.slab.at(slot)
	if e.next != 0 {
		return e.next
	}
	for p := int(e.prio) - 1; p >= 0; p-- {
		if h := q.lists[p].head; h != 0 {
			return h
		}
	}
	return 0
}

// discard removes condemned messages, with the expiration reports they asked for. On failure they come back.
func (m *Manager) discard(q *Queue, dead []deadMsg) error {
	if len(dead) == 0 {
		return nil
	}
	u := &uow{}
	var reports []*report
	q.mu.Lock()
	for _, d := range dead {
		q.take(d.slot, 0)
		u.get(getRef{q: q, slot: d.slot, seq: d.seq, pers: d.pers})
	}
	q.mu.Unlock()
	for _, d := range dead {
		if !d.rep {
			continue
		}
		rec, err := m.opt.Store.Read(q.qid, d.seq, d.loc)
		if err == nil {
			if h, err := decodeHead(rec.Head); err == nil {
				reports = append(reports, expiryReports(m, h, rec.Body)...)
			}
		} else if !errors.Is(err, store.ErrNotFound) {
			m.opt.Log.Warn().Err(err).Str("queue", q.obj.Name).Msg("no expiration report: message cannot be read")
		}
	}
	for _, r := range reports {
		m.sendReport(u, r)
	}
	m.count(nil, q, &deed{kind: didExpire, n: len(dead)})
	return m.commit(u)
}
