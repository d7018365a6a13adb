package qmgr

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// clear removes all messages (CLEAR QLOCAL). The queue must not be open (2042), and nothing on it may be uncommitted
// (2055).
func (q *Queue) clear(ctx context.Context) error {
	for {
		n, err := q.clearBatch()
		if err != nil || n < clearBatch {
			return err
		}
	}
}

// clearBatch removes some messages, and says how many.
func (q *Queue) clearBatch() (int, error) {
	u := &uow{}
	defer q.m.leftover(u)
	var rc mqi.RC
	q.under(func() { rc = q.clearSome(u) })
	if rc != 0 {
		return 0, mqi.E("CLEAR QLOCAL", q.obj.Name, rc)
	}
	if len(u.gets) == 0 {
		return 0, nil
	}
	if err := q.m.commit(u); err != nil {
		return 0, storeReason("CLEAR QLOCAL", q.obj.Name, err)
	}
	q.m.count(nil, q, &deed{kind: didPurge, n: len(u.gets)})
	return len(u.gets), nil
}

// clearSome takes messages for u, or says why not. Under mu.
func (q *Queue) clearSome(u *uow) mqi.RC {
	switch {
	case q.dead:
		return mqi.MQRC_Q_DELETED
	case len(q.handles) > 0:
		return mqi.MQRC_OBJECT_IN_USE
	case q.uncom > 0:
		return mqi.MQRC_Q_NOT_EMPTY
	}
	q.each(func(slot uint32, e *entry) bool {
		if e.flags&hidden == 0 {
			u.get(getRef{q: q, slot: slot, seq: e.seq, pers: e.flags&fPersistent != 0})
			q.take(slot, 0)
		}
		return len(u.gets) < clearBatch
	})
	return 0
}

// clearBatch bounds one unit of work of a clear.
const clearBatch = 10000
