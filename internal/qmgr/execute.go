package qmgr

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Pending is a command that was accepted. Its reply comes from Wait; the change takes effect whether anybody waits or not.
type Pending struct {
	m     *Manager
	objs  []*Object     // latched until the outcome is known
	ready chan struct{} // closed when ticket or reply is set

	ticket store.Ticket // nil for a command that changes nothing durable
	unit   *unit
	cmd    *exec // the command; nil for the queue manager's own changes

	once     sync.Once
	reply    *attr.Reply
	released atomic.Bool
	over     bool // finished, or handed to the store: nothing is left to do for who began it
}

// unit is one change on its way: what goes to the store, and what happens in memory on either outcome.
type unit struct {
	tx   store.Tx
	swap []func() // in order, after it is durable; no lock is held
	undo []func() // in reverse order, when it is refused
	ok   *attr.Reply

	changes []change // for configuration events
	id      auth.Identity
	origin  int32 // MQEVO_*
}

func (u *unit) onSwap(f func()) { u.swap = append(u.swap, f) }
func (u *unit) onUndo(f func()) { u.undo = append(u.undo, f) }

// exec is one command in execution.
type exec struct {
	m   *Manager
	ctx context.Context
	c   *attr.Command
	id  auth.Identity
	p   *Pending

	unseen []*Object // what DISPLAY left out, for lack of authority
}

// Execute runs a command to its end.
func (m *Manager) Execute(ctx context.Context, c *attr.Command, id auth.Identity) *attr.Reply {
	return m.Submit(ctx, c, id).Wait(ctx)
}

// Submit checks a command and hands its change to the store. Commands that change nothing are complete when it
// returns. A command that meets an object whose change is under way completes that one first.
func (m *Manager) Submit(ctx context.Context, c *attr.Command, id auth.Identity) *Pending {
	p := newPending(m)
	defer p.end()
	x := &exec{m: m, ctx: ctx, c: c, id: id, p: p}
	p.cmd = x
	if r := x.run(); r != nil {
		p.finish(r)
	}
	return p
}

// run returns the reply, or nil when a unit was submitted.
func (x *exec) run() *attr.Reply {
	if m := x.m; m.state.Load() >= stateQuiescing {
		return failed(mqi.MQRC_Q_MGR_QUIESCING, msgQuiescing, m.opt.Name)
	}
	if r := x.refuseForeign(); r != nil {
		return r
	}
	if r := x.expandInserts(); r != nil {
		return r
	}
	if r := x.authorized(); r != nil {
		return r
	}
	if h, ok := handlers[x.c.Verb+" "+x.c.Object]; ok {
		return x.hidden(h(x))
	}
	switch x.c.Verb {
	case "DEFINE":
		return x.define()
	case "ALTER":
		return x.alter()
	case "DELETE":
		return x.delete()
	}
	return x.notBuilt()
}

// newPending begins a change. Whoever latches objects for it defers end.
func newPending(m *Manager) *Pending { return &Pending{m: m, ready: make(chan struct{})} }

// newUnit is what p is to do when it is submitted.
func (p *Pending) newUnit(ok *attr.Reply) *unit {
	p.unit = &unit{ok: ok}
	return p.unit
}

// end is for what ends without finish or submit, by a panic: the objects are not to be latched for ever.
func (p *Pending) end() {
	switch {
	case p.over:
	case p.ticket != nil:
		p.m.settleLater(p)
	default:
		if p.unit != nil {
			p.unit.cancel()
		}
		p.finish(failed(mqi.MQRC_UNEXPECTED_ERROR, msgUnexpected, "internal error"))
	}
}

// finish ends a command that has nothing for the store.
func (p *Pending) finish(r *attr.Reply) {
	p.over = true
	p.once.Do(func() {
		p.reply = r
		defer p.m.commandDone(p)
		defer close(p.ready)
		p.m.release(p)
	})
}

// submit hands the unit over; the command's reply is u.ok when it is durable.
func (x *exec) submit(u *unit) *attr.Reply {
	p := x.p
	p.unit = u
	u.id, u.origin = x.id, x.origin()
	t := x.m.opt.Store.Submit(&u.tx)
	p.ticket = t
	close(p.ready)
	x.m.settleLater(p)
	p.over = true
	return nil
}

