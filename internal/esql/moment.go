package esql

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Dates, times, timestamps and intervals: the Gregorian calendar on integers.

const (
	usSecond = int64(1e6)
	usMinute = 60 * usSecond
	usHour   = 60 * usMinute
	usDay    = 24 * usHour
	// years 1 to 9999, the range of every moment
	minDay = -719162
	maxDay = 2932896
)

// unit is the qualifier of an INTERVAL: first and last field.
type unit struct{ first, last uint8 }

const (
	uYear = 1 + iota
	uMonth
	uDay
	uHour
	uMinute
	uSecond
)

var unitNames = [...]string{"", "YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}
var unitSize = [...]int64{0, 12, 1, usDay, usHour, usMinute, usSecond}

func (u unit) months() bool { return u.last <= uMonth && u.first != 0 }

func (u unit) String() string {
	if u.first == u.last {
		return unitNames[u.first]
	}
	return unitNames[u.first] + " TO " + unitNames[u.last]
}

func unitOf(name string) uint8 {
	for i, n := range unitNames {
		if i > 0 && (n == name || n+"S" == name) {
			return uint8(i)
		}
	}
	return 0
}

// civil and days convert between a day number (0 is 1970-01-01) and the calendar, with years that begin in March.
func civil(day int64) (y, m, d int64) {
	z := day + 719468
	era := floorDiv(z, 146097)
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d = doy - (153*mp+2)/5 + 1
	m = mp + 3
	if m > 12 {
		m -= 12
	}
	y = yoe + era*400
	if m <= 2 {
		y++
	}
	return y, m, d
}

func days(y, m, d int64) int64 {
	if m <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yoe := y - era*400
	mp := m - 3
	if m < 3 {
		mp = m + 9
	}
	doy := (153*mp+2)/5 + d - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func daysIn(y, m int64) int64 {
	if m == 12 {
		return 31
	}
	return days(y, m+1, 1) - days(y, m, 1)
}

// moment makes a value of a date or time kind of microseconds since 1970 (since midnight for a time), if it is in range.
func moment(k Kind, us int64) (Value, error) {
	switch k {
	case Time, GMTTime: // a clock goes round
		return Value{kind: k, n: us - floorDiv(us, usDay)*usDay}, nil
	case Date:
		us = floorDiv(us, usDay)
		if us >= minDay && us <= maxDay {
			return Value{kind: k, n: us}, nil
		}
	default:
		if us >= minDay*usDay && us < (maxDay+1)*usDay {
			return Value{kind: k, n: us}, nil
		}
	}
	return Value{}, fail(0, "a %s outside of the years 1 to 9999", k)
}

// micros is the value as moment takes it.
func micros(v Value) int64 {
	if v.kind == Date {
		return v.n * usDay
	}
	return v.n
}

// momentOp is arithmetic with moments and intervals; ok says that the operands are such.
func momentOp(op operator, a, b Value) (v Value, ok bool, err error) {
	switch {
	case a.kind == Interval && b.kind.isNumber() && (op == opMul || op == opDiv):
		v, err = scaleInterval(op, a, b)
	case b.kind == Interval && a.kind.isNumber() && op == opMul:
		v, err = scaleInterval(op, b, a)
	case a.kind == Interval && b.kind == Interval && (op == opAdd || op == opSub):
		if a.unit.months() != b.unit.months() {
			return v, true, fail(0, "%s %s %s: months have no fixed number of days", a, op, b)
		}
		sum, e := intOp(op, Int(a.n), Int(b.n))
		if e != nil {
			return v, true, fail(0, "%s %s %s is more than an INTERVAL holds", a, op, b)
		}
		v = Value{kind: Interval, n: sum.n, unit: unit{min(a.unit.first, b.unit.first), max(a.unit.last, b.unit.last)}}
	case a.kind.isTime() && b.kind == Interval && (op == opAdd || op == opSub):
		v, err = addInterval(op, a, b)
	case b.kind.isTime() && a.kind == Interval && op == opAdd:
		v, err = addInterval(op, b, a)
	case a.kind.isTime() && b.kind == a.kind && op == opSub:
		q := unit{uDay, uSecond}
		switch a.kind {
		case Date:
			q = unit{uDay, uDay}
		case Time, GMTTime:
			q = unit{uHour, uSecond}
		}
		v = Value{kind: Interval, n: micros(a) - micros(b), unit: q}
	default:
		return v, false, nil
	}
	return v, true, err
}

func scaleInterval(op operator, iv, by Value) (Value, error) {
	var r Value
	var err error
	if by.kind == Float {
		if r, err = floatOp(op, float64(iv.n), by.float()); err == nil {
			f := math.Trunc(r.float())
			if math.Abs(f) >= 1<<62 || math.IsNaN(f) {
				return Value{}, fail(0, "%s %s %s is more than an INTERVAL holds", iv, op, by)
			}
			iv.n = int64(f)
		}
		return iv, err
	}
	if r, err = decimalOp(op, intToDecimal(iv.n), toDecimal(by)); err != nil {
		return Value{}, err
	}
	n, ok := decimalToInt(r, roundDown)
	if !ok {
		return Value{}, fail(0, "%s %s %s is more than an INTERVAL holds", iv, op, by)
	}
	iv.n = n
	return iv, nil
}

// addInterval: the day of a month that is too short for it becomes the month's last.
func addInterval(op operator, at, iv Value) (Value, error) {
	n := iv.n
	if op == opSub {
		n = -n
	}
	if n > 400*366*30*usDay || n < -400*366*30*usDay { // no moment is so far away, and nothing overflows
		return Value{}, fail(0, "%s %s %s is outside of the years 1 to 9999", at, op, iv)
	}
	if !iv.unit.months() {
		if at.kind == Date && n%usDay != 0 {
			n = floorDiv(n, usDay) * usDay
		}
		return moment(at.kind, micros(at)+n)
	}
	if at.kind == Time || at.kind == GMTTime {
		return Value{}, fail(0, "%s %s %s: a %s has no months", at, op, iv, at.kind)
	}
	if n > 1e6 || n < -1e6 {
		return Value{}, fail(0, "%s %s %s is outside of the years 1 to 9999", at, op, iv)
	}
	us := micros(at)
	day := floorDiv(us, usDay)
	y, m, d := civil(day)
	months := y*12 + m - 1 + n
	y, m = floorDiv(months, 12), months-floorDiv(months, 12)*12+1
	return moment(at.kind, days(y, m, min(d, daysIn(y, m)))*usDay+us-day*usDay)
}

// formatMoment writes the content of a literal.
func formatMoment(v Value) string {
	us := micros(v)
	day := floorDiv(us, usDay)
	y, m, d := civil(day)
	date := fmt.Sprintf("%04d-%02d-%02d", y, m, d)
	us -= day * usDay
	clock := fmt.Sprintf("%02d:%02d:%02d", us/usHour, us/usMinute%60, us/usSecond%60)
	if f := us % usSecond; f != 0 {
		clock += fmt.Sprintf(".%06d", f)
	}
	switch v.kind {
	case Date:
		return date
	case Time, GMTTime:
		return clock
	}
	return date + " " + clock
}

// parseMoment reads the content of a literal.
func parseMoment(k Kind, s string) (Value, bool) {
	s = strings.TrimSpace(s)
	us := int64(0)
	if k != Time && k != GMTTime {
		i := strings.IndexAny(s, " T")
		date := s
		if i >= 0 {
			date, s = s[:i], s[i+1:]
		} else {
			s = ""
		}
		var f [3]int64
		if !numbers(date, "-", f[:]) || len(date) != 10 || !validDate(f[0], f[1], f[2]) {
			return Value{}, false
		}
		us = days(f[0], f[1], f[2]) * usDay
		if k == Date {
			return Value{kind: Date, n: floorDiv(us, usDay)}, i < 0
		}
	}
	clock, ok := parseClock(s)
	if !ok {
		return Value{}, false
	}
	v, err := moment(k, us+clock)
	return v, err == nil
}

func validDate(y, m, d int64) bool {
	return y >= 1 && y <= 9999 && m >= 1 && m <= 12 && d >= 1 && d <= daysIn(y, m)
}

func parseClock(s string) (int64, bool) {
	clock, frac, hasFrac := strings.Cut(s, ".")
	var f [3]int64
	if !numbers(clock, ":", f[:]) || f[0] > 23 || f[1] > 59 || f[2] > 59 {
		return 0, false
	}
	us := f[0]*usHour + f[1]*usMinute + f[2]*usSecond
	if hasFrac {
		n, ok := fraction(frac)
		if !ok {
			return 0, false
		}
		us += n
	}
	return us, true
}

// fraction reads the digits of a fraction of a second as microseconds; what is finer is cut.
func fraction(s string) (int64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt((s + "000000")[:6], 10, 64)
	return n, err == nil
}

// numbers splits s by sep into exactly len(out) unsigned numbers.
func numbers(s, sep string, out []int64) bool {
	parts := strings.Split(s, sep)
	if len(parts) != len(out) {
		return false
	}
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 10, 40)
		if err != nil {
			return false
		}
		out[i] = int64(n)
	}
	return true
}

