package store

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// The page walk reads the state file with plain reads and checks everything that bbolt, which maps the file, takes on
// trust: page numbers, kinds, counts, lengths, order of keys, and that each page is used once. A page's cells lie
// without gaps, and no page is without cells, so a changed count or length cannot hide a record. Nor can a changed name of a bucket or a
// key: records of tables are checked by their checksums here, those of messages when they are read.

const (
	pageHeaderLen = 16
	cellLen       = 16 // of a branch or leaf element
	bucketHdrLen  = 16 // root page u64 | sequence u64
	flagBranch    = 0x01
	flagLeaf      = 0x02
	flagMeta      = 0x04
	boltMagic     = 0xED0CDAED
	boltVersion   = 2
	maxPageSize   = 64 << 10
	maxTreeDepth  = 64
	readAhead     = 64 << 10 // of a page with overflow so much is read at once
)

// Problem is one fault that Check found.
type Problem struct {
	File  string
	Where string // offset, or table and key
	What  string
}

func (p Problem) String() string { return p.File + ": " + p.Where + ": " + p.What }

// pageDepth says how much of a state file is walked.
type pageDepth uint8

const (
	// everyPage is what a start reads that does not know how the file was left.
	everyPage pageDepth = iota
	// noMessageLeaves leaves out the leaves with heads and bodies, which are most of a file. It is enough when "clean"
	// says that the file is as a commit left it: Live looks at the leaves with heads in the same way, a body is read
	// through its own checksum, and one that is missing is missed by its head.
	noMessageLeaves
	// strictly finds a damaged meta page a fault, though the other one will do.
	strictly
)

// verifyPages returns the first structural fault of a state file as an ErrCorrupt.
func verifyPages(nat vfs.Native, path string, depth pageDepth) error {
	var first *Problem
	err := walkPages(nat, path, depth, func(p Problem) bool {
		first = &p
		return false
	})
	if err != nil {
		return fmt.Errorf("store: read %s: %w", path, err)
	}
	if first != nil {
		return &corruption{*first}
	}
	return nil
}

type pageWalk struct {
	f      *os.File
	path   string
	size   int64
	page   int64
	high   uint64 // pages from here on are not in use
	seen   []uint64
	unread []uint64 // nil, or: of seen, leaves that were not looked at: their overflow may follow
	depth  pageDepth
	report func(Problem) bool
	stop   bool

	txid     uint64 // of the newer meta page
	free     uint64 // page of the free list, noFreelist when there is none
	branches bool   // in a tree whose leaves are left out
	kind     uint16 // of the page that cells ended with

	bucket []byte // whose cells are looked at; nil: of the file, or it was not asked

	leaf   func(id uint64, lo []byte)  // not nil: is told the leaves of a bucket, which are not looked at
	record func(key, val []byte) error // not nil: takes the records of the leaves; what it says stops the walk
	err    error                       // of record

	levels []*level

	ahead, aheadBuf []byte // what read has at hand
	aheadOff        int64
}

// walkPages calls report for every fault until it returns false. The error is one of reading, not of the content.
func walkPages(nat vfs.Native, path string, depth pageDepth, report func(Problem) bool) error {
	w, root, err := newPageWalk(nat, path, depth, report)
	if err != nil {
		return err
	}
	defer w.f.Close()
	if root == 0 {
		return nil
	}
	w.tree(root, true, nil, nil, 0)
	w.freelist()
	return nil
}

