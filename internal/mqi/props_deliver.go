package mqi

// PropControl is what decides how MQGET gives a message's properties.
type PropControl struct {
	Queue   int32 // the queue's PROPCTL, MQPROP_
	Options int32 // of MQGMO; only the MQGMO_PROPERTIES_ ones count
	Handle  bool  // MQGMO.MsgHandle names a message handle
}

const propOptions = MQGMO_PROPERTIES_FORCE_MQRFH2 | MQGMO_PROPERTIES_IN_HANDLE | MQGMO_NO_PROPERTIES |
	MQGMO_PROPERTIES_COMPATIBILITY

// Check gives the reason code of options that exclude each other (2046), or ask for a handle that is not there (2460).
func (c PropControl) Check() RC {
	o := c.Options & propOptions
	switch {
	case !oneBitAtMost(o):
		return MQRC_OPTIONS_ERROR
	case o == MQGMO_PROPERTIES_IN_HANDLE && !c.Handle:
		return MQRC_HMSG_ERROR
	}
	return 0
}

// propMode is how properties are given.
type propMode uint8

const (
	propsNone   propMode = iota // not at all
	propsRFH2                   // all of them in MQRFH2
	propsCompat                 // in MQRFH2 when one of them is of JMS or the like, else not at all
	propsHandle                 // in the message handle
	propsAsPut                  // the MQRFH2 of the put, untouched
)

func (c PropControl) mode() propMode {
	switch c.Options & propOptions {
	case MQGMO_NO_PROPERTIES:
		return propsNone
	case MQGMO_PROPERTIES_FORCE_MQRFH2:
		return propsRFH2
	case MQGMO_PROPERTIES_IN_HANDLE:
		return propsHandle
	case MQGMO_PROPERTIES_COMPATIBILITY:
		if c.Handle {
			return propsHandle
		}
		return propsCompat
	}
	switch {
	case c.Queue == MQPROP_FORCE_MQRFH2:
		return propsRFH2
	case c.Queue == MQPROP_V6COMPAT:
		return propsAsPut
	case c.Handle:
		return propsHandle
	case c.Queue == MQPROP_ALL:
		return propsRFH2
	case c.Queue == MQPROP_COMPATIBILITY:
		return propsCompat
	}
	return propsNone
}

// DeliverProps gives the data that a getter gets and the properties for its message handle. body is the data as it was put,
// with what MQRFH2 the application made; props are those that were set through a message handle. md is changed to
// describe the data. A header that is not well formed comes as it is.
func DeliverProps(md *MD, body []byte, props []Property, c PropControl) ([]byte, []Property) {
	mode := c.mode()
	if len(props) == 0 && (mode == propsRFH2 || mode == propsAsPut) {
		return body, nil // what was put is what is wanted
	}
	if mode == propsAsPut && md.Format == MQFMT_RF_HEADER_2 {
		return body, nil
	}
	if mode == propsRFH2 || mode == propsAsPut {
		return joined(md, body, props), nil
	}
	m := *md
	inData, bare, err := SplitProps(&m, body, false)
	if err != nil {
		return body, nil
	}
	all := overlay(inData, props)
	switch mode {
	case propsHandle:
		*md = m
		return bare, all
	case propsCompat:
		if hasCompatProp(all) {
			if len(props) == 0 {
				return body, nil
			}
			return joined(md, body, props), nil
		}
	}
	*md = m
	return bare, nil
}

func joined(md *MD, body []byte, props []Property) []byte {
	out, err := JoinProps(md, body, props)
	if err != nil {
		return body
	}
	return out
}

// overlay gives the properties of both, those of a handle before those of an MQRFH2 with the same name.
func overlay(inData, props []Property) []Property {
	if len(props) == 0 {
		return inData
	}
	out := append([]Property(nil), props...)
	p := Props{list: props}
	for _, x := range inData {
		if p.find(x.Name, 0) < 0 {
			out = append(out, x)
		}
	}
	return out
}

// hasCompatProp reports a property whose name begins with mcd. jms. usr. or mqext.
func hasCompatProp(props []Property) bool {
	for i := range props {
		folder, _ := splitPropName(props[i].Name)
		switch folder {
		case "mcd", "jms", "usr", "mqext":
			return true
		}
	}
	return false
}

// CopyProps gives the properties that pass to a message made of this one: forwarded, published, a reply or a report, by
// one MQCOPY_ bit.
func CopyProps(props []Property, to int32) []Property {
	var out []Property
	for i := range props {
		if props[i].PD.CopyOptions&(to|MQCOPY_ALL) != 0 {
			out = append(out, props[i])
		}
	}
	return out
}

// PublicationProps gives the properties that a subscriber's copy of a publication has beside the publisher's: its topic,
// the subscription's user data, and that it was retained when it was published before the subscription was made.
func PublicationProps(topic, userData string, retained bool) []Property {
	out := []Property{{Name: "mqps.Top", Value: PropString(topic), PD: DefaultPD()}}
	if userData != "" {
		out = append(out, Property{Name: "mqps.Sud", Value: PropString(userData), PD: DefaultPD()})
	}
	if retained {
		out = append(out, Property{Name: "mqps.Ret", Value: PropBool(true), PD: DefaultPD()})
	}
	return out
}

// RequiredProp gives the name of a property that the queue manager must know, by its descriptor, and does not: 2490 for the
// put. local says that the message is for a queue of this queue manager.
func RequiredProp(props []Property, local bool) (string, bool) {
	for i := range props {
		s := props[i].PD.Support
		if isKnownProp(props[i].Name) {
			continue
		}
		if s&MQPD_REJECT_UNSUP_MASK != 0 || local && s&MQPD_ACCEPT_UNSUP_IF_XMIT_MASK != 0 {
			return props[i].Name, true
		}
	}
	return "", false
}

func isKnownProp(name string) bool {
	for i := range synonyms {
		if synonyms[i].folder == name {
			return true
		}
	}
	return false
}
