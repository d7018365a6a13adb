package qmgr

import (
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// START and STOP of server-connection channels. A channel that is stopped starts no instance until it is started. As in the
// vendor's product (from 8.0 on) that is remembered when the queue manager ends, however it does: it is a record of its own in the
// store, since it is the channel's status and no part of its definition. It goes with the channel.

// ClientHost runs the instances of server-connection channels; daemon implements it. Its methods wait for nobody.
type ClientHost interface {
	// Instances lists those that run, in no order.
	Instances() []ChannelInstance
	// EndInstances ends those that match and returns their number: with force at once, else when their clients have ended,
	// who are told.
	EndInstances(force bool, match func(*ChannelInstance) bool) int
}

// SetClientHost says who runs instances. Until it is said, there are none.
func (m *Manager) SetClientHost(h ClientHost) { m.clients.Store(&h) }

func (m *Manager) clientHost() ClientHost {
	if h := m.clients.Load(); h != nil {
		return *h
	}
	return nil
}

// ChannelStopped reports whether a channel takes no clients, because STOP CHANNEL said so.
func (m *Manager) ChannelStopped(name string) bool {
	o := m.lookup(ClassChannel, name)
	return o != nil && o.stopped.Load()
}

// channelRuns reports whether clients use a channel.
func (m *Manager) channelRuns(name string) bool {
	h := m.clientHost()
	return h != nil && slices.ContainsFunc(h.Instances(), func(i ChannelInstance) bool { return i.Channel == name })
}

// serverConn finds the channel of START or STOP CHANNEL when it is one for clients; the other types are channelCommand's.
func (x *exec) serverConn() (*Object, *attr.Reply) {
	o, err := x.m.settled(x.ctx, ClassChannel, x.c.Name)
	switch {
	case err != nil:
		return nil, interrupted(err)
	case o == nil:
		return nil, notFoundOf(ClassChannel, x.c.Name)
	case chlType(o.Def().Kind) != "SVRCONN":
		return nil, x.channelCommand()
	}
	if t, ok := x.c.Get("CHLTYPE"); ok && t != "" && t != "SVRCONN" {
		return nil, wrongType(o.Name, o.Def().Kind, attr.Kind("CHANNEL("+t+")"))
	}
	return o, nil
}

// stoppedPrefix begins the key of the record of a stopped channel, which is followed by its name.
const stoppedPrefix = "stopped\x00"

// stoppedRecord is its value: a version.
var stoppedRecord = []byte{1}

// loadStopped reads which channels were stopped.
func (m *Manager) loadStopped() error {
	return m.opt.Store.Range(store.TableChannels, []byte(stoppedPrefix), nil, func(k, _ []byte) error {
		name, ours := strings.CutPrefix(string(k), stoppedPrefix)
		if o := m.lookup(ClassChannel, name); ours && o != nil {
			o.stopped.Store(true)
		}
		return nil
	})
}

// latchedConn is serverConn, and keeps other commands away from the channel until this one is complete.
func (x *exec) latchedConn() (*Object, *attr.Reply) {
	o, r := x.serverConn()
	if r != nil {
		return nil, r
	}
	objs, err := x.m.latch(x.ctx, x.p, key{ClassChannel, o.Name})
	switch {
	case err != nil:
		return nil, interrupted(err)
	case objs[0].Def() == nil: // deleted meanwhile
		return nil, notFoundOf(ClassChannel, x.c.Name)
	}
	return objs[0], nil
}

// remember hands the new state of a channel to the store. It holds from now on, and no more if the store refuses it.
func (x *exec) remember(o *Object, stopped bool) *attr.Reply {
	u := x.p.newUnit(x.success(o.Name))
	if stopped {
		u.tx.Set(store.TableChannels, []byte(stoppedPrefix+o.Name), stoppedRecord)
	} else {
		u.tx.Unset(store.TableChannels, []byte(stoppedPrefix+o.Name))
	}
	u.onUndo(func() { o.stopped.Store(!stopped) })
	return x.submit(u)
}

// startChannel runs START CHANNEL: a stopped channel takes clients again. One that takes them already is no error, since
// its instances are started by clients.
func (x *exec) startChannel() *attr.Reply {
	o, r := x.latchedConn()
	if r != nil {
		return r
	}
	if o.stopped.Swap(false) {
		return x.remember(o, false)
	}
	return x.success(o.Name)
}

// stopChannel runs STOP CHANNEL. Without CONNAME and QMNAME the channel is stopped as a whole, unless STATUS(INACTIVE) lets
// clients come again.
func (x *exec) stopChannel() *attr.Reply {
	o, r := x.latchedConn()
	if r != nil {
		return r
	}
	status, _ := x.c.Get("STATUS")
	conn, byConn := x.c.Get("CONNAME")
	qmgr, byQMgr := x.c.Get("QMNAME")
	some := byConn && !blank(conn) || byQMgr && !blank(qmgr)
	if some && status == "STOPPED" {
		return conflict(mqi.MQRCCF_PARM_CONFLICT, o.Name, "CONNAME and QMNAME end some instances, so STATUS can only be INACTIVE")
	}
	changed, stopped := false, status != "INACTIVE"
	if !some {
		changed = o.stopped.Swap(stopped) != stopped
	}
	mode, _ := x.c.Get("MODE")
	n := 0
	if h := x.m.clientHost(); h != nil {
		n = h.EndInstances(mode == "FORCE" || mode == "TERMINATE", func(i *ChannelInstance) bool {
			// A client is no queue manager, so none fits a QMNAME.
			return i.Channel == o.Name && (blank(conn) || sameHost(conn, i.ConnName)) && blank(qmgr)
		})
	}
	switch {
	case changed:
		return x.remember(o, stopped)
	case n == 0 && !x.yes("IGNSTATE"):
		return failed(mqi.MQRCCF_CHANNEL_NOT_ACTIVE, msgChannelIdle, o.Name)
	}
	return x.success(o.Name)
}

// sameHost compares a CONNAME with the address of an instance. A port, which the vendor's product takes and ignores here,
// may follow in brackets.
func sameHost(conn, addr string) bool {
	conn, _, _ = strings.Cut(strings.TrimSpace(conn), "(")
	return strings.EqualFold(conn, addr)
}

// quiescing is the reason with which calls that ask for it (FAIL_IF_QUIESCING) fail: the queue manager ends, or the
// client's channel is being stopped. 0 is neither.
func (c *Conn) quiescing() mqi.RC {
	switch {
	case c.m.rt.quiescing.Load():
		return mqi.MQRC_Q_MGR_QUIESCING
	case c.chlEnd.Load():
		return mqi.MQRC_CONNECTION_QUIESCING
	}
	return 0
}

// QuiesceChannel tells the connection that its channel is being stopped: gets that asked for it end, later calls that ask
// for it fail, both with 2202. It may be called from anywhere.
func (c *Conn) QuiesceChannel() {
	c.chlEnd.Store(true)
	for _, h := range c.openHandles() {
		if h.queue == nil {
			continue
		}
		q := h.queue
		q.under(func() {
			q.wait.endIf(func(w *waiter) bool { return w.quiet && w.h.conn == c }, waitResult{rc: mqi.MQRC_CONNECTION_QUIESCING})
		})
	}
}

// LimitReached raises Channel Not Available: a client was refused for want of an instance. qualifier is one of MQRQ_*.
func (m *Manager) LimitReached(channel, addr string, qualifier int32) {
	m.RaiseEvent(mqi.Event{Reason: mqi.MQRC_CHANNEL_NOT_AVAILABLE, Qualifier: qualifier, Channel: channel, ConnName: addr})
}
