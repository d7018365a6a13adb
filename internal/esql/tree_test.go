package esql

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Trees as text: one element a line, indented by two blanks for each level: [{namespace}:]name [(type)] [value].

var typeWords = map[Type]string{TypeName: "Name", TypeNameValue: "NameValue", TypeValue: "Value", XMLNSCAttribute: "XMLNSC.Attribute",
	XMLNSCField: "XMLNSC.Field", XMLNSCFolder: "XMLNSC.Folder", JSONArray: "JSON.Array", JSONObject: "JSON.Object",
	XMLNSCCDataField: "XMLNSC.CDataField", XMLNSCNamespaceDecl: "XMLNSC.NamespaceDecl"}

// writeTree writes what is below n.
func writeTree(b *strings.Builder, n *Node, indent int) {
	for c := n.first; c != nil; c = c.next {
		b.WriteString(strings.Repeat("  ", indent))
		if c.Namespace != "" {
			fmt.Fprintf(b, "{%s}:", c.Namespace)
		}
		name := c.Name
		if name == "" {
			name = "-"
		}
		b.WriteString(name)
		plain := TypeName
		if !c.value.IsNull() {
			plain = TypeNameValue
		}
		if c.Type != plain {
			fmt.Fprintf(b, " (%s)", typeWords[c.Type])
		}
		if !c.value.IsNull() || c.Type == TypeNameValue {
			b.WriteString(" " + c.value.String())
		}
		if data, _, ok := c.Unparsed(); ok {
			fmt.Fprintf(b, " <<%s", data)
		}
		if c.Domain != "" && c.Domain != c.Name {
			fmt.Fprintf(b, " @%s", c.Domain)
		}
		b.WriteString("\n")
		writeTree(b, c, indent+1)
	}
}

func treeText(n *Node) string {
	var b strings.Builder
	writeTree(&b, n, 0)
	return b.String()
}

// readTree is the reverse. Children of the root are domains when they have an upper-case name. <<text leaves a body unparsed.
func readTree(t testing.TB, text string) *Node {
	t.Helper()
	root := NewRoot()
	at := []*Node{root}
	for _, line := range strings.Split(text, "\n") {
		body := strings.TrimLeft(line, " ")
		if body == "" {
			continue
		}
		level := (len(line) - len(body)) / 2
		if level >= len(at) {
			t.Fatalf("too deep: %q", line)
		}
		n := &Node{Type: TypeName}
		body, data, lazy := strings.Cut(body, " <<")
		if ns, rest, ok := strings.Cut(body, "}:"); ok && body[0] == '{' {
			n.Namespace, body = ns[1:], rest
		}
		n.Name, body, _ = strings.Cut(body, " ")
		typed := false
		if strings.HasPrefix(body, "(") {
			word, rest, _ := strings.Cut(body[1:], ")")
			n.Type, typed = typeNames[strings.ToUpper(word)], true
			body = strings.TrimSpace(rest)
		}
		if body != "" {
			n.value = literalValue(t, body)
			if !typed {
				n.Type = TypeNameValue
			}
		}
		if level == 0 && n.Name == strings.ToUpper(n.Name) {
			n.Domain = n.Name
		}
		at[level].Append(n)
		if lazy {
			n.SetUnparsed(lazyBody{}, []byte(data), ParseOptions{})
		}
		at = append(at[:level+1], n)
	}
	return root
}

func literalValue(t testing.TB, s string) Value {
	t.Helper()
	p := &parser{src: s, toks: lex(s), prog: &Program{}}
	p.t = p.toks[0]
	l, ok := p.expr().(*literal)
	if !ok || len(p.faults) > 0 || p.t.kind != tEOF {
		t.Fatalf("%q is no literal", s)
	}
	return l.v
}

// recorder is a Host that writes down what it is asked.
type recorder struct {
	b    strings.Builder
	fail error
}

func (r *recorder) Propagate(p Propagation) error {
	fmt.Fprintf(&r.b, "PROPAGATE %s finalize=%v\n", p.Terminal, p.Finalize)
	for _, t := range []struct {
		name string
		n    *Node
	}{{"message", p.Message}, {"local environment", p.LocalEnvironment}, {"exception list", p.ExceptionList}} {
		if t.n.first != nil {
			r.b.WriteString(t.name + ":\n")
			writeTree(&r.b, t.n, 1)
		}
	}
	return r.fail
}

func (r *recorder) Log(l LogRecord) {
	fmt.Fprintf(&r.b, "LOG %d severity=%d catalog=%s number=%d %s %q\n", l.Kind, l.Severity, l.Catalog, l.Number, l.Text, l.Values)
}

func (r *recorder) Sleep(d time.Duration) error {
	fmt.Fprintf(&r.b, "SLEEP %v\n", d)
	return nil
}
