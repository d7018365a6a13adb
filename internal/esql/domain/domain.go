// Package domain has the parsers of message bodies: XMLNSC, JSON and BLOB turn bytes into an ESQL message tree and back.
//
// Invariants
//   - Whatever the bytes: no panic, no more elements than ParseOptions.MaxNodes, nothing nested deeper than maxDepth.
//   - What Parse made, Serialize writes so that it means the same.
//
// What never happens here: headers (they are MQ's), MQ, input and output.
package domain

import (
	"errors"
	"fmt"

	"github.com/qmgrd/qmgrd/internal/esql"
)

const maxDepth = 1000 // elements inside of each other

var errDepth = fmt.Errorf("nested deeper than %d", maxDepth)

// Set gives the parsers by their names.
type Set struct {
	// Charsets converts code pages other than 819, 1200, 1202 and 1208; nil knows no others.
	Charsets esql.Charsets
}

// Domain finds a parser; it is what esql.Invocation.Domain wants.
func (s Set) Domain(name string) (esql.Domain, bool) {
	switch name {
	case "XMLNSC":
		return xmlnsc{s}, true
	case "JSON":
		return jsonDomain{s}, true
	case "BLOB":
		return blob{}, true
	}
	return nil, false
}

// Body makes the last child of root: an element of a domain whose bytes are parsed when a path enters it.
func (s Set) Body(root *esql.Node, name string, data []byte, o esql.ParseOptions) error {
	d, ok := s.Domain(name)
	if !ok {
		return fmt.Errorf("there is no parser for the domain %s", name)
	}
	n := root.Append(&esql.Node{Type: esql.TypeName, Name: name, Domain: name})
	n.SetUnparsed(d, data, o)
	return nil
}

// blob: one field BLOB with the bytes as they are.
type blob struct{}

func (blob) Parse(n *esql.Node, b []byte, _ esql.ParseOptions) error {
	n.AppendValue("BLOB", esql.Bytes(b))
	return nil
}

func (blob) Serialize(n *esql.Node, _ esql.ParseOptions) ([]byte, error) {
	if n.Domain != "" {
		c := n.Child("BLOB")
		if c == nil {
			return nil, errors.New("it has no field BLOB")
		}
		n = c
	}
	b, ok := n.Value().Blob()
	if !ok {
		return nil, fmt.Errorf("the field BLOB is a %s", n.Value().Kind())
	}
	return b, nil
}

// budget counts the elements that a parse makes.
type budget struct{ left int64 }

func newBudget(o esql.ParseOptions) *budget {
	if o.MaxNodes <= 0 {
		return &budget{1 << 62}
	}
	return &budget{o.MaxNodes}
}

func (b *budget) take() error {
	if b.left--; b.left < 0 {
		return errors.New("it has more elements than there is memory for")
	}
	return nil
}

// decode gives the characters of bytes in a code page; 0 is UTF-8.
func (s Set) decode(b []byte, ccsid int64) (string, error) {
	if ccsid == 0 {
		ccsid = 1208
	}
	return esql.DecodeText(b, ccsid, s.Charsets)
}

func (s Set) encode(t string, ccsid int64) ([]byte, error) {
	if ccsid == 0 {
		ccsid = 1208
	}
	return esql.EncodeText(t, ccsid, s.Charsets)
}
