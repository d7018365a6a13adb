package selector

import (
	"errors"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

var props = Map{
	"i": Int(5), "j": Int(2), "neg": Int(-7), "big": Int(1 << 62), "f": Float(2.5), "s": String("UK"), "e": String(""),
	"t": Bool(true), "n": Bool(false), "q": String("it's"), "p": String("a%b_c"), "ü": String("äöü"), "$x_1.y": Int(1),
	"b": Bytes([]byte{0x0a, 0xfc, 0x23}), "fld": Field("ABC   "), "Color": String("red"), "multi": String("line\nline"),
}

// Tricky ones first: what NULL does.
func TestEvaluation(t *testing.T) {
	for _, c := range []struct {
		want      Truth
		selectors string // separated by ;
	}{
		{True, "none IS NULL; NOT none IS NOT NULL; i IS NOT NULL; none + 1 IS NULL; i / 0 IS NULL; s + 1 IS NULL; -s IS NULL"},
		{False, "i IS NULL; none IS NOT NULL; NOT none IS NULL; e IS NULL"},
		{Unknown, "none = 1; none <> 1; NOT none = 1; none = none; none <> none; none; NOT none; none > 1; none + 1 = 2"},
		{Unknown, "none BETWEEN 1 AND 2; none NOT BETWEEN 1 AND 2; i BETWEEN 1 AND none; i NOT BETWEEN none AND 9"},
		{False, "i BETWEEN 9 AND none; i BETWEEN none AND 1"},
		{True, "i NOT BETWEEN 9 AND none"},
		{Unknown, "none IN ('a'); none NOT IN ('a'); none LIKE '%'; none NOT LIKE 'a'"},
		{Unknown, "none = 1 AND t; none = 1 OR n; t AND none; none OR none; i / 0 = 1; i / (j - 2) <> 1"},
		{False, "none = 1 AND n; n AND none; none AND n AND t"},
		{True, "none = 1 OR t; t OR none; NOT (none AND n)"},

		{True, "i = 5; i <> 4; i > 4; i >= 5; i < 6; i <= 5; i = 5.0; f = 2.5; f > j; j < f; 5 = i; i = +5; neg = -7; -neg = 7"},
		{True, "i + j = 7; i - j = 3; i * j = 10; i / j = 2; i / 2.0 = 2.5; (i + j) * 2 = 14; i + j * 2 = 9; 2 - 3 - 4 = -5; -i + 6 = 1; - -i = 5; 7 / 2 * 2 = 6"},
		{False, "i = 4; f = 2; i / j = 2.5; big * 4 = 1"},
		{True, "i = 0x5; i = 05; i = 5L; i = 5l; 0x0A = 10; 0XfF = 255; 010 = 8; 7E3 = 7000; -57.9E2 = -5790; 7. = 7; .5 = 0.5; 1e-2 = 0.01; 0 = 0; 0.5 < 1"},
		{True, "-9223372036854775808 < 0; 9223372036854775807 > 0; i > -9223372036854775808; 0xFFFFFFFFFFFFFFFF = -1"},
		{True, "f / 0 > 1E300; 1E-999 = 0"},

		// Values of different types never compare true, and their comparison is false, not unknown.
		{False, "s = 5; s <> 5; i = 'UK'; i <> 'UK'; t = 1; t <> 'x'; s > 'AA'; t > FALSE; b = 'x'; i LIKE '5'; i IN ('5')"},
		{True, "NOT s = 5; NOT i LIKE '5'; i NOT IN ('5'); NOT s > 'AA'"},
		{False, "s; i; NOT t; i AND t"},

		{True, "s = 'UK'; 'UK' = s; s <> 'uk'; q = 'it''s'; e = ''; multi = 'line\nline'; fld = 'ABC'; fld = 'ABC  '; 'ABC   ' = fld"},
		{False, "s = 'uk'; s = 'UK '; S = 'UK' AND FALSE"},
		{Unknown, "S = 'UK'; Ü = 'x'"},
		{True, "t; t = TRUE; n = FALSE; t <> n; NOT n; NOT NOT t; TRUE AND t; TRUE <> FALSE; (i = 5) = TRUE; (i = 5) = (j = 2)"},
		{True, "ü = 'äöü'; ü LIKE '_ö_'; $x_1.y = 1"},

		{True, "s IN ('US','UK'); s NOT IN ('US', 'FR'); s in('UK'); fld IN ('ABC')"},
		{True, "i BETWEEN 5 AND 5; i between 4 and 6; i NOT BETWEEN 6 AND 9; i BETWEEN j AND j * 3; f BETWEEN 2 AND 3; i BETWEEN 1 AND 9 AND t"},
		{False, "i BETWEEN 6 AND 4; s BETWEEN 1 AND 2"},
		{True, "s NOT BETWEEN 1 AND 2"},
		{True, "s LIKE 'U%'; s LIKE 'U_'; s LIKE '%'; s LIKE 'UK%'; e LIKE '%'; e LIKE ''; s NOT LIKE 'u%'; s LIKE '%K'; multi LIKE 'line%'; p LIKE 'a!%b!_c' ESCAPE '!'; p LIKE 'a%%%c'"},
		{False, "s LIKE 'U'; s LIKE '_'; e LIKE '_'; s LIKE 'U_K'; s NOT LIKE 'U%'; s LIKE 'U!_' ESCAPE '!'; s LIKE 'U%x'; q LIKE 'it''_%x'"},
		{True, "p LIKE 'a\\%b\\_c' ESCAPE '\\'; p LIKE 'aü%büü_c' ESCAPE 'ü' OR TRUE; s LIKE '!U!K' ESCAPE '!'"},

		{True, "n AND n OR t; t OR n AND n; NOT n AND t; NOT (n AND t); t AND (n OR t); not n; T OR t"},
		{False, "NOT t OR n; NOT (t OR n); n OR NOT t"},
		{True, "b = \"0x0AFC23\"; b = \"0X0afc23\"; b <> \"0x0AFC2300\"; b <> \"0x000AFC23\"; b <> \"0x23FC0A\""},
		{True, "  i=5 AND t; (i=5)AND t; i=5\tAND\r\nt; (((i)))=5; Color IS NOT NULL; Color='red' and i>=5"},
	} {
		for text := range strings.SplitSeq(c.selectors, ";") {
			s, err := Parse(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if got := s.Eval(props); got != c.want {
				t.Errorf("%s is %d, want %d", text, got, c.want)
			}
			if s.Matches(props) != (c.want == True) || s.String() != text {
				t.Errorf("%s: only TRUE selects", text)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for rc, selectors := range map[int32]string{
		RCSyntax: "i =; = 5; i = = 5; i == 5; i != 5; i = 5 AND; AND i = 5; i 5; (i = 5; i = 5); i = 'a; i = a'; i = \"a\"; i = \"0xABC\"; i = \"0x\"; i = \"0x0g\"; i = \"0x01;" +
			"NULL; i = NULL; NOT; i IS; i IS 5; i IS NOT 5; i NOT 5; i NOT = 5; i BETWEEN 1; i BETWEEN 1 AND; i BETWEEN 1 OR 2;" +
			"s IN; s IN (; s IN (); s IN ('a'; s IN ('a',); s IN (1); s IN 'a'; s IN ('a' 'b'); s LIKE; s LIKE 5; s LIKE s; s LIKE 'a' ESCAPE; s LIKE 'a' ESCAPE '';" +
			"s LIKE 'a' ESCAPE 'ab'; s LIKE 'a!' ESCAPE '!'; s LIKE 'a' ESCAPE e;" +
			"5; 'a'; i + 1; -i; +; i = 5 + 'a'; i = TRUE + 1; 'a' * 2 = i; -'a' = i; -TRUE; -(i = 5) = 1; NOT 5; NOT 'a'; i = 5 AND 7; i = 5 OR 'x'; 5 AND t; (i = 5) + 1 = 2;" +
			"5 IN ('5'); 5 LIKE '5'; TRUE IN ('x'); (i = 5) LIKE 'a'; (i = 5) IS NULL; 'a' BETWEEN 1 AND 2; i BETWEEN 'a' AND 'b';" +
			"i = 09; i = 08L; i = 12abc; i = 1.5.2; i = 1e; i = 1e+; i = 9223372036854775808; i = 99999999999999999999; i = - -9223372036854775808; i = 1E400; i = 0x; i = 0xfg; i = 0x1FFFFFFFFFFFFFFFF; i = 5LL;" +
			"i.; i..j = 1; .i = 1; 1i = 1; i# = 1; i = 5 ~; i-1; [i] = 1; i = :a; a b; and; i = in; Root.MQMD.Nothing = 1; Root.MQMD.priority = 1; \xff = 1",
		RCAlwaysFalse:  "FALSE; 1 = 2; TRUE <> TRUE; NOT TRUE; 'a' = 'b'; 1 / 0 = 1; 'a' = 1; 'a' LIKE 'b'; 'a' IN ('b'); 3 BETWEEN 4 AND 5; 'a' < 'b'; TRUE AND FALSE; 1 IS NULL",
		RCNotAvailable: "Root.XMLNSC.a = 1; Root = 1; i = 5 AND Root.MQRFH2.usr.x = 'a'",
		RCTooLong:      "i = '" + strings.Repeat("ü", MaxLen) + "'",
	} {
		for text := range strings.SplitSeq(selectors, ";") {
			s, err := Parse(text)
			var e *Error
			if !errors.As(err, &e) || e.RC != rc || e.Error() == "" {
				t.Errorf("%.60s: %v, %v, want reason %d", text, s, err, rc)
			}
		}
	}
	if _, err := Parse(strings.Repeat("(", 5000) + "t" + strings.Repeat(")", 5000)); err == nil {
		t.Error("thousands of brackets are taken")
	}
	if s, err := Parse(strings.Repeat("NOT ", 2000) + "t"); err != nil || !s.Matches(props) {
		t.Errorf("2000 NOTs: %v", err)
	}
	if s, err := Parse("i = 5" + strings.Repeat(" OR i = 5", 1000)); err != nil || !s.Matches(props) {
		t.Errorf("1000 ORs: %v", err)
	}
}

func TestEmptySelectsAll(t *testing.T) {
	for _, text := range []string{"", "  \t\n"} {
		s, err := Parse(text)
		if s != nil || err != nil || !s.Matches(None) {
			t.Errorf("%q: %v %v", text, s, err)
		}
	}
}

func TestMessage(t *testing.T) {
	md := mqi.DefaultMD()
	md.Persistence, md.Priority, md.Format, md.BackoutCount = mqi.MQPER_PERSISTENT, 7, "MQSTR", 2
	md.UserIdentifier, md.PutApplName, md.PutDate, md.PutTime = "alice", "orders", "20261129", "12345678"
	md.MsgID, md.GroupID, md.MsgSeqNumber, md.MsgFlags = mqi.ID{0xab, 1}, mqi.ID{9}, 3, mqi.MQMF_LAST_MSG_IN_GROUP
	m := Message{MD: &md, Props: Map{"JMSType": String("car"), "weight": Int(2500), "JMSPriority": {}}}
	id := "ab01" + strings.Repeat("0", 44)
	for _, text := range []string{
		"JMSType = 'car' AND weight > 2499", "JMSDeliveryMode = 'PERSISTENT'", "JMSPriority = 7", "JMSMessageID = 'ID:" + id + "'",
		"JMSCorrelationID IS NULL", "JMSTimestamp = 1795955696780", "JMSXUserID = 'alice'", "JMSXAppID LIKE 'ord%'",
		"JMSXDeliveryCount = 3", "JMS_IBM_Format = 'MQSTR'", "JMSXGroupID = 'ID:09" + strings.Repeat("0", 46) + "' AND JMSXGroupSeq = 3",
		"JMS_IBM_Last_Msg_In_Group", "Root.MQMD.Priority BETWEEN 6 AND 8", "Root.MQMD.Format = 'MQSTR   '", "Root.MQMD.Format = 'MQSTR'",
		"Root.MQMD.MsgId = \"0x" + id + "\"", "Root.MQMD.CorrelId <> \"0x00\"", "Root.MQMD.Expiry = -1", "nothing IS NULL",
		"mcd.Type = 'car' AND usr.weight > 2499",
	} {
		s, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if !s.Matches(m) {
			t.Errorf("%s does not select", text)
		}
	}
	none := mqi.DefaultMD()
	for _, text := range []string{"JMSDeliveryMode = 'NON_PERSISTENT' AND JMSTimestamp IS NULL AND JMSXGroupSeq IS NULL", "JMSType IS NULL"} {
		if s, err := Parse(text); err != nil || !s.Matches(Message{MD: &none}) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for name, get := range mqmdFields {
		if get(&md).IsNull() {
			t.Errorf("Root.MQMD.%s is NULL", name)
		}
	}
	none.PutDate, none.PutTime = "2026xx29", "12345678"
	if !(Message{MD: &none}).Property("JMSTimestamp").IsNull() || !(Message{MD: &none}).Property("Root.MQMD.x").IsNull() {
		t.Error("a bad put date or field gives a value")
	}
}

// A selector never breaks anything, and what is the same by the laws of logic has the same value.
func FuzzSelector(f *testing.F) {
	for _, s := range []string{"i = 5 AND s LIKE 'U%' ESCAPE '!'", "none NOT IN ('a','b') OR t", "i BETWEEN -j AND (i+2)*0x1F", "b = \"0x0A\" OR NOT f > .5e1", "Root.MQMD.MsgId IS NULL", "(((("} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.RC == 0 {
				t.Fatalf("%v has no reason code", err)
			}
			return
		}
		got := s.Eval(props)
		if s == nil || len(text) > MaxLen/2 || strings.Count(text, "(") > maxDepth/2 {
			return
		}
		for form, want := range map[string]Truth{"(%)": got, "NOT NOT (%)": got, "(%) OR none": got.or(Unknown), "(%) AND t": got, "NOT ((%) AND t)": got.not()} {
			s2, err := Parse(strings.Replace(form, "%", text, 1))
			var e *Error
			if errors.As(err, &e) && e.RC == RCAlwaysFalse {
				continue
			}
			if err != nil || s2.Eval(props) != want {
				t.Fatalf("%s is %d, as %s it is %v %v", text, got, form, s2.Eval(props), err)
			}
		}
	})
}

func BenchmarkMatches(b *testing.B) {
	s, err := Parse("Color = 'red' AND (i BETWEEN 1 AND 9 OR s IN ('US','UK')) AND q LIKE 'it%' AND none IS NULL")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if !s.Matches(props) {
			b.Fatal("not selected")
		}
	}
}
