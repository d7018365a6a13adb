package selector

import (
	"cmp"
	"strings"
)

// Kind is the type of a value.
type Kind uint8

const (
	KindNull Kind = iota
	KindBool
	KindInt
	KindFloat
	KindString
	KindBytes
	kindField // a character field of a fixed length: trailing blanks do not count
)

// Value is a property or a literal. The zero value is NULL.
type Value struct {
	kind Kind
	num  int64 // KindInt, and 0 or 1 of KindBool
	flt  float64
	str  string
}

// Bool makes a boolean value.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, num: 1}
	}
	return Value{kind: KindBool}
}

// Int makes an exact number.
func Int(i int64) Value { return Value{kind: KindInt, num: i} }

// Float makes an approximate number.
func Float(f float64) Value { return Value{kind: KindFloat, flt: f} }

// String makes a string.
func String(s string) Value { return Value{kind: KindString, str: s} }

// Bytes makes a byte string.
func Bytes(b []byte) Value { return Value{kind: KindBytes, str: string(b)} }

// Field makes a string of a fixed length field, in which trailing blanks are padding.
func Field(s string) Value { return Value{kind: kindField, str: strings.TrimRight(s, " \x00")} }

// IsNull reports whether there is no value.
func (v Value) IsNull() bool { return v.kind == KindNull }

func (v Value) number() bool { return v.kind == KindInt || v.kind == KindFloat }

func (v Value) text() bool { return v.kind == KindString || v.kind == kindField }

func (v Value) float() float64 {
	if v.kind == KindInt {
		return float64(v.num)
	}
	return v.flt
}

// Truth is a value of three-valued logic.
type Truth uint8

const (
	Unknown Truth = iota
	False
	True
)

func truth(b bool) Truth {
	if b {
		return True
	}
	return False
}

func (t Truth) not() Truth {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}

// and takes the lower of FALSE < unknown < TRUE, or the higher.
func (t Truth) and(u Truth) Truth {
	switch {
	case t == False || u == False:
		return False
	case t == True && u == True:
		return True
	}
	return Unknown
}

func (t Truth) or(u Truth) Truth { return t.not().and(u.not()).not() }

// logic reads a value as a condition: booleans are, NULL is unknown, all else is not true.
func (v Value) logic() Truth {
	switch v.kind {
	case KindNull:
		return Unknown
	case KindBool:
		return truth(v.num == 1)
	}
	return False
}

// op is a comparison.
type op uint8

const (
	opEQ op = iota
	opNE
	opLT
	opLE
	opGT
	opGE
)

// compare is unknown with NULL, and false between values of different types. Only numbers have an order.
func compare(o op, a, b Value) Truth {
	switch {
	case a.kind == KindNull || b.kind == KindNull:
		return Unknown
	case a.kind == KindInt && b.kind == KindInt:
		return truth(ordered(o, a.num, b.num))
	case a.number() && b.number():
		return truth(ordered(o, a.float(), b.float()))
	case o > opNE:
		return False
	case a.text() && b.text():
		s, t := a.str, b.str
		if a.kind == kindField || b.kind == kindField {
			s, t = strings.TrimRight(s, " "), strings.TrimRight(t, " ")
		}
		return truth((s == t) == (o == opEQ))
	case a.kind == KindBool && b.kind == KindBool:
		return truth((a.num == b.num) == (o == opEQ))
	case a.kind == KindBytes && b.kind == KindBytes:
		return truth((a.str == b.str) == (o == opEQ))
	}
	return False
}

func ordered[T cmp.Ordered](o op, a, b T) bool {
	switch o {
	case opEQ:
		return a == b
	case opNE:
		return a != b
	case opLT:
		return a < b
	case opLE:
		return a <= b
	case opGT:
		return a > b
	}
	return a >= b
}

// arith computes as Java does: exact with exact stays exact, everything else becomes approximate. There is no value
// with NULL, with what is not a number, or for an exact division by zero.
func arith(o byte, a, b Value) Value {
	if !a.number() || !b.number() {
		return Value{}
	}
	if a.kind == KindInt && b.kind == KindInt {
		switch o {
		case '+':
			return Int(a.num + b.num)
		case '-':
			return Int(a.num - b.num)
		case '*':
			return Int(a.num * b.num)
		}
		if b.num == 0 {
			return Value{}
		}
		return Int(a.num / b.num)
	}
	x, y := a.float(), b.float()
	switch o {
	case '+':
		return Float(x + y)
	case '-':
		return Float(x - y)
	case '*':
		return Float(x * y)
	}
	return Float(x / y)
}
