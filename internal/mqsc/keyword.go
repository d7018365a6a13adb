package mqsc

// Which keywords a command takes, and in what form.

import (
	"slices"
	"sort"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// keyword is a word as one command takes it.
type keyword struct {
	name   string
	row    *attr.Attr // nil in z/OS commands, which are refused later
	flag   bool       // stands without brackets
	no     bool       // written in its NO form
	asked  bool       // may stand without a value, in a DISPLAY's list
	valued bool       // may have a value
}

// common is the kind of the options that many commands have.
const common = attr.Kind("*")

// zosOnly is the priority of commands that are parsed only to be refused by name.
const zosOnly = 3

// stores reports the verbs whose keywords the object's rows decide.
func stores(verb string) bool { return verb == "DEFINE" || verb == "ALTER" || verb == "SET" }

// kinds lists where the command's keywords have rows, the nearest first.
func (c *checker) kinds() []attr.Kind {
	cmd := c.cmd
	if c.kindsOf == cmd.Kind && c.kindList != nil {
		return c.kindList
	}
	out := []attr.Kind{attr.Kind(cmd.Verb + " " + cmd.Object), cmd.Kind}
	switch {
	case stores(cmd.Verb): // the kind alone decides
	case isQueue(cmd.Object):
		out = append(out, "QUEUE") // DISPLAY QLOCAL takes the keywords of all queues
	default:
		out = append(out, attr.Kind(cmd.Object))
	}
	c.kindsOf, c.kindList = cmd.Kind, append(out, common)
	return c.kindList
}

func isQueue(obj string) bool {
	switch obj {
	case "QLOCAL", "QMODEL", "QALIAS", "QREMOTE":
		return true
	}
	return false
}

// rowOf finds a keyword's row and the kind it stands in.
func (c *checker) rowOf(word string) (*attr.Attr, attr.Kind) {
	for _, k := range c.kinds() {
		if r := rowIn(k, word); r != nil {
			return r, k
		}
	}
	return nil, ""
}

func rowIn(k attr.Kind, word string) *attr.Attr {
	s, ok := attr.SchemaOf(k)
	if !ok {
		return nil
	}
	row, ok := s.Lookup(word)
	if !ok || row.Positional {
		return nil
	}
	return row
}

// typeSynonyms: DISPLAY takes TYPE for the keyword that an object's type really has.
var typeSynonyms = map[string]string{"CHANNEL": "CHLTYPE", "AUTHINFO": "AUTHTYPE"}

// lookup resolves a word to what the command takes under it.
func (c *checker) lookup(word string) (keyword, bool) {
	cmd := c.cmd
	if syn := typeSynonyms[cmd.Object]; word == "TYPE" && syn != "" && cmd.Verb == "DISPLAY" {
		word = syn
	}
	row, from := c.rowOf(word)
	if row == nil && cmd.Verb == "DISPLAY" && slices.Contains(cmd.Spec.Display, word) { // of names the table lists those that are attributes, too
		if s, ok := attr.SchemaOf(cmd.Kind); ok {
			row, _ = s.Lookup(word)
			from = cmd.Kind
		}
	}
	if row == nil {
		return keyword{name: word, valued: true}, cmd.Spec.Priority == zosOnly
	}
	k := keyword{name: row.Name, row: row, no: word == row.Neg && word != ""}
	k.flag = row.Type == attr.TFlag || row.Type == attr.TGroup
	k.valued = !k.flag
	own := from == attr.Kind(cmd.Verb+" "+cmd.Object)
	listed := slices.Contains(cmd.Spec.Optional, row.Name)
	switch {
	case cmd.Verb == "DISPLAY":
		k.asked = row.Name == "ALL" || slices.Contains(cmd.Spec.Display, row.Name) ||
			from == cmd.Kind && row.Display == attr.Yes || k.flag && (listed || from == cmd.Kind)
		k.valued = !k.flag && (listed || own || selects(row.Name))
		return k, !k.no && (k.asked || k.valued && (listed || own || from == cmd.Kind))
	case stores(cmd.Verb) && from == cmd.Kind:
		use := row.Define
		if cmd.Verb == "ALTER" {
			use = row.Alter
		}
		return k, use != attr.No
	}
	return k, listed || own
}

// selects reports the type keywords that choose objects or rows although the command's list does not say so.
func selects(word string) bool {
	switch word {
	case "TYPE", "CHLTYPE", "AUTHTYPE", "SUBID":
		return true
	}
	return false
}

// words lists the keywords of the command, for the nearest one and for help.
func (c *checker) words() []string {
	var out []string
	add := func(w string) {
		if _, ok := c.lookup(w); ok && w != "" {
			out = append(out, w)
		}
	}
	for _, k := range c.kinds() {
		s, ok := attr.SchemaOf(k)
		if !ok {
			continue
		}
		for i := range s.Attrs {
			if !s.Attrs[i].Positional {
				add(s.Attrs[i].Name)
				add(s.Attrs[i].Neg)
			}
		}
	}
	if c.cmd.Verb == "DISPLAY" {
		out = append(out, "WHERE")
	}
	sort.Strings(out)
	return slices.Compact(out)
}

// kindWords lists the types of an object, as its type keyword takes them.
func kindWords(obj string) []string {
	var out []string
	for _, k := range attr.Kinds() {
		rest, ok := strings.CutPrefix(string(k), obj)
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, " TYPE"), "(")
		if ok {
			out = append(out, strings.TrimSuffix(rest, ")"))
		}
	}
	return out
}
