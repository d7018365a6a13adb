package esql

import "strings"

// The message tree: elements with a type, a namespace, a name, a value and ordered children.

// Type says what an element is. The high byte is its class, the rest belongs to the domain; the numbers are ours, programs
// compare them with the names.
type Type int32

// The types by their names in a program.
const (
	TypeName      Type = 0x01000000 // a folder: name and children
	TypeValue     Type = 0x02000000 // a value without a name
	TypeNameValue Type = 0x03000000 // a field: name and value

	classMask Type = 0x7f000000

	XMLNSCFolder         = TypeName | 0x10
	XMLNSCDocumentType   = TypeName | 0x11
	XMLNSCXMLDeclaration = TypeName | 0x12
	XMLNSCValue          = TypeValue | 0x13
	XMLNSCField          = TypeNameValue | 0x14
	XMLNSCCDataField     = TypeNameValue | 0x15
	XMLNSCAttribute      = TypeNameValue | 0x16
	XMLNSCNamespaceDecl  = TypeNameValue | 0x17
	XMLNSCComment        = TypeNameValue | 0x18
	XMLNSCInstruction    = TypeNameValue | 0x19
	JSONObject           = TypeName | 0x20
	JSONArray            = TypeName | 0x21
)

// Class is the type without what belongs to a domain.
func (t Type) Class() Type { return t & classMask }

// typeNames are the names by which a program says a type, in upper case.
var typeNames = map[string]Type{
	"NAME": TypeName, "VALUE": TypeValue, "NAMEVALUE": TypeNameValue,
	"XMLNSC.FOLDER": XMLNSCFolder, "XMLNSC.DOCUMENTTYPE": XMLNSCDocumentType, "XMLNSC.XMLDECLARATION": XMLNSCXMLDeclaration,
	"XMLNSC.VALUE": XMLNSCValue, "XMLNSC.PCDATAVALUE": XMLNSCValue, "XMLNSC.FIELD": XMLNSCField, "XMLNSC.PCDATAFIELD": XMLNSCField,
	"XMLNSC.CDATAFIELD": XMLNSCCDataField, "XMLNSC.ATTRIBUTE": XMLNSCAttribute, "XMLNSC.SINGLEATTRIBUTE": XMLNSCAttribute,
	"XMLNSC.DOUBLEATTRIBUTE": XMLNSCAttribute, "XMLNSC.COMMENT": XMLNSCComment, "XMLNSC.PROCESSINGINSTRUCTION": XMLNSCInstruction,
	"XMLNSC.NAMESPACEDECL": XMLNSCNamespaceDecl,
	"MQRFH2.FIELD":         TypeNameValue, "MQRFH2C.FIELD": TypeNameValue, "MQRFH2.BITSTREAM": TypeNameValue,
	"JSON.OBJECT": JSONObject, "JSON.ARRAY": JSONArray,
}

// Domain is a parser: it turns the bytes of a message part into the children of an element, and back.
type Domain interface {
	// Parse adds to n what b holds. It must not keep n, and must stop with an error beyond o.MaxNodes elements.
	Parse(n *Node, b []byte, o ParseOptions) error
	Serialize(n *Node, o ParseOptions) ([]byte, error)
}

// ParseOptions are what PARSE and ASBITSTREAM may say; 0 and "" are what is not said.
type ParseOptions struct {
	Encoding, CCSID          int64
	Set, Type, Format        string
	FolderOnly, WithRootName bool
	MaxNodes                 int64
}

// Node is one element.
type Node struct {
	Type            Type
	Namespace, Name string
	// Domain names the parser of an element that has its own; the others belong to that of the nearest one above.
	Domain string

	value                           Value
	parent, first, last, prev, next *Node
	lazy                            *unparsed
}

// unparsed is the content of an element whose bytes nobody has looked into; copies share it.
type unparsed struct {
	domain  Domain
	data    []byte
	options ParseOptions
}

// NewRoot makes the root of a tree.
func NewRoot() *Node { return &Node{Type: TypeName, Name: "Root"} }

// SetUnparsed gives n a content that d parses when a path enters it. data must not change any more.
func (n *Node) SetUnparsed(d Domain, data []byte, o ParseOptions) {
	n.lazy = &unparsed{d, data, o}
}

// Unparsed gives the bytes of a content that nobody has looked into: they can be written as they are.
func (n *Node) Unparsed() ([]byte, ParseOptions, bool) {
	if n.lazy == nil {
		return nil, ParseOptions{}, false
	}
	return n.lazy.data, n.lazy.options, true
}

// Expand parses the content if that has not happened.
func (n *Node) Expand() error { return n.expand(0) }

