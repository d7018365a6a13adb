package qmgr

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/obs"
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
	Group   string // that user's group; owns the SYSTEM objects beside group mqm when not blank
	Version string

	// Inserts are values for +WORD+ in names and addresses of commands, beside +QMNAME+; words in upper case. Not changed
	// after Open.
	Inserts map[string]string

	// Listeners starts and stops what a LISTENER object names; nil where there is no network (tests). It must not
	// call back into the Manager.
	Listeners ListenerHost
	// Services runs the programs of SERVICE objects; nil where there are none.
	Services ServiceHost
	// Security brings passwords, accounts and keys; nil where there are none.
	Security SecurityHost
	// HostNames finds the names of an IP address that lead back to it, for MATCH(RUNCHECK); nil where there is no network.
	HostNames func(ctx context.Context, ip string) []string
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

	stamps stamps

	mu        invariants.RankedRW[invariants.Registry] // registry lock, first in LOCKS.md
	objects   map[Class]map[string]*Object
	byQID     map[store.QID]*Object
	topicStrs map[string]*Object // TOPICSTR → the one topic object that has it; '' is not in it

	nextQID atomic.Uint32
	units   atomic.Uint64 // of work that connections began
	cfgs    cfgShare
	self    atomic.Pointer[Object] // the queue manager's own object, once it was asked for
	limit   atomic.Pointer[limits] // as they were when last asked for
	noQmgr  *Def                   // stands in for the QMGR definition while there is none

	topics topicFeed   // the topic tree and who is pinned in it
	retain retainStore // retained publications
	rt     runtime     // message half: queues' loops, connections
	authz  authzState  // who may do what
	disk   diskState
	ev     events // event messages, statistics and accounting
	look   topicLook
	xa     xaState // two-phase units of work
	delay  delays  // messages that are delivered later

	clients atomic.Pointer[ClientHost] // runs the instances of client channels

	parts     [2]atomic.Bool // by Part: whether it runs
	state     atomic.Int32   // stateStarting …
	paces     bool           // puts wait for getters that fall behind
	startedAt time.Time
	ctx       context.Context // ends with Stop
	cancel    context.CancelFunc
	settling  settler
	wg        sync.WaitGroup // the manager's own goroutines
}

// States of a manager, as DISPLAY QMSTATUS prints them.
const (
	stateStarting int32 = iota
	stateRunning
	stateQuiescing
	stateStopped
)

var stateNames = [...]string{"STARTING", "RUNNING", "QUIESCING", "STOPPED"}

// Part is something of a queue manager that others than this package run.
type Part int

const (
	PartCommandServer Part = iota // reads SYSTEM.ADMIN.COMMAND.QUEUE
	PartChannels                  // message channels and their initiator
)

// SetRunning tells DISPLAY QMSTATUS whether a part runs. Until it is told, none does.
func (m *Manager) SetRunning(p Part, running bool) { m.parts[p].Store(running) }

func (m *Manager) partStatus(p Part) string {
	if m.parts[p].Load() {
		return "RUNNING"
	}
	return "STOPPED"
}

// Open loads the objects of a store and the messages of its queues. It creates nothing and starts no listener.
func Open(o Options) (*Manager, error) {
	m, err := newManager(o)
	if err != nil {
		return nil, err
	}
	if err := m.loadObjects(); err != nil {
		return nil, fmt.Errorf("loading objects of %s: %w", o.Name, err)
	}
	if m.lookup(ClassQmgr, qmgrName) == nil {
		return nil, fmt.Errorf("queue manager %s: no queue manager definition in the store: create it first", o.Name)
	}
	if err := m.loadSecurity(); err != nil {
		m.cancel()
		return nil, fmt.Errorf("queue manager %s: %w", o.Name, err)
	}
	m.loadTopics()
	if err := m.loadRetained(); err != nil {
		m.cancel()
		return nil, fmt.Errorf("loading retained publications of %s: %w", o.Name, err)
	}
	if err := m.dropManagedOrphans(); err != nil {
		m.cancel()
		return nil, fmt.Errorf("removing managed queues of %s without subscription: %w", o.Name, err)
	}
	if err := m.startMessaging(); err != nil {
		m.cancel()
		return nil, fmt.Errorf("loading messages of %s: %w", o.Name, err)
	}
	return m, nil
}

