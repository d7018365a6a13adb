package qmgr

import (
	"context"
	"errors"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// A client may be sent messages before its application asks for them. With the client, those that it has not asked for are lost, so
// only such messages go ahead that may be: nonpersistent ones, outside syncpoint. What is browsed stays on its queue anyhow.

// ErrHeld ends a get of GetAhead: the next message is for who asks for it, and has stayed on its queue.
var ErrHeld = errors.New("the next message is left for a get that somebody waits for")

// rcHeld is ErrHeld where a reason code is wanted. It never leaves the package.
const rcHeld mqi.RC = -1

// sparing says which messages a get leaves alone.
type sparing uint8

const (
	spareNone sparing = iota
	sparePersistent
	spareAll // of a get in a unit of work: the commit of one message would take those behind it along
)

func (s sparing) holds(flags uint16) bool {
	return s == spareAll || s == sparePersistent && flags&fPersistent != 0
}

// GetAhead is Get for a caller for whom nobody waits: a message that must not be lost ends it with ErrHeld.
func (c *Conn) GetAhead(ctx context.Context, hobj Handle, md *mqi.MD, gmo *mqi.GMO, max int) (data []byte, n int, err error) {
	return c.get(ctx, hobj, md, gmo, max, (*getting).aheadOnly)
}

// GetAhead is Get for a caller who has room for more messages than one. asked says that somebody waits for the first; those that the
// get is handed behind it, while it waits on, are such as may be lost.
func (w *Waiting) GetAhead(hobj Handle, md *mqi.MD, gmo *mqi.GMO, max int, asked bool) (data []byte, n int, s GetState, err error) {
	if asked {
		return w.get(hobj, md, gmo, max, (*getting).aheadLater)
	}
	return w.get(hobj, md, gmo, max, (*getting).aheadOnly)
}

func (g *getting) aheadLater() {
	switch {
	case g.browse:
	case g.inWork(false):
		g.later = spareAll
	default:
		g.later = sparePersistent
	}
}

func (g *getting) aheadOnly() {
	g.aheadLater()
	g.spare = g.later
}

// ended is the error of a get that ends without a message.
func (g *getting) ended(rc mqi.RC) error {
	if rc == rcHeld {
		return ErrHeld
	}
	return mqi.E("MQGET", g.h.name, rc)
}
