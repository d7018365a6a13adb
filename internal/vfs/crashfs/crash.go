package crashfs

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"time"
)

const (
	sector     = 512
	nativePage = 4096 // of bbolt's file; its first two are the meta pages
)

type crash struct {
	keep Keep
	rnd  *rand.Rand
}

// names picks the names that survive: for each directory the durable ones and a prefix of the changes since.
func (c *crash) names(d *FS) map[string]*inode {
	names := map[string]*inode{}
	for p, n := range d.durable {
		names[p] = n
	}
	dirs := make([]string, 0, len(d.pending))
	for dir := range d.pending {
		dirs = append(dirs, dir)
	}
	sort.Strings(dirs)
	for _, dir := range dirs {
		cs := d.pending[dir]
		n := 0
		switch c.keep {
		case All:
			n = len(cs)
		case Random:
			n = c.rnd.IntN(len(cs) + 1)
		}
		for _, ch := range cs[:n] {
			ch.on(names)
		}
	}
	return names
}

func (c *crash) node(n *inode, out *FS) (*inode, error) {
	if n.dir {
		return &inode{dir: true}, nil
	}
	if n.native == "" {
		b := c.content(n)
		return &inode{cur: b, dur: append([]byte{}, b...)}, nil
	}
	b := n.dur
	if n.torn {
		b = c.tornCommit(n.before, n.dur)
	}
	out.serial++
	real := filepath.Join(out.scratch, strconv.Itoa(out.serial))
	if err := os.WriteFile(real, b, 0o600); err != nil {
		return nil, err
	}
	return &inode{native: real, dur: b}, nil
}

// content plays the surviving writes on what was synced.
func (c *crash) content(n *inode) []byte {
	b := append([]byte{}, n.dur...)
	for _, w := range n.writes {
		switch {
		case c.keep == None:
		case c.keep == All:
			b = w.on(b)
		case c.rnd.IntN(2) == 0:
			if len(w.data) == 0 || c.rnd.IntN(2) == 0 {
				b = w.on(b)
			} else {
				b = c.tear(b, w)
			}
		}
	}
	return b
}

// tear plays a write sector by sector: each arrives, does not, or leaves zeros.
func (c *crash) tear(b []byte, w write) []byte {
	b = grown(b, w.off+int64(len(w.data)))
	for at := int64(0); at < int64(len(w.data)); {
		end := min((w.off+at)/sector*sector+sector-w.off, int64(len(w.data)))
		part := b[w.off+at : w.off+end]
		switch c.rnd.IntN(3) {
		case 0:
			copy(part, w.data[at:end])
		case 1:
			clear(part)
		}
		at = end
	}
	return b
}

// tornCommit mixes a bbolt file before and after a commit as its syncs allow: the meta page is written only when
// all other pages are down.
func (c *crash) tornCommit(before, after []byte) []byte {
	switch c.keep {
	case None:
		return before
	case All:
		return after
	}
	metas := int64(2 * nativePage)
	b := append([]byte{}, before...)
	if c.rnd.IntN(2) == 0 && int64(len(before)) >= metas {
		// Some data pages, the old metas.
		b = grown(b, int64(len(after)))
		for at := metas; at+sector <= int64(len(after)); at += sector {
			if c.rnd.IntN(2) == 0 {
				copy(b[at:at+sector], after[at:])
			}
		}
		return b
	}
	b = append(b[:0], after...)
	for at := int64(0); at+sector <= min(metas, int64(len(before))); at += sector {
		if c.rnd.IntN(2) == 0 {
			copy(b[at:at+sector], before[at:])
		}
	}
	return b
}

type file struct {
	d    *FS
	n    *inode
	name string
}

func (f *file) Name() string { return f.name }
func (f *file) Close() error { return nil }

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if off >= int64(len(f.n.cur)) {
		return 0, io.EOF
	}
	n := copy(b, f.n.cur[off:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (f *file) change(w write) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.step(); err != nil {
		return err
	}
	f.n.apply(w)
	return nil
}

func (f *file) WriteAt(b []byte, off int64) (int, error) {
	if err := f.change(write{off: off, data: append([]byte{}, b...)}); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (f *file) Truncate(size int64) error { return f.change(write{off: size, trunc: true}) }

func (f *file) Allocate(off, size int64) error { return f.change(write{off: off + size, grow: true}) }

func (f *file) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.d.step(); err != nil {
		return err
	}
	for _, w := range f.n.writes {
		f.n.dur = w.on(f.n.dur)
	}
	f.n.writes = nil
	return nil
}

func (f *file) Size() (int64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	return int64(len(f.n.cur)), nil
}

type info struct {
	name string
	size int64
	dir  bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.dir }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}
