package domain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/esql"
)

// JSON: the value is the child Data. Objects have named children, arrays are elements of the type JSON.Array with children Item.

type jsonDomain struct{ Set }

func (j jsonDomain) Parse(n *esql.Node, b []byte, o esql.ParseOptions) error {
	text, err := j.decode(b, o.CCSID)
	if err != nil {
		return err
	}
	p := jsonParser{d: json.NewDecoder(bytes.NewReader([]byte(text))), budget: newBudget(o)}
	p.d.UseNumber()
	if err := p.value(n, "Data", 0); err != nil {
		if err == io.EOF {
			err = errors.New("it ends too early")
		}
		return fmt.Errorf("offset %d: %w", p.d.InputOffset(), err)
	}
	if t, err := p.d.Token(); err != io.EOF {
		return fmt.Errorf("offset %d: %v stands behind the value", p.d.InputOffset(), t)
	}
	return nil
}

type jsonParser struct {
	d      *json.Decoder
	budget *budget
}

func (p *jsonParser) value(parent *esql.Node, name string, depth int) error {
	t, err := p.d.Token()
	if err != nil {
		return err
	}
	return p.from(t, parent, name, depth)
}

// from makes an element of a value whose first token was read.
func (p *jsonParser) from(t json.Token, parent *esql.Node, name string, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	if err := p.budget.take(); err != nil {
		return err
	}
	n := parent.Append(&esql.Node{Type: esql.TypeNameValue, Name: name})
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			n.Type = esql.JSONArray
			return p.array(n, depth)
		}
		n.Type = esql.JSONObject
		return p.object(n, depth)
	case bool:
		n.SetValue(esql.Bool(t))
	case string:
		n.SetValue(esql.Char(t))
	case json.Number:
		v, ok := esql.ParseNumber(t.String())
		if !ok {
			return fmt.Errorf("the number %.50s is out of range", t.String())
		}
		n.SetValue(v)
	}
	return nil
}

func (p *jsonParser) array(n *esql.Node, depth int) error {
	for p.d.More() {
		if err := p.value(n, "Item", depth+1); err != nil {
			return err
		}
	}
	_, err := p.d.Token()
	return err
}

func (p *jsonParser) object(n *esql.Node, depth int) error {
	for p.d.More() {
		t, err := p.d.Token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return fmt.Errorf("%v is no key", t)
		}
		if err := p.value(n, key, depth+1); err != nil {
			return err
		}
	}
	_, err := p.d.Token()
	return err
}

func (j jsonDomain) Serialize(n *esql.Node, o esql.ParseOptions) ([]byte, error) {
	if err := n.Expand(); err != nil {
		return nil, err
	}
	if n.Domain != "" {
		data := n.Child("Data")
		if data == nil {
			return nil, errors.New("it has no child Data")
		}
		n = data
	}
	var b bytes.Buffer
	if err := writeJSON(&b, n, 0); err != nil {
		return nil, err
	}
	return j.encode(b.String(), o.CCSID)
}

func writeJSON(b *bytes.Buffer, n *esql.Node, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	array := n.Type == esql.JSONArray
	if !array && n.First() == nil && n.Type != esql.JSONObject && (n.Type.Class() != esql.TypeName || !n.Value().IsNull()) {
		return writeScalar(b, n.Value())
	}
	b.WriteByte("{["[btoi(array)])
	for c := n.First(); c != nil; c = c.Next() {
		if c != n.First() {
			b.WriteByte(',')
		}
		if !array {
			if err := writeString(b, c.Name); err != nil {
				return err
			}
			b.WriteByte(':')
		}
		if err := writeJSON(b, c, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte("}]"[btoi(array)])
	return nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func writeScalar(b *bytes.Buffer, v esql.Value) error {
	switch v.Kind() {
	case esql.Null:
		b.WriteString("null")
	case esql.Boolean, esql.Integer:
		b.WriteString(v.Plain())
	case esql.Decimal, esql.Float:
		text := v.Plain()
		if v.Kind() == esql.Decimal { // with an exponent it is read as FLOAT, which has not its range
			text = withoutExponent(text)
		}
		if !json.Valid([]byte(text)) { // NaN and infinity
			return fmt.Errorf("%s has no form in JSON", text)
		}
		b.WriteString(text)
	default:
		return writeString(b, v.Plain())
	}
	return nil
}

// withoutExponent is a number with all its zeros.
func withoutExponent(s string) string {
	mant, e, _ := strings.Cut(s, "E")
	exp, err := strconv.Atoi(e)
	if err != nil {
		return s // it has none
	}
	rest, negative := strings.CutPrefix(mant, "-")
	whole, frac, _ := strings.Cut(rest, ".")
	digits, point := whole+frac, len(whole)+exp
	switch {
	case strings.Trim(digits, "0") == "":
		return "0"
	case point <= 0:
		digits = "0." + strings.Repeat("0", -point) + digits
	case point >= len(digits):
		digits += strings.Repeat("0", point-len(digits))
	default:
		digits = digits[:point] + "." + digits[point:]
	}
	if negative {
		return "-" + digits
	}
	return digits
}

// writeString leaves <, > and & as they are, which the library's default does not.
func writeString(b *bytes.Buffer, s string) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the line end
	return nil
}
