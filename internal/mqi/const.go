package mqi

import (
	"slices"
	"sort"
	"strconv"
)

//go:generate go run gen/main.go

// numberName is one row of a family of constants.
type numberName struct {
	num  int32
	name string
}

// Name returns the MQ name of a number within a family, "MQCHT_SENDER" for Name("MQCHT", 1). A number without a name, and a
// prefix that is no known family, gives prefix, underscore, number.
func Name(prefix string, v int32) string {
	if s, ok := lookup(prefix, v); ok {
		return s
	}
	return prefix + "_" + strconv.Itoa(int(v))
}

// FlagNames returns the names of the single bits that are set in v, lowest first: the way DISPLAY CONN prints its options.
// Bits without a name are left out; 0 gives the name of 0 when there is one.
func FlagNames(prefix string, v int32) []string {
	if v == 0 {
		if s, ok := lookup(prefix, 0); ok {
			return []string{s}
		}
		return nil
	}
	var out []string
	for bit := 0; bit < 32; bit++ {
		if m := int32(uint32(1) << bit); v&m != 0 {
			if s, ok := lookup(prefix, m); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

func lookup(prefix string, v int32) (string, bool) {
	for i := range families {
		if families[i].prefix != prefix {
			continue
		}
		t := families[i].names
		j := sort.Search(len(t), func(k int) bool { return t[k].num >= v })
		if j < len(t) && t[j].num == v {
			return t[j].name, true
		}
		return "", false
	}
	return "", false
}

// Name returns the MQ name of a reason code. PCF commands answer with MQRCCF codes in the same field, so these are named
// too; an unknown code is "MQRC_" and the number.
func (rc RC) Name() string {
	if names := ReasonNames(int32(rc)); len(names) > 0 {
		return names[0]
	}
	return "MQRC_" + strconv.Itoa(int(rc))
}

// reasonFamilies are the families of reason codes; where both have a number, a verb's comes first.
var reasonFamilies = []string{"MQRC", "MQRCCF"}

// ReasonNames returns the names of a number as a reason code, MQRC_ and MQRCCF_; none for a number that is no reason.
func ReasonNames(v int32) []string {
	var out []string
	for _, family := range reasonFamilies {
		if s, ok := lookup(family, v); ok {
			out = append(out, s)
		}
	}
	return out
}

// ReasonNumber returns the number of a reason code by its name, MQRC_… or MQRCCF_….
func ReasonNumber(name string) (int32, bool) {
	for _, f := range families {
		if !slices.Contains(reasonFamilies, f.prefix) {
			continue
		}
		for _, n := range f.names {
			if n.name == name {
				return n.num, true
			}
		}
	}
	return 0, false
}