// settle returns when the outcome is known and in force, or ctx has ended.
func (p *Pending) settle(ctx context.Context) error {
	invariants.Blocking("waiting for a command")
	select {
	case <-p.ready: // also with a ctx that has ended
	default:
		select {
		case <-p.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if p.ticket != nil {
		if err := p.completed(ctx); err != nil {
			return err
		}
	}
	if !p.released.Load() { // a panic has kept what ended it from that
		p.m.release(p)
	}
	return nil
}

// completed puts the store's answer in force; an error is that of ctx.
func (p *Pending) completed(ctx context.Context) error {
	err := p.ticket.Wait(ctx)
	if err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return err
	}
	p.once.Do(func() { p.complete(err) })
	return nil
}

// complete puts the outcome of the unit in force. Once.
func (p *Pending) complete(err error) {
	u := p.unit
	defer p.m.commandDone(p)
	defer p.m.changed(u, err)
	defer p.m.release(p)
	p.unit = nil
	p.m.noteStore(&u.tx, err)
	if err == nil {
		p.reply = u.ok
		allOf(u.swap)
	} else {
		p.reply = p.m.storeFailed(err)
		u.cancel()
		p.m.opt.Log.Error().Err(err).Msg("a change of objects was refused by the store")
	}
}

// allOf calls functions one after the other, those behind one that panics too.
func allOf(list []func()) {
	i := 0
	defer func() {
		if i < len(list) {
			allOf(list[i+1:])
		}
	}()
	for ; i < len(list); i++ {
		list[i]()
	}
}

// Wait returns the reply when the command's change is durable and in force. It may be called more than once. When
// ctx ends first, the change goes on and the reply says that its outcome is not known.
func (p *Pending) Wait(ctx context.Context) *attr.Reply {
	if err := p.settle(ctx); err != nil {
		return failed(mqi.MQRC_CONNECTION_BROKEN, msgUnexpected, "waiting was ended: "+err.Error()+"; the command may still be carried out")
	}
	return p.reply
}

// storeFailed makes the reply for a change that the store refused, or did not finish.
func (m *Manager) storeFailed(err error) *attr.Reply {
	switch {
	case errors.Is(err, store.ErrFull):
		return failed(mqi.MQRC_STORAGE_MEDIUM_FULL, msgDiskFull, m.opt.Name)
	case errors.Is(err, store.ErrClosed):
		return failed(mqi.MQRC_Q_MGR_STOPPING, msgQuiescing, m.opt.Name)
	case errors.Is(err, store.ErrFailed):
		return failed(mqi.MQRC_CONNECTION_BROKEN, msgUnexpected, err.Error()+"; whether the change was made is known after the next start")
	}
	return failed(mqi.MQRC_RESOURCE_PROBLEM, msgUnexpected, err.Error())
}

// interrupted is the reply when the caller's context ended before a command could begin.
func interrupted(err error) *attr.Reply {
	return failed(mqi.MQRC_CONNECTION_BROKEN, msgUnexpected, err.Error()+"; nothing was changed")
}

func failed(rc mqi.RC, id string, inserts ...string) *attr.Reply {
	return &attr.Reply{CC: int32(mqi.CCFailed), RC: int32(rc), Msgs: []attr.Message{{ID: id, Inserts: inserts}}}
}

func done(id string, inserts ...string) *attr.Reply {
	return &attr.Reply{Msgs: []attr.Message{{ID: id, Inserts: inserts}}}
}

// refused turns an error of a verb into a reply.
func refused(err error, id string, inserts ...string) *attr.Reply {
	_, rc := mqi.Reason(err)
	return failed(rc, id, inserts...)
}

// success is the reply with the verb's own message.
func (x *exec) success(inserts ...string) *attr.Reply {
	id := ""
	if x.c.Spec != nil {
		id = x.c.Spec.Success
	}
	for i := range inserts {
		inserts[i] = shownSub(inserts[i])
	}
	return done(id, inserts...)
}

// yes reports whether an option of the form KEY(YES) or a bare word was given.
func (x *exec) yes(key string) bool {
	v, ok := x.c.Get(key)
	return ok && (v == "YES" || v == "")
}
