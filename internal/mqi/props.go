package mqi

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// Property is one property of a message. Properties of the usr folder have their bare name, the others
// folder.group.name.
type Property struct {
	Name  string
	Value PropValue
	PD    PD
	// TypeString is the dt attribute of an element whose data type is not known; the value then is its text.
	TypeString string
}

// PD is the property descriptor.
type PD struct {
	Support     int32 // MQPD_SUPPORT_
	Context     int32 // MQPD_NO_CONTEXT, MQPD_USER_CONTEXT
	CopyOptions int32 // MQCOPY_
}

// DefaultPD returns the initial values of MQPD.
func DefaultPD() PD { return PD{Support: MQPD_SUPPORT_OPTIONAL, CopyOptions: MQCOPY_DEFAULT} }

// PropValue is a value with its type. Int holds integers and booleans, Float the floats.
type PropValue struct {
	Type  int32 // MQTYPE_
	Int   int64
	Float float64
	Text  string
	Bytes []byte
}

// PropNull, PropBool … make values.
func PropNull() PropValue { return PropValue{Type: MQTYPE_NULL} }
func PropBool(b bool) PropValue {
	v := PropValue{Type: MQTYPE_BOOLEAN}
	if b {
		v.Int = 1
	}
	return v
}
func PropString(s string) PropValue { return PropValue{Type: MQTYPE_STRING, Text: s} }
func PropBytes(b []byte) PropValue  { return PropValue{Type: MQTYPE_BYTE_STRING, Bytes: b} }

// PropInt makes an integer of one of the types MQTYPE_INT8 to MQTYPE_INT64.
func PropInt(typ int32, n int64) PropValue { return PropValue{Type: typ, Int: n} }

// PropFloat makes a number of type MQTYPE_FLOAT32 or MQTYPE_FLOAT64.
func PropFloat(typ int32, f float64) PropValue { return PropValue{Type: typ, Float: f} }

// intBits is the size of an integer type, 0 for others.
func intBits(typ int32) int {
	switch typ {
	case MQTYPE_INT8:
		return 8
	case MQTYPE_INT16:
		return 16
	case MQTYPE_INT32:
		return 32
	case MQTYPE_INT64:
		return 64
	}
	return 0
}

func floatBits(typ int32) int {
	switch typ {
	case MQTYPE_FLOAT32:
		return 32
	case MQTYPE_FLOAT64:
		return 64
	}
	return 0
}

// check gives the reason code of a value that its type cannot hold.
func (v PropValue) check() RC {
	bits := intBits(v.Type)
	switch {
	case bits > 0:
		if bits < 64 && (v.Int < -1<<(bits-1) || v.Int >= 1<<(bits-1)) {
			return MQRC_PROP_NUMBER_FORMAT_ERROR
		}
	case floatBits(v.Type) > 0, v.Type == MQTYPE_STRING, v.Type == MQTYPE_BYTE_STRING, v.Type == MQTYPE_NULL,
		v.Type == MQTYPE_BOOLEAN:
	default:
		return MQRC_PROPERTY_TYPE_ERROR
	}
	return 0
}

// Convert gives the value in another type, as MQINQMP does with MQIMPO_CONVERT_TYPE: to wider numbers, to and from text.
// It fails with 2470 where there is no such conversion and with 2472 for text that is no number.
func (v PropValue) Convert(typ int32) (PropValue, RC) {
	if typ == v.Type || typ == MQTYPE_AS_SET {
		return v, 0
	}
	no := PropValue{}
	if (PropValue{Type: typ}).check() != 0 {
		return no, MQRC_PROPERTY_TYPE_ERROR
	}
	from, to := intBits(v.Type), intBits(typ)
	switch {
	case v.Type == MQTYPE_NULL || typ == MQTYPE_NULL || typ == MQTYPE_BYTE_STRING:
		return no, MQRC_PROP_CONV_NOT_SUPPORTED
	case typ == MQTYPE_STRING:
		return PropString(v.asString()), 0
	case v.Type == MQTYPE_STRING:
		return v.fromString(typ)
	case v.Type == MQTYPE_BOOLEAN && to > 0:
		return PropInt(typ, v.Int), 0
	case from > 0 && to > from:
		return PropInt(typ, v.Int), 0
	case floatBits(v.Type) == 32 && floatBits(typ) == 64:
		return PropFloat(typ, v.Float), 0
	}
	return no, MQRC_PROP_CONV_NOT_SUPPORTED
}

