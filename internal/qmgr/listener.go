package qmgr

import (
	"context"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// running is what a listener or service does now. Its lock is never held over a call into a host.
type running struct {
	mu      invariants.Ranked[invariants.Leaf]
	state   runState
	pid     int
	bound   string // address of a listener
	started time.Time
}

type runState uint8

const (
	runIdle runState = iota
	runStarting
	runRunning
	runStopping
)

var runNames = [...]string{"STOPPED", "STARTING", "RUNNING", "STOPPING"}

// active reports whether the thing is anything but stopped.
func (r *running) active() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state != runIdle
}

// move goes from one state to another; false when it is in a third.
func (r *running) move(from, to runState) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != from {
		return false
	}
	r.state = to
	return true
}

func (r *running) set(s runState, pid int, bound string, at time.Time) {
	r.mu.Lock()
	r.state, r.pid, r.bound, r.started = s, pid, bound, at
	r.mu.Unlock()
}

// snapshot is a copy without the lock.
func (r *running) snapshot() (s runState, pid int, bound string, started time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.pid, r.bound, r.started
}

// runOf returns the running part of a listener or service.
func (o *Object) runOf() *running {
	if r := o.run.Load(); r != nil {
		return r
	}
	o.run.CompareAndSwap(nil, &running{})
	return o.run.Load()
}

// defaultPort is used by a listener with PORT(0).
const defaultPort = "1414"

// listenAddr is host:port of a listener's definition.
func listenAddr(d *Def) string {
	port := d.Get("PORT")
	if port == "0" || port == "" {
		port = defaultPort
	}
	return net.JoinHostPort(d.Get("IPADDR"), port)
}

// startListener runs START LISTENER.
func (x *exec) startListener() *attr.Reply {
	o, r := x.runnable(ClassListener)
	if r != nil {
		return r
	}
	if t := o.Def().Get("TRPTYPE"); t != "TCP" {
		return conflict(mqi.MQRCCF_XMIT_PROTOCOL_TYPE_ERR, o.Name, "TRPTYPE("+t+") cannot be started here; only TCP can")
	}
	if x.m.opt.Listeners == nil {
		return conflict(mqi.MQRCCF_LISTENER_NOT_STARTED, o.Name, "this queue manager runs without a network")
	}
	run := o.runOf()
	if !run.move(runIdle, runStarting) {
		if x.yes("IGNSTATE") {
			return x.success(o.Name)
		}
		return failed(mqi.MQRCCF_LISTENER_RUNNING, msgListenerActive, o.Name)
	}
	if err := x.m.bind(o, run); err != nil {
		return conflict(mqi.MQRCCF_LISTENER_NOT_STARTED, o.Name, "cannot listen on "+listenAddr(o.Def())+": "+err.Error())
	}
	return x.success(o.Name)
}

// bind asks the host for the port of a listener that is STARTING.
func (m *Manager) bind(o *Object, run *running) error {
	d := o.Def()
	bound, err := m.opt.Listeners.Start(o.Name, listenAddr(d), int(d.Int("BACKLOG")))
	if err != nil {
		run.set(runIdle, 0, "", time.Time{})
		return err
	}
	run.set(runRunning, os.Getpid(), bound, m.opt.Clock.Now())
	return nil
}

// stopListener runs STOP LISTENER.
func (x *exec) stopListener() *attr.Reply {
	o, r := x.runnable(ClassListener)
	if r != nil {
		return r
	}
	run := o.runOf()
	if !run.move(runRunning, runStopping) {
		if x.yes("IGNSTATE") {
			return x.success(o.Name)
		}
		return failed(mqi.MQRCCF_LISTENER_STOPPED, msgListenerIdle, o.Name)
	}
	if err := x.m.unbind(o, run); err != nil {
		return conflict(mqi.MQRCCF_LISTENER_STILL_ACTIVE, o.Name, err.Error())
	}
	return x.success(o.Name)
}

func (m *Manager) unbind(o *Object, run *running) error {
	_, pid, bound, at := run.snapshot()
	if err := m.opt.Listeners.Stop(o.Name); err != nil {
		run.set(runRunning, pid, bound, at)
		return err
	}
	run.set(runIdle, 0, "", time.Time{})
	return nil
}

