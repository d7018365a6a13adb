package wire

import "fmt"

// Why tells in what way bytes are wrong.
type Why int

const (
	Short      Why = iota + 1 // ends before the structure does
	BadStrucID                // the eye-catcher is not the structure's
	BadVersion                // a version that does not exist
	BadLength                 // a length or offset that cannot be
	BadValue                  // a field outside its values
)

func (w Why) String() string {
	switch w {
	case Short:
		return "too short"
	case BadStrucID:
		return "wrong structure id"
	case BadVersion:
		return "unknown version"
	case BadLength:
		return "impossible length"
	}
	return "impossible value"
}

// Error says which structure was wrong, and where. It is the only error of the decoders.
type Error struct {
	Struct string // "TSH", "MD", "OD", …
	Off    int    // from the start of the segment's body
	Why    Why
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s at offset %d: %s", e.Struct, e.Off, e.Why)
}
