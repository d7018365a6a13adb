package esql

import (
	"encoding/base64"
	"encoding/hex"
	"math"
	"strings"
	"unicode/utf8"
)

// String functions. CHARACTER is counted in characters, BLOB in bytes, BIT in digits; positions begin with 1.

func init() {
	register("LENGTH", "LENGTH(s)", 1, 1, func(_ *machine, a []Value) (Value, error) {
		if !a[0].kind.isString() {
			return Value{}, wrongArg("LENGTH", a[0], "a CHARACTER, BLOB or BIT")
		}
		return Int(length(a[0])), nil
	})
	register("LEFT", "LEFT(s, n)", 2, 2, func(_ *machine, a []Value) (Value, error) { return side("LEFT", a, true) })
	register("RIGHT", "RIGHT(s, n)", 2, 2, func(_ *machine, a []Value) (Value, error) { return side("RIGHT", a, false) })
	register("SUBSTRING FROM", "", 2, 3, substringFrom)
	register("SUBSTRING BEFORE", "", 2, 3, func(_ *machine, a []Value) (Value, error) { return substringAt(a, true) })
	register("SUBSTRING AFTER", "", 2, 3, func(_ *machine, a []Value) (Value, error) { return substringAt(a, false) })
	register("POSITION", "POSITION(a IN b)", 4, 4, positionIn).nulls = true
	for _, n := range []string{"UPPER", "UCASE"} {
		register(n, n+"(s)", 1, 1, func(_ *machine, a []Value) (Value, error) { return mapCase(n, a[0], strings.ToUpper) })
	}
	for _, n := range []string{"LOWER", "LCASE"} {
		register(n, n+"(s)", 1, 1, func(_ *machine, a []Value) (Value, error) { return mapCase(n, a[0], strings.ToLower) })
	}
	register("TRIM BOTH", "", 1, 2, trimmer(true, true))
	register("TRIM LEADING", "", 1, 2, trimmer(true, false))
	register("TRIM TRAILING", "", 1, 2, trimmer(false, true))
	register("LTRIM", "LTRIM(s)", 1, 1, trimmer(true, false))
	register("RTRIM", "RTRIM(s)", 1, 1, trimmer(false, true))
	register("REPLACE", "REPLACE(s, what, by)", 2, 3, replace)
	register("REPLICATE", "REPLICATE(s, n)", 2, 2, replicate)
	register("SPACE", "SPACE(n)", 1, 1, func(m *machine, a []Value) (Value, error) { return replicate(m, []Value{char(" "), a[0]}) })
	register("OVERLAY", "", 3, 4, overlay)
	register("TRANSLATE", "TRANSLATE(s, from, to)", 2, 3, translate)
	register("CONTAINS", "CONTAINS(s, what)", 2, 2, tester("CONTAINS", strings.Contains))
	register("STARTSWITH", "STARTSWITH(s, what)", 2, 2, tester("STARTSWITH", strings.HasPrefix))
	register("ENDSWITH", "ENDSWITH(s, what)", 2, 2, tester("ENDSWITH", strings.HasSuffix))
	register("BASE64ENCODE", "BASE64ENCODE(s)", 1, 1, base64Encode)
	register("BASE64DECODE", "BASE64DECODE(s)", 1, 1, base64Decode)
	register("COALESCE", "COALESCE(a, b, …)", 1, maxDepth, coalesce).nulls = true
	register("NULLIF", "NULLIF(a, b)", 2, 2, func(m *machine, a []Value) (Value, error) {
		if a[0].IsNull() || a[1].IsNull() {
			return a[0], nil
		}
		eq, err := m.relation(opEQ, a[0], a[1])
		if err != nil || eq.IsTrue() {
			return Value{}, err
		}
		return a[0], nil
	}).nulls = true
	register("UUIDASBLOB", "UUIDASBLOB()", 0, 1, uuidBlob)
	register("UUIDASCHAR", "UUIDASCHAR()", 0, 1, uuidChar)
}

func coalesce(_ *machine, a []Value) (Value, error) {
	for _, v := range a {
		if !v.IsNull() {
			return v, nil
		}
	}
	return Value{}, nil
}

func length(v Value) int64 {
	if v.kind == Character {
		return int64(utf8.RuneCountInString(v.s))
	}
	return int64(len(v.s))
}

