package fap

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

const (
	// maxFAP is the level that the server offers, plainFAP the highest at which a client leaves its password readable.
	maxFAP   = 17
	plainFAP = 12
	// minFAP is the lowest with the structures that are known here.
	minFAP = 8
	// shareFAP is the lowest that can share a socket.
	shareFAP = 9

	defaultMaxMsg = 4 << 20
	maxHeartbeat  = 999_999 // seconds, as HBINT
	productID     = "MQMM09040400"
	cap1          = wire.Cap1Conversion | wire.Cap1Split | wire.Cap1MQRequest
	// noAlgorithm ends the list of password protection algorithms; algPlain and algProtected may stand in it.
	noAlgorithm  = 0xFFFF
	algPlain     = 0
	algProtected = 1
)

// negotiate is the exchange of INITIAL_DATA. When a value must differ from the client's proposal the answer flags it, and
// the client proposes once more.
func (k *socket) negotiate() error {
	h, id, err := k.readInitial()
	if err != nil {
		return k.complain(err)
	}
	if err := k.startInstance(h, id); err != nil {
		return err
	}
	answer := k.propose(id)
	h.Flags = 0
	if answer.Err1 == 0 {
		if err := k.write(h, wire.API{}, answer); err != nil {
			return err
		}
		return k.settle(answer)
	}
	h.Flags |= wire.FlagError
	if err := k.write(h, wire.API{}, answer); err != nil {
		return err
	}
	l := *k.link.Load()
	l.shared = answer.Convs > 0
	k.link.Store(&l)
	h, id, err = k.readInitial()
	if err != nil {
		return k.complain(err)
	}
	if err := k.usable(id); err != nil {
		return err
	}
	second := k.propose(id)
	if second.Err1 != 0 || second.Convs != answer.Convs {
		k.refuse(wire.CodeNegotiation)
		return fmt.Errorf("the client keeps to values that were refused (flags %#x)", second.Err1)
	}
	h.Flags = 0
	if err := k.write(h, wire.API{}, second); err != nil {
		return err
	}
	return k.settle(second)
}

// readInitial reads the client's INITIAL_DATA, and takes over its byte order and code page.
func (k *socket) readInitial() (wire.Header, *wire.ID, error) {
	h, body, err := k.read()
	if err != nil {
		return h, nil, err
	}
	if h.Type != wire.InitialData {
		return h, nil, &wire.Error{Struct: "TSH", Off: 9, Why: wire.BadValue}
	}
	_, b, err := decode(h, body)
	if err != nil {
		return h, nil, err // negotiate tells the peer
	}
	l := *k.link.Load()
	l.style = styleOf(h)
	k.link.Store(&l)
	return h, b.(*wire.ID), nil
}

// startInstance asks the backend for the channel.
func (k *socket) startInstance(h wire.Header, id *wire.ID) error {
	k.peer.Addr, k.peer.Local, k.peer.Channel, k.peer.QMgr = k.nc.RemoteAddr(), k.nc.LocalAddr(), id.Channel, id.QMgr
	k.peer.Product, k.peer.FAP = id.Product, id.FAP
	if id.Cap1&wire.Cap1MQRequest == 0 {
		k.refuse(wire.CodeWrongType)
		return fmt.Errorf("channel %s: the peer is a message channel, not a client", id.Channel)
	}
	if err := k.usable(id); err != nil {
		return err
	}
	inst, err := k.s.backend.Channel(k.ctx, k.peer)
	if err != nil {
		code := wire.CodeChannelUnavailable
		var r *Refusal
		if errors.As(err, &r) {
			code = r.Code
		}
		k.refuse(code)
		return fmt.Errorf("channel %s: %w", id.Channel, err)
	}
	k.inst = inst
	return nil
}

// usable refuses a proposal, the first or the second, of a level that is not served, or of sizes in which no call has room.
func (k *socket) usable(id *wire.ID) error {
	switch {
	case id.FAP < minFAP || id.Size < wire.IDSize(minFAP):
		k.refuse(wire.CodeFAPLevel)
		return fmt.Errorf("channel %s: level %d is lower than %d", k.peer.Channel, id.FAP, minFAP)
	case id.MaxTransmission < wire.MinTransmission || id.MaxMsgLength < 1:
		k.refuse(wire.CodeNegotiation)
		return fmt.Errorf("channel %s: segments of %d bytes and messages of %d are too small", k.peer.Channel, id.MaxTransmission,
			id.MaxMsgLength)
	}
	return nil
}

