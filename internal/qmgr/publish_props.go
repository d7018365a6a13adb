package qmgr

import (
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub/selector"
)

// Properties of publications: MQTopicString, MQSubUserData and MQIsRetained of each copy, and what the publisher's own
// MQRFH2 says, for selectors.
//
// A publication that begins with an MQRFH2 of properties (as JMS sends it) gets the folder mqps in that header. Any other
// is stored as it was published, with the folder beside it in the head: it appears when a getter asks for all properties
// in an MQRFH2.

// pubProps is what a publication's own MQRFH2 has.
type pubProps struct {
	hdr    *mqi.RFH2 // nil: none, or none of properties
	rest   []byte
	coding mqi.Coding
	byName map[string]selector.Value
	plain  []byte // header with mqps for subscriptions without user data, and the body
}

// Property is for selectors.
func (p *pubProps) Property(name string) selector.Value { return p.byName[name] }

// propFolders are the folders that hold properties of programs.
var propFolders = []string{"mcd", "jms", "usr", "mqext"}

// properties reads the publication's MQRFH2, once.
func (p *publication) properties() *pubProps {
	if p.props != nil {
		return p.props
	}
	p.props = &pubProps{byName: map[string]selector.Value{"MQTopicString": selector.String(p.topic)}}
	md := &p.head.md
	if md.Format != mqi.MQFMT_RF_HEADER_2 {
		return p.props
	}
	c := mqi.Coding{Encoding: md.Encoding, CCSID: md.CodedCharSetID}
	hdr, rest, err := mqi.ParseRFH2(p.body, c)
	if err != nil {
		return p.props // not a header: data of the publisher's own
	}
	for _, f := range hdr.Folders {
		if slices.Contains(propFolders, folderName(f)) {
			p.props.hdr, p.props.rest, p.props.coding = &hdr, rest, c
		}
		readFolder(f, p.props.byName)
	}
	return p.props
}

// folderName is the name of a folder's first element.
func folderName(f string) string {
	f = strings.TrimPrefix(f, "<")
	if i := strings.IndexAny(f, " >/"); i >= 0 {
		return f[:i]
	}
	return ""
}

// readFolder adds the properties of one folder by the names that selectors use. A folder that is not well formed ends
// where it is not.
func readFolder(f string, to map[string]selector.Value) {
	dec := xml.NewDecoder(strings.NewReader(f))
	var path []string
	var dt string
	var text strings.Builder
	for {
		t, err := dec.Token()
		if err != nil {
			if err != io.EOF {
				return
			}
			return
		}
		switch e := t.(type) {
		case xml.StartElement:
			path = append(path, e.Name.Local)
			text.Reset()
			dt = ""
			for _, a := range e.Attr {
				if a.Name.Local == "dt" {
					dt = a.Value
				}
			}
		case xml.CharData:
			text.Write(e)
		case xml.EndElement:
			if len(path) >= 2 {
				if name := propName(path); name != "" {
					to[name] = propValue(dt, text.String())
				}
			}
			text.Reset()
			path = path[:max(len(path)-1, 0)]
		}
	}
}

// propName is a property's name in selectors: those of usr without their folder, JMSType, others with their folder.
func propName(path []string) string {
	switch {
	case path[0] == "usr":
		return strings.Join(path[1:], ".")
	case path[0] == "mcd" && path[1] == "Type":
		return "JMSType"
	case path[0] == "mqps": // the engine's own
		return ""
	}
	return strings.Join(path, ".")
}

// propValue reads a value by its dt attribute; one that does not fit its type is text.
func propValue(dt, s string) selector.Value {
	switch dt {
	case "i1", "i2", "i4", "i8", "int":
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return selector.Int(n)
		}
	case "r4", "r8":
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			return selector.Float(n)
		}
	case "boolean":
		return selector.Bool(s == "1" || s == "true")
	}
	return selector.String(s)
}

// folder is the mqps folder of a copy.
func (p *publication) folder(cfg *subCfg) string {
	var b strings.Builder
	b.WriteString("<mqps><Top>")
	escapeXML(&b, p.topic)
	b.WriteString("</Top>")
	if cfg.userData != "" {
		b.WriteString("<Sud>")
		escapeXML(&b, cfg.userData)
		b.WriteString("</Sud>")
	}
	if p.retained {
		b.WriteString(`<Ret dt="boolean">1</Ret>`)
	}
	b.WriteString("</mqps>")
	return b.String()
}

func escapeXML(b *strings.Builder, s string) {
	if strings.ContainsAny(s, "<>&\"'\r\n\t") {
		_ = xml.EscapeText(b, []byte(s)) // a Builder takes everything
		return
	}
	b.WriteString(s)
}

