package qmgr

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"crypto/sha256"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Retained publications. Persistent ones are entries of store.TableRetained and change with the unit that publishes;
// nonpersistent ones are kept in memory and end with the queue manager. The topic tree knows which topic has one, by a
// reference whose lowest bit says where it is.
//
// Several units may change one topic at the same time. What is in force in the end must be the same in the store and in
// the tree, so the changes of a topic are numbered under retain.mu in the order in which they are submitted, and come
// into force in that order: a change that overtakes another also ends it.

const (
	retainedTable = store.TableRetained
	retainedQueue = "SYSTEM.RETAINED.PUB.QUEUE"
)

// retainedOp is one change: a new publication, or none (head is nil).
type retainedOp struct {
	topic   string
	head    []byte
	body    []byte
	pers    bool
	expires int64 // Unix milliseconds, 0 never
	ref     pubsub.RetainedRef
	pub     *publication // for subscriptions that are made before it is submitted
	seen    uint64       // newest subscription when its recipients were found
	serial  uint64       // the same as the number of its SUBID, which outlives a restart
	again   bool         // read from a prepared branch: it is serial that tells what was there before the restart
	entry   []byte       // for the store, but for ref; of a persistent one

	at *pubsub.PubHandle // a handle of the topic that is open until the change is in force; nil when there is none
}

// retainStore is the queue manager's retained publications. mu comes before the topic tree's lock and is never held
// over a wait for the disk.
type retainStore struct {
	tree    *pubsub.Tree
	mu      invariants.Ranked[invariants.Retained]
	inForce *sync.Cond               // over mu: changes have come into force
	born    atomic.Uint64            // number of the newest subscription; changes under mu
	last    uint64                   // number of the last change
	mem     retainedMem              // nonpersistent ones in force
	flight  map[string][]*retainedOp // submitted and not in force yet, by topic, in order

	clearing []*cleared // the same of CLEAR TOPICSTR of many
	swept    []*cleared // those in force whose entries are still in the store
	failures uint64     // units that the store refused
	sweep    chan struct{}
}

func (r *retainStore) init(tree *pubsub.Tree) {
	r.tree = tree
	r.inForce = sync.NewCond(&r.mu)
	r.mem.init()
	r.flight = map[string][]*retainedOp{}
	r.sweep = make(chan struct{}, 1)
}

// inStore reports whether a reference is that of a persistent publication.
func inStore(ref pubsub.RetainedRef) bool { return ref&1 != 0 }

// submitUnit hands a unit to the store, with the retained publications it changes.
func (m *Manager) submitUnit(u *uow) store.Ticket {
	if len(u.retained) == 0 {
		return m.opt.Store.Submit(&u.tx)
	}
	r := &m.retain
	more := 0
	for _, op := range u.retained {
		op.prepare()
		more += maxKeyRoom(op.topic) + len(op.entry)
	}
	m.opt.Store.Admit(&u.tx, more) // so that Submit does not wait under the lock
	for {
		now := r.born.Load()
		m.lateCopies(u, now)
		r.mu.Lock()
		if r.born.Load() == now {
			break
		}
		r.mu.Unlock()
	}
	defer r.mu.Unlock()
	if u.tx.Len() == 0 && r.memoryOnly(u.retained) {
		r.atOnce(u.retained)
		u.retained = nil
		return m.opt.Store.Submit(&u.tx)
	}
	for _, op := range u.retained {
		r.order(&u.tx, op)
	}
	return m.opt.Store.Submit(&u.tx)
}

// memoryOnly reports whether changes concern nothing that the store has.
func (r *retainStore) memoryOnly(ops []*retainedOp) bool {
	return !slices.ContainsFunc(ops, func(op *retainedOp) bool { return op.head != nil && op.pers || r.stored(op) })
}

// atOnce puts changes in force that need not wait for the store. Those in flight for the same topics are overtaken.
func (r *retainStore) atOnce(ops []*retainedOp) {
	overtook := false
	for _, op := range ops {
		r.last++
		op.ref = pubsub.RetainedRef(r.last << 1)
		if len(r.flight) > 0 && r.flight[op.topic] != nil {
			delete(r.flight, op.topic)
			overtook = true
		}
		r.apply(op)
	}
	if overtook {
		r.inForce.Broadcast()
	}
}

