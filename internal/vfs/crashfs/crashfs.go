// Package crashfs is a disk in memory that can lose power.
//
// It keeps, for every file, what was synced and the writes since; for every directory, what SyncDir made durable and
// the creations, renames and removals since. Crash gives the disk as it may look afterwards: of the unsynced writes
// none, all, or a random part with torn sectors; of a directory's unsynced changes some prefix.
//
// A file opened by OpenNative is a real file under a scratch directory. Its durable content is what it held when the
// last Durable returned; a crash inside Durable leaves a mixture that bbolt's own order of syncs allows.
package crashfs

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"syscall"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// ErrCrashed answers every change after the crash point.
var ErrCrashed = errors.New("crashfs: the power is off")

// Keep says what of the unsynced writes survives.
type Keep int

const (
	None Keep = iota
	All
	Random
)

// FS is one disk. It implements vfs.FS and vfs.Native.
type FS struct {
	mu      sync.Mutex
	scratch string
	serial  int
	now     map[string]*inode // the names as programs see them; directories have dir set
	durable map[string]*inode
	pending map[string][]change // by directory, since its last SyncDir
	locked  map[string]bool
	ops     int
	crashAt int
	dead    bool
}

type inode struct {
	dir    bool
	cur    []byte
	dur    []byte
	writes []write
	native string // path of the real file
	before []byte // of a native file: content when the commit began that the crash interrupted
	torn   bool
}

// write is a change of a file's content that was not synced yet.
type write struct {
	off   int64
	data  []byte
	trunc bool // size = off
	grow  bool // size >= off
}

// change is a change of a directory that was not synced yet.
type change struct {
	name string
	node *inode // nil = removed
	from string // renamed from this name in the same directory
}

// New makes an empty disk. Native files are put below scratch.
func New(scratch string) *FS {
	return &FS{scratch: scratch, now: map[string]*inode{}, durable: map[string]*inode{},
		pending: map[string][]change{}, locked: map[string]bool{}}
}

// CrashAt lets the power fail just before the n-th change from now (1 = the next one); 0 = never.
func (d *FS) CrashAt(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crashAt = 0
	if n > 0 {
		d.crashAt = d.ops + n
	}
}

// Ops counts the changes so far: writes, syncs, creations, renames, removals.
func (d *FS) Ops() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ops
}

// Dead reports whether the crash point was reached.
func (d *FS) Dead() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

// step counts a change; d.mu is held.
func (d *FS) step() error {
	if d.dead {
		return ErrCrashed
	}
	d.ops++
	if d.ops == d.crashAt {
		d.dead = true
		return ErrCrashed
	}
	return nil
}

func pathErr(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// OpenFile implements vfs.FS.
func (d *FS) OpenFile(name string, flag int, _ fs.FileMode) (vfs.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.open(name, flag)
	if err != nil {
		return nil, err
	}
	if n.native != "" {
		return nil, pathErr("open", name, errors.New("a native file"))
	}
	return &file{d: d, n: n, name: name}, nil
}

func (d *FS) open(name string, flag int) (*inode, error) {
	n := d.now[name]
	switch {
	case n == nil && flag&os.O_CREATE == 0:
		return nil, pathErr("open", name, fs.ErrNotExist)
	case n != nil && n.dir:
		return nil, pathErr("open", name, syscall.EISDIR)
	case n != nil && flag&os.O_EXCL != 0:
		return nil, pathErr("open", name, fs.ErrExist)
	case n == nil:
		if err := d.step(); err != nil {
			return nil, err
		}
		n = &inode{}
		d.now[name] = n
		d.note(name, change{name: name, node: n})
	}
	if flag&os.O_TRUNC != 0 && len(n.cur) > 0 {
		if err := d.step(); err != nil {
			return nil, err
		}
		n.apply(write{trunc: true})
	}
	return n, nil
}

func (d *FS) note(name string, c change) {
	dir := filepath.Dir(name)
	d.pending[dir] = append(d.pending[dir], c)
}

func (n *inode) apply(w write) {
	n.cur = w.on(n.cur)
	n.writes = append(n.writes, w)
}

// on plays w on a content.
func (w write) on(b []byte) []byte {
	switch {
	case w.trunc && int64(len(b)) > w.off:
		return b[:w.off:w.off]
	case w.trunc || w.grow:
		return grown(b, w.off)
	}
	b = grown(b, w.off+int64(len(w.data)))
	copy(b[w.off:], w.data)
	return b
}

func grown(b []byte, size int64) []byte {
	if n := size - int64(len(b)); n > 0 {
		b = append(b, make([]byte, n)...)
	}
	return b
}

// Rename implements vfs.FS.
func (d *FS) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.now[from]
	if n == nil {
		return pathErr("rename", from, fs.ErrNotExist)
	}
	if filepath.Dir(from) != filepath.Dir(to) || n.dir {
		return pathErr("rename", from, errors.New("crashfs renames files within a directory only"))
	}
	if err := d.step(); err != nil {
		return err
	}
	delete(d.now, from)
	d.now[to] = n
	d.note(to, change{name: to, node: n, from: from})
	return nil
}

// Remove implements vfs.FS.
func (d *FS) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.remove(name)
}

