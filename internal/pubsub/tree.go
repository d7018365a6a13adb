package pubsub

import (
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
)

// DefaultTreeLife is TREELIFE of a new queue manager.
const DefaultTreeLife = 1800 * time.Second

// Options of a tree.
type Options struct {
	Clock clock.Clock   // required
	Life  time.Duration // TREELIFE; 0: unused topics stay. See SetLife
}

// Tree is the topic tree with everything that hangs on it. All methods may be called by several goroutines.
type Tree struct {
	clk  clock.Clock
	seed maphash.Seed
	life atomic.Int64 // nanoseconds
	wake chan struct{}

	mu       invariants.RankedRW[invariants.Topics]
	mem      nodes
	root     *Node // number 0 of mem
	nodes    int   // without the root
	objects  map[string]*Topic
	idle     idleList
	wild     subTrie // trie of wildcard subscriptions
	subs     int
	durable  int // of subs
	retained int
	brief    int // handles of OpenBriefly
	expiry   expiryHeap

	gen   atomic.Uint64 // changes with whatever may change a match; only under mu
	cache [cacheSlots]cacheSlot
}

// New makes a tree that has only its root.
func New(o Options) *Tree {
	t := &Tree{
		clk:     o.Clock,
		seed:    maphash.MakeSeed(),
		wake:    make(chan struct{}, 1),
		objects: map[string]*Topic{},
	}
	t.root = t.mem.make("", 0, nil)
	t.root.uses = 1 // it never goes
	t.life.Store(int64(o.Life))
	t.idle.init()
	return t
}

func (t *Tree) hash(level string) uint32 { return uint32(maphash.String(t.seed, level) >> 32) }

// find returns the node of a topic string, or nil. Called with mu held.
func (t *Tree) find(topic string) *Node { return t.findLevels(topic, topic != "") }

// findLevels is find for a string that has levels if more says so; "" may then be the topic of one empty level.
func (t *Tree) findLevels(topic string, more bool) *Node {
	n := t.root
	for more {
		var level string
		level, topic, more = nextLevel(topic)
		if n = t.child(n, level); n == nil {
			return nil
		}
	}
	return n
}

// child is the node of a level below n, or nil.
func (t *Tree) child(n *Node, level string) *Node {
	if n.kids == 0 {
		return nil
	}
	return t.mem.kidsOf(n).find(&t.mem, t.hash(level), level)
}

// ensure returns the node of a topic string and makes it and its ancestors if they are missing. A node made is
// unused; the caller uses it or lets it go idle. Called with mu held for writing.
func (t *Tree) ensure(topic string) *Node { return t.ensureLevels(topic, topic != "") }

// ensureLevels is ensure with findLevels' meaning of more.
func (t *Tree) ensureLevels(topic string, more bool) *Node {
	n := t.root
	for more {
		var level string
		level, topic, more = nextLevel(topic)
		h := t.hash(level)
		var c *Node
		if n.kids == 0 {
			n.kids = t.mem.kids.add(&kids{})
		} else {
			c = t.mem.kidsOf(n).find(&t.mem, h, level)
		}
		if c == nil {
			c = t.mem.make(level, h, n)
			t.mem.kidsOf(n).add(&t.mem, c)
			t.use(n)
			t.nodes++
		}
		n = c
	}
	return n
}

// use counts a reason to stay.
func (t *Tree) use(n *Node) {
	if n.idle != 0 {
		t.idle.remove(n)
	}
	n.uses++
}

// unuse takes a reason back; with the last one the idle clock starts.
func (t *Tree) unuse(n *Node) {
	n.uses--
	if n.uses&usesMask == 0 {
		t.goIdle(n, t.clk.Now().UnixNano())
	}
}

// Has reports whether a topic is in the tree.
func (t *Tree) Has(topic string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.find(topic) != nil
}

// Count is TPCOUNT: the nodes of the tree, root included.
func (t *Tree) Count() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.nodes + 1
}

// SubCount is the number of subscriptions of all kinds.
func (t *Tree) SubCount() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.subs
}

// DurableCount is the number of durable subscriptions.
func (t *Tree) DurableCount() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.durable
}

// PubHandle is an open handle for output on a topic. Its counters are for TYPE(PUB).
type PubHandle struct {
	conn  string // connection id, 48 hex digits
	node  *Node
	pos   int  // in its ext.pubs; -1 when closed
	brief bool // it is in no list

	numPubs atomic.Int64
	lastPub atomic.Int64
}

// OpenPublisher counts a handle for output. conn is the hexadecimal connection id that DISPLAY shows as ACTCONN.
func (t *Tree) OpenPublisher(topic, conn string) (*PubHandle, error) {
	if err := CheckLen(topic); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.ensure(topic)
	e := t.mem.needExt(n)
	p := &PubHandle{conn: conn, node: n, pos: len(e.pubs)}
	e.pubs = append(e.pubs, p)
	t.use(n)
	return p, nil
}

// OpenBriefly is OpenPublisher for a handle that is closed within the call that opens it, as MQPUT1 does: it keeps the
// topic in use and is shown nowhere.
func (t *Tree) OpenBriefly(topic string) (*PubHandle, error) {
	if err := CheckLen(topic); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.ensure(topic)
	t.use(n)
	t.brief++
	return &PubHandle{node: n, brief: true}, nil
}

// Published counts one publication.
func (p *PubHandle) Published(now time.Time) {
	p.numPubs.Add(1)
	p.lastPub.Store(now.UnixNano())
}

// ClosePublisher takes a handle back. A second call does nothing.
func (t *Tree) ClosePublisher(p *PubHandle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.pos < 0 {
		return
	}
	n := p.node
	if p.brief {
		p.pos = -1
		t.brief--
		t.unuse(n)
		return
	}
	e := t.mem.extOf(n)
	last := len(e.pubs) - 1
	e.pubs[p.pos] = e.pubs[last]
	e.pubs[p.pos].pos = p.pos
	e.pubs[last] = nil
	e.pubs = e.pubs[:last]
	p.pos = -1
	t.mem.dropExtIfEmpty(n)
	t.unuse(n)
}
