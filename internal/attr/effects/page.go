package effects

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// intro is the piece that the page begins with.
const intro = "introduction.md"

// Page makes docs/compatibility.md: the introduction, the tables, and the pieces of the folder in the order of their names.
func Page(t *Table, pieces string) ([]byte, error) {
	names, err := filepath.Glob(filepath.Join(pieces, "*.md"))
	if err != nil {
		return nil, err
	}
	var b, rest bytes.Buffer
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if filepath.Base(name) == intro {
			b.Write(bytes.TrimSpace(text))
			continue
		}
		rest.WriteString("\n" + deeper(string(text)) + "\n")
	}
	b.WriteString("\n\n<!-- made by go generate ./internal/attr from tables/effects.tsv and docs/compatibility.d; do not edit -->\n")
	if err := t.commands(&b); err != nil {
		return nil, err
	}
	if err := t.attributes(&b); err != nil {
		return nil, err
	}
	b.Write(rest.Bytes())
	return b.Bytes(), nil
}

// deeper makes headings one level lower.
func deeper(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	code := false
	for i, l := range lines {
		if strings.HasPrefix(l, "```") {
			code = !code
		}
		if strings.HasPrefix(l, "#") && !code {
			lines[i] = "#" + l
		}
	}
	return strings.Join(lines, "\n")
}

// group is one line of a table: names with the same effect.
type group struct {
	effect Effect
	names  []string
}

// put adds a name to the group of its effect.
func put(groups []group, e Effect, name string) []group {
	i := slices.IndexFunc(groups, func(g group) bool { return g.effect == e })
	if i < 0 {
		return append(groups, group{e, []string{name}})
	}
	if !slices.Contains(groups[i].names, name) {
		groups[i].names = append(groups[i].names, name)
	}
	return groups
}

// write prints groups, state by state.
func write(b *bytes.Buffer, head string, groups []group) {
	fmt.Fprintf(b, "| state | %s | remark |\n|---|---|---|\n", head)
	for _, w := range words {
		for _, g := range groups {
			if g.effect.State == w.state {
				fmt.Fprintf(b, "| %s | %s | %s |\n", w.what, strings.Join(g.names, ", "), strings.ReplaceAll(g.effect.Remark, "|", "\\|"))
			}
		}
	}
}

func (t *Table) commands(b *bytes.Buffer) error {
	var groups []group
	for i := range attr.Verbs() {
		v := &attr.Verbs()[i]
		e, ok := t.Command(v)
		if !ok {
			return fmt.Errorf("effects.tsv says nothing about the command %s %s", v.Verb, v.Object)
		}
		groups = put(groups, e, strings.TrimSpace(v.Verb+" "+v.Object))
	}
	b.WriteString("\n## Commands\n\n")
	write(b, "commands", groups)
	return nil
}

func (t *Table) attributes(b *bytes.Buffer) error {
	b.WriteString("\n## Attributes\n")
	var objects []string
	by := map[string][]group{}
	for _, k := range attr.Kinds() {
		s, _ := attr.SchemaOf(k)
		object := family(k)
		if !slices.Contains(objects, object) {
			objects = append(objects, object)
		}
		for i := range s.Attrs {
			a := &s.Attrs[i]
			e, ok := t.Of(k, a)
			if !ok {
				return fmt.Errorf("effects.tsv says nothing about %s of %s", a.Name, k)
			}
			name := a.Name
			if own, ok := t.rows[[2]string{string(k), a.Name}]; ok && object != string(k) && own == e {
				name += " of " + string(k) // differs from the other types
			}
			by[object] = put(by[object], e, name)
		}
	}
	slices.Sort(objects)
	for _, o := range objects {
		fmt.Fprintf(b, "\n### %s\n\n", o)
		write(b, "keywords", by[o])
	}
	return nil
}
