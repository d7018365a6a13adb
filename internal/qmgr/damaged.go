package qmgr

import (
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// msgDamaged: a message cannot be read back.
const msgDamaged = "AMQ7472E" // queue

// setAside takes a message that could not be read out of everybody's way, and says so in the error log, once while the queue
// manager runs. The verb that met it is answered MQRC_OBJECT_DAMAGED; later ones go past it, because one bad place on disk
// must not keep every message behind it from its readers. It stays on the queue, and in its depth, until it is cleared: it is
// not for the queue manager to throw away what may be mended.
func (g *getting) setAside(f *found, cause error) {
	first := false
	g.q.under(func() {
		for _, x := range f.all() {
			if !g.q.slab.valid(x.slot, x.e.seq) {
				continue
			}
			// Of several segments any may be the bad one: together they are no message any more.
			e := g.q.slab.at(x.slot)
			first = first || e.flags&fDamaged == 0
			e.flags |= fDamaged
		}
	})
	if first {
		g.c.m.opt.Log.Error().Str(obs.FieldAMQ, msgDamaged).Str("queue", g.q.obj.Name).Uint64("number", uint64(f.e.seq)).Err(cause).
			Msgf("a message of queue %s is damaged and is served to nobody; the messages behind it are", g.q.obj.Name)
	}
}

// lost is the reason why an open queue can be used no more: it was deleted, or it is damaged.
func (q *Queue) lost() mqi.RC {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.dead:
		return mqi.MQRC_Q_DELETED
	case q.damaged:
		return mqi.MQRC_OBJECT_DAMAGED
	}
	return 0
}
