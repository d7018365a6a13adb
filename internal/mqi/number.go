package mqi

import "strings"

// Number gives the value of an MQ constant by its name, "MQRC_Q_FULL"; false when no family has it.
func Number(name string) (int32, bool) {
	prefix, _, _ := strings.Cut(name, "_")
	for i := range families {
		if families[i].prefix != prefix {
			continue
		}
		for _, n := range families[i].names {
			if n.name == name {
				return n.num, true
			}
		}
	}
	return 0, false
}
