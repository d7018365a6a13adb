package qmgr

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// What is kept in memory comes back as it was, whatever its zeros and its length.
func TestRetainedMemory(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var r retainedMem
		r.init()
		data := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 0, 0, 1, 255}), 0, 700)
		want := map[pubsub.RetainedRef][2][]byte{}
		for range rapid.IntRange(1, 6).Draw(rt, "puts") {
			ref := pubsub.RetainedRef(rapid.IntRange(1, 4).Draw(rt, "ref"))
			r.remove(ref)
			delete(want, ref)
			if rapid.Bool().Draw(rt, "put") {
				w := [2][]byte{data.Draw(rt, "head"), data.Draw(rt, "body")}
				want[ref] = w
				r.put(ref, w[0], w[1])
			}
		}
		if len(r.small) != len(want) || len(r.large) > len(want) {
			rt.Fatalf("%d and %d kept, want %d", len(r.small), len(r.large), len(want))
		}
		for ref, w := range want {
			head, body, ok := r.get(ref)
			if !ok || !bytes.Equal(head, w[0]) || !bytes.Equal(body, w[1]) {
				rt.Fatalf("%d: %v %v %t, want %v", ref, head, body, ok, w)
			}
		}
	})
}
