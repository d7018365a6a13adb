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

// Adds tells what takes room on the disk from what gives some back, and from what is in memory only.
func TestTxAdds(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(*Tx)
		want bool
	}{
		{"nothing", func(*Tx) {}, false},
		{"put, persistent", func(tx *Tx) { tx.Put(1, 1, Rec{Head: []byte("h"), Persistent: true}) }, true},
		{"put, nonpersistent", func(tx *Tx) { tx.Put(1, 1, Rec{Head: []byte("h")}) }, false},
		{"get", func(tx *Tx) { tx.Remove(1, 1, true) }, false},
		{"get and put", func(tx *Tx) { tx.Remove(1, 1, true); tx.Put(1, 2, Rec{Persistent: true}) }, true},
		{"backout count", func(tx *Tx) { tx.SetHead(1, 1, []byte("h"), true) }, false},
		{"entry", func(tx *Tx) { tx.Set(0, []byte("k"), []byte("v")) }, true},
		{"shorter entry", func(tx *Tx) { tx.Shrink(0, []byte("k"), []byte("v")) }, false},
		{"entry gone", func(tx *Tx) { tx.Unset(0, []byte("k")) }, false},
		{"queue gone", func(tx *Tx) { tx.DropQueue(1) }, false},
	} {
		var tx Tx
		tc.do(&tx)
		if got := tx.Adds(); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
