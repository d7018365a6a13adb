package mqsc

// Help from the tables: ?, a verb alone, ? DEFINE QLOCAL, and the short syntax in an error's report.

import (
	"fmt"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

const listID = "AMQ8426I" // lists of valid words
const formID = "AMQ8427I" // valid syntax of a command

// helpFor answers a command that begins with a question mark, or with the word HELP, which is no verb.
func helpFor(s *Source) (string, bool) {
	rest, ok := strings.CutPrefix(s.Text, "?")
	if word, after, _ := strings.Cut(s.Text, " "); !ok && upper(word) == "HELP" {
		rest, ok = after, true
	}
	if !ok || s.Over {
		return "", false
	}
	return Help(rest), true
}

// Help describes what words name: nothing, a verb, or a verb and an object.
func Help(words string) string {
	f := strings.FieldsFunc(upper(words), func(r rune) bool { return r == ' ' || r == ',' || r == '\t' || r == '(' || r == ')' })
	if len(f) == 0 {
		return wordList(verbsHere())
	}
	verb, ok := attr.CanonVerb(f[0])
	if !ok {
		return wordList(verbsHere())
	}
	if len(f) == 1 {
		return wordList(objectsHere(verb))
	}
	obj, _ := attr.CanonObject(f[1])
	spec, ok := attr.LookupVerb(verb, obj)
	if !ok {
		return wordList(objectsHere(verb))
	}
	c := &checker{cmd: &attr.Command{Verb: verb, Object: obj, Kind: attr.Kind(obj), Spec: spec}}
	if len(f) > 2 && kindKey[obj].key != "" {
		// ? DEFINE CHANNEL SDR: the rows of one type
		k := attr.Kind(obj + "(" + f[len(f)-1] + ")")
		if kindKey[obj].def != "" {
			k = attr.Kind(obj + " TYPE(" + f[len(f)-1] + ")")
		}
		if _, ok := attr.SchemaOf(k); ok {
			c.cmd.Kind = k
		}
	}
	return c.fullSyntax()
}

func wordList(words []string) string {
	var b strings.Builder
	b.WriteString(messageLine(attr.Message{ID: listID}) + "\n\n")
	for _, w := range words {
		b.WriteString("  " + w + "\n")
	}
	return b.String()
}

// verbsHere lists the verbs that do something on this platform.
func verbsHere() []string {
	var out []string
	for _, v := range attr.VerbWords() {
		if v == "END" || len(objectsHere(v)) > 0 {
			out = append(out, v)
		}
	}
	return out
}

func objectsHere(verb string) []string {
	var out []string
	for _, o := range attr.ObjectsFor(verb) {
		if spec, ok := attr.LookupVerb(verb, o); ok && spec.Priority != zosOnly {
			out = append(out, o)
		}
	}
	return out
}

// head is the verb, the object and its name.
func (c *checker) head() string {
	s := c.cmd.Verb + " " + c.cmd.Object
	switch c.cmd.Spec.NeedName {
	case attr.NameRequired:
		s += "( name )"
	case attr.NameGeneric:
		s += "( generic_name )"
	case attr.NameOptional:
		s += " [ ( name ) ]"
	}
	return s
}

// fullSyntax lists every keyword in two columns.
func (c *checker) fullSyntax() string {
	var b strings.Builder
	b.WriteString(messageLine(attr.Message{ID: formID}) + "\n\n  " + c.head() + "\n")
	const width = 38
	left := ""
	put := func(s string) {
		switch {
		case left == "" && len(s) < width:
			left = s
			return
		case left != "" && len(s) < width:
			fmt.Fprintf(&b, "    %-*s%s\n", width, left, s)
		default:
			if left != "" {
				b.WriteString("    " + left + "\n")
			}
			b.WriteString("    " + s + "\n")
		}
		left = ""
	}
	for _, w := range c.words() {
		k, ok := c.lookup(w)
		if ok && k.no || w == "WHERE" {
			continue
		}
		put(c.syntaxItem(&k))
	}
	if c.cmd.Verb == "DISPLAY" {
		put("[ WHERE( keyword operator value ) ]")
	}
	if left != "" {
		b.WriteString("    " + left + "\n")
	}
	return b.String()
}

// syntaxItem is a keyword in square brackets, unless the command needs it.
func (c *checker) syntaxItem(k *keyword) string {
	for _, rule := range c.cmd.Spec.Required {
		if rule == k.name {
			return syntaxOf(k)
		}
	}
	if c.cmd.Verb == "DISPLAY" && k.asked && !k.valued {
		return "[ " + k.name + " ]"
	}
	return "[ " + syntaxOf(k) + " ]"
}

// syntaxOf is a keyword with what stands in its brackets.
func syntaxOf(k *keyword) string {
	row := k.row
	if row == nil {
		if k.flag || !k.valued {
			return k.name
		}
		return k.name + "( value )"
	}
	if k.flag {
		if row.Neg != "" {
			return k.name + " | " + row.Neg
		}
		return k.name
	}
	return k.name + "( " + valueForm(row) + " )"
}

func valueForm(row *attr.Attr) string {
	const shown = 8
	var words []string
	for i := range row.Enum {
		if row.Enum[i].ShowOnly {
			continue
		}
		if len(words) == shown {
			words = append(words, "...")
			break
		}
		words = append(words, row.Enum[i].Word)
	}
	alternatives := strings.Join(words, " | ")
	switch row.Type {
	case attr.TInt:
		return fmt.Sprintf("%d..%d", row.Min, row.Max)
	case attr.TIntOrEnum:
		return fmt.Sprintf("%d..%d | %s", row.Min, row.Max, alternatives)
	case attr.TEnum:
		return alternatives
	case attr.TListEnum:
		return alternatives + " , ..."
	case attr.TListName, attr.TListString:
		return "value , ..."
	case attr.TPair:
		return "value , value"
	case attr.THex:
		return "hex"
	case attr.TName:
		return "name"
	}
	return "string"
}

// shortSyntax is what an error's report says about the command: its head and what it needs.
func shortSyntax(cmd *attr.Command) []string {
	if cmd.Spec == nil || cmd.Spec.Priority == zosOnly {
		return nil
	}
	c := &checker{cmd: cmd}
	line := c.head()
	for _, rule := range cmd.Spec.Required {
		key, cond, conditional := strings.Cut(strings.TrimPrefix(rule, "~"), "?")
		if conditional && !strings.Contains(cond, "=") {
			continue
		}
		var alts []string
		for _, a := range strings.Split(key, "|") {
			k, ok := c.lookup(a)
			if !ok {
				k = keyword{name: a, valued: true}
			}
			alts = append(alts, syntaxOf(&k))
		}
		item := strings.Join(alts, " | ")
		if conditional {
			item = "[ " + item + " ]"
		}
		line += " " + item
	}
	return []string{line, fmt.Sprintf("( ? %s %s lists all keywords )", cmd.Verb, cmd.Object)}
}
