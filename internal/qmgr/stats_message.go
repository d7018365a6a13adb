package qmgr

import (
	"sort"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

const (
	statisticsQueue = "SYSTEM.ADMIN.STATISTICS.QUEUE"
	// maxQueuesInMessage bounds the queues one statistics or accounting message tells about.
	maxQueuesInMessage = 100
)

// startStats begins the statistics interval.
func (m *Manager) startStats() {
	st := &m.ev.stats
	st.mu.Lock()
	defer st.mu.Unlock()
	st.since = m.opt.Clock.Now()
	st.timer = m.opt.Clock.AfterFunc(m.statInterval(), m.statsTick)
}

// restartStats lets the interval under way end by a STATINT that has been changed.
func (m *Manager) restartStats() {
	st := &m.ev.stats
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.timer == nil || st.off {
		return
	}
	st.timer.Reset(max(st.since.Add(m.statInterval()).Sub(m.opt.Clock.Now()), 0))
}

func (m *Manager) statInterval() time.Duration {
	return time.Duration(numAttr(m.qmgrDef(), "STATINT", 1800)) * time.Second
}

func (m *Manager) statsTick() {
	st := &m.ev.stats
	st.mu.Lock()
	if st.off {
		st.mu.Unlock()
		return
	}
	st.busy.Add(1)
	st.mu.Unlock()
	m.writeStats()
	st.busy.Done()
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.off {
		st.timer.Reset(m.statInterval())
	}
}

// stopStats ends the interval; what was counted goes out.
func (m *Manager) stopStats() {
	st := &m.ev.stats
	st.mu.Lock()
	was := st.timer != nil && !st.off
	st.off = true
	if st.timer != nil {
		st.timer.Stop()
	}
	st.mu.Unlock()
	invariants.Blocking("waiting for statistics that are written")
	st.busy.Wait()
	if was {
		m.writeStats()
	}
}

// writeStats puts the messages of the interval and begins the next one.
func (m *Manager) writeStats() {
	st := &m.ev.stats
	cfg := m.eventCfg()
	now := m.opt.Clock.Now()
	st.mu.Lock()
	all, queues, since := st.mqi, st.queues, st.since
	st.mqi, st.queues, st.since = counts{}, nil, now
	st.mu.Unlock()
	head := m.intervalParams(since, now)
	if cfg.statMQI {
		all.connsMax = max(all.connsMax, int32(len(m.connections())))
		m.putPCF(statisticsQueue, mqi.MQFMT_ADMIN, counted(mqi.MQCFT_STATISTICS, mqi.MQCMD_STATISTICS_MQI,
			append(head[:len(head):len(head)], all.params(true)...)))
	}
	m.putQueues(statisticsQueue, mqi.MQCFT_STATISTICS, mqi.MQCMD_STATISTICS_Q, head, queues, statisticsOf)
}

// counted is the frame of a statistics or accounting message.
func counted(typ, command int32, params []mqi.CFParam) mqi.CFMsg {
	return mqi.CFMsg{Type: typ, Version: mqi.MQCFH_VERSION_3, Command: command, MsgSeqNumber: 1,
		Control: mqi.MQCFC_LAST, Params: params}
}

// intervalParams are what every such message begins with.
func (m *Manager) intervalParams(since, now time.Time) []mqi.CFParam {
	return []mqi.CFParam{
		mqi.CFString(mqi.MQCA_Q_MGR_NAME, m.opt.Name),
		mqi.CFString(mqi.MQCAMO_START_DATE, mqDate(since)), mqi.CFString(mqi.MQCAMO_START_TIME, mqTime(since)),
		mqi.CFString(mqi.MQCAMO_END_DATE, mqDate(now)), mqi.CFString(mqi.MQCAMO_END_TIME, mqTime(now)),
		mqi.CFInt(mqi.MQIA_COMMAND_LEVEL, int32(numAttr(m.qmgrDef(), "CMDLEVEL", 941))),
	}
}

// putQueues writes the counters of queues, a group for each, at most maxQueuesInMessage in a message.
func (m *Manager) putQueues(to string, typ, command int32, head []mqi.CFParam, queues map[*Queue]*queueCounts,
	group func(*Queue, *queueCounts) mqi.CFParam) {
	list := make([]*Queue, 0, len(queues))
	for q := range queues {
		list = append(list, q)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].obj.Name < list[j].obj.Name })
	for len(list) > 0 {
		part := list[:min(len(list), maxQueuesInMessage)]
		list = list[len(part):]
		p := append(head[:len(head):len(head)], mqi.CFInt(mqi.MQIAMO_OBJECT_COUNT, int32(len(part))))
		for _, q := range part {
			p = append(p, group(q, queues[q]))
		}
		m.putPCF(to, mqi.MQFMT_ADMIN, counted(typ, command, p))
	}
}

func longs(id int32, v ...int64) mqi.CFParam {
	return mqi.CFParam{Type: mqi.MQCFT_INTEGER64_LIST, ID: id, Ints: v}
}

func pair(id int32, v [2]int32) mqi.CFParam { return mqi.CFInts(id, v[:]...) }

