package qmgr

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// metaNextQID is the key of the number below which every queue id has been given out, in store.TableMeta. It is
// written when a queue goes: until then the queues themselves say what is taken.
const metaNextQID = "qmgr.nextqid"

func be32(b []byte) uint32    { return binary.BigEndian.Uint32(b) }
func putBE32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// cutKey splits a store key into class and name.
func cutKey(k []byte) (Class, string, bool) {
	class, name, ok := strings.Cut(string(k), "\x00")
	return Class(class), name, ok
}

// qid is the store's id of a local queue.
func (o *Object) qid() store.QID { return o.Queue.qid }

// hide turns a password into what is kept of it: enough to say later whether another text is the same, never the text.
func hide(secret string) string {
	kept, _ := auth.HashSecret(secret) // its error is one of the random source, which does not fail
	return kept
}

// purge reports whether DELETE may drop messages.
func (x *exec) purge() bool {
	v, ok := x.c.Get("PURGE")
	return ok && v != "NO"
}

// clearQueue runs CLEAR QLOCAL.
func (x *exec) clearQueue() *attr.Reply {
	if r := x.refuseDisposition(); r != nil {
		return r
	}
	o, err := x.m.settled(x.ctx, ClassQueue, x.c.Name)
	switch {
	case err != nil:
		return interrupted(err)
	case o == nil:
		return x.notFound(x.c.Name)
	case o.Queue == nil:
		return failed(mqi.MQRCCF_Q_WRONG_TYPE, msgWrongType, x.c.Name, string(o.Def().Kind), "QLOCAL")
	}
	if err := o.Queue.clear(x.ctx); err != nil {
		if errors.Is(err, store.ErrFull) || errors.Is(err, store.ErrFailed) {
			return x.m.storeFailed(err)
		}
		_, rc := mqi.Reason(err)
		switch rc {
		case mqi.MQRC_OBJECT_IN_USE, mqi.MQRC_Q_NOT_EMPTY:
			return refused(err, msgInUse, o.Name)
		}
		return refused(err, msgUnexpected, err.Error())
	}
	return x.success(o.Name)
}

// createDynamic makes a queue from a model. A temporary one lives in memory only: with the manager it is gone.
func (m *Manager) createDynamic(ctx context.Context, model *Def, name, deftype string, id auth.Identity) (*Object, error) {
	p := newPending(m)
	defer p.end()
	keys := []key{{ClassQueue, name}}
	owned := deftype == "PERMDYN" && !id.Admin && id.User != ""
	if owned {
		keys = append(keys, key{ClassAuthrec, authrecKey("QUEUE", name, "PRINCIPAL", id.User)})
	}
	objs, err := m.latch(ctx, p, keys...)
	if err != nil {
		return nil, mqi.Wrap("MQOPEN", name, mqi.MQRC_CONNECTION_BROKEN, err)
	}
	o := objs[0]
	if o.Def() != nil {
		p.finish(nil)
		return nil, mqi.E("MQOPEN", name, mqi.MQRC_OBJECT_ALREADY_EXISTS)
	}
	d, err := m.dynamicDef(model, name, deftype)
	if err != nil {
		p.finish(nil)
		return nil, mqi.Wrap("MQOPEN", name, mqi.MQRC_UNEXPECTED_ERROR, err)
	}
	if deftype == "TEMPDYN" {
		m.swapDef(o, d, m.newQID(), true)
		p.finish(done(""))
		return o, nil
	}
	u := p.newUnit(done(""))
	m.putObject(u, o, d)
	x := &exec{m: m, ctx: ctx, p: p, id: id}
	if owned { // the queue outlives the queue manager's run, and so do its maker's rights
		all, _ := expandAuths("QUEUE", []string{"ALL"})
		if r := x.changeAuthrec(u, objs[1], all, nil); r != nil {
			p.finish(nil)
			return nil, mqi.Wrap("MQOPEN", name, mqi.RC(r.RC), errOfReply(r))
		}
	}
	x.submit(u)
	if r := p.Wait(ctx); r.Failed() {
		return nil, mqi.Wrap("MQOPEN", name, mqi.RC(r.RC), errOfReply(r))
	}
	return o, nil
}

// dynamicDef is a QLOCAL definition with the values of a model.
func (m *Manager) dynamicDef(model *Def, name, deftype string) (*Def, error) {
	d, err := newDef("QLOCAL", name)
	if err != nil {
		return nil, err
	}
	for i := range model.Schema.Attrs {
		a := &model.Schema.Attrs[i]
		if a.Define == attr.Yes && !a.Positional {
			d.set(a.Name, model.val(i))
		}
	}
	d.set("DEFTYPE", deftype)
	d.stampCreated(m.opt.Clock.Now())
	d.fix()
	return d, nil
}

// deleteQueueObject removes a queue that nobody has open: its messages, its record, its place in the registry.
func (m *Manager) deleteQueueObject(ctx context.Context, o *Object) error {
	p := newPending(m)
	defer p.end()
	keys := []key{{ClassQueue, o.Name}}
	if d := o.Def(); d != nil && d.Get("DEFTYPE") != "TEMPDYN" {
		keys = append(keys, m.keysOf(ClassAuthrec, "QUEUE"+keySep+o.Name+keySep)...)
	}
	objs, err := m.latch(ctx, p, keys...)
	if err != nil {
		return mqi.Wrap("MQCLOSE", o.Name, mqi.MQRC_CONNECTION_BROKEN, err)
	}
	if objs[0] != o || o.Def() == nil {
		p.finish(nil)
		return mqi.E("MQCLOSE", o.Name, mqi.MQRC_UNKNOWN_OBJECT_NAME)
	}
	o.deleting.Store(true)
	u := p.newUnit(done(""))
	if o.Def().Get("DEFTYPE") == "TEMPDYN" {
		// Nothing of it is on disk; a unit with the removal of a table entry would cost a sync.
		m.forget(o, o.Def())
		p.finish(done(""))
		return nil
	}
	m.dropObject(u, o)
	for _, rec := range objs[1:] { // what it may be used for goes with it
		if rec.Def() != nil {
			m.dropObject(u, rec)
		}
	}
	u.onUndo(func() { o.deleting.Store(false) })
	x := &exec{m: m, ctx: ctx, p: p}
	x.submit(u)
	// The handle has gone already: whether the caller goes on waiting or not, the deletion is carried out.
	if r := p.Wait(context.WithoutCancel(ctx)); r.Failed() {
		return mqi.Wrap("MQCLOSE", o.Name, mqi.RC(r.RC), errOfReply(r))
	}
	return nil
}

// replyError carries the text of a failed reply into an error.
type replyError struct{ r *attr.Reply }

func (e replyError) Error() string {
	if len(e.r.Msgs) == 0 {
		return "refused"
	}
	return e.r.Msgs[0].ID + ": " + strings.Join(e.r.Msgs[0].Inserts, " ")
}

func errOfReply(r *attr.Reply) error { return replyError{r} }