// newPageWalk opens the file and reads its meta pages. root is 0 when both are bad, which was reported.
func newPageWalk(nat vfs.Native, path string, depth pageDepth, report func(Problem) bool) (w *pageWalk, root uint64, err error) {
	f, err := nat.OpenNative(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	w = &pageWalk{f: f, path: path, size: st.Size(), depth: depth, report: report}
	root, ok := w.metas()
	if !ok {
		return w, 0, nil
	}
	w.seen = make([]uint64, (w.high+63)/64)
	w.use(0, 2)
	return w, root, nil
}

// fault reports; it always returns false so that callers can return it.
func (w *pageWalk) fault(off int64, format string, args ...any) bool {
	if !w.stop {
		w.stop = !w.report(Problem{w.path, fmt.Sprintf("offset %d", off), fmt.Sprintf(format, args...)})
	}
	return false
}

// metas reads the two meta pages and picks the newer one.
func (w *pageWalk) metas() (root uint64, ok bool) {
	buf := make([]byte, maxPageSize+pageHeaderLen+64)
	n, err := w.f.ReadAt(buf, 0)
	if err != nil && err != io.EOF {
		return 0, w.fault(0, "cannot be read: %v", err)
	}
	buf = buf[:n]
	if len(buf) >= pageHeaderLen+64 {
		w.page = int64(le.Uint32(buf[pageHeaderLen+8:]))
	}
	if w.page < 1024 || w.page > maxPageSize || w.page&(w.page-1) != 0 {
		w.page = int64(os.Getpagesize()) // the first meta is bad: the second lies where the system puts it
	}
	m0, ok0 := w.meta(buf, 0)
	m1, ok1 := w.meta(buf, w.page)
	if w.depth == strictly && ok0 != ok1 {
		// A power cut in the middle of a commit leaves this, and it heals with the second commit after it.
		w.fault(0, "one of the two meta pages is damaged: the state before or after the last commit is used")
	}
	switch {
	case ok1 && (!ok0 || m1.txid > m0.txid):
		root, w.high, w.free, w.txid = m1.root, m1.high, m1.free, m1.txid
	case ok0:
		root, w.high, w.free, w.txid = m0.root, m0.high, m0.free, m0.txid
	default:
		return 0, w.fault(0, "both meta pages are damaged")
	}
	if w.high < 3 || int64(w.high) > w.size/w.page {
		return 0, w.fault(0, "%d pages in use, the file holds %d", w.high, w.size/w.page)
	}
	return root, true
}

// metaPage is what a meta page says.
type metaPage struct{ txid, root, high, free uint64 }

func (w *pageWalk) meta(buf []byte, at int64) (m metaPage, ok bool) {
	if at+pageHeaderLen+64 > int64(len(buf)) {
		return m, w.fault(at, "the file ends before the meta page")
	}
	head := buf[at:]
	if w.depth == strictly && (le.Uint64(head) != uint64(at/w.page) || le.Uint16(head[8:]) != flagMeta) {
		// Nothing reads this but a check: the meta page behind it has a checksum of its own.
		w.fault(at, "the header of meta page %d is damaged: a commit writes it anew", at/w.page)
	}
	return parseMeta(buf[at+pageHeaderLen:][:64])
}

// metaFaults are the faults of the meta pages that a start gets over.
func metaFaults(nat vfs.Native, path string) (out []Problem, err error) {
	w, _, err := newPageWalk(nat, path, strictly, func(p Problem) bool {
		out = append(out, p)
		return true
	})
	if err != nil {
		return nil, err
	}
	return out, w.f.Close()
}

func parseMeta(b []byte) (m metaPage, ok bool) {
	h := fnv.New64a()
	h.Write(b[:56])
	if le.Uint32(b) != boltMagic || le.Uint32(b[4:]) != boltVersion || le.Uint64(b[56:]) != h.Sum64() {
		return m, false
	}
	return metaPage{txid: le.Uint64(b[48:]), root: le.Uint64(b[16:]), high: le.Uint64(b[40:]), free: le.Uint64(b[32:])}, true
}

// use marks n pages; false when one of them is in use already or does not exist.
func (w *pageWalk) use(id, n uint64) bool {
	if n == 0 || id+n < id || id+n > w.high {
		return false
	}
	for ; n > 0; id, n = id+1, n-1 {
		if w.seen[id/64]&(1<<(id%64)) != 0 {
			return false
		}
		w.seen[id/64] |= 1 << (id % 64)
	}
	return true
}

// pass marks a leaf that is not looked at.
func (w *pageWalk) pass(p *pageData, id uint64) bool {
	if id < 2 || !w.use(id, 1) {
		return w.fault(p.off, "page %d is used twice or does not exist", id)
	}
	if w.unread == nil {
		w.unread = make([]uint64, len(w.seen))
	}
	w.unread[id/64] |= 1 << (id % 64)
	return true
}

// pageData reads parts of a page; what is beyond the read-ahead is fetched when asked for.
type pageData struct {
	w    *pageWalk
	off  int64
	size int64
	buf  []byte

	inline bool // it lies inside another page, and is just as long as its cells take
}

func (p *pageData) bytes(at, n int64) ([]byte, bool) {
	if at < 0 || n < 0 || at+n > p.size {
		return nil, false
	}
	if at+n <= int64(len(p.buf)) {
		return p.buf[at : at+n : at+n], true
	}
	b := make([]byte, n)
	if _, err := p.w.f.ReadAt(b, p.off+at); err != nil {
		return nil, p.w.fault(p.off+at, "cannot be read: %v", err)
	}
	return b, true
}

// read returns bytes that are good until the next call. Neighbours of the last page are likely to be asked for next:
// they are read in one go.
func (w *pageWalk) read(off, n int64) ([]byte, error) {
	if at := off - w.aheadOff; at >= 0 && at+n <= int64(len(w.ahead)) {
		return w.ahead[at : at+n : at+n], nil
	}
	want := n
	if d := off - w.aheadOff; d >= 0 && d < 4*readAhead {
		want = min(readAhead, w.size-off)
	}
	if w.aheadBuf == nil {
		w.aheadBuf = make([]byte, max(readAhead, w.page))
	}
	w.ahead, w.aheadOff = w.aheadBuf[:max(want, n)], off
	if _, err := w.f.ReadAt(w.ahead, off); err != nil {
		w.ahead = nil
		return nil, err
	}
	return w.ahead[:n:n], nil
}

// tree checks the page id and what hangs on it. All keys are in [lo, hi).
func (w *pageWalk) tree(id uint64, top bool, lo, hi []byte, depth int) {
	off := int64(id) * w.page
	if w.stop {
		return
	}
	if id < 2 || id >= w.high {
		w.fault(off, "page %d does not exist", id)
		return
	}
	if depth > maxTreeDepth {
		w.fault(off, "page %d: the tree is too deep", id)
		return
	}
	buf, err := w.read(off, w.page)
	if err != nil {
		w.fault(off, "page %d cannot be read: %v", id, err)
		return
	}
	if got := le.Uint64(buf); got != id {
		w.fault(off, "page %d says it is page %d", id, got)
		return
	}
	if w.leaf != nil && le.Uint16(buf[8:]) == flagLeaf {
		w.kind = flagLeaf
		w.leaf(id, lo)
		return
	}
	pages := 1 + uint64(le.Uint32(buf[12:]))
	if !w.use(id, pages) {
		w.fault(off, "page %d with %d pages runs into another or out of the file", id, pages)
		return
	}
	p := &pageData{w: w, off: off, size: int64(pages) * w.page, buf: buf}
	if pages > 1 {
		p.buf = make([]byte, min(p.size, readAhead))
		if _, err := w.f.ReadAt(p.buf, off); err != nil {
			w.fault(off, "page %d cannot be read: %v", id, err)
			return
		}
	} else if top || le.Uint16(buf[8:]) != flagLeaf {
		l := w.level(depth)
		l.page = append(l.page[:0], buf...) // other pages are read while this one is looked at
		p.buf = l.page
	}
	w.cells(p, top, lo, hi, depth)
}

// level is what the page at one depth of the walk needs; it is used again for the next one there.
type level struct {
	page     []byte
	children []child
}

func (w *pageWalk) level(depth int) *level {
	for len(w.levels) <= depth {
		w.levels = append(w.levels, &level{})
	}
	return w.levels[depth]
}

// cells checks the cells of a page, inline or not, and follows them.
func (w *pageWalk) cells(p *pageData, top bool, lo, hi []byte, depth int) {
	flags, table, ok := w.cellTable(p, top)
	if ok && w.cellData(p, flags, table, top, lo, hi, depth) && w.follow(p, flags, top, hi, depth) {
		w.kind = flags
	}
}

// cellTable is the kind of a page, and the part of it that says where its cells lie.
func (w *pageWalk) cellTable(p *pageData, top bool) (flags uint16, table []byte, ok bool) {
	flags, count := le.Uint16(p.buf[8:]), int64(le.Uint16(p.buf[10:]))
	switch {
	case flags != flagLeaf && flags != flagBranch:
		return 0, nil, w.fault(p.off, "page kind %#x", flags)
	case flags == flagBranch && w.record != nil:
		return 0, nil, w.fault(p.off, "a branch page among the leaves")
	case flags == flagBranch && count == 0:
		return 0, nil, w.fault(p.off, "branch page without children")
	case flags == flagLeaf && count == 0 && !p.inline && !top: // a bucket that is empty lies inside another page
		return 0, nil, w.fault(p.off, "leaf page without cells")
	}
	if table, ok = p.bytes(pageHeaderLen, count*cellLen); !ok {
		return 0, nil, w.fault(p.off, "%d cells do not fit in the page", count)
	}
	return flags, table, true
}

// cellData checks keys and records, and notes those cells in the level that are to be followed.
func (w *pageWalk) cellData(p *pageData, flags uint16, table []byte, top bool, lo, hi []byte, depth int) bool {
	at := pageHeaderLen + int64(len(table)) // where the next cell's data must lie
	var last []byte
	children := w.level(depth).children[:0]
	for i := range int64(len(table)) / cellLen {
		c := cellAt(table[i*cellLen:], flags)
		if pageHeaderLen+i*cellLen+c.pos != at {
			return w.fault(p.off, "cell %d lies at %d, not at %d", i, pageHeaderLen+i*cellLen+c.pos, at)
		}
		key, ok := p.bytes(at, c.keyLen)
		if !ok || at+c.keyLen+c.valLen > p.size {
			return w.fault(p.off, "cell %d runs out of the page", i)
		}
		if (i > 0 && bytes.Compare(last, key) >= 0) || bytes.Compare(key, lo) < 0 || (hi != nil && bytes.Compare(key, hi) >= 0) {
			return w.fault(p.off, "cell %d: key %x is out of order", i, key)
		}
		last = key
		c.key, c.at = key, at+c.keyLen
		switch {
		case flags == flagLeaf && (c.badFlag || c.bucket != top):
			return w.fault(p.off+c.at, "cell with key %x is of the wrong kind", c.key)
		case flags == flagBranch || c.bucket:
			children = append(children, c)
		case w.record != nil:
			if val, ok := p.bytes(c.at, c.valLen); !ok {
				return false
			} else if w.err = w.record(key, val); w.err != nil {
				w.stop = true
				return false
			}
		case sealedHere(w.bucket):
			if !w.sealed(p, c) {
				return false
			}
		}
		at += c.keyLen + c.valLen
	}
	if p.inline && at != p.size {
		return w.fault(p.off+at, "%d bytes behind the last cell", p.size-at)
	}
	w.level(depth).children = children
	return true
}

// follow walks through the children that cellData has noted.
func (w *pageWalk) follow(p *pageData, flags uint16, top bool, hi []byte, depth int) bool {
	children := w.level(depth).children
	for i, c := range children {
		if flags == flagLeaf {
			w.bucketCell(p, c, depth)
			continue
		}
		if i > 0 && w.kind == flagLeaf { // its neighbours are leaves too: all are equally deep
			if w.branches {
				if !w.pass(p, c.page) {
					return false
				}
				continue
			}
			if w.leaf != nil {
				w.leaf(c.page, c.key)
				continue
			}
		}
		end := hi
		if i+1 < len(children) {
			end = children[i+1].key
		}
		w.tree(c.page, top, c.key, end, depth+1)
	}
	return true
}

// sealedHere says whether the walk looks at the checksums of a bucket's records: those of messages are looked at when the queues are
// loaded, but of the others nobody asks for what has lost its name.
func sealedHere(bucket []byte) bool {
	return len(bucket) > 0 && bucket[0] != bucketHead && bucket[0] != bucketBody
}

// sealed checks a record by its checksum, which covers its key and the bucket's name.
func (w *pageWalk) sealed(p *pageData, c child) bool {
	rec, ok := p.bytes(c.at, c.valLen)
	if !ok {
		return false
	}
	if w.bucket[0] == bucketTable && (len(c.key) == 0 || c.key[0] != 'k') {
		return w.fault(p.off+c.at, "%s: not a table key", placeOf(w.bucket, c.key))
	}
	_, err := openRecord(w.path, w.bucket, c.key, rec)
	if err == nil {
		return true
	}
	var ce *corruption
	if !errors.As(err, &ce) {
		return w.fault(p.off+c.at, "%v", err)
	}
	return w.fault(p.off+c.at, "%s: %s", ce.Where, ce.What)
}

// knownBucket says whether a bucket of this name is any.
func knownBucket(name []byte) bool {
	switch {
	case len(name) == 2 && name[0] == bucketTable, string(name) == bucketLog:
		return true
	}
	return len(name) == 5 && (name[0] == bucketHead || name[0] == bucketBody)
}

// child is a decoded cell.
type child struct {
	pos, keyLen, valLen int64
	page                uint64
	bucket              bool
	badFlag             bool
	key                 []byte
	at                  int64 // of the value in the page
}

func cellAt(b []byte, flags uint16) child {
	if flags == flagBranch {
		return child{pos: int64(le.Uint32(b)), keyLen: int64(le.Uint32(b[4:])), page: le.Uint64(b[8:])}
	}
	f := le.Uint32(b)
	return child{bucket: f == 1, badFlag: f > 1, pos: int64(le.Uint32(b[4:])), keyLen: int64(le.Uint32(b[8:])),
		valLen: int64(le.Uint32(b[12:]))}
}

// bucketCell follows a bucket. The root holds buckets only, the buckets hold records only.
func (w *pageWalk) bucketCell(p *pageData, c child, depth int) {
	head, ok := p.bytes(c.at, bucketHdrLen)
	if !ok || c.valLen < bucketHdrLen {
		w.fault(p.off+c.at, "bucket %q has no header", c.key)
		return
	}
	if !knownBucket(c.key) {
		w.fault(p.off+c.at, "bucket %q is unknown", c.key)
		return
	}
	w.bucket = c.key
	defer func() { w.bucket = nil }()
	if root := le.Uint64(head); root != 0 {
		if c.valLen != bucketHdrLen {
			w.fault(p.off+c.at, "bucket %q has %d bytes too many", c.key, c.valLen-bucketHdrLen)
			return
		}
		w.branches = w.depth == noMessageLeaves && len(c.key) > 0 && (c.key[0] == bucketBody || c.key[0] == bucketHead)
		w.tree(root, false, nil, nil, depth+1)
		w.branches = false
		return
	}
	body, ok := p.bytes(c.at+bucketHdrLen, c.valLen-bucketHdrLen)
	if !ok || len(body) < pageHeaderLen || le.Uint16(body[8:]) != flagLeaf {
		w.fault(p.off+c.at, "inline bucket %q is damaged", c.key)
		return
	}
	inline := &pageData{w: w, off: p.off + c.at + bucketHdrLen, size: int64(len(body)), buf: body, inline: true}
	w.cells(inline, false, nil, nil, depth+1)
}
