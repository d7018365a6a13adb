package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"github.com/qmgrd/qmgrd/internal/vfs"
)

// Check verifies the store in dir, which must not be open: format, structure of the state file, every record, the
// log, and the kept messages. The error says that it could not look; faults come as Problems. It changes nothing.
func Check(dir string, fs vfs.FS) ([]Problem, error) {
	if fs == nil {
		fs = vfs.OS()
	}
	if ok, err := exists(fs, dir); err != nil || !ok {
		return nil, errors.Join(err, fmt.Errorf("store: there is no store in %s", dir))
	}
	lock, err := lockDir(fs, dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	c := &checker{fs: fs, dir: dir}
	if err := c.run(); err != nil {
		return c.out, err
	}
	return c.out, nil
}

const maxProblems = 1000 // a ruined file must not fill the screen

type checker struct {
	fs  vfs.FS
	dir string
	out []Problem
}

// add reports whether there is room for another one.
func (c *checker) add(p Problem) bool {
	if len(c.out) < maxProblems {
		c.out = append(c.out, p)
	}
	return len(c.out) < maxProblems
}

// addErr turns an ErrCorrupt into a Problem; another error is handed back.
func (c *checker) addErr(file string, err error) error {
	var ce *corruption
	if several, ok := err.(interface{ Unwrap() []error }); ok && errors.Is(err, ErrCorrupt) {
		var errs []error
		for _, err := range several.Unwrap() {
			errs = append(errs, c.addErr(file, err))
		}
		return errors.Join(errs...)
	}
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ce):
		c.add(ce.Problem)
		return nil
	case errors.Is(err, ErrCorrupt):
		c.add(Problem{file, "content", err.Error()})
		return nil
	}
	return err
}

func (c *checker) run() error {
	n, err := checkFormat(c.fs, c.dir, formatNewest)
	if err := c.addErr(formatPath(c.dir), err); err != nil {
		return err
	}
	there, err := exists(c.fs, statePath(c.dir))
	switch {
	case err != nil:
		return err
	case n == 0 && !there && len(c.out) == 0:
		return fmt.Errorf("store: there is no store in %s", c.dir)
	case !there:
		c.add(Problem{statePath(c.dir), "file", "missing"})
		return nil
	case n == 0 && len(c.out) == 0:
		c.add(Problem{formatPath(c.dir), "file", "missing"})
	}
	if err := c.checkState(); err != nil {
		return err
	}
	if n >= formatLog {
		if err := c.checkLog(); err != nil {
			return err
		}
	}
	return c.checkKept()
}

// checkKept verifies the kept messages, and that their file is there if the last end left some in it.
func (c *checker) checkKept() error {
	there, err := exists(c.fs, keptPath(c.dir))
	if err != nil {
		return err
	}
	if there {
		return c.addErr(keptPath(c.dir), readKept(c.fs, c.dir, func(QID, Seq, []byte, []byte) error { return nil }))
	}
	nat, _ := c.fs.(vfs.Native)
	if verifyPages(nat, statePath(c.dir), everyPage) != nil {
		return nil // reported already
	}
	said := uint64(0)
	st, err := openState(c.fs, c.dir, true)
	if err == nil {
		said, err = st.keptSaid()
		err = errors.Join(err, st.close())
	}
	switch {
	case errors.Is(err, ErrCorrupt): // reported already, too
		return nil
	case err != nil:
		return err
	case said > 0:
		c.add(Problem{keptPath(c.dir), "file", fmt.Sprintf("missing: the last end kept %d nonpersistent messages in it", said)})
	}
	return nil
}

