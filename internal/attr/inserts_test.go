package attr

import (
	"slices"
	"testing"
)

func TestInserts(t *testing.T) {
	value := func(w string) (string, bool) {
		v, ok := map[string]string{"QMNAME": "QM1", "A": "x+y"}[w]
		return v, ok
	}
	for _, c := range []struct {
		in, replaced, without string
		words                 []string
	}{
		{"", "", "", nil},
		{"PLAIN.NAME", "PLAIN.NAME", "PLAIN.NAME", nil},
		{"UC.+QMNAME+", "UC.QM1", "UC.", []string{"QMNAME"}},
		{"+AUTOCL+_+QMNAME+", "+AUTOCL+_QM1", "_", []string{"AUTOCL", "QMNAME"}},
		{"+A+QMNAME+", "x+yQMNAME+", "QMNAME+", []string{"A"}},
		{"a++QMNAME+b", "a+QM1b", "a+b", []string{"QMNAME"}},
		{"+/x/+QMNAME+", "+/x/QM1", "+/x/", []string{"QMNAME"}},
		{"1+1", "1+1", "1+1", nil},
		{"1+2+3", "1+2+3", "1+2+3", nil},
		{"+", "+", "+", nil},
		{"++", "++", "++", nil},
	} {
		if got := Inserts(c.in); !slices.Equal(got, c.words) {
			t.Errorf("Inserts(%q) = %q, want %q", c.in, got, c.words)
		}
		if got := ReplaceInserts(c.in, value); got != c.replaced {
			t.Errorf("ReplaceInserts(%q) = %q, want %q", c.in, got, c.replaced)
		}
		if got := WithoutInserts(c.in); got != c.without {
			t.Errorf("WithoutInserts(%q) = %q, want %q", c.in, got, c.without)
		}
	}
}

func TestNamesMayHoldInserts(t *testing.T) {
	s, _ := SchemaOf("CHANNEL(CLUSRCVR)")
	a, _ := s.Lookup("CLUSTER")
	for v, ok := range map[string]bool{"+AUTOCL+": true, "C.+QMNAME+": true, "A+B": false, "+A-B+": false, "+A+&": false} {
		if _, err := CheckValue(a, v); (err == nil) != ok {
			t.Errorf("CLUSTER(%s): %v", v, err)
		}
	}
}
