package qmgr

import (
	"context"
	"fmt"
	"strings"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// maxDynamicStar is the last position of '*' in DynamicQName: 15 characters must fit behind the 33rd.
const maxDynamicStar = 33

// dynamicName makes the name of a dynamic queue. A '*' is replaced by the unique part; what follows it must be blank.
func dynamicName(pattern string, unique uint64) (string, mqi.RC) {
	pattern = strings.TrimRight(strings.TrimRight(pattern, "\x00"), " ")
	prefix, rest, star := strings.Cut(pattern, "*")
	switch {
	case pattern == "",
		prefix != "" && !validName(prefix),
		star && (len(prefix) >= maxDynamicStar || strings.Trim(rest, " \x00") != ""):
		return "", mqi.MQRC_DYNAMIC_Q_NAME_ERROR
	}
	if !star {
		return prefix, 0
	}
	return fmt.Sprintf("%s%015X", prefix, unique&(1<<60-1)), 0
}

// openDynamic creates a queue from a model and opens it.
func (c *Conn) openDynamic(ctx context.Context, op string, h *handle, model *Object, od *mqi.OD) error {
	d := model.Def()
	deftype := d.Get("DEFTYPE")
	if deftype != "PERMDYN" {
		deftype = "TEMPDYN"
	}
	name, rc := dynamicName(od.DynamicQName, c.m.rt.idSeq.Add(1))
	if rc != 0 {
		return mqi.E(op, od.DynamicQName, rc)
	}
	o, err := c.m.createDynamic(ctx, d, name, deftype, c.who)
	if err != nil {
		return err
	}
	o.made.Store(&maker{c.who.User})
	h.name = name
	h.creator = true
	h.res = &resolved{path: []*Object{o}, base: o, qName: name, qmName: c.m.opt.Name}
	if err := c.bind(op, h); err != nil {
		return err
	}
	od.ObjectName = name
	od.ObjectQMgrName = c.m.opt.Name
	c.resolvedNames(h, od)
	return nil
}

// Close closes a handle (MQCLOSE), and with MQCO_DELETE or MQCO_DELETE_PURGE deletes a permanent dynamic queue. Wrong
// options (2045, 2046), and a queue that cannot be deleted now (2055), leave the handle open: the call may be made again.
func (c *Conn) Close(ctx context.Context, n Handle, options int32) error {
	if err := c.begin("MQCLOSE", ""); err != nil {
		return err
	}
	defer c.verb.Unlock()
	h, err := c.handle("MQCLOSE", n)
	if err != nil {
		return err
	}
	const known = mqi.MQCO_DELETE | mqi.MQCO_DELETE_PURGE | mqi.MQCO_KEEP_SUB | mqi.MQCO_REMOVE_SUB | mqi.MQCO_QUIESCE
	if options&^known != 0 || bits(options&^mqi.MQCO_QUIESCE) > 1 {
		return mqi.E("MQCLOSE", h.name, mqi.MQRC_OPTIONS_ERROR)
	}
	err = c.closeHandle(ctx, h, options)
	c.handleDone(didClose, h, h.objType, err)
	if rc := h.putGroup.unfinished(); err == nil && rc != 0 {
		return mqi.Warn("MQCLOSE", h.name, rc)
	}
	return err
}

// deftypeNow is the DEFTYPE of the handle's queue, "" when there is none.
func (h *handle) deftypeNow() string {
	if h.queue == nil || h.res.remote || len(h.res.path) > 1 {
		return ""
	}
	return h.queue.cfg.Load().deftype
}

func (c *Conn) closeHandle(ctx context.Context, h *handle, options int32) error {
	switch {
	case h.sub != nil:
		return c.closeSub(ctx, h, options)
	case h.topic != nil:
		return c.closeTopic(h, options)
	case h.list != nil:
		return c.closeList(ctx, h, options)
	}
	del := options&(mqi.MQCO_DELETE|mqi.MQCO_DELETE_PURGE) != 0
	deftype := h.deftypeNow()
	switch {
	case options&(mqi.MQCO_KEEP_SUB|mqi.MQCO_REMOVE_SUB) != 0:
		return mqi.E("MQCLOSE", h.name, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	case del && deftype != "PERMDYN" && !(deftype == "TEMPDYN" && h.creator):
		return mqi.E("MQCLOSE", h.name, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE)
	}
	if del {
		if err := c.mayDelete(h); err != nil {
			return err
		}
	}
	q := h.queue
	permanent := del && deftype == "PERMDYN"
	var rc mqi.RC
	if permanent {
		if rc = q.readyToDelete(options&mqi.MQCO_DELETE_PURGE != 0); rc == mqi.MQRC_Q_NOT_EMPTY {
			return mqi.E("MQCLOSE", h.name, rc)
		}
	}
	c.forget(h)
	if q == nil {
		return nil
	}
	q.detach(h)
	if h.input {
		c.m.inputClosed(q)
	}
	if c.m.topics.over.last(q) {
		return c.m.dropDynamic(ctx, q)
	}
	switch {
	case rc != 0:
		return mqi.E("MQCLOSE", h.name, rc)
	case h.creator && deftype == "TEMPDYN", permanent:
		return c.m.dropDynamic(ctx, q)
	}
	return nil
}

func (c *Conn) forget(h *handle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.handles[h.num] == h { // those of a list have no number of their own
		delete(c.handles, h.num)
		c.opened -= h.weight()
	}
}

// readyToDelete decides about MQCO_DELETE of a permanent dynamic queue: nothing uncommitted, and nothing at all
// unless it is purged.
func (q *Queue) readyToDelete(purge bool) mqi.RC {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.dead:
		return mqi.MQRC_Q_DELETED
	case q.uncom > 0, !purge && q.slab.used > 0:
		return mqi.MQRC_Q_NOT_EMPTY
	}
	q.dead = true
	return 0
}

// dropDynamic deletes a dynamic queue. Other handles answer 2052 from now on; what units of work in flight still hold
// of it goes when they end. A permanent queue whose deletion the store refuses stays as it was.
func (m *Manager) dropDynamic(ctx context.Context, q *Queue) error {
	if q.cfg.Load().deftype != "TEMPDYN" {
		q.setDead(true)
		err := m.deleteQueueObject(ctx, q.obj)
		if err != nil && m.objectByQID(q.qid) == q.obj {
			q.setDead(false)
		}
		return err
	}
	var tx store.Tx // it has no record to drop: its messages are removed one by one, without a sync
	q.under(func() {
		q.each(func(_ uint32, e *entry) bool {
			if e.flags&hidden == 0 {
				tx.Remove(q.qid, e.seq, e.flags&fPersistent != 0)
			}
			return true
		})
		q.deletedLocked()
	})
	m.removeLate(&tx)
	return m.deleteQueueObject(ctx, q.obj)
}

// setDead makes other handles answer 2052 while a deletion is under way, and takes that back when it failed.
func (q *Queue) setDead(dead bool) {
	q.mu.Lock()
	q.dead = dead
	q.mu.Unlock()
}
