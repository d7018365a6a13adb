package qmgr

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub/selector"
)

// Properties of publications: MQTopicString, MQSubUserData and MQIsRetained of each copy. They are kept beside the message,
// as those that a program sets through a message handle; the body stays as it was published, so that all copies share it.

// copyAttr begins the copy options of a property that has not the usual ones, which pass to subscribers.
var copyAttr = []byte(" copy=")

// published leaves out what does not pass to subscribers: properties whose copy options lack MQCOPY_PUBLISH, those of a message handle
// and those in an MQRFH2. Of the latter it returns the data without them.
func published(head *msgHead, body []byte) []byte {
	if bytes.Contains(head.props, copyAttr) {
		if list, err := mqi.DecodeProps(head.props); err == nil {
			head.props = mqi.EncodeProps(mqi.CopyProps(list, mqi.MQCOPY_PUBLISH))
		}
	}
	if !hasHeader(head.md.Format) || !bytes.Contains(body, copyAttr) {
		return body
	}
	md := head.md
	md.CodedCharSetID = orDefault(md.CodedCharSetID)
	list, out, err := mqi.SplitProps(&md, body, false)
	pass := mqi.CopyProps(list, mqi.MQCOPY_PUBLISH)
	if err == nil && len(pass) > 0 {
		out, err = mqi.JoinProps(&md, out, pass)
	}
	if err != nil || len(pass) == len(list) {
		return body
	}
	head.md.Format, head.md.Encoding, head.md.CodedCharSetID = md.Format, md.Encoding, md.CodedCharSetID
	return out
}

// properties are the publication's own, for selectors.
func (p *publication) properties() selector.Properties {
	m := messageProps(p.head, p.body)
	m["MQTopicString"] = selector.String(p.topic)
	return m
}

// messageProps are a message's properties by the names that selectors use: those beside it, then those in its MQRFH2.
func messageProps(h *msgHead, body []byte) selector.Map {
	out := selector.Map{}
	md := h.md
	inData, _, err := mqi.SplitProps(&md, body, false)
	if err == nil {
		addProps(out, inData)
	}
	if beside, err := mqi.DecodeProps(h.props); err == nil {
		addProps(out, beside)
	}
	return out
}

func addProps(to selector.Map, list []mqi.Property) {
	for i := range list {
		to[selector.Name(list[i].Name)] = selectorValue(&list[i].Value)
	}
}

func selectorValue(v *mqi.PropValue) selector.Value {
	switch v.Type {
	case mqi.MQTYPE_NULL:
		return selector.Value{}
	case mqi.MQTYPE_BOOLEAN:
		return selector.Bool(v.Int != 0)
	case mqi.MQTYPE_INT8, mqi.MQTYPE_INT16, mqi.MQTYPE_INT32, mqi.MQTYPE_INT64:
		return selector.Int(v.Int)
	case mqi.MQTYPE_FLOAT32, mqi.MQTYPE_FLOAT64:
		return selector.Float(v.Float)
	case mqi.MQTYPE_BYTE_STRING:
		return selector.Bytes(v.Bytes)
	}
	return selector.String(v.Text)
}

// folder is what is kept beside a copy: the publisher's properties, and the mqps folder in the form of mqi.EncodeProps.
func (p *publication) folder(cfg *subCfg) []byte {
	if cfg.userData == "" && p.beside != nil {
		return p.beside
	}
	out := make([]byte, 0, len(p.head.props)+len(p.topic)+len(cfg.userData)+folderRoom)
	out = append(out, p.head.props...)
	size := len(out) // where the folder's length stands
	out = append(out, "\x00\x00\x00\x00<mqps><Top>"...)
	out = appendXML(out, p.topic)
	out = append(out, "</Top>"...)
	if cfg.userData != "" {
		out = append(out, "<Sud>"...)
		out = appendXML(out, cfg.userData)
		out = append(out, "</Sud>"...)
	}
	if p.retained {
		out = append(out, `<Ret dt="boolean">1</Ret>`...)
	}
	out = append(out, "</mqps>"...)
	binary.LittleEndian.PutUint32(out[size:], uint32(len(out)-size-4))
	if cfg.userData == "" {
		p.beside = out
	}
	return out
}

// folderRoom is what a folder has beside its texts.
const folderRoom = 4 + len(`<mqps><Top></Top><Sud></Sud><Ret dt="boolean">1</Ret></mqps>`)

func appendXML(to []byte, s string) []byte {
	if !strings.ContainsAny(s, "<>&\"'\r\n\t") {
		return append(to, s...)
	}
	return append(to, folderText.Replace(s)...)
}

// folderText escapes what means something in a folder, or what a reader of XML would change. All else stays: a topic string may hold any
// character.
var folderText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\t", "&#x9;", "\n", "&#xA;", "\r", "&#xD;")

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
	h.props = p.folder(cfg)
	return p.body
}

const ccsidUTF8 = 1208

// withHeader puts a header in front of the publication and describes it in the head.
func (p *publication) withHeader(h *msgHead, build func(mqi.Coding) ([]byte, error), format string) []byte {
	b, err := build(mqi.Coding{Encoding: mqi.MQENC_NATIVE, CCSID: ccsidUTF8})
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
	b := []byte("<psc><Command>Publish</Command>")
	if p.retained {
		b = append(b, "<PubOpt>IsRetainedPub</PubOpt>"...)
	}
	b = append(b, "<Topic>"...)
	b = appendXML(b, p.topic)
	b = append(b, "</Topic>"...)
	if cfg.userData != "" {
		b = append(b, "<SubUserData>"...)
		b = appendXML(b, cfg.userData)
		b = append(b, "</SubUserData>"...)
	}
	return string(append(b, "</psc>"...))
}

// onlyPubsub reports whether what stands beside a message is one mqps folder: getters of the old kind do not see it.
func onlyPubsub(props []byte) bool {
	return len(props) > 10 && int(binary.LittleEndian.Uint32(props)) == len(props)-4 && string(props[4:10]) == "<mqps>"
}

var propControls = map[string]int32{"COMPAT": mqi.MQPROP_COMPATIBILITY, "NONE": mqi.MQPROP_NONE, "ALL": mqi.MQPROP_ALL,
	"FORCE": mqi.MQPROP_FORCE_MQRFH2, "V6COMPAT": mqi.MQPROP_V6COMPAT}
