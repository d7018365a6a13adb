package qmgr

import "github.com/qmgrd/qmgrd/internal/mqi"

// Groups in logical order (MQPMO_LOGICAL_ORDER, MQGMO_LOGICAL_ORDER). The handle remembers where it is in a group;
// segments are not built.

const groupFlags = mqi.MQMF_MSG_IN_GROUP | mqi.MQMF_LAST_MSG_IN_GROUP

// groupPos is a handle's place in a group. The zero value is outside of groups.
type groupPos struct {
	id   mqi.ID
	seq  int32 // of the last message
	open bool
	pers int32
	sync bool
}

// putInGroup gives a message its place in the handle's group. It returns the state after the put, and a warning or a
// failure.
func (m *Manager) putInGroup(g groupPos, md *mqi.MD, logical, sync bool) (after groupPos, warn, fail mqi.RC) {
	if !logical {
		if g.open {
			warn = mqi.MQRC_INCOMPLETE_GROUP
		}
		return g, warn, 0
	}
	if md.Version < 2 {
		return g, 0, mqi.MQRC_WRONG_MD_VERSION
	}
	if md.MsgFlags&groupFlags == 0 {
		if g.open {
			return g, 0, mqi.MQRC_INCOMPLETE_GROUP
		}
		md.MsgSeqNumber, md.Offset = 1, 0
		return g, 0, 0
	}
	switch {
	case !g.open:
		g = groupPos{id: m.newID("AMQ "), open: true, pers: md.Persistence, sync: sync}
	case g.pers != md.Persistence:
		return g, 0, mqi.MQRC_INCONSISTENT_PERSISTENCE
	case g.sync != sync:
		return g, 0, mqi.MQRC_INCONSISTENT_UOW
	}
	g.seq++
	md.GroupID, md.MsgSeqNumber, md.Offset = g.id, g.seq, 0
	if md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0 {
		g = groupPos{}
	}
	return g, 0, 0
}

// next reports whether a message is the next in logical order: the group's following one, or, outside of groups, a
// message of its own or the first of a group.
func (g *groupPos) next(md *mqi.MD) bool {
	if g.open {
		return md.GroupID == g.id && md.MsgSeqNumber == g.seq+1
	}
	return md.MsgFlags&groupFlags == 0 || md.MsgSeqNumber == 1
}

// logicalPlace is the handle's place for gets, or for browses, which BROWSE_FIRST starts anew.
func (h *handle) logicalPlace(o int32) *groupPos {
	if o&getBrowse == 0 {
		return &h.getGroup
	}
	if o&mqi.MQGMO_BROWSE_FIRST != 0 {
		h.browseGroup = groupPos{}
	}
	return &h.browseGroup
}

// got moves the place behind a message that was got in logical order.
func (g *groupPos) got(md *mqi.MD) {
	switch {
	case md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0 || md.MsgFlags&groupFlags == 0:
		*g = groupPos{}
	default:
		*g = groupPos{id: md.GroupID, seq: md.MsgSeqNumber, open: true}
	}
}

// groupThere checks MQGMO_ALL_MSGS_AVAILABLE: a message of a group may be got when every message of the group is
// visible. In the middle of a group that was begun in logical order nothing is checked.
func (g *getting) groupThere(md *mqi.MD) bool {
	if !g.match.whole || md.MsgFlags&groupFlags == 0 || g.match.logical != nil && g.match.logical.open {
		return true
	}
	var members []entry
	g.q.mu.Lock()
	g.q.each(func(_ uint32, e *entry) bool {
		if e.flags&hidden == 0 {
			members = append(members, *e)
		}
		return true
	})
	g.q.mu.Unlock()
	seen, last := map[int32]bool{}, int32(0)
	for i := range members {
		rec, err := g.c.m.opt.Store.Read(g.q.qid, members[i].seq, members[i].loc)
		if err != nil {
			continue // gone meanwhile
		}
		h, err := decodeHead(rec.Head)
		if err != nil || h.md.GroupID != md.GroupID || h.md.MsgFlags&groupFlags == 0 {
			continue
		}
		seen[h.md.MsgSeqNumber] = true
		if h.md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0 {
			last = h.md.MsgSeqNumber
		}
	}
	for n := int32(1); n <= last; n++ {
		if !seen[n] {
			return false
		}
	}
	return last > 0
}
