package esql

import (
	"strings"
	"testing"
)

func BenchmarkCompile(b *testing.B) {
	src := append(seedSource(b, "AggregationOut_AddMqmd"), seedSource(b, "FanIn_Filter")...)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile("", src, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// EQ-15 without the XML parser: 10,000 modules a second are 100 µs each.
func BenchmarkFilter(b *testing.B) {
	m := compileOne(b, string(seedSource(b, "FanIn_Filter")))
	root := readTree(b, "Properties\nMQMD\n  Version 2\nXMLNSC\n  Reply\n"+strings.Repeat("    field 'a value of some length'\n", 25))
	b.ReportAllocs()
	for b.Loop() {
		if out, err := m.Run(&Invocation{InputRoot: root}); out != True || err != nil {
			b.Fatal(out, err)
		}
	}
}

func BenchmarkAddMqmd(b *testing.B) {
	m := compileOne(b, string(seedSource(b, "AggregationOut_AddMqmd")))
	root := message("XMLNSC", "<ComIbmAggregateControlNode><a>1</></>")
	b.ReportAllocs()
	for b.Loop() {
		if out, err := m.Run(&Invocation{InputRoot: root}); out != True || err != nil {
			b.Fatal(out, err)
		}
	}
}

// A loop of 1000 turns with arithmetic, a comparison and a path with an index.
func BenchmarkLoop(b *testing.B) {
	m := compileOne(b, mainOf("DECLARE i, n INTEGER 0; DECLARE r REFERENCE TO InputRoot.XMLNSC.a; WHILE i < 1000 DO SET i = i + 1; IF r.b[2] = 'x' AND i > 10 THEN SET n = n + LENGTH(r.b[2]); END IF; END WHILE; RETURN TRUE;"))
	root := readTree(b, fuzzInput)
	b.ReportAllocs()
	for b.Loop() {
		if out, err := m.Run(&Invocation{InputRoot: root}); out != True || err != nil {
			b.Fatal(out, err)
		}
	}
}
