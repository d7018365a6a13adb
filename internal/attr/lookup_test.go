package attr

import (
	"strings"
	"sync"
	"testing"
)

func schema(t *testing.T, k Kind) *Schema {
	t.Helper()
	s, ok := SchemaOf(k)
	if !ok {
		t.Fatalf("no rows for %s", k)
	}
	return s
}

func row(t *testing.T, k Kind, keyword string) *Attr {
	t.Helper()
	a, ok := schema(t, k).Lookup(keyword)
	if !ok {
		t.Fatalf("no row %s of %s", keyword, k)
	}
	return a
}

// The order is that of public transcripts of DISPLAY and dmpmqcfg; keywords between those named may be newer ones.
func TestPrintOrder(t *testing.T) {
	for kind, want := range map[Kind]string{
		"QLOCAL": "QUEUE TYPE ACCTQ ALTDATE ALTTIME BOQNAME BOTHRESH CLUSNL CLUSTER CLCHNAME CLWLPRTY CLWLRANK CLWLUSEQ CRDATE " +
			"CRTIME CURDEPTH CUSTOM DEFBIND DEFPRTY DEFPSIST DEFPRESP DEFREADA DEFSOPT DEFTYPE DESCR DISTL GET HARDENBO IMGRCOVQ " +
			"INITQ IPPROCS MAXDEPTH MAXMSGL MAXFSIZE MONQ MSGDLVSQ TRIGGER NPMCLASS OPPROCS PROCESS PUT PROPCTL QDEPTHHI QDEPTHLO " +
			"QDPHIEV QDPLOEV QDPMAXEV QSVCIEV QSVCINT RETINTVL SCOPE SHARE STATQ STREAMQ STRMQOS TRIGDATA TRIGDPTH TRIGMPRI " +
			"TRIGTYPE USAGE",
		"QALIAS": "QUEUE TYPE ALTDATE ALTTIME TARGET CLUSNL CLUSTER CLWLPRTY CLWLRANK CUSTOM DEFBIND DEFPRTY DEFPSIST DEFPRESP " +
			"DEFREADA DESCR GET PUT PROPCTL SCOPE TARGTYPE",
		"QREMOTE": "QUEUE TYPE ALTDATE ALTTIME CLUSNL CLUSTER CLWLPRTY CLWLRANK CUSTOM DEFBIND DEFPRTY DEFPSIST DEFPRESP DESCR " +
			"PUT RQMNAME RNAME SCOPE XMITQ",
		"QMGR": "QMNAME ACCTCONO ACCTINT CHLEV CHLAUTH CLWLDATA PSMODE PSCLUS PSNPMSG SSLFIPS KEYRPWD SSLKEYR SYNCPT TREELIFE XRCAP",
		"TOPIC": "TOPIC TYPE TOPICSTR DESCR CLUSTER CLROUTE DURSUB PUB SUB DEFPSIST DEFPRTY DEFPRESP ALTDATE ALTTIME PMSGDLV " +
			"NPMSGDLV PUBSCOPE SUBSCOPE PROXYSUB WILDCARD MDURMDL MNDURMDL MCAST COMMINFO USEDLQ CUSTOM",
		"SUB":                  "SUBID SUB TOPICSTR TOPICOBJ DISTYPE DEST DESTQMGR PUBAPPID SELECTOR",
		"AUTHINFO(IDPWOS)":     "AUTHINFO AUTHTYPE ADOPTCTX DESCR CHCKCLNT CHCKLOCL FAILDLAY AUTHENMD ALTDATE ALTTIME",
		"CHANNEL(SVRCONN)":     "CHANNEL CHLTYPE ALTDATE ALTTIME CERTLABL COMPHDR COMPMSG DESCR DISCINT HBINT KAINT MAXINST MAXINSTC",
		"CHANNEL(AMQP)":        "CHANNEL CHLTYPE ALTDATE ALTTIME CERTLABL DESCR AMQPKA LOCLADDR MAXINST",
		"LISTENER":             "LISTENER CONTROL TRPTYPE PORT IPADDR BACKLOG DESCR ALTDATE ALTTIME",
		"NAMELIST":             "NAMELIST NAMCOUNT NAMES DESCR ALTDATE ALTTIME",
		"QSTATUS TYPE(QUEUE)":  "QUEUE TYPE CURDEPTH CURFSIZE CURMAXFS IPPROCS LGETDATE LGETTIME",
		"QSTATUS TYPE(HANDLE)": "QUEUE TYPE APPLDESC APPLTAG APPLTYPE BROWSE CHANNEL CONNAME ASTATE HSTATE",
		"CHSTATUS":             "CHANNEL CHLTYPE BUFSRCVD CONNAME CURRENT EXITTIME STATUS STOPREQ SUBSTATE CURSHCNV MAXSHCNV RVERSION RPRODUCT",
		"LSSTATUS":             "LISTENER STATUS PID STARTDA STARTTI DESCR TRPTYPE CONTROL IPADDR PORT BACKLOG",
	} {
		s, last := schema(t, kind), -1
		for _, w := range strings.Fields(want) {
			i, ok := s.Index(w)
			if !ok {
				t.Errorf("%s has no %s", kind, w)
			} else if i <= last {
				t.Errorf("%s: %s comes too early", kind, w)
			}
			last = i
		}
	}
}

