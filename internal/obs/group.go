package obs

import (
	"context"
	"fmt"
	"runtime/debug"
	"sort"
	"sync"

	"github.com/rs/zerolog"
)

// Group owns goroutines: each has a name, ends when the context does, and Wait returns when all have. A panic in one
// of them ends the group with an error instead of the process, so that the store can still be closed in order.
type Group struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	log    *zerolog.Logger
	wg     sync.WaitGroup
	mu     sync.Mutex
	names  map[string]int
}

// NewGroup returns an empty group whose context is a child of ctx.
func NewGroup(ctx context.Context, log *zerolog.Logger) *Group {
	c, cancel := context.WithCancelCause(ctx)
	return &Group{ctx: c, cancel: cancel, log: log, names: map[string]int{}}
}

// Context ends when Stop is called or a member failed.
func (g *Group) Context() context.Context { return g.ctx }

// Go runs fn. Its error ends the group; nil and the context's own end do not.
func (g *Group) Go(name string, fn func(ctx context.Context) error) {
	g.count(name, 1)
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		defer g.count(name, -1)
		if err := g.run(name, fn); err != nil && g.ctx.Err() == nil {
			g.cancel(fmt.Errorf("%s: %w", name, err))
		}
	}()
}

func (g *Group) run(name string, fn func(ctx context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			g.log.Error().Str(FieldAMQ, "AMQ6125E").Str("loop", name).Str("stack", string(debug.Stack())).
				Msgf("internal error in %s: %v", name, p)
		}
	}()
	return fn(g.ctx)
}

func (g *Group) count(name string, d int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.names[name] += d; g.names[name] == 0 {
		delete(g.names, name)
	}
}

// Running lists the members that have not ended, for the log of a stop that takes long.
func (g *Group) Running() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []string
	for n, c := range g.names {
		out = append(out, fmt.Sprintf("%s×%d", n, c))
	}
	sort.Strings(out)
	return out
}

// Stop ends the context; Wait returns when every member has ended, with the error that ended the group, if any.
func (g *Group) Stop() { g.cancel(nil) }

// Wait blocks until the group is empty.
func (g *Group) Wait() error {
	g.wg.Wait()
	if err := context.Cause(g.ctx); err != nil && err != context.Canceled {
		return err
	}
	return nil
}
