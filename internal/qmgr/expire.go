package qmgr

import (
	"errors"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
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
	defer x.mu.Unlock()
	if !x.off {
		x.timer.Reset(expiryScan)
	}
}

func (m *Manager) stopExpirer() {
	x := &m.rt.expire
	x.mu.Lock()
	x.off = true
	if x.timer != nil {
		x.timer.Stop()
	}
	x.mu.Unlock()
	invariants.Blocking("waiting for the expirer")
	x.busy.Wait()
}

// expireAll discards what has expired, queue by queue.
func (m *Manager) expireAll() {
	now := m.opt.Clock.Now().UnixMilli()
	for _, o := range m.localQueues() {
		q, fresh := o.Queue, true
		for more := true; more; {
			var dead []deadMsg
			dead, more = q.expired(now, fresh)
			fresh = false
			if err := m.discard(q, dead); err != nil {
				m.opt.Log.Error().Err(err).Str("qmgr", m.opt.Name).Str("queue", o.Name).
					Msg("expired messages could not be discarded")
				return
			}
		}
	}
}

// scanBatch bounds how many entries one hold of a queue's lock looks at.
const scanBatch = 4096

// sooner is the earlier of two times of expiry, of which 0 is none.
func sooner(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// expired condemns expired messages, looking at a bounded number of entries. more says that the scan is to go on; fresh
// begins it. The scan's place is the entry it looked at last, and moves back when that one leaves, so that it never
// walks twice over what stays.
func (q *Queue) expired(now int64, fresh bool) (dead []deadMsg, more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if fresh {
		if q.soonest == 0 || q.soonest > now {
			return nil, false
		}
		q.scanning, q.scanMin, q.scanPrio, q.scanSlot = true, 0, int8(len(q.lists)-1), 0
	}
	for n := 0; q.scanPrio >= 0; {
		s := q.lists[q.scanPrio].head
		if q.scanSlot != 0 {
			s = q.slab.at(q.scanSlot).next
		}
		for ; s != 0; s = q.slab.at(s).next {
			if n >= scanBatch || len(dead) >= expireBatch {
				return dead, true
			}
			n++
			q.scanSlot = s
			switch e := q.slab.at(s); {
			case e.expire == 0:
			case e.expire <= now && e.flags&(hidden|fLocked) == 0:
				q.condemn(s, &dead)
			default:
				q.scanMin = sooner(q.scanMin, e.expire)
			}
		}
		q.scanPrio--
		q.scanSlot = 0
	}
	q.scanning, q.soonest = false, q.scanMin
	return dead, false
}

// discard removes condemned messages, with the expiration reports they asked for. On failure they come back.
func (m *Manager) discard(q *Queue, dead []deadMsg) error {
	if len(dead) == 0 {
		return nil
	}
	u := &uow{}
	defer m.leftover(u)
	var reports []*report
	q.under(func() {
		for _, d := range dead {
			q.take(d.slot, 0)
			u.get(getRef{q: q, slot: d.slot, seq: d.seq, pers: d.pers})
		}
	})
	for _, d := range dead {
		if !d.rep {
			continue
		}
		rec, err := m.opt.Store.Read(q.qid, d.seq, store.Loc{})
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