// Options and selectors stand behind what is printed.
func TestOptionsStandLast(t *testing.T) {
	for _, k := range Kinds() {
		behind := ""
		for _, a := range schema(t, k).Attrs {
			if a.Display != Yes && !a.Positional {
				behind = a.Name
			} else if behind != "" {
				t.Errorf("%s: %s stands behind the option %s", k, a.Name, behind)
			}
		}
	}
}

func TestDefaultsBySubtype(t *testing.T) {
	for _, c := range []struct {
		kind          Kind
		keyword, want string
	}{
		{"QLOCAL", "MAXDEPTH", "5000"},
		{"QLOCAL", "DEFSOPT", "SHARED"},
		{"QMODEL", "DEFSOPT", "EXCL"},
		{"QMODEL", "SHARE", "NO"},
		{"QLOCAL", "SHARE", "YES"},
		{"TOPIC", "PUB", "ASPARENT"},
		{"AUTHINFO(IDPWOS)", "CHCKCLNT", "REQDADM"},
		{"AUTHINFO(IDPWLDAP)", "CHCKCLNT", "REQUIRED"},
		{"CHANNEL(SDR)", "DISCINT", "6000"},
		{"CHANNEL(SVRCONN)", "DISCINT", "0"},
		{"CHANNEL(SVRCONN)", "CHLTYPE", "SVRCONN"},
		{"CHANNEL(MQTT)", "PROTOCOL", "MQTTV311" + ListSep + "MQTTV3" + ListSep + "HTTP"},
		{"QMGR", "TREELIFE", "1800"},
	} {
		s := schema(t, c.kind)
		i, ok := s.Index(c.keyword)
		if !ok || s.Defaults()[i] != c.want {
			t.Errorf("%s %s: default %q, want %q", c.kind, c.keyword, s.Defaults()[i], c.want)
		}
	}
	for _, c := range []struct {
		kind    Kind
		keyword string
	}{{"AUTHINFO(OCSP)", "CONNAME"}, {"AUTHINFO(IDPWOS)", "LDAPUSER"}, {"CHANNEL(RCVR)", "XMITQ"}, {"QALIAS", "MAXDEPTH"}} {
		if _, ok := schema(t, c.kind).Index(c.keyword); ok {
			t.Errorf("%s has %s", c.kind, c.keyword)
		}
	}
}

func TestUnionsTakeWhatAnyTypeTakes(t *testing.T) {
	for kind, words := range map[Kind]string{
		"CHANNEL": "XMITQ SHARECNV AMQPKA PROTOCOL", "AUTHINFO": "OCSPURL LDAPUSER AUTHENMD",
		"QUEUE": "MAXDEPTH TARGET RQMNAME DEFTYPE", "QCLUSTER": "CLUSQMGR", "TCLUSTER": "TOPICSTR",
		"QSTATUS": "CURDEPTH HSTATE", "TPSTATUS": "RETAINED ACTCONN NUMPUBS",
	} {
		for _, w := range strings.Fields(words) {
			row(t, kind, w)
		}
	}
	if _, ok := row(t, "CHANNEL", "SSLCAUTH").EnumByWord("NEVER"); !ok {
		t.Error("the union of channels lacks SSLCAUTH(NEVER) of MQTT")
	}
	if _, ok := row(t, "CHANNEL(SVRCONN)", "SSLCAUTH").EnumByWord("NEVER"); ok {
		t.Error("making the union changed the rows of SVRCONN")
	}
}

