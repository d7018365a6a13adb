package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// state is the bbolt file: tables, heads and bodies (docs/format/state.md). It knows no units and no log.
type state struct {
	fs   vfs.FS
	nat  vfs.Native
	path string
	db   *bolt.DB

	page   int          // bytes of a page
	mapped atomic.Int64 // bytes of bodies read since the last forget

	dir  string // where "clean" lies
	list uint8  // how much of the free list a commit writes down (clean.go)
}

const forgetAfter = 32 << 20

const (
	chunkKeys  = 512     // a walk copies so many entries,
	chunkBytes = 1 << 20 // or so many bytes, before it lets the file go
)

func boltOptions(nat vfs.Native, readOnly bool) *bolt.Options {
	return &bolt.Options{
		// The directory lock is ours; this one would only make a second opener wait.
		Timeout:        time.Second,
		NoFreelistSync: true,
		FreelistType:   bolt.FreelistMapType,
		ReadOnly:       readOnly,
		OpenFile: func(name string, flag int, perm os.FileMode) (*os.File, error) {
			return nat.OpenNative(name, flag, perm)
		},
	}
}

// createState makes an empty state file: under its name there is never a half-made one.
func createState(fsys vfs.FS, dir string) error {
	nat, ok := fsys.(vfs.Native)
	if !ok {
		return errors.New("store: this file system has no real files, bbolt needs one")
	}
	path := statePath(dir)
	tmp := path + ".new"
	if err := fsys.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := nat.Durable(tmp, func() error {
		db, err := bolt.Open(tmp, 0o600, boltOptions(nat, false))
		if err != nil {
			return err
		}
		return db.Close()
	})
	if err != nil {
		return fmt.Errorf("store: create %s: %w", path, err)
	}
	if err := fsys.Rename(tmp, path); err != nil {
		return fmt.Errorf("store: create %s: %w", path, err)
	}
	return fsys.SyncDir(dir)
}

// openState opens the state file. Before bbolt maps it, its structure is checked with plain reads: bbolt trusts
// what it maps, and a wrong page number would end the process. When "clean" fits, the pages with heads and bodies are left
// out: Live reads the former, and the start must not take longer the more there is of the latter.
func openState(fsys vfs.FS, dir string, readOnly bool) (*state, error) {
	nat, ok := fsys.(vfs.Native)
	if !ok {
		return nil, errors.New("store: this file system has no real files, bbolt needs one")
	}
	s := &state{fs: fsys, nat: nat, path: statePath(dir), dir: dir}
	depth := everyPage
	if endedCleanly(fsys, nat, dir) {
		depth = noMessageLeaves
	}
	if err := verifyPages(nat, s.path, depth); err != nil {
		return nil, err
	}
	err := guard(fsys, s.path, func() (err error) {
		s.db, err = bolt.Open(s.path, 0o600, boltOptions(nat, readOnly))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", s.path, err)
	}
	s.page = s.db.Info().PageSize // asked once: it looks at the map, which moves later
	s.forget()
	return s, nil
}

// spare tells how many bytes of the file are in no use: the next records go there first. The file shrinks at a
// start only (compactState).
func (s *state) spare() uint64 {
	return uint64(s.freePages()) * uint64(s.page)
}

func (s *state) freePages() int {
	st := s.db.Stats()
	return st.FreePageN + st.PendingPageN
}

// forget lets the system take back what was mapped: a walk over the whole file must not count as memory in use.
func (s *state) forget() {
	_ = s.db.View(func(tx *bolt.Tx) error { // the map does not move while a reader is there
		return dontNeed(s.db.Info().Data, tx.Size())
	})
}

// guard turns a panic of bbolt, or a fault in its map, into an error.
func guard(fsys vfs.FS, path string, fn func() error) (err error) {
	old := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(old)
		if p := recover(); p != nil {
			err = faultOf(fsys, path, p)
		}
	}()
	return fn()
}

