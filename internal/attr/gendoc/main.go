//go:build ignore

// Command gendoc writes docs/mqsc/*.md from the tables: a page for each object, an index, and the messages; and
// docs/compatibility.md beside that folder. Run it by go generate in internal/attr; argument: the folder to write to.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/attr/effects"
)

func main() {
	dir := filepath.Join("..", "..", "docs", "mqsc")
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		log.Fatal(err)
	}
	objects := objectNames()
	var index bytes.Buffer
	index.WriteString("# MQSC reference\n\nMade from the tables in `internal/attr/tables` by `go generate ./internal/attr`; do not edit.\n\n")
	index.WriteString("Messages: [messages.md](messages.md)\n\n| object | commands |\n|---|---|\n")
	for _, o := range objects {
		file := strings.ToLower(o) + ".md"
		write(dir, file, page(o))
		fmt.Fprintf(&index, "| [%s](%s) | %s |\n", o, file, strings.Join(verbsOf(o), ", "))
	}
	write(dir, "README.md", index.Bytes())
	write(dir, "messages.md", messagePage())
	write(filepath.Dir(dir), "compatibility.md", compatibility(filepath.Dir(dir)))
}

// compatibility says what every command and attribute does in this release.
func compatibility(docs string) []byte {
	f, err := os.Open(filepath.Join("tables", "effects.tsv"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	t, err := effects.Load(f)
	if err != nil {
		log.Fatal("effects.tsv: ", err)
	}
	page, err := effects.Page(t, filepath.Join(docs, "compatibility.d"))
	if err != nil {
		log.Fatal(err)
	}
	return page
}

func write(dir, file string, data []byte) {
	if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
		log.Fatal(err)
	}
}

// objectNames are the object keywords that this platform has a command for, in alphabetical order.
func objectNames() []string {
	var out []string
	for _, v := range attr.Verbs() {
		if v.Priority != 3 && v.Object != "" && !slices.Contains(out, v.Object) {
			out = append(out, v.Object)
		}
	}
	slices.Sort(out)
	return out
}

func commandsOf(object string) []*attr.Verb {
	var out []*attr.Verb
	for i := range attr.Verbs() {
		if v := &attr.Verbs()[i]; v.Object == object && v.Priority != 3 {
			out = append(out, v)
		}
	}
	return out
}

func verbsOf(object string) []string {
	var out []string
	for _, v := range commandsOf(object) {
		out = append(out, v.Verb)
	}
	return out
}

func page(object string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n<!-- made by go generate ./internal/attr; do not edit -->\n\n## Commands\n\n", object)
	b.WriteString("| command | needs | answers | PCF command |\n|---|---|---|---|\n")
	for _, v := range commandsOf(object) {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", syntax(v), cell(needs(v)), v.Success, number(v.PCF, v.PCFNum))
	}
	for _, v := range commandsOf(object) {
		if s, ok := attr.SchemaOf(attr.Kind(v.Verb + " " + v.Object)); ok {
			fmt.Fprintf(&b, "\n## Options of %s %s\n\n", v.Verb, v.Object)
			table(&b, []*attr.Schema{s}, false)
		}
	}
	if kinds := kindsOf(object); len(kinds) > 0 {
		b.WriteString("\n## Attributes\n\nIn the order in which DISPLAY prints them. define, alter, display: yes, option of the command, selector, or not.\n\n")
		table(&b, kinds, true)
	}
	return b.Bytes()
}

func syntax(v *attr.Verb) string {
	name := map[attr.NameRule]string{
		attr.NameRequired: "(name)", attr.NameGeneric: "(name or name*)", attr.NameOptional: "[(name)]",
	}[v.NeedName]
	return v.Verb + " " + v.Object + name
}

// needs puts the required keywords in words.
func needs(v *attr.Verb) string {
	var out []string
	for _, rule := range v.Required {
		keys, cond, conditional := strings.Cut(strings.TrimPrefix(rule, "~"), "?")
		s := strings.ReplaceAll(keys, "|", " or ")
		if conditional {
			key, values, _ := strings.Cut(cond, "=")
			given := strings.Split(strings.TrimSuffix(values, ","), ",")
			s += " with " + key + "(" + strings.Join(given, ", ") + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

// kindsOf returns the rows of an object, one schema for each of its types.
func kindsOf(object string) []*attr.Schema {
	var out []*attr.Schema
	for _, k := range attr.Kinds() {
		if string(k) == object || strings.HasPrefix(string(k), object+"(") || strings.HasPrefix(string(k), object+" ") {
			s, _ := attr.SchemaOf(k)
			out = append(out, s)
		}
	}
	return out
}

// line is a row of a page: an attribute with the types it is the same for.
type line struct {
	attr  *attr.Attr
	text  string
	types []string
}

func table(b *bytes.Buffer, kinds []*attr.Schema, uses bool) {
	var lines []line
	for _, s := range kinds {
		for i := range s.Attrs {
			a := &s.Attrs[i]
			text := rowText(a, uses)
			if j := slices.IndexFunc(lines, func(l line) bool { return l.text == text }); j >= 0 {
				lines[j].types = append(lines[j].types, typeOf(s.Kind))
				continue
			}
			l := line{attr: a, text: text, types: []string{typeOf(s.Kind)}}
			if j := lastOf(lines, a.Name); j >= 0 {
				lines = slices.Insert(lines, j+1, l)
			} else {
				lines = append(lines, l)
			}
		}
	}
	many := len(kinds) > 1
	head, rule := "| keyword | value | default |", "|---|---|---|"
	if uses {
		head, rule = head+" define | alter | display |", rule+"---|---|---|"
	}
	head, rule = head+" PCF |", rule+"---|"
	if many {
		head, rule = head+" types |", rule+"---|"
	}
	b.WriteString(head + "\n" + rule + "\n")
	for _, l := range lines {
		b.WriteString(l.text)
		if many {
			types := "all"
			if len(l.types) < len(kinds) {
				types = strings.Join(l.types, " ")
			}
			b.WriteString(" " + types + " |")
		}
		b.WriteString("\n")
	}
}

func lastOf(lines []line, keyword string) int {
	for i := len(lines) - 1; i >= 0; i-- {
		if lines[i].attr.Name == keyword {
			return i
		}
	}
	return -1
}

// typeOf is SDR of CHANNEL(SDR), QUEUE of QSTATUS TYPE(QUEUE).
func typeOf(k attr.Kind) string {
	_, t, _ := strings.Cut(string(k), "(")
	return strings.TrimSuffix(t, ")")
}

func rowText(a *attr.Attr, uses bool) string {
	name := a.Name
	if a.Neg != "" {
		name += ", " + a.Neg
	}
	for _, s := range a.Syn {
		name += ", " + s
	}
	value := values(a)
	if a.Doc != "" {
		value += ": " + a.Doc
	}
	s := "| " + name + " | " + cell(value) + " | " + cell(defaultText(a)) + " |"
	if uses {
		for _, u := range []attr.Use{a.Define, a.Alter, a.Display} {
			s += " " + map[attr.Use]string{attr.Yes: "yes", attr.Option: "option", attr.Selector: "selector", attr.No: ""}[u] + " |"
		}
	}
	return s + " " + number(a.PCF, a.ID) + " |"
}

func defaultText(a *attr.Attr) string {
	switch {
	case a.Type == attr.TFlag && a.Neg != "" && a.Default == "NO":
		return a.Neg
	case a.Type == attr.TFlag && a.Default == "YES":
		return a.Name
	case a.IsList():
		return strings.ReplaceAll(a.Default, attr.ListSep, ", ")
	case strings.Trim(a.Default, "0") == "" && len(a.Default) > 8:
		return fmt.Sprintf("%d zeros", len(a.Default))
	}
	return a.Default
}

func values(a *attr.Attr) string {
	var words []string
	for _, e := range a.Enum {
		w := e.Word
		if e.HasNum {
			w += " " + strconv.Itoa(int(e.Num))
		}
		if e.ShowOnly {
			w += " (shown only)"
		}
		words = append(words, w)
	}
	list := strings.Join(words, ", ")
	numbers := fmt.Sprintf("%d..%d", a.Min, a.Max)
	if a.Max == 1<<63-1 {
		numbers = "number"
	}
	length := ""
	if a.MaxLen > 0 {
		length = fmt.Sprintf(", at most %d", a.MaxLen)
	}
	items := ""
	if a.MaxItems > 0 {
		items = fmt.Sprintf("up to %d ", a.MaxItems)
	}
	switch a.Type {
	case attr.TName:
		return "name" + length
	case attr.TString:
		return "text" + length
	case attr.TInt:
		return numbers
	case attr.TEnum:
		return list
	case attr.TIntOrEnum:
		return numbers + ", " + list
	case attr.THex:
		return "hexadecimal digits" + length
	case attr.TPair:
		return "two values"
	case attr.TListName:
		return items + "names" + length
	case attr.TListString:
		return items + "texts" + length
	case attr.TListEnum:
		return "list of " + list
	case attr.TFlag:
		return "no brackets"
	case attr.TDate:
		return "yyyy-mm-dd"
	case attr.TTime:
		return "hh.mm.ss"
	}
	return "group of attributes"
}

func number(name string, n int32) string {
	if name == "" {
		return ""
	}
	return fmt.Sprintf("%s %d", name, n)
}

// cell keeps a text from breaking its table.
func cell(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "|", "\\|"), "*", "\\*") }

func messagePage() []byte {
	var b bytes.Buffer
	b.WriteString("# Messages\n\n<!-- made by go generate ./internal/attr; do not edit -->\n\nThe last letter is the severity: I information, " +
		"W warning, E error, S severe. %1, %2 are filled in.\n\n| id | text |\n|---|---|\n")
	for _, id := range attr.MessageIDs() {
		t, _ := attr.MessageTemplate(id)
		fmt.Fprintf(&b, "| %s | %s |\n", id, cell(t))
	}
	return b.Bytes()
}
