package mqi

import "strings"

// Props are the properties of a message handle, in order, with the cursor that inquiring moves. The zero value has none.
type Props struct {
	list   []Property
	cursor int // place + 1 of the property that was inquired or set last; 0 before the first
}

// NewProps makes a handle's properties of those of a message.
func NewProps(list []Property) *Props { return &Props{list: append([]Property(nil), list...)} }

// All gives the properties in their order. The slice is the handle's own.
func (p *Props) All() []Property { return p.list }

const (
	setOptions = MQSMPO_SET_PROP_UNDER_CURSOR | MQSMPO_SET_PROP_AFTER_CURSOR | MQSMPO_APPEND_PROPERTY |
		MQSMPO_SET_PROP_BEFORE_CURSOR
	inqOptions = MQIMPO_CONVERT_TYPE | MQIMPO_QUERY_LENGTH | MQIMPO_INQ_NEXT | MQIMPO_INQ_PROP_UNDER_CURSOR |
		MQIMPO_CONVERT_VALUE
	delOptions = MQDMPO_DEL_PROP_UNDER_CURSOR
)

func oneBitAtMost(v int32) bool { return v&(v-1) == 0 }

// Set is MQSETMP. validate is what MQCMHO says: without it names are taken as they are.
func (p *Props) Set(options int32, name string, pd PD, v PropValue, validate bool) error {
	fail := func(rc RC) error { return E("MQSETMP", name, rc) }
	if options&^setOptions != 0 || !oneBitAtMost(options) {
		return fail(MQRC_OPTIONS_ERROR)
	}
	if rc := v.check(); rc != 0 {
		return fail(rc)
	}
	if validate {
		if rc := checkPropSet(name, v.Type); rc != 0 {
			return fail(rc)
		}
	}
	if rc := pd.check(); rc != 0 {
		return fail(rc)
	}
	prop := Property{Name: CanonicalPropName(name), Value: v, PD: pd}
	if p.mixes(prop.Name) {
		return fail(MQRC_MIXED_CONTENT_NOT_ALLOWED)
	}
	at := p.cursor
	switch options {
	case MQSMPO_SET_FIRST:
		if at = p.find(prop.Name, 0); at >= 0 {
			p.list[at] = prop
			p.cursor = at + 1
			return nil
		}
		at = len(p.list)
	case MQSMPO_APPEND_PROPERTY:
		at = len(p.list)
	case MQSMPO_SET_PROP_UNDER_CURSOR:
		if at == 0 {
			return fail(MQRC_PROPERTY_NOT_AVAILABLE)
		}
		p.list[at-1] = prop
		return nil
	default: // before or after the cursor
		if at == 0 {
			return fail(MQRC_PROPERTY_NOT_AVAILABLE)
		}
		if options == MQSMPO_SET_PROP_BEFORE_CURSOR {
			at--
		}
	}
	p.list = append(p.list, Property{})
	copy(p.list[at+1:], p.list[at:])
	p.list[at] = prop
	p.cursor = at + 1
	return nil
}

func (pd PD) check() RC {
	const copies = MQCOPY_ALL | MQCOPY_FORWARD | MQCOPY_PUBLISH | MQCOPY_REPLY | MQCOPY_REPORT
	switch {
	case pd.Context&^MQPD_USER_CONTEXT != 0, pd.CopyOptions&^copies != 0:
		return MQRC_PD_ERROR
	case pd.CopyOptions&MQCOPY_ALL != 0 && pd.CopyOptions != MQCOPY_ALL:
		return MQRC_PD_ERROR
	case pd.Support != MQPD_SUPPORT_OPTIONAL && pd.Support != MQPD_SUPPORT_REQUIRED &&
		pd.Support != MQPD_SUPPORT_REQUIRED_IF_LOCAL:
		return MQRC_PD_ERROR
	}
	return 0
}

