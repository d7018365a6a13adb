package attr

import (
	"slices"
	"strings"
	"testing"
)

func verb(t *testing.T, v, object string) *Verb {
	t.Helper()
	spec, ok := LookupVerb(v, object)
	if !ok {
		t.Fatalf("no %s %s", v, object)
	}
	return spec
}

// Synonyms are exact words, not minimum prefixes.
func TestCanonicalWords(t *testing.T) {
	for word, want := range map[string]string{
		"DEF": "DEFINE", "DIS": "DISPLAY", "ALT": "ALTER", "REF": "REFRESH", "STA": "START", "RES": "RESUME", "SUS": "SUSPEND",
		"DEL": "DELETE", "PING": "PING", "END": "END", "DEFI": "", "DISP": "", "": "",
	} {
		if got, ok := CanonVerb(word); got != want || ok != (want != "") {
			t.Errorf("verb %q: %q, %t", word, got, ok)
		}
	}
	for word, want := range map[string]string{
		"QL": "QLOCAL", "QA": "QALIAS", "QR": "QREMOTE", "QM": "QMODEL", "Q": "QUEUE", "QC": "QCLUSTER", "QS": "QSTATUS",
		"CHL": "CHANNEL", "CHS": "CHSTATUS", "TPS": "TPSTATUS", "SBS": "SBSTATUS", "LSTR": "LISTENER", "PRO": "PROCESS",
		"NL": "NAMELIST", "SEC": "SECURITY", "STC": "STGCLASS", "CHI": "CHINIT", "TOPIC": "TOPIC", "QLOC": "", "": "",
	} {
		if got, ok := CanonObject(word); got != want || ok != (want != "") {
			t.Errorf("object %q: %q, %t", word, got, ok)
		}
	}
}

// MQ 7.5 lists these verbs for a lone question mark; the tables hold them and those of z/OS.
func TestVerbWords(t *testing.T) {
	words := VerbWords()
	for _, w := range strings.Fields("ALTER CLEAR DEFINE DELETE DISPLAY END PING REFRESH RESET RESOLVE RESUME SET START STOP SUSPEND") {
		if !slices.Contains(words, w) {
			t.Errorf("no verb %s", w)
		}
		if objects := ObjectsFor(w); len(objects) == 0 && w != "END" {
			t.Errorf("%s has no objects", w)
		}
	}
	if !slices.Contains(ObjectsFor("PING"), "QMGR") || slices.Contains(ObjectsFor("PING"), "QLOCAL") {
		t.Errorf("PING: %v", ObjectsFor("PING"))
	}
	if ObjectsFor("NOSUCH") != nil {
		t.Error("objects of no verb")
	}
}

