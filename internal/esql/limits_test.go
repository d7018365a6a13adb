package esql

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func mainOf(body string) string {
	return "CREATE COMPUTE MODULE T CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN " + body + " END; CREATE PROCEDURE again(IN n INTEGER) BEGIN CALL again(n + 1); END; " +
		"CREATE FUNCTION f(IN n INTEGER) RETURNS INTEGER RETURN f(n) + 1; END MODULE;"
}

// Facts 10, limits: a wild program ends with an error that says which bound it met.
func TestLimits(t *testing.T) {
	small := Limits{Steps: 100000, Memory: 1 << 18, String: 1 << 16}
	for _, c := range []struct{ body, want string }{
		{"WHILE TRUE DO END WHILE;", "more than 100000 steps"},
		{"l: LOOP ITERATE l; END LOOP l;", "more than 100000 steps"},
		{"REPEAT UNTIL FALSE END REPEAT;", "more than 100000 steps"},
		{"CALL again(1);", "nested more than 256 deep"},
		{"RETURN f(1) = 1;", "nested more than 256 deep"},
		{"DECLARE s CHARACTER 'a'; WHILE TRUE DO SET s = s || s; END WHILE;", "longer than the 65536"},
		{"DECLARE b BLOB X'01'; WHILE TRUE DO SET b = b || b; END WHILE;", "longer than the 65536"},
		{"DECLARE s CHARACTER 'aa'; WHILE TRUE DO SET s = REPLACE(s, 'a', s); END WHILE;", "longer than the 65536"},
		{"SET Environment.x = REPLICATE('abc', 1000000000);", "longer than the 65536"},
		{"DECLARE i INTEGER 1; WHILE TRUE DO SET Environment.x[i] = i; SET i = i + 1; END WHILE;", "holds more than 262144"},
		{"DECLARE i INTEGER 1; WHILE TRUE DO CREATE LASTCHILD OF Environment NAME SPACE(5000); END WHILE;", "holds more than 262144"},
		{"SET Environment.a.b = 1; WHILE TRUE DO SET Environment.a.c = Environment; END WHILE;", "holds more than 262144"},
		{"SET Environment.a.b = 1; WHILE TRUE DO CREATE LASTCHILD OF Environment.a FROM Environment; END WHILE;", "holds more than 262144"},
		{"DECLARE r REFERENCE TO Environment; WHILE TRUE DO CREATE LASTCHILD OF r AS r NAME 'x'; END WHILE;", "holds more than 262144"},
		{"SET Environment.s = REPLICATE('a', 30000); SET Environment.x = Environment.s LIKE '%' || REPLICATE('a', 20000) || 'b%';", "more than 100000 steps"},
		{"SET Environment.x[] = LIST{1,2,3,4,5,6,7,8}; WHILE TRUE DO SET Environment.x[] = SELECT A FROM Environment.x[] AS A, Environment.x[] AS B; END WHILE;", "holds more than 262144"},
	} {
		_, err := compileOne(t, mainOf(c.body)).Run(&Invocation{Limits: small})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n  %v", c.body, err)
		}
	}
}

// What a program deletes, overwrites or propagates does not count against its memory.
func TestMemoryIsGivenBack(t *testing.T) {
	for _, body := range []string{
		"WHILE i < 2000 DO SET Environment.x = SPACE(1000); SET i = i + 1; END WHILE;",
		"WHILE i < 2000 DO SET Environment.x[2].y = SPACE(1000); DELETE FIELD Environment.x[2]; SET Environment.x = i; SET i = i + 1; END WHILE;",
		"WHILE i < 2000 DO SET OutputRoot.XMLNSC.a.b = SPACE(1000); SET OutputRoot.XMLNSC.c = OutputRoot.XMLNSC.a; PROPAGATE; SET i = i + 1; END WHILE;",
		"WHILE i < 2000 DO SET Environment.x[] = (SELECT A FROM Environment.l[] AS A); SET Environment.y = THE(SELECT A FROM Environment.l[] AS A); SET i = i + CARDINALITY(SELECT A FROM Environment.l[] AS A) / 2; END WHILE;",
		"WHILE i < 2000 DO SET Environment.n = g(SPACE(1000)); SET i = i + 1; END WHILE;",
		"DECLARE s CHARACTER; WHILE i < 2000 DO SET s = SPACE(1000); SET s = NULL; SET i = i + 1; END WHILE;",
	} {
		src := "CREATE COMPUTE MODULE T CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN DECLARE i INTEGER 0; SET Environment.l[] = LIST{1, 2, ROW(3 AS x)}; SET Environment.x = 0;" + body +
			"RETURN TRUE; END; CREATE FUNCTION g(IN s CHARACTER) RETURNS INTEGER BEGIN DECLARE t CHARACTER s; RETURN LENGTH(t); END; END MODULE;"
		if _, err := compileOne(t, src).Run(&Invocation{Limits: Limits{Memory: 100000}, Host: &recorder{}}); err != nil {
			t.Errorf("%s\n  %v", body, err)
		}
	}
}

