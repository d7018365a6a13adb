package wire

// Assembler joins the parts of split messages. Each conversation and type has at most one message under way.
type Assembler struct {
	// Max is the most bytes that all unfinished messages may hold together.
	Max  int
	held int
	part map[partKey][]byte
}

type partKey struct {
	conv uint32
	typ  Type
}

// Add takes a segment's body and returns the whole message when this part was the last.
func (a *Assembler) Add(h Header, body []byte) ([]byte, bool, error) {
	if h.Flags&FlagWhole == FlagWhole {
		return body, true, nil
	}
	k := partKey{h.Conv, h.Type}
	sofar, open := a.part[k]
	if open == (h.Flags&FlagFirst != 0) { // a first part inside a message, or a later one without a first
		return nil, false, &Error{Struct: "TSH", Why: BadValue}
	}
	if a.held+len(body) > a.Max {
		return nil, false, &Error{Struct: "TSH", Why: BadLength}
	}
	if a.part == nil {
		a.part = map[partKey][]byte{}
	}
	whole := append(sofar, body...)
	if h.Flags&FlagLast != 0 {
		delete(a.part, k)
		a.held -= len(sofar)
		return whole, true, nil
	}
	a.part[k] = whole
	a.held += len(body)
	return nil, false, nil
}

// Held is the number of bytes of unfinished messages.
func (a *Assembler) Held() int { return a.held }

// Drop forgets what a conversation left unfinished.
func (a *Assembler) Drop(conv uint32) {
	for k, p := range a.part {
		if k.conv == conv {
			a.held -= len(p)
			delete(a.part, k)
		}
	}
}
