package qmgr

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// Values of a definition are what was set last, the table's defaults otherwise, also after they were stored and read.
func TestDefValues(t *testing.T) {
	for _, k := range attr.Kinds() {
		if s, ok := attr.SchemaOf(k); ok && len(s.Attrs) > 256 {
			t.Errorf("%s has %d attributes: their places do not fit in a byte", k, len(s.Attrs))
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		d, err := newDef("QLOCAL", "Q")
		if err != nil {
			rt.Fatal(err)
		}
		want := make([]string, len(d.Schema.Attrs))
		for i := range want {
			want[i] = d.val(i)
		}
		same := func(d *Def, what string) {
			for i := range want {
				if got := d.val(i); got != want[i] {
					rt.Fatalf("%s: %s is %q, want %q", what, d.Schema.Attrs[i].Name, got, want[i])
				}
			}
		}
		text := rapid.OneOf(rapid.SampledFrom([]string{"", "A", strings.Repeat("x", 254), strings.Repeat("y", 255), strings.Repeat("z", 70000)}),
			rapid.StringN(0, 20, -1))
		for range rapid.IntRange(0, 30).Draw(rt, "changes") {
			i := rapid.IntRange(0, len(want)-1).Draw(rt, "place")
			if d.Schema.Attrs[i].Positional {
				continue
			}
			v := text.Draw(rt, "text")
			if rapid.Bool().Draw(rt, "default") {
				v = d.Schema.Attrs[i].Default
			}
			before := d.clone()
			had := want[i]
			d.setVal(i, v)
			want[i] = v
			if before.val(i) != had {
				rt.Fatalf("a clone changed with its origin")
			}
			same(d, "set")
		}
		r, id, err := decodeDef(d.encode(7))
		if err != nil || id != 7 || r.Kind != d.Kind || r.Name != d.Name {
			rt.Fatalf("%v: %s(%s) %d", err, r.Kind, r.Name, id)
		}
		// What is made of kind and name is made again.
		for _, key := range []string{"TYPE", "QUEUE"} {
			if i, ok := d.Schema.Index(key); ok {
				want[i] = r.val(i)
			}
		}
		same(r, "stored")
		if r.own != d.own && r.Get("TYPE") == d.Get("TYPE") {
			rt.Fatalf("own values %q, want %q", r.own, d.own)
		}
	})
}
