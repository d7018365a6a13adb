package pubsub

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Filters: topic strings with wildcards, in the two schemes.

// Scheme is WSCHEMA.
type Scheme uint8

const (
	// SchemeTopic: '#' alone in a level stands for any number of levels, '+' alone for one.
	SchemeTopic Scheme = iota
	// SchemeChar: '*' stands for any characters, '?' for one, '%' before '*', '?' or '%' makes it an ordinary one.
	SchemeChar
)

// String is the word of WSCHEMA.
func (s Scheme) String() string {
	if s == SchemeChar {
		return "CHAR"
	}
	return "TOPIC"
}

type levelKind uint8

const (
	literal levelKind = iota
	plus
	hash
)

// Filter is a parsed filter.
type Filter struct {
	text   string // as written
	scheme Scheme
	// exact is the topic string meant, when wild is false.
	exact string
	wild  bool
	lits  int      // literal levels before the first wildcard
	lead  string   // these levels as a topic string
	level []string // SchemeTopic: all levels, adjacent '#' made one
	kind  []levelKind
	glob  []globTok // SchemeChar
}

// literalRunes is how far the filter goes before its first wildcard.
func (f *Filter) literalRunes() int {
	switch {
	case !f.wild:
		return math.MaxInt
	case f.scheme == SchemeTopic:
		return utf8.RuneCountInString(f.lead) + min(f.lits, 1) // with the slash
	}
	return slices.IndexFunc(f.glob, func(t globTok) bool { return t.kind != globChar })
}

// String is the filter as written.
func (f *Filter) String() string { return f.text }

// Wild reports whether there is a wildcard in it.
func (f *Filter) Wild() bool { return f.wild }

// ParseFilter reads a filter.
func ParseFilter(text string, s Scheme) (*Filter, error) {
	if err := CheckLen(text); err != nil {
		return nil, err
	}
	if s == SchemeChar {
		return parseChar(text)
	}
	f := &Filter{text: text, exact: text}
	if !strings.ContainsAny(text, "#+") {
		return f, nil
	}
	end := 0 // of the literal levels
	for rest, more := text, true; more; {
		var lv string
		lv, rest, more = nextLevel(rest)
		k := literal
		switch lv {
		case "#":
			k = hash
		case "+":
			k = plus
		}
		if k == hash && len(f.kind) > 0 && f.kind[len(f.kind)-1] == hash {
			continue
		}
		f.level, f.kind = append(f.level, lv), append(f.kind, k)
		switch {
		case k != literal:
			f.wild = true
		case !f.wild:
			f.lits++
			end += len(lv) + 1
		}
	}
	if f.wild {
		f.lead = text[:max(end-1, 0)]
	}
	return f, nil
}

// Match reports whether a topic string fits. It is the plain reading of the rules; the tree has faster ways.
func (f *Filter) Match(topic string) bool {
	switch {
	case !f.wild:
		return f.exact == topic
	case f.scheme == SchemeChar:
		return globMatch(f.glob, topic)
	}
	set := f.start(nil)
	for rest, more := topic, topic != ""; more; {
		var lv string
		lv, rest, more = nextLevel(rest)
		if set = f.step(nil, set, lv); len(set) == 0 {
			return false
		}
	}
	return f.accepts(set)
}

// A topic-scheme filter is run as an automaton: its states are the places in level, and len(level) is the accepting
// one. A '#' stays where it is for every level it swallows, and may be stepped over for nothing.

// start returns the states before the first level.
func (f *Filter) start(dst []int32) []int32 { return f.enter(dst, 0) }

// enter adds a state and what follows from it for nothing, unless it is there. States are added in rising order.
func (f *Filter) enter(dst []int32, p int32) []int32 {
	if n := len(dst); n > 0 && dst[n-1] >= p {
		return dst
	}
	dst = append(dst, p)
	if int(p) < len(f.kind) && f.kind[p] == hash {
		dst = append(dst, p+1)
	}
	return dst
}

// step appends the states after one more level.
func (f *Filter) step(dst, set []int32, lv string) []int32 {
	for _, p := range set {
		if int(p) == len(f.kind) {
			continue
		}
		switch f.kind[p] {
		case hash:
			dst = f.enter(dst, p)
		case plus:
			dst = f.enter(dst, p+1)
		default:
			if f.level[p] == lv {
				dst = f.enter(dst, p+1)
			}
		}
	}
	return dst
}

func (f *Filter) accepts(set []int32) bool {
	return len(set) > 0 && int(set[len(set)-1]) == len(f.kind)
}

type globKind uint8

const (
	globChar globKind = iota
	globOne
	globRun
)

type globTok struct {
	kind globKind
	r    rune
}

// parseChar reads a filter of the character scheme. '%' may only stand before '*', '?' and '%'.
func parseChar(text string) (*Filter, error) {
	if !utf8.ValidString(text) {
		return nil, refuse(RCTopicString, text, "not valid UTF-8")
	}
	f := &Filter{text: text, scheme: SchemeChar}
	var exact strings.Builder
	escaped := false
	for _, r := range text {
		tok := globTok{r: r}
		switch {
		case escaped && r != '*' && r != '?' && r != '%':
			return nil, refuse(RCTopicString, text, fmt.Sprintf("'%%' is followed by %q; only '*', '?' or '%%' may follow it", r))
		case escaped:
			escaped = false
		case r == '%':
			escaped = true
			continue
		case r == '*':
			tok.kind = globRun
		case r == '?':
			tok.kind = globOne
		}
		if tok.kind == globRun && len(f.glob) > 0 && f.glob[len(f.glob)-1].kind == globRun {
			continue
		}
		f.glob = append(f.glob, tok)
		if tok.kind != globChar {
			f.wild = true
		}
		if !f.wild {
			exact.WriteRune(r)
		}
	}
	if escaped {
		return nil, refuse(RCTopicString, text, "'%' at the end escapes nothing")
	}
	if !f.wild {
		f.exact, f.glob = exact.String(), nil
		return f, nil
	}
	// Only whole levels before the first wildcard are sure to be levels of what matches.
	if s := exact.String(); strings.Contains(s, "/") {
		f.lead = s[:strings.LastIndexByte(s, '/')]
		f.lits = strings.Count(f.lead, "/") + 1
	}
	return f, nil
}

// globMatch goes back to the latest '*' only, so it needs at most len(toks)*len(s) steps.
func globMatch(toks []globTok, s string) bool {
	rs := []rune(s)
	p, i, star, mark := 0, 0, -1, 0
	for i < len(rs) {
		switch {
		case p < len(toks) && toks[p].kind == globRun:
			star, mark = p, i
			p++
		case p < len(toks) && (toks[p].kind == globOne || toks[p].r == rs[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(toks) && toks[p].kind == globRun {
		p++
	}
	return p == len(toks)
}
