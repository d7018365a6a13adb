package qmgr

import (
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// watchCfg are the attributes of a local queue that trigger messages and performance events depend on.
type watchCfg struct {
	trigger   int32 // MQTT_*, NONE with NOTRIGGER
	minPrio   uint8
	trigDepth int
	initq     string
	process   string
	data      string

	high, low             int // percent of MAXDEPTH
	evHigh, evLow, evFull bool
	service               int32 // MQQSIE_*
	interval              time.Duration

	statQ, acctQ string
}

var triggerTypes = map[string]int32{"FIRST": mqi.MQTT_FIRST, "EVERY": mqi.MQTT_EVERY, "DEPTH": mqi.MQTT_DEPTH}

var serviceEvents = map[string]int32{"HIGH": mqi.MQQSIE_HIGH, "OK": mqi.MQQSIE_OK}

func parseWatchCfg(d *Def) watchCfg {
	w := watchCfg{
		minPrio:   uint8(min(numAttr(d, "TRIGMPRI", 0), 9)),
		trigDepth: numAttr(d, "TRIGDPTH", 1),
		initq:     d.Get("INITQ"),
		process:   d.Get("PROCESS"),
		data:      d.Get("TRIGDATA"),
		high:      numAttr(d, "QDEPTHHI", 80),
		low:       numAttr(d, "QDEPTHLO", 20),
		evHigh:    d.Get("QDPHIEV") == "ENABLED",
		evLow:     d.Get("QDPLOEV") == "ENABLED",
		evFull:    d.Get("QDPMAXEV") == "ENABLED",
		service:   serviceEvents[d.Get("QSVCIEV")],
		interval:  time.Duration(numAttr(d, "QSVCINT", 999999999)) * time.Millisecond,
		statQ:     d.Get("STATQ"),
		acctQ:     d.Get("ACCTQ"),
	}
	if d.Yes("TRIGGER") {
		w.trigger = triggerTypes[d.Get("TRIGTYPE")]
	}
	return w
}

// queueWatch is what a queue remembers between verbs for triggers and events. Under Queue.mu.
type queueWatch struct {
	lastTrig int64 // of TRIGTYPE(FIRST), clock.Ticks; 0 none since the start
	disarmed bool  // DEPTH has fired, NOTRIGGER is on its way
	missed   bool  // FIRST was due but for a reader, or for nothing being committed: look again at the next commit
	busy     bool  // an event's change of attributes is on its way

	service int64 // start of the service interval, clock.Ticks; 0 not running

	resetAt  int64 // of the counters, Unix nanoseconds; 0 the start of the queue manager
	enq, deq int64
	highest  int

	puts, gets uint64 // since the start

	statLow, statHigh int // depths of the statistics interval
}

// outcome is what a put or get caused, found out under the queue's lock and acted upon without it.
type outcome struct {
	trigger   bool
	sinceTrig int64 // not 0: a trigger message is due if TRIGINT is over since then
	events    perfEvent
}

// perfEvent is a set of performance events.
type perfEvent uint8

const (
	depthHigh perfEvent = 1 << iota
	depthLow
	depthFull
	serviceHigh
	serviceOK
)

// wants reports whether an event is switched on.
func (w *watchCfg) wants(e perfEvent) bool {
	switch e {
	case depthHigh:
		return w.evHigh
	case depthLow:
		return w.evLow
	case depthFull:
		return w.evFull
	case serviceHigh:
		return w.service == mqi.MQQSIE_HIGH
	}
	return w.service == mqi.MQQSIE_OK
}

// triggering counts the messages that TRIGMPRI lets count: all, and those that are surely committed.
func (q *Queue) triggering(minPrio uint8) (all, committed int) {
	for p := int(minPrio); p < len(q.lists); p++ {
		all += q.lists[p].n
	}
	// uncom counts puts and gets that have not ended, got the gets among them.
	return all, max(all-(q.uncom-q.got), 0)
}

// arrived notes a message that has got its place.
func (q *Queue) arrived(e *entry, cfg *queueCfg, now time.Time) (fx outcome) {
	w := &cfg.watch
	depth := q.depthLocked()
	q.watch.enq++
	q.watch.puts++
	q.watch.highest = max(q.watch.highest, depth)
	q.watch.statHigh = max(q.watch.statHigh, depth)
	if w.trigger != mqi.MQTT_NONE && e.prio >= w.minPrio && !cfg.getInhibited {
		q.putTriggers(w, &fx)
	}
	if w.evHigh && depth*100 >= cfg.maxDepth*w.high {
		fx.events |= depthHigh
	}
	switch {
	case w.service == 0:
	case depth == 1:
		q.watch.service = clock.Ticks(now)
	case w.service == mqi.MQQSIE_HIGH && q.overdue(w, now):
		fx.events |= serviceHigh
	}
	return fx
}

// putTriggers decides whether the put of a message that counts is a trigger event, as far as this queue is concerned.
func (q *Queue) putTriggers(w *watchCfg, fx *outcome) {
	n, _ := q.triggering(w.minPrio)
	switch w.trigger {
	case mqi.MQTT_EVERY:
		fx.trigger = true
	case mqi.MQTT_DEPTH:
		fx.trigger = q.in == 0 && n >= w.trigDepth && !q.watch.disarmed
	case mqi.MQTT_FIRST:
		switch {
		case q.in > 0:
			q.watch.missed = true
		case n == 1:
			fx.trigger = true
		default:
			fx.sinceTrig = q.watch.lastTrig
		}
	}
}

// triggerDue reports whether messages that are there ask for a trigger message now.
func (q *Queue) triggerDue() bool {
	cfg := q.cfg.Load()
	w := &cfg.watch
	if q.queueRun == resting || q.in > 0 || q.dead || cfg.getInhibited || q.watch.disarmed {
		return false
	}
	all, committed := q.triggering(w.minPrio)
	need := 1
	if w.trigger == mqi.MQTT_DEPTH {
		need = w.trigDepth
	}
	q.watch.missed = committed < need && all >= need
	return committed >= need
}

// departed notes a message that has been taken. Expired messages are no business of these events.
func (q *Queue) departed(now time.Time) (fx outcome) {
	cfg := q.cfg.Load()
	w := &cfg.watch
	depth := q.depthLocked()
	q.watch.deq++
	q.watch.gets++
	q.watch.statLow = min(q.watch.statLow, depth)
	if w.evLow && depth*100 <= cfg.maxDepth*w.low {
		fx.events |= depthLow
	}
	if w.service != 0 && q.watch.service != 0 {
		switch over := q.overdue(w, now); {
		case over && w.service == mqi.MQQSIE_HIGH:
			fx.events |= serviceHigh
		case !over && w.service == mqi.MQQSIE_OK:
			fx.events |= serviceOK
		}
	}
	q.watch.service = 0
	if depth > 0 {
		q.watch.service = clock.Ticks(now)
	}
	return fx
}

// overdue reports whether the service interval is over.
func (q *Queue) overdue(w *watchCfg, now time.Time) bool {
	return q.watch.service != 0 && clock.Ticks(now)-q.watch.service > int64(w.interval)
}

// refusedFull notes a put that found the queue full.
func (q *Queue) refusedFull(cfg *queueCfg) (fx outcome) {
	if cfg.watch.evFull {
		fx.events = depthFull
	}
	return fx
}
