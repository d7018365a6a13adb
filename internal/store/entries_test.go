package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// The table of a generation agrees with a map: keys of every length, also none and ones that begin alike, set more than once.
func TestEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 40 {
		var tab entries
		model := map[string]genEntry{}
		prefix := bytes.Repeat([]byte{'p'}, rng.IntN(40))
		for i := range rng.IntN(3000) {
			key := append(slices.Clone(prefix), fmt.Sprint(rng.IntN(1500))...)
			switch rng.IntN(100) {
			case 0:
				key = nil
			case 1:
				key = append(key, make([]byte, rng.IntN(20))...) // zeros at the end have an order too
			case 2:
				key = append(key, make([]byte, entryText+rng.IntN(100))...)
			}
			e := genEntry{ref{seg: uint32(round), n: uint32(i), off: uint64(i) << 33}, rng.IntN(4) == 0}
			tab.set(key, e)
			model[string(key)] = e
			key = append(key, 'x') // the table has its own copy
			if _, ok := tab.get(key); ok != (model[string(key)] != genEntry{}) {
				t.Fatalf("get(%q) = %v", key, ok)
			}
		}
		var want []string
		for k, e := range model {
			want = append(want, k)
			if got, ok := tab.get([]byte(k)); !ok || got != e {
				t.Fatalf("get(%q) = %v, %v, want %v", k, got, ok, e)
			}
		}
		slices.Sort(want)
		var got []string
		for _, i := range tab.sorted() {
			got = append(got, string(tab.key(tab.row(int(i)))))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d: %d keys in order, want %d:\n%q\n%q", round, len(got), len(want), got, want)
		}
		n := 0
		if tab.each(func(r *entryRow) { n += len(tab.key(r)) }); n != len(string(bytes.Join(toBytes(want), nil))) {
			t.Fatalf("each gave %d bytes of keys", n)
		}
	}
	if _, ok := (*entries)(nil).get([]byte("k")); ok {
		t.Fatal("no table has a key")
	}
}

func toBytes(in []string) (out [][]byte) {
	for _, s := range in {
		out = append(out, []byte(s))
	}
	return out
}

// Values that lie close together are read in one go, others alone; each gets its own bytes, and damage is found in both.
func TestReadAll(t *testing.T) {
	o := Options{Dir: t.TempDir()}
	st, err := OpenLog(o)
	if err != nil {
		t.Fatal(err)
	}
	s := st.(*logStore)
	defer s.Close(Immediate, nil)
	rng := rand.New(rand.NewPCG(3, 4))
	want := map[string][]byte{}
	for i := range 300 {
		var tx Tx
		for j := range 5 {
			k := fmt.Sprintf("%03d/%d", i, j)
			v := bytes.Repeat([]byte(k), rng.IntN(60))
			if rng.IntN(50) == 0 {
				v = bytes.Repeat([]byte(k), 100_000) // in a frame, or a file, of its own
			}
			want[k] = v
			tx.Set(TableObjects, []byte(k), v)
		}
		if _, err := s.Commit(t.Context(), &tx); err != nil {
			t.Fatal(err)
		}
	}
	tab := s.delta.cur.tables[TableObjects]
	var at []placed
	got := map[string][]byte{}
	tab.each(func(r *entryRow) {
		b := make([]byte, r.val.n)
		got[string(tab.key(r))] = b
		if len(b) > 0 {
			at = append(at, placed{r.val, b})
		}
	})
	var buf []byte
	if err := s.files.readAll(&buf, at); err != nil {
		t.Fatal(err)
	}
	for k, v := range want {
		if !bytes.Equal(got[k], v) {
			t.Fatalf("%q has %d bytes, want %d", k, len(got[k]), len(v))
		}
	}
	at[len(at)/2].r.crc++
	if err := s.files.readAll(&buf, at); err == nil {
		t.Fatal("a wrong checksum was not found")
	}
}
