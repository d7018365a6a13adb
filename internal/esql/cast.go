package esql

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// CAST and the implicit casts of assignments.

// declType is a type as declarations and casts write it.
type declType struct {
	kind             Kind
	unit             unit
	precision, scale int64 // of a DECIMAL; precision 0 is none
}

func typeOf(k Kind) declType { return declType{kind: k} }

func (t declType) String() string {
	switch {
	case t.kind == Interval && t.unit.first != 0:
		return "INTERVAL " + t.unit.String()
	case t.kind == Decimal && t.precision > 0:
		return "DECIMAL(" + strconv.FormatInt(t.precision, 10) + "," + strconv.FormatInt(t.scale, 10) + ")"
	}
	return t.kind.String()
}

type castOptions struct {
	format              string
	hasCCSID, hasFormat bool
	page                int64
	zone                int64 // local offset from GMT in microseconds
	charsets            Charsets
}

// castTo gives v as the type t. NULL stays NULL.
func castTo(v Value, t declType, o castOptions) (Value, error) {
	if v.IsNull() {
		return v, nil
	}
	if o.hasFormat && !(v.kind == Character && t.kind.isTime() || v.kind.isTime() && t.kind == Character) {
		return Value{}, fail(0, "FORMAT is for CAST between CHARACTER and dates and times, not from %s to %s", v.kind, t.kind)
	}
	switch t.kind {
	case Character:
		return castToCharacter(v, o)
	case Integer, Float, Decimal:
		return castToNumber(v, t)
	case Boolean:
		return castToBoolean(v, t)
	case Blob, Bit:
		return castToBytes(v, t, o)
	case Interval:
		return castToInterval(v, t)
	}
	return castToMoment(v, t, o)
}

func noCast(v Value, t declType) error {
	return castFault("%s %s cannot become %s", v.kind, v, t)
}

func castToCharacter(v Value, o castOptions) (Value, error) {
	switch {
	case v.kind == Character:
		return v, nil
	case v.kind == Blob && o.hasCCSID:
		t, err := DecodeText([]byte(v.s), o.page, o.charsets)
		if err != nil {
			return Value{}, castFault("the BLOB cannot become CHARACTER: %v", err)
		}
		return char(t), nil
	case o.hasFormat:
		s, err := formatPattern(v, o.format, o.zone)
		return char(s), err
	case v.kind == Interval && v.unit.first != 0:
		return char("INTERVAL '" + v.display() + "' " + v.unit.String()), nil
	case v.kind == Blob: // String cuts long ones
		return char("X'" + hex.EncodeToString([]byte(v.s)) + "'"), nil
	case v.kind == Bit:
		return char("B'" + v.s + "'"), nil
	case v.kind.isTime():
		return char(v.String()), nil
	}
	return char(v.display()), nil
}

func castToNumber(v Value, t declType) (Value, error) {
	if v.kind == t.kind && t.precision == 0 {
		return v, nil
	}
	switch v.kind {
	case Character:
		text := strings.TrimSpace(v.s)
		n, ok := Value{}, false
		if t.kind == Decimal { // with an exponent as well: a FLOAT has neither all the digits nor all the exponents
			n, ok = parseDecimal(text)
		}
		if !ok {
			n, ok = parseNumber(text)
		}
		if !ok {
			return Value{}, noCast(v, t)
		}
		v = n
	case Boolean:
		v = Int(v.n)
	case Interval: // of one field only
		if v.unit.first != v.unit.last || v.n%unitSize[v.unit.first] != 0 {
			return Value{}, noCast(v, t)
		}
		v = Int(v.n / unitSize[v.unit.first])
	case Integer, Float, Decimal:
	default:
		return Value{}, noCast(v, t)
	}
	switch t.kind {
	case Float:
		return Double(toFloat(v)), nil
	case Integer:
		return numberToInt(v, t)
	}
	return numberToDecimal(v, t)
}

func numberToInt(v Value, t declType) (Value, error) {
	ok := true
	n := v.n
	switch v.kind {
	case Decimal:
		n, ok = decimalToInt(v, roundHalfEven)
	case Float:
		f := math.RoundToEven(v.float())
		ok = f >= -1<<63 && f < 1<<63
		if ok {
			n = int64(f)
		}
	}
	if !ok {
		return Value{}, noCast(v, t)
	}
	return Int(n), nil
}

