package engine

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

var _ fap.Delayer = conn{}

// PutDelayed implements fap.Delayer.
func (c conn) PutDelayed(ctx context.Context, hobj int32, md *mqi.MD, pmo *mqi.PMO, body []byte) error {
	defer withoutHandles(pmo)()
	return c.Conn.PutDelayed(ctx, qmgr.Handle(hobj), md, pmo, body)
}
