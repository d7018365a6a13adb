package mq

import (
	"errors"
	"fmt"
	"iter"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Properties are a message's properties: named values beside its body, which selectors look at. The zero value has none. Names
// without a folder are of the application's, as in JMS; others begin with that of their folder and a dot.
//
// Values are string, bool, int8, int16, int32, int64, float32, float64, []byte or nil; Set takes an int as well.
type Properties struct{ p *mqi.Props }

// Set sets a property. The error is that of a name or value that a property cannot have.
func (p *Properties) Set(name string, value any) error {
	v, err := propValue(value)
	if err != nil {
		return fail("MQSETMP", name, Reason(mqi.MQRC_PROPERTY_TYPE_ERROR), err)
	}
	props := mqi.NewProps(nil)
	if p.p != nil {
		props = mqi.NewProps(p.p.All()) // messages that share properties keep theirs
	}
	if err := props.Set(mqi.MQSMPO_SET_FIRST, name, mqi.DefaultPD(), v, true); err != nil {
		return fail("MQSETMP", name, reasonOf(err), nil)
	}
	p.p = props
	return nil
}

// Get returns the value of a property, and whether there is one.
func (p *Properties) Get(name string) (value any, ok bool) {
	if p.p == nil {
		return nil, false
	}
	prop, err := p.p.Inquire(mqi.MQIMPO_INQ_FIRST, name, mqi.MQTYPE_AS_SET)
	if err != nil {
		return nil, false
	}
	return goValue(prop.Value), true
}

// String returns the value of a property as text, "" for one that is not there.
func (p *Properties) String(name string) string {
	v, ok := p.Get(name)
	if !ok || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// Delete removes a property.
func (p *Properties) Delete(name string) {
	if p.p == nil {
		return
	}
	props := mqi.NewProps(p.p.All())
	if props.Delete(0, name) == nil {
		p.p = props
	}
}

// Len is how many there are.
func (p *Properties) Len() int {
	if p.p == nil {
		return 0
	}
	return len(p.p.All())
}

// All goes through the properties in their order.
func (p *Properties) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if p.p == nil {
			return
		}
		for _, x := range p.p.All() {
			if !yield(x.Name, goValue(x.Value)) {
				return
			}
		}
	}
}

func propValue(value any) (mqi.PropValue, error) {
	switch v := value.(type) {
	case nil:
		return mqi.PropNull(), nil
	case string:
		return mqi.PropString(v), nil
	case bool:
		return mqi.PropBool(v), nil
	case []byte:
		return mqi.PropBytes(v), nil
	case int8:
		return mqi.PropInt(mqi.MQTYPE_INT8, int64(v)), nil
	case int16:
		return mqi.PropInt(mqi.MQTYPE_INT16, int64(v)), nil
	case int32:
		return mqi.PropInt(mqi.MQTYPE_INT32, int64(v)), nil
	case int64:
		return mqi.PropInt(mqi.MQTYPE_INT64, v), nil
	case int:
		return mqi.PropInt(mqi.MQTYPE_INT64, int64(v)), nil
	case float32:
		return mqi.PropFloat(mqi.MQTYPE_FLOAT32, float64(v)), nil
	case float64:
		return mqi.PropFloat(mqi.MQTYPE_FLOAT64, v), nil
	}
	return mqi.PropValue{}, fmt.Errorf("a property cannot be of type %T", value)
}

func goValue(v mqi.PropValue) any {
	switch v.Type {
	case mqi.MQTYPE_STRING:
		return v.Text
	case mqi.MQTYPE_BOOLEAN:
		return v.Int != 0
	case mqi.MQTYPE_BYTE_STRING:
		return v.Bytes
	case mqi.MQTYPE_INT8:
		return int8(v.Int)
	case mqi.MQTYPE_INT16:
		return int16(v.Int)
	case mqi.MQTYPE_INT32:
		return int32(v.Int)
	case mqi.MQTYPE_INT64:
		return v.Int
	case mqi.MQTYPE_FLOAT32:
		return float32(v.Float)
	case mqi.MQTYPE_FLOAT64:
		return v.Float
	}
	return nil
}

// withProperties puts the properties in front of the data of a put, as they travel.
func (m *Message) withProperties(b *wire.Put) error {
	if m.Properties.Len() == 0 {
		return nil
	}
	data, err := mqi.JoinProps(&b.MD, b.Data, m.Properties.p.All())
	if err == nil {
		b.Data = data
	}
	return err
}

// splitProperties takes the properties out of the data of a message that was got.
func (m *Message) splitProperties() {
	md := mqi.MD{Format: m.Format, Encoding: m.Encoding, CodedCharSetID: m.CCSID}
	props, body, err := mqi.SplitProps(&md, m.Body, false)
	if err != nil || len(props) == 0 {
		return
	}
	m.Properties = Properties{mqi.NewProps(props)}
	m.Body, m.Format, m.Encoding, m.CCSID = body, md.Format, md.Encoding, md.CodedCharSetID
}

// reasonOf is the reason code of an error of the package mqi.
func reasonOf(err error) Reason {
	var e *mqi.Error
	if errors.As(err, &e) {
		_, rc := mqi.Reason(err)
		return Reason(rc)
	}
	return unexpected
}
