package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/qmgrd/qmgrd/mq"
)

// qmgrdPeer is this project's queue manager over the client protocol. Durable messages are persistent; they are got one by
// one outside syncpoint, so that each get, too, is answered after its sync. Nonpersistent messages are read ahead.
type qmgrdPeer struct {
	proc
	addr string // where it listens: a port that was free
	data string // directory of the last Start
}

const (
	qmgrdName = "BENCH"
	// unit is how many pipelined persistent messages make a unit of work.
	unit = 500
)

var (
	qmgrdBin   = flag.String("qmgrd", "../bin/qmgrd", "the qmgrd program")
	qmgrdFlags = flag.String("qmgrd-flags", "", "further flags of qmgrd start")

	qmgrdRetain = flag.String("qmgrd-retain", "durable", "retained publications of W7: durable, or memory (they end with the queue manager)")
)

func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "127.0.0.1:24414"
	}
	defer l.Close()
	return l.Addr().String()
}

// qmgrdQueues are those that the workloads use.
var qmgrdQueues = []string{"W1", "W16", "N1", "N16", "REQ", "REP", "first", "deep", "warm"}

func newQmgrd() Peer { return &qmgrdPeer{addr: freeAddr()} }

// Twin is another queue manager, which may run beside this one.
func (p *qmgrdPeer) Twin() Peer { return newQmgrd() }

func (p *qmgrdPeer) Name() string { return "qmgrd" }

// runIn runs one of the programs on the queue managers of a directory.
func runIn(dir, stdin string, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stdin = append(os.Environ(), "QMGRD_DATA="+dir), strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, out)
	}
	return nil
}

// Prepare creates the queue manager with its channel and queues.
func (p *qmgrdPeer) Prepare(dir string) error {
	run := func(stdin string, argv ...string) error { return runIn(dir, stdin, argv...) }
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// Clients are let in without a password, as one user with the authorities that the workloads need, whoever runs the bench: a name by
	// the client's word gives nothing when it is an administrator's, such as root.
	script := "ALTER QMGR CHLAUTH(DISABLED) CONNAUTH(' ')\nREFRESH SECURITY\nDEFINE CHANNEL(BENCH.SVRCONN) CHLTYPE(SVRCONN) MCAUSER('bench')\n"
	for profile, may := range map[string]string{"OBJTYPE(QMGR)": "CONNECT,INQ", "PROFILE('**') OBJTYPE(QUEUE)": "PUT,GET,BROWSE,INQ",
		"PROFILE('**') OBJTYPE(TOPIC)": "PUB,SUB"} {
		script += "SET AUTHREC " + profile + " PRINCIPAL('bench') AUTHADD(" + may + ")\n"
	}
	for _, q := range qmgrdQueues {
		script += "DEFINE QLOCAL('" + q + "') MAXDEPTH(999999999)\n"
	}
	return errors.Join(run("", *qmgrdBin, "start", qmgrdName, "--create", "--detach"),
		run(script, filepath.Join(filepath.Dir(*qmgrdBin), "runmqsc"), qmgrdName),
		run("", *qmgrdBin, "stop", qmgrdName, "-w"))
}

func (p *qmgrdPeer) Start(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, qmgrdName)); errors.Is(err, os.ErrNotExist) {
		if err := p.Prepare(dir); err != nil {
			return err
		}
	}
	p.data = dir
	argv := append([]string{*qmgrdBin, "start", qmgrdName, "--listen", p.addr}, strings.Fields(*qmgrdFlags)...)
	return p.run(dir, p.addr, []string{"QMGRD_DATA=" + dir}, argv...)
}

func dialQmgrd(addr string) (*mq.Conn, error) {
	return mq.Connect(bg, mq.Options{Addr: addr, Channel: "BENCH.SVRCONN", ApplName: "bench"})
}

func (p *qmgrdPeer) Connect() (Conn, error) {
	c, err := dialQmgrd(p.addr)
	if err != nil {
		return nil, err
	}
	return &qmgrdConn{c: c, addr: p.addr, dir: p.data, out: map[string]*mq.Queue{}, topics: map[string]*mq.Topic{}}, nil
}

// qmgrdConn puts on one connection, and has another for each consumer: verbs of one connection run in turn.
type qmgrdConn struct {
	c       *mq.Conn
	addr    string
	dir     string // of the queue manager
	in      []*mq.Conn
	out     map[string]*mq.Queue
	topics  map[string]*mq.Topic
	pending int // messages of the unit of work
}

