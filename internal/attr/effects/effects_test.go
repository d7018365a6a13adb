package effects

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/attr"
)

const (
	root   = "../../.."
	file   = "../tables/effects.tsv"
	pieces = root + "/docs/compatibility.d"
)

func load(t *testing.T) *Table {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tab, err := Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// Every row of the tables has a state, so that the page cannot forget one.
func TestEveryRowHasAState(t *testing.T) {
	tab := load(t)
	for _, k := range attr.Kinds() {
		s, _ := attr.SchemaOf(k)
		for i := range s.Attrs {
			if _, ok := tab.Of(k, &s.Attrs[i]); !ok {
				t.Errorf("effects.tsv needs a row: %s\t%s\tstored\t", family(k), s.Attrs[i].Name)
			}
		}
	}
	for i := range attr.Verbs() {
		v := &attr.Verbs()[i]
		if _, ok := tab.Command(v); !ok {
			t.Errorf("effects.tsv needs a row: %s %s\t*\tworks\t", v.Verb, v.Object)
		}
	}
}

// Every row of effects.tsv speaks of something that exists, in a state that fits.
func TestRowsFit(t *testing.T) {
	tab := load(t)
	has := map[[2]string]bool{}
	for _, k := range attr.Kinds() {
		s, _ := attr.SchemaOf(k)
		for i := range s.Attrs {
			has[[2]string{string(k), s.Attrs[i].Name}] = true
			has[[2]string{family(k), s.Attrs[i].Name}] = true
		}
	}
	for i := range attr.Verbs() {
		v := &attr.Verbs()[i]
		has[[2]string{strings.TrimSpace(v.Verb + " " + v.Object), command}] = true
	}
	for _, k := range tab.order {
		e := tab.rows[k]
		if !has[k] {
			t.Errorf("effects.tsv: there is no %s of %s", k[1], k[0])
		}
		forCommands := e.State == Partly || e.State == Nothing || e.State == NotBuilt
		if forCommands != (k[1] == command) && e.State != Works && e.State != Group {
			t.Errorf("effects.tsv: %s %s cannot be %q", k[0], k[1], e.State)
		}
		if e.State == Partly && e.Remark == "" {
			t.Errorf("effects.tsv: %s: the remark must say what works", k[0])
		}
	}
}

// namedIn collects the words in string literals of everything that could act on an attribute: neither tests nor tables.
func namedIn(t *testing.T) map[string]bool {
	t.Helper()
	literal := regexp.MustCompile(`"[A-Z0-9 ]+"`)
	named := map[string]bool{}
	for _, dir := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "attr" || d.Name() == "mqsc" || d.Name() == "testdata"):
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_gen.go"):
				return nil
			}
			text, err := os.ReadFile(path)
			for _, l := range literal.FindAllString(string(text), -1) {
				for _, w := range strings.Fields(strings.Trim(l, `"`)) {
					named[w] = true
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return named
}

// free are attributes that work without code that names them: the name itself, and texts for people.
var free = map[string]bool{"DESCR": true}

// What is said to work or to be shown live is named somewhere in the code.
func TestWorksIsInTheCode(t *testing.T) {
	tab, named := load(t), namedIn(t)
	for _, k := range attr.Kinds() {
		s, _ := attr.SchemaOf(k)
		for i := range s.Attrs {
			a := &s.Attrs[i]
			e, _ := tab.Of(k, a)
			if e.State != Works && e.State != Status || a.Positional || free[a.Name] || e.Remark == "fixed value" {
				continue
			}
			if !named[a.Name] {
				t.Errorf("effects.tsv says that %s of %s is %q, but no code names it", a.Name, k, e.State)
			}
		}
	}
}

func TestPageIsCurrent(t *testing.T) {
	want, err := Page(load(t), pieces)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(root + "/docs/compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/compatibility.md is not current: go generate ./internal/attr")
	}
}

func TestLoadRefuses(t *testing.T) {
	const head = "object\tkeyword\tstate\tremark\n"
	for text, says := range map[string]string{
		head + "QUEUE\tGET\tworks":                              "3 columns",
		head + "QUEUE\tGET\tfine\t":                             "no state",
		head + "QUEUE\tGET\toption\t":                           "no state",
		head + "QUEUE\tGET\tworks\t\nQUEUE\tGET\tstored\t":      "twice",
		"# c\n" + head + "QUEUE\tGET\tworks\t\n# c\nQ\tG\tx\ty": "line 5",
	} {
		if _, err := Load(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Load(%q): %v, want %q", text, err, says)
		}
	}
}

func TestOneTypeWinsOverItsFamily(t *testing.T) {
	tab, err := Load(strings.NewReader("object\tkeyword\tstate\tremark\nCHANNEL\tPORT\tstored\tx\nCHANNEL(AMQP)\tPORT\tworks\t\n"))
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[attr.Kind]State{"CHANNEL(AMQP)": Works, "CHANNEL(MQTT)": Stored} {
		s, _ := attr.SchemaOf(k)
		a, _ := s.Lookup("PORT")
		if e, _ := tab.Of(k, a); e.State != want {
			t.Errorf("PORT of %s is %q, want %q", k, e.State, want)
		}
	}
}
