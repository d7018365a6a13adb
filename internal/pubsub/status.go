package pubsub

import "time"

// DISPLAY TPSTATUS.

// StatusType is TYPE of DISPLAY TPSTATUS.
type StatusType uint8

const (
	StatusTopic StatusType = iota
	StatusSub
	StatusPub
)

// Row is one block of DISPLAY TPSTATUS. Which fields are set depends on the type. Times are zero for "never".
type Row struct {
	Topic string

	// TYPE(TOPIC)
	Admin    string // topic object on this very node
	SubCount int
	PubCount int
	Retained bool
	Attrs    Attrs // resolved

	// TYPE(SUB) and TYPE(PUB)
	Conn string // ACTCONN, "" for none

	// TYPE(SUB)
	Sub     *Sub // the subscription: ID, Durable, Type, User
	NumMsgs int64
	LastMsg time.Time
	Resumed time.Time

	// TYPE(PUB)
	NumPubs int64
	LastPub time.Time
}

// Status gives one page of rows: for TYPE(TOPIC) one per topic that fits the filter, else one per subscription or
// publisher of such a topic. A page may be empty and not the last; go on until Page.Done.
func (t *Tree) Status(f *Filter, ty StatusType, p Page) ([]Row, Page) {
	now := t.clk.Now().UnixNano()
	var rows []Row
	emit := func(n *Node, from, max int) (int, bool) {
		if ty != StatusTopic && n.ext == 0 { // nearly all topics of a big tree
			return 0, false
		}
		topic := t.mem.topic(n)
		switch ty {
		case StatusSub:
			return t.mem.extOf(n).subRows(&rows, topic, from, max)
		case StatusPub:
			return t.mem.extOf(n).pubRows(&rows, topic, from, max)
		}
		rows = append(rows, t.mem.topicRow(n, topic, now))
		return 1, false
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	p = t.walk(f, p, emit)
	return rows, p
}

func (m *nodes) topicRow(n *Node, topic string, now int64) Row {
	r := Row{Topic: topic, Retained: m.hasRetained(n, now), Attrs: m.resolveAll(n, true)}
	if e := m.extOf(n); e != nil {
		if e.object != nil {
			r.Admin = e.object.Name
		}
		r.PubCount = len(e.pubs)
		r.SubCount = len(e.subs)
		for _, s := range e.wild {
			if s.counts {
				r.SubCount++
			}
		}
	}
	return r
}

// subRows gives the subscriptions seen at a node: those on its topic string, and those of wildcards that hang here
// and fit it. from counts places in both lists.
func (e *ext) subRows(rows *[]Row, topic string, from, max int) (int, bool) {
	all := len(e.subs) + len(e.wild)
	i := from
	for given := 0; i < all && given < max; i++ {
		var s *Sub
		if i < len(e.subs) {
			s = e.subs[i]
		} else if s = e.wild[i-len(e.subs)]; !s.counts {
			continue
		}
		given++
		*rows = append(*rows, Row{Topic: topic, Conn: s.Conn(), Sub: s, NumMsgs: s.numMsgs.Load(),
			LastMsg: timeOf(s.lastMsg.Load()), Resumed: timeOf(s.resumed.Load())})
	}
	return i - from, i < all
}

func (e *ext) pubRows(rows *[]Row, topic string, from, max int) (int, bool) {
	pubs := e.pubs
	i := from
	for ; i < len(pubs) && i-from < max; i++ {
		p := pubs[i]
		*rows = append(*rows, Row{Topic: topic, Conn: p.conn, NumPubs: p.numPubs.Load(), LastPub: timeOf(p.lastPub.Load())})
	}
	return i - from, i < len(pubs)
}

func timeOf(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}
