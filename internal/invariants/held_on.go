//go:build invariants

package invariants

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
)

// Tracked reports whether locks are tracked.
const Tracked = true

// Mutex is a sync.Mutex whose holders the instrument knows.
type Mutex struct{ mu sync.Mutex }

// Lock locks and notes it.
func (m *Mutex) Lock() { m.mu.Lock(); note(m) }

// TryLock notes a success.
func (m *Mutex) TryLock() bool {
	ok := m.mu.TryLock()
	if ok {
		note(m)
	}
	return ok
}

// Unlock forgets and unlocks.
func (m *Mutex) Unlock() { forget(m); m.mu.Unlock() }

// RWMutex is a sync.RWMutex whose holders the instrument knows.
type RWMutex struct{ mu sync.RWMutex }

// Lock locks for writing and notes it.
func (m *RWMutex) Lock() { m.mu.Lock(); note(m) }

// Unlock forgets and unlocks.
func (m *RWMutex) Unlock() { forget(m); m.mu.Unlock() }

// RLock locks for reading and notes it: who waits to write waits for a reader too.
func (m *RWMutex) RLock() { m.mu.RLock(); note(m) }

// RUnlock forgets and unlocks.
func (m *RWMutex) RUnlock() { forget(m); m.mu.RUnlock() }

// Turn lets the users of one thing follow each other, and may be held over a wait; see the package comment.
type Turn struct{ mu sync.Mutex }

// Lock waits for the turn. Whoever has it may be waiting for a disk or a peer.
func (t *Turn) Lock() { blocking(nil, "a turn"); t.mu.Lock() }

// TryLock takes the turn if nobody has it.
func (t *Turn) TryLock() bool { return t.mu.TryLock() }

// Unlock ends the turn.
func (t *Turn) Unlock() { t.mu.Unlock() }

// Blocking is called where a goroutine is about to wait for a disk, a peer, or somebody who does: it must hold no lock.
func Blocking(what string) { blocking(nil, what) }

// BlockingBut is Blocking where one lock is given up during the wait.
func BlockingBut(given sync.Locker, what string) { blocking(given, what) }

// held is a lock with the place where it was taken.
type held struct {
	lock any // pointer to Mutex or RWMutex
	pc   uintptr
}

// shard holds the locks of some of the goroutines. A goroutine without any has no entry.
type shard struct {
	mu sync.Mutex
	of map[uint64][]held
}

var (
	shards  [64]shard
	waits   atomic.Uint64 // checks made
	offence atomic.Pointer[func(text string)]
)

func init() {
	for i := range shards {
		shards[i].of = map[uint64][]held{}
	}
}

func note(lock any) {
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	g := goid()
	s := &shards[g%uint64(len(shards))]
	s.mu.Lock()
	s.of[g] = append(s.of[g], held{lock, pc[0]})
	s.mu.Unlock()
}

func forget(lock any) {
	g := goid()
	s := &shards[g%uint64(len(shards))]
	s.mu.Lock()
	list := s.of[g]
	i := len(list) - 1
	for i >= 0 && list[i].lock != lock {
		i--
	}
	switch {
	case i < 0:
	case len(list) == 1:
		delete(s.of, g)
	default:
		s.of[g] = append(list[:i], list[i+1:]...)
	}
	s.mu.Unlock()
	if i < 0 {
		report("a lock is released by a goroutine that does not hold it, at " + where(callerOf(3)))
	}
}

func blocking(given sync.Locker, what string) {
	waits.Add(1)
	g := goid()
	s := &shards[g%uint64(len(shards))]
	s.mu.Lock()
	var at []string
	for _, h := range s.of[g] {
		if h.lock != any(given) {
			at = append(at, where(h.pc))
		}
	}
	s.mu.Unlock()
	if len(at) > 0 {
		report(fmt.Sprintf("%s at %s while a lock is held: taken at %s", what, where(callerOf(3)), strings.Join(at, ", ")))
	}
}

func callerOf(skip int) uintptr {
	var pc [1]uintptr
	runtime.Callers(skip+1, pc[:])
	return pc[0]
}

func where(pc uintptr) string {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return fmt.Sprintf("%s (%s:%d)", filepath.Base(f.Function), filepath.Base(f.File), f.Line)
}

// report ends the program: a panic might be caught by somebody who keeps one client's failure from the others.
func report(text string) {
	if f := offence.Load(); f != nil {
		(*f)(text)
		return
	}
	stack := make([]byte, 64<<10)
	fmt.Fprintf(os.Stderr, "invariant broken: %s\n%s\n", text, stack[:runtime.Stack(stack, false)])
	os.Exit(2)
}

// Offences lets fn have what would end the program, until the function it returns is called. For tests of the instrument.
func Offences(fn func(text string)) (restore func()) {
	offence.Store(&fn)
	return func() { offence.Store(nil) }
}

// Waits is the number of waits that have been looked at.
func Waits() uint64 { return waits.Load() }

// goid is the number of the running goroutine, which the runtime tells only in the first line of a stack trace.
func goid() uint64 {
	var buf [32]byte
	n := runtime.Stack(buf[:], false)
	id := uint64(0)
	for _, c := range buf[len("goroutine "):n] {
		if c < '0' || c > '9' {
			break
		}
		id = id*10 + uint64(c-'0')
	}
	return id
}
