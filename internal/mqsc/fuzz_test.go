package mqsc

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// seeds are the corpus's scripts.
func seeds(f *testing.F) []string {
	files, err := filepath.Glob(corpusDir + "/*.mqsc")
	if err != nil || len(files) == 0 {
		f.Fatal("no corpus", err)
	}
	var out []string
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, string(b))
	}
	return append(out, "?\n? DEF CHL SDR\nDISPLAY\n", "\xff\xfeD\x00", "A(((((((((((((((((((((((((((((((((((((((((((((")
}

// Whatever the input: no panic, consistent counts, a report in one piece, the same with and without a manager.
func FuzzRun(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		var verified, ran bytes.Buffer
		v, err := Run(context.Background(), strings.NewReader(script), &verified, nil, RunOptions{Echo: true, Verify: true, Summary: true})
		if err != nil {
			t.Fatal(err)
		}
		ex := &recorder{}
		r, err := Run(context.Background(), strings.NewReader(script), &ran, ex, RunOptions{Summary: true})
		if err != nil {
			t.Fatal(err)
		}
		if v.Commands != r.Commands || v.SyntaxErrors != r.SyntaxErrors || v.Ended != r.Ended {
			t.Fatalf("verified %+v, ran %+v", v, r)
		}
		if v.SyntaxErrors > v.Commands || len(ex.got) > r.Commands-r.SyntaxErrors || ex.violated != "" || ex.held != 0 {
			t.Fatalf("%+v, %d submitted, %q", r, len(ex.got), ex.violated)
		}
		if !strings.HasSuffix(verified.String(), " processed.\n") {
			t.Fatal("the report has no end")
		}
	})
}

// A command that parses keeps its meaning when it is printed and parsed again.
func FuzzParse(f *testing.F) {
	for _, s := range seeds(f) {
		r := NewReader(strings.NewReader(s), nil)
		for {
			l, err := r.Next()
			if err != nil {
				break
			}
			for _, c := range l.Commands {
				f.Add(c.Text)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, serr := ParseCommand(text)
		if serr != nil {
			if serr.Pos < 0 || serr.Pos > serr.End || serr.ID == "" || serr.Text == "" {
				t.Fatalf("%+v", serr)
			}
			return
		}
		if c.Spec.Priority == zosOnly {
			return
		}
		printed := printCommand(c)
		again, serr := ParseCommand(printed)
		if serr != nil {
			t.Fatalf("%q printed as %q: %v", text, printed, serr)
		}
		if d := cmp.Diff(show(c), show(again)); d != "" {
			t.Fatalf("%q printed as %q: %s", text, printed, d)
		}
	})
}

// printCommand writes a command with every value in quotes where it may have them.
func printCommand(c *attr.Command) string {
	var b strings.Builder
	b.WriteString(c.Verb + " " + c.Object)
	if c.HasName {
		b.WriteString("(" + quoteName(c.Name) + ")")
	}
	for _, p := range c.Params {
		switch {
		case !p.HasValue || p.Attr != nil && (p.Attr.Type == attr.TFlag || p.Attr.Type == attr.TGroup):
			word := p.Key
			if p.Val == "NO" {
				word = p.Attr.Neg
			}
			b.WriteString(" " + word)
		default:
			b.WriteString(" " + p.Key + "(" + Quote(p.Val, p.Attr) + ")")
		}
	}
	if w := c.Where; w != nil {
		b.WriteString(" WHERE(" + w.Key + " " + w.Op + " " + quoteName(w.Val) + ")")
	}
	return b.String()
}

func quoteName(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// What FormatDefine writes is read back, whatever the value.
func FuzzFormat(f *testing.F) {
	for _, s := range []string{"", "x", "it's", "a b", "; + -", "* x", strings.Repeat("long ", 1000), "\t\v", "é\xff"} {
		f.Add(s, s)
	}
	sch, _ := attr.SchemaOf("TOPIC")
	descr, _ := sch.Lookup("DESCR")
	topic, _ := sch.Lookup("TOPICSTR")
	f.Fuzz(func(t *testing.T, d, s string) {
		// what can be stored: canonical values, which a script cannot hold line breaks in
		d, err1 := attr.CheckValue(descr, d)
		s, err2 := attr.CheckValue(topic, s)
		if err1 != nil || err2 != nil || s == "" || strings.ContainsAny(d+s, "\n") {
			return
		}
		vals := []attr.Item{{Key: "TOPICSTR", Val: s, Attr: topic}, {Key: "DESCR", Val: d, Attr: descr}}
		var b bytes.Buffer
		if err := FormatDefine(&b, "TOPIC", "T", vals, FormatOptions{Replace: true}); err != nil {
			t.Fatal(err)
		}
		c := reparse(t, b.String())
		gotS, _ := c.Get("TOPICSTR")
		gotD, _ := c.Get("DESCR")
		if gotS != s || gotD != d {
			t.Fatalf("%q %q became %q %q", s, d, gotS, gotD)
		}
	})
}
