package esql

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// DECIMAL: a coefficient of at most 34 digits and a scale. Results that need more are rounded, halves to even.

const (
	maxDigits = 34
	maxScale  = 6144
)

var (
	bigTen   = big.NewInt(10)
	bigLimit = new(big.Int).Exp(bigTen, big.NewInt(maxDigits), nil)
)

func pow10(n int64) *big.Int { return new(big.Int).Exp(bigTen, big.NewInt(n), nil) }

// digits counts the decimal digits of a coefficient.
func digits(d *big.Int) int64 {
	if d.Sign() == 0 {
		return 1
	}
	n := int64(float64(d.BitLen()-1)*math.Log10(2)) + 1
	if d.CmpAbs(pow10(n)) >= 0 {
		n++
	} else if d.CmpAbs(pow10(n-1)) < 0 {
		n--
	}
	return n
}

// dec makes a DECIMAL of d·10^-scale, rounded to 34 digits.
func dec(d *big.Int, scale int64) (Value, error) {
	if d.CmpAbs(bigLimit) >= 0 {
		drop := digits(d) - maxDigits
		d, scale = divRound(d, drop, roundHalfEven), scale-drop
		if d.CmpAbs(bigLimit) >= 0 { // 99…9 became 10…0
			d, scale = divRound(d, 1, roundHalfEven), scale-1
		}
	}
	if d.Sign() == 0 {
		scale = max(0, min(scale, maxScale))
	}
	if scale > maxScale || scale < -maxScale {
		return Value{}, fail(0, "a DECIMAL with the exponent %d is out of range", -scale)
	}
	return Value{kind: Decimal, d: d, n: scale}, nil
}

// DecimalOf makes a DECIMAL of an integer coefficient and a scale: DecimalOf(125, 1) is 12.5.
func DecimalOf(coefficient, scale int64) Value {
	return Value{kind: Decimal, d: big.NewInt(coefficient), n: max(-maxScale, min(scale, maxScale))}
}

type rounding uint8

const (
	roundHalfEven rounding = iota
	roundHalfUp
	roundHalfDown
	roundUp
	roundDown
	roundCeiling
	roundFloor
)

var roundings = map[string]rounding{"ROUND_UP": roundUp, "ROUND_DOWN": roundDown, "ROUND_CEILING": roundCeiling,
	"ROUND_FLOOR": roundFloor, "ROUND_HALF_UP": roundHalfUp, "ROUND_HALF_EVEN": roundHalfEven, "ROUND_HALF_DOWN": roundHalfDown}

// divRound divides by 10^places.
func divRound(d *big.Int, places int64, mode rounding) *big.Int {
	if places > digits(d)+1 { // what is left is less than a tenth, whatever places is
		places = digits(d) + 1
	}
	div := pow10(places)
	q, r := new(big.Int).QuoRem(d, div, new(big.Int))
	if r.Sign() == 0 {
		return q
	}
	half := r.Lsh(r, 1).CmpAbs(div)
	away := false
	switch mode {
	case roundHalfEven:
		away = half > 0 || half == 0 && q.Bit(0) == 1
	case roundHalfUp:
		away = half >= 0
	case roundHalfDown:
		away = half > 0
	case roundUp:
		away = true
	case roundCeiling:
		away = d.Sign() > 0
	case roundFloor:
		away = d.Sign() < 0
	}
	if away {
		q.Add(q, big.NewInt(int64(d.Sign())))
	}
	return q
}

// align brings two decimals to one scale. Their exponents are bounded, so the coefficients are.
func align(a, b Value) (x, y *big.Int, scale int64) {
	x, y, scale = a.d, b.d, a.n
	switch {
	case a.n < b.n:
		x, scale = new(big.Int).Mul(x, pow10(b.n-a.n)), b.n
	case a.n > b.n:
		y = new(big.Int).Mul(y, pow10(a.n-b.n))
	}
	return x, y, scale
}

