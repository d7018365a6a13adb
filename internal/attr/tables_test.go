package attr

import (
	"bytes"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func eachRow(t *testing.T, f func(t *testing.T, k Kind, a *Attr)) {
	t.Helper()
	for i := range schemas {
		s := &schemas[i]
		for j := range s.Attrs {
			a := &s.Attrs[j]
			t.Run(string(s.Kind)+" "+a.Name, func(t *testing.T) { f(t, s.Kind, a) })
		}
	}
}

// Every row takes what its type allows, up to the bound and not one past it.
func TestRowsKeepTheirBounds(t *testing.T) {
	eachRow(t, func(t *testing.T, _ Kind, a *Attr) {
		switch a.Type {
		case TInt, TIntOrEnum:
			checkNumbers(t, a)
			checkWords(t, a)
		case TEnum, TListEnum:
			checkWords(t, a)
		case TName, TString, TListName, TListString:
			checkLengths(t, a)
		case THex:
			if _, err := a.CheckValue([]string{"0G"}, false); err == nil {
				t.Error("0G passed as hexadecimal")
			}
			if a.MaxLen == 0 {
				return
			}
			refused(t, a, strings.Repeat("A", a.MaxLen+1))
			if got := accepted(t, a, strings.Repeat("a", a.MaxLen)); got != strings.Repeat("A", a.MaxLen) {
				t.Errorf("digits came back as %s", got)
			}
		case TFlag, TGroup:
			if v, err := a.CheckValue(nil, false); err != nil || v != "YES" {
				t.Errorf("bare flag: %q, %v", v, err)
			}
			refused(t, a, "YES")
		case TDate:
			accepted(t, a, "2026-02-28")
			refused(t, a, "2026-02-30")
		case TTime:
			accepted(t, a, "23.59.59")
			refused(t, a, "24.00.00")
		case TPair:
			if v, err := a.CheckValue([]string{"1", "2"}, false); err != nil || v != "1"+ListSep+"2" {
				t.Errorf("pair: %q, %v", v, err)
			}
			refused(t, a, "1")
		default:
			t.Errorf("type %d has no check here", a.Type)
		}
	})
}

func accepted(t *testing.T, a *Attr, v string) string {
	t.Helper()
	got, err := a.CheckValue([]string{v}, true)
	if err != nil {
		t.Errorf("%q refused: %v", v, err)
	}
	return got
}

func refused(t *testing.T, a *Attr, v string) {
	t.Helper()
	got, err := a.CheckValue([]string{v}, true)
	if err == nil {
		t.Errorf("%q accepted as %q", v, got)
		return
	}
	if !strings.HasPrefix(err.Error(), a.Name+": ") {
		t.Errorf("error does not name the attribute: %v", err)
	}
}

func checkNumbers(t *testing.T, a *Attr) {
	t.Helper()
	if a.Min > a.Max {
		t.Fatalf("range %d..%d", a.Min, a.Max)
	}
	one := big.NewInt(1)
	for _, n := range []int64{a.Min, a.Max} {
		if got := accepted(t, a, strconv.FormatInt(n, 10)); got != strconv.FormatInt(n, 10) {
			t.Errorf("%d came back as %s", n, got)
		}
	}
	refused(t, a, new(big.Int).Sub(big.NewInt(a.Min), one).String())
	refused(t, a, new(big.Int).Add(big.NewInt(a.Max), one).String())
	refused(t, a, "1x")
	refused(t, a, "")
}

func checkWords(t *testing.T, a *Attr) {
	t.Helper()
	if a.Type != TInt && len(a.Enum) == 0 {
		t.Fatal("no words")
	}
	seen := map[string]bool{}
	for _, e := range a.Enum {
		if seen[e.Word] {
			t.Errorf("%s stands twice", e.Word)
		}
		seen[e.Word] = true
		if e.HasNum {
			if back, ok := a.EnumByNum(e.Num); !ok || back.Num != e.Num {
				t.Errorf("%s: number %d does not lead back", e.Word, e.Num)
			}
		}
		if got, err := a.CheckShown([]string{strings.ToLower(e.Word)}, false); err != nil || got != e.Word {
			t.Errorf("%s in lower case: %q, %v", e.Word, got, err)
		}
		_, err := a.CheckValue([]string{e.Word}, true)
		if e.ShowOnly != (err != nil) {
			t.Errorf("%s: show only %t, set: %v", e.Word, e.ShowOnly, err)
		}
	}
	refused(t, a, "NO SUCH WORD")
}

func checkLengths(t *testing.T, a *Attr) {
	t.Helper()
	if a.MaxLen > 0 {
		longest := strings.Repeat("A", a.MaxLen)
		if got := accepted(t, a, longest); got != longest {
			t.Errorf("longest value came back as %d characters", len(got))
		}
		refused(t, a, longest+"A")
	}
	if got := accepted(t, a, " "); got != "" {
		t.Errorf("blank is %q", got)
	}
	if a.Type == TName || a.Type == TListName {
		refused(t, a, "A-B")
		refused(t, a, "Ä")
		if _, err := a.CheckValue([]string{"ab"}, false); err != nil {
			t.Error(err)
		}
	}
	if a.MaxItems > 0 {
		items := make([]string, a.MaxItems+1)
		for i := range items {
			items[i] = "A"
		}
		if _, err := a.CheckValue(items[1:], true); err != nil {
			t.Errorf("%d items: %v", a.MaxItems, err)
		}
		if _, err := a.CheckValue(items, true); err == nil {
			t.Errorf("%d items passed", len(items))
		}
	}
}

// A default is what its own check gives back.
func TestDefaultsPassTheirCheck(t *testing.T) {
	eachRow(t, func(t *testing.T, k Kind, a *Attr) {
		switch {
		case a.Type == TFlag && (a.Default == "YES" || a.Default == "NO"), a.Default == "":
			return
		}
		items := []string{a.Default}
		if a.IsList() {
			items = strings.Split(a.Default, ListSep)
		}
		got, err := a.CheckShown(items, true)
		if err != nil || got != a.Default {
			t.Errorf("default %q of %s: %q, %v", a.Default, k, got, err)
		}
	})
}

// What a user can set has a default or may be blank: numbers and words always have one, unless they must be given.
func TestSettableRowsHaveDefaults(t *testing.T) {
	eachRow(t, func(t *testing.T, k Kind, a *Attr) {
		if isCommandKind(k) || k == commonKind || a.Define != Yes && a.Alter != Yes || a.Required || a.Default != "" {
			return
		}
		switch a.Type {
		case TInt, TIntOrEnum, TEnum, TListEnum:
			t.Error("no default")
		case TName, TString, TListName, TListString, THex:
			if a.MaxLen == 0 {
				t.Error("no length")
			}
		}
	})
}

func constants(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../mqi/constants.tsv")
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]string{}
	for _, line := range strings.Split(string(data), "\n") {
		if name, value, ok := strings.Cut(line, "\t"); ok {
			m[name] = value
		}
	}
	return m
}

