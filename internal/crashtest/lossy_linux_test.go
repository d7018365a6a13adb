//go:build amd64 || arm64

package crashtest

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// lossyDisk is a file system in memory behind FUSE that knows what was synced: a file's content by fsync of the file, a name by
// fsync of its directory. cut leaves that, and of the rest nothing, all, or a random part. It shares no code with vfs/crashfs, and
// sees what the kernel sees, whoever calls it: it is the second opinion of T-POWER (reliability.md §3.2b).
type lossyDisk struct {
	fuse.RawFileSystem
	nodes map[uint64]*inode // by number; those without a name stay, somebody may have them open
	next  uint64
	dirs  map[uint64][]fuse.DirEntry // what open directories held when they were opened
	fh    uint64
	lost  int // changes that the last cut has not kept
}

// inode is a file or directory.
type inode struct {
	id   uint64
	mode uint32

	data []byte // as it is
	safe []byte // as it was at the last sync
	late []change

	kids, safeKids map[string]*inode
	lateNames      []naming
}

// change is a write, or a change of size when b is nil.
type change struct {
	at int64
	b  []byte
}

// naming gives an inode a name, takes a name away, or both at once (rename).
type naming struct {
	drop, add string
	node      *inode
}

func newLossyDisk() *lossyDisk {
	d := &lossyDisk{RawFileSystem: fuse.NewDefaultRawFileSystem()}
	d.adopt(d.make(syscall.S_IFDIR | 0o755))
	return d
}

func (d *lossyDisk) make(mode uint32) *inode {
	n := &inode{mode: mode}
	if n.dir() {
		n.kids, n.safeKids = map[string]*inode{}, map[string]*inode{}
	}
	return n
}

// adopt numbers a tree anew, for a new mount. The root has number 1.
func (d *lossyDisk) adopt(root *inode) {
	d.nodes, d.next, d.dirs = map[uint64]*inode{}, 0, map[uint64][]fuse.DirEntry{}
	d.number(root)
}

func (d *lossyDisk) number(n *inode) {
	d.next++
	n.id = d.next
	d.nodes[n.id] = n
	for _, k := range n.kids {
		d.number(k)
	}
}

func (n *inode) dir() bool { return n.mode&syscall.S_IFMT == syscall.S_IFDIR }

func (c change) apply(b []byte) []byte {
	if c.b == nil {
		if int64(len(b)) > c.at {
			return b[:c.at:c.at]
		}
		return append(b, make([]byte, c.at-int64(len(b)))...)
	}
	if end := c.at + int64(len(c.b)); int64(len(b)) < end {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	copy(b[c.at:], c.b)
	return b
}

func (n *inode) change(c change) {
	n.data = c.apply(n.data)
	n.late = append(n.late, c)
}

func (g naming) apply(kids map[string]*inode) {
	delete(kids, g.drop)
	if g.add != "" {
		kids[g.add] = g.node
	}
}

func (n *inode) name(g naming) {
	g.apply(n.kids)
	n.lateNames = append(n.lateNames, g)
}

// cut is the loss of power. The disk has no other users then.
func (d *lossyDisk) cut(rnd *rand.Rand) {
	d.lost = 0
	root := d.nodes[1]
	d.survive(root, rnd, rnd.IntN(4))
	d.adopt(root)
}

// survive leaves of a tree what a cut leaves: how 0 nothing that was not synced, 1 all, else a part: of names those that came
// first, of changes of files any, the last of them torn at a sector.
func (d *lossyDisk) survive(n *inode, rnd *rand.Rand, how int) {
	keep := func(of int) int { return []int{0, of, rnd.IntN(of + 1)}[min(how, 2)] }
	if n.dir() {
		names := keep(len(n.lateNames))
		d.lost += len(n.lateNames) - names
		for _, g := range n.lateNames[:names] {
			g.apply(n.safeKids)
		}
		n.kids, n.lateNames = n.safeKids, nil
		n.safeKids = map[string]*inode{}
		for name, k := range n.kids {
			n.safeKids[name] = k
			d.survive(k, rnd, how)
		}
		return
	}
	for i, c := range n.late {
		switch {
		case how == 1 || how > 1 && rnd.IntN(2) == 0:
		case how > 1 && i == len(n.late)-1 && len(c.b) > 512:
			c.b = c.b[:512*(1+rnd.IntN(len(c.b)/512))]
			d.lost++
		default:
			d.lost++
			continue
		}
		n.safe = c.apply(n.safe)
	}
	n.data, n.late = slices.Clone(n.safe), nil
}

func (n *inode) attr(a *fuse.Attr) {
	a.Ino, a.Mode, a.Nlink, a.Blksize = n.id, n.mode, 1, 4096
	a.Size, a.Blocks = uint64(len(n.data)), uint64(len(n.data)+511)/512
}

func (n *inode) entry(out *fuse.EntryOut) {
	out.NodeId, out.Generation = n.id, 1
	out.SetEntryTimeout(time.Hour)
	out.SetAttrTimeout(time.Hour)
	n.attr(&out.Attr)
}

func (d *lossyDisk) create(parent uint64, name string, mode uint32, out *fuse.EntryOut) fuse.Status {
	n := d.make(mode)
	d.number(n)
	d.nodes[parent].name(naming{add: name, node: n})
	n.entry(out)
	return fuse.OK
}

// What the kernel asks for, one call at a time.

func (d *lossyDisk) Lookup(_ <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	n := d.nodes[h.NodeId].kids[name]
	if n == nil {
		return fuse.ENOENT
	}
	n.entry(out)
	return fuse.OK
}

func (d *lossyDisk) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.SetTimeout(time.Hour)
	d.nodes[in.NodeId].attr(&out.Attr)
	return fuse.OK
}

