package engine

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

var _ fap.Coordinated = conn{}

// XA implements fap.Coordinated.
func (c conn) XA(ctx context.Context, verb wire.Type, info string, w wire.XID, flags int32) int32 {
	x := qmgr.XID{Format: w.Format, Global: string(w.Global), Branch: string(w.Branch)}
	rc := qmgr.XAProto
	switch verb {
	case wire.XAOpen:
		rc = c.XAOpen(ctx, info)
	case wire.XAClose:
		rc = c.XAClose(ctx)
	case wire.XAStart:
		rc = c.XAStart(ctx, x, flags)
	case wire.XAEnd:
		rc = c.XAEnd(ctx, x, flags)
	case wire.XAPrepare:
		rc = c.XAPrepare(ctx, x)
	case wire.XACommit:
		rc = c.XACommit(ctx, x, flags)
	case wire.XARollback:
		rc = c.XARollback(ctx, x)
	case wire.XAForget:
		rc = c.XAForget(ctx, x)
	}
	return int32(rc)
}

// XARecover implements fap.Coordinated.
func (c conn) XARecover(ctx context.Context, max, flags int32) ([]wire.XID, int32) {
	list, rc := c.Conn.XARecover(ctx, int(max), flags)
	out := make([]wire.XID, len(list))
	for i, x := range list {
		out[i] = wire.XID{Format: x.Format, Global: []byte(x.Global), Branch: []byte(x.Branch)}
	}
	return out, int32(rc)
}
