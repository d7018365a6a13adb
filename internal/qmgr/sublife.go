package qmgr

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/pubsub/selector"
	"github.com/qmgrd/qmgrd/internal/store"
)

// What a subscription is while it lives: its place in the topic tree, its parsed definition, its end.

// subState is the Owner of a subscription in the topic tree.
type subState struct {
	obj  *Object
	born uint64 // its number, in the order in which subscriptions are made
	cfg  atomic.Pointer[subCfg]
	gone atomic.Bool // it has left the topic tree

	held subHolders // handles

	newOnly bool // made with MQSO_NEW_PUBLICATIONS_ONLY: what was put before does not come, even if it is committed after
}

// subCfg is what a publication asks of a subscription, parsed once per definition.
type subCfg struct {
	dest, destQMgr string
	queue          *Queue // of a managed subscription
	correl         mqi.ID
	keepCorrel     bool  // copies keep the publisher's CorrelId
	priority       int32 // -3 as published, -1 as the queue says, 0..9
	user           string
	account        mqi.Account
	applID         string
	userData       string
	sel            *selector.Selector
	reqOnly        bool
	psprop         string
	expires        int64 // Unix milliseconds, 0 never
}

// cfgOf is nil for a subscription that is not the queue manager's.
func cfgOf(s *pubsub.Sub) *subCfg {
	st, ok := s.Owner.(*subState)
	if !ok {
		return nil
	}
	return st.cfg.Load()
}

func (m *Manager) parseSubCfg(d *Def) *subCfg {
	c := &subCfg{dest: d.Get("DEST"), destQMgr: d.Get("DESTQMGR"), user: contextUser(d.Get("SUBUSER")),
		applID: d.Get("PUBAPPID"), userData: d.Get("USERDATA"), reqOnly: d.Yes("REQONLY"), psprop: d.Get("PSPROP"),
		expires: d.subExtra().expires}
	if d.Get("DESTCLAS") == "MANAGED" {
		if o := m.lookup(ClassQueue, c.dest); o != nil {
			c.queue = o.Queue
		}
	}
	decodeHex(c.correl[:], d.Get("DESTCORL"))
	c.keepCorrel = c.correl.IsZero()
	decodeHex(c.account[:], d.Get("PUBACCT"))
	switch v := d.Get("PUBPRTY"); v {
	case "ASPUB":
		c.priority = mqi.MQPRI_PRIORITY_AS_PUBLISHED
	case "ASQDEF":
		c.priority = mqi.MQPRI_PRIORITY_AS_Q_DEF
	default:
		n, err := strconv.ParseInt(v, 10, 32)
		if c.priority = int32(n); err != nil || n < 0 || n > 9 {
			c.priority = mqi.MQPRI_PRIORITY_AS_PUBLISHED
		}
	}
	var err error
	if c.sel, err = selector.Parse(d.Get("SELECTOR")); err != nil {
		// Definitions are checked when they are made.
		m.opt.Log.Error().Err(err).Str("sub", d.Name).Msg("selector of a subscription is not readable: it selects nothing")
		c.reqOnly = true
	}
	return c
}

// decodeHex fills to with hexadecimal digits; what is not readable leaves it zero.
func decodeHex(to []byte, s string) {
	if b, err := hex.DecodeString(s); err == nil && len(b) <= len(to) {
		copy(to, b)
	}
}

// subExtra is what is kept of a subscription beside its attributes.
type subExtra struct {
	topic   string // full topic string, as it was when the subscription was made
	group   bool   // MQSO_GROUP_SUB
	shared  bool   // several may have it open
	expires int64  // Unix milliseconds, 0 never
}

func (d *Def) subExtra() (e subExtra) {
	p := strings.SplitN(d.extra, " ", 4)
	if len(p) != 4 || p[0] != "1" {
		return e
	}
	e.group, e.shared = p[1] == "g", p[1] == "s"
	e.expires, _ = strconv.ParseInt(p[2], 10, 64) // written by us
	e.topic = p[3]
	return e
}

// setSubExtra is only for a definition that is not in force yet.
func (d *Def) setSubExtra(e subExtra) {
	g := "-"
	switch {
	case e.group:
		g = "g"
	case e.shared:
		g = "s"
	}
	d.extra = fmt.Sprintf("1 %s %d %s", g, e.expires, e.topic)
}

// expiresAt is when a subscription with this EXPIRY ends.
func expiresAt(now time.Time, tenths int64) int64 {
	if tenths < 0 {
		return 0
	}
	return now.UnixMilli() + tenths*100
}

// newSub makes the subscription of a definition; it is not in the tree yet.
func (m *Manager) newSub(o *Object, d *Def) (*pubsub.Sub, error) {
	full, err := m.fullTopic(d)
	if err != nil {
		return nil, err
	}
	st := &subState{obj: o}
	st.cfg.Store(m.parseSubCfg(d))
	s := &pubsub.Sub{Name: d.Name, Topic: full, Scheme: subScheme(d), Level: uint8(max(0, d.Int("SUBLEVEL"))), Scope: d.Get("SUBSCOPE"),
		Durable: d.Get("DURABLE") != "NO", Type: pubsub.SubAdmin, User: d.Get("SUBUSER"), Owner: st}
	if d.Get("SUBTYPE") == "API" {
		s.Type = pubsub.SubAPI
	}
	if d.subExtra().group {
		s.Group = d.Get("DEST") + " " + d.Get("DESTQMGR") + " " + d.Get("DESTCORL") + " " + d.Get("SUBLEVEL")
	}
	decodeHex(s.ID[:], d.Get("SUBID"))
	return s, nil
}

