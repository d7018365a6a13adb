package qmgr

import "github.com/qmgrd/qmgrd/internal/mqi"

// Puts with MQPMO_ASYNC_RESPONSE, which Conn.async counts since the last MQSTAT. The engine puts at once and its caller is told; a door that does not answer its client takes
// that as it is, and MQSTAT tells the client what became of them.

// countAsync counts a put that asked for no answer.
func (c *Conn) countAsync(typ int32, object string, pmo *mqi.PMO, err error) {
	if pmo.Options&mqi.MQPMO_ASYNC_RESPONSE == 0 {
		return
	}
	if t := c.async.Count(err); t != nil {
		t.ObjectType, t.ObjectName, t.ObjectQMgrName = typ, object, c.m.opt.Name
		t.ResolvedObject, t.ResolvedQMgrName = pmo.ResolvedQName, pmo.ResolvedQMgrName
	}
}

// CountRefused counts a put that asked for no answer and that the caller has refused itself, by its handle; by the name of its
// object when the handle is none (MQPUT1).
func (c *Conn) CountRefused(n Handle, object string, err error) {
	if c.begin("MQPUT", object) != nil {
		return
	}
	defer c.verb.Unlock()
	typ := int32(mqi.MQOT_Q)
	if h, herr := c.handle("MQPUT", n); herr == nil {
		typ, object = h.objType, h.name
	}
	c.countAsync(typ, object, &mqi.PMO{Options: mqi.MQPMO_ASYNC_RESPONSE}, err)
}

// Stat tells what became of the puts without answer since it was asked last (MQSTAT).
func (c *Conn) Stat(typ int32) (mqi.STS, error) {
	if err := c.begin("MQSTAT", c.m.opt.Name); err != nil {
		return mqi.STS{}, err
	}
	defer c.verb.Unlock()
	switch typ {
	case mqi.MQSTAT_TYPE_ASYNC_ERROR:
		return c.async.Take(), nil
	case mqi.MQSTAT_TYPE_RECONNECTION, mqi.MQSTAT_TYPE_RECONNECTION_ERROR: // it is the client that connects again
		return mqi.STS{}, mqi.E("MQSTAT", c.m.opt.Name, mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	}
	return mqi.STS{}, mqi.E("MQSTAT", c.m.opt.Name, mqi.MQRC_STAT_TYPE_ERROR)
}
