package pubsub

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
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
	least int      // SchemeTopic: levels that a topic has at least
	lead  string   // these levels as a topic string
	level []string // SchemeTopic: all levels, adjacent '#' made one
	kind  []levelKind
	glob  []globTok // SchemeChar

	byLevel atomic.Pointer[automaton[string]] // SchemeTopic; made when it is first needed
	byRune  atomic.Pointer[automaton[rune]]   // SchemeChar
}

// levels is the automaton of a filter of the topic scheme.
func (f *Filter) levels() *automaton[string] {
	if a := f.byLevel.Load(); a != nil {
		return a
	}
	a := newAutomaton(len(f.kind), func(i int) (levelKind, string) { return f.kind[i], f.level[i] })
	f.byLevel.Store(a)
	return a
}

// runes is the automaton of a filter of the character scheme.
func (f *Filter) runes() *automaton[rune] {
	if a := f.byRune.Load(); a != nil {
		return a
	}
	a := newAutomaton(len(f.glob), func(i int) (levelKind, rune) { return f.glob[i].kind, f.glob[i].r })
	f.byRune.Store(a)
	return a
}

// literalRunes is how far the filter goes before its first wildcard.
func (f *Filter) literalRunes() int {
	switch {
	case !f.wild:
		return math.MaxInt
	case f.scheme == SchemeTopic:
		return utf8.RuneCountInString(f.lead) + min(f.lits, 1) // with the slash
	}
	return slices.IndexFunc(f.glob, func(t globTok) bool { return t.kind != literal })
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
		if k != hash {
			f.least++
		}
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

// Match reports whether a topic string fits. The tree has faster ways.
func (f *Filter) Match(topic string) bool {
	switch {
	case !f.wild:
		return f.exact == topic
	case f.scheme == SchemeChar:
		return f.matchRunes(topic)
	}
	return f.matchLevels(0, topic, topic != "")
}

// matchLevels reports whether the levels of a string, if more says that it has any, fit the filter's from one on.
func (f *Filter) matchLevels(from int, topic string, more bool) bool {
	if least := f.least - from; more && least > 0 && strings.Count(topic, "/")+1 < least || !more && least > 0 {
		return false
	}
	a := f.levels()
	s := a.start(from)
	var room [16]uint64
	buf := room[:]
	for more && len(s.w) > 0 {
		var lv string
		lv, topic, more = nextLevel(topic)
		next := a.step(buf, s, lv)
		buf, s = s.w, next
	}
	return a.accepts(s)
}

type globTok struct {
	kind levelKind
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
			tok.kind = hash
		case r == '?':
			tok.kind = plus
		}
		if tok.kind == hash && len(f.glob) > 0 && f.glob[len(f.glob)-1].kind == hash {
			continue
		}
		f.glob = append(f.glob, tok)
		if tok.kind != literal {
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

// manyTokens is where the plain way to match a pattern of characters ends: it needs tokens times characters in the worst case.
const manyTokens = 32

// matchRunes is Match for the character scheme.
func (f *Filter) matchRunes(s string) bool {
	if len(f.glob) <= manyTokens {
		return globMatch(f.glob, s)
	}
	a := f.runes()
	set := a.start(0)
	var room [16]uint64
	buf := room[:]
	for _, r := range s {
		next := a.step(buf, set, r)
		if buf, set = set.w, next; len(set.w) == 0 {
			return false
		}
	}
	return a.accepts(set)
}

// globMatch goes back to the latest '*' only.
func globMatch(toks []globTok, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case p < len(toks) && toks[p].kind == hash:
			star, mark = p, i
			p++
		case p < len(toks) && (toks[p].kind == plus || toks[p].r == r):
			p++
			i += size
		case star >= 0:
			_, size = utf8.DecodeRuneInString(s[mark:])
			mark += size
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(toks) && toks[p].kind == hash {
		p++
	}
	return p == len(toks)
}