// subChanged puts a definition of a subscription in force that was there before: what has its place in the tree cannot be altered, so
// it stays there and goes on counting. At the start of the queue manager it enters the tree.
func (m *Manager) subChanged(o *Object, d *Def) {
	if d.Name == templateSub {
		return
	}
	m.topics.ends.set(o, subEnd(d))
	if old := o.sub.Load(); old != nil {
		old.Owner.(*subState).cfg.Store(m.parseSubCfg(d))
		return
	}
	s, err := m.newSub(o, d)
	if err == nil {
		_, err = m.addSub(s)
	}
	if err != nil {
		m.opt.Log.Error().Err(err).Str("sub", d.Name).Msg("subscription not in the topic tree")
		return
	}
	o.sub.Store(s)
}

func (m *Manager) subGone(o *Object, _ *Def) {
	m.topics.ends.set(o, time.Time{})
	if s := o.sub.Swap(nil); s != nil {
		s.Owner.(*subState).gone.Store(true)
		m.topics.tree.Unsubscribe(s)
	}
}

// overQueues are managed queues whose subscription has gone and that somebody still has open: they go with the last
// handle.
type overQueues struct {
	mu  invariants.Ranked[invariants.Managed]
	set map[*Queue]struct{}
}

// mark reports whether a queue can go now; if not, last will say so later.
func (v *overQueues) mark(q *Queue) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !q.inUse() {
		return true
	}
	if v.set == nil {
		v.set = map[*Queue]struct{}{}
	}
	v.set[q] = struct{}{}
	return false
}

// last reports, once, that the last handle of a marked queue is closed.
func (v *overQueues) last(q *Queue) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if _, marked := v.set[q]; !marked || q.inUse() {
		return false
	}
	delete(v.set, q)
	return true
}

// removeSub ends a subscription, with its managed queue once nobody has it open. may decides under the latch, when nobody
// can open the subscription; it is told whether the subscription is there still.
func (m *Manager) removeSub(ctx context.Context, o *Object, may func(there bool) (bool, error)) error {
	p := newPending(m)
	defer p.end()
	objs, err := m.latch(ctx, p, key{o.Class, o.Name})
	if err != nil {
		return mqi.Wrap("MQCLOSE", o.Name, mqi.MQRC_CONNECTION_BROKEN, err)
	}
	d := o.Def()
	there := objs[0] == o && d != nil && m.lookup(o.Class, o.Name) == o
	if ok, err := may(there); !ok || err != nil || !there {
		p.finish(nil)
		return err
	}
	if d.Get("DURABLE") == "NO" {
		m.forget(o, d)
		p.finish(nil)
	} else {
		u := p.newUnit(done(""))
		m.dropObject(u, o)
		x := &exec{m: m, ctx: ctx, p: p}
		x.submit(u)
		if r := p.Wait(ctx); r.Failed() {
			return mqi.Wrap("MQCLOSE", o.Name, mqi.RC(r.RC), errOfReply(r))
		}
	}
	if qn := managedQueue(d); qn != "" {
		if qo := m.lookup(ClassQueue, qn); qo != nil && qo.Queue != nil && m.topics.over.mark(qo.Queue) {
			return m.dropDynamic(ctx, qo.Queue)
		}
	}
	return nil
}

const (
	managedDurable    = "SYSTEM.MANAGED.DURABLE."
	managedNondurable = "SYSTEM.MANAGED.NDURABLE."
)

// dropManagedOrphans removes queues of managed subscriptions that are no more: the queue manager ended between the
// removal of a subscription and the close of its queue.
func (m *Manager) dropManagedOrphans() error {
	used := map[string]bool{}
	for _, o := range m.list("*", ClassSub) {
		used[managedQueue(o.Def())] = true
	}
	var tx store.Tx
	var gone []*Object
	for _, o := range m.list(managedDurable+"*", ClassQueue) {
		if o.Queue != nil && o.Def().Get("DEFTYPE") == "PERMDYN" && !used[o.Name] {
			gone = append(gone, o)
			tx.Unset(tableOf(o.Class), storeKey(o.Class, o.Name))
			tx.DropQueue(o.qid())
		}
	}
	if len(gone) == 0 {
		return nil
	}
	tx.Set(store.TableMeta, []byte(metaNextQID), putBE32(m.nextQID.Load()))
	if _, err := m.opt.Store.Commit(context.Background(), &tx); err != nil {
		return err
	}
	for _, o := range gone {
		m.forget(o, o.Def())
	}
	return nil
}

// subUser is SUBUSER as it is now.
func subUser(s *pubsub.Sub) string {
	if st, ok := s.Owner.(*subState); ok {
		if d := st.obj.Def(); d != nil {
			return d.Get("SUBUSER")
		}
	}
	return s.User
}

// unnamed begins the registry's name of a subscription that has none; its SUBID follows.
const unnamed = "\x00"

// shownSub is a subscription's name for messages: its SUBID when it has none.
func shownSub(name string) string { return strings.TrimPrefix(name, unnamed) }