func (c *qmgrdConn) queue(name string) (*mq.Queue, error) {
	if q := c.out[name]; q != nil {
		return q, nil
	}
	q, err := c.c.Open(bg, name, mq.Output)
	if err == nil {
		c.out[name] = q
	}
	return q, err
}

func qmgrdMessage(body []byte, persistent bool) *mq.Message {
	m := mq.NewMessage(body)
	m.Persistence = mq.NonPersistent
	if persistent {
		m.Persistence = mq.Persistent
	}
	return m
}

func (c *qmgrdConn) Put(name string, body []byte, persistent bool) error {
	q, err := c.queue(name)
	if err != nil {
		return err
	}
	return q.Put(bg, qmgrdMessage(body, persistent), mq.PutOptions{})
}

// PutAsync puts without an answer; persistent messages in units of work, so that a unit shares one sync.
func (c *qmgrdConn) PutAsync(name string, body []byte, persistent bool) error {
	q, err := c.queue(name)
	if err != nil {
		return err
	}
	if err := q.Put(bg, qmgrdMessage(body, persistent), mq.PutOptions{Async: true, Syncpoint: persistent}); err != nil {
		return err
	}
	if !persistent {
		return nil
	}
	if c.pending++; c.pending < unit {
		return nil
	}
	c.pending = 0
	return c.c.Commit(bg)
}

func (c *qmgrdConn) Flush() error {
	if c.pending > 0 {
		c.pending = 0
		if err := c.c.Commit(bg); err != nil {
			return err
		}
	}
	return c.c.Flush(bg)
}

func (c *qmgrdConn) Consume(name string, persistent bool, fn func([]byte)) error {
	mode := mq.InputShared
	if !persistent {
		mode |= mq.ReadAhead
	}
	in, err := c.consumer()
	if err != nil {
		return err
	}
	q, err := in.Open(bg, name, mode)
	if err != nil {
		return err
	}
	return c.loop(q, func(m *mq.Message) { fn(m.Body) })
}

// loop hands every message to fn, for the call, until the connection ends.
func (c *qmgrdConn) loop(q *mq.Queue, fn func(*mq.Message)) error {
	go func() {
		var m mq.Message
		for {
			if err := q.GetInto(context.Background(), &m, mq.GetOptions{Wait: mq.Forever}); err != nil {
				if !errors.Is(err, mq.ConnectionBroken) {
					fmt.Fprintln(os.Stderr, "  qmgrd: get:", err)
				}
				return
			}
			fn(&m)
		}
	}()
	return nil
}

func (c *qmgrdConn) Publish(topic string, body []byte, retain bool) error {
	if retain {
		return c.retain(topic, body)
	}
	t := c.topics[topic]
	if t == nil {
		var err error
		if t, err = c.c.OpenTopic(bg, topic); err != nil {
			return err
		}
		c.topics[topic] = t
	}
	return t.Publish(bg, qmgrdMessage(body, false), mq.PubOptions{PutOptions: mq.PutOptions{Async: true}})
}

// retain publishes without opening the topic: there are a million. Persistent, in units of work, unless -qmgrd-retain=memory.
func (c *qmgrdConn) retain(topic string, body []byte) error {
	durable := *qmgrdRetain == "durable"
	err := c.c.Publish(bg, topic, qmgrdMessage(body, durable),
		mq.PubOptions{Retain: true, PutOptions: mq.PutOptions{Async: true, Syncpoint: durable}})
	if err != nil || !durable {
		return err
	}
	if c.pending++; c.pending < unit {
		return nil
	}
	c.pending = 0
	return c.c.Commit(bg)
}

// Clear is the operator's CLEAR TOPICSTR of the whole tree of W7.
func (c *qmgrdConn) Clear() error {
	return runIn(c.dir, "CLEAR TOPICSTR('a/#') CLRTYPE(RETAINED)\n", filepath.Join(filepath.Dir(*qmgrdBin), "runmqsc"), qmgrdName)
}

func (c *qmgrdConn) Subscribe(filter string, fn func(string, []byte)) error {
	in, err := c.consumer()
	if err != nil {
		return err
	}
	s, err := in.Subscribe(bg, mq.SubOptions{Topic: filter, ReadAhead: true})
	if err != nil {
		return err
	}
	return c.loop(&s.Queue, func(m *mq.Message) { fn("", m.Body) })
}

func (c *qmgrdConn) consumer() (*mq.Conn, error) {
	in, err := dialQmgrd(c.addr)
	if err == nil {
		c.in = append(c.in, in)
	}
	return in, err
}

func (c *qmgrdConn) Close() {
	c.c.Close()
	for _, in := range c.in {
		in.Close()
	}
}
