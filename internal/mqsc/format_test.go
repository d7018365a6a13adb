package mqsc

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// reparse runs a written definition through the reader and the parser.
func reparse(t testing.TB, text string) *attr.Command {
	t.Helper()
	ex := &catcher{}
	var out bytes.Buffer
	res, err := Run(context.Background(), strings.NewReader(text), &out, ex, RunOptions{})
	if err != nil || res.Commands != 1 || res.SyntaxErrors != 0 {
		t.Fatalf("%v %+v\n%s\n%s", err, res, text, out.String())
	}
	return ex.cmd
}

type catcher struct{ cmd *attr.Command }

func (c *catcher) Submit(_ context.Context, cmd *attr.Command) Pending { c.cmd = cmd; return c }
func (c *catcher) Wait(context.Context) *attr.Reply                    { return &attr.Reply{} }

// example gives a value that the row takes, other than its default where there is a choice.
func example(a *attr.Attr) string {
	switch a.Type {
	case attr.TFlag:
		if a.Default == "YES" && a.Neg != "" {
			return "NO"
		}
		return "YES"
	case attr.TInt:
		return fmt.Sprint(a.Max)
	case attr.TEnum, attr.TIntOrEnum, attr.TListEnum:
		for _, e := range a.Enum {
			if !e.ShowOnly {
				return e.Word
			}
		}
		return fmt.Sprint(a.Min)
	case attr.THex:
		return strings.Repeat("A1", max(1, a.MaxLen/2))
	case attr.TName:
		return "a.B"[:min(3, max(1, a.MaxLen))]
	case attr.TListName:
		return "A" + attr.ListSep + "b.c"
	case attr.TListString:
		return "it's" + attr.ListSep + "*MQADMIN"
	}
	return strings.TrimRight("it's; a +"[:min(9, max(1, a.MaxLen))], " ")
}

// Every settable row of every kind: what FormatDefine writes is read back to the same values.
func TestFormatDefineParsesBack(t *testing.T) {
	for _, kind := range attr.Kinds() {
		s, _ := attr.SchemaOf(kind)
		obj, key, typ := splitKind(kind)
		spec, ok := attr.LookupVerb("DEFINE", obj)
		if !ok || spec.Priority == zosOnly {
			continue
		}
		var vals []attr.Item
		want := map[string]string{}
		for i := range s.Attrs {
			a := &s.Attrs[i]
			if a.Positional || a.Define != attr.Yes || a.Hidden || a.Name == key {
				continue
			}
			v := example(a)
			vals = append(vals, attr.Item{Key: a.Name, Val: v, Attr: a})
			want[a.Name] = v
		}
		if typ != "" {
			want[key] = typ
		}
		want["REPLACE"] = "YES"
		var b bytes.Buffer
		name := "A.b"
		if obj == "CFSTRUCT" {
			name = "APP1"
		}
		if err := FormatDefine(&b, kind, name, vals, FormatOptions{Replace: true}); err != nil {
			t.Fatal(err)
		}
		cmd := reparse(t, b.String())
		got := map[string]string{}
		for _, p := range cmd.Params {
			got[p.Key] = p.Val
		}
		if cmd.Kind != kind || cmd.Name != name {
			t.Errorf("%s: kind %s, name %s", kind, cmd.Kind, cmd.Name)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", kind, d)
		}
	}
}

func TestFormatDefineText(t *testing.T) {
	var b bytes.Buffer
	vals := items("CHANNEL(SDR)", "CHLTYPE=SDR", "CONNAME=host(1414)", "DESCR=", "COMPMSG=ZLIBFAST|RLE", "PASSWORD=s3cret", "ALTDATE=2026-11-29")
	if err := FormatDefine(&b, "CHANNEL(SDR)", "TO.X", vals, FormatOptions{Replace: true}); err != nil {
		t.Fatal(err)
	}
	want := `* PASSWORD of CHANNEL(TO.X) is set; secrets are not exported
DEFINE CHANNEL('TO.X') +
       CHLTYPE(SDR) +
       CONNAME('host(1414)') +
       DESCR(' ') +
       COMPMSG(ZLIBFAST,RLE) +
       REPLACE
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
	b.Reset()
	if err := FormatDefine(&b, "QMGR", "", items("QMGR", "DEADQ=A.DLQ", "CMDLEVEL=941"), FormatOptions{Verb: "ALTER"}); err != nil {
		t.Fatal(err)
	}
	if want := "ALTER QMGR +\n       DEADQ('A.DLQ')\n"; b.String() != want {
		t.Error(cmp.Diff(want, b.String()))
	}
	b.Reset()
	if err := FormatDefine(&b, "SUB", "a\nb", items("SUB", "USERDATA=x\n", "TOPICSTR=t"), FormatOptions{}); err != nil {
		t.Fatal(err)
	}
	want = `* USERDATA of SUB(a.b) holds a line end, which is a blank here
* the name of SUB(a.b) holds a line end, which is a blank here
DEFINE SUB('a b') +
       USERDATA('x ') +
       TOPICSTR('t')
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// Long values are broken into lines that any MQSC reader takes, and read back whole.
func TestLongValuesAreBroken(t *testing.T) {
	for _, v := range []string{
		strings.Repeat("x", 10240),
		strings.Repeat("it's * é ", 1000),
		strings.Repeat("*", 3000),
		"a" + strings.Repeat(" ", 5000) + "b",
		strings.Repeat("+-;", 3000),
	} {
		s, _ := attr.SchemaOf("TOPIC")
		a, _ := s.Lookup("TOPICSTR")
		var b bytes.Buffer
		if err := FormatDefine(&b, "TOPIC", "T", []attr.Item{{Key: "TOPICSTR", Val: v, Attr: a}}, FormatOptions{}); err != nil {
			t.Fatal(err)
		}
		got, _ := reparse(t, b.String()).Get("TOPICSTR")
		if got != v {
			t.Errorf("%.20q…: %d bytes became %d", v, len(v), len(got))
		}
	}
}

func TestQuote(t *testing.T) {
	s, _ := attr.SchemaOf("NAMELIST")
	names, _ := s.Lookup("NAMES")
	for _, tc := range []struct {
		val  string
		a    *attr.Attr
		want string
	}{
		{"", nil, "' '"}, {"it's", nil, "'it''s'"}, {"line\nbreak", nil, "'line break'"},
		{"", names, " "}, {"A" + attr.ListSep + "b", names, "'A','b'"},
	} {
		if got := Quote(tc.val, tc.a); got != tc.want {
			t.Errorf("%q: %s, want %s", tc.val, got, tc.want)
		}
	}
}
