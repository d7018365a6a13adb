package mq

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
)

// EndWait ends the get that waits on another connection, as the vendor's clients do from another thread.
func (c *Conn) EndWait(ctx context.Context, other *Conn, reason Reason) error {
	if err := c.lock(ctx, "NOTIFY", ""); err != nil {
		return err
	}
	defer c.unlock()
	c.role.want()
	defer c.role.release()
	c.req++
	h := c.header(wire.SPI, c.req)
	h.Flags = wire.FlagConfirm
	if err := c.sendH(h, wire.API{}, &wire.SPIBody{Verb: wire.SPINotify, OutVersion: 1, OutLength: 12,
		Part: &wire.SPINotifyIn{Options: 1, Reason: int32(reason), Connection: other.names.id}}); err != nil {
		return err
	}
	s, err := c.answer(ctx)
	if err != nil {
		return err
	}
	a, _, err := s.decode(c.link)
	if err != nil {
		return err
	}
	return codes(a, "NOTIFY", "")
}
