package mqsc

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/attr"
)

func TestFromJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"command":"define","qualifier":"channel","name":"NEWSVRCONN","parameters":{"chltype":"svrconn"}}`:                              "DEFINE CHANNEL[CHANNEL(SVRCONN)](NEWSVRCONN) CHLTYPE=SVRCONN",
		`{"command":"define","qualifier":"ql","name":"a.b","parameters":{"maxdepth":5,"share":"no","replace":"yes","descr":"it's"}}`:     "DEFINE QLOCAL(a.b) DESCR=it's MAXDEPTH=5 REPLACE=YES SHARE=NO",
		`{"command":"alter","qualifier":"qlocal","name":"A","parameters":{"noshare":"yes","trigger":true}}`:                              "ALTER QLOCAL(A) SHARE=NO TRIGGER=YES",
		`{"command":"define","qualifier":"namelist","name":"A","parameters":{"names":["a","B"]}}`:                                        "DEFINE NAMELIST(A) NAMES=a|B",
		`{"command":"display","qualifier":"qlocal","name":"*","parameters":{"where":"curdepth gt 0"},"responseParameters":["curdepth"]}`: "DISPLAY QLOCAL(*) CURDEPTH WHERE CURDEPTH GT 0",
		`{"command":"display","qualifier":"qstatus","name":"A","parameters":{"type":"handle"},"responseParameters":["all","type"]}`:      "DISPLAY QSTATUS[QSTATUS TYPE(HANDLE)](A) TYPE=HANDLE ALL",
		`{"command":"ping","qualifier":"qmgr"}`: "PING QMGR",
	} {
		var j JSONCommand
		if err := json.Unmarshal([]byte(in), &j); err != nil {
			t.Fatal(err)
		}
		c, serr := FromJSON(j)
		if serr != nil {
			t.Errorf("%s: %v", in, serr)
			continue
		}
		if got := show(c); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
		if _, err := ParseCommand(c.Text); err != nil && !strings.Contains(in, "yes") && !strings.Contains(in, "type") && !strings.Contains(in, "where") {
			t.Errorf("its text %s: %v", c.Text, err)
		}
	}
	for in, says := range map[string]string{
		`{}`: "command is missing",
		`{"command":"define","qualifier":"qlocal","name":"A","parameters":{"maxdepht":1}}`:      "did you mean MAXDEPTH?",
		`{"command":"define","qualifier":"qlocal","name":"A","parameters":{"descr":{"a":1}}}`:   "not a string",
		`{"command":"define","qualifier":"qlocal","name":"A","parameters":{"maxdepth":1.5}}`:    "not a string, a number",
		`{"command":"define","qualifier":"qlocal","name":"A","parameters":{"replace":"maybe"}}`: "takes no value",
		`{"command":"define","qualifier":"qlocal","name":"A) PURGE"}`:                           "must not hold",
		`{"command":"delete qlocal(A) ","qualifier":"qlocal","name":"A"}`:                       "not a command",
	} {
		var j JSONCommand
		if err := json.Unmarshal([]byte(in), &j); err != nil {
			t.Fatal(err)
		}
		if _, serr := FromJSON(j); serr == nil || !strings.Contains(serr.Error(), says) {
			t.Errorf("%s: %v does not say %q", in, serr, says)
		}
	}
}

func TestJSONParameters(t *testing.T) {
	row := attr.Row{Items: append(items("QLOCAL", "QUEUE=A", "MAXDEPTH=5000", "DESCR=", "SHARE=YES", "TRIGGER=NO", "CAPEXPRY=NOLIMIT"),
		items("NAMELIST", "NAMES=A|B")...)}
	row.Items = append(row.Items, items("CHSTATUS", "EXITTIME=1|2")...)
	row.Items = append(row.Items, items("AUTHINFO(IDPWLDAP)", "LDAPPWD=s3cret")...)
	want := map[string]any{"queue": "A", "maxdepth": int64(5000), "descr": "", "share": "yes", "trigger": "no", "capexpry": "NOLIMIT",
		"names": []string{"A", "B"}, "exittime": "1,2", "ldappwd": "********"}
	if d := cmp.Diff(want, JSONParameters(&row)); d != "" {
		t.Error(d)
	}
}