// describe gives a copy its properties, as the subscription's PSPROP says. It returns the body, and changes the head.
func (p *publication) describe(h *msgHead, cfg *subCfg) []byte {
	switch cfg.psprop {
	case "NONE":
		return p.body
	case "COMPAT":
		return p.withHeader(h, func(c mqi.Coding) ([]byte, error) {
			r := mqi.RFH{Encoding: h.md.Encoding, CodedCharSetID: h.md.CodedCharSetID, Format: h.md.Format,
				NameValueString: "MQPSCommand Publish MQPSTopic " + quoteRFH(p.topic) + p.rfhOptions(cfg)}
			return r.Append(nil, c)
		}, mqi.MQFMT_RF_HEADER_1)
	case "RFH2":
		return p.withHeader(h, func(c mqi.Coding) ([]byte, error) {
			r := mqi.RFH2{Encoding: h.md.Encoding, CodedCharSetID: h.md.CodedCharSetID, Format: h.md.Format,
				NameValueCCSID: ccsidUTF8, Folders: []string{p.psc(cfg)}}
			return r.Append(nil, c)
		}, mqi.MQFMT_RF_HEADER_2)
	}
	own := p.properties()
	if own.hdr == nil {
		h.props = []byte(p.folder(cfg))
		return p.body
	}
	if cfg.userData == "" && own.plain != nil {
		return own.plain
	}
	hdr := *own.hdr
	hdr.Folders = append(slices.Clone(hdr.Folders), p.folder(cfg))
	b, err := hdr.Append(make([]byte, 0, len(p.body)+256), own.coding)
	if err != nil {
		h.props = []byte(p.folder(cfg)) // the topic has characters that the header's code page has not
		return p.body
	}
	b = append(b, own.rest...)
	if cfg.userData == "" {
		own.plain = b
	}
	return b
}

const ccsidUTF8 = 1208

// withHeader puts a header in front of the publication and describes it in the head.
func (p *publication) withHeader(h *msgHead, make func(mqi.Coding) ([]byte, error), format string) []byte {
	b, err := make(mqi.Coding{Encoding: mqi.MQENC_NATIVE, CCSID: ccsidUTF8})
	if err != nil {
		return p.body
	}
	h.md.Format, h.md.Encoding, h.md.CodedCharSetID = format, mqi.MQENC_NATIVE, ccsidUTF8
	return append(b, p.body...)
}

// quoteRFH quotes a value of an MQRFH name/value string when it needs it.
func quoteRFH(s string) string {
	if s != "" && !strings.ContainsAny(s, " \"\x00") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

func (p *publication) rfhOptions(cfg *subCfg) string {
	s := ""
	if cfg.userData != "" {
		s += " MQPSSubUserData " + quoteRFH(cfg.userData)
	}
	if p.retained {
		s += " MQPSPubOpts IsRetainedPub"
	}
	return s
}

// psc is the folder of the queued publish/subscribe interface.
func (p *publication) psc(cfg *subCfg) string {
	var b strings.Builder
	b.WriteString("<psc><Command>Publish</Command>")
	if p.retained {
		b.WriteString("<PubOpt>IsRetainedPub</PubOpt>")
	}
	b.WriteString("<Topic>")
	escapeXML(&b, p.topic)
	b.WriteString("</Topic>")
	if cfg.userData != "" {
		b.WriteString("<SubUserData>")
		escapeXML(&b, cfg.userData)
		b.WriteString("</SubUserData>")
	}
	b.WriteString("</psc>")
	return b.String()
}

// showProps puts a message's properties in front of its body when the getter wants them all in an MQRFH2: by
// MQGMO_PROPERTIES_FORCE_MQRFH2, or by PROPCTL(ALL) or PROPCTL(FORCE) of the queue. It changes the descriptor. When the
// header does not fit into the getter's buffer the message comes without it: it has been taken already.
func (g *getting) showProps(head *msgHead, body []byte) []byte {
	if len(head.props) == 0 {
		return body
	}
	const given = mqi.MQGMO_PROPERTIES_FORCE_MQRFH2 | mqi.MQGMO_NO_PROPERTIES | mqi.MQGMO_PROPERTIES_IN_HANDLE |
		mqi.MQGMO_PROPERTIES_COMPATIBILITY
	want := g.gmo.Options&mqi.MQGMO_PROPERTIES_FORCE_MQRFH2 != 0
	if g.gmo.Options&given == 0 {
		ctl := g.q.obj.Def().Get("PROPCTL")
		want = ctl == "ALL" || ctl == "FORCE"
	}
	if !want {
		return body
	}
	r := mqi.RFH2{Encoding: g.md.Encoding, CodedCharSetID: g.md.CodedCharSetID, Format: g.md.Format,
		NameValueCCSID: ccsidUTF8, Folders: []string{string(head.props)}}
	b, err := r.Append(make([]byte, 0, len(body)+len(head.props)+64), mqi.Coding{Encoding: mqi.MQENC_NATIVE, CCSID: ccsidUTF8})
	if err != nil || len(b)+len(body) > g.max {
		return body
	}
	g.md.Format, g.md.Encoding, g.md.CodedCharSetID = mqi.MQFMT_RF_HEADER_2, mqi.MQENC_NATIVE, ccsidUTF8
	return append(b, body...)
}
