package attr

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCheckValueForms(t *testing.T) {
	for _, c := range []struct {
		kind    Kind
		keyword string
		raw     []string
		quoted  bool
		want    string
		wantErr string
	}{
		{"QLOCAL", "MAXDEPTH", []string{"007"}, false, "7", ""},
		{"QLOCAL", "MAXDEPTH", []string{"1000000000"}, false, "", "MAXDEPTH: 1000000000 is not in 0..999999999"},
		{"QLOCAL", "GET", []string{"enabled"}, false, "ENABLED", ""},
		{"QLOCAL", "GET", []string{"ENABLE"}, false, "", "did you mean ENABLED?"},
		{"QLOCAL", "GET", nil, false, "", "a value is missing"},
		{"QLOCAL", "DESCR", []string{"a text "}, true, "a text", ""},
		{"QLOCAL", "DESCR", []string{"A", "TEXT"}, false, "", "takes one value"},
		{"QLOCAL", "INITQ", []string{"my.q"}, false, "MY.Q", ""},
		{"QLOCAL", "INITQ", []string{"my.q"}, true, "my.q", ""},
		{"QLOCAL", "INITQ", []string{"MY Q"}, true, "", `holds " "`},
		{"QLOCAL", "CLCHNAME", []string{"TO.*.X"}, false, "TO.*.X", ""},
		{"QLOCAL", "MAXFSIZE", []string{"default"}, false, "DEFAULT", ""},
		{"QLOCAL", "MAXFSIZE", []string{"19"}, false, "", "19 is not in 20..267386880"},
		{"QLOCAL", "MAXFSIZE", []string{"DEFALT"}, false, "", "did you mean DEFAULT?"},
		{"NAMELIST", "NAMES", []string{"a", "B"}, false, "A" + ListSep + "B", ""},
		{"NAMELIST", "NAMES", nil, false, "", ""},
		{"NAMELIST", "NAMES", []string{" "}, true, "", ""},
		{"AUTHREC", "GROUP", []string{"one" + ListSep + "two"}, true, "", "holds the control character X'1F'"},
		{"CHANNEL(SDR)", "MSGEXIT", []string{"a", ListSep}, true, "", "holds the control character X'1F'"},
		{"SUB", "USERDATA", []string{"ends in blanks  "}, true, "ends in blanks  ", ""},
		{"SUB", "TOPICSTR", []string{" "}, true, "", ""},
		{"SUB", "DESTCORL", []string{"ab"}, true, "6162" + strings.Repeat("0", 44), ""},
		{"SUB", "DESTCORL", []string{"AB"}, false, "AB" + strings.Repeat("0", 46), ""},
		{"SUB", "DESTCORL", []string{strings.Repeat("0f", 24)}, true, strings.Repeat("0F", 24), ""},
		{"SUB", "DESTCORL", []string{strings.Repeat("x", 25)}, true, "", "too many"},
		{"SUB", "PUBACCT", []string{"xyz"}, true, "", "hexadecimal"},
		{"TOPIC", "TYPE", []string{"CLUSTER"}, false, "", "is not LOCAL"},
		{"CHANNEL(SDR)", "COMPMSG", []string{"zlibfast", "rle"}, false, "ZLIBFAST" + ListSep + "RLE", ""},
	} {
		got, err := row(t, c.kind, c.keyword).CheckValue(c.raw, c.quoted)
		switch {
		case c.wantErr == "" && (err != nil || got != c.want):
			t.Errorf("%s(%q): %q, %v; want %q", c.keyword, c.raw, got, err, c.want)
		case c.wantErr != "" && (err == nil || !strings.Contains(err.Error(), c.wantErr)):
			t.Errorf("%s(%q): %q, %v; want an error with %q", c.keyword, c.raw, got, err, c.wantErr)
		}
	}
}

func TestCheckName(t *testing.T) {
	for _, c := range []struct {
		kind    Kind
		name    string
		generic bool
		ok      bool
	}{
		{"QLOCAL", "A.b/c_d%1", false, true},
		{"QLOCAL", "A*", false, false},
		{"QLOCAL", "A*", true, true},
		{"QLOCAL", "*", true, true},
		{"QLOCAL", "A*B", true, false},
		{"QLOCAL", "", false, false},
		{"QLOCAL", strings.Repeat("A", 49), false, false},
		{"CHANNEL(SDR)", strings.Repeat("A", 21), false, false},
		{"CHLAUTH", "SYSTEM.*", false, true},
		{"CONN", "414D51", true, true},
		{"CONN", "414D5*", true, true},
		{"CONN", "XYZ", true, false},
		{"SUB", "any name, with: blanks ", false, true},
		{"TPSTATUS TYPE(TOPIC)", "USA/+/#", false, true},
	} {
		err := schema(t, c.kind).NameAttr().CheckName(c.name, c.generic)
		if (err == nil) != c.ok {
			t.Errorf("%s %q generic %t: %v", c.kind, c.name, c.generic, err)
		}
	}
}

func TestNearest(t *testing.T) {
	words := []string{"MAXDEPTH", "MAXMSGL", "DESCR", "DEFPSIST"}
	for word, want := range map[string]string{
		"MAXDEPHT": "MAXDEPTH", "DESC": "DESCR", "DEFPERSIST": "DEFPSIST", "ZZZZ": "", "": "", "MAXMSGLEN": "MAXMSGL",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// Whatever is given, a row answers with a canonical text that it takes again, or with an error that names it.
func TestCheckIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &schemas[rapid.IntRange(0, len(schemas)-1).Draw(t, "kind")]
		a := &s.Attrs[rapid.IntRange(0, len(s.Attrs)-1).Draw(t, "row")]
		raw := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.StringMatching(`[A-Z0-9.* ]{0,12}`)), 0, 3).Draw(t, "raw")
		if len(raw) > 0 && rapid.Bool().Draw(t, "separator") {
			raw[0] += ListSep + "X"
		}
		got, err := a.CheckValue(raw, rapid.Bool().Draw(t, "quoted"))
		if err != nil {
			if !strings.HasPrefix(err.Error(), a.Name+": ") {
				t.Fatalf("%s %s: error %q does not name it", s.Kind, a.Name, err)
			}
			return
		}
		if a.Type == TFlag || a.Type == TGroup || a.Type == TPair {
			return
		}
		again, err := CheckValue(a, got)
		if err != nil || again != got {
			t.Fatalf("%s %s: %q gives %q, then %q, %v", s.Kind, a.Name, raw, got, again, err)
		}
	})
}
