package store

// Join appends the intents of another unit, which must not be used again: a call that has several intents builds them
// aside, and joins them to the unit of work when all of them are possible.
func (t *Tx) Join(o *Tx) {
	t.ops = append(t.ops, o.ops...)
	t.bytes += o.bytes
	t.persistent = t.persistent || o.persistent
	o.ops = nil
}

// Split takes the intents from the nth on out of t and returns them as a unit of their own.
func (t *Tx) Split(n int) Tx {
	all := t.ops
	n = min(n, len(all))
	var rest Tx
	front := Tx{ops: make([]op, 0, n)}
	for i, o := range all {
		if i < n {
			front.add(o)
		} else {
			rest.add(o)
		}
	}
	*t = front
	return rest
}