// The numbers are those of the MQ constants, and the kind of a parameter fits the type of the row.
func TestNumbersAreTheConstants(t *testing.T) {
	c := constants(t)
	same := func(t *testing.T, name string, n int32) {
		if v, ok := c[name]; !ok || v != strconv.Itoa(int(n)) {
			t.Errorf("%s = %d, constant is %q", name, n, v)
		}
	}
	eachRow(t, func(t *testing.T, _ Kind, a *Attr) {
		if a.PCF != "" {
			same(t, a.PCF, a.ID)
		}
		for _, e := range a.Enum {
			if e.HasNum {
				same(t, e.Const, e.Num)
			}
		}
	})
	for _, v := range Verbs() {
		if v.PCF != "" {
			same(t, v.PCF, v.PCFNum)
		}
	}
}

// Keywords are unique within a kind, over synonyms and NO forms; a kind has at most one name.
func TestKeywordsAreUnique(t *testing.T) {
	for i := range schemas {
		seen := map[string]string{}
		names := 0
		for _, a := range schemas[i].Attrs {
			words := append([]string{a.Name}, a.Syn...)
			if a.Neg != "" {
				words = append(words, a.Neg)
			}
			for _, w := range words {
				if other := seen[w]; other != "" {
					t.Errorf("%s: %s belongs to %s and %s", schemas[i].Kind, w, other, a.Name)
				}
				seen[w] = a.Name
				if at, ok := schemas[i].Index(w); !ok || schemas[i].Attrs[at].Name != a.Name {
					t.Errorf("%s: %s does not lead to %s", schemas[i].Kind, w, a.Name)
				}
			}
			if a.Positional {
				names++
			}
		}
		if names > 1 {
			t.Errorf("%s has %d names", schemas[i].Kind, names)
		}
	}
}

