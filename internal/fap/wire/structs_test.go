package wire

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// filled sets every field of a structure to a value of its own; strings are short enough for each.
func filled(p any) {
	n := 0
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		n++
		switch v.Kind() {
		case reflect.Int32, reflect.Int64:
			v.SetInt(int64(n * 1001))
		case reflect.Uint8:
			v.SetUint(uint64(n%251 + 1))
		case reflect.String:
			v.SetString(fmt.Sprintf("s%d", n))
		case reflect.Array:
			for i := range v.Len() {
				fill(v.Index(i))
			}
		}
	}
	for i := range reflect.ValueOf(p).Elem().NumField() {
		fill(reflect.ValueOf(p).Elem().Field(i))
	}
}

// without gives fields from the one named on their defaults; with "" none.
func without(p any, name string, defaults any) {
	v, d := reflect.ValueOf(p).Elem(), reflect.ValueOf(defaults)
	for i, on := 0, false; i < v.NumField(); i++ {
		if on = on || v.Type().Field(i).Name == name; on {
			v.Field(i).Set(d.Field(i))
		}
	}
}

// versioned is a structure in one of its versions.
type versioned struct {
	name   string
	size   int
	want   any
	encode func(*Encoder)
	decode func(*Decoder) any
}

func versionedStructs() (out []versioned) {
	add := func(name string, v int32, size int, want any, encode func(*Encoder), decode func(*Decoder) any) {
		out = append(out, versioned{fmt.Sprintf("%s version %d", name, v), size, want, encode, decode})
	}
	for v := int32(1); v <= 2; v++ {
		var m mqi.MD
		filled(&m)
		m.Version = v
		if v == 1 {
			without(&m, "GroupID", mqi.MD{MsgSeqNumber: 1, OriginalLength: -1})
		}
		add("MD", v, []int{324, 364}[v-1], m, func(e *Encoder) { e.md(&m) }, func(d *Decoder) any { return d.md() })
	}
	for v := int32(1); v <= 4; v++ {
		var o mqi.OD
		filled(&o)
		o.Version, o.RecsPresent = v, 0
		without(&o, []string{"RecsPresent", "AlternateSecurity", "ObjectString", ""}[v-1], mqi.OD{})
		size := []int{168, 200, 336, 400}[v-1]
		for _, s := range []string{o.ObjectString, o.SelectionString, o.ResObjectString} {
			size += pad4(len(s))
		}
		add("OD", v, size, o, func(e *Encoder) { e.od(&o) }, func(d *Decoder) any { return d.od() })
	}
	for v := int32(1); v <= 3; v++ {
		var p mqi.PMO
		filled(&p)
		p.Version, p.RecsPresent = v, 0
		without(&p, []string{"RecsPresent", "OriginalMsgHandle", ""}[v-1], mqi.PMO{PubLevel: mqi.DefaultPMO().PubLevel})
		add("PMO", v, []int{128, 152, 176}[v-1], p, func(e *Encoder) { e.pmo(&p) }, func(d *Decoder) any { return d.pmo() })
	}
	for v := int32(1); v <= 4; v++ {
		var g mqi.GMO
		filled(&g)
		g.Version = v
		without(&g, []string{"MatchOptions", "MsgToken", "MsgHandle", ""}[v-1], mqi.DefaultGMO())
		add("GMO", v, []int{72, 80, 100, 112}[v-1], g, func(e *Encoder) { e.gmo(&g) }, func(d *Decoder) any { return d.gmo() })
	}
	var sro mqi.SRO
	filled(&sro)
	sro.Version = 1
	add("SRO", 1, 16, sro, func(e *Encoder) { e.sro(&sro) }, func(d *Decoder) any { return d.sro() })
	var sts mqi.STS
	filled(&sts)
	sts.Version = 1
	without(&sts, "ObjectString", mqi.STS{}) // of version 2, which no client asks for
	add("STS", 1, 224, sts, func(e *Encoder) { e.sts(&sts) }, func(d *Decoder) any { return d.sts() })
	return out
}

// Every version of a structure has its size and its fields; those that it lacks have their defaults. In each byte order, and in code
// pages of both kinds. One that ends a byte too early is too short, whatever follows in other messages.
func TestVersions(t *testing.T) {
	for _, s := range versionedStructs() {
		for _, o := range []Order{Big, Little} {
			for _, ccsid := range []uint16{1208, 819, 37} {
				tx, _ := NewText(ccsid, o.order())
				c := Codec{Order: o, Text: tx}
				e := NewEncoder(nil, c)
				s.encode(e)
				if len(e.b) != s.size {
					t.Errorf("%s, %v, %d: %d bytes, want %d", s.name, o, ccsid, len(e.b), s.size)
				}
				d := NewDecoder(append(e.b[:len(e.b):len(e.b)], "more"...), c)
				if got := s.decode(d); d.err != nil || d.off != s.size || !cmp.Equal(got, s.want) {
					t.Errorf("%s, %v, %d: %v, read %d of %d bytes:\n%s", s.name, o, ccsid, d.err, d.off, s.size, cmp.Diff(s.want, got))
				}
				d = NewDecoder(e.b[:min(s.size, 400)-1], c) // strings that follow may be padded, or not
				s.decode(d)
				if d.err == nil {
					t.Errorf("%s, %v, %d: read without its last byte", s.name, o, ccsid)
				}
			}
		}
	}
}
