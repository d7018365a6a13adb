package qmgr

import (
	"context"
	"strconv"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Triggering: when a message on a local queue makes the queue manager put a trigger message on the initiation queue.
// The rules are those of facts/mqi.md §10; what a queue decides under its lock is in trigger_watch.go.

// firing is a trigger message that waits for the end of the unit of work that caused it.
type firing struct {
	q     *Queue
	initq string
	tm    mqi.TM
	depth bool // DEPTH: triggering has been switched off
	keep  bool // FIRST and DEPTH: put also when the unit is backed out
}

// trigger adds a trigger message of q to a unit of work, if process and initiation queue are as they must be. It reports
// whether it did. now says that a definition may be changed before it returns.
func (m *Manager) trigger(u *uow, q *Queue, now bool) bool {
	w := &q.cfg.Load().watch
	tm, ok := m.triggerMessage(q, w)
	if !ok {
		return false
	}
	if !q.triggers(w.trigger, m.opt.Clock.Now()) {
		return false
	}
	if w.trigger == mqi.MQTT_DEPTH {
		// Not part of the unit of work: backing it out does not switch triggering on again.
		u.cause(func() { m.changeOwn(q, now, setting{"TRIGGER", "NO"}) })
	}
	u.fired = append(u.fired, &firing{q: q, initq: w.initq, tm: tm, depth: w.trigger == mqi.MQTT_DEPTH, keep: w.trigger != mqi.MQTT_EVERY})
	u.n++
	return true
}

// triggers notes that a trigger message is made. It reports false when there is one already that switches triggering off.
func (q *Queue) triggers(how int32, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.use()
	switch how {
	case mqi.MQTT_DEPTH:
		if q.watch.disarmed {
			return false
		}
		q.watch.disarmed = true
	case mqi.MQTT_FIRST:
		q.watch.lastTrig = clock.Ticks(now)
	}
	q.watch.missed = false
	return true
}

// changeOwn changes attributes of a queue as a consequence of what happened on it. With wait it is done on return.
func (m *Manager) changeOwn(q *Queue, wait bool, values ...setting) {
	change := func() {
		if q.isDead() {
			return
		}
		if err := m.changeQueue(context.Background(), auth.Identity{}, q.obj.Name, values); err != nil {
			m.opt.Log.Warn().Err(err).Str("qmgr", m.opt.Name).Str("queue", q.obj.Name).
				Msg("an attribute could not be changed after an event")
			q.under(func() { q.use().watch.disarmed = false })
		}
	}
	if wait {
		change()
		return
	}
	m.wg.Go(change)
}

// triggerMessage makes the trigger message of a queue; false when its process is not defined, or the initiation queue
// is not there, not open for input, not enabled, or full.
func (m *Manager) triggerMessage(q *Queue, w *watchCfg) (mqi.TM, bool) {
	tm := mqi.TM{QName: q.obj.Name, ProcessName: w.process, TriggerData: w.data}
	cfg := q.cfg.Load()
	switch p := m.lookup(ClassProcess, w.process); {
	case p != nil:
		d := p.Def()
		tm.ApplType, tm.ApplID = applTypeNumber(d), d.Get("APPLICID")
		tm.EnvData, tm.UserData = d.Get("ENVRDATA"), d.Get("USERDATA")
	case w.process == "" && cfg.xmitq: // starts a channel: TRIGDATA names it
	default:
		return tm, false
	}
	o := m.lookup(ClassQueue, w.initq)
	if o == nil || o.Queue == nil || o.Queue == q {
		return tm, false
	}
	return tm, o.Queue.initiates()
}

// initiates reports whether a queue can serve as initiation queue now.
func (q *Queue) initiates() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	cfg := q.cfg.Load()
	return !q.dead && !q.damaged && q.in > 0 && !cfg.xmitq && !cfg.getInhibited && !cfg.putInhibited &&
		q.depthLocked() < cfg.maxDepth
}

// applTypeNumber is APPLTYPE of a process as a number.
func applTypeNumber(d *Def) int32 {
	v := d.Get("APPLTYPE")
	if a, ok := d.Schema.Lookup("APPLTYPE"); ok {
		if e, ok := a.EnumByWord(v); ok {
			return e.Num
		}
	}
	n, err := strconv.ParseInt(v, 10, 32)
	if err != nil {
		return mqi.MQAT_UNIX
	}
	return int32(n)
}

// fire puts the trigger messages of a unit of work that is about to end. One that the initiation queue does not take goes
// to the dead-letter queue. Trigger messages trigger nothing.
func (m *Manager) fire(u *uow, list []*firing) {
	if len(list) == 0 {
		return
	}
	for _, f := range list {
		head, rc := m.ownHead(f.initq, mqi.MQFMT_TRIGGER)
		body, err := f.tm.Append(nil, mqi.NativeCoding(m.ccsid()))
		if err != nil {
			m.opt.Log.Error().Err(err).Str("qmgr", m.opt.Name).Str("queue", f.tm.QName).
				Msg("no trigger message: the texts of queue and process cannot be written in the queue manager's CCSID")
			continue
		}
		if rc == 0 {
			rc = m.putAs(u, f.initq, "", head, body)
		}
		if rc != 0 {
			m.bury(u, "trigger message", rc, f.initq, "", head, body)
		}
	}
	u.fired = nil
}