func numberToDecimal(v Value, t declType) (Value, error) {
	if v.kind == Float {
		d, ok := parseDecimal(strconv.FormatFloat(v.float(), 'g', -1, 64))
		if !ok {
			return Value{}, noCast(v, t)
		}
		v = d
	}
	v = toDecimal(v)
	if t.precision == 0 {
		return v, nil
	}
	r, err := rescale(v, t.scale, roundHalfEven)
	if err != nil || digits(r.d) > t.precision {
		return Value{}, castFault("%s has more than the %d digits of %s", v, t.precision, t)
	}
	return r, nil
}

// parseNumber reads an INTEGER, a DECIMAL (also one too long for an INTEGER) or a FLOAT.
func parseNumber(s string) (Value, bool) {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return Int(n), true
	}
	if !strings.ContainsAny(s, "eE") {
		if v, ok := parseDecimal(s); ok {
			return v, true
		}
	}
	return parseFloat(s)
}

func castToBoolean(v Value, t declType) (Value, error) {
	switch v.kind {
	case Boolean:
		return v, nil
	case Integer:
		if v.n == 0 || v.n == 1 {
			return Bool(v.n == 1), nil
		}
	case Float, Decimal:
		if n, err := numberToInt(v, t); err == nil && (n.n == 0 || n.n == 1) && toFloat(v) == float64(n.n) {
			return Bool(n.n == 1), nil
		}
	case Character:
		switch strings.ToUpper(strings.TrimSpace(v.s)) {
		case "TRUE", "T", "1":
			return Bool(true), nil
		case "FALSE", "F", "0":
			return Bool(false), nil
		case "UNKNOWN":
			return Value{}, nil
		}
	}
	return Value{}, noCast(v, t)
}

func castToBytes(v Value, t declType, o castOptions) (Value, error) {
	switch {
	case v.kind == t.kind:
		return v, nil
	case v.kind == Character && t.kind == Blob && o.hasCCSID:
		b, err := EncodeText(v.s, o.page, o.charsets)
		if err != nil {
			return Value{}, castFault("the CHARACTER cannot become a BLOB: %v", err)
		}
		return Bytes(b), nil
	case v.kind == Character && t.kind == Blob:
		b, err := hex.DecodeString(literalContent(v.s, 'X'))
		if err != nil {
			return Value{}, castFault("%s is not hexadecimal and cannot become a BLOB; CCSID 1208 takes the characters themselves", v)
		}
		return Bytes(b), nil
	case v.kind == Character:
		s := literalContent(v.s, 'B')
		if strings.Trim(s, "01") != "" {
			return Value{}, noCast(v, t)
		}
		return Value{kind: Bit, s: s}, nil
	case v.kind == Bit && len(v.s)%8 == 0:
		b := make([]byte, len(v.s)/8)
		for i := range v.s {
			b[i/8] |= (v.s[i] - '0') << (7 - i%8)
		}
		return Bytes(b), nil
	case v.kind == Blob && t.kind == Bit:
		var b strings.Builder
		for i := 0; i < len(v.s)*8; i++ {
			b.WriteByte('0' + v.s[i/8]>>(7-i%8)&1)
		}
		return Value{kind: Bit, s: b.String()}, nil
	}
	return Value{}, noCast(v, t)
}

// literalContent takes X'…' or only what is inside.
func literalContent(s string, prefix byte) string {
	s = strings.TrimSpace(s)
	if len(s) >= 3 && s[0]&^0x20 == prefix && s[1] == '\'' && s[len(s)-1] == '\'' {
		return s[2 : len(s)-1]
	}
	return s
}

func castToMoment(v Value, t declType, o castOptions) (Value, error) {
	switch {
	case v.kind == t.kind:
		return v, nil
	case v.kind == Character && o.hasFormat:
		return parsePattern(t.kind, v.s, o.format, o.zone)
	case v.kind == Character:
		r, ok := parseMoment(t.kind, momentContent(v.s, t.kind))
		if !ok {
			return Value{}, castFault("%s is no %s: write it like %s, or say its FORMAT", v, t.kind, momentExample(t.kind))
		}
		return r, nil
	case !v.kind.isTime():
		return Value{}, noCast(v, t)
	}
	us := micros(v)
	from, to := isGMT(v.kind), isGMT(t.kind)
	bare := v.kind == Date || t.kind == Date // a date has no zone
	switch {
	case (v.kind == Time || v.kind == GMTTime) && t.kind != Time && t.kind != GMTTime:
		return Value{}, noCast(v, t)
	case from && !to && !bare:
		us += o.zone
	case !from && to && !bare:
		us -= o.zone
	}
	return moment(t.kind, us)
}

