package fap

import (
	"crypto/rand"
	"errors"
	"net"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The tag of SPI RESERVE: the client counts in the three bytes that end the message id.
const (
	tagOffset      = 22
	tagReservation = 1<<24 - 1
	tagUnique      = 16 // "AMQ ", twelve characters of the queue manager's name, then what is unique
)

// spi serves the verbs that clients use beside the MQI.
func (c *conv) spi(m call, a wire.API, b *wire.SPIBody) error {
	hobj := a.Hobj
	var (
		out wire.SPIPart
		err error
	)
	switch p := b.Part.(type) {
	case *wire.SPIQueryIn:
		out = spiVerbs()
	case *wire.SPIOpenPart:
		options := p.Options
		if p.LpiOptions&wire.LpiSaveContext != 0 && options&inputOptions != 0 {
			options |= mqi.MQOO_SAVE_ALL_CONTEXT
		}
		hobj, p.Defaults, err = c.openObject(&p.OD, options)
		out = p
	case *wire.SPISub:
		p.SD.Options = subOptions(p.SD.Options)
		p.SD.Shared = p.LSD.Options&wire.LSDJoinShared != 0
		hobj, p.Hsub, err = c.subscribe(&p.SD, hobj)
		out = p
	case *wire.SPIReserveIn:
		out, err = c.reserve(p)
	case *wire.SPINotifyIn:
		err = c.k.notify(p)
		out = &wire.SPINotifyOut{}
	case *wire.SPIPutIn:
		out, err = c.putDelayed(hobj, p)
	default:
		err = mqi.E("SPI", "", mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	}
	b.Reply, b.Part = true, out
	return c.reply(m.h, api(err, hobj), b)
}

const inputOptions = mqi.MQOO_INPUT_AS_Q_DEF | mqi.MQOO_INPUT_SHARED | mqi.MQOO_INPUT_EXCLUSIVE

func spiVerbs() *wire.SPIQueryOut {
	q := &wire.SPIQueryOut{}
	for _, v := range [...]int32{wire.SPIQuery, wire.SPIPut, wire.SPIReserve, wire.SPISubscribe, wire.SPINotify, wire.SPIOpen} {
		q.Verbs = append(q.Verbs, wire.SPIVerb{Verb: v, InOut: 1, In: 1, Out: 1})
	}
	return q
}

// reserve gives the client message ids of its own, for puts that are not answered. They must not meet those that the queue
// manager makes: five random bytes stand where these have time and count.
func (c *conv) reserve(p *wire.SPIReserveIn) (*wire.SPIReserveOut, error) {
	out := &wire.SPIReserveOut{Offset: tagOffset, Actual: min(max(p.Reservation, 0), tagReservation)}
	if int(p.TagSize) != len(out.Base) {
		return out, mqi.E("SPI RESERVE", "", mqi.MQRC_OPTIONS_ERROR)
	}
	copy(out.Base[:], "AMQ            ")
	name := c.k.inst.QMgr
	copy(out.Base[4:tagUnique], (name + "            ")[:tagUnique-4])
	if _, err := rand.Read(out.Base[tagUnique : tagOffset-1]); err != nil {
		return out, mqi.Wrap("SPI RESERVE", "", mqi.MQRC_RESOURCE_PROBLEM, err)
	}
	return out, nil
}

// notifyNow serves SPI NOTIFY in the reader, past the calls that wait for their turn.
func (c *conv) notifyNow(h wire.Header, body []byte) (bool, error) {
	a, b, err := decode(h, body)
	if err != nil {
		return false, nil // the conversation answers it
	}
	s := b.(*wire.SPIBody)
	n, ok := s.Part.(*wire.SPINotifyIn)
	if !ok {
		return false, nil
	}
	if err := c.k.outRoom(); err != nil {
		return true, err
	}
	err = c.k.notify(n)
	s.Reply, s.Part = true, &wire.SPINotifyOut{}
	h.Type, h.Flags = h.Type.Reply(), 0 // not by reply, which belongs to the conversation's owner
	return true, c.k.write(h, api(err, a.Hobj), s)
}

// notify wakes the waiting get of another conversation, which must be of the same client: same address and user.
func (k *socket) notify(n *wire.SPINotifyIn) error {
	c := k.s.byConnection(n.Connection)
	if c == nil || c.k != k && !c.k.sameClient(k) {
		return mqi.Wrap("SPI NOTIFY", "", mqi.MQRC_HCONN_ERROR, errNoConversation)
	}
	c.wakeGet(mqi.RC(n.Reason))
	return nil
}

var errNoConversation = errors.New("no such connection of this client")

func (k *socket) sameClient(o *socket) bool {
	a, _, err1 := net.SplitHostPort(k.peer.Addr.String())
	b, _, err2 := net.SplitHostPort(o.peer.Addr.String())
	return err1 == nil && err2 == nil && a == b && k.peer.Channel == o.peer.Channel && k.who().LongUser == o.who().LongUser
}