// checkLog replays the log as a start would, reads every value that is alive, and changes nothing.
func (c *checker) checkLog() error {
	before := len(c.out)
	for _, sub := range []string{"log", "big"} {
		name := filepath.Join(c.dir, sub)
		if st, err := c.fs.Stat(name); err == nil && !st.IsDir() {
			c.add(Problem{name, "file", "a directory is wanted here"})
		}
	}
	if len(c.out) > before {
		return nil
	}
	nat, _ := c.fs.(vfs.Native)
	if verifyPages(nat, statePath(c.dir), everyPage) != nil {
		return nil // reported already; without the state file nobody knows where the log begins
	}
	st, err := openState(c.fs, c.dir, true)
	if err != nil {
		return c.addErr(statePath(c.dir), err)
	}
	start, err := st.replayFrom()
	if cerr := st.close(); err != nil || cerr != nil {
		return c.addErr(statePath(c.dir), errors.Join(err, cerr))
	}
	g, files := newGeneration(), newFiles(c.fs, c.dir)
	defer files.close()
	rep := &replayer{apply: func(ops []logOp) {
		for i := range ops {
			g.apply(&ops[i])
		}
	}}
	sc := &scanner{files: files, flag: os.O_RDONLY, visit: rep.visit, vouched: files.durable()}
	if err := sc.run(start); err != nil {
		return c.addErr(files.dir, err)
	}
	return g.refs(func(r ref) error {
		if r.n == 0 || len(c.out) >= maxProblems {
			return nil
		}
		_, err := files.read(r)
		if errors.Is(err, errMoved) {
			name := files.segName(r.seg)
			if r.seg == segBig {
				name = files.bigName(r.off)
			}
			err = corrupt(name, "file", "missing, though the log names it")
		}
		if r.seg == segBig && err == nil {
			name := files.bigName(r.off)
			if st, serr := c.fs.Stat(name); serr == nil && st.Size() != int64(r.n) {
				err = corrupt(name, "size", fmt.Sprintf("%d bytes, the log says %d", st.Size(), r.n))
			}
		}
		return c.addErr(files.dir, err)
	})
}

func (c *checker) checkState() error {
	nat, ok := c.fs.(vfs.Native)
	if !ok {
		return errors.New("store: this file system has no real files, bbolt needs one")
	}
	before := len(c.out)
	if err := walkPages(nat, statePath(c.dir), strictly, c.add); err != nil {
		return fmt.Errorf("store: read %s: %w", statePath(c.dir), err)
	}
	if len(c.out) > before {
		return nil // bbolt must not map this
	}
	s, err := openState(c.fs, c.dir, true)
	if err != nil {
		return c.addErr(statePath(c.dir), err)
	}
	defer s.close()
	return s.view(func(tx *bolt.Tx) error {
		for err := range tx.Check() {
			c.add(Problem{s.path, "bbolt", err.Error()})
		}
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			return c.checkBucket(s, tx, append([]byte{}, name...), b)
		})
	})
}

// checkBucket decodes every record of a bucket and looks for its counterpart.
func (c *checker) checkBucket(s *state, tx *bolt.Tx, name []byte, b *bolt.Bucket) error {
	isQueue := name[0] == bucketHead || name[0] == bucketBody // what is neither that nor a table or the log's the walk has found
	return b.ForEach(func(key, rec []byte) error {
		val, err := openRecord(s.path, name, key, rec)
		if err == nil && isQueue {
			err = checkMessage(s, tx, name, key, val)
		}
		if len(c.out) >= maxProblems {
			return nil
		}
		return c.addErr(s.path, err)
	})
}

func checkMessage(s *state, tx *bolt.Tx, name, key, val []byte) error {
	if len(key) != 8 {
		return corrupt(s.path, placeOf(name, key), "key is not a message number")
	}
	q := QID(be.Uint32(name[1:]))
	if name[0] == bucketHead {
		n, _, err := splitHead(s.path, name, key, val)
		if err == nil {
			_, err = s.body(tx, q, key, n)
		}
		return err
	}
	if h := tx.Bucket(queueBucket(bucketHead, q)); h == nil || h.Get(key) == nil {
		return corrupt(s.path, placeOf(name, key), "body without head")
	}
	return nil
}