// faultOf is ErrCorrupt, or ErrFull for a fault in the map on a full disk: a file system in memory may have no page then for a part of
// the file that nothing was written to.
func faultOf(fsys vfs.FS, path string, p any) error {
	if _, inMap := p.(interface{ Addr() uintptr }); inMap {
		if free, err := fsys.Free(filepath.Dir(path)); err == nil && free < uint64(os.Getpagesize()) {
			return fmt.Errorf("%w: %s cannot be read: %v", ErrFull, path, p)
		}
	}
	return corrupt(path, "bbolt", fmt.Sprint(p))
}

func (s *state) view(fn func(*bolt.Tx) error) error {
	return boltClosed(guard(s.fs, s.path, func() error { return s.db.View(fn) }))
}

// update runs fn in one bbolt transaction that is durable when update returns nil. fn may run twice.
func (s *state) update(fn func(*stateTx) error) error {
	listed, err := s.commit(fn, s.list)
	if isFull(err) && s.list != listNever {
		listed, err = s.commit(fn, listNever)
	}
	if err == nil && listed {
		s.sayClean(false)
	}
	return err
}

func (s *state) commit(fn func(*stateTx) error, list uint8) (listed bool, err error) {
	err = boltClosed(s.nat.Durable(s.path, func() error {
		return guard(s.fs, s.path, func() error {
			return s.db.Update(func(tx *bolt.Tx) error {
				t := &stateTx{tx: tx, buckets: map[string]*bolt.Bucket{}}
				err := fn(t)
				listed = listFree(list, t.last, s.freePages())
				s.db.NoFreelistSync = !listed // asked for at the end of Update, in this goroutine
				return err
			})
		})
	}))
	return listed, err
}

// sparePages are free in the state file after each checkpoint, so that one can take messages out of it on a full disk. bbolt writes each
// page that it changes to a free one, and gives up the old one when the next commit is over.
const (
	sparePages = 64
	leastPages = 32 // of them, for what gives pages back: who needs more than that does without
	spareKey   = "spare"
)

// keepSpare makes the file longer by what of sparePages is not free.
func (s *state) keepSpare() error {
	if s.freePages() >= sparePages {
		return nil
	}
	name, key := []byte(bucketLog), []byte(spareKey)
	err := s.update(func(t *stateTx) error {
		b, err := t.bucket(name, false)
		if b == nil && err == nil { // with it comes the place where the log goes on
			if err = t.setReplay(position{}); err == nil {
				b, err = t.bucket(name, true)
			}
		}
		if err != nil {
			return err
		}
		return b.Put(key, sealRecord(name, key, make([]byte, sparePages*s.page)))
	})
	if err != nil {
		return err
	}
	return s.update(func(t *stateTx) error {
		t.last = true
		b, err := t.bucket(name, true)
		if err != nil {
			return err
		}
		return b.Delete(key)
	})
}

func (s *state) close() error { return s.db.Close() }

// stateTx writes records in one bbolt transaction.
type stateTx struct {
	tx      *bolt.Tx
	buckets map[string]*bolt.Bucket
	last    bool   // of a checkpoint
	key     []byte // used again: bbolt copies keys, but not values
}

// bucket returns the bucket by name; with make false it may return nil.
func (t *stateTx) bucket(name []byte, make bool) (*bolt.Bucket, error) {
	if b := t.buckets[string(name)]; b != nil {
		return b, nil
	}
	b := t.tx.Bucket(name)
	if b == nil && make {
		var err error
		if b, err = t.tx.CreateBucket(name); err != nil {
			return nil, err
		}
	}
	if b != nil {
		if name[0] != bucketTable {
			b.FillPercent = 0.95 // keys only rise
		}
		t.buckets[string(name)] = b
	}
	return b, nil
}

func (t *stateTx) put(q QID, s Seq, head, body []byte) error {
	heads, bodies, key := queueBucket(bucketHead, q), queueBucket(bucketBody, q), seqKey(s)
	first := sealRecord(heads, key, le.AppendUint32(nil, uint32(len(body))), head)
	if len(body) == 0 {
		return t.putSealed(heads, bodies, s, first, nil)
	}
	return t.putSealed(heads, bodies, s, first, sealRecord(bodies, key, body))
}

