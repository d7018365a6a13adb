package domain

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/qmgrd/qmgrd/internal/esql"
)

// XMLNSC: an element is an element of the tree, the text of a leaf its value, attributes and namespace declarations are children.
// Text beside elements, comments and processing instructions are dropped.

type xmlnsc struct{ Set }

const (
	xmlURI   = "http://www.w3.org/XML/1998/namespace"
	xmlnsURI = "http://www.w3.org/2000/xmlns/"
)

func (x xmlnsc) Parse(n *esql.Node, b []byte, o esql.ParseOptions) error {
	text, err := x.xmlText(b, o.CCSID)
	if err != nil {
		return err
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 already
	p := xmlParser{top: n, at: n, budget: newBudget(o), namespaces: map[string]string{"xml": xmlURI}}
	for {
		t, err := d.RawToken() // not Token: that gives the prefix for a namespace where nobody declares it, and some namespaces are such words
		if err == io.EOF {
			break
		}
		if err == nil {
			err = p.token(t)
		}
		if err != nil {
			return fmt.Errorf("offset %d: %w", d.InputOffset(), err)
		}
	}
	switch {
	case len(p.open) > 0:
		return fmt.Errorf("<%s> is not closed", rawName(p.open[len(p.open)-1].name))
	case !p.seenRoot:
		return errors.New("there is no element")
	}
	return nil
}

// xmlText brings the bytes to UTF-8: by their CCSID, or by what the XML declaration says.
func (x xmlnsc) xmlText(b []byte, ccsid int64) (string, error) {
	if ccsid == 0 {
		ccsid = declaredCCSID(b)
	}
	s, err := x.decode(b, ccsid)
	return strings.TrimPrefix(s, "\uFEFF"), err
}

func declaredCCSID(b []byte) int64 {
	head, _, ok := strings.Cut(string(b[:min(len(b), 200)]), "?>")
	if !ok || !strings.HasPrefix(head, "<?xml") {
		return 1208
	}
	switch strings.ToUpper(attribute(head, "encoding")) {
	case "ISO-8859-1", "LATIN1":
		return 819
	}
	return 1208
}

// attribute reads name="value" from the text of a processing instruction.
func attribute(s, name string) string {
	_, rest, ok := strings.Cut(s, name+"=")
	if !ok || len(rest) < 2 || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	v, _, _ := strings.Cut(rest[1:], rest[:1])
	return v
}

type xmlParser struct {
	top, at    *esql.Node
	open       []xmlElement
	text       strings.Builder // of the element that is open, as long as it has no children
	budget     *budget
	namespaces map[string]string // by the prefixes that are in scope
	seenRoot   bool
}

// xmlElement is one that is open: its name as it is written, and what the prefixes that it declares were before.
type xmlElement struct {
	name  xml.Name
	outer []binding
}

func rawName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

func (p *xmlParser) token(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		return p.start(t)
	case xml.EndElement:
		return p.end(t.Name)
	case xml.CharData:
		if p.at != p.top {
			if p.at.Type == esql.XMLNSCField {
				p.text.Write(t)
			}
		} else if strings.TrimSpace(string(t)) != "" {
			return errors.New("text outside of the element")
		}
	case xml.ProcInst:
		if t.Target == "xml" {
			return p.declaration(string(t.Inst))
		}
	}
	return nil
}

func (p *xmlParser) end(name xml.Name) error {
	last := len(p.open) - 1
	if last < 0 {
		return fmt.Errorf("</%s> closes nothing", rawName(name))
	}
	e := p.open[last]
	if e.name != name {
		return fmt.Errorf("<%s> is closed by </%s>", rawName(e.name), rawName(name))
	}
	if p.at.Type == esql.XMLNSCField {
		p.at.SetValue(esql.Char(p.text.String()))
	}
	p.text.Reset()
	for _, b := range slices.Backward(e.outer) {
		p.namespaces[b.prefix] = b.uri
	}
	p.at, p.open = p.at.Parent(), p.open[:last]
	return nil
}

func (p *xmlParser) start(t xml.StartElement) error {
	if p.at == p.top && p.seenRoot {
		return fmt.Errorf("a second element <%s> at the top", t.Name.Local)
	}
	if len(p.open) >= maxDepth {
		return errDepth
	}
	p.seenRoot = true
	if p.at != p.top {
		p.at.Type = esql.XMLNSCFolder // what it had of text is mixed content
		p.text.Reset()
	}
	if err := p.budget.take(); err != nil {
		return err
	}
	e := xmlElement{name: t.Name}
	for _, a := range t.Attr {
		if prefix, ok := declares(a.Name); ok {
			if prefix == "xmlns" || prefix == "xml" && a.Value != xmlURI {
				return fmt.Errorf("the prefix %s cannot be declared", prefix)
			}
			e.outer = append(e.outer, binding{prefix, p.namespaces[prefix]})
			p.namespaces[prefix] = a.Value
		}
	}
	p.open = append(p.open, e)
	space, err := p.namespace(t.Name, p.namespaces[""], "<"+t.Name.Local+">")
	if err != nil {
		return err
	}
	p.at = p.at.Append(&esql.Node{Type: esql.XMLNSCField, Namespace: space, Name: t.Name.Local})
	return p.attributes(t)
}

