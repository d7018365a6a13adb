package qmgr

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// A random history of groups of segmented messages in logical order, by two putters with units of work, read by a getter that
// backs out now and then: each group that was committed comes once, whole and in order, and nothing else comes.

// groupPutter puts one group after the other.
type groupPutter struct {
	c       *Conn
	h       Handle
	name    string
	n       int      // group
	text    []string // complete messages of the group in this unit of work
	part    string   // of the message begun
	pending []string // groups that end in this unit of work
	done    []string // committed groups, each its messages joined by spaces
	last    bool     // the message begun is the group's last
}

func (p *groupPutter) step(r *rig, rt *rapid.T) {
	switch rapid.SampledFrom([]string{"segment", "message", "end", "end", "commit", "backout"}).Draw(rt, "do") {
	case "segment":
		if len(p.part) < 20 {
			p.put(r, mqi.MQMF_SEGMENT, false)
		}
	case "message":
		p.put(r, mqi.MQMF_LAST_SEGMENT, false)
	case "end":
		p.put(r, mqi.MQMF_LAST_SEGMENT, true)
	case "commit":
		// Units of work end with a group: what a group has begun stays in the unit.
		if p.part == "" && len(p.text) == 0 {
			wantRC(rt, p.c.Commit(bg), 0)
			p.done, p.pending = append(p.done, p.pending...), nil
		}
	case "backout":
		wantRC(rt, p.c.Backout(bg), 0)
		p.text, p.part, p.pending, p.last = nil, "", nil, false
	}
}

func (p *groupPutter) put(r *rig, flag int32, last bool) {
	if p.part != "" {
		last = p.last // all segments of a message say the same
	}
	p.last = last
	piece := fmt.Sprintf("%s%d.%d", p.name, p.n, len(p.text))
	flags := flag | int32(mqi.MQMF_MSG_IN_GROUP)
	if last {
		flags |= mqi.MQMF_LAST_MSG_IN_GROUP
	}
	r.put(p.c, p.h, piece, logicalPut|mqi.MQPMO_SYNCPOINT, flagged(flags))
	p.part += piece
	if flag == mqi.MQMF_SEGMENT {
		return
	}
	p.text, p.part = append(p.text, p.part), ""
	if last {
		p.pending = append(p.pending, strings.Join(p.text, " "))
		p.text, p.n = nil, p.n+1
	}
}

// getGroups takes what there is, with a backout before some of the commits.
func getGroups(r *rig, rt *rapid.T, c *Conn, h Handle) (groups []string) {
	const opts = logicalGet | completeGet | mqi.MQGMO_ALL_MSGS_AVAILABLE | mqi.MQGMO_SYNCPOINT
	for {
		n := rapid.IntRange(0, 3).Draw(rt, "before backout")
		for range n {
			_, _, _ = tryGet(c, h, opts) // may find nothing
		}
		wantRC(rt, c.Backout(bg), 0)
		var msgs []string
		for {
			text, md, err := tryGet(c, h, opts)
			if _, rc := reasonOf(err); rc == mqi.MQRC_NO_MSG_AVAILABLE && len(msgs) == 0 {
				return groups
			}
			wantRC(rt, err, 0)
			msgs = append(msgs, text)
			if md.MsgSeqNumber != int32(len(msgs)) {
				rt.Fatalf("message %d of %v", md.MsgSeqNumber, msgs)
			}
			if md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0 {
				break
			}
		}
		wantRC(rt, c.Commit(bg), 0)
		groups = append(groups, strings.Join(msgs, " "))
	}
}

func TestGroupHistories(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := startRig(t, "")
		defer func() { r.end(store.Immediate) }()
		r.define("QLOCAL", "Q")
		r.define("QALIAS", "A", "TARGET", "Q")
		var putters []*groupPutter
		for i := range 2 {
			c := r.connect()
			putters = append(putters, &groupPutter{c: c, h: r.openQ(c, "A", mqi.MQOO_OUTPUT), name: string(rune('a' + i))})
		}
		getter := r.connect()
		h := r.openQ(getter, "Q", mqi.MQOO_INPUT_SHARED)
		got := map[string]int{}
		take := func() {
			for _, g := range getGroups(r, rt, getter, h) {
				got[g]++
			}
		}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			if rapid.IntRange(0, 9).Draw(rt, "get") == 0 {
				take()
				continue
			}
			putters[rapid.IntRange(0, 1).Draw(rt, "putter")].step(r, rt)
		}
		take()
		want := 0
		for _, p := range putters {
			for _, g := range p.done {
				want++
				if got[g] != 1 {
					rt.Fatalf("group %q came %d times", g, got[g])
				}
			}
		}
		if len(got) != want {
			rt.Fatalf("%d groups came, %d were committed: %v", len(got), want, got)
		}
	})
}