func (v PropValue) fromString(typ int32) (PropValue, RC) {
	text := strings.TrimSpace(v.Text)
	bad := PropValue{}
	switch {
	case typ == MQTYPE_BOOLEAN:
		if b, ok := parseBool(text); ok {
			return PropBool(b), 0
		}
	case intBits(typ) > 0:
		if n, err := strconv.ParseInt(text, 10, intBits(typ)); err == nil {
			return PropInt(typ, n), 0
		}
	default:
		if f, ok := parseFloat(text, floatBits(typ)); ok {
			return PropFloat(typ, f), 0
		}
	}
	return bad, MQRC_PROP_NUMBER_FORMAT_ERROR
}

// asString is the value as MQINQMP gives it in text.
func (v PropValue) asString() string {
	if v.Type == MQTYPE_BOOLEAN {
		if v.Int != 0 {
			return "TRUE"
		}
		return "FALSE"
	}
	return v.element()
}

// element is the value as an MQRFH2 element holds it.
func (v PropValue) element() string {
	switch {
	case v.Type == MQTYPE_STRING:
		return v.Text
	case v.Type == MQTYPE_BYTE_STRING:
		return strings.ToUpper(hex.EncodeToString(v.Bytes))
	case v.Type == MQTYPE_BOOLEAN, intBits(v.Type) > 0:
		return strconv.FormatInt(v.Int, 10)
	case floatBits(v.Type) > 0:
		return formatFloat(v.Float, floatBits(v.Type))
	}
	return ""
}

func formatFloat(f float64, bits int) string {
	switch {
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	case math.IsNaN(f):
		return "NaN"
	}
	return strings.ToUpper(strconv.FormatFloat(f, 'g', -1, bits))
}

func parseFloat(s string, bits int) (float64, bool) {
	if strings.ContainsAny(s, "xXpP_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, bits)
	return f, err == nil
}

func parseBool(s string) (value, ok bool) {
	switch {
	case s == "1" || strings.EqualFold(s, "true"):
		return true, true
	case s == "0" || strings.EqualFold(s, "false"):
		return false, true
	}
	return false, false
}

// dataTypes are the dt attributes of MQRFH2 elements. "int" has no size of its own.
var dataTypes = [...]struct {
	dt  string
	typ int32
}{
	{"string", MQTYPE_STRING}, {"boolean", MQTYPE_BOOLEAN}, {"bin.hex", MQTYPE_BYTE_STRING}, {"i1", MQTYPE_INT8},
	{"i2", MQTYPE_INT16}, {"i4", MQTYPE_INT32}, {"i8", MQTYPE_INT64}, {"int", MQTYPE_INT64}, {"r4", MQTYPE_FLOAT32},
	{"r8", MQTYPE_FLOAT64},
}

func typeOfDT(dt string) (int32, bool) {
	for _, d := range dataTypes {
		if d.dt == dt {
			return d.typ, true
		}
	}
	return 0, false
}

func dtOfType(typ int32) string {
	for _, d := range dataTypes {
		if d.typ == typ {
			return d.dt
		}
	}
	return ""
}

// valueOf reads an element's text as a type. Text that is not of the type is an error of the folder's format.
func valueOf(typ int32, text string) (PropValue, bool) {
	switch typ {
	case MQTYPE_STRING:
		return PropString(text), true
	case MQTYPE_BYTE_STRING:
		b, err := hex.DecodeString(strings.TrimSpace(text))
		return PropBytes(b), err == nil
	}
	v, rc := PropString(text).fromString(typ)
	return v, rc == 0
}
