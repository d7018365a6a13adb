package attr

import "testing"

func TestLookups(t *testing.T) {
	s, ok := SchemaOf("QLOCAL")
	if !ok {
		t.Fatal("no QLOCAL")
	}
	a, ok := s.Lookup("MAXDEPTH")
	if !ok || a.Default != "5000" || a.Max != 999999999 {
		t.Fatalf("MAXDEPTH: %+v", a)
	}
	i, _ := s.Index("NOSHARE")
	if s.Attrs[i].Name != "SHARE" {
		t.Errorf("NOSHARE leads to %s", s.Attrs[i].Name)
	}
	if s.Attrs[0].Name != "QUEUE" || s.Attrs[1].Name != "TYPE" {
		t.Errorf("print order begins %s %s", s.Attrs[0].Name, s.Attrs[1].Name)
	}
	if _, ok := SchemaOf("NOSUCH"); ok {
		t.Error("a schema for NOSUCH")
	}
	for word, want := range map[string]string{"DEF": "DEFINE", "DIS": "DISPLAY", "DEL": "DELETE", "PING": "PING"} {
		if got, ok := CanonVerb(word); !ok || got != want {
			t.Errorf("CanonVerb(%s) = %s", word, got)
		}
	}
	if _, ok := CanonVerb("DEFI"); ok {
		t.Error("DEFI is no synonym: they are exact words")
	}
	if got, ok := CanonObject("TPS"); !ok || got != "TPSTATUS" {
		t.Errorf("TPS: %s", got)
	}
	if v, ok := LookupVerb("DEFINE", "QLOCAL"); !ok || v.Success != "AMQ8006I" || v.NeedName != NameRequired {
		t.Errorf("DEFINE QLOCAL: %+v", v)
	}
}
