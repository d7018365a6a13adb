package attr

import (
	"strings"
)

// Verbs returns all commands. The slice is shared: do not change it.
func Verbs() []Verb { return verbs[:] }

// LookupVerb finds the command of canonical words.
func LookupVerb(verb, object string) (*Verb, bool) {
	for i := range verbs {
		if verbs[i].Verb == verb && verbs[i].Object == object {
			return &verbs[i], true
		}
	}
	return nil, false
}

// ObjectsFor returns the object keywords of a verb, in table order; nil when there is no such verb.
func ObjectsFor(verb string) []string {
	var out []string
	for i := range verbs {
		if verbs[i].Verb == verb && verbs[i].Object != "" {
			out = append(out, verbs[i].Object)
		}
	}
	return out
}

// VerbWords returns the verbs, each once, in table order.
func VerbWords() []string {
	var out []string
	for i := range verbs {
		if len(out) == 0 || out[len(out)-1] != verbs[i].Verb {
			out = append(out, verbs[i].Verb)
		}
	}
	return out
}

// CanonVerb returns DEFINE for DEFINE and DEF; false for no verb. The word is in upper case.
func CanonVerb(word string) (string, bool) {
	for _, w := range verbWords {
		if w[0] == word {
			return w[1], true
		}
	}
	for i := range verbs {
		if verbs[i].Verb == word {
			return word, true
		}
	}
	return "", false
}

// CanonObject returns QLOCAL for QLOCAL and QL; false for no object keyword of any verb. The word is in upper case.
func CanonObject(word string) (string, bool) {
	for _, w := range objectWords {
		if w[0] == word {
			return w[1], true
		}
	}
	for i := range verbs {
		if verbs[i].Object == word && word != "" {
			return word, true
		}
	}
	return "", false
}

// Attr finds the row of a keyword of this command: first its own options, then the rows of the kind in force, then the
// common options. It does not say that the keyword is allowed; that is Allows.
func (v *Verb) Attr(k Kind, keyword string) (*Attr, bool) {
	for _, kind := range [...]Kind{Kind(v.Verb + " " + v.Object), k, v.rowsOf(), commonKind} {
		s, ok := SchemaOf(kind)
		if !ok {
			continue
		}
		if a, ok := s.Lookup(keyword); ok {
			return a, true
		}
	}
	return nil, false
}

// rowsOf is the kind whose rows the command's keywords come from when the subtype is not known.
func (v *Verb) rowsOf() Kind {
	if v.Verb == "DISPLAY" {
		switch v.Object {
		case "QLOCAL", "QALIAS", "QREMOTE", "QMODEL":
			return "QUEUE"
		}
	}
	return Kind(v.Object)
}

// Allows reports whether the command takes a keyword of the kind in force (canonical, not a synonym). DEFINE, ALTER and SET
// go by the kind's rows; the others by the command's own lists. ALL and WHERE belong to every DISPLAY.
func (v *Verb) Allows(k Kind, keyword string) bool {
	if own, ok := SchemaOf(Kind(v.Verb + " " + v.Object)); ok {
		if _, ok := own.Lookup(keyword); ok {
			return true
		}
	}
	a, ok := v.Attr(k, keyword)
	if !ok {
		return false
	}
	switch v.Verb {
	case "DEFINE", "SET", "ALTER":
		s, ok := SchemaOf(k)
		if !ok {
			return v.listed(a)
		}
		row, ok := s.Lookup(keyword)
		switch {
		case !ok:
			return false
		case v.Verb == "ALTER":
			return row.Alter != No
		}
		return row.Define != No
	case "DISPLAY":
		if keyword == "ALL" || keyword == "WHERE" {
			return true
		}
	}
	return v.listed(a)
}

func (v *Verb) listed(a *Attr) bool {
	for _, list := range [...][]string{v.Optional, v.Display, v.Required} {
		for _, w := range list {
			if ok, _ := a.Takes(w); ok {
				return true
			}
		}
	}
	return false
}

// Missing returns the required keywords that a command lacks, alternatives as "A or B". get gives the value of a keyword.
// What LIKE can supply is not missing. A rule that begins with ~ is the queue manager's to check: a command without it is
// well formed.
func (v *Verb) Missing(get func(key string) (string, bool)) []string {
	var out []string
	_, like := get("LIKE")
	for _, rule := range v.Required {
		if strings.HasPrefix(rule, "~") {
			continue
		}
		keys, cond, conditional := strings.Cut(rule, "?")
		if conditional && (like || !holds(cond, get)) {
			continue
		}
		found := false
		alternatives := strings.Split(keys, "|")
		for _, key := range alternatives {
			if _, ok := get(key); ok {
				found = true
			}
		}
		if !found {
			out = append(out, strings.Join(alternatives, " or "))
		}
	}
	return out
}

// holds decides "KEY=V,W"; an empty W stands for a KEY that is not given.
func holds(cond string, get func(string) (string, bool)) bool {
	key, values, _ := strings.Cut(cond, "=")
	have, _ := get(key)
	for _, v := range strings.Split(values, ",") {
		if v == have {
			return true
		}
	}
	return false
}
