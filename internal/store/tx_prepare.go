package store

// TakePuts takes the puts out of t, in their order, and returns them as a unit of their own: a unit of work that is
// prepared makes its messages durable first, and the rest when it is committed.
func (t *Tx) TakePuts() Tx {
	all := t.ops
	var rest, puts Tx
	for _, o := range all {
		if o.kind == opPut {
			puts.add(o)
		} else {
			rest.add(o)
		}
	}
	*t = rest
	return puts
}
