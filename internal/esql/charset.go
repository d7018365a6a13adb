package esql

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Code pages: the four that need no table are here, the caller brings the others.

// Charsets converts between characters and code pages beside those that are built in (819, 1200, 1202, 1208).
type Charsets interface {
	Encode(ccsid int64, s string) ([]byte, error)
	Decode(ccsid int64, b []byte) (string, error)
}

// EncodeText gives characters as bytes of a code page; c may be nil.
func EncodeText(s string, ccsid int64, c Charsets) ([]byte, error) {
	switch ccsid {
	case 1208:
		return []byte(s), nil
	case 819:
		b := make([]byte, 0, len(s))
		for _, r := range s {
			if r > 255 {
				return nil, fmt.Errorf("%q has no place in CCSID 819", r)
			}
			b = append(b, byte(r))
		}
		return b, nil
	case 1200, 1202:
		b := make([]byte, 0, 2*len(s))
		for _, u := range utf16.Encode([]rune(s)) {
			if ccsid == 1200 {
				b = append(b, byte(u>>8), byte(u))
			} else {
				b = append(b, byte(u), byte(u>>8))
			}
		}
		return b, nil
	}
	if c == nil {
		return nil, fmt.Errorf("CCSID %d is not known here", ccsid)
	}
	return c.Encode(ccsid, s)
}

// DecodeText gives bytes of a code page as characters; c may be nil.
func DecodeText(b []byte, ccsid int64, c Charsets) (string, error) {
	switch ccsid {
	case 1208:
		if !utf8.Valid(b) {
			return "", errors.New("it is not UTF-8")
		}
		return string(b), nil
	case 819:
		r := make([]rune, len(b))
		for i := range b {
			r[i] = rune(b[i])
		}
		return string(r), nil
	case 1200, 1202:
		if len(b)%2 != 0 {
			return "", fmt.Errorf("its length is odd, CCSID %d has pairs of bytes", ccsid)
		}
		u := make([]uint16, len(b)/2)
		for i := range u {
			u[i] = uint16(b[2*i])<<8 | uint16(b[2*i+1])
			if ccsid == 1202 {
				u[i] = u[i]<<8 | u[i]>>8
			}
		}
		return string(utf16.Decode(u)), nil
	}
	if c == nil {
		return "", fmt.Errorf("CCSID %d is not known here", ccsid)
	}
	s, err := c.Decode(ccsid, b)
	return strings.ToValidUTF8(s, "\uFFFD"), err
}