// cut is v from singleton from up to but not including to, counted from 0 and inside of the string.
func cut(v Value, from, to int64) Value {
	n := length(v)
	from, to = max(0, min(from, n)), max(0, min(to, n))
	if from >= to {
		return Value{kind: v.kind}
	}
	if v.kind == Character && n != int64(len(v.s)) {
		from, to = byteAt(v.s, from), byteAt(v.s, to)
	}
	v.s = v.s[from:to]
	return v
}

// byteAt is where a character begins.
func byteAt(s string, n int64) int64 {
	for i := range s {
		if n == 0 {
			return int64(i)
		}
		n--
	}
	return int64(len(s))
}

func stringAndInt(name string, s, n Value) error {
	if !s.kind.isString() {
		return wrongArg(name, s, "a CHARACTER, BLOB or BIT")
	}
	if n.kind != Integer {
		return wrongArg(name, n, "an INTEGER")
	}
	return nil
}

func side(name string, a []Value, left bool) (Value, error) {
	if err := stringAndInt(name, a[0], a[1]); err != nil {
		return Value{}, err
	}
	n, want := length(a[0]), max(0, a[1].n)
	if left {
		return cut(a[0], 0, min(want, n)), nil
	}
	return cut(a[0], n-min(want, n), n), nil
}

// substringFrom: the part of the range [start, start+n) that lies inside of the string.
func substringFrom(_ *machine, a []Value) (Value, error) {
	if err := stringAndInt("SUBSTRING", a[0], a[1]); err != nil {
		return Value{}, err
	}
	from := max(a[1].n, math.MinInt64/2) - 1
	to := int64(math.MaxInt64)
	if len(a) == 3 {
		if a[2].kind != Integer {
			return Value{}, wrongArg("SUBSTRING … FOR", a[2], "an INTEGER")
		}
		if a[2].n < 0 {
			return Value{}, wrongArg("SUBSTRING … FOR", a[2], "a length of 0 or more")
		}
		if from < math.MaxInt64-a[2].n {
			to = from + a[2].n
		}
	}
	return cut(a[0], from, to), nil
}

// substringAt: what stands before or after the first occurrence; nothing when there is none.
func substringAt(a []Value, before bool) (Value, error) {
	if !a[0].kind.isString() || a[1].kind != a[0].kind {
		return Value{}, wrongArg("SUBSTRING", a[1], "the type of "+a[0].String())
	}
	i := strings.Index(a[0].s, a[1].s)
	if i < 0 {
		return Value{kind: a[0].kind}, nil
	}
	v := a[0]
	if before {
		v.s = v.s[:i]
	} else {
		v.s = v.s[i+len(a[1].s):]
	}
	if len(a) < 3 {
		return v, nil
	}
	if a[2].kind != Integer {
		return Value{}, wrongArg("SUBSTRING … FOR", a[2], "an INTEGER")
	}
	return side("SUBSTRING", []Value{v, a[2]}, !before)
}

// positionIn counts the REPEAT-th occurrence from FROM to the right, or to the left when REPEAT is negative.
func positionIn(_ *machine, a []Value) (Value, error) {
	what, s, from, times := a[0], a[1], a[2], a[3]
	if what.IsNull() || s.IsNull() || times.IsNull() {
		return Value{}, nil
	}
	switch {
	case !s.kind.isString() || what.kind != s.kind:
		return Value{}, wrongArg("POSITION", what, "the type of "+s.String())
	case times.kind != Integer || times.n == 0:
		return Value{}, wrongArg("POSITION … REPEAT", times, "an INTEGER other than 0")
	case !from.IsNull() && from.kind != Integer:
		return Value{}, wrongArg("POSITION … FROM", from, "an INTEGER")
	}
	n := length(s)
	if from.IsNull() {
		from = Int(1)
		if times.n < 0 {
			from = Int(n)
		}
	}
	at := int64(-1)
	if times.n > 0 {
		at = seek(s, what, max(0, from.n-1), times.n)
	} else {
		at = seekBack(s, what, from.n-1, -times.n)
	}
	return Int(at + 1), nil
}

