package mqsc

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// items makes a row's items with their rows of the tables; "KEY=value" each.
func items(kind attr.Kind, pairs ...string) []attr.Item {
	s, ok := attr.SchemaOf(kind)
	var out []attr.Item
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		it := attr.Item{Key: k, Val: strings.ReplaceAll(v, "|", attr.ListSep)}
		if ok {
			if a, found := s.Lookup(k); found {
				it.Attr = a
			}
		}
		out = append(out, it)
	}
	return out
}

// exampleRows answers the DISPLAY commands of testdata/mqsc/report.
func exampleRows(c *attr.Command) []attr.Row {
	switch c.Object {
	case "QLOCAL":
		return []attr.Row{{ID: "AMQ8409I", Items: items("QLOCAL", "QUEUE=CONT.D", "TYPE=QLOCAL", "DESCR=onetwo", "MAXDEPTH=5000")}}
	case "NAMELIST":
		return []attr.Row{{ID: "AMQ8550I", Items: items("NAMELIST", "NAMELIST=NL", "NAMCOUNT=2", "NAMES=A|B", "DESCR=")}}
	}
	return nil
}

// lone is a first item that stands alone: padded, so that the line has 40 characters.
func lone(item string) string { return "   " + item + strings.Repeat(" ", 37-len(item)) }

// facts/mqsc.md §4: each rule of the two columns.
func TestLayout(t *testing.T) {
	const long37 = "QUEUE(SYSTEM.ADMIN.TRACE.ROUTE.QUEUE)"
	for _, tc := range []struct {
		name, object string
		items        []attr.Item
		want         []string
	}{
		{"two columns; the second begins at 44", "QLOCAL", items("QLOCAL", "QUEUE=A", "TYPE=QLOCAL", "DESCR="),
			[]string{"   QUEUE(A)                                TYPE(QLOCAL)", lone("DESCR( )")}},
		{"37 characters share a line", "QLOCAL", items("QLOCAL", "QUEUE=SYSTEM.ADMIN.TRACE.ROUTE.QUEUE", "TYPE=QLOCAL"),
			[]string{"   " + long37 + "   TYPE(QLOCAL)"}},
		{"38 stand alone", "QLOCAL", items("QLOCAL", "QUEUE=SYSTEM.ADMIN.TRACE.ROUTE.QUEUEX", "TYPE=QLOCAL", "GET=ENABLED"),
			[]string{"   QUEUE(SYSTEM.ADMIN.TRACE.ROUTE.QUEUEX)", "   TYPE(QLOCAL)                            GET(ENABLED)"}},
		{"36 fit the second column", "QMGR", items("QMGR", "CMDLEVEL=941", "COMMANDQ=SYSTEM.ADMIN.COMMAND.QUEUE"),
			[]string{"   CMDLEVEL(941)                           COMMANDQ(SYSTEM.ADMIN.COMMAND.QUEUE)"}},
		{"37 do not, and the next item starts a line", "QMGR", items("QMGR", "CMDLEVEL=941", "COMMANDQ=SYSTEM.ADMIN.COMMAND.QUEUEX", "SYNCPT=YES", "PLATFORM=UNIX"),
			[]string{lone("CMDLEVEL(941)"), "   COMMANDQ(SYSTEM.ADMIN.COMMAND.QUEUEX)", "   SYNCPT                                  PLATFORM(UNIX)"}},
		{"flags are bare words", "QLOCAL", items("QLOCAL", "SHARE=YES", "TRIGGER=NO", "HARDENBO=NO", "SHARE=NO"),
			[]string{"   SHARE                                   NOTRIGGER", "   NOHARDENBO                              NOSHARE"}},
		{"a list has a line for each value", "NAMELIST", items("NAMELIST", "NAMELIST=NL", "NAMES=ONE|TWO|THREE", "DESCR=x", "ALTDATE=2026-11-29"),
			[]string{lone("NAMELIST(NL)"), "   NAMES(ONE", "        ,TWO", "        ,THREE)", "   DESCR(x)                                ALTDATE(2026-11-29)"}},
		{"behind a list of one value the line goes on", "CHLAUTH", items("CHLAUTH", "TYPE=BLOCKUSER", "USERLIST=*MQADMIN", "WARN=NO"),
			[]string{lone("TYPE(BLOCKUSER)"), "   USERLIST(*MQADMIN)                      WARN(NO)"}},
		{"an empty list is blank", "NAMELIST", items("NAMELIST", "NAMCOUNT=0", "NAMES=", "DESCR="),
			[]string{lone("NAMCOUNT(0)"), "   NAMES( )                                DESCR( )"}},
		{"other lists are plain", "CHANNEL", items("CHANNEL(SDR)", "COMPHDR=NONE|SYSTEM", "COMPMSG=NONE"),
			[]string{"   COMPHDR(NONE,SYSTEM)                    COMPMSG(NONE)"}},
		{"pairs", "QSTATUS", items("QSTATUS TYPE(QUEUE)", "QTIME=281796|359344", "QTIME="),
			[]string{"   QTIME(281796, 359344)                   QTIME( , )"}},
		{"pair without a blank", "CHSTATUS", items("CHSTATUS", "EXITTIME=0|0", "CURRENT=YES"),
			[]string{"   EXITTIME(0,0)                           CURRENT"}},
		{"CONN, EXTCONN and TYPE end their lines", "CONN", items("CONN", "CONN=0123456789ABCDEF", "EXTCONN=414D5143514D31202020202020202020", "TYPE=CONN", "PID=7", "TID=1"),
			[]string{lone("CONN(0123456789ABCDEF)"), "   EXTCONN(414D5143514D31202020202020202020)", lone("TYPE(CONN)"), "   PID(7)                                  TID(1)"}},
		{"secrets are asterisks", "AUTHINFO", items("AUTHINFO(IDPWLDAP)", "LDAPPWD=s3cret", "LDAPPWD="),
			[]string{"   LDAPPWD(********)                       LDAPPWD( )"}},
		{"what does not print is a dot; characters count, not bytes", "TPSTATUS", items("TPSTATUS TYPE(TOPIC)", "ADMIN=a\tb\x1b[2J\n\xff", "SUB=münchen"),
			[]string{"   ADMIN(a.b.[2J..)                        SUB(münchen)"}},
	} {
		var b bytes.Buffer
		cmd := &attr.Command{Verb: "DISPLAY", Object: tc.object}
		err := WriteReply(&b, cmd, &attr.Reply{Rows: func(yield func(attr.Row) bool) { yield(attr.Row{ID: "AMQ0000I", Title: "x", Items: tc.items}) }})
		if err != nil {
			t.Fatal(err)
		}
		want := "AMQ0000I: x\n" + strings.Join(tc.want, "\n") + "\n"
		if d := cmp.Diff(want, b.String()); d != "" {
			t.Errorf("%s: %s", tc.name, d)
		}
	}
}

func TestMessagesFollowRows(t *testing.T) {
	var b bytes.Buffer
	r := &attr.Reply{CC: 2, Msgs: []attr.Message{{ID: "AMQ8147E", Inserts: []string{"NO.Q"}}}}
	if err := WriteReply(&b, &attr.Command{}, r); err != nil || !strings.HasPrefix(b.String(), "AMQ8147E: ") || !strings.Contains(b.String(), "NO.Q") {
		t.Errorf("%v %s", err, b.String())
	}
}
