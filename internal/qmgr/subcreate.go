package qmgr

import (
	"strconv"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub"
	"github.com/qmgrd/qmgrd/internal/store"
)

// How a subscription comes to be, by MQSUB and by DEFINE SUB alike: first it enters the topic tree, so that it misses nothing, then it
// is given the retained publications that fit it. They are one unit of work with its definition: a subscription that cannot
// have them is not made, and a kill leaves both or neither.

// creation is what is being made, and is taken back when it cannot be completed.
type creation struct {
	o   *Object // the subscription
	d   *Def
	ps  *pubsub.Sub
	q   *Object // managed queue
	qd  *Def
	mem bool // nothing of it is stored
}

// enterSub puts the new subscription into the topic tree, and copies of the retained publications that fit it into u. When it
// fails nothing is left in u.
func (m *Manager) enterSub(u *uow, n *creation, newOnly bool) (mqi.RC, error) {
	ps, err := m.newSub(n.o, n.d)
	if err != nil {
		return pubsubRC(err), err
	}
	ps.Owner.(*subState).newOnly = newOnly
	upTo, err := m.addSub(ps)
	if err != nil {
		return pubsubRC(err), err
	}
	n.ps = ps
	if newOnly || cfgOf(ps).reqOnly {
		return 0, nil
	}
	if _, rc := m.sendRetained(u, ps, upTo); rc != 0 {
		m.withdraw(u)
		return rc, nil
	}
	return 0, nil
}

// undoSub takes back what was made for a subscription that could not be completed.
func (m *Manager) undoSub(n *creation) {
	if n.ps != nil {
		n.ps.Owner.(*subState).gone.Store(true)
		m.topics.tree.Unsubscribe(n.ps)
	}
	if n.q == nil {
		return
	}
	qid := n.q.qid()
	m.forget(n.q, n.qd)
	if !n.mem {
		var tx store.Tx // live publications may have come already
		tx.DropQueue(qid)
		tx.Unset(tableOf(n.q.Class), storeKey(n.q.Class, n.q.Name))
		tx.Unset(tableOf(n.o.Class), storeKey(n.o.Class, n.o.Name))
		m.opt.Store.Submit(&tx)
	}
}

// makeSub is for DEFINE SUB: it adds to the unit of a new subscription what comes with it. The subscription is in the topic tree
// from here on, and in force when the unit is durable.
func (x *exec) makeSub(u *unit, n *creation) *attr.Reply {
	m := x.m
	copies := &uow{latched: true}
	afterwards := func() {
		if len(copies.later) > 0 {
			m.wg.Go(copies.unlatched) // waits until the command, of which this is the end, lets its latches go
		}
	}
	u.onUndo(func() {
		m.undoSub(n)
		afterwards()
	})
	rc, err := m.enterSub(copies, n, false)
	switch {
	case err != nil:
		return topicRefused(err, n.d.Name)
	case rc != 0:
		return retainedRefusal(rc, n.d)
	}
	fired := copies.fired
	m.fire(copies, fired)
	u.tx.Join(&copies.tx)
	u.onUndo(func() {
		m.giveBack(copies)
		m.unfire(copies, fired)
	})
	u.onSwap(func() {
		n.o.sub.Store(n.ps)
		m.topics.ends.set(n.o, subEnd(n.d))
		m.reveal(copies)
		afterwards()
	})
	return nil
}

// retainedRefusal says why a new subscription cannot have the retained publications of its topics.
func retainedRefusal(rc mqi.RC, d *Def) *attr.Reply {
	why := "queue " + retainedQueue + " is missing or GET(DISABLED)"
	if rc == mqi.MQRC_RETAINED_NOT_DELIVERED {
		why = "a retained publication cannot be put on its queue " + d.Get("DEST")
	}
	return conflict(rc, d.Name, "no new subscription: "+why+" (reason "+strconv.Itoa(int(rc))+", "+rc.Name()+"); one with REQONLY(YES) is sent none")
}