// seek gives the character index of an occurrence, -1 when there is none.
func seek(s, what Value, from, times int64) int64 {
	off := offsetOf(s, from)
	for off <= len(s.s) {
		i := strings.Index(s.s[off:], what.s)
		if i < 0 {
			return -1
		}
		off += i
		if times--; times == 0 {
			return length(Value{kind: s.kind, s: s.s[:off]})
		}
		off += stepAt(s, off)
	}
	return -1
}

func seekBack(s, what Value, from, times int64) int64 {
	end := len(s.s)
	if from+1 <= length(s) { // an occurrence must begin at or before from
		end = min(len(s.s), offsetOf(s, from)+max(len(what.s), 0))
	}
	if from < 0 {
		return -1
	}
	for end >= 0 {
		i := strings.LastIndex(s.s[:end], what.s)
		if i < 0 {
			return -1
		}
		if times--; times == 0 {
			return length(Value{kind: s.kind, s: s.s[:i]})
		}
		end = i + len(what.s) - 1
		if len(what.s) == 0 {
			end = i - 1
		}
	}
	return -1
}

func offsetOf(s Value, n int64) int {
	if s.kind == Character {
		return int(byteAt(s.s, n))
	}
	return int(min(n, int64(len(s.s))))
}

func stepAt(s Value, off int) int {
	if s.kind == Character && off < len(s.s) {
		_, n := utf8.DecodeRuneInString(s.s[off:])
		return n
	}
	return 1
}

func mapCase(name string, v Value, f func(string) string) (Value, error) {
	if v.kind != Character {
		return Value{}, wrongArg(name, v, "a CHARACTER")
	}
	return char(f(v.s)), nil
}

// trimmer cuts blanks, or the singleton that is given, at the ends.
func trimmer(leading, trailing bool) func(*machine, []Value) (Value, error) {
	return func(_ *machine, a []Value) (Value, error) {
		v := a[0]
		what := " "
		switch v.kind {
		case Character:
		case Blob:
			what = "\x00"
		default:
			return Value{}, wrongArg("TRIM", v, "a CHARACTER or BLOB")
		}
		if len(a) == 2 {
			if a[1].kind != v.kind || length(a[1]) != 1 {
				return Value{}, wrongArg("TRIM", a[1], "one character of the same type")
			}
			what = a[1].s
		}
		for leading && strings.HasPrefix(v.s, what) {
			v.s = v.s[len(what):]
		}
		for trailing && strings.HasSuffix(v.s, what) {
			v.s = v.s[:len(v.s)-len(what)]
		}
		return v, nil
	}
}

func sameStrings(name string, a []Value) error {
	for _, v := range a {
		if !v.kind.isString() {
			return wrongArg(name, v, "a CHARACTER, BLOB or BIT")
		}
		if v.kind != a[0].kind {
			return wrongArg(name, v, "the type of "+a[0].String())
		}
	}
	return nil
}

func replace(m *machine, a []Value) (Value, error) {
	if err := sameStrings("REPLACE", a); err != nil {
		return Value{}, err
	}
	by := ""
	if len(a) == 3 {
		by = a[2].s
	}
	if a[1].s == "" {
		return a[0], nil
	}
	grow := int64(len(by)-len(a[1].s)) * int64(strings.Count(a[0].s, a[1].s))
	if err := m.checkSize(a[0].size() + grow); err != nil {
		return Value{}, err
	}
	return Value{kind: a[0].kind, s: strings.ReplaceAll(a[0].s, a[1].s, by)}, nil
}

func replicate(m *machine, a []Value) (Value, error) {
	if err := stringAndInt("REPLICATE", a[0], a[1]); err != nil {
		return Value{}, err
	}
	n := max(0, a[1].n)
	if a[0].s == "" {
		n = 0
	}
	if total, ok := mulInt(n, a[0].size()); !ok || total > m.lim.String {
		return Value{}, fail(0, "REPLICATE: the result would be longer than the %d bytes that are offered", m.lim.String)
	}
	return Value{kind: a[0].kind, s: strings.Repeat(a[0].s, int(n))}, nil
}

