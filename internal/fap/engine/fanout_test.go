package engine_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/mq"
)

// TestFanOut: subscribers that wait, that are late and that look into messages get every publication once, unharmed and in
// order, whether it went to them at once or over their queue.
func TestFanOut(t *testing.T) {
	n := 3000
	if invariants.Enabled {
		n = 600 // every lock is looked at
	}
	addr := serve(t, "DEFINE QLOCAL(GIVEN) MAXDEPTH(100000)", "ALTER QMODEL(SYSTEM.NDURABLE.MODEL.QUEUE) MAXDEPTH(100000)")
	dial := func() *mq.Conn {
		c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "APP.SVRCONN"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	var wg sync.WaitGroup
	follow := func(q *mq.Queue, late bool) {
		defer wg.Done()
		var m mq.Message
		for i := range n {
			if err := q.GetInto(ctx, &m, mq.GetOptions{Wait: 20 * time.Second}); err != nil {
				t.Errorf("publication %d: %v", i, err)
				return
			}
			if want := pattern(i); !bytes.Equal(m.Body, want) {
				t.Errorf("publication %d: got %d bytes of %d, want %d", i, len(m.Body), binary.BigEndian.Uint32(m.Body), len(want))
				return
			}
			if late && i%500 == 0 {
				time.Sleep(20 * time.Millisecond)
			}
		}
		if err := q.GetInto(ctx, &m, mq.GetOptions{}); !errors.Is(err, mq.NoMsgAvailable) {
			t.Errorf("one more: %v", err)
		}
	}
	for i, o := range []mq.SubOptions{{ReadAhead: true}, {ReadAhead: true}, {}, {Selector: "MQTopicString = 'a/b'"}} {
		o.Topic = "a/b"
		s, err := dial().Subscribe(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		wg.Add(1)
		go follow(&s.Queue, i == 1)
	}
	pub := dial()
	topic, err := pub.OpenTopic(ctx, "a/b")
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		m := mq.NewMessage(pattern(i))
		m.Persistence = mq.NonPersistent
		err := topic.Publish(ctx, m, mq.PubOptions{PutOptions: mq.PutOptions{Async: i%50 != 0}})
		if err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}

// pattern is a body that no other publication has, of lengths that change.
func pattern(i int) []byte {
	b := []byte(strings.Repeat(string(rune('a'+i%26)), 4+i%1500))
	binary.BigEndian.PutUint32(b, uint32(i))
	return b
}
