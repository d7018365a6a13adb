package qmgr

// OpenedAttrs returns integer attributes of the definition that a handle was opened by, nil when there are none. It is for
// doors whose answer to MQOPEN carries some of them: no authority is asked for.
func (c *Conn) OpenedAttrs(n Handle, selectors []int32) []int32 {
	h, err := c.handle("MQOPEN", n)
	if err != nil || h.res == nil || len(h.res.path) == 0 {
		return nil
	}
	o := h.res.path[0]
	d := o.Def()
	if d == nil {
		return nil
	}
	q := inquiry{h: h, obj: o, def: d, maxInts: len(selectors)}
	for _, s := range selectors {
		if q.add(s) != 0 {
			return nil
		}
	}
	return q.ints
}
