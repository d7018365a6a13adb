package mqsc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// show is a command in one line: VERB OBJECT[KIND](NAME) KEY=VAL …
func show(c *attr.Command) string {
	s := c.Verb + " " + c.Object
	if string(c.Kind) != c.Object {
		s += "[" + string(c.Kind) + "]"
	}
	if c.HasName {
		s += "(" + c.Name + ")"
	}
	for _, p := range c.Params {
		s += " " + p.Key
		if p.HasValue {
			s += "=" + strings.ReplaceAll(p.Val, attr.ListSep, "|")
		}
	}
	if f := c.Where; f != nil {
		s += " WHERE " + f.Key + " " + f.Op + " " + f.Val
	}
	return s
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"def ql(a.b) maxdepth(007)":                                       "DEFINE QLOCAL(A.B) MAXDEPTH=7",
		"DEFINE QLOCAL ( 'a.b' ) , DESCR ( 'x' ),REPLACE":                 "DEFINE QLOCAL(a.b) DESCR=x REPLACE=YES",
		"ALT QL('Acc') NOSHARE FORCE TRIGDPTH( 1)":                        "ALTER QLOCAL(Acc) SHARE=NO FORCE=YES TRIGDPTH=1",
		"DEF QA(A) TARGQ(b)":                                              "DEFINE QALIAS(A) TARGET=B",
		"DEF NL(A) NAMES( )":                                              "DEFINE NAMELIST(A) NAMES=",
		"DEF NL(A) NAMES('x',Y Z)":                                        "DEFINE NAMELIST(A) NAMES=x|Y|Z",
		"DEF CHL(A) CHLTYPE(SDR) XMITQ(X) CONNAME(h(1414))":               "DEFINE CHANNEL[CHANNEL(SDR)](A) CHLTYPE=SDR XMITQ=X CONNAME=H(1414)",
		"DEF CHL(A) CONNAME(h(1),i(2)) XMITQ(X) CHLTYPE(SDR)":             "DEFINE CHANNEL[CHANNEL(SDR)](A) CONNAME=H(1),I(2) XMITQ=X CHLTYPE=SDR",
		"DEF CHL(A) CHLTYPE(SDR) LIKE(B)":                                 "DEFINE CHANNEL[CHANNEL(SDR)](A) CHLTYPE=SDR LIKE=B",
		"DIS CHL(*)":                                                      "DISPLAY CHANNEL(*)",
		"DIS CHL(a*) TYPE(SDR) XMITQ":                                     "DISPLAY CHANNEL[CHANNEL(SDR)](A*) CHLTYPE=SDR XMITQ",
		"DIS CHL(a*) CHLTYPE(ALL)":                                        "DISPLAY CHANNEL(A*) CHLTYPE=ALL",
		"DIS Q(*) TYPE(QALIAS) TARGET":                                    "DISPLAY QUEUE(*) TYPE=QALIAS TARGET",
		"DIS QL(*) SHARE CURDEPTH":                                        "DISPLAY QLOCAL(*) SHARE CURDEPTH",
		"DIS QL(*) TARGET":                                                "DISPLAY QLOCAL(*) TARGET",
		"DIS QMGR EVENT CLUSTER DEADQ":                                    "DISPLAY QMGR EVENT CLUSTER DEADQ",
		"DIS QS(A) TYPE(HANDLE) ALL":                                      "DISPLAY QSTATUS[QSTATUS TYPE(HANDLE)](A) TYPE=HANDLE ALL",
		"DIS QS(A) MONITOR":                                               "DISPLAY QSTATUS[QSTATUS TYPE(QUEUE)](A) MONITOR",
		"DIS TPSTATUS('a/+') TYPE(SUB) SUBUSER":                           "DISPLAY TPSTATUS[TPSTATUS TYPE(SUB)](a/+) TYPE=SUB SUBUSER",
		"DIS TPS('')":                                                     "DISPLAY TPSTATUS[TPSTATUS TYPE(TOPIC)]()",
		"DIS CHS(*) SAVED":                                                "DISPLAY CHSTATUS(*) SAVED",
		"DIS QL(*) WHERE(CURDEPTH GT 0)":                                  "DISPLAY QLOCAL(*) WHERE CURDEPTH GT 0",
		"DIS QL(*) WHERE ( descr lk 'a b*' ) DESCR":                       "DISPLAY QLOCAL(*) DESCR WHERE DESCR LK a b*",
		"DIS NL(*) WHERE(NAMES CT 'x')":                                   "DISPLAY NAMELIST(*) WHERE NAMES CT x",
		"DIS SUB(*) WHERE(SUBID LK '41ab*')":                              "DISPLAY SUB(*) WHERE SUBID LK 41AB*",
		"DIS QL(*) WHERE(DEFPSIST NE NO)":                                 "DISPLAY QLOCAL(*) WHERE DEFPSIST NE NO",
		"DIS CONN(*) TYPE(HANDLE) WHERE(APPLTAG EQ 'x')":                  "DISPLAY CONN(*) TYPE=HANDLE WHERE APPLTAG EQ x",
		"DIS CONN(*) CONN APPLTAG":                                        "DISPLAY CONN(*) CONN APPLTAG",
		"DIS SUB(*) SUB":                                                  "DISPLAY SUB(*) SUB",
		"STOP CHL(A) MODE(FORCE) STATUS(INACTIVE)":                        "STOP CHANNEL(A) MODE=FORCE STATUS=INACTIVE",
		"START LISTENER(A) IGNSTATE(YES)":                                 "START LISTENER(A) IGNSTATE=YES",
		"DEL QL(A) NOPURGE IGNSTATE(YES)":                                 "DELETE QLOCAL(A) PURGE=NO IGNSTATE=YES",
		"REF SEC(*) TYPE(CONNAUTH)":                                       "REFRESH SECURITY(*) TYPE=CONNAUTH",
		"REFRESH SECURITY":                                                "REFRESH SECURITY",
		"CLEAR TOPICSTR('a/#') CLTRTYPE(RETAINED)":                        "CLEAR TOPICSTR(a/#) CLRTYPE=RETAINED",
		"SUSPEND QMGR CLUSTER(C) MODE(FORCE)":                             "SUSPEND QMGR CLUSTER=C MODE=FORCE",
		"SET CHLAUTH('*') TYPE(BLOCKUSER) USERLIST('nobody','*MQADMIN')":  "SET CHLAUTH(*) TYPE=BLOCKUSER USERLIST=nobody|*MQADMIN",
		"SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('app') AUTHADD(CONNECT,INQ)": "SET AUTHREC OBJTYPE=QMGR PRINCIPAL=app AUTHADD=CONNECT|INQ",
		"RESET CHANNEL(A) SEQNUM(5)":                                      "RESET CHANNEL(A) SEQNUM=5",
		"DEF SUB('my sub ') TOPICSTR('a ') DESTCLAS(MANAGED)":             "DEFINE SUB(my sub ) TOPICSTR=a  DESTCLAS=MANAGED",
		"ALTER QMGR CONNAUTH('')":                                         "ALTER QMGR CONNAUTH=",
		"DEF QL(A) DESCR('it''s')":                                        "DEFINE QLOCAL(A) DESCR=it's",
		"PING QMGR;":                                                      "PING QMGR",
		"DEF QL(A) +\n  DESCR('x')":                                       "DEFINE QLOCAL(A) DESCR=x",
	} {
		c, err := ParseCommand(in)
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := show(c); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// What is wrong is named, at its place, with what to do.
func TestSyntaxErrors(t *testing.T) {
	for _, tc := range []struct{ in, at, says string }{
		{"DEFINE QLOCAL(A) MAXDEPHT(5)", "MAXDEPHT(5)", "did you mean MAXDEPTH?"},
		{"DEFINE QLOCAL(A) MAXDE(5)", "MAXDE(5)", "did you mean MAXDEPTH?"},
		{"DEFNE QLOCAL(A)", "DEFNE", "did you mean DEFINE?"},
		{"DEFINE QLOCL(A)", "QLOCL(A)", "did you mean QLOCAL?"},
		{"DEFI QLOCAL(A)", "DEFI", "not a command"},
		{"DEFINE CONN(A)", "CONN(A)", "not an object of DEFINE"},
		{"DEFINE QLOCAL", "QLOCAL", "needs a name"},
		{"DEFINE QLOCAL()", "QLOCAL()", "the name is missing"},
		{"DEFINE QLOCAL(A B)", "QLOCAL(A B)", "more than one name"},
		{"DEFINE QLOCAL(' ')", "' ')", "blank"},
		{"DEFINE QLOCAL(A*)", "A*)", "no generic name"},
		{"DISPLAY QLOCAL(A*B)", "A*B)", "last character"},
		{"DISPLAY QMGR(QM1)", "QMGR(QM1)", "takes no name"},
		{"DEFINE CHANNEL(A23456789.123456789.1) CHLTYPE(SVRCONN)", "A23456789.123456789.1)", "at most 20"},
		{"DEFINE QLOCAL(A) DESCR()", "DESCR()", "DESCR(' ')"},
		{"DEFINE QLOCAL(A) DESCR", "DESCR", "needs a value"},
		{"DEFINE QLOCAL(A) DESCR(two words)", "words)", "in quotes"},
		{"DEFINE QLOCAL(A) REPLACE(YES)", "REPLACE(YES)", "takes no value"},
		{"DEFINE QLOCAL(A) MAXDEPTH(x)", "x)", "not a number"},
		{"DEFINE QLOCAL(A) DEFPSIST('yes')", "'yes')", "leave the quotes out"},
		{"DEFINE QLOCAL(A) NOSHARE SHARE", "SHARE", "exclude each other"},
		{"DEFINE QLOCAL(A) DESCR('a') descr('b')", "descr('b')", "given twice"},
		{"DEFINE QLOCAL(A) PSID(1)", "PSID(1)", "z/OS only"},
		{"DEFINE QLOCAL(A) CURDEPTH(1)", "CURDEPTH(1)", "not a keyword"},
		{"DEFINE QALIAS(A) MAXDEPTH(1)", "MAXDEPTH(1)", "not a keyword of DEFINE QALIAS"},
		{"DEFINE CHANNEL(A) CHLTYPE(SVRCONN) XMITQ(X)", "XMITQ(X)", "CHANNEL CHLTYPE(SVRCONN)"},
		{"DEFINE CHANNEL(A) CHLTYPE(SDRR)", "CHLTYPE(SDRR)", "did you mean SDR?"},
		{"DEFINE CHANNEL(A+B) CHLTYPE(SVRCONN)", "A+B)", "a plus sign in a name"},
		{"DEFINE CHANNEL(A) CHLTYPE(SDR) XMITQ(X) CONNAME(host (1414))", "(1414))", "CONNAME takes one value"},
		{"DEFINE AUTHINFO(A)", "AUTHINFO(A)", "AUTHTYPE is missing"},
		{"DEFINE LISTENER(A)", "", "TRPTYPE is missing"},
		{"CLEAR TOPICSTR('a')", "", "CLRTYPE is missing"},
		{"SET AUTHREC OBJTYPE(QUEUE) PROFILE(A) AUTHADD(GET)", "", "PRINCIPAL or GROUP is missing"},
		{"ALTER QMGR", "", "nothing to alter"},
		{"DELETE SUB", "SUB", "name or SUBID"},
		{"DISPLAY QLOCAL(*) MAXDEPTH(5)", "MAXDEPTH(5)", "WHERE(MAXDEPTH EQ value)"},
		{"DISPLAY QLOCAL(*) WHERE(MAXDEPTH GT)", "WHERE(MAXDEPTH GT)", "a keyword, an operator and a value"},
		{"DISPLAY QLOCAL(*) WHERE(MAXDEPTH CL 1)", "CL 1)", "not an operator"},
		{"DISPLAY QLOCAL(*) WHERE(DEFPSIST GT YES)", "GT YES)", "EQ NE"},
		{"DISPLAY QLOCAL(*) WHERE(TYPE EQ QLOCAL)", "TYPE EQ QLOCAL)", "cannot be filtered"},
		{"DISPLAY QLOCAL(*) WHERE(NOPE EQ 1)", "NOPE EQ 1)", "not a keyword"},
		{"DISPLAY QLOCAL(*) WHERE(GET EQ ON) WHERE(PUT EQ ON)", "ON) WHERE", "not one of"},
		{"DEFINE QLOCAL(A", "(A", "not closed"},
		{"DEFINE QLOCAL(A) DESCR('x", "'x", "not closed"},
		{"DEFINE QLOCAL(A) )", ")", "without an opening"},
		{"DEFINE QLOCAL(A) (B)", "(B)", "without a keyword"},
		{"DEFINE QLOCAL(A) 'B'", "'B'", "quoted string"},
		{"DEFINE QLOCAL(A) DESCR('a'b)", "b)", "written twice"},
		{"DEFINE QLOCAL(${X})", "${X})", "template"},
		{"DEFINE QLOCAL({{ .x }})", "{{", "template"},
		{"DEFINE QLOCAL('${X}')", "'${X}')", "template"},
		{"{{ if .x }}", "{{", "template"},
		{"${CMD}", "${CMD}", "template"},
		{"# x", "# x", "begins with *"},
		{"\x00D\x00E", "\x00D", "UTF-8"},
		{"END", "", "needs an object"},
		{"", "", "no command"},
		{"PING QMGR; PING QMGR", "PING QMGR", "more than one command"},
	} {
		_, err := ParseCommand(tc.in)
		if err == nil {
			t.Errorf("%s was taken", tc.in)
			continue
		}
		rest := ""
		if err.Pos <= len(tc.in) {
			rest = strings.TrimPrefix(tc.in, tc.in[:err.Pos])
		}
		if tc.at != "" && !strings.HasPrefix(rest, tc.at) || tc.at == "" && err.Pos != len(tc.in) && tc.in != "END" {
			t.Errorf("%s: points at %q, want %q (%v)", tc.in, rest, tc.at, err)
		}
		if !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v does not say %q", tc.in, err, tc.says)
		}
	}
}

