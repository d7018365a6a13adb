// Package mq is a client of queue managers that speak the MQ client protocol: qmgrd and those it stands in for. It is pure
// Go; no C library is needed.
//
//	c, err := mq.Connect(ctx, mq.Options{Addr: "localhost:1414", Channel: "DEV.APP.SVRCONN"})
//	q, err := c.Open(ctx, "ORDERS", mq.Output)
//	err = q.Put(ctx, mq.NewMessage([]byte("hello")), mq.PutOptions{})
//
// A Conn is one connection (MQCONN) on a socket of its own. Its methods, and those of what it opened, may be called from any
// goroutine; they run one after the other, as one connection has one unit of work. Programs that want to work in parallel,
// and those with a get that waits while they put, use several connections.
//
// # Errors
//
// Every error of a verb is an *Error with a completion code and a reason code, and says which verb and object it was:
//
//	if errors.Is(err, mq.NoMsgAvailable) { … }        // a reason code is an error itself
//	var e *mq.Error
//	if errors.As(err, &e) { log.Print(e.Reason, e.Object) }
//
// A warning is an error too, with CompletionCode Warning; the results beside it are valid.
//
// # Contexts
//
// A get that waits ends when its context does: the queue manager is told, no message is lost, and the error wraps the
// context's. Any other verb cannot be taken back once it is sent. If its context ends before the answer has come, what became
// of it is not known: the connection is given up (reason ConnectionBroken), and the queue manager backs out the unit of work.
package mq
