package daemon

import (
	"context"
	"fmt"
	"net"
	"sort"
	"sync"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/fap/direct"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// Bound is a listener as qmgrd status --json shows it.
type Bound struct {
	Name    string `json:"name"`
	Address string `json:"address"`
}

// listeners implements qmgr.ListenerHost. A port is bound at once, so that a port in use is known at START LISTENER;
// connections are taken only after open was called, when the start-up scripts have run.
type listeners struct {
	group *obs.Group
	log   *zerolog.Logger
	act   *activation
	gate  chan struct{}
	once  sync.Once
	serve func(ctx context.Context, name string, l net.Listener) error // set by open

	mu     invariants.Mutex
	all    map[string]net.Listener
	failed map[string]string // why a listener's last start failed
	closed bool              // closeAll was here: the queue manager ends
}

func newListeners(g *obs.Group, log *zerolog.Logger, act *activation) *listeners {
	return &listeners{group: g, log: log, act: act, gate: make(chan struct{}), all: map[string]net.Listener{},
		failed: map[string]string{}}
}

// open lets connections in, to be served by fn.
func (h *listeners) open(fn func(ctx context.Context, name string, l net.Listener) error) {
	h.once.Do(func() {
		h.serve = fn
		close(h.gate)
	})
}

// Start binds addr.
func (h *listeners) Start(name, addr string, backlog int) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if l, ok := h.all[name]; ok {
		return l.Addr().String(), fmt.Errorf("listener %s is bound to %s already", name, l.Addr())
	}
	l := h.act.take(addr)
	if l == nil {
		var err error
		if l, err = listenTCP(addr, backlog); err != nil {
			h.log.Error().Str(obs.FieldAMQ, "AMQ9218E").Str("listener", name).Str("address", addr).Err(err).
				Msgf("listener %s cannot bind %s", name, addr)
			h.failed[name] = fmt.Sprintf("listener %s cannot bind %s: %v", name, addr, err)
			return "", err
		}
	}
	boundSegments(l)
	direct.Listening(l)
	h.all[name] = l
	delete(h.failed, name)
	bound := l.Addr().String()
	h.log.Info().Str(obs.FieldAMQ, "AMQ5026I").Str("listener", name).Str("address", bound).
		Msgf("listener %s is bound to %s", name, bound)
	h.group.Go("listener "+name, func(ctx context.Context) error { return h.accept(ctx, name, l) })
	return bound, nil
}

// accept serves what comes in, once the gate is open.
func (h *listeners) accept(ctx context.Context, name string, l net.Listener) error {
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	select {
	case <-h.gate:
	case <-ctx.Done():
		return nil
	}
	return h.serve(ctx, name, l)
}

// Stop closes the port.
func (h *listeners) Stop(name string) error {
	h.mu.Lock()
	l, ok := h.all[name]
	delete(h.all, name)
	closed := h.closed
	h.mu.Unlock()
	switch {
	case ok:
	case closed:
		return nil // a start that failed closes the ports first
	default:
		return fmt.Errorf("listener %s is not bound", name)
	}
	h.log.Info().Str(obs.FieldAMQ, "AMQ5027I").Str("listener", name).Msgf("listener %s ended", name)
	return l.Close()
}

// bound lists what is bound, by name.
func (h *listeners) bound() []Bound {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]Bound, 0, len(h.all))
	for n, l := range h.all {
		out = append(out, Bound{n, l.Addr().String()})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// warnings says which listeners could not be started, by name.
func (h *listeners) warnings() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, w := range h.failed {
		out = append(out, w)
	}
	sort.Strings(out)
	return out
}

// closeAll closes every port; the loops end with it.
func (h *listeners) closeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for n, l := range h.all {
		l.Close()
		delete(h.all, n)
	}
}
