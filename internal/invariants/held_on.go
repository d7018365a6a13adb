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
func (m *Mutex) Lock() { rise(0, ""); m.mu.Lock(); note(m, 0, "") }

// TryLock notes a success.
func (m *Mutex) TryLock() bool {
	ok := m.mu.TryLock()
	if ok {
		note(m, 0, "")
	}
	return ok
}

// Unlock forgets and unlocks.
func (m *Mutex) Unlock() { forget(m); m.mu.Unlock() }

// RWMutex is a sync.RWMutex whose holders the instrument knows.
type RWMutex struct{ mu sync.RWMutex }

// Lock locks for writing and notes it.
func (m *RWMutex) Lock() { rise(0, ""); m.mu.Lock(); note(m, 0, "") }

// Unlock forgets and unlocks.
func (m *RWMutex) Unlock() { forget(m); m.mu.Unlock() }

// RLock locks for reading and notes it: who waits to write waits for a reader too.
func (m *RWMutex) RLock() { rise(0, ""); m.mu.RLock(); note(m, 0, "") }

// RUnlock forgets and unlocks.
func (m *RWMutex) RUnlock() { forget(m); m.mu.RUnlock() }

// Ranked is a Mutex with a place in the order of locks.
type Ranked[R Rank] struct{ mu sync.Mutex }

// Lock locks and notes it. That its turn has come in the order is looked at before: afterwards might be never.
func (m *Ranked[R]) Lock() {
	p, name := placeOf[R]()
	rise(p, name)
	m.mu.Lock()
	note(m, p, name)
}

// TryLock notes a success. It waits for nobody, so it may come out of order.
func (m *Ranked[R]) TryLock() bool {
	ok := m.mu.TryLock()
	if ok {
		p, name := placeOf[R]()
		note(m, p, name)
	}
	return ok
}

// Unlock forgets and unlocks.
func (m *Ranked[R]) Unlock() { forget(m); m.mu.Unlock() }

// RankedRW is a RWMutex with a place in the order of locks.
type RankedRW[R Rank] struct{ mu sync.RWMutex }

// Lock locks for writing; see Ranked.
func (m *RankedRW[R]) Lock() {
	p, name := placeOf[R]()
	rise(p, name)
	m.mu.Lock()
	note(m, p, name)
}

// Unlock forgets and unlocks.
func (m *RankedRW[R]) Unlock() { forget(m); m.mu.Unlock() }

// RLock locks for reading. A writer that waits keeps readers out, so the order is that of writers.
func (m *RankedRW[R]) RLock() {
	p, name := placeOf[R]()
	rise(p, name)
	m.mu.RLock()
	note(m, p, name)
}

// RUnlock forgets and unlocks.
func (m *RankedRW[R]) RUnlock() { forget(m); m.mu.RUnlock() }

func placeOf[R Rank]() (int, string) {
	var r R
	return r.place()
}

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
	lock  any // pointer to Mutex, RWMutex, Ranked or RankedRW
	pc    uintptr
	place int // in the order; 0: none
	name  string
	steps int // that its holder has done under it (Work)
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
	fault   atomic.Pointer[func()]
)

func init() {
	for i := range shards {
		shards[i].of = map[uint64][]held{}
	}
}

// rise is called before a lock is waited for: what the goroutine holds must stand before it. A lock without a place may be taken
// under any but a leaf.
func rise(place int, name string) {
	if f := fault.Load(); f != nil {
		(*f)()
	}
	g := goid()
	s := &shards[g%uint64(len(shards))]
	s.mu.Lock()
	var before held
	for _, h := range s.of[g] {
		if h.place == leaf || place != 0 && h.place >= place {
			before = h
		}
	}
	s.mu.Unlock()
	if before.place == 0 {
		return
	}
	if name == "" {
		name = "no rank"
	}
	report(fmt.Sprintf("a lock of %s is taken at %s, out of order: one of %s is held, taken at %s", name, where(callerOf(3)), before.name,
		where(before.pc)))
}

func note(lock any, place int, name string) {
	var pc [1]uintptr
	runtime.Callers(3, pc[:])
	g := goid()
	s := &shards[g%uint64(len(shards))]
	s.mu.Lock()
	s.of[g] = append(s.of[g], held{lock: lock, pc: pc[0], place: place, name: name})
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

// MostSteps is the most work that may be done under one hold of a lock, in steps of a tenth of a microsecond or less: 5 ms.
const MostSteps = 50_000

// Work counts n steps for each lock that the goroutine holds: an entry that is looked at, moved or removed is one.
func Work(n int) {
	g := goid()
	s := &shards[g%uint64(len(shards))]
	s.mu.Lock()
	var over held
	list := s.of[g]
	for i := range list {
		h := &list[i]
		if h.steps += n; h.steps > MostSteps && h.steps-n <= MostSteps {
			over = *h
		}
		if h.place != 0 {
			for most := &mostSteps[h.place%len(mostSteps)]; ; {
				old := most.Load()
				if int64(h.steps) <= old || most.CompareAndSwap(old, int64(h.steps)) {
					break
				}
			}
		}
	}
	s.mu.Unlock()
	if over.lock != nil {
		report(fmt.Sprintf("%d steps of work at %s while a lock is held: taken at %s", over.steps, where(callerOf(2)), where(over.pc)))
	}
}

// mostSteps are the most steps under one hold, by place in the order.
var mostSteps [16]atomic.Int64

// LongestHold is the most steps that were done under one hold of a lock of a rank since the last call.
func LongestHold[R Rank]() int {
	place, _ := placeOf[R]()
	return int(mostSteps[place%len(mostSteps)].Swap(0))
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

// Faults calls fn wherever a lock is about to be taken, until the function it returns is called. For tests of what a panic leaves: with
// locks everywhere, that is anywhere in a verb, and under every lock that others are taken under.
func Faults(fn func()) (restore func()) {
	fault.Store(&fn)
	return func() { fault.Store(nil) }
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
