package fap

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// Return values of the XA verbs that the protocol itself gives.
const (
	xaerInval = -5
	xaerProto = -6 // not in this order, or not by this connection
)

// Coordinated is a Conn that takes part in global units of work. Without it the XA verbs answer XAER_PROTO. Return values
// and flags are those of the XA specification.
type Coordinated interface {
	// XA runs xa_open and xa_close with info, the other verbs but xa_recover with a branch.
	XA(ctx context.Context, verb wire.Type, info string, x wire.XID, flags int32) int32
	XARecover(ctx context.Context, max, flags int32) ([]wire.XID, int32)
}

// maxRecover bounds the identifiers of one answer to xa_recover.
const maxRecover = 1000

// xa serves the XA verbs. In their header CompCode is the return value, Reason the flags, Hobj the rmid.
func (c *conv) xa(m call, a wire.API, b wire.Body) error {
	h := wire.API{CompCode: xaerProto, Reason: a.Reason, Hobj: a.Hobj}
	var answer wire.Body = &wire.Empty{}
	x, ok := c.conn.(Coordinated)
	switch b := b.(type) {
	case *wire.XAInfo:
		if ok {
			h.CompCode = x.XA(c.ctx, m.h.Type, b.Info, wire.XID{}, a.Reason)
		}
	case *wire.XABranch:
		if ok {
			h.CompCode = x.XA(c.ctx, m.h.Type, "", b.XID, a.Reason)
		}
	case *wire.XACount:
		list := &wire.XAList{}
		switch {
		case ok && b.Count < 0:
			h.CompCode = xaerInval
		case ok:
			list.XIDs, h.CompCode = x.XARecover(c.ctx, min(b.Count, maxRecover), a.Reason)
		}
		answer = list
	}
	return c.reply(m.h, h, answer)
}