func overlay(m *machine, a []Value) (Value, error) {
	if err := sameStrings("OVERLAY", a[:2]); err != nil {
		return Value{}, err
	}
	n := length(a[1])
	if len(a) == 4 {
		if a[3].kind != Integer || a[3].n < 0 {
			return Value{}, wrongArg("OVERLAY … FOR", a[3], "an INTEGER of 0 or more")
		}
		n = a[3].n
	}
	if a[2].kind != Integer || a[2].n < 1 {
		return Value{}, wrongArg("OVERLAY … FROM", a[2], "an INTEGER of 1 or more")
	}
	from := a[2].n - 1
	to := from + min(n, math.MaxInt64/2)
	if from > math.MaxInt64/2 {
		to = from
	}
	head, tail := cut(a[0], 0, from), cut(a[0], to, math.MaxInt64)
	if err := m.checkSize(head.size() + a[1].size() + tail.size()); err != nil {
		return Value{}, err
	}
	return Value{kind: a[0].kind, s: head.s + a[1].s + tail.s}, nil
}

// translate replaces characters one by one; those without a partner go.
func translate(_ *machine, a []Value) (Value, error) {
	if err := sameStrings("TRANSLATE", a); err != nil {
		return Value{}, err
	}
	if a[0].kind != Character {
		return Value{}, wrongArg("TRANSLATE", a[0], "a CHARACTER")
	}
	to := []rune(nil)
	if len(a) == 3 {
		to = []rune(a[2].s)
	}
	table := map[rune]rune{}
	for i, r := range []rune(a[1].s) {
		if _, have := table[r]; have {
			continue
		}
		if table[r] = -1; i < len(to) {
			table[r] = to[i]
		}
	}
	return char(strings.Map(func(r rune) rune {
		if t, ok := table[r]; ok {
			return t
		}
		return r
	}, a[0].s)), nil
}

func tester(name string, f func(s, what string) bool) func(*machine, []Value) (Value, error) {
	return func(_ *machine, a []Value) (Value, error) {
		if err := sameStrings(name, a); err != nil {
			return Value{}, err
		}
		return Bool(f(a[0].s, a[1].s)), nil
	}
}

func base64Encode(m *machine, a []Value) (Value, error) {
	if a[0].kind != Blob && a[0].kind != Character {
		return Value{}, wrongArg("BASE64ENCODE", a[0], "a BLOB or CHARACTER")
	}
	if err := m.checkSize(a[0].size() / 3 * 4); err != nil {
		return Value{}, err
	}
	return char(base64.StdEncoding.EncodeToString([]byte(a[0].s))), nil
}

func base64Decode(_ *machine, a []Value) (Value, error) {
	if a[0].kind != Character {
		return Value{}, wrongArg("BASE64DECODE", a[0], "a CHARACTER")
	}
	b, err := base64.StdEncoding.DecodeString(strings.NewReplacer(" ", "", "\r", "", "\n", "").Replace(a[0].s))
	if err != nil {
		return Value{}, castFault("BASE64DECODE: %s is not base64", a[0])
	}
	return Bytes(b), nil
}

// random is the next number of the run's own sequence (splitmix64).
func (m *machine) random() uint64 {
	m.rand += 0x9e3779b97f4a7c15
	z := m.rand
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func uuidBlob(m *machine, a []Value) (Value, error) {
	if len(a) == 1 { // of a UUID in characters
		if a[0].kind != Character {
			return Value{}, wrongArg("UUIDASBLOB", a[0], "a CHARACTER")
		}
		b, err := hex.DecodeString(strings.ReplaceAll(a[0].s, "-", ""))
		if err != nil || len(b) != 16 {
			return Value{}, castFault("UUIDASBLOB: %s is no UUID", a[0])
		}
		return Bytes(b), nil
	}
	b := make([]byte, 16)
	hi, lo := m.random(), m.random()
	for i := range 8 {
		b[i], b[8+i] = byte(hi>>(56-8*i)), byte(lo>>(56-8*i))
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return Bytes(b), nil
}

func uuidChar(m *machine, a []Value) (Value, error) {
	v := Value{}
	if len(a) == 1 {
		if v = a[0]; v.kind != Blob || len(v.s) != 16 {
			return Value{}, wrongArg("UUIDASCHAR", v, "a BLOB of 16 bytes")
		}
	} else {
		v, _ = uuidBlob(m, nil)
	}
	h := hex.EncodeToString([]byte(v.s))
	return char(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]), nil
}