// lateCopies puts copies of a unit's retained publications on the queues of subscriptions that were made since they were
// put. Such a subscription finds no retained publication yet, and would never hear of this one.
func (m *Manager) lateCopies(u *uow, now uint64) {
	for _, op := range u.retained {
		if op.pub == nil || op.seen == now && !op.again {
			continue
		}
		late := slices.DeleteFunc(op.pub.recipients(m.topics.tree.Match(nil, op.topic)), func(s *pubsub.Sub) bool {
			st, ok := s.Owner.(*subState)
			return !ok || st.newOnly || !op.missed(st)
		})
		for _, s := range late {
			if m.sendCopy(u, op.pub, s) == 0 {
				u.sent = append(u.sent, s)
			}
		}
		op.seen, op.again = now, false
	}
}

// missed reports whether a subscription came after the put.
func (op *retainedOp) missed(st *subState) bool {
	if st.born > op.seen {
		return true
	}
	if !op.again {
		return false
	}
	d := st.obj.Def()
	if d == nil {
		return false
	}
	n, ok := subSerial(d)
	return ok && n > op.serial
}

// addSub puts a subscription into the topic tree. Retained publications up to the number it returns are not sent to it
// by anybody else; those with a higher one are.
func (m *Manager) addSub(s *pubsub.Sub) (upTo uint64, err error) {
	r := &m.retain
	r.mu.Lock()
	defer r.mu.Unlock()
	s.Owner.(*subState).born = r.born.Add(1)
	if err := m.topics.tree.Subscribe(s); err != nil {
		return 0, err
	}
	return r.last, nil
}

// settled waits until no change up to a number is in flight.
func (r *retainStore) settled(upTo uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.flying(upTo) {
		invariants.BlockingBut(&r.mu, "waiting for retained publications under way")
		r.inForce.Wait()
	}
}

func (r *retainStore) flying(upTo uint64) bool {
	if slices.ContainsFunc(r.clearing, func(c *cleared) bool { return c.upTo <= upTo }) {
		return true
	}
	for _, list := range r.flight {
		if uint64(list[0].ref)>>1 <= upTo {
			return true
		}
	}
	return false
}

// order numbers a change and adds what the store has to know of it.
func (r *retainStore) order(tx *store.Tx, op *retainedOp) {
	r.last++
	op.ref = pubsub.RetainedRef(r.last << 1)
	switch {
	case op.head != nil && op.pers:
		op.ref |= 1
		binary.LittleEndian.PutUint64(op.entry[1:], uint64(op.ref))
		tx.Set(retainedTable, retainedKey(op.topic), op.entry)
		op.head, op.body, op.pub, op.entry = []byte{}, nil, nil, nil // the store has it
	case r.stored(op):
		tx.Unset(retainedTable, retainedKey(op.topic))
	}
	r.flight[op.topic] = append(r.flight[op.topic], op)
}

// stored reports whether the store may have an entry for a topic.
func (r *retainStore) stored(op *retainedOp) bool {
	cur, ok := pubsub.RetainedRef(0), false
	if op.at != nil {
		cur, ok = op.at.RetainedRef(r.tree)
	} else {
		cur, ok = r.tree.RetainedRefOf(op.topic)
	}
	return ok && inStore(cur) || slices.ContainsFunc(r.flight[op.topic], func(op *retainedOp) bool { return inStore(op.ref) })
}

// doneChunk bounds one lock hold of done.
const doneChunk = 256

// done puts the changes of a durable unit in force. One that a later change has overtaken is over already. The lock is
// given up after every doneChunk changes: those that are left are in flight, so a new subscription waits for them.
func (r *retainStore) done(ops []*retainedOp) {
	over := false
	defer func() {
		if !over { // a panic: nobody is to wait for them
			r.failed(ops)
		}
	}()
	for list := range slices.Chunk(ops, doneChunk) {
		r.doneSome(list)
	}
	over = true
}

func (r *retainStore) doneSome(ops []*retainedOp) {
	r.mu.Lock()
	defer r.mu.Unlock()
	invariants.Work(len(ops))
	for _, op := range ops {
		list := r.flight[op.topic]
		i := slices.Index(list, op)
		if i < 0 {
			continue
		}
		r.setFlight(op.topic, list[i+1:])
		r.apply(op)
	}
	r.inForce.Broadcast()
}