// putSealed is put of records that have been made, which must stay as they are until the transaction is over; body is nil when there is none.
func (t *stateTx) putSealed(heads, bodies []byte, s Seq, head, body []byte) error {
	t.key = be.AppendUint64(t.key[:0], uint64(s))
	b, err := t.bucket(heads, true)
	if err != nil {
		return err
	}
	if err = b.Put(t.key, head); err != nil || body == nil {
		return err
	}
	if b, err = t.bucket(bodies, true); err != nil {
		return err
	}
	return b.Put(t.key, body)
}

func (t *stateTx) remove(q QID, s Seq) error {
	key := seqKey(s)
	for _, kind := range []byte{bucketHead, bucketBody} {
		b, err := t.bucket(queueBucket(kind, q), false)
		if err != nil {
			return err
		}
		if b != nil {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
	}
	return nil
}

// setHead does nothing when the message is not there: a unit may come behind the one that removed it.
func (t *stateTx) setHead(file string, q QID, s Seq, head []byte) error {
	name, key := queueBucket(bucketHead, q), seqKey(s)
	b, err := t.bucket(name, false)
	if err != nil || b == nil {
		return err
	}
	rec := b.Get(key)
	if rec == nil {
		return nil
	}
	val, err := openRecord(file, name, key, rec)
	if err != nil {
		return err
	}
	n, _, err := splitHead(file, name, key, val)
	if err != nil {
		return err
	}
	return b.Put(key, sealRecord(name, key, le.AppendUint32(nil, n), head))
}

func (t *stateTx) dropQueue(q QID) error {
	for _, kind := range []byte{bucketHead, bucketBody} {
		name := queueBucket(kind, q)
		delete(t.buckets, string(name))
		if t.tx.Bucket(name) == nil {
			continue
		}
		if err := t.tx.DeleteBucket(name); err != nil {
			return err
		}
	}
	return nil
}

func (t *stateTx) set(table Table, key, val []byte) error {
	name := tableBucket(table)
	b, err := t.bucket(name, true)
	if err != nil {
		return err
	}
	return b.Put(storedKey(key), sealRecord(name, storedKey(key), val))
}

// setSealed is set of a record that has been made, which must stay as it is until the transaction is over.
func (t *stateTx) setSealed(table Table, key, rec []byte) error {
	b, err := t.bucket(tableBucket(table), true)
	if err != nil {
		return err
	}
	t.key = append(append(t.key[:0], storedPrefix), key...)
	return b.Put(t.key, rec)
}

func (t *stateTx) unset(table Table, key []byte) error {
	b, err := t.bucket(tableBucket(table), false)
	if err != nil || b == nil {
		return err
	}
	return b.Delete(storedKey(key))
}

// storedKey prefixes a table key with a byte, because bbolt takes no empty key.
func storedKey(key []byte) []byte { return append([]byte{storedPrefix}, key...) }

const storedPrefix = 'k'

// apply writes the persistent part of one intent.
func (t *stateTx) apply(file string, o *op) error {
	switch {
	case o.kind == opSet:
		return t.set(o.table, o.a, o.b)
	case o.kind == opUnset:
		return t.unset(o.table, o.a)
	case o.kind == opDropQueue:
		return t.dropQueue(o.q)
	case !o.persistent:
		return nil
	case o.kind == opPut:
		return t.put(o.q, o.s, o.a, o.b)
	case o.kind == opRemove:
		return t.remove(o.q, o.s)
	case o.kind == opHead:
		return t.setHead(file, o.q, o.s, o.a)
	}
	return nil
}

func (s *state) get(table Table, key []byte) (out []byte, err error) {
	name := tableBucket(table)
	err = s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(name)
		if b == nil {
			return ErrNotFound
		}
		rec := b.Get(storedKey(key))
		if rec == nil {
			return ErrNotFound
		}
		val, err := openRecord(s.path, name, storedKey(key), rec)
		out = append([]byte{}, val...)
		return err
	})
	return out, err
}

