package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// The kept file (docs/format/state.md): nonpersistent messages of NPMCLASS(HIGH) queues between a clean Close and the
// next Open. It exists only under its final name when it is whole, and Open removes it, durably, before it serves
// anybody: so a kill can never bring back what it held.

const (
	keptMagic     = "QMKEPT1\n"
	keptHeaderLen = 28       // len u32 | crc u32 | qid u32 | seq u64 | head u32 | body u32
	keptMaxRecord = 1 << 30  // head and body together
	copyBuffer    = 64 << 10 // of the sequential reader and writer
)

func keptPath(dir string) string { return filepath.Join(dir, "kept") }

// writeKept saves the messages of the queues that keep names. No file is written when there is none.
func writeKept(fsys vfs.FS, dir string, v *volatile, keep func(QID) bool) error {
	var qs []QID
	for _, q := range v.qids() {
		if keep(q) {
			qs = append(qs, q)
		}
	}
	if len(qs) == 0 {
		return nil
	}
	err := writeKeptFile(fsys, dir, v, qs)
	if err != nil {
		_ = fsys.Remove(keptPath(dir) + ".new") // a start removes it too
		return &KeepError{qs, err}
	}
	return nil
}

const keptKey = "kept"

// keptSaid reads how many messages the last orderly end left in the kept file.
func (s *state) keptSaid() (n uint64, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte(bucketLog))
		if b == nil {
			return nil
		}
		rec := b.Get([]byte(keptKey))
		if rec == nil {
			return nil
		}
		v, err := openRecord(s.path, []byte(bucketLog), []byte(keptKey), rec)
		if err == nil && len(v) == 8 {
			n = le.Uint64(v)
		}
		return err
	})
	return n, err
}

// sayKept writes that down. The kept file does not need it: it only lets a start notice that the file went away.
func (s *state) sayKept(n uint64) error {
	return s.update(func(t *stateTx) error {
		b, err := t.bucket([]byte(bucketLog), true)
		if err != nil {
			return err
		}
		if b.Get([]byte(replayKey)) == nil {
			if err := t.setReplay(position{}); err != nil {
				return err
			}
		}
		return b.Put([]byte(keptKey), sealRecord([]byte(bucketLog), []byte(keptKey), le.AppendUint64(nil, n)))
	})
}

// keepMessages saves what keep names at an orderly end.
func (b *base) keepMessages(keep func(QID) bool) error {
	if keep == nil {
		return nil
	}
	n := 0
	for _, q := range b.vol.qids() {
		if keep(q) {
			n += len(b.vol.seqs(q))
		}
	}
	if err := writeKept(b.opt.FS, b.opt.Dir, b.vol, keep); err != nil || n == 0 {
		return err
	}
	if err := b.state.sayKept(uint64(n)); err != nil && !isFull(err) {
		return err
	}
	return nil
}

// takeKept loads what the last end kept.
func (b *base) takeKept() error {
	said, err := b.state.keptSaid()
	if err != nil {
		return err
	}
	if said > 0 { // first: a start that is cut short behind it must not miss what this one has taken
		if err := b.state.sayKept(0); err != nil && !isFull(err) {
			return err
		}
	}
	return loadKept(b.opt.FS, b.opt.Dir, b.vol, said, b.notice)
}

// KeepError says that an orderly end could not write the nonpersistent messages that were to stay: they are lost.
type KeepError struct {
	Queues []QID
	Err    error
}

func (e *KeepError) Error() string { return "store: keep nonpersistent messages: " + e.Err.Error() }

// Unwrap is for errors.Is.
func (e *KeepError) Unwrap() error { return e.Err }

func writeKeptFile(fsys vfs.FS, dir string, v *volatile, qs []QID) error {
	tmp := keptPath(dir) + ".new"
	f, err := fsys.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := &seqWriter{f: f}
	err = writeKeptRecords(w, v, qs)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(tmp, keptPath(dir))
	}
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	return err
}

func writeKeptRecords(w *seqWriter, v *volatile, qs []QID) error {
	w.write([]byte(keptMagic))
	count := uint64(0)
	for _, q := range qs {
		for _, s := range v.seqs(q) {
			rec, ok, err := v.read(q, s)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			w.write(keptHeader(q, s, rec.Head, rec.Body))
			w.write(rec.Head)
			w.write(rec.Body)
			count++
		}
	}
	// The end record: queue 0 has no messages, its seq is the count.
	w.write(keptHeader(0, Seq(count), nil, nil))
	return w.flush()
}

func keptHeader(q QID, s Seq, head, body []byte) []byte {
	h := make([]byte, keptHeaderLen)
	le.PutUint32(h, uint32(len(head)+len(body)))
	le.PutUint32(h[8:], uint32(q))
	le.PutUint64(h[12:], uint64(s))
	le.PutUint32(h[20:], uint32(len(head)))
	le.PutUint32(h[24:], uint32(len(body)))
	le.PutUint32(h[4:], recordCRC(h[8:], head, body))
	return h
}