// failed forgets the changes of a unit that the store refused.
func (r *retainStore) failed(ops []*retainedOp) {
	if len(ops) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures++
	for _, op := range ops {
		list := r.flight[op.topic]
		if i := slices.Index(list, op); i >= 0 {
			r.setFlight(op.topic, slices.Delete(list, i, i+1))
		}
	}
	r.inForce.Broadcast()
}

func (r *retainStore) setFlight(topic string, list []*retainedOp) {
	if len(list) == 0 {
		delete(r.flight, topic)
		return
	}
	r.flight[topic] = list
}

func (r *retainStore) apply(op *retainedOp) {
	if op.head == nil {
		if old, had := r.tree.ClearRetained(op.topic); had {
			r.mem.remove(old)
		}
		return
	}
	var expires time.Time
	if op.expires != 0 {
		expires = time.UnixMilli(op.expires)
	}
	old, had := r.setRef(op, expires)
	if had {
		r.mem.remove(old)
	}
	if !op.pers {
		r.mem.put(op.ref, op.head, op.body)
	}
}

func (r *retainStore) setRef(op *retainedOp, expires time.Time) (old pubsub.RetainedRef, had bool) {
	if op.at != nil {
		return op.at.SetRetained(r.tree, op.ref, expires)
	}
	old, had, _ = r.tree.SetRetained(op.topic, op.ref, expires) // the topic was checked when it was opened
	return old, had
}

// runTopics removes unused topics, and retained publications that are over, until the manager ends.
func (m *Manager) runTopics() {
	m.topics.tree.Run(m.ctx, func(gone []pubsub.RetainedAt) {
		if err := m.retain.expired(m.opt.Store, gone); err != nil && m.ctx.Err() == nil {
			m.opt.Log.Error().Err(err).Int("topics", len(gone)).Msg("expired retained publications not removed from the store")
		}
	})
}

// under runs fn with the lock held, which a panic does not leave behind.
func (r *retainStore) under(fn func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fn()
}

// expired forgets publications whose time is over and that the tree has dropped. A topic that has got another one
// meanwhile keeps that.
func (r *retainStore) expired(st store.Store, gone []pubsub.RetainedAt) error {
	var tx store.Tx
	room := 0
	for i := range gone {
		room += maxKeyRoom(gone[i].Topic)
	}
	st.Admit(&tx, room)
	var t store.Ticket
	r.under(func() {
		invariants.Work(len(gone))
		for i := range gone {
			g := &gone[i]
			r.mem.remove(g.Ref)
			if _, again := r.tree.RetainedRefOf(g.Topic); inStore(g.Ref) && !again && len(r.flight[g.Topic]) == 0 {
				tx.Unset(retainedTable, retainedKey(g.Topic))
			}
		}
		t = st.Submit(&tx) // before anybody else submits for these topics
	})
	return t.Wait(context.Background())
}

// The entry of a persistent publication: version, number, expiry, topic when the key does not hold it, head, body.
const retainedVersion = 1

// maxTopicKey is the longest topic string that is its own key; longer ones are known by their hash.
const maxTopicKey = 4096

func retainedKey(topic string) []byte { return appendRetainedKey(nil, topic) }

func appendRetainedKey(b []byte, topic string) []byte {
	if len(topic) <= maxTopicKey {
		return append(append(b, 't'), topic...)
	}
	sum := sha256.Sum256([]byte(topic))
	return append(append(b, 'h'), sum[:]...)
}

func maxKeyRoom(topic string) int { return 1 + min(len(topic), maxTopicKey) }

// prepare does what takes time before the lock is taken.
func (op *retainedOp) prepare() {
	if op.head != nil && op.pers {
		op.entry = op.encode()
	}
}

func (op *retainedOp) encode() []byte {
	topic := ""
	if len(op.topic) > maxTopicKey {
		topic = op.topic
	}
	b := make([]byte, 0, 32+len(topic)+len(op.head)+len(op.body))
	b = append(b, retainedVersion)
	b = binary.LittleEndian.AppendUint64(b, uint64(op.ref))
	b = binary.LittleEndian.AppendUint64(b, uint64(op.expires))
	b = appendText(b, topic)
	b = binary.AppendUvarint(b, uint64(len(op.head)))
	b = append(b, op.head...)
	return append(b, op.body...)
}

