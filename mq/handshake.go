package mq

import (
	"context"
	"fmt"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// handshake agrees on the values of the connection. What the server flags we take over, and propose once more.
func (l *link) handshake(o *Options) error {
	id := proposal(o)
	for try := 0; ; try++ {
		h := l.header(wire.InitialData, 0)
		h.Flags = wire.FlagConfirm
		if err := l.sendH(h, wire.API{}, id); err != nil {
			return err
		}
		got, h, err := l.initial()
		if err != nil {
			return err
		}
		l.shared = got.Convs > 0
		if h.Flags&wire.FlagError == 0 && got.Err1 == 0 {
			l.size, l.maxMsg = int(got.MaxTransmission), int(got.MaxMsgLength)
			l.beat = time.Duration(got.HeartbeatIv) * time.Second
			l.in.asm.Max = l.maxMsg + room
			return nil
		}
		if try > 0 {
			return &refused{CodeText: "the values of the channel could not be agreed", reason: ChannelConfigError}
		}
		adopt(id, got)
	}
}

func proposal(o *Options) *wire.ID {
	id := &wire.ID{Size: wire.IDSize(level), FAP: level, Cap1: wire.Cap1Conversion | wire.Cap1Split | wire.Cap1MQRequest,
		Cap2: wire.Cap2DistLists | wire.Cap2XA | wire.Cap2SPI, Cap3: wire.Cap3SyncGet,
		MaxTransmission: wire.DefaultTransmission, MaxMsgLength: maxMessage, Channel: o.Channel, CCSID: ccsidUTF8,
		QMgr: o.QueueManager, HeartbeatIv: defaultHeartbeat, EFLLength: uint16(wire.IDSize(level) - 102), Convs: 1,
		Product: product}
	if o.Heartbeat > 0 {
		id.HeartbeatIv = int32(max(1, (o.Heartbeat+time.Second-1)/time.Second))
	}
	if o.MaxMsgLength > 0 {
		id.MaxMsgLength = int32(min(o.MaxMsgLength, maxMessage))
	}
	return id
}

// product is the identifier of C clients with a version; a server only shows it.
const product = "MQCC09040100"

// adopt takes over the values that the server flagged.
func adopt(id, got *wire.ID) {
	if got.Err1&wire.ErrHeartbeat != 0 {
		id.HeartbeatIv = got.HeartbeatIv
	}
	if got.Err1&wire.ErrMsgLength != 0 {
		id.MaxMsgLength = got.MaxMsgLength
	}
	if got.Err1&wire.ErrTransmission != 0 {
		id.MaxTransmission = got.MaxTransmission
	}
	if got.Err1&wire.ErrFAP != 0 {
		id.FAP, id.Size = got.FAP, wire.IDSize(got.FAP)
	}
	id.Convs = got.Convs
}

// initial reads the server's INITIAL_DATA.
func (l *link) initial() (*wire.ID, wire.Header, error) {
	s, err := l.next(context.Background(), time.Time{}) // the context of Connect closes the socket
	if err != nil {
		return nil, s.h, err
	}
	h := s.h
	_, b, err := s.decode(l)
	if err != nil {
		return nil, h, err
	}
	switch b := b.(type) {
	case *wire.ID:
		return b, h, nil
	case *wire.Status:
		return nil, h, refusal(b.Code)
	}
	return nil, h, fmt.Errorf("the peer is no queue manager: it answered with a segment of %v", h.Type)
}

// refused is a STATUS with which the server ends the channel.
type refused struct {
	CodeText string
	reason   Reason
}

func (r *refused) Error() string { return r.CodeText }

// refusals are the codes that tell a program something.
var refusals = map[wire.Code]refused{
	wire.CodeNoChannel:          {"the channel does not exist", UnknownChannel},
	wire.CodeWrongType:          {"the channel is not a server-connection channel", ChannelConfigError},
	wire.CodeQMUnavailable:      {"the queue manager is not available", QMgrNotAvailable},
	wire.CodeQMTerminating:      {"the queue manager is ending", QMgrStopping},
	wire.CodeUserClosed:         {"the channel was stopped", ConnectionBroken},
	wire.CodeSecurity:           {"the channel refused this client for security reasons", NotAuthorized},
	wire.CodeChannelUnavailable: {"the channel is stopped or all its instances are in use", ChannelNotAvailable},
	wire.CodeClosedByExit:       {"an exit closed the channel", NotAuthorized},
	wire.CodeCipherSpec:         {"the channel wants another cipher specification", SSLInitialization},
	wire.CodePeerName:           {"the channel does not accept the name in the certificate", SSLInitialization},
	wire.CodeClientCertificate:  {"the channel wants a client certificate", SSLInitialization},
}

func refusal(code wire.Code) error {
	if r, ok := refusals[code]; ok {
		return &r
	}
	return &refused{CodeText: fmt.Sprintf("the server ended the channel with status %d", code), reason: ConnectionBroken}
}
