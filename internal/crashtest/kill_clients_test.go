package crashtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/qmgrd/qmgrd/mq"
)

// The clients of T-KILL. Each works until its connection is gone, and notes before a call what it asks for and behind
// it what it was answered.

const (
	killQueues = 4
	subQueue   = "K.SUB"   // of a subscription to everything that is published
	subQueue2  = "K.SUB.2" // of another one: it has what the first one has
	subTopics  = 3
)

func killQueue(n int) string { return fmt.Sprint("K.", n) }

// worker is one client.
type worker struct {
	l    *ledger
	name string // of its messages: round and client
	rnd  *rand.Rand
	c    *mq.Conn
	q    map[string]*mq.Queue
	n    int
}

func (w *worker) open(ctx context.Context, k *child) error {
	var err error
	if w.c, err = k.connect(ctx); err != nil {
		return err
	}
	w.q = map[string]*mq.Queue{}
	for i := range killQueues {
		if w.q[killQueue(i)], err = w.c.Open(ctx, killQueue(i), mq.InputShared|mq.Output); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) run(ctx context.Context) error {
	defer w.c.Close()
	for {
		var err error
		switch r := w.rnd.IntN(10); {
		case r < 3:
			u := &lunit{state: unitCommitting}
			if err = w.put(ctx, u, mq.PutOptions{}); err == nil {
				w.l.to(u, unitDone)
			}
		case r < 5:
			err = w.getNow(ctx)
		default:
			err = w.unit(ctx)
		}
		if err != nil {
			return err
		}
	}
}

func (w *worker) message() (*mq.Message, string) {
	w.n++
	id := fmt.Sprintf("%s.%d", w.name, w.n)
	m := mq.NewMessage([]byte(id + "|" + filler(id, bodySize(id))))
	m.Persistence = mq.Persistent
	return m, id
}

func (w *worker) put(ctx context.Context, u *lunit, o mq.PutOptions) error {
	m, id := w.message()
	q := killQueue(w.rnd.IntN(killQueues))
	w.l.sending(q, id, u)
	return w.q[q].Put(ctx, m, o)
}

// getNow gets outside syncpoint: without an answer nobody knows what it took.
func (w *worker) getNow(ctx context.Context) error {
	q := killQueue(w.rnd.IntN(killQueues))
	w.l.asking(q, 1)
	m, err := w.q[q].Get(ctx, mq.GetOptions{})
	if err == nil {
		u := &lunit{}
		w.l.received(q, m.Body, u)
		w.l.to(u, unitDone)
	}
	if err == nil || errors.Is(err, mq.NoMsgAvailable) {
		w.l.asking(q, -1)
		return nil
	}
	return err
}

func (w *worker) unit(ctx context.Context) error {
	u := &lunit{}
	for range 1 + w.rnd.IntN(6) {
		var err error
		if w.rnd.IntN(2) == 0 {
			err = w.put(ctx, u, mq.PutOptions{Syncpoint: true})
		} else {
			q := killQueue(w.rnd.IntN(killQueues))
			var m *mq.Message
			if m, err = w.q[q].Get(ctx, mq.GetOptions{Syncpoint: true}); err == nil {
				w.l.received(q, m.Body, u)
			}
		}
		if err != nil && !errors.Is(err, mq.NoMsgAvailable) {
			return err
		}
	}
	if w.rnd.IntN(4) == 0 {
		w.l.to(u, unitUndone)
		err := w.c.Backout(ctx)
		if err == nil {
			w.l.count(&w.l.backouts)
		}
		return err
	}
	w.l.to(u, unitCommitting)
	if err := w.c.Commit(ctx); err != nil {
		return err
	}
	w.l.to(u, unitDone)
	w.l.count(&w.l.commits)
	return nil
}

// publisher publishes retained publications on topics of its own, and makes and removes durable subscriptions.
func (w *worker) publisher(ctx context.Context) error {
	defer w.c.Close()
	for i := 0; ; i++ {
		if i%4 == 3 {
			if err := w.subscription(ctx, fmt.Sprintf("S.%s.%d", w.name, i), i%8 == 7); err != nil {
				return err
			}
			continue
		}
		if err := w.publications(ctx, 1+w.rnd.IntN(3)); err != nil {
			return err
		}
	}
}

// publications publishes to so many topics: one outside syncpoint, more as a unit of work.
func (w *worker) publications(ctx context.Context, n int) error {
	u := &lunit{}
	o := mq.PubOptions{Retain: true}
	if o.Syncpoint = n > 1; !o.Syncpoint {
		u.state = unitCommitting
	}
	tries := map[string]string{}
	for _, k := range w.rnd.Perm(subTopics)[:n] {
		topic := fmt.Sprint("k/", k)
		m, id := w.message()
		w.l.sending(subQueue, id, u)
		tries[topic] = id
		w.l.mu.Lock()
		w.l.tries[topic] = id
		w.l.mu.Unlock()
		t, err := w.c.OpenTopic(ctx, topic)
		if err == nil {
			err = t.Publish(ctx, m, o)
		}
		if err == nil {
			err = t.Close(ctx)
		}
		if err != nil {
			return err
		}
	}
	if o.Syncpoint {
		w.l.to(u, unitCommitting)
		if err := w.c.Commit(ctx); err != nil {
			return err
		}
	}
	w.l.to(u, unitDone)
	w.l.mu.Lock()
	defer w.l.mu.Unlock()
	for topic, id := range tries {
		delete(w.l.tries, topic)
		w.l.retains[topic] = id
		w.l.pubs++
	}
	return nil
}

func (l *ledger) thing(name string, t thing) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.things[name] = t
	if !t.either {
		l.defs++
	}
}