// Every keyword that a command lists has a row. Commands of another platform are refused before their keywords are read.
func TestVerbKeywordsHaveRows(t *testing.T) {
	for _, v := range Verbs() {
		if v.Priority == 3 || v.Object == "" {
			continue
		}
		for _, list := range [][]string{v.Optional, v.Display} {
			for _, w := range list {
				if _, ok := v.Attr(Kind(v.Object), w); !ok {
					t.Errorf("%s %s: %s has no row", v.Verb, v.Object, w)
				}
			}
		}
		for _, rule := range v.Required {
			keys, cond, _ := strings.Cut(strings.TrimPrefix(rule, "~"), "?")
			for _, w := range strings.Split(keys, "|") {
				if _, ok := v.Attr(Kind(v.Object), w); !ok {
					t.Errorf("%s %s: required %s has no row", v.Verb, v.Object, w)
				}
			}
			if key, _, ok := strings.Cut(cond, "="); ok {
				if _, ok := v.Attr(Kind(v.Object), key); !ok {
					t.Errorf("%s %s: condition %s has no row", v.Verb, v.Object, cond)
				}
			}
		}
		if v.Success == "" {
			t.Errorf("%s %s has no message", v.Verb, v.Object)
		} else if _, ok := MessageTemplate(v.Success); !ok {
			t.Errorf("%s has no text", v.Success)
		}
	}
}

// What DISPLAY prints of an object can be asked for by its keyword.
func TestShownAttributesAreListed(t *testing.T) {
	for _, k := range Kinds() {
		object, _, _ := strings.Cut(string(k), " ")
		object, _, _ = strings.Cut(object, "(")
		v, ok := LookupVerb("DISPLAY", object)
		if !ok {
			t.Errorf("no DISPLAY for %s", k)
			continue
		}
		s, _ := SchemaOf(k)
		for i := range s.Attrs {
			a := &s.Attrs[i]
			if a.Display == Yes && !a.Positional && !v.Allows(k, a.Name) {
				t.Errorf("DISPLAY %s does not take %s of %s", object, a.Name, k)
			}
		}
	}
}

func TestGeneratedFileIsCurrent(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "tables"), os.DirFS("tables")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("go", "run", "gen/main.go", dir).CombinedOutput(); err != nil {
		t.Fatalf("generator: %v\n%s", err, out)
	}
	want, err := os.ReadFile(filepath.Join(dir, "tables_gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile("tables_gen.go"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("tables_gen.go is stale: run go generate ./internal/attr (%v)", err)
	}
}

// The reference in docs/mqsc is that of the tables, without pages left over.
func TestReferenceIsCurrent(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "gendoc/main.go", dir).CombinedOutput(); err != nil {
		t.Fatalf("generator: %v\n%s", err, out)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	const docs = "../../docs/mqsc"
	kept, err := os.ReadDir(docs)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != len(kept) {
		t.Errorf("%s holds %d pages, the tables make %d", docs, len(kept), len(made))
	}
	for _, e := range made {
		want, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(docs, e.Name())); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./internal/attr (%v)", e.Name(), err)
		}
	}
}