// declares tells whether an attribute declares a namespace, and for which prefix.
func declares(attr xml.Name) (prefix string, ok bool) {
	if attr.Space == "xmlns" {
		return attr.Local, true
	}
	return "", attr.Space == "" && attr.Local == "xmlns"
}

// namespace is that of a name's prefix, or none's where it has no prefix. An error calls the name what.
func (p *xmlParser) namespace(name xml.Name, none, what string) (string, error) {
	if name.Space == "" {
		return none, nil
	}
	uri := p.namespaces[name.Space]
	if uri == "" {
		return "", fmt.Errorf("the prefix %s of %s is not declared", name.Space, what)
	}
	return uri, nil
}

func (p *xmlParser) attributes(t xml.StartElement) error {
	for i, a := range t.Attr {
		if err := p.budget.take(); err != nil {
			return err
		}
		n := &esql.Node{Type: esql.XMLNSCAttribute, Name: a.Name.Local}
		if prefix, ok := declares(a.Name); ok {
			n.Type = esql.XMLNSCNamespaceDecl
			if prefix != "" {
				n.Namespace = xmlnsURI
			}
		} else {
			var err error
			if n.Namespace, err = p.namespace(a.Name, "", "the attribute "+a.Name.Local); err != nil {
				return err
			}
			t.Attr[i].Name.Space = n.Namespace // two prefixes may be of one namespace
		}
		for _, b := range t.Attr[:i] {
			if t.Attr[i].Name == b.Name {
				return fmt.Errorf("the attribute %s stands twice in <%s>", a.Name.Local, t.Name.Local)
			}
		}
		n.SetValue(esql.Char(a.Value))
		p.at.Append(n)
	}
	return nil
}

// declaration keeps <?xml …?> as an element.
func (p *xmlParser) declaration(inst string) error {
	n := p.top.Append(&esql.Node{Type: esql.XMLNSCXMLDeclaration, Name: "XmlDeclaration"})
	for _, a := range []struct{ xml, name string }{{"version", "Version"}, {"encoding", "Encoding"}, {"standalone", "StandAlone"}} {
		if v := attribute(inst, a.xml); v != "" {
			if err := p.budget.take(); err != nil {
				return err
			}
			c := n.AppendValue(a.name, esql.Char(v))
			c.Type = esql.XMLNSCAttribute
		}
	}
	return nil
}

func (x xmlnsc) Serialize(n *esql.Node, o esql.ParseOptions) ([]byte, error) {
	if err := n.Expand(); err != nil {
		return nil, err
	}
	w := xmlWriter{encoding: encodingName(o.CCSID)}
	var err error
	if n.Domain != "" {
		err = w.children(n, 0)
	} else {
		err = w.element(n, 0)
	}
	if err != nil {
		return nil, err
	}
	return x.encode(w.b.String(), o.CCSID)
}

func encodingName(ccsid int64) string {
	switch ccsid {
	case 819:
		return "ISO-8859-1"
	case 1200, 1202:
		return "UTF-16"
	}
	return "UTF-8"
}

type xmlWriter struct {
	b        strings.Builder
	encoding string
	scope    []binding
}

// binding is a prefix that stands for a namespace; "" is the default one.
type binding struct{ prefix, uri string }

