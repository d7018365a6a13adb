package qmgr

import "github.com/qmgrd/qmgrd/internal/mqi"

// Segments that the queue manager makes of a message that is too long for its queue (MQMF_SEGMENTATION_ALLOWED).

// segmentUnit is what the length of a segment made by the queue manager is a multiple of, but for the last.
const segmentUnit = 16

// piece is what one put puts: the message, or a segment of it.
type piece struct {
	head    *msgHead
	body    []byte
	reports []*report
}

// cutUp makes segments of at most limit bytes; 0 is for a message that fits. A message with properties is not cut (2443).
func (c *Conn) cutUp(h *handle, head *msgHead, body []byte, limit int) ([]piece, mqi.RC) {
	if limit == 0 {
		return []piece{{head: head, body: body}}, 0
	}
	if len(head.props) > 0 || hasProps(&head.md, body) {
		return nil, mqi.MQRC_SEGMENTATION_NOT_ALLOWED
	}
	limit -= limit % segmentUnit
	last := head.md.MsgFlags&segmentFlags != mqi.MQMF_SEGMENT // the message is no segment, or the last one
	out := make([]piece, 0, len(body)/limit+1)
	for at := 0; at < len(body); at += limit {
		end := min(at+limit, len(body))
		p := *head
		p.md.Offset += int32(at)
		p.md.MsgFlags = p.md.MsgFlags&^segmentFlags | mqi.MQMF_SEGMENT
		if last && end == len(body) {
			p.md.MsgFlags |= mqi.MQMF_LAST_SEGMENT
		}
		if p.md.MsgType != mqi.MQMT_REPORT || p.md.OriginalLength < 0 {
			p.md.OriginalLength = int32(end - at)
		}
		out = append(out, piece{head: &p, body: body[at:end:end]})
	}
	return out, 0
}

// hasProps reports properties in an MQRFH2 of the message.
func hasProps(md *mqi.MD, body []byte) bool {
	if !hasHeader(md.Format) {
		return false
	}
	m := *md
	props, _, err := mqi.SplitProps(&m, body, false)
	return err == nil && len(props) > 0
}
