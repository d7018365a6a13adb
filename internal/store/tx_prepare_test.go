package store

import "testing"

// TestTakePuts: the puts of a unit go first, in their order, and both parts know for themselves whether they need the disk.
func TestTakePuts(t *testing.T) {
	var tx Tx
	tx.Put(1, 7, Rec{Head: []byte("a"), Body: []byte("bb")})
	tx.Remove(2, 3, true)
	tx.Put(1, 8, Rec{Head: []byte("c")})
	puts := tx.TakePuts()
	if puts.Len() != 2 || puts.ops[0].s != 7 || puts.ops[1].s != 8 || puts.Bytes() != 4 || puts.Persistent() {
		t.Errorf("puts %+v", puts)
	}
	if tx.Len() != 1 || tx.ops[0].kind != opRemove || tx.Bytes() != 0 || !tx.Persistent() {
		t.Errorf("rest %+v", tx)
	}
}
