package qmgr

import (
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Activity is a picture of what goes on, for a screen that is drawn anew every second (qmgrd top). Its counters only grow
// while the manager runs: rates are differences of two pictures.
type Activity struct {
	Queues []QueueActivity
	Conns  int
	// Topics counts the nodes of the tree (TPCOUNT), Subs the subscriptions (SUBCOUNT).
	Topics, Subs int
	Published    uint64 // publications, whoever looks
	// Published to single topics, since somebody began to look; OtherTopics holds what came for more topics than are told
	// apart.
	ByTopic     []TopicActivity
	OtherTopics uint64
}

// QueueActivity is a local queue.
type QueueActivity struct {
	Name       string
	Depth, Max int
	In, Out    int // open handles
	Puts, Gets uint64
}

// TopicActivity is a topic string that is published to.
type TopicActivity struct {
	Topic     string
	Published uint64
}

const (
	// lookFor is how long publications are counted by topic after the last picture.
	lookFor = 15 * time.Second
	// maxLooked bounds the topics that are told apart.
	maxLooked = 4096
)

// topicLook counts publications. By topic it does so only while somebody looks, so that publishing costs one atomic
// addition otherwise.
type topicLook struct {
	all   atomic.Uint64
	until atomic.Int64 // Unix nanoseconds

	mu    invariants.Ranked[invariants.Leaf] // a leaf
	by    map[string]uint64
	other uint64
}

func (l *topicLook) published(topic string, now time.Time) {
	l.all.Add(1)
	until := l.until.Load()
	if until == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.UnixNano() > until {
		l.by, l.other = nil, 0
		l.until.Store(0)
		return
	}
	if _, ok := l.by[topic]; !ok && len(l.by) >= maxLooked {
		l.other++
		return
	}
	l.by[topic]++
}

// look gives the counts by topic and keeps the counting on.
func (l *topicLook) look(now time.Time) (list []TopicActivity, other uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.by == nil || now.UnixNano() > l.until.Load() {
		l.by, l.other = map[string]uint64{}, 0
	}
	l.until.Store(now.Add(lookFor).UnixNano())
	list = make([]TopicActivity, 0, len(l.by))
	for t, n := range l.by {
		list = append(list, TopicActivity{t, n})
	}
	return list, l.other
}

// Activity takes a picture.
func (m *Manager) Activity() Activity {
	a := Activity{Conns: len(m.connections()), Topics: m.topics.tree.Count(), Subs: m.topics.tree.SubCount(),
		Published: m.look.all.Load()}
	a.ByTopic, a.OtherTopics = m.look.look(m.opt.Clock.Now())
	objs := m.localQueues()
	a.Queues = make([]QueueActivity, 0, len(objs))
	for _, o := range objs {
		a.Queues = append(a.Queues, o.Queue.activity())
	}
	return a
}

func (q *Queue) activity() QueueActivity {
	kept := q.kept()
	q.mu.Lock()
	defer q.mu.Unlock()
	return QueueActivity{Name: q.obj.Name, Depth: q.depthLocked() + kept, Max: q.cfg.Load().maxDepth, In: q.in, Out: q.out,
		Puts: q.watch.puts, Gets: q.watch.gets}
}
