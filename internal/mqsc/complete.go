package mqsc

// Completion of a command that is being typed, from the tables.

import (
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// Completion is what may follow a command's beginning.
type Completion struct {
	Prefix string   // what is typed of the last word, as typed
	Words  []string // that begin so, without regard to case; with the bracket that must follow: CHLTYPE( and SDR)
	Names  string   // object whose names may stand here: "QLOCAL"; "" elsewhere
}

// Complete looks at a command up to the cursor.
func Complete(text string) Completion {
	words, inside, prefix := splitTyped(text)
	out := Completion{Prefix: strings.TrimPrefix(prefix, "'")}
	fit := func(list []string) Completion {
		p := upper(out.Prefix)
		for _, w := range list {
			if strings.HasPrefix(w, p) && !slices.Contains(out.Words, w) {
				out.Words = append(out.Words, w)
			}
		}
		return out
	}
	if len(words) == 0 && inside == "" {
		return fit(append(verbsHere(), "END"))
	}
	if len(words) == 0 {
		return out
	}
	verb, ok := attr.CanonVerb(upper(words[0]))
	if !ok {
		return out
	}
	if len(words) == 1 && inside == "" {
		return fit(openObjects(verb))
	}
	objWord := inside
	if len(words) > 1 {
		objWord = words[1]
	}
	obj, _ := attr.CanonObject(upper(objWord))
	spec, ok := attr.LookupVerb(verb, obj)
	if !ok {
		return out
	}
	if len(words) == 1 {
		out.Names = obj
		return out
	}
	c := &checker{cmd: &attr.Command{Verb: verb, Object: obj, Kind: attr.Kind(obj), Spec: spec}}
	if raw, err := scanCommand(strings.Join(words, " ")); err == nil {
		c.raw = raw
		c.typedKind()
	}
	if inside == "" {
		return fit(c.openWords())
	}
	if verb == "DISPLAY" && upper(inside) == "WHERE" {
		return fit(c.whereWords(text, prefix))
	}
	k, ok := c.lookup(upper(inside))
	if !ok || k.row == nil {
		return out
	}
	if k.name == "LIKE" {
		out.Names = obj
		return out
	}
	end := ")"
	if k.row.IsList() {
		end = "" // another may follow
	}
	var vals []string
	for i := range k.row.Enum {
		if verb == "DISPLAY" || !k.row.Enum[i].ShowOnly {
			vals = append(vals, k.row.Enum[i].Word+end)
		}
	}
	return fit(vals)
}

// whereWords lists what may come next inside the brackets of WHERE: an attribute, an operator, or a word that the attribute
// takes.
func (c *checker) whereWords(text, prefix string) []string {
	done := text[:len(text)-len(prefix)]
	f := strings.Fields(done[strings.LastIndexByte(done, '(')+1:])
	if len(f) == 0 {
		var out []string
		for _, w := range c.words() {
			if k, ok := c.lookup(w); ok && k.row != nil && k.row.Name == w && k.row.Display == attr.Yes {
				out = append(out, w+" ")
			}
		}
		return out
	}
	k, ok := c.lookup(upper(f[0]))
	if !ok || k.row == nil {
		return nil
	}
	var out []string
	switch len(f) {
	case 1:
		for _, o := range opsOf(k.row) {
			out = append(out, o+" ")
		}
	case 2:
		for i := range k.row.Enum {
			out = append(out, k.row.Enum[i].Word+")")
		}
	}
	return out
}

// openObjects lists a verb's objects, with a bracket where a name must follow.
func openObjects(verb string) []string {
	list := objectsHere(verb)
	for i, o := range list {
		if spec, ok := attr.LookupVerb(verb, o); ok && (spec.NeedName == attr.NameRequired || spec.NeedName == attr.NameGeneric) {
			list[i] = o + "("
		}
	}
	return list
}

// openWords lists the command's keywords, with a bracket where a value must follow.
func (c *checker) openWords() []string {
	list := c.words()
	for i, w := range list {
		k, _ := c.lookup(w)
		if w == "WHERE" || k.valued && !k.asked {
			list[i] = w + "("
		}
	}
	return list
}

// typedKind takes the type keyword into account when it is there already; without it all types' keywords fit.
func (c *checker) typedKind() {
	kind := c.cmd.Kind
	if c.kind() != nil {
		c.cmd.Kind = kind
	}
}

// splitTyped cuts a command into its finished words with their brackets; inside is the keyword of the bracket that is
// open, prefix the unfinished word.
func splitTyped(text string) (words []string, inside, prefix string) {
	start, depth, open := 0, 0, 0
	quote := false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case ch == '\'':
			quote = !quote
		case quote:
		case ch == '(':
			if depth++; depth == 1 {
				open = i
			}
		case ch == ')' && depth > 0:
			if depth--; depth == 0 {
				words = append(words, text[start:i+1])
				start = i + 1
			}
		case depth == 0 && (isBlank(ch) || ch == ','):
			if i > start {
				words = append(words, text[start:i])
			}
			start = i + 1
		}
	}
	if depth == 0 {
		return trimmed(words), "", text[start:]
	}
	inside = strings.TrimSpace(text[start:open])
	if inside == "" && len(words) > 0 { // a blank before the bracket
		inside, words = words[len(words)-1], words[:len(words)-1]
	}
	rest := text[open+1:]
	if n := strings.LastIndexAny(rest, " ,("); n >= 0 && !quote {
		rest = rest[n+1:]
	}
	return trimmed(words), inside, rest
}

// trimmed drops the brackets of the object, so that it is a word of its own in any form.
func trimmed(words []string) []string {
	if len(words) > 1 {
		if n := strings.IndexByte(words[1], '('); n > 0 {
			words[1] = words[1][:n]
		}
	}
	return words
}
