package qmgr

import (
	"encoding/binary"

	"github.com/qmgrd/qmgrd/internal/pubsub"
)

// Nonpersistent retained publications in memory. There may be a million, most of them small, so each is one allocation:
// length of the head, the head with its runs of zeros packed, the body. Large bodies stay where they are, since the
// copies on subscribers' queues share them.

// inlineBody is the longest body that is kept in that allocation.
const inlineBody = 512

type retainedMem struct {
	small map[pubsub.RetainedRef]string
	large map[pubsub.RetainedRef][]byte // bodies only
	buf   []byte                        // in which an entry is built
}

func (r *retainedMem) init() {
	r.small = map[pubsub.RetainedRef]string{}
	r.large = map[pubsub.RetainedRef][]byte{}
}

// maxMemBuf is the largest buffer that is kept for the next entry.
const maxMemBuf = 64 << 10

func (r *retainedMem) put(ref pubsub.RetainedRef, head, body []byte) {
	b := packZeros(binary.AppendUvarint(r.buf[:0], uint64(len(head))), head)
	if len(body) <= inlineBody {
		b = append(b, body...)
	} else {
		r.large[ref] = body
	}
	r.small[ref] = string(b)
	if r.buf = b; cap(b) > maxMemBuf {
		r.buf = nil
	}
}

func (r *retainedMem) remove(ref pubsub.RetainedRef) {
	delete(r.small, ref)
	delete(r.large, ref)
}

func (r *retainedMem) get(ref pubsub.RetainedRef) (head, body []byte, ok bool) {
	text, ok := r.small[ref]
	if !ok {
		return nil, nil, false
	}
	b := []byte(text)
	n, w := binary.Uvarint(b)
	head, body = unpackZeros(b[w:], int(n))
	if big, is := r.large[ref]; is {
		body = big
	}
	return head, body, true
}

// packZeros appends src with each run of zeros as a zero and its length.
func packZeros(dst, src []byte) []byte {
	for i := 0; i < len(src); i++ {
		dst = append(dst, src[i])
		if src[i] != 0 {
			continue
		}
		n := 1
		for i+1 < len(src) && src[i+1] == 0 && n < 255 {
			n++
			i++
		}
		dst = append(dst, byte(n))
	}
	return dst
}

// unpackZeros takes n bytes back from what packZeros made of them, and gives the rest.
func unpackZeros(src []byte, n int) (out, rest []byte) {
	out = make([]byte, 0, n)
	i := 0
	for len(out) < n {
		c := src[i]
		i++
		if c != 0 {
			out = append(out, c)
			continue
		}
		out = out[:len(out)+int(src[i])] // make gave zeros
		i++
	}
	return out, src[i:]
}