// decodeRetained reads an entry; head and body share its memory.
func decodeRetained(k, v []byte) (*retainedOp, error) {
	ref, expires, topic, rest, err := cutRetained(v)
	if len(k) == 0 || err != nil {
		return nil, errRetained
	}
	op := &retainedOp{ref: ref, pers: true, expires: expires, topic: topic}
	if k[0] == 't' {
		op.topic = string(k[1:])
	}
	op.head, op.body, err = cutHead(rest)
	return op, err
}

// cutRetained reads the beginning of an entry. topic is "" when the key is the topic.
func cutRetained(v []byte) (ref pubsub.RetainedRef, expires int64, topic string, rest []byte, err error) {
	if len(v) < 17 || v[0] != retainedVersion {
		return 0, 0, "", nil, errRetained
	}
	topic, rest, ok := takeText(v[17:])
	if !ok {
		return 0, 0, "", nil, errRetained
	}
	return pubsub.RetainedRef(binary.LittleEndian.Uint64(v[1:])), int64(binary.LittleEndian.Uint64(v[9:])), topic, rest, nil
}

// cutHead is the rest of an entry.
func cutHead(rest []byte) (head, body []byte, err error) {
	n, w := binary.Uvarint(rest)
	if w <= 0 || n > uint64(len(rest)-w) {
		return nil, nil, errRetained
	}
	return rest[w : w+int(n)], rest[w+int(n):], nil
}

// loadRetained puts the persistent retained publications into the tree, but for those that are over.
func (m *Manager) loadRetained() error {
	r := &m.retain
	now := m.opt.Clock.Now().UnixMilli()
	var tx store.Tx
	err := m.opt.Store.Range(retainedTable, nil, nil, func(k, v []byte) error {
		if isClearedKey(k) { // these come first
			c, err := decodeCleared(k, v)
			if err != nil {
				return fmt.Errorf("%q: %w", k, err)
			}
			r.last = max(r.last, c.upTo)
			r.swept = append(r.swept, c)
			return nil
		}
		op, err := decodeRetained(k, v)
		if err != nil {
			return fmt.Errorf("%q: %w", k, err)
		}
		r.last = max(r.last, uint64(op.ref)>>1)
		if gone(r.swept, op.topic, op.ref) {
			return nil
		}
		if op.expires != 0 && op.expires <= now {
			tx.Unset(retainedTable, slices.Clone(k))
			return nil
		}
		op.head, op.body = []byte{}, nil
		r.apply(op)
		return nil
	})
	if len(r.swept) > 0 {
		r.sweepSoon()
	}
	if err != nil || tx.Len() == 0 {
		return err
	}
	_, err = m.opt.Store.Commit(context.Background(), &tx)
	return err
}

// mayRetain says whether a publication can be retained now: the queue that stands for the store of retained
// publications must be there, take messages, and have room. An operator stops retaining by it, as in the product.
func (m *Manager) mayRetain(pub *pubsub.PubHandle) mqi.RC {
	o := m.lookup(ClassQueue, retainedQueue)
	if o == nil || o.Queue == nil {
		return mqi.MQRC_PUT_NOT_RETAINED
	}
	cfg := o.Queue.cfg.Load()
	if cfg.putInhibited {
		return mqi.MQRC_PUT_NOT_RETAINED
	}
	if !pub.MayRetain(m.topics.tree, cfg.maxDepth) {
		return mqi.MQRC_PUT_NOT_RETAINED
	}
	return 0
}

// kept is what CURDEPTH of the two queues counts that stand for the store of retained publications and for that of durable
// subscriptions: as if each were a message there. SYSTEM.DEFAULT.SUB is one of the latter. Called with no lock held.
func (q *Queue) kept() int {
	switch q.obj.Name {
	case retainedQueue:
		return q.m.topics.tree.RetainedCount()
	case durableStore:
		n := q.m.topics.tree.DurableCount()
		if q.m.lookup(ClassSub, templateSub) != nil {
			n++
		}
		return n
	}
	return 0
}

// shownDepth is CURDEPTH.
func (q *Queue) shownDepth() int { return q.depth() + q.kept() }

// retainedReadable says whether retained publications may be sent to subscribers now.
func (m *Manager) retainedReadable() mqi.RC {
	o := m.lookup(ClassQueue, retainedQueue)
	if o == nil || o.Queue == nil || o.Queue.cfg.Load().getInhibited {
		return mqi.MQRC_RETAINED_MSG_Q_ERROR
	}
	return 0
}