func TestVerbFacts(t *testing.T) {
	if v := verb(t, "DEFINE", "QLOCAL"); v.Success != "AMQ8006I" || v.NeedName != NameRequired || v.Priority != 1 {
		t.Errorf("DEFINE QLOCAL: %+v", v)
	}
	if v := verb(t, "DISPLAY", "QMGR"); v.NeedName != NameNone || v.Success != "AMQ8408I" {
		t.Errorf("DISPLAY QMGR: %+v", v)
	}
	if v := verb(t, "DISPLAY", "CHSTATUS"); v.NeedName != NameGeneric {
		t.Errorf("DISPLAY CHSTATUS: %+v", v)
	}
	if v := verb(t, "REFRESH", "SECURITY"); v.NeedName != NameOptional {
		t.Errorf("REFRESH SECURITY: %+v", v)
	}
	if v := verb(t, "DEFINE", "STGCLASS"); v.Priority != 3 {
		t.Errorf("DEFINE STGCLASS: %+v", v)
	}
}

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		verb, object string
		kind         Kind
		keyword      string
		want         bool
	}{
		{"DEFINE", "QLOCAL", "QLOCAL", "MAXDEPTH", true},
		{"DEFINE", "QLOCAL", "QLOCAL", "REPLACE", true},
		{"DEFINE", "QLOCAL", "QLOCAL", "FORCE", false},
		{"ALTER", "QLOCAL", "QLOCAL", "FORCE", true},
		{"ALTER", "QLOCAL", "QLOCAL", "LIKE", false},
		{"ALTER", "QMODEL", "QMODEL", "FORCE", false},
		{"DEFINE", "QLOCAL", "QLOCAL", "CURDEPTH", false},
		{"DEFINE", "QLOCAL", "QLOCAL", "STGCLASS", false},
		{"DEFINE", "CHANNEL", "CHANNEL(RCVR)", "XMITQ", false},
		{"DEFINE", "CHANNEL", "CHANNEL(SDR)", "XMITQ", true},
		{"ALTER", "TOPIC", "TOPIC", "TOPICSTR", false},
		{"ALTER", "SUB", "SUB", "SUBID", true},
		{"DISPLAY", "QLOCAL", "QLOCAL", "CURDEPTH", true},
		{"DISPLAY", "QLOCAL", "QLOCAL", "TARGET", true},
		{"DISPLAY", "QMGR", "QMGR", "WHERE", true},
		{"DISPLAY", "QMGR", "QMGR", "ALL", true},
		{"DELETE", "QLOCAL", "QLOCAL", "PURGE", true},
		{"DELETE", "QLOCAL", "QLOCAL", "MAXDEPTH", false},
		{"START", "CHANNEL", "CHANNEL", "IGNSTATE", true},
		{"STOP", "CHANNEL", "CHANNEL", "MODE", true},
		{"CLEAR", "TOPICSTR", "TOPICSTR", "CLTRTYPE", true},
		{"SET", "CHLAUTH", "CHLAUTH", "ACTION", true},
		{"SET", "CHLAUTH", "CHLAUTH", "MATCH", false},
	} {
		if got := verb(t, c.verb, c.object).Allows(c.kind, c.keyword); got != c.want {
			t.Errorf("%s %s %s: %t, want %t", c.verb, c.object, c.keyword, got, c.want)
		}
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct{ verb, object, given, want string }{
		{"DEFINE", "CHANNEL", "", "CHLTYPE"},
		{"DEFINE", "CHANNEL", "CHLTYPE=SDR", ""}, // XMITQ and CONNAME are the queue manager's to ask for
		{"DEFINE", "CHANNEL", "CHLTYPE=SDR LIKE=X", ""},
		{"DEFINE", "CHANNEL", "CHLTYPE=RCVR", ""},
		{"DEFINE", "CHANNEL", "CHLTYPE=SVR XMITQ=X", ""},
		{"DEFINE", "SUB", "TOPICSTR=a", ""},
		{"DEFINE", "SUB", "TOPICOBJ=A DESTCLAS=MANAGED", ""},
		{"RESET", "CLUSTER", "ACTION=FORCEREMOVE", "QMNAME or QMID"},
		{"CLEAR", "TOPICSTR", "", "CLRTYPE"},
		{"SET", "AUTHREC", "OBJTYPE=QMGR GROUP=g AUTHADD=ALL", ""},
		{"SET", "AUTHREC", "OBJTYPE=QUEUE", "PRINCIPAL or GROUP,AUTHADD or AUTHRMV,PROFILE"},
		{"DEFINE", "AUTHINFO", "", "AUTHTYPE"},
		{"DEFINE", "AUTHINFO", "AUTHTYPE=OCSP", ""},
		{"DISPLAY", "QMGR", "", ""},
	} {
		given := map[string]string{}
		for _, kv := range strings.Fields(c.given) {
			k, v, _ := strings.Cut(kv, "=")
			given[k] = v
		}
		missing := verb(t, c.verb, c.object).Missing(func(k string) (string, bool) { v, ok := given[k]; return v, ok })
		if got := strings.Join(missing, ","); got != c.want {
			t.Errorf("%s %s %s: missing %q, want %q", c.verb, c.object, c.given, got, c.want)
		}
	}
}

// What only other platforms have is known as such, and has no row here.
func TestForeignWords(t *testing.T) {
	if p, ok := ForeignPlatform("QLOCAL", "STGCLASS"); !ok || p != "z/OS" {
		t.Errorf("STGCLASS: %q, %t", p, ok)
	}
	if _, ok := ForeignPlatform("QLOCAL", "MAXDEPTH"); ok {
		t.Error("MAXDEPTH is not foreign")
	}
	for _, f := range foreignWords {
		if s, ok := SchemaOf(Kind(f.object)); ok {
			if _, ok := s.Index(f.keyword); ok {
				t.Errorf("%s of %s has a row", f.keyword, f.object)
			}
		}
	}
}