func TestLookupsRunTogether(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, k := range append(Kinds(), "CHANNEL", "QUEUE", "TPSTATUS") {
				if s, ok := SchemaOf(k); !ok || len(s.Attrs) == 0 {
					t.Errorf("no rows for %s", k)
				} else if _, ok := s.Index(s.Attrs[0].Name); !ok {
					t.Errorf("%s: first row not found", k)
				}
			}
		})
	}
	wg.Wait()
}

// A new queue manager's objects: the facts count 85 of a 9.3 listing (three of them authentication records), and three
// more that come with a queue-sharing group.
func TestSystemObjects(t *testing.T) {
	seen := map[string]bool{}
	records, shared := 0, 0
	for _, o := range SystemObjects() {
		s := schema(t, o.Kind)
		if o.Kind == "CHLAUTH" {
			records++
		}
		if o.QSG {
			shared++
		}
		class, _, _ := strings.Cut(string(o.Kind), "(")
		if strings.HasPrefix(class, "Q") {
			class = "QUEUE"
		}
		if seen[class+" "+o.Name] {
			t.Errorf("%s %s stands twice", o.Kind, o.Name)
		}
		seen[class+" "+o.Name] = true
		if err := s.NameAttr().CheckName(o.Name, o.Kind == "CHLAUTH"); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
		if len(o.Descr) > 64 {
			t.Errorf("%s: description of %d characters", o.Name, len(o.Descr))
		}
		for _, kv := range o.Attrs {
			a, ok := s.Lookup(kv.Key)
			if !ok {
				t.Errorf("%s: %s has no %s", o.Name, o.Kind, kv.Key)
				continue
			}
			if a.Type == TFlag {
				if kv.Val != "YES" && kv.Val != "NO" {
					t.Errorf("%s: %s(%s)", o.Name, kv.Key, kv.Val)
				}
				continue
			}
			if got, err := CheckShown(a, kv.Val); err != nil || got != kv.Val {
				t.Errorf("%s: %s(%s): %q, %v", o.Name, kv.Key, kv.Val, got, err)
			}
		}
	}
	if n := len(SystemObjects()) - shared; records != 3 || shared != 3 || n < 85 {
		t.Errorf("%d objects, %d records, %d shared", n, records, shared)
	}
	for _, k := range []string{"QUEUE SYSTEM.DEFAULT.LOCAL.QUEUE", "TOPIC SYSTEM.BASE.TOPIC", "QUEUE SYSTEM.BROKER.ADMIN.STREAM",
		"TOPIC SYSTEM.BROKER.ADMIN.STREAM", "CHANNEL SYSTEM.DEF.SVRCONN", "SUB SYSTEM.DEFAULT.SUB", "CHLAUTH *"} {
		if !seen[k] {
			t.Errorf("no %s", k)
		}
	}
}

func TestMessageTexts(t *testing.T) {
	if got := MessageText("AMQ8147E", "Q1"); got != "Object Q1 not found." {
		t.Errorf("text: %q", got)
	}
	if got := (Message{ID: "AMQ8006I"}).Text(); got != "Queue created." {
		t.Errorf("text: %q", got)
	}
	if got := MessageText("AMQ0000I", "a", "b"); got != "a b" {
		t.Errorf("unknown id: %q", got)
	}
	if got := MessageText("AMQ8147E"); got != "Object  not found." {
		t.Errorf("missing insert: %q", got)
	}
	for _, m := range messages {
		if len(m.id) != 8 || !strings.HasPrefix(m.id, "AMQ") || !strings.Contains("IWEST", m.id[7:]) {
			t.Errorf("id %q has not the form AMQ, four digits, severity", m.id)
		}
		for n := 2; n <= 9; n++ {
			if strings.Contains(m.text, "%"+string(rune('0'+n))) && !strings.Contains(m.text, "%"+string(rune('0'+n-1))) {
				t.Errorf("%s: insert %d without %d", m.id, n, n-1)
			}
		}
	}
}