// Every command of the table can be looked at: help, words, completion.
func TestHelpCoversEveryCommand(t *testing.T) {
	for _, v := range attr.Verbs() {
		if v.Object == "" || v.Priority == zosOnly {
			continue
		}
		h := Help(v.Verb + " " + v.Object)
		if !strings.HasPrefix(h, formID) || !strings.Contains(h, v.Verb+" "+v.Object) {
			t.Errorf("%s %s: %s", v.Verb, v.Object, h)
		}
	}
	if h := Help("nonsense"); !strings.Contains(h, "  DISPLAY\n") {
		t.Error(h)
	}
	if h := Help("DIS"); !strings.Contains(h, "  QLOCAL\n") || strings.Contains(h, "STGCLASS") {
		t.Error(h)
	}
}

// z/OS commands parse, whatever their keywords, so that the manager can refuse them by name.
func TestZOSCommandsParse(t *testing.T) {
	c, err := ParseCommand("DEFINE STGCLASS(A) PSID(1) XCFGNAME(B)")
	if err != nil || c.Spec.Priority != zosOnly {
		t.Fatal(err)
	}
}

func TestComplete(t *testing.T) {
	for in, want := range map[string]Completion{
		"def":                                  {Prefix: "def", Words: []string{"DEFINE"}},
		"DEFINE Q":                             {Prefix: "Q", Words: []string{"QALIAS(", "QLOCAL(", "QMODEL(", "QREMOTE("}},
		"DEFINE QLOCAL(":                       {Names: "QLOCAL"},
		"DIS QL('a":                            {Prefix: "a", Names: "QLOCAL"},
		"DEF QL(A) DEFPSIST(":                  {Words: []string{"NO)", "YES)"}},
		"SET AUTHREC OBJTYPE(QMGR) AUTHADD(CO": {Prefix: "CO", Words: []string{"CONNECT"}},
		"DEF QL(A) DESCR('x') REP":             {Prefix: "REP", Words: []string{"REPLACE"}},
		"DEF CHL(A) CHLTYPE(SVRCONN) SHAREC":   {Prefix: "SHAREC", Words: []string{"SHARECNV("}},
		"DEF CHL(A) CHLTYPE(SVRCONN) XMI":      {Prefix: "XMI"},
		"DEF QL(A) LIKE(B":                     {Prefix: "B", Names: "QLOCAL"},
		"DIS QL(*) WHERE(CURD":                 {Prefix: "CURD", Words: []string{"CURDEPTH "}},
		"DIS QL(*) WHERE(curdepth G":           {Prefix: "G", Words: []string{"GT ", "GE "}},
		"DIS QL(*) WHERE(NPMCLASS EQ ":         {Words: []string{"NORMAL)", "HIGH)"}},
		"NOPE X":                               {Prefix: "X"},
	} {
		got := Complete(in)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", in, d)
		}
	}
}