func (d *lossyDisk) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	n := d.nodes[in.NodeId]
	if size, ok := in.GetSize(); ok && int(size) != len(n.data) {
		n.change(change{at: int64(size)})
	}
	if mode, ok := in.GetMode(); ok {
		n.mode = n.mode&syscall.S_IFMT | mode
	}
	out.SetTimeout(time.Hour)
	n.attr(&out.Attr)
	return fuse.OK
}

func (d *lossyDisk) Mknod(_ <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	return d.create(in.NodeId, name, in.Mode, out)
}

func (d *lossyDisk) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	return d.create(in.NodeId, name, in.Mode&0o7777|syscall.S_IFDIR, out)
}

func (d *lossyDisk) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	return d.create(in.NodeId, name, in.Mode, &out.EntryOut)
}

func (d *lossyDisk) Unlink(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	d.nodes[h.NodeId].name(naming{drop: name})
	return fuse.OK
}

func (d *lossyDisk) Rmdir(_ <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	if len(d.nodes[h.NodeId].kids[name].kids) > 0 {
		return fuse.Status(syscall.ENOTEMPTY)
	}
	d.nodes[h.NodeId].name(naming{drop: name})
	return fuse.OK
}

// Rename is within one directory: nobody needs another one here.
func (d *lossyDisk) Rename(_ <-chan struct{}, in *fuse.RenameIn, old, name string) fuse.Status {
	if in.Newdir != in.NodeId || in.Flags != 0 {
		return fuse.Status(syscall.EXDEV)
	}
	n := d.nodes[in.NodeId]
	n.name(naming{drop: old, add: name, node: n.kids[old]})
	return fuse.OK
}

func (d *lossyDisk) Open(_ <-chan struct{}, in *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	return fuse.OK
}

func (d *lossyDisk) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	data := d.nodes[in.NodeId].data
	return fuse.ReadResultData(buf[:copy(buf, data[min(in.Offset, uint64(len(data))):])]), fuse.OK
}

func (d *lossyDisk) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	d.nodes[in.NodeId].change(change{at: int64(in.Offset), b: slices.Clone(data)})
	return uint32(len(data)), fuse.OK
}

func (d *lossyDisk) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	n := d.nodes[in.NodeId]
	if in.Mode != 0 {
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	if end := int64(in.Offset + in.Length); end > int64(len(n.data)) {
		n.change(change{at: end})
	}
	return fuse.OK
}

func (d *lossyDisk) Fsync(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	n := d.nodes[in.NodeId]
	for _, c := range n.late {
		n.safe = c.apply(n.safe)
	}
	n.late = nil
	return fuse.OK
}

func (d *lossyDisk) FsyncDir(_ <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	n := d.nodes[in.NodeId]
	for _, g := range n.lateNames {
		g.apply(n.safeKids)
	}
	n.lateNames = nil
	return fuse.OK
}

func (d *lossyDisk) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	d.fh++
	out.Fh = d.fh
	for name, k := range d.nodes[in.NodeId].kids {
		d.dirs[out.Fh] = append(d.dirs[out.Fh], fuse.DirEntry{Name: name, Mode: k.mode, Ino: k.id})
	}
	return fuse.OK
}

func (d *lossyDisk) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, list *fuse.DirEntryList) fuse.Status {
	all := d.dirs[in.Fh]
	for _, e := range all[min(in.Offset, uint64(len(all))):] {
		if !list.AddDirEntry(e) {
			break
		}
	}
	return fuse.OK
}

func (d *lossyDisk) ReleaseDir(in *fuse.ReleaseIn) { delete(d.dirs, in.Fh) }

func (d *lossyDisk) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Blocks, out.Bfree, out.Bavail, out.Bsize, out.Frsize, out.NameLen = 1<<20, 1<<19, 1<<19, 4096, 4096, 255
	return fuse.OK
}