func isGMT(k Kind) bool { return k == GMTTime || k == GMTTimestamp }

// momentContent takes DATE '…' or only what is inside.
func momentContent(s string, k Kind) string {
	s = strings.TrimSpace(s)
	if rest := strings.TrimSpace(strings.TrimPrefix(strings.ToUpper(s), k.String())); len(rest) > 2 && rest[0] == '\'' && rest[len(rest)-1] == '\'' {
		return rest[1 : len(rest)-1]
	}
	return s
}

func momentExample(k Kind) string {
	switch k {
	case Date:
		return "2020-01-31"
	case Time, GMTTime:
		return "10:00:00"
	}
	return "2020-01-31 10:00:00.123456"
}

func castToInterval(v Value, t declType) (Value, error) {
	if t.unit.first == 0 {
		if v.kind == Interval {
			return v, nil
		}
		return Value{}, castFault("an INTERVAL needs its qualifier: INTERVAL DAY TO SECOND")
	}
	switch v.kind {
	case Interval:
		if v.unit.months() == t.unit.months() {
			size := unitSize[t.unit.last]
			if t.unit.last != uSecond { // what is finer than the last field is cut
				v.n -= v.n % size
			}
			v.unit = t.unit
			return v, nil
		}
	case Character:
		s := strings.TrimSpace(v.s)
		if rest, ok := strings.CutPrefix(strings.ToUpper(s), "INTERVAL "); ok {
			if i := strings.LastIndexByte(rest, '\''); i > 0 {
				s = strings.Trim(rest[:i], "' ")
			}
		}
		if r, ok := parseInterval(s, t.unit); ok {
			return r, nil
		}
	case Integer, Decimal, Float:
		if t.unit.first == t.unit.last {
			return scaleInterval(opMul, Value{kind: Interval, n: unitSize[t.unit.first], unit: t.unit}, v)
		}
	}
	return Value{}, noCast(v, t)
}

// castMany makes one moment of several values: (y,m,d AS DATE), (h,m,s AS TIME), (date,time AS TIMESTAMP), all six.
func castMany(vs []Value, t declType) (Value, error) {
	for _, v := range vs {
		if v.IsNull() {
			return v, nil
		}
	}
	if len(vs) == 2 && vs[0].kind == Date && (vs[1].kind == Time || vs[1].kind == GMTTime) && (t.kind == Timestamp || t.kind == GMTTimestamp) {
		return moment(t.kind, micros(vs[0])+vs[1].n)
	}
	var f [6]int64
	start, want := 0, 3
	switch t.kind {
	case Date:
	case Time, GMTTime:
		start = 3
	case Timestamp, GMTTimestamp:
		want = 6
	default:
		want = -1
	}
	if len(vs) != want {
		return Value{}, fail(0, "CAST of %d values AS %s: give year, month, day for a DATE, hour, minute, second for a TIME, all six for a TIMESTAMP", len(vs), t)
	}
	f[0], f[1], f[2] = 1970, 1, 1
	us := int64(0)
	for i, v := range vs {
		n, err := castToNumber(v, declType{kind: Decimal})
		if err != nil {
			return Value{}, err
		}
		whole, ok := decimalToInt(n, roundDown)
		if ok && start+i == 5 && n.n > 0 {
			part, _ := decimalToInt(Value{kind: Decimal, d: n.d, n: n.n - 6}, roundDown)
			us = floorMod(part, usSecond)
		}
		if !ok {
			return Value{}, noCast(v, t)
		}
		f[start+i] = whole
	}
	if !validDate(f[0], f[1], f[2]) || f[3] < 0 || f[3] > 23 || f[4] < 0 || f[4] > 59 || f[5] < 0 || f[5] > 59 {
		return Value{}, castFault("%v are no %s", vs, t.kind)
	}
	clock := f[3]*usHour + f[4]*usMinute + f[5]*usSecond + us
	return moment(t.kind, days(f[0], f[1], f[2])*usDay+clock)
}