func (w *worker) subscription(ctx context.Context, name string, remove bool) error {
	w.l.thing("sub "+name, thing{either: true})
	s, err := w.c.Subscribe(ctx, mq.SubOptions{Topic: "elsewhere/" + name, Name: name, Durable: true})
	if err != nil {
		return err
	}
	w.l.thing("sub "+name, thing{there: true})
	if !remove {
		return s.Close(ctx)
	}
	w.l.thing("sub "+name, thing{there: true, either: true})
	if err := s.Remove(ctx); err != nil {
		return err
	}
	w.l.thing("sub "+name, thing{})
	return nil
}

// definer defines, alters and deletes queues through the socket.
func (w *worker) definer(ctx context.Context, k *child) error {
	for {
		w.n++
		name, v := fmt.Sprintf("D.%s.%d", strings.ToUpper(w.name), w.n), fmt.Sprint(w.n)
		w.l.thing("queue "+name, thing{either: true, value: v})
		if err := w.command(ctx, k, fmt.Sprintf("DEFINE QLOCAL(%s) DESCR('%s')\n", name, v)); err != nil {
			return err
		}
		w.l.thing("queue "+name, thing{there: true, value: v})
		switch w.rnd.IntN(3) {
		case 0:
			w.l.thing("queue "+name, thing{there: true, either: true, value: v})
			if err := w.command(ctx, k, fmt.Sprintf("DELETE QLOCAL(%s)\n", name)); err != nil {
				return err
			}
			w.l.thing("queue "+name, thing{})
		case 1:
			w.l.thing("queue "+name, thing{there: true, value: v, try: "a" + v})
			if err := w.command(ctx, k, fmt.Sprintf("ALTER QLOCAL(%s) DESCR('a%s')\n", name, v)); err != nil {
				return err
			}
			w.l.thing("queue "+name, thing{there: true, value: "a" + v})
		}
	}
}

var errCommand = errors.New("a command was refused")

func (w *worker) command(ctx context.Context, k *child, text string) error {
	out, err := k.script(ctx, text)
	if err == nil && !strings.Contains(out, "AMQ8006I") && !strings.Contains(out, "AMQ8007I") && !strings.Contains(out, "AMQ8008I") {
		return fmt.Errorf("%w: %s%s", errCommand, text, out)
	}
	return err
}
