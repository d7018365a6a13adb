package fap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Backend is what the protocol serves. All methods are called from many goroutines.
type Backend interface {
	// Channel starts an instance of a server-connection channel. It is asked once per socket, before the peer gets an answer.
	// A *Refusal tells the peer why not.
	Channel(ctx context.Context, p Peer) (*Instance, error)
	// Connect is MQCONN of one conversation: it checks who asks and connects. Its error goes into the reply. A refusal with
	// 2035 it logs itself.
	Connect(ctx context.Context, r ConnectRequest) (Conn, error)
}

// Peer is what is known of the other end when it has named its channel.
type Peer struct {
	Addr    net.Addr
	Local   net.Addr // of our end
	Channel string
	QMgr    string // as asked for; blank or *name: whatever the channel reaches
	Product string // product identifier, "MQJB09040100"
	FAP     byte
	TLS     *tls.ConnectionState // nil without
}

// Instance is a running channel instance. Close is called once, when its socket has ended; it may be nil.
type Instance struct {
	Channel string
	QMgr    string // the queue manager's name
	QMID    string // and identifier

	Heartbeat int32 // HBINT, seconds
	MaxMsg    int32 // MAXMSGL, bytes; 0 is 4194304
	ShareCnv  int32 // SHARECNV
	// Disconnect is how long an instance may be without a call, and without a get that waits, until it is ended; 0: for ever.
	Disconnect time.Duration // DISCINT
	// PlainPasswords lets clients send passwords readable on a connection without TLS, where they can be checked. Without
	// it they arrive protected by an algorithm that is not public, and ConnectRequest.Protected is set.
	PlainPasswords bool
	// Level is the highest protocol level (FAP) to offer; 0 is the highest known. A client that offers more has to lower
	// itself. Below 13 its gets stream, and its passwords are readable.
	Level byte

	Close func()
}

// Refusal is an error of Backend.Channel that has a code of its own on the wire.
type Refusal struct {
	Code wire.Code
	ID   string // of the log's message; blank: by Code
	Err  error
}

func (r *Refusal) Error() string { return fmt.Sprintf("refused with status %d: %v", r.Code, r.Err) }
func (r *Refusal) Unwrap() error { return r.Err }

// ConnectRequest is an MQCONN with all that its conversation said before.
type ConnectRequest struct {
	Peer     Peer
	Instance *Instance
	User     string // user id that the client program runs as, or of compatibility mode
	Password string // only in compatibility mode
	Auth     *wire.ConAuth
	// Protected says that Auth.Password is not readable.
	Protected bool

	ApplName        string
	ApplType        int32
	AccountingToken mqi.Account
	Options         int32

	// Broken may be called when the connection is ended from elsewhere (STOP CONN), so that the client learns of it at once. It
	// waits for nothing.
	Broken func()
}

// Conn is one connection to the queue manager. Verbs are called by one goroutine at a time; Break may come from any.
// Errors are *mqi.Error; a warning is an error with CCWarning, and its outputs are used.
type Conn interface {
	ID() mqi.ID
	Open(ctx context.Context, od *mqi.OD, options int32) (hobj int32, d wire.Defaults, err error)
	Close(ctx context.Context, hobj, options int32) error
	Put(ctx context.Context, hobj int32, md *mqi.MD, pmo *mqi.PMO, body []byte) error
	Put1(ctx context.Context, od *mqi.OD, md *mqi.MD, pmo *mqi.PMO, body []byte) error
	// Get waits as the options say, or until ctx ends: then it fails, and no message has left its queue. It returns at most
	// max bytes of the body, and the length of the whole; of a message that stays because it is longer (2080) all of it.
	Get(ctx context.Context, hobj int32, md *mqi.MD, gmo *mqi.GMO, max int) (body []byte, total int, err error)
	// GetAhead is Get of what nobody has asked for yet. A message that must not be lost with the client ends it with ErrHeld, and
	// stays: a persistent one, or one that is got in a unit of work.
	GetAhead(ctx context.Context, hobj int32, md *mqi.MD, gmo *mqi.GMO, max int) (body []byte, total int, err error)
	// Inq returns the integer attributes and, blank padded one behind the other, the character attributes; of each at most
	// what the caller has room for.
	Inq(ctx context.Context, hobj int32, selectors []int32, maxInts, maxChars int) (ints []int32, chars []byte, err error)
	Set(ctx context.Context, hobj int32, selectors, ints []int32, chars []byte) error
	Commit(ctx context.Context) error
	Backout(ctx context.Context) error
	// Disconnect ends the connection in order, Break as when it is lost: the unit of work is backed out.
	Disconnect(ctx context.Context) error
	Break()
}

// ErrHeld ends a get that nobody waits for when the next message must not be lost with the client.
var ErrHeld = errors.New("the next message is left for a get that somebody waits for")

// Quiescer is a Conn that can be told that its channel is being stopped: calls that ask for it then fail with 2202.
type Quiescer interface{ QuiesceChannel() }

