package obs

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// Rotating is a log of bounded size: when its file is full it takes the name of the older one, and a new one begins.
type Rotating struct {
	mu    sync.Mutex
	names []string // the file that is written, then older ones
	max   int64
	size  int64
	f     *os.File
}

// OpenRotating appends to the first of names.
func OpenRotating(max int64, names ...string) (*Rotating, error) {
	r := &Rotating{names: names, max: max}
	return r, r.open()
}

func (r *Rotating) open() error {
	f, err := os.OpenFile(r.names[0], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	r.f, r.size = f, st.Size()
	return nil
}

// rotate gives each file the next name; the oldest goes. Called with mu held.
func (r *Rotating) rotate() error {
	r.f.Close()
	r.f = nil
	for i := len(r.names) - 1; i > 0; i-- {
		if err := os.Rename(r.names[i-1], r.names[i]); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return r.open()
}

// Write appends p, in one file as a whole.
func (r *Rotating) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		if err := r.open(); err != nil {
			return 0, err
		}
	}
	if r.size > 0 && r.size+int64(len(p)) > r.max {
		if err := r.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := r.f.Write(p)
	r.size += int64(n)
	return n, err
}

// Close ends the file.
func (r *Rotating) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		return nil
	}
	err := r.f.Close()
	r.f = nil
	return err
}
