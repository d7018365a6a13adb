package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// memPeer keeps queues in memory, and writes down on whom was measured.
type memPeer struct {
	name string
	log  *[]string
	wake chan struct{} // a token for each message
}

func (p *memPeer) Name() string           { return "mem" }
func (p *memPeer) Start(string) error     { return nil }
func (p *memPeer) Stop(bool) error        { return nil }
func (p *memPeer) Pid() int               { return 0 }
func (p *memPeer) Connect() (Conn, error) { return &memConn{p: p, quit: make(chan struct{})}, nil }
func (p *memPeer) Twin() Peer             { return newMemPeer("empty", p.log) }

func newMemPeer(name string, log *[]string) *memPeer {
	return &memPeer{name: name, log: log, wake: make(chan struct{}, 1<<16)}
}

type memConn struct {
	p    *memPeer
	quit chan struct{}
}

func (c *memConn) Put(string, []byte, bool) error {
	c.p.wake <- struct{}{}
	time.Sleep(100 * time.Microsecond)
	return nil
}

func (c *memConn) PutAsync(string, []byte, bool) error {
	c.p.wake <- struct{}{}
	return nil
}
func (c *memConn) Flush() error { return nil }

func (c *memConn) Consume(_ string, _ bool, fn func([]byte)) error {
	*c.p.log = append(*c.p.log, c.p.name)
	go func() {
		for {
			select {
			case <-c.p.wake:
				fn(nil)
				time.Sleep(100 * time.Microsecond)
			case <-c.quit:
				return
			}
		}
	}()
	return nil
}
func (c *memConn) Publish(string, []byte, bool) error           { return errUnsupported }
func (c *memConn) Subscribe(string, func(string, []byte)) error { return errUnsupported }
func (c *memConn) Close()                                       { close(c.quit) }

// The rate on a deep queue is compared with that of an empty one in the same seconds, and each comes first as often as the other.
func TestDeepTakesTurns(t *testing.T) {
	var log []string
	b := &bench{p: newMemPeer("deep", &log), dir: t.TempDir(), d: 2 * time.Millisecond, body: make([]byte, 8), big: 1000,
		out: &results{at: map[string]int{}}}
	if err := b.deep(); err != nil {
		t.Fatal(err)
	}
	turns := strings.Repeat("deep ", deepTurns)
	for range 2 { // a tenth of the depth, and all of it
		turns += strings.Repeat("deep empty empty deep ", deepTurns/2)
	}
	turns += strings.Repeat("deep ", 3) // the starts after a kill
	if want := strings.Fields(turns); !slices.Equal(log, want) {
		t.Errorf("measured\n%q, want\n%q", log, want)
	}
	for _, m := range []string{atDepth(1000), besideDepth(1000)} {
		i, ok := b.out.at["mem|W9|"+m]
		if !ok || len(b.out.order[i].Samples) != deepTurns {
			t.Errorf("%s: %v", m, b.out.order)
		}
	}
}
