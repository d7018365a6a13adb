package wire

// partCost is what an unfinished message counts beside its bytes: there may be many without any.
const partCost = 256

// Assembler joins the parts of split messages. Each conversation and type has at most one message under way.
type Assembler struct {
	// Max is the most bytes that the unfinished messages of one conversation may hold together. Each counts for partCost more.
	Max int
	// Convs is of how many conversations there may be unfinished messages; 0 is 1.
	Convs int

	part map[partKey][]byte
	held map[uint32]int // by conversation
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
	held, known := a.held[h.Conv]
	if !open {
		held += partCost
	}
	if held+len(body) > a.Max || !known && len(a.held) >= max(a.Convs, 1) {
		return nil, false, &Error{Struct: "TSH", Why: BadLength}
	}
	if a.part == nil {
		a.part, a.held = map[partKey][]byte{}, map[uint32]int{}
	}
	whole := append(sofar, body...)
	if h.Flags&FlagLast != 0 {
		delete(a.part, k)
		if held -= partCost + len(sofar); held == 0 {
			delete(a.held, h.Conv)
		} else {
			a.held[h.Conv] = held
		}
		return whole, true, nil
	}
	a.part[k] = whole
	a.held[h.Conv] = held + len(body)
	return nil, false, nil
}

// Held is the number of bytes of unfinished messages.
func (a *Assembler) Held() int {
	n := 0
	for _, p := range a.part {
		n += len(p)
	}
	return n
}

// Drop forgets what a conversation left unfinished.
func (a *Assembler) Drop(conv uint32) {
	if _, ok := a.held[conv]; !ok {
		return
	}
	delete(a.held, conv)
	for k := range a.part {
		if k.conv == conv {
			delete(a.part, k)
		}
	}
}