func decimalOp(op operator, a, b Value) (Value, error) {
	switch op {
	case opAdd, opSub:
		x, y, scale := align(a, b)
		if op == opSub {
			return dec(new(big.Int).Sub(x, y), scale)
		}
		return dec(new(big.Int).Add(x, y), scale)
	case opMul:
		return dec(new(big.Int).Mul(a.d, b.d), a.n+b.n)
	}
	if b.d.Sign() == 0 {
		return Value{}, errDivide
	}
	// 36 digits more than the divisor has, then the zeros that were not needed go again.
	shift := max(0, maxDigits+2+digits(b.d)-digits(a.d))
	q, r := new(big.Int).QuoRem(new(big.Int).Mul(a.d, pow10(shift)), b.d, new(big.Int))
	scale := a.n - b.n + shift
	if r.Sign() != 0 { // a digit beyond the last says that something is left, so that a half is seen as more than half
		q.Mul(q, bigTen).Add(q, big.NewInt(int64(a.d.Sign()*b.d.Sign())))
		scale++
	}
	v, err := dec(q, scale)
	if err != nil {
		return v, err
	}
	return stripZeros(v, max(0, a.n-b.n)), nil
}

// stripZeros drops zeros at the end of the fraction down to a scale.
func stripZeros(v Value, to int64) Value {
	d, scale := v.d, v.n
	for scale > to {
		q, r := new(big.Int).QuoRem(d, bigTen, new(big.Int))
		if r.Sign() != 0 {
			break
		}
		d, scale = q, scale-1
	}
	return Value{kind: Decimal, d: d, n: scale}
}

func compareDecimal(a, b Value) int {
	x, y, _ := align(a, b)
	return x.Cmp(y)
}

func formatDecimal(v Value) string {
	s := new(big.Int).Abs(v.d).String()
	sign := ""
	if v.d.Sign() < 0 {
		sign = "-"
	}
	switch {
	case v.n > 0 && v.n <= 60:
		if len(s) <= int(v.n) {
			s = strings.Repeat("0", int(v.n)-len(s)+1) + s
		}
		s = s[:len(s)-int(v.n)] + "." + s[len(s)-int(v.n):]
	case v.n < 0 && v.n >= -60:
		s += strings.Repeat("0", int(-v.n))
	case v.n != 0:
		s += "E" + strconv.FormatInt(-v.n, 10)
	}
	return sign + s
}

// parseDecimal reads digits with an optional point and exponent.
func parseDecimal(s string) (Value, bool) {
	mant, exp := s, int64(0)
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		n, err := strconv.ParseInt(s[i+1:], 10, 32)
		if err != nil {
			return Value{}, false
		}
		mant, exp = s[:i], n
	}
	whole, frac, _ := strings.Cut(mant, ".")
	all := whole + frac
	if strings.TrimLeft(all, "+-") == "" || len(all) > 10000 || strings.ContainsAny(frac, "+-_") || strings.Contains(whole, "_") {
		return Value{}, false
	}
	d, ok := new(big.Int).SetString(all, 10)
	if !ok {
		return Value{}, false
	}
	v, err := dec(d, int64(len(frac))-exp)
	return v, err == nil
}

// rescale rounds a DECIMAL to a scale, which may be negative.
func rescale(v Value, scale int64, mode rounding) (Value, error) {
	if v.n <= scale {
		if scale-v.n > maxDigits*2 { // more zeros than a DECIMAL can hold
			return v, nil
		}
		return dec(new(big.Int).Mul(v.d, pow10(scale-v.n)), scale)
	}
	d := divRound(v.d, v.n-scale, mode)
	if scale < 0 {
		return dec(new(big.Int).Mul(d, pow10(min(-scale, maxDigits))), 0)
	}
	return dec(d, scale)
}

func decimalToInt(v Value, mode rounding) (int64, bool) {
	d := v.d
	switch {
	case v.n > 0:
		d = divRound(d, v.n, mode)
	case d.Sign() != 0 && v.n < -19:
		return 0, false
	case v.n < 0:
		d = new(big.Int).Mul(d, pow10(-v.n))
	}
	return d.Int64(), d.IsInt64()
}

func decimalToFloat(v Value) float64 {
	f, _ := strconv.ParseFloat(v.d.String()+"E"+strconv.FormatInt(-v.n, 10), 64)
	return f
}

func intToDecimal(n int64) Value { return Value{kind: Decimal, d: big.NewInt(n)} }
