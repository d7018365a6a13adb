package qmgr

import (
	"math"
	"strconv"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// queueCfg are the attributes of a local queue that verbs ask for, parsed once per definition.
type queueCfg struct {
	maxDepth     int
	maxMsgL      int
	defPrty      uint8
	defPersist   bool
	fifo         bool
	getInhibited bool
	putInhibited bool
	share        bool
	defExcl      bool // DEFSOPT(EXCL)
	deftype      string
	xmitq        bool
	npmHigh      bool
	propCtl      string
	streamQ      string // STREAMQ, with STRMQOS(MUSTDUP) in mustDup
	mustDup      bool
	capExpiry    int // tenths of a second, 0 none
	watch        watchCfg
}

func parseQueueCfg(d *Def) *queueCfg {
	return &queueCfg{
		maxDepth:     numAttr(d, "MAXDEPTH", 5000),
		maxMsgL:      numAttr(d, "MAXMSGL", 4194304),
		defPrty:      uint8(min(numAttr(d, "DEFPRTY", 0), 9)),
		defPersist:   d.Get("DEFPSIST") == "YES",
		fifo:         d.Get("MSGDLVSQ") == "FIFO",
		getInhibited: d.Get("GET") == "DISABLED",
		putInhibited: d.Get("PUT") == "DISABLED",
		share:        d.Get("SHARE") != "NO",
		defExcl:      d.Get("DEFSOPT") == "EXCL",
		deftype:      d.Get("DEFTYPE"),
		xmitq:        d.Get("USAGE") == "XMITQ",
		npmHigh:      d.Get("NPMCLASS") == "HIGH",
		propCtl:      d.Get("PROPCTL"),
		streamQ:      d.Get("STREAMQ"),
		mustDup:      d.Get("STRMQOS") == "MUSTDUP",
		capExpiry:    capTenths(d),
		watch:        parseWatchCfg(d),
	}
}

// cfgShare keeps one queueCfg for all queues with the same attributes, which most of thousands have.
type cfgShare struct {
	mu   invariants.Ranked[invariants.Leaf]
	seen map[queueCfg]*queueCfg
}

const mostCfgs = 256

func (s *cfgShare) of(d *Def) *queueCfg {
	cfg := parseQueueCfg(d)
	s.mu.Lock()
	defer s.mu.Unlock()
	if same := s.seen[*cfg]; same != nil {
		return same
	}
	if s.seen == nil {
		s.seen = map[queueCfg]*queueCfg{}
	}
	if len(s.seen) < mostCfgs {
		s.seen[*cfg] = cfg
	}
	return cfg
}

// numAttr reads a number that is never negative; anything else (a word, no such attribute) is alt.
func numAttr(d *Def, key string, alt int) int { return numOf(d.Get(key), alt) }

func numOf(text string, alt int) int {
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || v < 0 || v > math.MaxInt32 {
		return alt
	}
	return int(v)
}
