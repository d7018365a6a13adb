package esql

import (
	"encoding/hex"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Values: one small struct for all scalar types, so that an expression allocates nothing but strings and decimals.

// Kind is the type of a value.
type Kind uint8

// The types. The numbers are those of Insert.Type in an ExceptionList as far as they are ours to choose.
const (
	Null Kind = iota
	Boolean
	Integer
	Float
	Decimal
	Character
	Time
	GMTTime
	Date
	Timestamp
	GMTTimestamp
	Interval
	Blob
	Bit
	// What only a declaration can say.
	rowKind
	refKind
	nsKind
)

var kindNames = [...]string{"NULL", "BOOLEAN", "INTEGER", "FLOAT", "DECIMAL", "CHARACTER", "TIME", "GMTTIME", "DATE", "TIMESTAMP",
	"GMTTIMESTAMP", "INTERVAL", "BLOB", "BIT", "ROW", "REFERENCE", "NAMESPACE"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "type " + strconv.Itoa(int(k))
}

func (k Kind) isNumber() bool { return k == Integer || k == Float || k == Decimal }
func (k Kind) isString() bool { return k == Character || k == Blob || k == Bit }
func (k Kind) isTime() bool   { return k >= Time && k <= GMTTimestamp }

// Value is a scalar. The zero Value is NULL.
//
// n holds a BOOLEAN (0 or 1), an INTEGER, the bits of a FLOAT, the scale of a DECIMAL, days since 1970 of a DATE, microseconds
// since midnight of a TIME and since 1970 of a TIMESTAMP (as its clock shows them, without a zone), months or
// microseconds of an INTERVAL. s holds characters (UTF-8), bytes of a BLOB, digits 0 and 1 of a BIT. d is the
// coefficient of a DECIMAL; it is never changed.
type Value struct {
	kind Kind
	unit unit // of an INTERVAL
	n    int64
	s    string
	d    *big.Int
}

// Int makes an INTEGER.
func Int(n int64) Value { return Value{kind: Integer, n: n} }

// Char makes a CHARACTER; bytes that are not UTF-8 become U+FFFD.
func Char(s string) Value { return Value{kind: Character, s: strings.ToValidUTF8(s, "\uFFFD")} }

func char(s string) Value { return Value{kind: Character, s: s} }

// Bytes makes a BLOB.
func Bytes(b []byte) Value { return Value{kind: Blob, s: string(b)} }

// Bool makes a BOOLEAN.
func Bool(b bool) Value {
	if b {
		return Value{kind: Boolean, n: 1}
	}
	return Value{kind: Boolean}
}

// Double makes a FLOAT.
func Double(f float64) Value { return Value{kind: Float, n: int64(math.Float64bits(f))} }

// Kind is the value's type.
func (v Value) Kind() Kind { return v.kind }

// IsNull says that there is no value.
func (v Value) IsNull() bool { return v.kind == Null }

// IsTrue says that the value is TRUE; NULL and what is not BOOLEAN is not.
func (v Value) IsTrue() bool { return v.kind == Boolean && v.n != 0 }

// Int64 is the value of an INTEGER.
func (v Value) Int64() (int64, bool) { return v.n, v.kind == Integer }

// Text is the characters of a CHARACTER.
func (v Value) Text() (string, bool) { return v.s, v.kind == Character }

// Blob is a copy of the bytes of a BLOB.
func (v Value) Blob() ([]byte, bool) { return []byte(v.s), v.kind == Blob }

func (v Value) float() float64 { return math.Float64frombits(uint64(v.n)) }

// size is what a value takes beside its struct.
func (v Value) size() int64 { return int64(len(v.s)) }

// String is the value as a literal of the language, for messages and tests.
func (v Value) String() string {
	switch v.kind {
	case Null:
		return "NULL"
	case Boolean:
		return v.display()
	case Integer, Float, Decimal:
		return v.display()
	case Character:
		return "'" + strings.ReplaceAll(shorten(v.s, 200), "'", "''") + "'"
	case Blob:
		return "X'" + hex.EncodeToString([]byte(v.s[:min(len(v.s), 100)])) + "'"
	case Bit:
		return "B'" + shorten(v.s, 200) + "'"
	}
	return v.kind.String() + " '" + v.display() + "'"
}

// display is the value as CAST to CHARACTER without FORMAT gives it.
func (v Value) display() string {
	switch v.kind {
	case Null:
		return ""
	case Boolean:
		if v.n != 0 {
			return "TRUE"
		}
		return "FALSE"
	case Integer:
		return strconv.FormatInt(v.n, 10)
	case Float:
		return formatFloat(v.float())
	case Decimal:
		return formatDecimal(v)
	case Character:
		return v.s
	case Blob:
		return hex.EncodeToString([]byte(v.s))
	case Bit:
		return v.s
	case Interval:
		return formatInterval(v)
	}
	return formatMoment(v)
}

// Plain is the value as it stands in a text without types, such as XML: dates in the form of ISO 8601, truth values in small
// letters, bytes as hexadecimal digits.
func (v Value) Plain() string {
	switch v.kind {
	case Boolean:
		return strings.ToLower(v.display())
	case Timestamp, GMTTimestamp:
		s := strings.Replace(v.display(), " ", "T", 1)
		if v.kind == GMTTimestamp {
			s += "Z"
		}
		return s
	}
	return v.display()
}

// ParseNumber reads an INTEGER, a DECIMAL or, with an exponent, a FLOAT; what is too long for the first is the second.
func ParseNumber(s string) (Value, bool) { return parseNumber(s) }

// shorten cuts a text for a message at a whole character.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// truth reads a condition: TRUE, FALSE or, with known false, UNKNOWN.
func truth(v Value) (val, known bool, err error) {
	switch v.kind {
	case Null:
		return false, false, nil
	case Boolean:
		return v.n != 0, true, nil
	case Character: // compared as BOOLEAN would be, it is cast
		b, e := castTo(v, typeOf(Boolean), castOptions{})
		if e == nil {
			return b.n != 0, true, nil
		}
	}
	return false, false, fail(0, "a condition is %s %s: a BOOLEAN is wanted, write a comparison", v.kind, v)
}
