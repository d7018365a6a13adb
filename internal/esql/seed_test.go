package esql

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpusDir holds the modules that are given to the project, as they are.
const corpusDir = "../../testdata/esql/corpus"

// seedSource is a module of the corpus.
func seedSource(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(corpusDir, name+".esql"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func compileOne(t testing.TB, src string) *Module {
	t.Helper()
	p, err := Compile("t.esql", []byte(src), Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	return p.Modules()[0]
}

// lazyBody is a domain of the tests: <name> opens an element, text is its value, </> closes it.
type lazyBody struct{ parsed *int }

func (d lazyBody) Parse(n *Node, b []byte, o ParseOptions) error {
	if d.parsed != nil {
		*d.parsed++
	}
	at := n
	for s := string(b); s != ""; {
		switch i := strings.IndexByte(s, '>'); {
		case strings.HasPrefix(s, "</>") && at != n:
			at, s = at.parent, s[3:]
		case s[0] == '<' && i > 0:
			at = at.Append(&Node{Type: XMLNSCField, Name: s[1:i]})
			at.SetValue(Char(""))
			s = s[i+1:]
			if !strings.HasPrefix(s, "<") {
				j := strings.IndexByte(s, '<')
				if j < 0 {
					return errors.New("unclosed element")
				}
				at.SetValue(Char(s[:j]))
				s = s[j:]
			} else if !strings.HasPrefix(s, "</>") {
				at.Type, at.value = XMLNSCFolder, Value{}
			}
		default:
			return errors.New("no element at " + s)
		}
	}
	if at != n {
		return errors.New("unclosed element " + at.Name)
	}
	return nil
}

func (d lazyBody) Serialize(n *Node, o ParseOptions) ([]byte, error) {
	var b strings.Builder
	var walk func(n *Node)
	walk = func(n *Node) {
		for c := n.first; c != nil; c = c.next {
			b.WriteString("<" + c.Name + ">" + c.value.s)
			walk(c)
			b.WriteString("</>")
		}
	}
	walk(n)
	return []byte(b.String()), nil
}

func message(domain, body string) *Node {
	root := NewRoot()
	props := root.Append(&Node{Type: TypeName, Name: "Properties", Domain: "Properties"})
	props.AppendValue("ReplyIdentifier", Bytes([]byte(noID)))
	n := root.Append(&Node{Type: TypeName, Name: domain, Domain: domain})
	n.SetUnparsed(lazyBody{}, []byte(body), ParseOptions{})
	return root
}

func childNames(n *Node) string {
	var names []string
	for c := n.first; c != nil; c = c.next {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// EQ-1, EQ-2: the order is Properties, MQMD, XMLNSC; Version is 2; the body is what came in, unparsed.
func TestSeedAddMqmd(t *testing.T) {
	m := compileOne(t, string(seedSource(t, "AggregationOut_AddMqmd")))
	inv := &Invocation{InputRoot: message("XMLNSC", "<ComIbmAggregateControlNode><a>1</></>")}
	out, err := m.Run(inv)
	if err != nil || out != True {
		t.Fatal(out, err)
	}
	if got := childNames(inv.OutputRoot); got != "Properties MQMD XMLNSC" {
		t.Fatal(got)
	}
	md := inv.OutputRoot.Child("MQMD")
	if v, _ := md.Child("Version").Value().Int64(); v != 2 || md.Domain != "MQMD" || childNames(md) != "Version" {
		t.Fatal(v, md.Domain, childNames(md))
	}
	if body, _, ok := inv.OutputRoot.Last().Unparsed(); !ok || string(body) != "<ComIbmAggregateControlNode><a>1</></>" {
		t.Fatalf("%q %v", body, ok)
	}
	if childNames(inv.InputRoot) != "Properties XMLNSC" {
		t.Fatal("the input changed")
	}
}

// EQ-3: the rows of facts 4.3.
func TestSeedFilter(t *testing.T) {
	m := compileOne(t, string(seedSource(t, "FanIn_Filter")))
	for _, c := range []struct {
		domain, body string
		want         Outcome
		fails        bool
	}{
		{"XMLNSC", "<Reply></>", True, false},
		{"XMLNSC", "<ComIbmAggregateControlNode><Version>1</></>", False, false},
		{"XMLNSC", "<ComIbmAggregateControlNode></>", False, false}, // AG-71: present although empty
		{"XMLNSC", "<a><ComIbmAggregateControlNode></></>", True, false},
		{"BLOB", "<ComIbmAggregateControlNode></>", True, false},
		{"JSON", "<ComIbmAggregateControlNode></>", True, false},
		{"XMLNSC", "not xml", False, true},
	} {
		out, err := m.Run(&Invocation{InputRoot: message(c.domain, c.body)})
		if (err != nil) != c.fails || out != c.want {
			t.Errorf("%s %s: %v %v", c.domain, c.body, out, err)
		}
		var e *Exception
		if c.fails && (!errors.As(err, &e) || e.Type != "ParserException" || e.Number != NumParser || e.Line == 0) {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}
