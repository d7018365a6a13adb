package esql

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Arithmetic. INTEGER with INTEGER stays INTEGER, a DECIMAL makes a DECIMAL of it, a FLOAT makes a FLOAT of both.

// operator is one of two operands.
type operator uint8

const (
	opAdd operator = iota
	opSub
	opMul
	opDiv
	opConcat
	opEQ
	opNE
	opLT
	opGT
	opLE
	opGE
)

var operatorNames = [...]string{"+", "-", "*", "/", "||", "=", "<>", "<", ">", "<=", ">="}

func (o operator) String() string { return operatorNames[o] }

func operatorOf(name string) operator {
	return operator(slices.Index(operatorNames[:], name))
}

var errDivide = fail(0, "a division by zero: test the divisor before")

func overflow(op operator, a, b Value) error {
	return fail(0, "%s %s %s is more than an INTEGER holds: CAST one side AS DECIMAL", a, op, b)
}

// arith is the operator op on two values; NULL in, NULL out.
func arith(op operator, a, b Value) (Value, error) {
	if a.kind == Integer && b.kind == Integer {
		return intOp(op, a, b)
	}
	if a.IsNull() || b.IsNull() {
		return Value{}, nil
	}
	if a.kind.isNumber() && b.kind.isNumber() {
		if a.kind == Float || b.kind == Float {
			return floatOp(op, toFloat(a), toFloat(b))
		}
		return decimalOp(op, toDecimal(a), toDecimal(b))
	}
	if v, ok, err := momentOp(op, a, b); ok {
		return v, err
	}
	what := "CAST the CHARACTER AS INTEGER or DECIMAL"
	if op == opAdd && a.kind == Character && b.kind == Character {
		what = "characters are joined by ||"
	} else if a.kind != Character && b.kind != Character {
		what = "CAST one of them"
	}
	return Value{}, fail(0, "%s %s %s: %s and %s do not go together: %s", a, op, b, a.kind, b.kind, what)
}

func intOp(op operator, a, b Value) (Value, error) {
	x, y := a.n, b.n
	switch op {
	case opAdd:
		if r := x + y; (r > x) == (y > 0) {
			return Int(r), nil
		}
	case opSub:
		if r := x - y; (r < x) == (y > 0) {
			return Int(r), nil
		}
	case opMul:
		if r, ok := mulInt(x, y); ok {
			return Int(r), nil
		}
	default:
		if y == 0 {
			return Value{}, errDivide
		}
		if x != math.MinInt64 || y != -1 {
			return Int(x / y), nil
		}
	}
	return Value{}, overflow(op, a, b)
}

func mulInt(x, y int64) (int64, bool) {
	hi, lo := bits.Mul64(abs64(x), abs64(y))
	if neg := (x < 0) != (y < 0); neg {
		return -int64(lo), hi == 0 && lo <= 1<<63
	}
	return int64(lo), hi == 0 && lo < 1<<63
}

func abs64(x int64) uint64 {
	if x < 0 {
		return uint64(-x)
	}
	return uint64(x)
}

func floatOp(op operator, x, y float64) (Value, error) {
	r := 0.0
	switch op {
	case opAdd:
		r = x + y
	case opSub:
		r = x - y
	case opMul:
		r = x * y
	default:
		if y == 0 {
			return Value{}, errDivide
		}
		r = x / y
	}
	if math.IsInf(r, 0) && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return Value{}, fail(0, "%s %s %s is more than a FLOAT holds", Double(x), op, Double(y))
	}
	return Double(r), nil
}

// negate is unary minus.
func negate(v Value) (Value, error) {
	switch v.kind {
	case Null:
		return v, nil
	case Integer:
		return intOp(opSub, Int(0), v)
	case Float:
		return Double(-v.float()), nil
	case Decimal:
		return decimalOp(opSub, Value{kind: Decimal, d: intToDecimal(0).d, n: v.n}, v)
	case Interval:
		if v.n != math.MinInt64 {
			v.n = -v.n
			return v, nil
		}
	}
	return Value{}, fail(0, "-%s: %s has no sign, a number or an INTERVAL is wanted", v, v.kind)
}

func toFloat(v Value) float64 {
	switch v.kind {
	case Integer:
		return float64(v.n)
	case Decimal:
		return decimalToFloat(v)
	}
	return v.float()
}

