package qmgr

import (
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Message handles of a connection (MQCRTMH and what works on it). Clients of the wire keep theirs to themselves: their
// properties travel in an MQRFH2.

// MsgHandle is a message handle (Hmsg). 0 is MQHM_NONE.
type MsgHandle int64

// msgHandle holds the properties of one message.
type msgHandle struct {
	props    *mqi.Props
	validate bool
}

func (h *msgHandle) fill(props []mqi.Property) { h.props = mqi.NewProps(props) }

// msgHandle finds a handle; 0 and MQHM_UNUSABLE_HMSG stand for none.
func (c *Conn) msgHandle(n int64) (*msgHandle, mqi.RC) {
	if n == mqi.MQHM_NONE || n == mqi.MQHM_UNUSABLE_HMSG {
		return nil, 0
	}
	if h := c.msgs[MsgHandle(n)]; h != nil {
		return h, 0
	}
	return nil, mqi.MQRC_HMSG_ERROR
}

// handleOfProps finds the message handle of a get and checks it against the options.
func (g *getting) handleOfProps() (rc mqi.RC) {
	if g.gmo.Version >= 4 {
		if g.handle, rc = g.c.msgHandle(g.gmo.MsgHandle); rc != 0 {
			return rc
		}
	}
	return g.propControl().Check()
}

// CreateMsgHandle makes a message handle (MQCRTMH). options are MQCMHO_*: how names of properties are checked.
func (c *Conn) CreateMsgHandle(options int32) (MsgHandle, error) {
	if err := c.begin("MQCRTMH", ""); err != nil {
		return 0, err
	}
	defer c.verb.Unlock()
	if options&^(mqi.MQCMHO_NO_VALIDATION|mqi.MQCMHO_VALIDATE) != 0 || bits(options) > 1 {
		return 0, mqi.E("MQCRTMH", "", mqi.MQRC_OPTIONS_ERROR)
	}
	if c.msgs == nil {
		c.msgs = map[MsgHandle]*msgHandle{}
	}
	if len(c.msgs) >= numAttr(c.m.qmgrDef(), "MAXHANDS", 256) {
		return 0, mqi.E("MQCRTMH", "", mqi.MQRC_HANDLE_NOT_AVAILABLE)
	}
	c.lastMsg++
	c.msgs[c.lastMsg] = &msgHandle{props: &mqi.Props{}, validate: options&mqi.MQCMHO_NO_VALIDATION == 0}
	return c.lastMsg, nil
}

// withMsg calls fn with a message handle.
func (c *Conn) withMsg(op string, n MsgHandle, fn func(h *msgHandle) error) error {
	if err := c.begin(op, ""); err != nil {
		return err
	}
	defer c.verb.Unlock()
	h, rc := c.msgHandle(int64(n))
	switch {
	case rc != 0:
		return mqi.E(op, "", rc)
	case h == nil:
		return mqi.E(op, "", mqi.MQRC_HMSG_ERROR)
	}
	return fn(h)
}

// DeleteMsgHandle ends a message handle (MQDLTMH).
func (c *Conn) DeleteMsgHandle(n MsgHandle) error {
	return c.withMsg("MQDLTMH", n, func(*msgHandle) error {
		delete(c.msgs, n)
		return nil
	})
}

// SetProperty sets a property of a message handle (MQSETMP); options are MQSMPO_*.
func (c *Conn) SetProperty(n MsgHandle, options int32, name string, pd mqi.PD, v mqi.PropValue) error {
	return c.withMsg("MQSETMP", n, func(h *msgHandle) error { return h.props.Set(options, name, pd, v, h.validate) })
}

// InquireProperty gives a property of a message handle (MQINQMP); options are MQIMPO_*, typ the MQTYPE_* wanted.
func (c *Conn) InquireProperty(n MsgHandle, options int32, name string, typ int32) (p mqi.Property, err error) {
	err = c.withMsg("MQINQMP", n, func(h *msgHandle) error {
		p, err = h.props.Inquire(options, name, typ)
		return err
	})
	return p, err
}

// DeleteProperty removes a property of a message handle (MQDLTMP); options are MQDMPO_*.
func (c *Conn) DeleteProperty(n MsgHandle, options int32, name string) error {
	return c.withMsg("MQDLTMP", n, func(h *msgHandle) error { return h.props.Delete(options, name) })
}

// MsgHandleToBuffer makes an MQRFH2 of a handle's properties (MQMHBUF). md then says what the buffer begins with.
func (c *Conn) MsgHandleToBuffer(n MsgHandle, options int32, md *mqi.MD) (buf []byte, err error) {
	err = c.withMsg("MQMHBUF", n, func(h *msgHandle) error {
		if options&^mqi.MQMHBO_DELETE_PROPERTIES != mqi.MQMHBO_PROPERTIES_IN_MQRFH2 {
			return mqi.E("MQMHBUF", "", mqi.MQRC_OPTIONS_ERROR)
		}
		m := *md
		m.CodedCharSetID = orDefault(m.CodedCharSetID)
		if buf, err = mqi.JoinProps(&m, nil, h.props.All()); err != nil {
			return err
		}
		*md = m
		if options&mqi.MQMHBO_DELETE_PROPERTIES != 0 {
			h.fill(nil)
		}
		return nil
	})
	return buf, err
}

// BufferToMsgHandle takes the properties of a buffer's MQRFH2 into a handle, in place of those it has (MQBUFMH). It gives the
// data: without the properties when options say MQBMHO_DELETE_PROPERTIES.
func (c *Conn) BufferToMsgHandle(n MsgHandle, options int32, md *mqi.MD, buf []byte) (data []byte, err error) {
	err = c.withMsg("MQBUFMH", n, func(h *msgHandle) error {
		if options&^mqi.MQBMHO_DELETE_PROPERTIES != 0 {
			return mqi.E("MQBUFMH", "", mqi.MQRC_OPTIONS_ERROR)
		}
		m := *md
		m.CodedCharSetID = orDefault(m.CodedCharSetID)
		props, bare, err := mqi.SplitProps(&m, buf, true)
		if err != nil {
			return err
		}
		h.fill(props)
		if data = buf; options&mqi.MQBMHO_DELETE_PROPERTIES != 0 {
			*md, data = m, bare
		}
		return nil
	})
	return data, err
}
