package store

import "math"

// The room of a segment is allocated, but a file system notes for each page whether anything was ever written there, and a sync that
// changes such notes is dear: on ext4 it takes half as long again once a batch is longer than a page. So, along with a small sync from time
// to time, the pages that come next are filled with zeros, which is what they read as anyway.
const (
	aheadMost = 256 << 10 // filled at a time
	filePage  = 4 << 10
	aheadBusy = 64 << 10 // a batch of more pays for the notes easily
)

var aheadZeros [aheadMost]byte

// fillAhead fills the pages behind the last frame of a batch of n bytes, unless they are. What fails here does no harm: it is not tried
// again in this segment.
func (w *logWriter) fillAhead(n int) {
	s := w.cur
	if s == nil || w.ended || n == 0 || n > aheadBusy || w.off <= s.filled {
		return
	}
	from := (w.off + filePage - 1) / filePage * filePage
	to := min(from+min(aheadMost, w.segSize/16), s.size)
	if from < to {
		if _, err := s.f.WriteAt(aheadZeros[:to-from], from); err != nil {
			to = math.MaxInt64
		}
	}
	s.filled = to
}