func toDecimal(v Value) Value {
	if v.kind == Integer {
		return intToDecimal(v.n)
	}
	return v
}

// formatFloat writes a FLOAT as its literal: a mantissa and an exponent.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NAN"
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	}
	mant, exp, _ := strings.Cut(strconv.FormatFloat(f, 'E', -1, 64), "E")
	n, _ := strconv.Atoi(exp)
	sign := "+"
	if n < 0 {
		sign = ""
	}
	return mant + "E" + sign + strconv.Itoa(n)
}

func parseFloat(s string) (Value, bool) {
	switch strings.ToUpper(s) {
	case "NAN":
		return Double(math.NaN()), true
	case "INF", "+INF", "INFINITY", "+INFINITY":
		return Double(math.Inf(1)), true
	case "-INF", "-INFINITY":
		return Double(math.Inf(-1)), true
	}
	if strings.ContainsAny(s, "xXpP_iInN") {
		return Value{}, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return Double(f), err == nil
}

// compare orders two values that are not NULL: -1, 0 or 1. Sides of different types are brought together first: a CHARACTER
// becomes what the other is, numbers become the wider of the two.
func compare(a, b Value, zone int64) (int, error) {
	if a.kind != b.kind {
		var err error
		if a, b, err = together(a, b, zone); err != nil {
			return 0, err
		}
	}
	switch a.kind {
	case Character: // blanks at the end do not count
		if a.s == b.s {
			return 0, nil
		}
		return strings.Compare(strings.TrimRight(a.s, " "), strings.TrimRight(b.s, " ")), nil
	case Blob, Bit:
		return strings.Compare(a.s, b.s), nil
	case Float:
		x, y := a.float(), b.float()
		switch {
		case x < y:
			return -1, nil
		case x > y:
			return 1, nil
		case x == y:
			return 0, nil
		}
		return 2, nil // NaN: neither less, equal nor more
	case Decimal:
		return compareDecimal(a, b), nil
	case Interval:
		if a.unit.months() != b.unit.months() {
			return 0, fail(0, "%s and %s cannot be compared: months have no fixed number of days", a, b)
		}
	}
	switch {
	case a.n < b.n:
		return -1, nil
	case a.n > b.n:
		return 1, nil
	}
	return 0, nil
}

// together applies the implicit casts of comparisons.
func together(a, b Value, zone int64) (Value, Value, error) {
	var err error
	switch {
	case a.kind.isNumber() && b.kind.isNumber():
		if a.kind == Float || b.kind == Float {
			return Double(toFloat(a)), Double(toFloat(b)), nil
		}
		return toDecimal(a), toDecimal(b), nil
	case a.kind == Character:
		if a, err = castTo(a, typeLike(b), castOptions{zone: zone}); err != nil {
			return a, b, err
		}
	case b.kind == Character:
		if b, err = castTo(b, typeLike(a), castOptions{zone: zone}); err != nil {
			return a, b, err
		}
	case a.kind.isTime() && b.kind.isTime():
		if to, ok := commonMoment(a.kind, b.kind); ok {
			if a, err = castTo(a, typeOf(to), castOptions{zone: zone}); err == nil {
				b, err = castTo(b, typeOf(to), castOptions{zone: zone})
			}
			return a, b, err
		}
		fallthrough
	default:
		return a, b, fail(0, "%s and %s cannot be compared: CAST one of %s and %s", a.kind, b.kind, a, b)
	}
	if a.kind != b.kind { // a CHARACTER that holds a number with a fraction was compared with an INTEGER
		return together(a, b, zone)
	}
	return a, b, nil
}

// typeLike is what a CHARACTER becomes when it is compared with v: an INTEGER is compared as DECIMAL, so that '1.5' is no error.
func typeLike(v Value) declType {
	switch v.kind {
	case Integer:
		return typeOf(Decimal)
	case Interval:
		return declType{kind: Interval, unit: v.unit}
	}
	return typeOf(v.kind)
}

func commonMoment(a, b Kind) (Kind, bool) {
	switch {
	case a == Time && b == GMTTime, a == GMTTime && b == Time:
		return Time, true
	case a == Timestamp || b == Timestamp:
		other := a + b - Timestamp
		return Timestamp, other == Date || other == GMTTimestamp
	case a == GMTTimestamp && b == Date, a == Date && b == GMTTimestamp:
		return GMTTimestamp, true
	}
	return 0, false
}
