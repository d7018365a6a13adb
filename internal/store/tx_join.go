package store

// Join appends the intents of another unit, which must not be used again: a call that has several intents builds them
// aside, and joins them to the unit of work when all of them are possible.
func (t *Tx) Join(o *Tx) {
	t.ops = append(t.ops, o.ops...)
	t.bytes += o.bytes
	t.persistent = t.persistent || o.persistent
	o.ops = nil
}
