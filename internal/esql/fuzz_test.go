package esql

import (
	"errors"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// seeds are the sources of testdata/esql and the given modules.
func seeds(f *testing.F) []string {
	out := []string{string(seedSource(f, "AggregationOut_AddMqmd")), string(seedSource(f, "FanIn_Filter")),
		"CREATE COMPUTE MODULE \"", "/*", "X'", "SELECT", mainOf("SET Environment.a.{FIELDNAME(InputBody)}[<2].(XMLNSC.Attribute)*:b = -1;")}
	for _, file := range goldenFiles(f) {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, section(a, "esql"))
	}
	return out
}

// EQ-16. Whatever the source: no panic, faults have a place in it and a text, and the result is the same each time.
func FuzzCompile(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		_, err := Compile("f", []byte(src), Options{})
		if err == nil {
			return
		}
		var faults Faults
		if !errors.As(err, &faults) || len(faults) == 0 || len(faults) > maxFaults {
			t.Fatal(err)
		}
		lines := strings.Count(src, "\n") + 1
		for _, x := range faults {
			if x.Line < 1 || x.Line > lines || x.Col < 1 || x.Text == "" {
				t.Fatalf("%+v", x)
			}
		}
		if _, again := Compile("f", []byte(src), Options{}); again.Error() != err.Error() {
			t.Fatalf("%v\n%v", err, again)
		}
	})
}

const fuzzInput = "Properties\n  ReplyIdentifier X'01'\nXMLNSC\n  a\n    b 1\n    b 'x'\n    {urn:n}:b 2.5\n"

// Whatever compiles, runs to an end: no panic, exceptions have their place, the input stays as it was.
func FuzzRun(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) { runAny(t, src) })
}

// FuzzSplice is FuzzRun for programs that are made of the pieces of others, as bytes alone rarely make one.
func FuzzSplice(f *testing.F) {
	var pool [][]string
	for _, s := range seeds(f) {
		pool = append(pool, words(s))
	}
	n := uint64(2000)
	if flag.Lookup("test.fuzz").Value.String() != "" { // numbers are made without these too
		n = 20
	}
	for seed := range n {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { runAny(t, splice(pool, rand.New(rand.NewPCG(seed, 0)))) })
}

// words are the texts of a source's tokens.
func words(src string) []string {
	var out []string
	for _, t := range lex(src) {
		if t.kind != tEOF {
			out = append(out, src[t.off:t.end])
		}
	}
	return out
}

func splice(pool [][]string, r *rand.Rand) string {
	span := func(n int) (int, int) {
		from := r.IntN(n)
		return from, min(n, from+1+r.IntN(8))
	}
	out := slices.Clone(pool[r.IntN(len(pool))])
	for range 1 + r.IntN(6) {
		if len(out) == 0 {
			break
		}
		from, to := span(len(out))
		other := pool[r.IntN(len(pool))]
		if len(other) == 0 {
			continue
		}
		a, b := span(len(other))
		switch r.IntN(5) {
		case 0:
			out = slices.Delete(out, from, to)
		case 1:
			out = slices.Insert(out, from, other[a:b]...)
		case 2:
			out = slices.Replace(out, from, to, other[a:b]...)
		case 3:
			out[from] = out[r.IntN(len(out))]
		case 4: // another argument or name of the same program
			out[from] = other[a]
		}
	}
	return strings.Join(out, " ")
}

func runAny(t *testing.T, src string) {
	p, err := Compile("f", []byte(src), Options{})
	if err != nil {
		return
	}
	for _, m := range p.Modules() {
		inv := &Invocation{InputRoot: readTree(t, fuzzInput), InputLocalEnvironment: readTree(t, "x 1"), Environment: readTree(t, fuzzInput), Now: testNow,
			Host: &recorder{}, Limits: Limits{Steps: 3000, Memory: 1 << 18, String: 1 << 12, Depth: 20},
			Domain: func(name string) (Domain, bool) { return lazyBody{}, name == "XMLNSC" }}
		before := treeText(inv.InputRoot)
		_, err := m.Run(inv)
		var e *Exception
		if err != nil && (!errors.As(err, &e) || e.Line < 1 || e.Module == "" || e.Text == "") {
			t.Fatalf("%v\n%s", err, src)
		}
		if err != nil {
			AddException(NewRoot(), err, "N")
		}
		if after := treeText(inv.InputRoot); after != before {
			t.Fatalf("the input changed\n%s\n%s", after, src)
		}
		for _, n := range []*Node{inv.InputRoot, inv.OutputRoot, inv.OutputLocalEnvironment, inv.Environment} {
			checkTree(t, n)
		}
	}
}

// checkTree: the links of a tree agree with each other.
func checkTree(t *testing.T, n *Node) {
	t.Helper()
	var prev *Node
	for c := n.first; c != nil; prev, c = c, c.next {
		if c.parent != n || c.prev != prev {
			t.Fatalf("broken links at %s", c.Path())
		}
		checkTree(t, c)
	}
	if n.last != prev {
		t.Fatalf("the last child of %s is not its last", n.Path())
	}
}

// FuzzCast: text that becomes a value of any type comes back as the same value, with and without FORMAT.
func FuzzCast(f *testing.F) {
	for _, s := range []string{"12", "-1.50", "1e300", "2020-02-29", "23:59:59.5", "2020-02-29 00:00:00", "1 02:03:04.5", "true", "0a0b", "9999-12-31T23:59:59Z"} {
		for _, p := range []string{"", "I", "yyyy-MM-dd", "d.M.yy", "EEE dd MMM yyyy HH:mm:ss.SSS ZZZ", "h:mm a", "'q'yyyyDDD"} {
			f.Add(s, p)
		}
	}
	f.Fuzz(func(t *testing.T, s, format string) {
		o := castOptions{zone: usHour}
		for k := Boolean; k <= Bit; k++ {
			to := typeOf(k)
			if k == Interval {
				to.unit = unit{uDay, uSecond}
			}
			v, err := castTo(Char(s), to, o)
			if err != nil || v.IsNull() {
				continue
			}
			text, err := castTo(v, typeOf(Character), o)
			if err != nil {
				t.Fatalf("%s: %v", v, err)
			}
			back, err := castTo(text, to, o)
			if err != nil {
				t.Fatalf("%s as %s does not come back: %v", v, text, err)
			}
			if c, err := compare(v, back, o.zone); c != 0 && c != 2 || err != nil {
				t.Fatalf("%s came back as %s (%v)", v, back, err)
			}
		}
		if format == "" {
			return
		}
		o.format, o.hasFormat = format, true
		for _, k := range []Kind{Date, Time, GMTTime, Timestamp, GMTTimestamp} {
			v, err := castTo(Char(s), typeOf(k), o)
			if err != nil {
				continue
			}
			if _, err := castTo(v, typeOf(Character), o); err != nil && k != Time && k != GMTTime {
				t.Fatalf("%s cannot be written as %q: %v", v, format, err)
			}
		}
	})
}
