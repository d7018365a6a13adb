package store

import (
	"errors"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// Loading a deep queue reads its heads from the state file with plain reads, in large pieces, beside the goroutine that takes
// them: bbolt's map would be faulted in page by page. Each leaf is checked like in the walk of the pages (pages.go), each
// record by its checksum. Nothing may change the file meanwhile.

const (
	batchBytes  = 128 << 10 // of heads handed over together
	headBatches = 4         // on their way
)

// headLeaf is a leaf of a bucket of heads; its keys are lo or more, and less than the next leaf's lo.
type headLeaf struct {
	page uint64
	lo   Seq
}

// headWalk reads the buckets of heads, one queue after the other.
type headWalk struct {
	s     *state
	w     *pageWalk
	fault error
}

func (s *state) walkHeads() (*headWalk, error) {
	h := &headWalk{s: s}
	var err error
	h.w, _, err = newPageWalk(s.nat, s.path, everyPage, func(p Problem) bool {
		h.fault = &corruption{p}
		return false
	})
	if err != nil {
		return nil, fmt.Errorf("store: read %s: %w", s.path, err)
	}
	if h.fault != nil {
		h.close()
	}
	return h, h.fault
}

func (h *headWalk) close() { h.w.f.Close() }

// root is the page on which a bucket begins; 0 when there is none, or when it is so small that it lies inside another page.
func (s *state) root(name []byte) (page uint64, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		if b := tx.Bucket(name); b != nil {
			page = uint64(b.Root())
		}
		return nil
	})
	return page, err
}

// leaves lists the leaves of the tree at root, from what its branches say.
func (h *headWalk) leaves(root uint64) ([]headLeaf, error) {
	var out []headLeaf
	w := h.w
	w.leaf = func(id uint64, lo []byte) {
		l := headLeaf{page: id}
		switch {
		case len(lo) == 8:
			l.lo = Seq(be.Uint64(lo))
		case len(out) > 0 || len(lo) > 0:
			w.fault(int64(id)*w.page, "key %x is not a message number", lo)
		}
		out = append(out, l)
	}
	w.tree(root, false, nil, nil, 1)
	w.leaf = nil
	return out, h.fault
}

// headBatch is a piece of what a reader found; the heads lie in buf.
type headBatch struct {
	heads []storedHead
	buf   []byte
	err   error
}

// headReader hands over the heads of one queue.
type headReader struct {
	full, empty chan *headBatch // full is closed at the end
	quit        chan struct{}
	last        *headBatch // what next returned
}

var errEnough = errors.New("store: nobody reads on")

// read starts reading the heads of q. It returns nil when the queue has none on pages of its own. A reader must be at its
// end, or stopped, before the next one is started.
func (h *headWalk) read(q QID) (*headReader, error) {
	name := queueBucket(bucketHead, q)
	root, err := h.s.root(name)
	if err != nil || root == 0 {
		return nil, err
	}
	leaves, err := h.leaves(root)
	if err != nil {
		return nil, err
	}
	r := &headReader{full: make(chan *headBatch, headBatches), empty: make(chan *headBatch, headBatches), quit: make(chan struct{})}
	for range headBatches {
		r.empty <- &headBatch{}
	}
	go r.run(h, name, leaves)
	return r, nil
}

func (r *headReader) run(h *headWalk, name []byte, leaves []headLeaf) {
	defer close(r.full)
	b := <-r.empty
	w := h.w
	w.record = func(key, rec []byte) error {
		val, err := openRecord(h.s.path, name, key, rec)
		if err != nil {
			return err
		}
		if len(key) != 8 {
			return corrupt(h.s.path, placeOf(name, key), "key is not a message number")
		}
		if len(b.heads) > 0 && len(b.buf)+len(val) > batchBytes {
			if b = r.pass(b); b == nil {
				return errEnough
			}
		}
		at := len(b.buf)
		b.buf = append(b.buf, val...)
		n, head, err := splitHead(h.s.path, name, key, b.buf[at:len(b.buf):len(b.buf)])
		b.heads = append(b.heads, storedHead{Seq(be.Uint64(key)), n, head})
		return err
	}
	defer func() { w.record = nil }()
	for i, l := range leaves {
		var lo, hi []byte
		if lo = seqKey(l.lo); i+1 < len(leaves) {
			hi = seqKey(leaves[i+1].lo)
		}
		w.tree(l.page, false, lo, hi, 1)
		if w.stop {
			break
		}
	}
	if b == nil {
		return
	}
	if b.err = w.err; b.err == nil {
		b.err = h.fault
	}
	r.full <- b // there is room for all batches
}

// pass hands a batch over and waits for an empty one; nil when nobody reads on.
func (r *headReader) pass(b *headBatch) *headBatch {
	r.full <- b
	select {
	case b = <-r.empty:
		b.heads, b.buf = b.heads[:0], b.buf[:0]
		return b
	case <-r.quit:
		return nil
	}
}

// next returns the next heads, which are valid until it is called again; none is the end.
func (r *headReader) next() ([]storedHead, error) {
	if r.last != nil {
		r.empty <- r.last
		r.last = nil
	}
	b := <-r.full
	if b == nil {
		return nil, nil
	}
	r.last = b
	return b.heads, b.err
}

// stop ends a reader that is not at its end.
func (r *headReader) stop() {
	close(r.quit)
	for range r.full { // until it has ended
	}
}