// unfire takes back trigger messages of puts that never were: DEPTH is switched on again, and each queue is looked at again
// for the messages of others that came meanwhile and were counted behind those.
func (m *Manager) unfire(u *uow, list []*firing) {
	for _, f := range list {
		if !f.keep {
			continue
		}
		u.cause(func() {
			if f.depth {
				m.changeOwn(f.q, true, setting{"TRIGGER", "YES"})
			}
			m.recheck(f.q)
		})
	}
}

// fireBackedOut puts the trigger messages that come although their unit of work was backed out, and looks again at the
// queues that got messages back.
func (m *Manager) fireBackedOut(u *uow) {
	var kept []*firing
	for _, f := range u.fired {
		if f.keep {
			kept = append(kept, f)
		}
	}
	u.fired = nil
	m.fireAlone(kept)
	var last *Queue
	for i := range u.gets {
		if q := u.gets[i].q; q != last {
			m.recheck(q)
			last = q
		}
	}
}

// fireAlone puts trigger messages in a unit of work of their own.
func (m *Manager) fireAlone(list []*firing) {
	if len(list) == 0 {
		return
	}
	u := &uow{}
	defer m.leftover(u)
	m.fire(u, list)
	if err := m.commit(u); err != nil {
		m.opt.Log.Error().Err(err).Str("qmgr", m.opt.Name).Str("queue", list[0].tm.QName).
			Msg("a trigger message could not be stored")
	}
}

// recheck makes a trigger message for messages that are there already: after the last reader closed the queue, after a
// change of its attributes, when the initiation queue was opened, when messages came back.
func (m *Manager) recheck(q *Queue) {
	if w := &q.cfg.Load().watch; w.trigger != mqi.MQTT_FIRST && w.trigger != mqi.MQTT_DEPTH {
		return
	}
	due := false
	q.under(func() { due = q.triggerDue() })
	if !due {
		return
	}
	u := &uow{}
	if m.trigger(u, q, true) {
		m.fireAlone(u.fired)
	}
}

// inputClosed is told that a handle for input has been closed.
func (m *Manager) inputClosed(q *Queue) { m.recheck(q) }

// initiatesAgain is told that a queue can be an initiation queue now: it was opened for input by the first one, or enabled.
// It gets the trigger messages of the queues whose conditions are met already.
func (m *Manager) initiatesAgain(initq *Queue) {
	if _, ok := m.ev.initQs.Load(initq.obj.Name); !ok {
		return
	}
	for _, o := range m.localQueues() {
		if o.Queue.cfg.Load().watch.initq == initq.obj.Name {
			m.recheck(o.Queue)
		}
	}
}

// queueChanged looks whether a queue's new definition lets a trigger message be made, for itself or as initiation queue.
func (m *Manager) queueChanged(q *Queue, old, now *Def) {
	enabled := func(key string) bool { return old.Get(key) != now.Get(key) && now.Get(key) == "ENABLED" }
	if enabled("GET") || parseWatchCfg(old) != parseWatchCfg(now) {
		m.recheck(q)
	}
	if enabled("GET") || enabled("PUT") {
		m.initiatesAgain(q)
	}
}

// noteInitQ remembers that a queue's trigger messages go to its INITQ.
func (ev *events) noteInitQ(cfg *queueCfg) {
	if cfg.watch.trigger != mqi.MQTT_NONE && cfg.watch.initq != "" {
		ev.initQs.Store(cfg.watch.initq, struct{}{})
	}
}

// afterPut does what a message that has got its place causes: a trigger message in the same unit of work, events.
func (m *Manager) afterPut(u *uow, q *Queue, n *newMsg) {
	fx := &n.fx
	if fx.trigger || fx.sinceTrig != 0 && m.intervalOver(n.now, fx.sinceTrig) {
		m.trigger(u, q, !u.quiet)
	}
	if fx.events != 0 && !u.quiet {
		u.cause(func() { m.perform(q, fx.events) })
	}
}

// intervalOver reports whether TRIGINT is over since the last trigger message.
func (m *Manager) intervalOver(now time.Time, last int64) bool {
	ms := numAttr(m.qmgrDef(), "TRIGINT", 999999999)
	return clock.Ticks(now)-last >= int64(ms)*int64(time.Millisecond)
}

// afterRefusal does what a put to a full queue causes.
func (m *Manager) afterRefusal(u *uow, q *Queue, n *newMsg) {
	if n.fx.events != 0 && !u.quiet {
		u.cause(func() { m.perform(q, n.fx.events) })
	}
}

// afterGet does what a message that has been taken causes.
func (m *Manager) afterGet(q *Queue, fx *outcome) {
	if fx.events != 0 {
		m.perform(q, fx.events)
	}
}
