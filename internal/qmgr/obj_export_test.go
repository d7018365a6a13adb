package qmgr

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

func (r *objRig) export(o ExportOptions) string {
	r.t.Helper()
	var b strings.Builder
	if err := r.m.Export(&b, o); err != nil {
		r.t.Fatal(err)
	}
	return b.String()
}

// A new queue manager has nothing to export.
func TestExportNew(t *testing.T) {
	if got := newObjRig(t).export(ExportOptions{}); strings.Count(got, "\n") != 1 {
		t.Errorf("export of a new queue manager:\n%s", got)
	}
}

// notDefault gives a value that an attribute may have and does not have by default; "" when there is none.
func notDefault(a *attr.Attr) string {
	switch a.Type {
	case attr.TInt:
		n := a.Min + 1
		if strconv.FormatInt(n, 10) == a.Default {
			n++
		}
		return strconv.FormatInt(min(n, a.Max), 10)
	case attr.TIntOrEnum:
		if a.Max > a.Min {
			return strconv.FormatInt(a.Min+1, 10)
		}
		return otherWord(a)
	case attr.TEnum:
		return otherWord(a)
	case attr.TListEnum:
		return otherWord(a)
	case attr.TFlag:
		if a.Default == "YES" {
			return "NO"
		}
		return "YES"
	case attr.TName:
		return "SOME.NAME"[:min(9, max(1, a.MaxLen))]
	case attr.TListName:
		return "ONE" + attr.ListSep + "TWO"
	case attr.TListString:
		return "it's one" + attr.ListSep + "two"
	case attr.THex:
		return strings.Repeat("AB", max(1, a.MaxLen/2))
	case attr.TString:
		s := "it's (a) 'value' + - *"
		return s[:min(len(s), max(1, a.MaxLen))]
	}
	return ""
}

func otherWord(a *attr.Attr) string {
	for _, e := range a.Enum {
		if e.Word != a.Default && !e.ShowOnly {
			return e.Word
		}
	}
	return ""
}

// leftOut are attributes whose other values a rule forbids, or that follow from something else.
var leftOut = regexp.MustCompile(`^(QSGDISP|CFSTRUCT|CHLTYPE|AUTHTYPE|TYPE|CLUSNL|TOPICSTR|TOPICOBJ|DEST|DESTCLAS|SELECTOR|USAGE|REPOSNL|LOGGEREV|DEFXMITQ|LDAPPWD|PASSWORD|KEYRPWD|INITKEY|SSLKEYP|QDEPTHLO|CONNAME|TRPTYPE|NAMES|STREAMQ|MAXPROPL|CCSID)$`)

// fill gives every attribute of a definition another value than its default.
func (r *objRig) fill(d *Def) {
	for i := range d.Schema.Attrs {
		a := &d.Schema.Attrs[i]
		if a.Positional || leftOut.MatchString(a.Name) {
			continue
		}
		if d.Kind == "QMGR" && a.Alter != attr.Yes || d.Kind != "QMGR" && a.Define != attr.Yes {
			continue
		}
		if v := notDefault(a); v != "" {
			d.setVal(i, v)
		}
	}
}