// expand parses with a bound on the number of elements; 0 is none.
func (n *Node) expand(maxNodes int64) error {
	l := n.lazy
	if l == nil {
		return nil
	}
	n.lazy = nil
	o := l.options
	o.MaxNodes = maxNodes
	if err := l.domain.Parse(n, l.data, o); err != nil {
		n.clear()
		n.lazy = l
		if e, ok := err.(*Exception); ok {
			return e
		}
		return &Exception{Type: "ParserException", Number: NumParser, Severity: 3, Catalog: "BIPmsgs", Text: "the " + n.Name + " content cannot be parsed: " + err.Error()}
	}
	return nil
}

// Value is the element's own value.
func (n *Node) Value() Value { return n.value }

// SetValue replaces it; the children stay.
func (n *Node) SetValue(v Value) { n.value = v }

// Parent is the element above, nil for a root.
func (n *Node) Parent() *Node { return n.parent }

// First is the first child, nil when there is none or the content is unparsed.
func (n *Node) First() *Node { return n.first }

// Last is the last child.
func (n *Node) Last() *Node { return n.last }

// Next is the sibling to the right.
func (n *Node) Next() *Node { return n.next }

// Prev is the sibling to the left.
func (n *Node) Prev() *Node { return n.prev }

// Child finds the first child with a name and no namespace. It does not parse.
func (n *Node) Child(name string) *Node {
	for c := n.first; c != nil; c = c.next {
		if c.Name == name && c.Namespace == "" {
			return c
		}
	}
	return nil
}

// Append makes c, which must belong to no tree, the last child.
func (n *Node) Append(c *Node) *Node { return n.insert(c, n.last, nil) }

// AppendValue appends a field.
func (n *Node) AppendValue(name string, v Value) *Node {
	return n.Append(&Node{Type: TypeNameValue, Name: name, value: v})
}

// insert puts c between two children that stand side by side; nil is the edge.
func (n *Node) insert(c, left, right *Node) *Node {
	c.parent, c.prev, c.next = n, left, right
	if left != nil {
		left.next = c
	} else {
		n.first = c
	}
	if right != nil {
		right.prev = c
	} else {
		n.last = c
	}
	return c
}

// Detach takes n with what is below out of its tree.
func (n *Node) Detach() {
	p := n.parent
	if p == nil {
		return
	}
	if n.prev != nil {
		n.prev.next = n.next
	} else {
		p.first = n.next
	}
	if n.next != nil {
		n.next.prev = n.prev
	} else {
		p.last = n.prev
	}
	n.parent, n.prev, n.next = nil, nil, nil
}

// Clear takes away value, children and unparsed content.
func (n *Node) Clear() { n.clear() }

func (n *Node) clear() {
	for c := n.first; c != nil; {
		next := c.next
		c.parent, c.prev, c.next = nil, nil, nil
		c = next
	}
	n.first, n.last, n.lazy, n.value = nil, nil, nil, Value{}
}

// root is the top of the tree.
func (n *Node) root() *Node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}

// domainName is the domain to which the element belongs, "" for none.
func (n *Node) domainName() string {
	for ; n != nil; n = n.parent {
		if n.Domain != "" {
			return n.Domain
		}
	}
	return ""
}

// step goes on in document order below top, skipping nothing.
func step(n, top *Node) *Node {
	if n.first != nil {
		return n.first
	}
	for n != top {
		if n.next != nil {
			return n.next
		}
		n = n.parent
	}
	return nil
}

// Clone copies n with all that is below it; unparsed content is shared.
func (n *Node) Clone() *Node {
	c := n.alone(false)
	c.copyChildren(n, false)
	return c
}

// alone copies the element itself. generic drops what its type has of a domain.
func (n *Node) alone(generic bool) *Node {
	t := n.Type
	if generic {
		t = t.Class()
	}
	return &Node{Type: t, Namespace: n.Namespace, Name: n.Name, Domain: n.Domain, value: n.value, lazy: n.lazy}
}

// copyChildren appends copies of the children of src, without recursion: trees may be as deep as a parser let them be.
func (n *Node) copyChildren(src *Node, generic bool) {
	to := n
	for from := src.first; from != nil; {
		c := to.Append(from.alone(generic))
		if from.first != nil {
			from, to = from.first, c
			continue
		}
		for from != src && from.next == nil {
			from, to = from.parent, to.parent
		}
		if from == src {
			return
		}
		from = from.next
	}
}

// Path says where the element is, for messages.
func (n *Node) Path() string {
	var parts []string
	for ; n != nil && len(parts) < 20; n = n.parent {
		name := n.Name
		if name == "" {
			name = "*"
		}
		parts = append(parts, name)
	}
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".")
}