// propose makes the answer to a client's proposal. Flags in Err1 name the values that the client has to take over; the
// client does so only for flagged ones.
//
// A client of a level above plainFAP would send its password protected, unless the server's level says that it can't. So
// where plain passwords are allowed the server names plainFAP without flagging the level: the client then keeps the
// structures of its own level, and plain gets.
func (k *socket) propose(c *wire.ID) *wire.ID {
	a := *c
	a.Size = wire.IDSize(min(c.FAP, maxFAP))
	a.Cap1, a.ECap1, a.Err1 = cap1, 0, 0
	a.Cap2, a.ECap2, a.Err2 = wire.Cap2SPI|c.Cap2&wire.Cap2DistLists, 0, 0
	a.Cap3, a.ECap3 = wire.Cap3SyncGet, 0
	a.MaxBatch, a.SeqWrap, a.SSLReset = 0, 0, 0
	a.HdrComp = [2]byte{0, 0xFF}
	a.MsgComp = [16]byte{0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
	a.QMgr, a.QMgrID, a.Product = k.inst.QMgr, k.inst.QMID, productID
	a.EFLLength = uint16(max(0, a.Size-102))
	a.Nonce, a.ProcessID, a.ThreadID, a.TraceID = [12]byte{}, 0, 1, 1

	a.FAP = min(c.FAP, maxFAP)
	if l := max(k.inst.Level, minFAP); k.inst.Level > 0 && l < a.FAP {
		a.FAP = l
		a.Err1 |= wire.ErrFAP
	}
	a.Convs = 0
	if a.FAP >= shareFAP {
		a.Convs = max(0, min(c.Convs, k.inst.ShareCnv))
	}
	for i := range a.PAL {
		a.PAL[i] = noAlgorithm
	}
	switch {
	case k.peer.TLS != nil:
		a.PAL[0] = algPlain
	case k.inst.PlainPasswords:
		a.PAL[0] = algProtected // not looked at below level 13
		if a.Err1 == 0 {
			a.FAP = min(a.FAP, plainFAP)
		}
	default:
		a.PAL[0] = algProtected
	}
	flag := func(bit byte, v *int32, want int32) {
		if *v != want {
			*v = want
			a.Err1 |= bit
		}
	}
	flag(wire.ErrTransmission, &a.MaxTransmission, min(c.MaxTransmission, wire.DefaultTransmission))
	maxMsg := k.inst.MaxMsg
	if maxMsg <= 0 {
		maxMsg = defaultMaxMsg
	}
	flag(wire.ErrMsgLength, &a.MaxMsgLength, min(c.MaxMsgLength, maxMsg))
	flag(wire.ErrHeartbeat, &a.HeartbeatIv, min(max(c.HeartbeatIv, k.inst.Heartbeat), maxHeartbeat))
	return &a
}

// settle takes over what was agreed, and opens the first conversation.
func (k *socket) settle(a *wire.ID) error {
	l := &link{fap: a.FAP, transmission: int(a.MaxTransmission), maxMsg: int(a.MaxMsgLength), convs: a.Convs,
		shared: a.Convs > 0, style: k.link.Load().style}
	l.heartbeat = time.Duration(a.HeartbeatIv) * time.Second
	l.protected = a.FAP > plainFAP && k.peer.TLS == nil
	k.link.Store(l)
	k.room = semaphore.NewWeighted(l.room())
	k.room.TryAcquire(l.room() - earlyRoom) // until the peer has connected
	first := uint32(0)
	if l.shared {
		first = 1
	}
	k.newConv(first)
	return nil
}

// earlyRoom is what may wait for its turn before the peer has connected.
const earlyRoom = 2 * maxEarly

// room is what may wait for its turn: two of the largest messages.
func (l *link) room() int64 { return 2 * int64(l.maxMsg+overhead) }

// takeUser keeps the user id that the client tells once, before its first MQCONN; it holds for all of the socket. Later ones mean
// nothing: who a conversation is must not change while it connects.
func (k *socket) takeUser(h wire.Header, body []byte) error {
	_, b, err := decode(h, body)
	if err != nil {
		return err
	}
	k.user.CompareAndSwap(nil, b.(*wire.UserID))
	return nil
}

// who is the user id that the client has told.
func (k *socket) who() wire.UserID {
	if u := k.user.Load(); u != nil {
		return *u
	}
	return wire.UserID{}
}

// accepted ends the time limit of the handshake, and lets large messages come. It reports whether this was the socket's first
// MQCONN.
func (k *socket) accepted() bool {
	if k.connected.Swap(true) {
		return false
	}
	k.room.Release(k.link.Load().room() - earlyRoom)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.deadline.Stop()
	return true
}