// params are the counters of verbs; connections only for the queue manager.
func (c *counts) params(conns bool) []mqi.CFParam {
	var p []mqi.CFParam
	if conns {
		p = append(p, mqi.CFInt(mqi.MQIAMO_CONNS, c.conns), mqi.CFInt(mqi.MQIAMO_CONNS_FAILED, 0),
			mqi.CFInt(mqi.MQIAMO_CONNS_MAX, c.connsMax), mqi.CFInts(mqi.MQIAMO_DISCS, c.discs, c.breaks, 0))
	}
	for _, k := range [...]struct {
		id, failed int32
		ok, bad    *[objectKinds]int32
	}{
		{mqi.MQIAMO_OPENS, mqi.MQIAMO_OPENS_FAILED, &c.opens, &c.opensFailed},
		{mqi.MQIAMO_CLOSES, mqi.MQIAMO_CLOSES_FAILED, &c.closes, &c.closesFailed},
		{mqi.MQIAMO_INQS, mqi.MQIAMO_INQS_FAILED, &c.inqs, &c.inqsFailed},
		{mqi.MQIAMO_SETS, mqi.MQIAMO_SETS_FAILED, &c.sets, &c.setsFailed},
	} {
		p = append(p, mqi.CFInts(k.id, k.ok[:]...), mqi.CFInts(k.failed, k.bad[:]...))
	}
	p = append(p, c.moves()...)
	p = append(p, mqi.CFInt(mqi.MQIAMO_COMMITS, c.commits), mqi.CFInt(mqi.MQIAMO_COMMITS_FAILED, c.commitsFailed),
		mqi.CFInt(mqi.MQIAMO_BACKOUTS, c.backouts))
	if conns {
		p = append(p, mqi.CFInt(mqi.MQIAMO_MSGS_EXPIRED, c.expired), mqi.CFInt(mqi.MQIAMO_MSGS_PURGED, c.purged))
	}
	return p
}

// moves are the counters of messages.
func (c *counts) moves() []mqi.CFParam {
	return []mqi.CFParam{
		pair(mqi.MQIAMO_PUTS, c.puts), mqi.CFInt(mqi.MQIAMO_PUTS_FAILED, c.putsFailed),
		pair(mqi.MQIAMO_PUT1S, c.put1s), mqi.CFInt(mqi.MQIAMO_PUT1S_FAILED, c.put1sFailed),
		longs(mqi.MQIAMO64_PUT_BYTES, c.putBytes[:]...),
		pair(mqi.MQIAMO_GETS, c.gets), longs(mqi.MQIAMO64_GET_BYTES, c.getBytes[:]...),
		mqi.CFInt(mqi.MQIAMO_GETS_FAILED, c.getsFailed),
		pair(mqi.MQIAMO_BROWSES, c.browses), longs(mqi.MQIAMO64_BROWSE_BYTES, c.browseBytes[:]...),
		mqi.CFInt(mqi.MQIAMO_BROWSES_FAILED, c.browsFailed),
	}
}

var definitionTypes = map[string]int32{"PREDEFINED": mqi.MQQDT_PREDEFINED, "PERMDYN": mqi.MQQDT_PERMANENT_DYNAMIC,
	"TEMPDYN": mqi.MQQDT_TEMPORARY_DYNAMIC, "SHAREDYN": mqi.MQQDT_SHARED_DYNAMIC}

// queueNamed are the parameters that say which queue a group is about.
func queueNamed(q *Queue) []mqi.CFParam {
	d := q.obj.Def()
	return []mqi.CFParam{
		mqi.CFString(mqi.MQCA_Q_NAME, q.obj.Name),
		mqi.CFString(mqi.MQCA_CREATION_DATE, d.Get("CRDATE")), mqi.CFString(mqi.MQCA_CREATION_TIME, d.Get("CRTIME")),
		mqi.CFInt(mqi.MQIA_Q_TYPE, mqi.MQQT_LOCAL), mqi.CFInt(mqi.MQIA_DEFINITION_TYPE, definitionTypes[d.Get("DEFTYPE")]),
	}
}

// statisticsOf is the group of one queue. The depths are those since the last message; asking begins anew.
func statisticsOf(q *Queue, c *queueCounts) mqi.CFParam {
	low, high := q.depthRange()
	p := append(queueNamed(q), mqi.CFInt(mqi.MQIAMO_Q_MIN_DEPTH, int32(low)), mqi.CFInt(mqi.MQIAMO_Q_MAX_DEPTH, int32(high)),
		longs(mqi.MQIAMO64_AVG_Q_TIME, c.average(0), c.average(1)))
	p = append(p, c.moves()...)
	p = append(p, mqi.CFInt(mqi.MQIAMO_MSGS_EXPIRED, c.expired), mqi.CFInt(mqi.MQIAMO_MSGS_PURGED, c.purged))
	return mqi.CFGroup(mqi.MQGACF_Q_STATISTICS_DATA, p...)
}

// average is the mean time on the queue in microseconds.
func (c *queueCounts) average(pers int) int64 {
	if c.gets[pers] == 0 {
		return 0
	}
	return c.timeSum[pers] / int64(c.gets[pers])
}

// depthRange gives the lowest and highest depth since it was last asked.
func (q *Queue) depthRange() (low, high int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &q.use().watch
	d := q.depthLocked()
	low, high = min(w.statLow, d), max(w.statHigh, d)
	w.statLow, w.statHigh = d, d
	return low, high
}

// resetQmgr runs RESET QMGR: TYPE(STATISTICS) ends the statistics interval. What else it can reset is not built.
func (x *exec) resetQmgr() *attr.Reply {
	if v, _ := x.c.Get("TYPE"); v != "STATISTICS" {
		return x.notBuilt()
	}
	x.m.writeStats()
	x.m.restartStats()
	return x.success(x.m.opt.Name)
}
