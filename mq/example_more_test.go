package mq_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/qmgrd/qmgrd/mq"
)

func ExampleQueue_Inquire() {
	addr, stop := exampleServer("DEFINE QLOCAL(ORDERS) MAXDEPTH(5000)")
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	q, err := c.Open(ctx, "ORDERS", mq.InquireMode|mq.SetMode|mq.Output)
	if err != nil {
		log.Fatal(err)
	}
	if err := q.Put(ctx, mq.NewText("pens"), mq.PutOptions{}); err != nil {
		log.Fatal(err)
	}
	a, err := q.Inquire(ctx, mq.CurrentDepth, mq.MaxDepth)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Int(mq.CurrentDepth), "of", a.Int(mq.MaxDepth))
	// No more orders today.
	if err := q.Set(ctx, mq.Attributes{mq.PutInhibit: 1}); err != nil {
		log.Fatal(err)
	}
	err = q.Put(ctx, mq.NewText("ink"), mq.PutOptions{})
	fmt.Println(errors.Is(err, mq.PutInhibited))
	// Output:
	// 1 of 5000
	// true
}

// Where queue managers are may stand in a channel definition table.
func ExampleParseCCDT() {
	addr, stop := exampleServer("DEFINE QLOCAL(ORDERS)")
	defer stop()
	host, port, _ := net.SplitHostPort(addr)
	table, err := mq.ParseCCDT([]byte(`{"channel": [{
		"name": "DEV.APP.SVRCONN", "type": "clientConnection",
		"clientConnection": {"queueManager": "SHOP", "connection": [{"host": "` + host + `", "port": ` + port + `}]}
	}]}`))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{CCDT: table, QueueManager: "*SHOP"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	fmt.Println(c.QueueManager())
	// Output: QM1
}

// Properties travel beside the body, and selectors look at them.
func ExampleProperties() {
	addr, stop := exampleServer("DEFINE QLOCAL(ORDERS)")
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	for _, country := range []string{"FR", "NO"} {
		m := mq.NewText("order from " + country)
		if err := m.Properties.Set("country", country); err != nil {
			log.Fatal(err)
		}
		if err := c.Put1(ctx, "ORDERS", m, mq.PutOptions{}); err != nil {
			log.Fatal(err)
		}
	}
	q, err := c.OpenWith(ctx, "ORDERS", mq.Input, mq.OpenOptions{Selector: "country = 'NO'"})
	if err != nil {
		log.Fatal(err)
	}
	m, err := q.Get(ctx, mq.GetOptions{Properties: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, %s\n", m.Body, m.Properties.String("country"))
	// Output: order from NO, NO
}

// A program that serves requests all day: it gets in a unit of work, so that no request is lost, puts aside what it cannot
// serve, and outlives restarts of the queue manager.
func ExampleReconnect() {
	addr, stop := exampleServer("DEFINE QLOCAL(REQUESTS)", "DEFINE QLOCAL(REPLIES)", "DEFINE QLOCAL(ASIDE)")
	defer stop()

	ctx := context.Background()
	c, err := mq.Connect(ctx, mq.Options{Addr: addr, Channel: "DEV.APP.SVRCONN", Reconnect: &mq.Reconnect{
		Notify: func(err error) { log.Print("reconnecting: ", err) },
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Disconnect(ctx)
	q, err := c.Open(ctx, "REQUESTS", mq.InputShared|mq.Output)
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"one", "poison", "two"} {
		m := mq.NewText(text)
		m.Type, m.ReplyTo = mq.Request, "REPLIES"
		if err := q.Put(ctx, m, mq.PutOptions{}); err != nil {
			log.Fatal(err)
		}
	}
	unit := mq.PutOptions{Syncpoint: true}
	serve := func(m *mq.Message) error {
		switch {
		case m.BackoutCount >= 3:
			return c.Put1(ctx, "ASIDE", m, unit)
		case string(m.Body) == "poison":
			return errors.New("cannot be served")
		}
		return c.Put1(ctx, m.ReplyTo, mq.NewReply(m, m.Body), unit)
	}
	for {
		m, err := q.Get(ctx, mq.GetOptions{Wait: 50 * time.Millisecond, Syncpoint: true})
		if errors.Is(err, mq.NoMsgAvailable) {
			break
		}
		if err == nil {
			err = serve(m)
			fmt.Printf("%s: %t\n", m.Body, err == nil)
		}
		if err == nil {
			err = c.Commit(ctx)
		}
		if err != nil { // also when the connection was lost and made again
			if err := c.Backout(ctx); err != nil {
				log.Fatal(err)
			}
		}
	}
	// Output:
	// one: true
	// poison: false
	// poison: false
	// poison: false
	// poison: true
	// two: true
}

// GetInto needs no memory for each message.
func ExampleQueue_GetInto() {
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
	for i := range 3 {
		if err := q.Put(ctx, mq.NewText(fmt.Sprint(i*i)), mq.PutOptions{}); err != nil {
			log.Fatal(err)
		}
	}
	var m mq.Message
	for {
		err := q.GetInto(ctx, &m, mq.GetOptions{Wait: 50 * time.Millisecond})
		if errors.Is(err, mq.NoMsgAvailable) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", m.Body)
	}
	// Output:
	// 0
	// 1
	// 4
}