// What a definition lacks beside its type makes it refused when it runs, not wrong; inserts are values that it gets then.
func TestWellFormed(t *testing.T) {
	for _, text := range []string{
		"DEFINE CHANNEL(A) CHLTYPE(SDR)",
		"DEFINE CHANNEL(A) CHLTYPE(CLUSRCVR) CLUSTER(C)",
		"DEFINE TOPIC(ORANGE.TOPIC) DEFPRTY(5) REPLACE",
		"DEFINE SUB(ORANGE) PUBPRTY(5) REPLACE",
		"DEFINE SUB(A) TOPICSTR('x')",
		"DEFINE AUTHINFO(A) AUTHTYPE(CRLLDAP)",
		"REFRESH CLUSTER(*) REPOS(NO)",
		"REFRESH CLUSTER(INV*)",
		"START LISTENER",
		"STOP LISTENER",
		"START LISTENER IGNSTATE(YES)",
		"DELETE AUTHREC OBJTYPE(QMGR) GROUP('staff')",
		"SET AUTHREC OBJTYPE(QMGR) GROUP('staff') AUTHADD(CONNECT)",
		"DEFINE CHANNEL('+AUTOCL+_+QMNAME+') CHLTYPE(CLUSRCVR) TRPTYPE(TCP) CONNAME(+CONNAME+) CLUSTER('+AUTOCL+') REPLACE",
		"DISPLAY CHANNEL(UNICLUSTER.+QMNAME+)",
		"DISPLAY CHANNEL(UNICLUSTER.+QMNAME+*)",
		"DEFINE CHANNEL(A.NAME.OF.19.+QMNAME+) CHLTYPE(SVRCONN)",
		"DEFINE QREMOTE(A) RNAME(+QMNAME+.IN) RQMNAME(B)",
	} {
		if _, err := ParseCommand(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// HELP is the question mark in a word.
func TestHelpWord(t *testing.T) {
	for _, pair := range [][2]string{{"HELP", "?"}, {"help define", "? define"}, {"Help DIS QL", "?DIS QL"}} {
		a, okA := helpFor(&Source{Text: pair[0]})
		b, okB := helpFor(&Source{Text: pair[1]})
		if !okA || !okB || a != b || a == "" {
			t.Errorf("%s: %v %q, %s: %v %q", pair[0], okA, a, pair[1], okB, b)
		}
	}
	if _, ok := helpFor(&Source{Text: "HELPME"}); ok {
		t.Error("HELPME is not HELP")
	}
}