// formatInterval writes the content of a literal: '2-06', '1 02:03:04.5', '90'.
func formatInterval(v Value) string {
	n, sign := uint64(v.n), ""
	if v.n < 0 {
		n, sign = abs64(v.n), "-"
	}
	var b strings.Builder
	b.WriteString(sign)
	for u := v.unit.first; u <= v.unit.last && u > 0; u++ {
		size := uint64(unitSize[u])
		field := n / size
		n %= size
		switch {
		case u == v.unit.first:
			b.WriteString(strconv.FormatUint(field, 10))
		case u == uMonth:
			fmt.Fprintf(&b, "-%02d", field)
		case u == uHour:
			fmt.Fprintf(&b, " %02d", field)
		default:
			fmt.Fprintf(&b, ":%02d", field)
		}
		if u == uSecond && n != 0 {
			b.WriteString(strings.TrimRight(fmt.Sprintf(".%06d", n), "0"))
		}
	}
	return b.String()
}

// parseInterval reads the content of a literal with a qualifier.
func parseInterval(s string, q unit) (Value, bool) {
	s = strings.TrimSpace(s)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimLeft(strings.TrimLeft(s, "+"), "-")
	frac := int64(0)
	if q.last == uSecond {
		if whole, f, ok := strings.Cut(s, "."); ok {
			if frac, ok = fraction(f); !ok {
				return Value{}, false
			}
			s = whole
		}
	}
	fields := strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == ':' || r == ' ' })
	if q.first == 0 || len(fields) != int(q.last-q.first)+1 {
		return Value{}, false
	}
	n := frac
	for i, f := range fields {
		x, err := strconv.ParseUint(f, 10, 40)
		part, ok := mulInt(int64(x), unitSize[int(q.first)+i])
		if err != nil || !ok || n > math.MaxInt64-part {
			return Value{}, false
		}
		n += part
	}
	if neg {
		n = -n
	}
	return Value{kind: Interval, n: n, unit: q}, true
}
