package qmgr

import "strings"

// CUSTOM holds attributes that a release had not as keywords of their own, as NAME(VALUE) pairs with blanks between them. Scripts
// of such releases cap expiry so.

// customValue finds a pair; "" when it is not there.
func customValue(custom, name string) string {
	for custom != "" {
		key, rest, ok := strings.Cut(custom, "(")
		if !ok {
			return ""
		}
		val, after, ok := strings.Cut(rest, ")")
		if !ok {
			return ""
		}
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(val)
		}
		custom = after
	}
	return ""
}

// capExpiryOf is a definition's CAPEXPRY, or when that says nothing the one in CUSTOM; as it is written.
func capExpiryOf(d *Def) string {
	own := d.Get("CAPEXPRY")
	if own != "NOLIMIT" && own != "ASPARENT" && own != "" {
		return own
	}
	if custom := d.Get("CUSTOM"); custom != "" {
		if v := customValue(custom, "CAPEXPRY"); v != "" {
			return v
		}
	}
	return own
}

// capTenths is capExpiryOf in tenths of a second, 0 for none.
func capTenths(d *Def) int { return numOf(capExpiryOf(d), 0) }