func TestInterrupted(t *testing.T) {
	stop := errors.New("ESQLTIME")
	_, err := compileOne(t, mainOf("WHILE TRUE DO END WHILE;")).Run(&Invocation{Interrupted: func() error { return stop }})
	if err != stop {
		t.Fatal(err)
	}
}

// Facts 10: a loop of a million turns without PROPAGATE is warned of once, and goes on.
func TestTurnsAreWarnedOf(t *testing.T) {
	host := &recorder{}
	src := mainOf("DECLARE i INTEGER 0; WHILE i < 1000 DO SET i = i + 1; END WHILE; RETURN TRUE;")
	if out, err := compileOne(t, src).Run(&Invocation{Host: host, Limits: Limits{Turns: 100}}); err != nil || out != True {
		t.Fatal(out, err)
	}
	if got := host.b.String(); strings.Count(got, "LOG 2") != 1 || !strings.Contains(got, "100 turns without PROPAGATE") {
		t.Fatal(got)
	}
}

// numbered repeats a text with numbers in the place of #.
func numbered(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(text, "#", strconv.Itoa(i)))
	}
	return b.String()
}

// The compiler's own bounds: a fault, not a crash.
func TestSourceLimits(t *testing.T) {
	many := strings.Repeat
	for _, c := range []struct{ src, want string }{
		{mainOf("SET Environment.x = " + many("(", 100000) + "1;"), "nested too deeply"},
		{mainOf("SET Environment.x = " + many("- ", 100000) + "1;"), "nested too deeply"},
		{mainOf("SET Environment.x = " + many("NOT ", 100000) + "TRUE;"), "nested too deeply"},
		{mainOf("SET Environment.x = 1" + many(" + 1", 100000) + ";"), "too long"},
		{mainOf(many("IF TRUE THEN ", 10000)), "nested too deeply"},
		{mainOf("IF TRUE THEN RETURN TRUE;" + many("ELSEIF TRUE THEN RETURN TRUE; ", 10000)), "nested too deeply"},
		{mainOf("SET Environment" + many(".x", 10000) + " = 1;"), "the path is too long"},
		{mainOf("SET Environment.x[] = " + many("LIST{", 10000)), "nested too deeply"},
		{mainOf("SET Environment.x[] = " + many("(SELECT ", 10000)), "expected FROM"},
		{mainOf("SET Environment.x = " + many("CARDINALITY(", 10000)), "nested too deeply"},
		{mainOf("SET Environment.x = CARDINALITY" + many("(", 100000)), "nested too deeply"},
		{mainOf("SET Environment.x = CASE" + many(" CASE", 10000)), "nested too deeply"},
		{"CREATE PROCEDURE p() BEGIN " + numbered(5000, "DECLARE v# INTEGER; ") + " END;", "too many variables"},
		{numbered(20000, "CREATE PROCEDURE p#() RETURN; "), "too many routines"},
		{numbered(20000, "CREATE COMPUTE MODULE M# END MODULE; "), "too many modules"},
		{many(" ", MaxSource+1), "at most"},
		{"\xff\xfe", "not UTF-8"},
		{"", "defines nothing"},
		{"CREATE COMPUTE MODULE A", "expected END MODULE; of A"},
		{"CREATE COMPUTE MODULE A CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN", "found the end of the source, expected a statement or END"},
		{"CREATE COMPUTE MODULE A SET", "expected CREATE FUNCTION, CREATE PROCEDURE, DECLARE or END MODULE"},
	} {
		start := time.Now()
		_, err := Compile("f", []byte(c.src), Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s…\n  %v\n  want %s", c.src, err, c.want)
		}
		if d := time.Since(start); d > 10*time.Second {
			t.Errorf("%.60s… took %v", c.src, d)
		}
	}
}

// A Program is immutable, runs share nothing.
func TestRunsShareNothing(t *testing.T) {
	m := compileOne(t, mainOf("DECLARE i INTEGER 0; WHILE i < 100 DO SET i = i + 1; SET Environment.x[i] = i; END WHILE; SET i = 1 / 0;"))
	var all sync.WaitGroup
	for range 8 {
		all.Add(1)
		go func() {
			defer all.Done()
			inv := &Invocation{}
			_, err := m.Run(inv)
			var e *Exception
			if !errors.As(err, &e) || e.Line != 1 || e.Function != "Main" {
				t.Error(err)
			}
			if n, _ := inv.Environment.Last().Value().Int64(); n != 100 {
				t.Error(n)
			}
		}()
	}
	all.Wait()
	if errDivide.Line != 0 {
		t.Error("a shared exception got a place")
	}
}

