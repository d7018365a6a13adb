package esql

import (
	"math"
	"time"
)

// Numeric and date functions, and the names that give a value.

func init() {
	register("ABS", "ABS(n)", 1, 1, func(_ *machine, a []Value) (Value, error) {
		if s, err := sign("ABS", a[0]); err != nil || s >= 0 {
			return a[0], err
		}
		return negate(a[0])
	})
	register("SIGN", "SIGN(n)", 1, 1, func(_ *machine, a []Value) (Value, error) {
		s, err := sign("SIGN", a[0])
		return Int(s), err
	})
	register("MOD", "MOD(a, b)", 2, 2, mod)
	register("ROUND", "ROUND(n, places)", 3, 3, func(_ *machine, a []Value) (Value, error) {
		return roundTo("ROUND", a[0], a[1], rounding(a[2].n))
	})
	register("TRUNCATE", "TRUNCATE(n, places)", 2, 2, func(_ *machine, a []Value) (Value, error) {
		return roundTo("TRUNCATE", a[0], a[1], roundDown)
	})
	register("FLOOR", "FLOOR(n)", 1, 1, func(_ *machine, a []Value) (Value, error) { return roundTo("FLOOR", a[0], Int(0), roundFloor) })
	for _, n := range []string{"CEIL", "CEILING"} {
		register(n, n+"(n)", 1, 1, func(_ *machine, a []Value) (Value, error) { return roundTo(n, a[0], Int(0), roundCeiling) })
	}
	register("POWER", "POWER(n, exponent)", 2, 2, power)
	register("SQRT", "SQRT(n)", 1, 1, func(_ *machine, a []Value) (Value, error) {
		if s, err := sign("SQRT", a[0]); err != nil || s < 0 {
			return Value{}, orFail(err, "SQRT: %s is negative", a[0])
		}
		return Double(math.Sqrt(toFloat(a[0]))), nil
	})
	register("RAND", "RAND() or RAND(seed)", 0, 1, func(m *machine, a []Value) (Value, error) {
		if len(a) == 1 {
			if a[0].kind != Integer {
				return Value{}, wrongArg("RAND", a[0], "an INTEGER")
			}
			m.rand = uint64(a[0].n)
		}
		return Double(float64(m.random()>>11) / (1 << 53)), nil
	})
	register("EXTRACT", "EXTRACT(YEAR FROM t)", 2, 2, extract)
	register("SLEEP", "SLEEP(milliseconds)", 1, 1, sleep)
}

func sign(name string, v Value) (int64, error) {
	switch v.kind {
	case Integer, Interval:
		return cmp64(v.n, 0), nil
	case Decimal:
		return int64(v.d.Sign()), nil
	case Float:
		switch f := v.float(); {
		case f > 0:
			return 1, nil
		case f < 0:
			return -1, nil
		}
		return 0, nil
	}
	return 0, wrongArg(name, v, "a number")
}

func cmp64(a, b int64) int64 {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func mod(_ *machine, a []Value) (Value, error) {
	for _, v := range a {
		if v.kind != Integer {
			return Value{}, wrongArg("MOD", v, "an INTEGER")
		}
	}
	switch a[1].n {
	case 0:
		return Value{}, errDivide
	case -1: // where Go's remainder of the smallest number needs care
		return Int(0), nil
	}
	return Int(a[0].n % a[1].n), nil
}

// roundTo rounds to places behind the point, or before it when negative. The type stays.
func roundTo(name string, v, places Value, mode rounding) (Value, error) {
	if !v.kind.isNumber() {
		return Value{}, wrongArg(name, v, "a number")
	}
	if places.kind != Integer {
		return Value{}, wrongArg(name, places, "an INTEGER number of places")
	}
	p := max(-400, min(places.n, 400))
	switch v.kind {
	case Integer:
		if p >= 0 {
			return v, nil
		}
		d, err := rescale(intToDecimal(v.n), max(p, -19), mode)
		if err != nil {
			return Value{}, err
		}
		n, ok := decimalToInt(d, roundDown)
		if !ok {
			return Value{}, fail(0, "%s(%s, %d) is more than an INTEGER holds", name, v, p)
		}
		return Int(n), nil
	case Decimal:
		if v.n <= p {
			return v, nil
		}
		return rescale(v, p, mode)
	}
	if f := v.float(); math.IsInf(f, 0) || math.IsNaN(f) {
		return v, nil
	}
	d, err := numberToDecimal(v, typeOf(Decimal))
	if err != nil || d.n <= p {
		return v, nil
	}
	if d, err = rescale(d, p, mode); err != nil {
		return Value{}, err
	}
	return Double(decimalToFloat(d)), nil
}

func power(_ *machine, a []Value) (Value, error) {
	for _, v := range a {
		if !v.kind.isNumber() {
			return Value{}, wrongArg("POWER", v, "a number")
		}
	}
	if a[1].kind == Integer && a[1].n >= 0 && a[0].kind != Float {
		if v, ok := exactPower(a[0], a[1].n); ok {
			return v, nil
		}
	}
	f := math.Pow(toFloat(a[0]), toFloat(a[1]))
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return Value{}, fail(0, "POWER(%s, %s) is no FLOAT", a[0], a[1])
	}
	return Double(f), nil
}