const maxBadKept = 100 // damaged messages that are told one by one

// readKept calls fn for each kept message that is whole, also behind one that is not: what is damaged is in the error. A
// missing file has none.
func readKept(fsys vfs.FS, dir string, fn func(q QID, s Seq, head, body []byte) error) error {
	name := keptPath(dir)
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store: open %s: %w", name, err)
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return fmt.Errorf("store: %s: %w", name, err)
	}
	magic := make([]byte, len(keptMagic))
	if err := readFull(f, magic, 0); err != nil || string(magic) != keptMagic {
		return corrupt(name, "offset 0", "not a file of kept messages")
	}
	off, count := int64(len(keptMagic)), uint64(0)
	var bad []error
	for {
		where := fmt.Sprintf("offset %d", off)
		h := make([]byte, keptHeaderLen)
		if err := readFull(f, h, off); err != nil {
			return errors.Join(append(bad, corrupt(name, where, "the file ends too early"))...)
		}
		n, hn, bn := int64(le.Uint32(h)), int64(le.Uint32(h[20:])), int64(le.Uint32(h[24:]))
		off += keptHeaderLen
		if n != hn+bn || n > keptMaxRecord || off+n > size {
			return errors.Join(append(bad, corrupt(name, where, "impossible lengths"))...)
		}
		data := make([]byte, n)
		if err := readFull(f, data, off); err != nil {
			return errors.Join(append(bad, corrupt(name, where, "the file ends too early"))...)
		}
		off += n
		if recordCRC(h[8:], data[:hn], data[hn:]) != le.Uint32(h[4:]) {
			bad = append(bad, corrupt(name, where, "checksum does not match"))
			count++
			if len(bad) >= maxBadKept {
				return errors.Join(bad...)
			}
			continue
		}
		q, s := QID(le.Uint32(h[8:])), Seq(le.Uint64(h[12:]))
		if q == 0 {
			if uint64(s) != count || off != size {
				bad = append(bad, corrupt(name, where, fmt.Sprintf("the end record says %d messages, there are %d", s, count)))
			}
			return errors.Join(bad...)
		}
		if err := fn(q, s, data[:hn:hn], data[hn:]); err != nil {
			return err
		}
		count++
	}
}

// loadKept moves the kept messages into v and forgets the file. What is damaged is dropped, and said: nobody was promised a
// message that is not persistent, and a manager must not stay down for it. said is how many the last end wrote down.
func loadKept(fsys vfs.FS, dir string, v *volatile, said uint64, notice func(string)) error {
	there, err := exists(fsys, keptPath(dir))
	if err != nil {
		return err
	}
	err = readKeptInto(fsys, dir, v)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return err
	}
	switch n, _ := v.stats(); {
	case err != nil:
		notice(fmt.Sprintf("%v: of the nonpersistent messages that the last end kept, %d are there; what is damaged is dropped", err, n))
	case !there && said > 0:
		notice(fmt.Sprintf("%s is missing: the %d nonpersistent messages that the last end kept in it are lost", keptPath(dir), said))
	}
	removed := false
	for _, name := range []string{keptPath(dir), keptPath(dir) + ".new"} {
		switch err := fsys.Remove(name); {
		case err == nil:
			removed = true
		case !errors.Is(err, fs.ErrNotExist):
			return fmt.Errorf("store: consume %s: %w", name, err)
		}
	}
	if removed {
		if err := fsys.SyncDir(dir); err != nil {
			return fmt.Errorf("store: consume the kept messages: %w", err)
		}
	}
	return nil
}

func readKeptInto(fsys vfs.FS, dir string, v *volatile) error {
	return readKept(fsys, dir, func(q QID, s Seq, head, body []byte) error {
		t := &Tx{}
		t.Put(q, s, Rec{Head: head, Body: body})
		staged, err := v.stage(t)
		if err == nil {
			v.apply(t, staged)
		}
		return err
	})
}

// seqWriter writes a file from its start; the first error sticks.
type seqWriter struct {
	f   vfs.File
	off int64
	buf []byte
	err error
}

func (w *seqWriter) write(b []byte) {
	if len(w.buf)+len(b) > copyBuffer {
		_ = w.flush()
	}
	if len(b) > copyBuffer {
		w.put(b)
		return
	}
	w.buf = append(w.buf, b...)
}

func (w *seqWriter) flush() error {
	w.put(w.buf)
	w.buf = w.buf[:0]
	return w.err
}

func (w *seqWriter) put(b []byte) {
	if w.err == nil && len(b) > 0 {
		_, w.err = w.f.WriteAt(b, w.off)
		w.off += int64(len(b))
	}
}

func readFull(f vfs.File, b []byte, off int64) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
}
