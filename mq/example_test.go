package mq_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/qmgrd/qmgrd/mq"
)

// exampleServer is a queue manager on this machine for the examples.
func exampleServer(commands ...string) (addr string, stop func()) {
	s, err := startServer(nil, nil, commands...)
	if err != nil {
		log.Fatal(err)
	}
	return s.addr, s.stop
}

func Example() {
	addr, stop := exampleServer("DEFINE QLOCAL(ORDERS)")
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN", User: "app", Password: "secret"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	q, err := c.Open(ctx, "ORDERS", mq.Output|mq.Input)
	if err != nil {
		log.Fatal(err)
	}
	m := mq.NewText("twelve pens")
	m.Persistence = mq.Persistent
	if err := q.Put(ctx, m, mq.PutOptions{}); err != nil {
		log.Fatal(err)
	}
	in, err := q.Get(ctx, mq.GetOptions{Wait: 5 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s at priority %d\n", in.Body, in.Priority)
	// Output: twelve pens at priority 0
}

// A reason code is an error to compare with; the whole error says more.
func ExampleError() {
	addr, stop := exampleServer()
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	_, err = c.Open(ctx, "NO.SUCH.QUEUE", mq.Output)
	fmt.Println(errors.Is(err, mq.UnknownObject))
	var e *mq.Error
	if errors.As(err, &e) {
		fmt.Println(e.Op, e.Object, int32(e.Reason))
	}
	// Output:
	// true
	// MQOPEN NO.SUCH.QUEUE 2085
}

// Messages of one unit of work are there together or not at all.
func ExampleConn_Commit() {
	addr, stop := exampleServer("DEFINE QLOCAL(DEBIT)", "DEFINE QLOCAL(CREDIT)")
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	transfer := func(amount string) error {
		for _, queue := range []string{"DEBIT", "CREDIT"} {
			if err := c.Put1(ctx, queue, mq.NewText(amount), mq.PutOptions{Syncpoint: true}); err != nil {
				return errors.Join(err, c.Backout(ctx))
			}
		}
		return c.Commit(ctx)
	}
	fmt.Println(transfer("100.00"))
	// Output: <nil>
}

func ExampleQueue_Browse() {
	addr, stop := exampleServer("DEFINE QLOCAL(ORDERS)")
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	q, err := c.Open(ctx, "ORDERS", mq.Output|mq.BrowseMode)
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"pens", "ink", "paper"} {
		if err := q.Put(ctx, mq.NewText(text), mq.PutOptions{}); err != nil {
			log.Fatal(err)
		}
	}
	for m, err := range q.Browse(ctx, mq.GetOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", m.Body)
	}
	// Output:
	// pens
	// ink
	// paper
}

// Many messages, put without waiting for an answer to each, and sent ahead by the queue manager.
func ExampleQueue_Messages() {
	addr, stop := exampleServer("DEFINE QLOCAL(READINGS)")
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	q, err := c.Open(ctx, "READINGS", mq.Output|mq.Input|mq.ReadAhead)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 1000 {
		if err := q.Put(ctx, mq.NewText(fmt.Sprint(i)), mq.PutOptions{Async: true}); err != nil {
			log.Fatal(err)
		}
	}
	if err := c.Flush(ctx); err != nil { // all have been put
		log.Fatal(err)
	}
	n := 0
	for _, err := range q.Messages(ctx, mq.GetOptions{Wait: 100 * time.Millisecond}) {
		if err != nil {
			log.Fatal(err)
		}
		n++
	}
	fmt.Println(n, "readings")
	// Output: 1000 readings
}

func ExampleConn_Subscribe() {
	addr, stop := exampleServer()
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	sub, err := c.Subscribe(ctx, mq.SubOptions{Topic: "price/+"})
	if err != nil {
		log.Fatal(err)
	}
	topic, err := c.OpenTopic(ctx, "price/oil")
	if err != nil {
		log.Fatal(err)
	}
	if err := topic.Publish(ctx, mq.NewText("71.40"), mq.PubOptions{}); err != nil {
		log.Fatal(err)
	}
	m, err := sub.Get(ctx, mq.GetOptions{Wait: 5 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", m.Body)
	// Output: 71.40
}

// A get that waits ends when its context does.
func ExampleQueue_Get_cancel() {
	addr, stop := exampleServer("DEFINE QLOCAL(ORDERS)")
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	q, err := c.Open(ctx, "ORDERS", mq.Input)
	if err != nil {
		log.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err = q.Get(short, mq.GetOptions{Wait: mq.Forever})
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}