func (d *FS) remove(name string) error {
	if d.now[name] == nil {
		return pathErr("remove", name, fs.ErrNotExist)
	}
	if err := d.step(); err != nil {
		return err
	}
	delete(d.now, name)
	d.note(name, change{name: name})
	return nil
}

// RemoveAll implements vfs.FS.
func (d *FS) RemoveAll(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.below(name) {
		if err := d.remove(p); err != nil {
			return err
		}
	}
	return nil
}

// below lists name and all under it, the deepest first.
func (d *FS) below(name string) []string {
	var out []string
	for p := range d.now {
		if p == name || (len(p) > len(name) && p[:len(name)] == name && p[len(name)] == '/') {
			out = append(out, p)
		}
	}
	sort.Sort(sort.Reverse(sort.StringSlice(out)))
	return out
}

// MkdirAll implements vfs.FS.
func (d *FS) MkdirAll(name string, perm fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mkdirAll(name)
}

func (d *FS) mkdirAll(name string) error {
	if n := d.now[name]; n != nil || name == "/" || name == "." {
		if n != nil && !n.dir {
			return pathErr("mkdir", name, syscall.ENOTDIR)
		}
		return nil
	}
	if err := d.mkdirAll(filepath.Dir(name)); err != nil {
		return err
	}
	if err := d.step(); err != nil {
		return err
	}
	n := &inode{dir: true}
	d.now[name] = n
	d.note(name, change{name: name, node: n})
	return nil
}

// List implements vfs.FS.
func (d *FS) List(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := d.now[dir]; n == nil || !n.dir {
		return nil, pathErr("open", dir, fs.ErrNotExist)
	}
	var out []string
	for p := range d.now {
		if filepath.Dir(p) == dir {
			out = append(out, filepath.Base(p))
		}
	}
	sort.Strings(out)
	return out, nil
}

// Stat implements vfs.FS.
func (d *FS) Stat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.now[name]
	if n == nil {
		return nil, pathErr("stat", name, fs.ErrNotExist)
	}
	return info{filepath.Base(name), int64(len(n.cur)), n.dir}, nil
}

// SyncDir implements vfs.FS.
func (d *FS) SyncDir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.step(); err != nil {
		return err
	}
	for _, c := range d.pending[dir] {
		c.on(d.durable)
	}
	delete(d.pending, dir)
	return nil
}

func (c change) on(names map[string]*inode) {
	if c.from != "" {
		delete(names, c.from)
	}
	if c.node == nil {
		delete(names, c.name)
	} else {
		names[c.name] = c.node
	}
}

// Lock implements vfs.FS.
func (d *FS) Lock(name string) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.locked[name] {
		return nil, pathErr("lock", name, vfs.ErrLocked)
	}
	d.locked[name] = true
	return unlock{d, name}, nil
}

type unlock struct {
	d    *FS
	name string
}

func (u unlock) Close() error {
	u.d.mu.Lock()
	defer u.d.mu.Unlock()
	delete(u.d.locked, u.name)
	return nil
}

// Free implements vfs.FS.
func (d *FS) Free(string) (uint64, error) { return 1 << 40, nil }

// OpenNative implements vfs.Native.
func (d *FS) OpenNative(name string, flag int, perm fs.FileMode) (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, err := d.open(name, flag)
	if err != nil {
		return nil, err
	}
	if n.native == "" {
		if len(n.cur) > 0 {
			return nil, pathErr("open", name, errors.New("not a native file"))
		}
		d.serial++
		n.native = filepath.Join(d.scratch, strconv.Itoa(d.serial))
	}
	return os.OpenFile(n.native, flag&^os.O_EXCL, perm)
}

// Durable implements vfs.Native.
func (d *FS) Durable(name string, commit func() error) error {
	d.mu.Lock()
	if d.dead {
		d.mu.Unlock()
		return ErrCrashed
	}
	crash := d.step() != nil
	n := d.now[name]
	d.mu.Unlock()
	err := commit()
	d.mu.Lock()
	defer d.mu.Unlock()
	if n == nil {
		n = d.now[name] // commit made it
	}
	if n == nil || n.native == "" {
		return errors.Join(err, pathErr("commit", name, errors.New("not a native file")))
	}
	content, rerr := os.ReadFile(n.native)
	if crash {
		if n.torn = err == nil && rerr == nil; n.torn {
			n.before, n.dur = n.dur, content
		}
		return ErrCrashed
	}
	if err == nil && rerr == nil {
		n.dur = content
	}
	return errors.Join(err, rerr)
}

// Crash returns the disk as it may be after the power came back. The rest of d is not usable any more.
func (d *FS) Crash(keep Keep, seed uint64, scratch string) (*FS, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead = true
	c := &crash{keep: keep, rnd: rand.New(rand.NewPCG(seed, 7))}
	names := c.names(d)
	out := New(scratch)
	paths := make([]string, 0, len(names))
	for p := range names {
		paths = append(paths, p)
	}
	sort.Strings(paths) // the random choices must not depend on the map's order
	for _, p := range paths {
		if dir := filepath.Dir(p); out.now[dir] == nil && dir != "/" && dir != "." {
			continue // its directory never became durable
		}
		n, err := c.node(names[p], out)
		if err != nil {
			return nil, err
		}
		out.now[p], out.durable[p] = n, n
	}
	return out, nil
}
