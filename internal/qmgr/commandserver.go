package qmgr

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// What the command server needs beside Submit: where it reads, whether it starts by itself, what kind an object is, and
// the one command that PCF has and MQSC (except on z/OS) has not.

// CommandQueue is the queue that commands in PCF come on: COMMANDQ.
func (m *Manager) CommandQueue() string { return strings.TrimSpace(m.qmgrDef().Get("COMMANDQ")) }

// CommandServerControl is SCMDSERV: QMGR or MANUAL.
func (m *Manager) CommandServerControl() string { return m.qmgrDef().Get("SCMDSERV") }

// CCSID is the queue manager's coded character set.
func (m *Manager) CCSID() int32 { return m.ccsid() }

// KindOf tells the kind of the object with a name, in a class as PCF has them: Q, CHANNEL, AUTHINFO.
func (m *Manager) KindOf(class, name string) (attr.Kind, bool) {
	classes := []Class{Class(class)}
	switch class {
	case "Q":
		classes = []Class{ClassQueue}
	case "CHANNEL":
		classes = []Class{ClassChannel, ClassClntconn}
	}
	for _, c := range classes {
		if o := m.lookup(c, name); o != nil {
			return o.Def().Kind, true
		}
	}
	return "", false
}

// The parameters of a Reset Queue Statistics response; MQSC has no words for them.
var (
	rowStatQueue = attr.Attr{Name: "QUEUE", Type: attr.TName, MaxLen: mqi.MQ_Q_NAME_LENGTH, ID: mqi.MQCA_Q_NAME, Positional: true}
	rowStatHigh  = attr.Attr{Name: "HIGHDEPTH", Type: attr.TInt, ID: mqi.MQIA_HIGH_Q_DEPTH}
	rowStatDeq   = attr.Attr{Name: "MSGSOUT", Type: attr.TInt, ID: mqi.MQIA_MSG_DEQ_COUNT}
	rowStatEnq   = attr.Attr{Name: "MSGSIN", Type: attr.TInt, ID: mqi.MQIA_MSG_ENQ_COUNT}
	rowStatSince = attr.Attr{Name: "RESETINT", Type: attr.TInt, ID: mqi.MQIA_TIME_SINCE_RESET}
)

// ResetQStats runs Reset Queue Statistics: it shows what performance events count of a queue, or of all that a generic
// name fits, and sets the counters to zero. It needs +dsp and +chg; queues that a generic name fits and the user has not
// got them for are left out.
func (m *Manager) ResetQStats(ctx context.Context, c *attr.Command, id auth.Identity) *attr.Reply {
	p := newPending(m)
	defer p.end()
	x := &exec{m: m, ctx: ctx, c: c, id: id, p: p}
	p.cmd = x
	p.finish(x.resetQStats())
	return p.Wait(ctx)
}

func (x *exec) resetQStats() *attr.Reply {
	if x.m.state.Load() >= stateQuiescing {
		return failed(mqi.MQRC_Q_MGR_QUIESCING, msgQuiescing, x.m.opt.Name)
	}
	one := !strings.HasSuffix(x.c.Name, "*")
	var rows []attr.Row
	for _, o := range x.m.list(x.c.Name, ClassQueue) {
		d := o.Def()
		if d == nil || o.Queue == nil {
			if one && d != nil {
				return failed(mqi.MQRCCF_Q_WRONG_TYPE, msgWrongType, o.Name, string(d.Kind), "QLOCAL")
			}
			continue
		}
		if !x.id.Admin {
			n := need{objType: "QUEUE", name: o.Name, auth: auth.Display | auth.Change}
			if lacks, by := x.m.missing(&x.id, &n); lacks != 0 {
				if one {
					return x.denied(&n, lacks, by)
				}
				continue
			}
		}
		rows = append(rows, o.Queue.resetStats(x.m.opt.Clock.Now(), x.m.startedAt))
	}
	if len(rows) == 0 {
		return failed(mqi.MQRC_UNKNOWN_OBJECT_NAME, msgNotFound, x.c.Name)
	}
	return rowsReply(rows)
}

// resetStats gives the counters since the last reset and begins anew.
func (q *Queue) resetStats(now, began time.Time) attr.Row {
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &q.use().watch
	from := began
	if w.resetAt != 0 {
		from = time.Unix(0, w.resetAt)
	}
	num := func(a *attr.Attr, v int64) attr.Item {
		return attr.Item{Key: a.Name, Val: strconv.FormatInt(min(max(v, 0), math.MaxInt32), 10), Attr: a}
	}
	row := attr.Row{Items: []attr.Item{{Key: rowStatQueue.Name, Val: q.obj.Name, Attr: &rowStatQueue},
		num(&rowStatSince, int64(now.Sub(from)/time.Second)), num(&rowStatHigh, int64(w.highest)),
		num(&rowStatEnq, w.enq), num(&rowStatDeq, w.deq)}}
	w.resetAt, w.enq, w.deq, w.highest = now.UnixNano(), 0, 0, q.depthLocked()
	return row
}

// OriginCommandQueue is auth.Identity.Origin of commands that came as messages.
const OriginCommandQueue = "command queue"
