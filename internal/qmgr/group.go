package qmgr

import "github.com/qmgrd/qmgrd/internal/mqi"

// Groups and segments in logical order (MQPMO_LOGICAL_ORDER, MQGMO_LOGICAL_ORDER). The handle remembers where it is in a
// group, and in a logical message that comes in segments.

// groupPos is a handle's place. The zero value is outside of groups and logical messages.
type groupPos struct {
	id      mqi.ID
	seq     int32 // of the last message
	off     int32 // where the next segment begins
	inGroup bool  // the group's last message is still to come
	inMsg   bool  // the logical message's last segment is still to come
	lastMsg bool  // the logical message is the group's last
	pers    int32
	sync    bool
}

// inside reports whether something has been begun.
func (g *groupPos) inside() bool { return g.inGroup || g.inMsg }

// unfinished is the reason for leaving what was begun: 0 when nothing was.
func (g *groupPos) unfinished() mqi.RC {
	switch {
	case g.inMsg:
		return mqi.MQRC_INCOMPLETE_MSG
	case g.inGroup:
		return mqi.MQRC_INCOMPLETE_GROUP
	}
	return 0
}

// astray is the reason, for a warning, of a put or get that is not in the logical order that has been begun: for a message of a group,
// or a segment, that it is not like those before.
func (g *groupPos) astray(md *mqi.MD, sync bool) mqi.RC {
	if member := md.Version >= 2 && md.MsgFlags&(groupFlags|segmentFlags) != 0; member && g.inside() {
		switch {
		case g.pers != md.Persistence:
			return mqi.MQRC_INCONSISTENT_PERSISTENCE
		case g.sync != sync:
			return mqi.MQRC_INCONSISTENT_UOW
		}
	}
	return g.unfinished()
}

// putInGroup gives a message of n bytes its place in the handle's group. It returns the state after the put, and a warning or
// a failure.
func (m *Manager) putInGroup(g groupPos, md *mqi.MD, n int, logical, sync bool) (after groupPos, warn, fail mqi.RC) {
	if !logical {
		return g, g.astray(md, sync), 0
	}
	if md.Version < 2 {
		return g, 0, mqi.MQRC_WRONG_MD_VERSION
	}
	inGroup, segment := md.MsgFlags&groupFlags != 0, md.MsgFlags&segmentFlags != 0
	last := md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0
	switch {
	case g.inMsg && (!segment || inGroup != (g.inGroup || g.lastMsg) || last != g.lastMsg):
		return g, 0, mqi.MQRC_INCOMPLETE_MSG // what a message is in its group does not change within it
	case g.inGroup && !inGroup:
		return g, 0, mqi.MQRC_INCOMPLETE_GROUP
	case !inGroup && !segment:
		md.MsgSeqNumber, md.Offset = 1, 0
		return g, 0, 0
	case g.inside() && g.pers != md.Persistence:
		return g, 0, mqi.MQRC_INCONSISTENT_PERSISTENCE
	case g.inside() && g.sync != sync:
		return g, 0, mqi.MQRC_INCONSISTENT_UOW
	}
	if !g.inside() {
		g = groupPos{id: m.newID("AMQ "), pers: md.Persistence, sync: sync}
	}
	if !g.inMsg {
		g.seq++
		g.off = 0
	}
	md.GroupID, md.MsgSeqNumber, md.Offset = g.id, g.seq, g.off
	p := part{group: g.id, seq: g.seq, offset: g.off, flags: md.MsgFlags, size: int32(n)}
	g.pass(&p)
	return g, 0, 0
}

// pass moves the place behind a message.
func (g *groupPos) pass(p *part) {
	last := p.lastInGroup() || !p.inGroup()
	inMsg := p.segment() && !p.lastSegment()
	if last && !inMsg {
		*g = groupPos{}
		return
	}
	g.id, g.seq, g.off = p.group, p.seq, p.offset+p.size
	g.inMsg, g.inGroup, g.lastMsg = inMsg, !last, p.lastInGroup()
}

// next reports whether a message is the next in logical order: the following segment, the group's following message, or, when
// nothing has been begun, a message of its own or the first of a group.
func (g *groupPos) next(p *part) bool {
	switch {
	case g.inMsg:
		return p.group == g.id && p.seq == g.seq && p.offset == g.off && p.segment()
	case g.inGroup:
		return p.group == g.id && p.seq == g.seq+1 && p.offset == 0 && p.inGroup()
	}
	return (!p.inGroup() || p.seq == 1) && (!p.segment() || p.offset == 0)
}

// contradicts reports match options that exclude the message that is next (2247).
func (g *groupPos) contradicts(t *match) bool {
	seq, off := g.seq, g.off
	if !g.inMsg {
		seq, off = seq+1, 0
	}
	return g.inside() && (t.byGroup && t.groupID != g.id || t.bySeq && t.seqNo != seq || t.byOffset && t.offset != off)
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
func (g *groupPos) got(p *part, pers int32, sync bool) {
	g.pass(p)
	if g.inside() {
		g.pers, g.sync = pers, sync
	}
}