// Objects of every kind with every attribute at another value than its default: export, replay on a new queue manager,
// export again, equal.
func TestExportRoundTrip(t *testing.T) {
	r := newObjRig(t)
	var script strings.Builder
	must := map[string]string{"CONNAME": "host(1414)", "XMITQ": "X", "TOPICSTR": "some/topic", "DEST": "EXP.QLOCAL", "OCSPURL": "http://h", "SSLPEER": "CN=app",
		"QDEPTHLO": "0", "SELECTOR": "colour = 'blue' AND n > 3"}
	kinds := 0
	for _, k := range attr.Kinds() {
		switch classOf(k) {
		case ClassQueue, ClassTopic, ClassSub, ClassChannel, ClassClntconn, ClassProcess, ClassNamelist, ClassAuthinfo, ClassComminfo,
			ClassListener, ClassService:
		default:
			continue
		}
		name := "EXP." + strings.NewReplacer("(", ".", ")", "").Replace(string(k))
		d, err := newDef(k, name[:min(len(name), 20)])
		if err != nil {
			t.Fatal(err)
		}
		r.fill(d)
		for key, v := range must {
			if i, ok := d.Schema.Index(key); ok && d.Schema.Attrs[i].Define == attr.Yes {
				d.setVal(i, v)
			}
		}
		var items []attr.Item
		for i := range d.Schema.Attrs {
			items = append(items, attr.Item{Key: d.Schema.Attrs[i].Name, Val: d.val(i), Attr: &d.Schema.Attrs[i]})
		}
		if err := mqsc.FormatDefine(&script, k, d.Name, items, mqsc.FormatOptions{}); err != nil {
			t.Fatal(err)
		}
		kinds++
	}
	if kinds < 22 {
		t.Fatalf("%d kinds", kinds)
	}
	qm, err := newDef("QMGR", "QM1")
	if err != nil {
		t.Fatal(err)
	}
	r.fill(qm)
	var items []attr.Item
	for i := range qm.Schema.Attrs {
		if a := &qm.Schema.Attrs[i]; a.Alter == attr.Yes && !a.Hidden {
			items = append(items, attr.Item{Key: a.Name, Val: qm.val(i), Attr: a})
		}
	}
	if err := mqsc.FormatDefine(&script, "QMGR", "", items, mqsc.FormatOptions{Verb: "ALTER"}); err != nil {
		t.Fatal(err)
	}
	script.WriteString(`
DEFINE SUB(MANAGED) TOPICSTR('m/#') DESTCLAS(MANAGED)
SET CHLAUTH('EXP.*') TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(MAP) MCAUSER('u') DESCR('it''s')
SET CHLAUTH('EXP.*') TYPE(BLOCKUSER) USERLIST('a','b') WARN(YES)
SET CHLAUTH('*') TYPE(BLOCKUSER) USERLIST('*MQADMIN') ACTION(REMOVE)
SET CHLAUTH('SYSTEM.*') TYPE(ADDRESSMAP) ADDRESS('*') ACTION(REMOVE)
SET AUTHREC PROFILE('EXP.**') OBJTYPE(QUEUE) GROUP('g') AUTHADD(GET,PUT)
SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('p') AUTHADD(CONNECT)
ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXDEPTH(77)
DEFINE QLOCAL(FROM.TEMPLATE)
DEFINE QLOCAL(A.BEFORE.TEMPLATE) MAXDEPTH(5000)
`)
	if out, res := r.script(script.String()); res.Failed+res.SyntaxErrors > 0 {
		t.Fatalf("%+v\n%s", res, out)
	}
	for _, o := range []ExportOptions{{}, {All: true}} {
		first := r.export(o)
		fresh := newObjRig(t)
		if out, res := fresh.script(first); res.Failed+res.SyntaxErrors > 0 {
			t.Fatalf("replay %+v: %+v\n%s", o, res, failedOnly(out))
		}
		if second := fresh.export(o); second != first {
			t.Errorf("exports differ with %+v:\n%s", o, firstDifference(first, second))
		}
	}
	before := r.export(ExportOptions{All: true})
	r.open()
	if after := r.export(ExportOptions{All: true}); after != before {
		t.Errorf("a restart changes definitions:\n%s", firstDifference(before, after))
	}
	if all := r.export(ExportOptions{All: true}); strings.Contains(all, "argon2") {
		t.Error("the export holds what is kept of a password")
	}
}

// failedOnly drops the echo of commands that worked.
func failedOnly(out string) string {
	var keep []string
	for l := range strings.Lines(out) {
		if !regexp.MustCompile(`^AMQ\d+I`).MatchString(l) || strings.HasPrefix(l, "AMQ8405I") {
			keep = append(keep, l)
		}
	}
	return strings.Join(keep, "")
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d\n%s\n---\n%s", i+1, strings.Join(x[max(0, i-8):min(len(x), i+3)], "\n"), strings.Join(y[max(0, i-8):min(len(y), i+3)], "\n"))
		}
	}
	return fmt.Sprintf("%d lines and %d lines", len(x), len(y))
}