// defaultListener is meant by a START or STOP LISTENER that names none. It exists in every queue manager, and its
// PORT(0) is defaultPort.
const defaultListener = "SYSTEM.DEFAULT.LISTENER.TCP"

// runnable finds the listener or service a START or STOP names, once its definition is in force.
func (x *exec) runnable(c Class) (*Object, *attr.Reply) {
	if c == ClassListener && x.c.Name == "" {
		x.c.Name = defaultListener
	}
	o, err := x.m.settled(x.ctx, c, x.c.Name)
	switch {
	case err != nil:
		return nil, interrupted(err)
	case o == nil:
		return nil, notFoundOf(c, x.c.Name)
	}
	return o, nil
}

// displayLsstatus runs DISPLAY LSSTATUS: the listeners that run.
func (x *exec) displayLsstatus() *attr.Reply {
	var rows []map[string]string
	for _, o := range x.list(x.c.Name, ClassListener) {
		run := o.run.Load()
		if run == nil {
			continue
		}
		state, pid, bound, started := run.snapshot()
		if state == runIdle {
			continue
		}
		d := o.Def()
		host, port, err := net.SplitHostPort(bound)
		if err != nil || blank(d.Get("IPADDR")) {
			host = "*"
		}
		backlog := d.Get("BACKLOG")
		if backlog == "0" {
			backlog = "100"
		}
		rows = append(rows, map[string]string{
			"LISTENER": o.Name, "STATUS": runNames[state], "PID": strconv.Itoa(pid), "STARTDA": dateOrBlank(started),
			"STARTTI": timeOrBlank(started), "DESCR": d.Get("DESCR"), "TRPTYPE": d.Get("TRPTYPE"), "CONTROL": d.Get("CONTROL"),
			"IPADDR": host, "PORT": port, "BACKLOG": backlog,
		})
	}
	q := x.request([]string{"STATUS", "PID"}, nil)
	return orElse(x.showRows("LSSTATUS", q, rows), failed(mqi.MQRCCF_LSTR_STATUS_NOT_FOUND, msgNoListenerStatus, x.c.Name))
}

// startControlled starts what CONTROL says starts with the queue manager.
func (m *Manager) startControlled(ctx context.Context) {
	for _, o := range m.list("*", ClassListener) {
		if ctx.Err() != nil || m.opt.Listeners == nil {
			break
		}
		if !starts(o.Def()) || o.Def().Get("TRPTYPE") != "TCP" {
			continue
		}
		run := o.runOf()
		if !run.move(runIdle, runStarting) {
			continue
		}
		if err := m.bind(o, run); err != nil {
			m.opt.Log.Error().Err(err).Str("listener", o.Name).Str("address", listenAddr(o.Def())).Msg("listener not started")
		}
	}
	for _, o := range m.list("*", ClassService) {
		if ctx.Err() != nil || m.opt.Services == nil {
			break
		}
		if !starts(o.Def()) || blank(o.Def().Get("STARTCMD")) {
			continue
		}
		if err := m.runService(o); err != nil {
			m.opt.Log.Error().Err(err).Str("service", o.Name).Msg("service not started")
		}
	}
}

// starts reports whether CONTROL ties an object's start to the queue manager's.
func starts(d *Def) bool { return d.Get("CONTROL") == "QMGR" || d.Get("CONTROL") == "STARTONLY" }

// stopControlled stops every listener, and the services whose end CONTROL ties to the queue manager's.
func (m *Manager) stopControlled() {
	for _, o := range m.list("*", ClassListener) {
		if run := o.run.Load(); run != nil && run.move(runRunning, runStopping) {
			if err := m.unbind(o, run); err != nil {
				m.opt.Log.Error().Err(err).Str("listener", o.Name).Msg("listener not stopped")
			}
		}
	}
	for _, o := range m.list("*", ClassService) {
		if run := o.run.Load(); run != nil && run.active() && o.Def().Get("CONTROL") == "QMGR" {
			if err := m.endService(o, run); err != nil {
				m.opt.Log.Error().Err(err).Str("service", o.Name).Msg("service not stopped")
			}
		}
	}
}

func dateOrBlank(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return mqDate(t)
}

func timeOrBlank(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return mqTime(t)
}
