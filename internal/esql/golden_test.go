package esql

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the expected output of testdata/esql")

const goldenDir = "../../testdata/esql"

func goldenFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(goldenDir + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts in", goldenDir, err)
	}
	return files
}

// section is one file of a script, or "".
func section(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// TestGolden runs testdata/esql: a source and trees, then what came of them. The comment of each script names its rules.
func TestGolden(t *testing.T) {
	for _, file := range goldenFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, a)
			if want := section(a, "out"); got != want && !*update {
				t.Errorf("is:\n%s\nwant:\n%s", got, want)
			} else if got != want {
				a.Files = append(a.Files[:len(a.Files):len(a.Files)], txtar.File{Name: "out", Data: []byte(got)})
				for i, f := range a.Files {
					if f.Name == "out" && i < len(a.Files)-1 {
						a.Files[i].Data = []byte(got)
						a.Files = a.Files[:len(a.Files)-1]
						break
					}
				}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func play(t *testing.T, a *txtar.Archive) string {
	t.Helper()
	var b strings.Builder
	p, err := Compile("t.esql", []byte(section(a, "esql")), Options{})
	if err != nil {
		return err.Error() + "\n"
	}
	for _, m := range p.Modules() {
		if len(p.Modules()) > 1 {
			fmt.Fprintf(&b, "module %s %s\n", m.Kind, m.Name)
		}
		host := &recorder{}
		if section(a, "fail") != "" {
			host.fail = errors.New(strings.TrimSpace(section(a, "fail")))
		}
		inv := &Invocation{InputRoot: readTree(t, section(a, "InputRoot")), InputLocalEnvironment: readTree(t, section(a, "InputLocalEnvironment")),
			InputExceptionList: readTree(t, section(a, "InputExceptionList")),
			Environment:        readTree(t, section(a, "Environment")), Now: testNow, Seed: 1, Host: host, QueueManagerName: "QM1",
			Domain: func(name string) (Domain, bool) { return lazyBody{}, name == "XMLNSC" || name == "BLOB" }}
		before := treeText(inv.InputRoot)
		out, err := m.Run(inv)
		b.WriteString(host.b.String())
		if err != nil {
			fmt.Fprintf(&b, "ERROR %v\n", err)
			writeTree(&b, exceptionList(err), 1)
		} else {
			fmt.Fprintf(&b, "%v\n", out)
		}
		for _, tree := range []struct {
			name string
			n    *Node
		}{{"OutputRoot", inv.OutputRoot}, {"OutputLocalEnvironment", inv.OutputLocalEnvironment}, {"OutputExceptionList", inv.OutputExceptionList},
			{"Environment", inv.Environment}} {
			if tree.n.first != nil {
				b.WriteString(tree.name + ":\n")
				writeTree(&b, tree.n, 1)
			}
		}
		if after := treeText(inv.InputRoot); after != before && !strings.Contains(before, "<<") {
			t.Errorf("the input changed:\n%s", after)
		}
	}
	return b.String()
}

func exceptionList(err error) *Node {
	list := NewRoot()
	AddException(list, err, "NODE")
	for n := list.first; n != nil; n = step(n, list) { // what is the same every time
		for _, name := range []string{"File", "Type", "Name", "Label", "Catalog"} {
			if c := n.Child(name); c != nil && n.Name != "Insert" {
				c.Detach()
			}
		}
	}
	return list
}