func (w *xmlWriter) children(n *esql.Node, depth int) error {
	for c := n.First(); c != nil; c = c.Next() {
		switch {
		case c.Type == esql.XMLNSCAttribute || c.Type == esql.XMLNSCNamespaceDecl:
		case c.Type == esql.XMLNSCXMLDeclaration:
			w.declaration(c)
		case c.Type == esql.XMLNSCComment:
			w.b.WriteString("<!--" + strings.TrimSuffix(strings.ReplaceAll(c.Value().Plain(), "--", "- -"), "-") + "-->")
		case c.Type == esql.XMLNSCInstruction:
			if err := checkName(c.Name); err != nil {
				return err
			}
			w.b.WriteString("<?" + c.Name + " " + strings.ReplaceAll(c.Value().Plain(), "?>", "? >") + "?>")
		case c.Type.Class() == esql.TypeValue: // a text beside elements
			w.escape(c.Value().Plain(), false)
		default:
			if err := w.element(c, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *xmlWriter) declaration(n *esql.Node) {
	w.b.WriteString(`<?xml version="1.0" encoding="` + w.encoding + `"`) // whatever it says: no other version is written, or read
	if v := n.Child("StandAlone"); v != nil {
		w.b.WriteString(` standalone="`)
		w.escape(v.Value().Plain(), true)
		w.b.WriteString(`"`)
	}
	w.b.WriteString("?>")
}

func (w *xmlWriter) element(n *esql.Node, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	if err := checkName(n.Name); err != nil {
		return err
	}
	keep := len(w.scope)
	defer func() { w.scope = w.scope[:keep] }()
	content := !n.Value().IsNull() && n.Value().Plain() != ""
	for c := n.First(); c != nil; c = c.Next() {
		switch {
		case c.Type == esql.XMLNSCNamespaceDecl && c.Namespace == "" && c.Name == "xmlns":
			w.scope = append(w.scope, binding{"", c.Value().Plain()})
		case c.Type == esql.XMLNSCNamespaceDecl:
			if err := checkName(c.Name); err != nil {
				return err
			}
			w.scope = append(w.scope, binding{c.Name, c.Value().Plain()})
		case c.Type != esql.XMLNSCAttribute:
			content = true
		}
	}
	name := w.qualified(n.Namespace, n.Name, false)
	attrs, err := w.attributes(n)
	if err != nil {
		return err
	}
	w.b.WriteString("<" + name)
	for i, d := range w.scope[keep:] {
		if slices.ContainsFunc(w.scope[keep+i+1:], func(later binding) bool { return later.prefix == d.prefix }) {
			continue
		}
		w.b.WriteString(" xmlns")
		if d.prefix != "" {
			w.b.WriteString(":" + d.prefix)
		}
		w.b.WriteString(`="`)
		w.escape(d.uri, true)
		w.b.WriteString(`"`)
	}
	w.b.WriteString(attrs)
	if !content {
		w.b.WriteString("/>")
		return nil
	}
	w.b.WriteString(">")
	if n.Type == esql.XMLNSCCDataField {
		w.b.WriteString("<![CDATA[" + strings.ReplaceAll(n.Value().Plain(), "]]>", "]]]]><![CDATA[>") + "]]>")
	} else {
		w.escape(n.Value().Plain(), false)
	}
	if err := w.children(n, depth+1); err != nil {
		return err
	}
	w.b.WriteString("</" + name + ">")
	return nil
}

// attributes writes them apart, as their prefixes may need declarations that stand before them.
func (w *xmlWriter) attributes(n *esql.Node) (string, error) {
	a := xmlWriter{}
	for c := n.First(); c != nil; c = c.Next() {
		if c.Type != esql.XMLNSCAttribute {
			continue
		}
		if err := checkName(c.Name); err != nil {
			return "", err
		}
		a.b.WriteString(" " + w.qualified(c.Namespace, c.Name, true) + `="`)
		a.escape(c.Value().Plain(), true)
		a.b.WriteString(`"`)
	}
	return a.b.String(), nil
}

// qualified finds the prefix of a namespace, and declares one when there is none.
func (w *xmlWriter) qualified(uri, name string, attr bool) string {
	if uri == xmlURI {
		return "xml:" + name
	}
	if uri == "" {
		if !attr && w.uriOf("") != "" { // out of the default namespace
			w.scope = append(w.scope, binding{"", ""})
		}
		return name
	}
	for i := len(w.scope) - 1; i >= 0; i-- {
		b := w.scope[i]
		if b.uri == uri && w.uriOf(b.prefix) == uri && !(attr && b.prefix == "") {
			if b.prefix == "" {
				return name
			}
			return b.prefix + ":" + name
		}
	}
	prefix := ""
	for i := 1; prefix == "" || w.uriOf(prefix) != ""; i++ {
		prefix = "NS" + strconv.Itoa(i)
	}
	w.scope = append(w.scope, binding{prefix, uri})
	return prefix + ":" + name
}

func (w *xmlWriter) uriOf(prefix string) string {
	for i := len(w.scope) - 1; i >= 0; i-- {
		if w.scope[i].prefix == prefix {
			return w.scope[i].uri
		}
	}
	return ""
}

// escape writes text; what XML cannot hold becomes U+FFFD.
func (w *xmlWriter) escape(s string, attr bool) {
	start := 0
	for i, r := range s {
		by := ""
		switch {
		case r == '&':
			by = "&amp;"
		case r == '<':
			by = "&lt;"
		case r == '>':
			by = "&gt;"
		case r == '"' && attr:
			by = "&quot;"
		case r == '\r':
			by = "&#13;"
		case (r == '\n' || r == '\t') && attr:
			by = "&#" + strconv.Itoa(int(r)) + ";"
		case r < ' ' && r != '\n' && r != '\t', r == 0xFFFE, r == 0xFFFF:
			by = "\uFFFD"
		default:
			continue
		}
		w.b.WriteString(s[start:i] + by)
		start = i + utf8.RuneLen(r)
	}
	w.b.WriteString(s[start:])
}

// checkName refuses what is no XML name.
func checkName(s string) error {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0xC0 && r != 0xD7 && r != 0xF7 && r != utf8.RuneError
		if !letter && (i == 0 || r != '-' && r != '.' && r != 0xB7 && (r < '0' || r > '9')) {
			return fmt.Errorf("%q is no name for XML", s)
		}
	}
	if s == "" {
		return errors.New("an element without a name cannot be written as XML")
	}
	return nil
}