// mixes reports a name that would make a property of a group, or a group of a property.
func (p *Props) mixes(name string) bool {
	for i := range p.list {
		have := p.list[i].Name
		if strings.HasPrefix(have, name+".") || strings.HasPrefix(name, have+".") && strings.Contains(have, ".") {
			return true
		}
	}
	return false
}

func (p *Props) find(name string, from int) int {
	for i := from; i < len(p.list); i++ {
		if p.list[i].Name == name {
			return i
		}
	}
	return -1
}

// findLike finds the next property that a name with % at its end stands for.
func (p *Props) findLike(name string, from int) int {
	prefix, wild := strings.CutSuffix(name, "%")
	if !wild {
		return p.find(CanonicalPropName(name), from)
	}
	for i := from; i < len(p.list); i++ {
		n := p.list[i].Name
		if strings.HasPrefix(n, prefix) || !strings.Contains(n, ".") && strings.HasPrefix("usr."+n, prefix) {
			return i
		}
	}
	return -1
}

// Inquire is MQINQMP: it finds a property, converts its value where that is asked for, and moves the cursor to it. typ is
// the type wanted with MQIMPO_CONVERT_TYPE. A property whose data type is not known comes with warning 2467.
func (p *Props) Inquire(options int32, name string, typ int32) (Property, error) {
	fail := func(rc RC) (Property, error) { return Property{}, E("MQINQMP", name, rc) }
	where := options & (MQIMPO_INQ_NEXT | MQIMPO_INQ_PROP_UNDER_CURSOR)
	if options&^inqOptions != 0 || !oneBitAtMost(where) {
		return fail(MQRC_OPTIONS_ERROR)
	}
	at := p.cursor - 1
	if where != MQIMPO_INQ_PROP_UNDER_CURSOR {
		bare := strings.TrimSuffix(name, "%")
		if bare == "" && name != "%" {
			return fail(MQRC_PROPERTY_NAME_ERROR)
		}
		from := 0
		if where == MQIMPO_INQ_NEXT {
			from = p.cursor
		}
		if rc := checkInquired(name, bare); rc != 0 {
			return fail(rc)
		}
		at = p.findLike(name, from)
	}
	if at < 0 {
		return fail(MQRC_PROPERTY_NOT_AVAILABLE)
	}
	prop := p.list[at]
	if options&MQIMPO_CONVERT_TYPE != 0 {
		v, rc := prop.Value.Convert(typ)
		if rc != 0 {
			return fail(rc)
		}
		prop.Value = v
	}
	if options&MQIMPO_QUERY_LENGTH == 0 {
		p.cursor = at + 1
	}
	if prop.TypeString != "" {
		return prop, Warn("MQINQMP", name, MQRC_PROP_TYPE_NOT_SUPPORTED)
	}
	return prop, nil
}

// checkInquired checks the name of a property to look for; one with % may end anywhere.
func checkInquired(name, bare string) RC {
	if name == bare {
		return CheckPropName(name)
	}
	if strings.ContainsAny(bare, "% ") {
		return MQRC_PROPERTY_NAME_ERROR
	}
	return 0
}

// Delete is MQDLTMP.
func (p *Props) Delete(options int32, name string) error {
	fail := func(rc RC) error { return E("MQDLTMP", name, rc) }
	if options&^delOptions != 0 {
		return fail(MQRC_OPTIONS_ERROR)
	}
	at := p.cursor - 1
	if options&MQDMPO_DEL_PROP_UNDER_CURSOR == 0 {
		if rc := CheckPropName(name); rc != 0 {
			return fail(rc)
		}
		at = p.find(CanonicalPropName(name), 0)
	}
	if at < 0 {
		return fail(MQRC_PROPERTY_NOT_AVAILABLE)
	}
	p.list = append(p.list[:at], p.list[at+1:]...)
	switch {
	case p.cursor == at+1:
		p.cursor = 0 // what it stood on is gone
	case p.cursor > at+1:
		p.cursor--
	}
	return nil
}