// Subscriber is a Conn that has subscriptions. Without it MQSUB answers 2298.
type Subscriber interface {
	// Subscribe is MQSUB: hobj is the queue for the publications or 0 for a managed one, and comes back as the handle of the
	// queue.
	Subscribe(ctx context.Context, sd *mqi.SD, hobj int32) (queue, hsub int32, err error)
	SubRequest(ctx context.Context, hsub, action int32, sro *mqi.SRO) error
}

// Named is a network connection under TLS whose peer may have named its channel before the client protocol begins.
type Named interface{ ChannelName() string }

// Watched is a Conn that shows operators what its client consumes asynchronously. Its methods are no verbs.
type Watched interface {
	// Consuming tells what the client has done with its consumers (MQCTL), by the value of CONN_STATE.
	Consuming(state int32)
	// Consumer tells that a handle has a consumer (MQCB), or has none any more. It reports whether there is such a handle.
	Consumer(hobj int32, there bool) bool
}

// Statuser is a Conn that tells what became of the puts that asked for no answer. Without it MQSTAT answers 2298.
type Statuser interface {
	// CountAsync counts such a put that did not come to Put or Put1, by its handle or else by the name in its MQOD. It counts for the
	// unit of work that the message would have been part of.
	CountAsync(hobj int32, object string, md *mqi.MD, pmo *mqi.PMO, err error)
	// Stat is MQSTAT.
	Stat(kind int32) (mqi.STS, error)
}

// Prompter is a Conn that knows which puts need not wait. The socket's reader then runs them itself.
type Prompter interface {
	// Prompt reports whether a put is over at once: it waits for no disk.
	Prompt(hobj int32, md *mqi.MD, pmo *mqi.PMO) bool
	// PutBy is Put; by goes to the Wakers of those who get the message at once. A lent body stays the caller's.
	PutBy(ctx context.Context, by any, hobj int32, md *mqi.MD, pmo *mqi.PMO, body []byte, lent bool) error
}

// Repeater is a Prompter to which messages can be put that differ from the last one in nothing but their data.
type Repeater interface {
	// Repeats reports whether the connection's last verb was a PutBy that can be repeated.
	Repeats() bool
	// PutAgain repeats it with other data, which are lent. With false nothing has happened, and the message has to go through
	// PutBy.
	PutAgain(by any, body []byte) bool
}

// Passer is a Conn that counts what passes its queues.
type Passer interface {
	// Passed is how many messages have been put on a handle's queue and got from it, by whomever, and how many lie there.
	Passed(hobj int32) (put, got uint64, depth int)
}

// Gatherer is a Prompter that sends publications which follow one another together.
type Gatherer interface {
	// Gather says that PutBy may leave the copies of a publication without answer to Deliver. That follows before any other
	// verb, and before bodies that were lent are used again.
	Gather()
	// Gathered is how many publications wait for Deliver.
	Gathered() int
	// Deliver sends them; by is PutBy's. What fails the connection counts itself.
	Deliver(by any) error
}

// Waiter is a Conn whose gets can wait without a goroutine.
type Waiter interface {
	// NewWait makes a place for one get.
	NewWait(w Waker) Wait
	// RunWoken calls Wake for the gets, of any connection, that this connection's verbs have made something available for. It
	// is called when no verb runs.
	RunWoken(by any)
}

// Waker is told of a get that waits.
type Waker interface {
	// Wake says that it has to be resumed: with nil from anywhere and with locks held, so that it may only note it; or by
	// RunWoken.
	Wake(by any)
	// Own asks whether the get may be given a message right now. With true nobody else touches the connection until Take or
	// Disown. It is called with locks held, and waits for nothing.
	Own() bool
	Disown()
	// Take brings the message. The get waits on, unless it is cancelled. body is valid during the call.
	Take(by any, body []byte, total int, err error)
	// Settled says that a get that settles is to be resumed. by is nil, or the one of PutBy who has settled it; no lock is held.
	Settled(by any)
}

// WaitState says how far a get of a Wait has come.
type WaitState uint8

const (
	// Over: there is a result.
	Over WaitState = iota
	// Waits: Wake will be called, and then Resume tells.
	Waits
	// Blocks: Finish gives the result, after a sync of the disk or the like.
	Blocks
	// Settles: the message is on its way to be taken durably. Settled will be called, and then Resume tells. Cancel gives the
	// message up.
	Settles
	// Unfit: nothing has been done. Such a get looks into messages, and only Conn.Get can do it.
	Unfit
)

// Wait is one get at a time. Its methods are called by one goroutine at a time, the connection's.
type Wait interface {
	Get(hobj int32, md *mqi.MD, gmo *mqi.GMO, max int) (body []byte, total int, s WaitState, err error)
	// GetAhead is Get for a client that takes more messages than one. asked says that somebody waits for the first; otherwise, and
	// for what it takes behind that while it waits on, it is as Conn.GetAhead.
	GetAhead(hobj int32, md *mqi.MD, gmo *mqi.GMO, max int, asked bool) (body []byte, total int, s WaitState, err error)
	Resume() (body []byte, total int, s WaitState, err error)
	// Finish answers Settles only to a caller who is ready for it: with leave.
	Finish(leave bool) (body []byte, total int, s WaitState, err error)
	// Cancel ends a get that waits: no message has left its queue by it. A wake may still come, and means nothing.
	Cancel()
}
