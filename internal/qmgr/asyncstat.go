package qmgr

import "github.com/qmgrd/qmgrd/internal/mqi"

// Puts with MQPMO_ASYNC_RESPONSE. The engine puts at once and its caller is told; a door that does not answer its client takes
// that as it is, and MQSTAT tells the client what became of them.

// asyncPuts counts since the last MQSTAT.
type asyncPuts struct{ sts mqi.STS }

// countAsync counts a put that asked for no answer.
func (c *Conn) countAsync(typ int32, object string, pmo *mqi.PMO, err error) {
	if pmo.Options&mqi.MQPMO_ASYNC_RESPONSE == 0 {
		return
	}
	cc, rc := mqi.Reason(err)
	t := &c.async.sts
	switch cc {
	case mqi.CCOK:
		t.PutSuccessCount++
		return
	case mqi.CCWarning:
		t.PutWarningCount++
	default:
		t.PutFailureCount++
	}
	if cc <= t.CompCode { // the first of the worst is told
		return
	}
	t.CompCode, t.Reason = cc, rc
	t.ObjectType, t.ObjectName, t.ObjectQMgrName = typ, object, c.m.opt.Name
	t.ResolvedObject, t.ResolvedQMgrName = pmo.ResolvedQName, pmo.ResolvedQMgrName
}

// Stat tells what became of the puts without answer since it was asked last (MQSTAT).
func (c *Conn) Stat(typ int32) (mqi.STS, error) {
	if err := c.begin("MQSTAT", c.m.opt.Name); err != nil {
		return mqi.STS{}, err
	}
	defer c.verb.Unlock()
	switch typ {
	case mqi.MQSTAT_TYPE_ASYNC_ERROR:
		s := c.async.sts
		c.async = asyncPuts{}
		return s, nil
	case mqi.MQSTAT_TYPE_RECONNECTION, mqi.MQSTAT_TYPE_RECONNECTION_ERROR: // it is the client that connects again
		return mqi.STS{}, mqi.E("MQSTAT", c.m.opt.Name, mqi.MQRC_FUNCTION_NOT_SUPPORTED)
	}
	return mqi.STS{}, mqi.E("MQSTAT", c.m.opt.Name, mqi.MQRC_STAT_TYPE_ERROR)
}
