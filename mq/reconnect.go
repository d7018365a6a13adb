package mq

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Reconnect says how a lost connection is made again: by the verb that finds it lost, or whose queue manager or channel is
// ending (reasons 2009, 2161, 2162, 2202). Queues, topics and subscriptions are opened again, and the verb goes on, unless
// that could do harm:
//
//   - A unit of work that was under way is gone. The verb, and all that belong to the unit, end with BackedOut until Commit,
//     which says so once more, or Backout.
//   - Whether a put outside syncpoint, a commit, or puts with Async before a Flush have done their work is not known:
//     CallInterrupted.
//
// Some things begin anew: a browse at the first message, a nondurable subscription with what is published from then on, a
// temporary queue without messages. Messages sent ahead and not taken are lost, as always when a connection ends.
//
// A unit of work that is under way when the queue manager asks clients to end is not given up: the verb says that it is
// ending, and the connection is made again after the unit.
type Reconnect struct {
	// Timeout is how long it is tried; 0: half an hour. After it the connection has ended, with ReconnectFailed.
	Timeout time.Duration
	// Notify is told of each attempt that failed, and with nil of the one that did not. It must not use the connection.
	Notify func(error)
}

const (
	reconnectTime  = 30 * time.Minute
	reconnectFirst = 50 * time.Millisecond
	reconnectPause = 5 * time.Second
	attemptTime    = 15 * time.Second
)

// unit is what is known of the unit of work.
type unit int

const (
	noUnit unit = iota
	begun
	lost // with the connection
)

// handle is what was opened. Its number is another on each connection.
type handle struct{ hobj int32 }

// none is for verbs that are about no object.
var none = &handle{}

// reopener is opened again on a new connection. It is called with the token.
type reopener interface{ reopen(context.Context) error }

func (c *Conn) opened(r reopener) {
	if c.opt.Reconnect != nil {
		c.handles = append(c.handles, r)
	}
}

func (c *Conn) forget(r reopener) {
	for i, h := range c.handles {
		if h == r {
			c.handles = append(c.handles[:i], c.handles[i+1:]...)
			return
		}
	}
}

// enter notes that a verb is part of the unit of work, and refuses it when the unit is gone.
func (c *Conn) enter(op, object string, syncpoint bool) error {
	switch {
	case !syncpoint:
	case c.unit == lost:
		return fail(op, object, BackedOut, nil)
	default:
		c.unit = begun
	}
	return nil
}

// endUnit runs MQCMIT or MQBACK.
func (c *Conn) endUnit(ctx context.Context, op string, t wire.Type) error {
	if err := c.lock(ctx, op, ""); err != nil {
		return err
	}
	defer c.unlock()
	back := t == wire.MQBACK
	was := c.unit
	c.unit = noUnit
	switch {
	case was == lost && back:
		return nil
	case was == lost, was == begun && c.opt.Reconnect != nil && !c.alive() && !back:
		return fail(op, c.names.qmgr, BackedOut, nil)
	}
	_, err := c.once(ctx, op, c.names.qmgr, t, none, &wire.Empty{}, back || was == noUnit)
	return err
}

// passing reports errors that another attempt, or another address, may not meet.
func passing(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return true
	}
	switch e.Reason {
	case ConnectionBroken, HostNotAvailable, QMgrNotAvailable, QMgrQuiescing, QMgrStopping, ConnectionQuiescing, ChannelNotAvailable,
		QMgrNameError, ObjectInUse, subscriptionInUse: // the last two as long as the server has not noticed the end
		return true
	}
	return false
}

// notStarted reports errors of the channel and its definition: another definition may not meet them.
func notStarted(err error) bool {
	var e *Error
	if errors.As(err, &e) {
		switch e.Reason {
		case UnknownChannel, ChannelConfigError, SSLInitialization, KeyRepositoryError, unsupportedCipher:
			return true
		}
	}
	return false
}

const subscriptionInUse Reason = mqi.MQRC_SUBSCRIPTION_IN_USE

// isLost reports the reasons after which a connection is made again. ending is true while the old one still stands.
func isLost(err error) (is, ending bool) {
	e, ok := err.(*Error)
	if !ok || e.Code != Failed {
		return false, false
	}
	switch e.Reason {
	case ConnectionBroken:
		return true, false
	case QMgrQuiescing, QMgrStopping, ConnectionQuiescing:
		return true, true
	}
	return false, false
}

// revive makes the connection again when it was lost between verbs.
func (c *Conn) revive(ctx context.Context, op, object string) error {
	if c.opt.Reconnect == nil || c.alive() {
		return nil
	}
	return c.reconnect(ctx, op, object)
}

// again makes the connection again when a verb has found it lost, and reports whether the verb is to be run once more. Else err
// is what it ends with.
func (c *Conn) again(ctx context.Context, op, object string, twice bool, err *error) bool {
	if *err == nil || c.opt.Reconnect == nil || c.life.Err() != nil || ctx.Err() != nil {
		return false
	}
	is, ending := isLost(*err)
	ending = ending && c.alive()
	if !is || ending && c.unit == begun {
		return false
	}
	if ending {
		c.link.close(*err)
		twice = true // the verb was refused
	}
	cause := *err
	if *err = c.reconnect(ctx, op, object); *err != nil {
		return false
	}
	if !twice {
		*err = fail(op, object, CallInterrupted, cause)
		return false
	}
	return true
}

// reconnect tries until there is a connection with all that was open. What it returns is the verb's error.
func (c *Conn) reconnect(ctx context.Context, op, object string) error {
	if c.life.Err() != nil {
		return fail(op, object, ConnectionBroken, context.Cause(c.life))
	}
	r := c.opt.Reconnect
	timeout := r.Timeout
	if timeout == 0 {
		timeout = reconnectTime
	}
	limit, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	c.link.wait() // it has ended
	for pause := reconnectFirst; ; pause = min(2*pause, reconnectPause) {
		err := c.attempt(limit)
		if r.Notify != nil {
			r.Notify(err)
		}
		if err == nil {
			break
		}
		if passing(err) {
			select {
			case <-limit.Done():
			case <-time.After(pause/2 + rand.N(pause)): // so that not all clients come at once
				continue
			}
		}
		switch {
		case c.life.Err() != nil:
			return fail(op, object, ConnectionBroken, context.Cause(c.life))
		case ctx.Err() != nil: // the next verb goes on with it
			return fail(op, object, ConnectionBroken, context.Cause(ctx))
		}
		err = fail(op, object, ReconnectFailed, err)
		c.finish(err)
		return err
	}
	c.interrupted = c.interrupted || c.async
	if c.unit == begun {
		c.unit = lost
		return fail(op, object, BackedOut, nil)
	}
	return nil
}

// attempt connects once, and opens what was open.
func (c *Conn) attempt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	if err := c.establish(ctx); err != nil {
		return err
	}
	for _, h := range c.handles {
		if err := h.reopen(ctx); err != nil {
			c.link.close(err)
			c.link.wait()
			return err
		}
	}
	return nil
}