func (s *state) read(q QID, sq Seq) (rec Rec, err error) {
	name, key := queueBucket(bucketHead, q), seqKey(sq)
	err = s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(name)
		if b == nil {
			return ErrNotFound
		}
		stored := b.Get(key)
		if stored == nil {
			return ErrNotFound
		}
		val, err := openRecord(s.path, name, key, stored)
		if err != nil {
			return err
		}
		n, head, err := splitHead(s.path, name, key, val)
		if err != nil {
			return err
		}
		body, err := s.body(tx, q, key, n)
		if err != nil {
			return err
		}
		rec = Rec{Head: append([]byte{}, head...), Body: append([]byte(nil), body...), Persistent: true}
		return nil
	})
	if s.mapped.Add(int64(len(rec.Body))+4096) > forgetAfter {
		s.mapped.Store(0)
		s.forget()
	}
	return rec, err
}

// body returns the stored body of n bytes; it aliases the map.
func (s *state) body(tx *bolt.Tx, q QID, key []byte, n uint32) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	name := queueBucket(bucketBody, q)
	b := tx.Bucket(name)
	var stored []byte
	if b != nil {
		stored = b.Get(key)
	}
	if stored == nil {
		return nil, corrupt(s.path, placeOf(name, key), "body is missing")
	}
	body, err := openRecord(s.path, name, key, stored)
	if err == nil && len(body) != int(n) {
		err = corrupt(s.path, placeOf(name, key), fmt.Sprintf("body has %d bytes, the head says %d", len(body), n))
	}
	return body, err
}

// queues lists the queues that have a bucket of heads.
func (s *state) queues() (out []QID, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
			if len(name) == 5 && name[0] == bucketHead {
				out = append(out, QID(be.Uint32(name[1:])))
			}
			return nil
		})
	})
	return out, err
}

type storedHead struct {
	s       Seq
	bodyLen uint32
	head    []byte
}

// heads returns the next messages of q from seq on; an empty answer is the end.
func (s *state) heads(q QID, from Seq) (out []storedHead, err error) {
	name := queueBucket(bucketHead, q)
	err = s.chunk(name, seqKey(from), nil, func(key, val []byte) error {
		if len(key) != 8 {
			return corrupt(s.path, placeOf(name, key), "key is not a message number")
		}
		n, head, err := splitHead(s.path, name, key, val)
		out = append(out, storedHead{Seq(be.Uint64(key)), n, append([]byte{}, head...)})
		return err
	})
	return out, err
}

type kv struct{ k, v []byte }

// entries returns the next entries of a table in [from, to); an empty answer is the end.
func (s *state) entries(table Table, from, to []byte) (out []kv, err error) {
	stop := []byte{'k' + 1}
	if to != nil {
		stop = storedKey(to)
	}
	err = s.chunk(tableBucket(table), storedKey(from), stop, func(key, val []byte) error {
		out = append(out, kv{append([]byte{}, key[1:]...), append([]byte{}, val...)})
		return nil
	})
	return out, err
}

// chunk walks a part of a bucket in one short read transaction. Walks are never longer than that: bbolt cannot
// grow its map, so nobody could commit, while a reader is open.
func (s *state) chunk(name, from, to []byte, fn func(key, val []byte) error) error {
	return s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket(name)
		if b == nil {
			return nil
		}
		c := b.Cursor()
		n, size := 0, 0
		for k, rec := c.Seek(from); k != nil && n < chunkKeys && size < chunkBytes; k, rec = c.Next() {
			if to != nil && bytes.Compare(k, to) >= 0 {
				return nil
			}
			val, err := openRecord(s.path, name, k, rec)
			if err != nil {
				return err
			}
			if err := fn(k, val); err != nil {
				return err
			}
			n, size = n+1, size+len(val)
		}
		return nil
	})
}