// T2, T3: a body is parsed when a path enters it, once; a copy shares its bytes and its changes do not show in the input.
func TestBodyIsParsedOnDemand(t *testing.T) {
	for _, c := range []struct {
		body   string
		parsed int
	}{
		{"SET OutputRoot = InputRoot; SET OutputRoot.MQMD.Version = 2;", 0},
		{"SET OutputRoot = InputRoot; SET Environment.x = InputRoot.XMLNSC IS NULL;", 0},
		{"SET Environment.a = InputRoot.XMLNSC.a; SET Environment.b = InputRoot.XMLNSC.b; SET Environment.c = InputBody.c;", 1},
		{"SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a = 'changed';", 1},
		{"SET OutputRoot = InputRoot; SET OutputRoot.XMLNSC.a = InputRoot.XMLNSC.a;", 2},
		{"SET OutputRoot.JSON.Data = InputRoot.XMLNSC;", 1},
		{"SET Environment.bits = ASBITSTREAM(InputRoot.XMLNSC);", 0},
		{"CREATE LASTCHILD OF OutputRoot FROM InputRoot.XMLNSC;", 0},
		{"CREATE FIRSTCHILD OF Environment.x; SET OutputRoot = InputRoot; CREATE FIRSTCHILD OF OutputRoot.XMLNSC NAME 'z';", 1},
	} {
		n := 0
		root := NewRoot()
		x := root.Append(&Node{Type: TypeName, Name: "XMLNSC", Domain: "XMLNSC"})
		x.SetUnparsed(lazyBody{&n}, []byte("<a>1</>"), ParseOptions{})
		inv := &Invocation{InputRoot: root}
		if _, err := compileOne(t, mainOf(c.body)).Run(inv); err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
		if n != c.parsed {
			t.Errorf("%s: parsed %d times, want %d", c.body, n, c.parsed)
		}
		if err := x.Expand(); err != nil || treeText(root) != "XMLNSC\n  a (XMLNSC.Field) '1'\n" {
			t.Errorf("%s: the input is %s", c.body, treeText(root))
		}
	}
}

// Sources of one program know each other; faults and exceptions name their file.
func TestCompileAll(t *testing.T) {
	lib := Source{"lib.esql", []byte("BROKER SCHEMA lib\nDECLARE ns NAMESPACE 'urn:n';\nDECLARE k CONSTANT INTEGER 5;\nCREATE PROCEDURE fill(IN r REFERENCE) BEGIN\n SET r.ns:x = k / (k - 5 + InputRoot.zero); END;")}
	app := Source{"app.esql", []byte("PATH lib;\nCREATE COMPUTE MODULE A CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN CALL fill(OutputRoot); CALL lib.fill(OutputRoot); END; END MODULE;")}
	p, err := CompileAll([]Source{lib, app}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	inv := &Invocation{InputRoot: readTree(t, "zero 1")}
	if _, err := p.Modules()[0].Run(inv); err != nil || treeText(inv.OutputRoot) != "{urn:n}:x 5\n" {
		t.Fatal(err, treeText(inv.OutputRoot))
	}
	_, err = p.Modules()[0].Run(&Invocation{InputRoot: readTree(t, "zero 0")})
	var e *Exception
	if !errors.As(err, &e) || e.File != "lib.esql" || e.Line != 5 || e.Module != "A" || e.Function != "fill" {
		t.Fatal(err)
	}
	lib.Text = append(lib.Text, " CREATE PROCEDURE two() BEGIN CALL none(); SET Root.x = y; END;"...)
	app.Text = append(app.Text, "\nCREATE FILTER MODULE F CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN CALL two(); CALL fill(z); END; END MODULE;"...)
	_, err = CompileAll([]Source{lib, app}, Options{})
	if err == nil {
		t.Fatal("no fault")
	}
	for _, part := range []string{"lib.esql:5:28: InputRoot is for a COMPUTE module, but Main of the FILTER module F comes here", "lib.esql:5:84: there is no function or procedure none",
		"lib.esql:5:105: y is not declared", "app.esql:3:91: z is not declared"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in\n%v", part, err)
		}
	}
	if _, err := CompileAll([]Source{app}, Options{}); err == nil || !strings.Contains(err.Error(), "app.esql:2:75: there is no function or procedure fill") {
		t.Fatal(err)
	}
}

// Options.Constant gives the MQ constants that are not built in; schema and module compile without regard to case.
func TestOptionsAndModules(t *testing.T) {
	src := "create filter module A create function MAIN() returns boolean return MQFB_EXPIRATION = 258; end module;" + mainOf("RETURN TRUE;")
	p, err := Compile("f.esql", []byte(src), Options{Constant: func(name string) (Value, bool) { return Int(258), name == "MQFB_EXPIRATION" }})
	if err != nil {
		t.Fatal(err)
	}
	a, ok := p.Module("a")
	if !ok || a.Kind != Filter || a.Name != "A" || len(p.Modules()) != 2 {
		t.Fatal(a, ok)
	}
	if _, ok := p.Module("b"); ok {
		t.Fatal("there is no b")
	}
	if out, err := a.Run(&Invocation{}); err != nil || out != True {
		t.Fatal(out, err)
	}
	_, err = Compile("f.esql", []byte(src), Options{})
	var f Faults
	if !errors.As(err, &f) || len(f) != 1 || f[0].Error() != "f.esql:1:70: MQFB_EXPIRATION is not declared: no MQ constant has this name" {
		t.Fatal(err)
	}
}
