package fap

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Delayer is a Conn that keeps messages until a moment that their MQRFH2 names. Without it SPI PUT answers 2298: to put such a
// message at once would be wrong.
type Delayer interface {
	PutDelayed(ctx context.Context, hobj int32, md *mqi.MD, pmo *mqi.PMO, body []byte) error
}

// putDelayed serves SPI PUT.
func (c *conv) putDelayed(hobj int32, p *wire.SPIPutIn) (*wire.SPIPutOut, error) {
	md, pmo := p.MD, p.PMO
	err := c.tooLong("SPI PUT", len(p.Data))
	if err != nil {
		c.countAsync(hobj, "", &md, &pmo, err)
	}
	if d, ok := c.conn.(Delayer); !ok {
		err = mqi.E("SPI PUT", "", mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	} else if err == nil {
		err = d.PutDelayed(c.ctx, hobj, &md, &pmo, p.Data)
	}
	md.Version, pmo.Version = p.MD.Version, p.PMO.Version
	return &wire.SPIPutOut{MD: md, PMO: pmo}, err
}