// exactPower multiplies by squaring, as long as the type holds the result.
func exactPower(v Value, n int64) (Value, bool) {
	out := Int(1)
	if v.kind == Decimal {
		out = intToDecimal(1)
	}
	for n > 0 {
		var err error
		if n&1 == 1 {
			if out, err = arith(opMul, out, v); err != nil {
				return v, false
			}
		}
		if n >>= 1; n > 0 {
			if v, err = arith(opMul, v, v); err != nil {
				return v, false
			}
		}
	}
	return out, true
}

// extractFields are what EXTRACT takes out.
var extractFields = map[string]bool{"YEAR": true, "MONTH": true, "DAY": true, "HOUR": true, "MINUTE": true, "SECOND": true,
	"DAYS": true, "DAYOFYEAR": true, "DAYOFWEEK": true, "MONTHS": true, "QUARTEROFYEAR": true, "QUARTERS": true, "WEEKS": true,
	"WEEKOFYEAR": true, "WEEKOFMONTH": true, "ISLEAPYEAR": true}

func extract(_ *machine, a []Value) (Value, error) {
	field, v := a[0].s, a[1]
	if v.kind == Interval {
		return extractInterval(field, v)
	}
	if !v.kind.isTime() {
		return Value{}, wrongArg("EXTRACT", v, "a date, time or INTERVAL")
	}
	us := micros(v)
	day := floorDiv(us, usDay)
	us -= day * usDay
	hasClock, hasDate := v.kind != Date, v.kind != Time && v.kind != GMTTime
	switch field {
	case "HOUR", "MINUTE", "SECOND":
		if !hasClock {
			return Value{}, wrongArg("EXTRACT "+field, v, "a TIME or TIMESTAMP")
		}
		switch field {
		case "HOUR":
			return Int(us / usHour), nil
		case "MINUTE":
			return Int(us / usMinute % 60), nil
		}
		return seconds(us % usMinute), nil
	}
	if !hasDate {
		return Value{}, wrongArg("EXTRACT "+field, v, "a DATE or TIMESTAMP")
	}
	return extractDate(field, day)
}

// seconds are an INTEGER, or a DECIMAL when there is a fraction.
func seconds(us int64) Value {
	if us%usSecond == 0 {
		return Int(us / usSecond)
	}
	return stripZeros(DecimalOf(us, 6), 0)
}

func extractDate(field string, day int64) (Value, error) {
	y, mo, d := civil(day)
	yday := day - days(y, 1, 1)
	sinceOne := day - minDay // since 0001-01-01
	n := int64(0)
	switch field {
	case "YEAR":
		n = y
	case "MONTH":
		n = mo
	case "DAY":
		n = d
	case "DAYS":
		n = sinceOne + 1
	case "DAYOFYEAR":
		n = yday + 1
	case "DAYOFWEEK": // Sunday is 1
		n = floorMod(day+4, 7) + 1
	case "MONTHS":
		n = (y-1)*12 + mo
	case "QUARTEROFYEAR":
		n = (mo-1)/3 + 1
	case "QUARTERS":
		n = (y-1)*4 + (mo-1)/3 + 1
	case "WEEKS":
		n = sinceOne/7 + 1
	case "WEEKOFYEAR":
		n = yday/7 + 1
	case "WEEKOFMONTH":
		n = (d-1)/7 + 1
	case "ISLEAPYEAR":
		return Bool(daysIn(y, 2) == 29), nil
	}
	return Int(n), nil
}

func extractInterval(field string, v Value) (Value, error) {
	u := unitOf(field)
	if u == 0 || (u <= uMonth) != v.unit.months() {
		return Value{}, fail(0, "EXTRACT %s: an INTERVAL %s has no such field", field, v.unit)
	}
	n := v.n
	if u > v.unit.first {
		n %= unitSize[u-1]
	}
	if u == uSecond {
		return seconds(n), nil
	}
	return Int(n / unitSize[u]), nil
}

func sleep(m *machine, a []Value) (Value, error) {
	if a[0].kind != Integer || a[0].n < 0 || a[0].n > int64(time.Hour/time.Millisecond)*24 {
		return Value{}, wrongArg("SLEEP", a[0], "an INTEGER of milliseconds, at most a day")
	}
	if m.inv.Host == nil {
		return Value{}, fail(0, "SLEEP: the module runs without a flow")
	}
	return Bool(true), m.inv.Host.Sleep(time.Duration(a[0].n) * time.Millisecond)
}

// eval: the moments are those at which the run began.
func (x *special) eval(m *machine) (Value, error) {
	gmt := m.local - m.zone
	switch x.name {
	case "CURRENT_DATE":
		return moment(Date, m.local)
	case "CURRENT_TIME":
		return moment(Time, m.local)
	case "CURRENT_TIMESTAMP":
		return moment(Timestamp, m.local)
	case "CURRENT_GMTDATE":
		return moment(Date, gmt)
	case "CURRENT_GMTTIME":
		return moment(GMTTime, gmt)
	case "CURRENT_GMTTIMESTAMP":
		return moment(GMTTimestamp, gmt)
	case "LOCAL_TIMEZONE":
		return Value{kind: Interval, n: m.zone, unit: unit{uHour, uMinute}}, nil
	case "MESSAGEFLOWLABEL":
		return Char(m.inv.MessageFlowLabel), nil
	case "NODELABEL":
		return Char(m.inv.NodeLabel), nil
	case "BROKERNAME":
		if m.inv.BrokerName != "" {
			return Char(m.inv.BrokerName), nil
		}
	}
	return Char(m.inv.QueueManagerName), nil // ExecutionGroupLabel too: there is one group
}
