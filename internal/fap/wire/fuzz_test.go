package wire

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzDecode: any body of any type is decoded or refused, without a panic and without memory beyond its size; what was
// decoded comes back when it is written and read again.
func FuzzDecode(f *testing.F) {
	for _, fr := range loadFrames(f) {
		f.Add(byte(fr.header.Type), byte(fr.header.Order), fr.header.CCSID, fr.body)
	}
	f.Fuzz(func(t *testing.T, typ, order byte, ccsid uint16, body []byte) {
		h := Header{Type: Type(typ), Order: Order(order), CCSID: ccsid}
		c, ok := h.Codec()
		if !ok {
			return
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		api, b, err := Decode(h.Type, body, c)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20+64*uint64(len(body)) {
			t.Fatalf("%v of %d bytes took %d bytes", h.Type, len(body), used)
		}
		if err != nil {
			if _, ok := err.(*Error); !ok {
				t.Fatalf("error %T", err)
			}
			return
		}
		if a, ok := b.(*Attrs); ok && a.Bad != 0 { // of which nothing more is known that could be written
			return
		}
		// A character that the code page can't give back is replaced once; from then on nothing changes.
		once := Encode(nil, h.Type, api, b, c, 0)
		api1, b1, err := Decode(h.Type, once, c)
		if err != nil {
			t.Fatalf("%v: written again: %v", h.Type, err)
		}
		twice := Encode(nil, h.Type, api1, b1, c, 0)
		if !bytes.Equal(once, twice) {
			t.Fatalf("%v: not stable\n%x\n%x", h.Type, once, twice)
		}
		if d := cmp.Diff(api, api1); d != "" {
			t.Fatal(d)
		}
	})
}

// FuzzSegments: any stream of bytes is read as segments and joined, or refused, within the bounds.
func FuzzSegments(f *testing.F) {
	for _, fr := range loadFrames(f) {
		f.Add(fr.bytes)
	}
	f.Add(append(split(100), split(5)...))
	f.Fuzz(func(t *testing.T, stream []byte) {
		const maxSegment, maxHeld = 4096, 16384
		a := Assembler{Max: maxHeld}
		r := bytes.NewReader(stream)
		for {
			h, body, err := ReadSegment(r, maxSegment)
			if err != nil {
				return
			}
			if h.Size()+len(body) > maxSegment {
				t.Fatalf("a segment of %d bytes", len(body))
			}
			head := h.Append(nil, len(body))
			if again, _, err := ReadSegment(bytes.NewReader(append(head, body...)), maxSegment); err != nil || again != h {
				t.Fatalf("header %+v came back as %+v, %v", h, again, err)
			}
			whole, done, err := a.Add(h, body)
			if err != nil {
				return
			}
			if a.Held()+partCost*len(a.part) > maxHeld || done && len(whole) > maxHeld+maxSegment {
				t.Fatalf("holds %d, message of %d bytes", a.Held(), len(whole))
			}
		}
	})
}

// split is a message in segments of 64 bytes.
func split(n int) []byte {
	var b bytes.Buffer
	h := Header{Magic: TSHM, Conv: 1, Order: Big, Type: MQPUT, CCSID: 819}
	WriteMessage(&b, h, make([]byte, n), 64)
	return b.Bytes()
}

// TestSplit: a message comes back whole from segments of any size, also between those of another conversation.
func TestSplit(t *testing.T) {
	want := make([]byte, 1000)
	for i := range want {
		want[i] = byte(i * 3)
	}
	for _, size := range []int{37, 64, 100, 1035, 1036, 1037, 5000} {
		var b bytes.Buffer
		h := Header{Magic: TSHM, Conv: 1, Order: Little, Type: MQPUT, CCSID: 819, Flags: FlagConfirm}
		if err := WriteMessage(&b, h, want, size); err != nil {
			t.Fatal(err)
		}
		a := Assembler{Max: 2000, Convs: 2}
		other := h
		other.Conv, other.Flags = 3, FlagFirst
		if _, done, err := a.Add(other, want[:10]); done || err != nil {
			t.Fatal(done, err)
		}
		parts := 0
		for {
			got, body, err := ReadSegment(&b, size)
			if err != nil {
				t.Fatalf("segments of %d: %v", size, err)
			}
			parts++
			whole, done, err := a.Add(got, body)
			if err != nil {
				t.Fatal(err)
			}
			if done {
				if !bytes.Equal(whole[:len(want)], want) || len(whole) > len(want)+3 || b.Len() != 0 || parts != (len(want)+size-37)/(size-36) {
					t.Errorf("segments of %d: %d parts, %d bytes, %d left", size, parts, len(whole), b.Len())
				}
				break
			}
		}
		if a.Held() != 10 {
			t.Errorf("%d bytes are held", a.Held())
		}
		a.Drop(3)
		if a.Held() != 0 {
			t.Errorf("%d bytes are held after Drop", a.Held())
		}
	}
}

// TestAssemblerBounds: more than the bound, and parts out of order, are refused.
func TestAssemblerBounds(t *testing.T) {
	h := func(flags byte) Header { return Header{Type: MQPUT, Flags: flags} }
	a := Assembler{Max: partCost + 100}
	if _, _, err := a.Add(h(FlagFirst), make([]byte, 90)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Add(h(0), make([]byte, 11)); err == nil {
		t.Error("101 bytes taken")
	}
	if _, _, err := a.Add(h(FlagFirst), nil); err == nil {
		t.Error("a second first part taken")
	}
	if _, _, err := (&Assembler{Max: 1000}).Add(h(FlagLast), nil); err == nil {
		t.Error("a last part without a first taken")
	}
}

// TestAssemblerCountsParts: messages of which nothing but the beginning has come are bounded in number, by type and by
// conversation, and each conversation has its own bound of bytes.
func TestAssemblerCountsParts(t *testing.T) {
	a := Assembler{Max: 10 * partCost, Convs: 2}
	first := func(conv uint32, ty Type, n int) error {
		_, _, err := a.Add(Header{Magic: TSHM, Conv: conv, Type: ty, Flags: FlagFirst}, make([]byte, n))
		return err
	}
	for ty := range 10 {
		if err := first(1, Type(ty), 0); err != nil {
			t.Fatal(ty, err)
		}
	}
	if first(1, 10, 0) == nil {
		t.Error("an eleventh message of conversation 1 taken")
	}
	if err := first(3, MQPUT, 9*partCost); err != nil {
		t.Errorf("conversation 3 pays for conversation 1: %v", err)
	}
	if first(5, MQPUT, 0) == nil {
		t.Error("a third conversation taken")
	}
	if whole, done, err := a.Add(Header{Magic: TSHM, Conv: 3, Type: MQPUT, Flags: FlagLast}, nil); !done || err != nil || len(whole) != 9*partCost {
		t.Fatal(len(whole), done, err)
	}
	a.Drop(1)
	if len(a.part)+len(a.held) != 0 {
		t.Errorf("left: %v, %v", a.part, a.held)
	}
	for conv := uint32(1); conv < 5; conv += 2 {
		if err := first(conv, MQPUT, 9*partCost); err != nil {
			t.Error(err)
		}
	}
}