func newManager(o Options) (*Manager, error) {
	switch {
	case o.Name == "":
		return nil, fmt.Errorf("qmgr: a name is needed")
	case o.Store == nil || o.Clock == nil || o.Log == nil:
		return nil, fmt.Errorf("qmgr: Store, Clock and Log are needed")
	}
	m := &Manager{
		opt:       o,
		objects:   map[Class]map[string]*Object{},
		byQID:     map[store.QID]*Object{},
		topicStrs: map[string]*Object{},
		startedAt: o.Clock.Now(),
		paces:     o.Clock == clock.Real(), // another one may stand still
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	var err error
	if m.noQmgr, err = newDef("QMGR", o.Name); err != nil {
		return nil, err
	}
	m.topics.init(m)
	m.delay.init()
	return m, nil
}

// Name is the queue manager's name.
func (m *Manager) Name() string { return m.opt.Name }

// loadObjects reads every definition.
func (m *Manager) loadObjects() error {
	var dec decoder
	var top uint32
	if v, err := m.opt.Store.Get(store.TableMeta, []byte(metaNextQID)); err == nil && len(v) == 4 {
		top = be32(v)
	}
	for _, t := range []store.Table{store.TableObjects, store.TableSubs, store.TableAuthority} {
		err := m.opt.Store.Range(t, nil, nil, func(k, v []byte) error {
			class, name, ok := cutKey(k)
			if !ok {
				return nil // not ours: another user of the table
			}
			d, id, err := dec.def(v)
			if err != nil {
				return fmt.Errorf("%q: %w", k, err)
			}
			m.atHome(d)
			o := &Object{Class: class, Name: name}
			if c := classOf(d.Kind); c == class && d.Name == name {
				o.Class, o.Name = c, d.Name // not the key's text beside
			}
			o.def.Store(d)
			m.insertLocked(o)
			if id != 0 {
				o.Queue = newQueue(m, o, id)
				m.byQID[id] = o
				top = max(top, uint32(id)+1)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	m.nextQID.Store(max(top, 1))
	return m.loadStopped()
}

// Start opens the doors that objects name: listeners and services with CONTROL(QMGR) or CONTROL(STARTONLY). One that
// cannot start is logged and does not keep the others from it, as in the vendor's product.
func (m *Manager) Start(ctx context.Context) error {
	m.state.Store(stateRunning)
	m.wg.Go(m.runTopics)
	m.wg.Go(m.runSweeps)
	m.wg.Go(m.runSubEnds)
	m.wg.Go(m.runDelays)
	m.startControlled(ctx)
	m.startEvents()
	return nil
}

// logLost names the queues whose nonpersistent messages an orderly end could not keep.
func (m *Manager) logLost(err error) {
	var ke *store.KeepError
	if !errors.As(err, &ke) {
		return
	}
	for _, id := range ke.Queues {
		name := ""
		if o := m.objectByQID(id); o != nil {
			name = o.Name
		}
		m.opt.Log.Error().Str(obs.FieldAMQ, "AMQ7492E").Err(ke.Err).Str("qmgr", m.opt.Name).Str("queue", name).
			Msgf("the nonpersistent messages of queue %s, which has NPMCLASS(HIGH), could not be kept over the end of the "+
				"queue manager and are lost", name)
	}
}

// Stop ends the manager: connections by mode, then listeners and services, then the store.
func (m *Manager) Stop(ctx context.Context, mode store.StopMode) error {
	if m.state.Swap(stateQuiescing) == stateQuiescing {
		return fmt.Errorf("queue manager %s is stopping already", m.opt.Name)
	}
	if mode != store.Quiesce {
		m.stopControlled()
	}
	m.quiesceConns(ctx, mode)
	if mode == store.Quiesce {
		m.stopControlled()
	}
	m.stopEvents(mode)
	m.stopMessaging()
	m.cancel()
	err := m.opt.Store.Close(mode, m.keepNonpersistent)
	m.settling.end()
	invariants.Blocking("waiting for the goroutines of a queue manager")
	m.wg.Wait()
	m.logLost(err)
	m.state.Store(stateStopped)
	return err
}
