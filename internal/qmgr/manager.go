package qmgr

import (
	"sync"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Options of Open. Store, Clock and Log are required.
type Options struct {
	Name    string
	Dir     string // data directory, for DISPLAY QMSTATUS only
	Store   store.Store
	Clock   clock.Clock
	Log     *zerolog.Logger
	User    string // user id the manager runs as
	Version string

	// Listeners starts and stops what a LISTENER object names; nil where there is no network (tests). It must not
	// call back into the Manager.
	Listeners ListenerHost
	// Services runs the programs of SERVICE objects; nil where there are none.
	Services ServiceHost
}

// ListenerHost binds the ports of LISTENER objects; daemon implements it.
type ListenerHost interface {
	// Start binds addr (host:port, host may be empty) and returns the address really bound.
	Start(name, addr string, backlog int) (bound string, err error)
	Stop(name string) error
}

// ServiceHost runs the programs of SERVICE objects; daemon implements it.
type ServiceHost interface {
	Start(s ServiceSpec) (pid int, err error)
	Stop(s ServiceSpec) error
}

// ServiceSpec is a SERVICE definition with its inserts replaced.
type ServiceSpec struct {
	Name, StartCmd, StartArg, StopCmd, StopArg, Stdout, Stderr string
	Server                                                     bool // SERVTYPE(SERVER): one running instance, watched
	// Ended is called once from another goroutine when a server's program ends.
	Ended func(exit int)
}

// Manager is one queue manager. All exported methods are safe for concurrent use.
type Manager struct {
	opt Options

	mu      sync.RWMutex // registry lock, first in LOCKS.md
	objects map[Class]map[string]*Object
	byQID   map[store.QID]*Object
}
