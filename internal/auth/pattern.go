package auth

import (
	"errors"
	"net/netip"
	"strconv"
	"strings"
)

// MatchStars reports whether a name fits a pattern in which an asterisk stands for any characters.
func MatchStars(pattern, name string) bool {
	// Greedy with one place to come back to: time is bounded by the product of the lengths.
	p, n, star, from := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && pattern[p] == name[n]:
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// specific ranks a pattern: an exact value above a generic one, a longer beginning above a shorter, what is said above
// what is not.
func specific(p string) int {
	if p == "" {
		return -1
	}
	if i := strings.IndexByte(p, '*'); i >= 0 {
		return i*4096 + len(p) // of two with the same beginning the one that says more
	}
	return 1 << 30
}

// addressPattern is one ADDRESS: parts of an IP address, each a value, a range or an asterisk; or a host name.
type addressPattern struct {
	text  string
	sep   byte // '.' or ':', 0 for a host name or "*"
	parts []string
}

func parseAddress(text string) addressPattern {
	a := addressPattern{text: text}
	switch {
	case text == "*" || text == "":
	case strings.Contains(text, ":"):
		a.sep, a.parts = ':', strings.Split(expandIPv6(text), ":")
	case isIPv4Pattern(text):
		a.sep, a.parts = '.', strings.Split(text, ".")
	}
	return a
}

// isHost says that only the name of the peer's host can fit.
func (a addressPattern) isHost() bool { return a.sep == 0 && a.text != "" && a.text != "*" }

// What is wrong with an address pattern.
var (
	ErrAddress      = errors.New("no IP address or pattern of one")
	ErrAddressRange = errors.New("a range of addresses that ends before it begins")
	ErrAddressName  = errors.New("a host name, and only IP addresses can be blocked")
)

// CheckAddress looks at the ADDRESS of a record, or an entry of ADDRLIST, which is no host name. A pattern that nothing can fit would
// let through whom it was made against.
func CheckAddress(text string, hosts bool) error {
	switch {
	case text == "*":
		return nil
	case strings.Contains(text, ":"):
		return checkParts(strings.Split(expandIPv6(text), ":"), 8, 16, 0xFFFF)
	case strings.Trim(text, "0123456789.*-") == "":
		return checkParts(strings.Split(text, "."), 4, 10, 255)
	}
	for _, c := range []byte(text) {
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte(".-_*", c) < 0 {
			return ErrAddress
		}
	}
	if !hosts {
		return ErrAddressName
	}
	return nil
}

// checkParts looks at the parts of an IP address: numbers, ranges of them, or asterisks. The last asterisk stands for all that follows.
func checkParts(parts []string, n, base int, most uint64) error {
	if len(parts) > n || len(parts) < n && parts[len(parts)-1] != "*" {
		return ErrAddress
	}
	for _, p := range parts {
		if p == "*" {
			continue
		}
		lo, hi, isRange := strings.Cut(p, "-")
		from, err := strconv.ParseUint(lo, base, 16)
		if err != nil || from > most {
			return ErrAddress
		}
		if !isRange {
			continue
		}
		to, err := strconv.ParseUint(hi, base, 16)
		switch {
		case err != nil || to > most:
			return ErrAddress
		case to < from:
			return ErrAddressRange
		}
	}
	return nil
}

func isIPv4Pattern(s string) bool {
	for _, p := range strings.Split(s, ".") {
		if p == "*" {
			continue
		}
		lo, hi, isRange := strings.Cut(p, "-")
		if !isByte(lo) || isRange && !isByte(hi) {
			return false
		}
	}
	return true
}

func isByte(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n <= 255 && s[0] != '+'
}

// expandIPv6 writes out a double colon, so that parts can be compared one by one.
func expandIPv6(s string) string {
	head, tail, ok := strings.Cut(s, "::")
	if !ok {
		return s
	}
	split := func(t string) []string {
		if t == "" {
			return nil
		}
		return strings.Split(t, ":")
	}
	h, t := split(head), split(tail)
	for len(h)+len(t) < 8 {
		h = append(h, "0")
	}
	return strings.Join(append(h, t...), ":")
}

// matches reports whether a peer fits. An asterisk as the last part stands for all parts that follow.
func (a addressPattern) matches(ip netip.Addr, hosts []string) bool {
	switch {
	case a.text == "*" || a.text == "":
		return true
	case a.isHost():
		for _, h := range hosts {
			if MatchStars(strings.ToLower(a.text), strings.ToLower(strings.TrimSuffix(h, "."))) {
				return true
			}
		}
		return false
	case !ip.IsValid():
		return false
	}
	var have []string
	base := 10
	if a.sep == '.' {
		if !ip.Is4() {
			return false
		}
		have = strings.Split(ip.String(), ".")
	} else {
		if !ip.Is6() {
			return false
		}
		have = strings.Split(ip.WithZone("").StringExpanded(), ":")
		base = 16
	}
	for i, p := range a.parts {
		if i >= len(have) {
			return false
		}
		if p == "*" && i == len(a.parts)-1 {
			return true
		}
		if !partMatches(p, have[i], base) {
			return false
		}
	}
	return len(a.parts) == len(have)
}

func partMatches(pattern, have string, base int) bool {
	if pattern == "*" {
		return true
	}
	n, err := strconv.ParseUint(have, base, 16)
	if err != nil {
		return false
	}
	lo, hi, isRange := strings.Cut(pattern, "-")
	from, err := strconv.ParseUint(lo, base, 16)
	if err != nil {
		return false
	}
	if !isRange {
		return n == from
	}
	to, err := strconv.ParseUint(hi, base, 16)
	return err == nil && from <= n && n <= to
}

// rank orders address patterns: an address above a host name above none; part by part a value above a range above an
// asterisk.
func (a addressPattern) rank() int {
	switch {
	case a.text == "":
		return -1
	case a.text == "*":
		return 0
	case a.isHost():
		return 1 + min(specific(a.text)>>10, 1<<20)
	}
	r, places := 0, 8
	for i := range places {
		r *= 3
		if i < len(a.parts) {
			switch p := a.parts[i]; {
			case p == "*":
			case strings.Contains(p, "-"):
				r++
			default:
				r += 2
			}
		}
	}
	return 1<<21 + r
}

// ParseIP reads the address of a peer, with or without a port. IPv4 in IPv6 counts as IPv4.
func ParseIP(s string) netip.Addr {
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap()
	}
	ip, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return ip.Unmap()
}
