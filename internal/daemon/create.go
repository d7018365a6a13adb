package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/qmgr"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// CreateOptions of Create.
type CreateOptions struct {
	DataDir, Name string
	DeadQ         string // -u
	DefXmitQ      string // -d
	Port          int    // -p: a listener that starts with the manager, 0 for none
	Descr         string // crtmqm -c
	MaxUMsgs      int    // crtmqm -x, 0 for the default
	MaxHandles    int    // crtmqm -h, 0 for the default
}

// portListener is the listener that -p makes, as crtmqm names it.
const portListener = "SYSTEM.LISTENER.TCP.1"

// containerPort is where clients find the manager of a container.
const containerPort = 1414

// Creation is how a start makes the manager that is missing. One that a container brings, or that has no developer objects though it
// was started with --dev, listens; developer objects have a listener of their own.
func (o *Options) Creation() CreateOptions {
	c := CreateOptions{DataDir: o.DataDir, Name: o.Name}
	if o.Listen == "" && (o.Container || o.Dev) && !(o.Dev && devObjects()) {
		c.Port = containerPort
	}
	return c
}

// Create makes a manager: in a folder of another name first, which becomes the manager's when all is there, so that a
// creation that fails or is cut short leaves no manager behind. It returns how many objects were made.
func Create(ctx context.Context, o CreateOptions) (objects int, err error) {
	if err := paths.ValidName(o.Name); err != nil {
		return 0, fmt.Errorf("%w: %v", ErrBadName, err)
	}
	if err := o.check(); err != nil {
		return 0, err
	}
	if err := usable(o.DataDir); err != nil {
		return 0, err
	}
	dir := paths.Dir(o.DataDir, o.Name)
	if _, err := os.Lstat(dir); err == nil {
		return 0, fmt.Errorf("%w: %s in %s", ErrExists, o.Name, o.DataDir)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	if err := os.MkdirAll(o.DataDir, 0o750); err != nil {
		return 0, err
	}
	sweep(o.DataDir)
	tmp, err := os.MkdirTemp(o.DataDir, createPrefix)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	if objects, err = fill(ctx, tmp, o); err != nil {
		return 0, err
	}
	if err = vfs.OS().SyncDir(tmp); err != nil {
		return 0, err
	}
	if err = os.Rename(tmp, dir); err != nil {
		if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
			err = fmt.Errorf("%w: %s in %s", ErrExists, o.Name, o.DataDir)
		}
		return 0, err
	}
	return objects, vfs.OS().SyncDir(o.DataDir)
}

// usable makes the data directory, or says that it is the trouble and how to choose another.
func usable(dir string) error {
	err := os.MkdirAll(dir, 0o750)
	if err == nil {
		err = unix.Access(dir, unix.W_OK|unix.X_OK)
	}
	if err == nil {
		return nil
	}
	return fmt.Errorf("the data directory %s cannot be written: %w; choose another with --data or QMGRD_DATA", dir, err)
}

// check looks at the options before anything is made.
func (o *CreateOptions) check() error {
	if o.Port < 0 || o.Port > 65535 {
		return fmt.Errorf("%w: -p %d is not a port, use 1 to 65535", ErrBadOption, o.Port)
	}
	for flag, name := range map[string]string{"-u": o.DeadQ, "-d": o.DefXmitQ} {
		if name == "" {
			continue
		}
		if err := paths.ValidName(name); err != nil { // queues have the same rules
			return fmt.Errorf("%w: %s %s: a queue's name has up to 48 of the characters A-Z a-z 0-9 . _ / %%", ErrBadOption, flag, name)
		}
	}
	return nil
}

// fill makes what is in a new manager's folder.
func fill(ctx context.Context, dir string, o CreateOptions) (int, error) {
	if err := os.Mkdir(filepath.Join(dir, errorsDir), 0o750); err != nil {
		return 0, err
	}
	ini := fmt.Sprintf(initialIni, o.Name)
	if err := os.WriteFile(filepath.Join(dir, iniName), []byte(ini), 0o640); err != nil {
		return 0, err
	}
	if err := writeState(dir, state{StatusEndedNow, 0}); err != nil {
		return 0, err
	}
	n, err := withStore(dir, func(o qmgr.Options) (int, error) {
		if err := qmgr.Create(o); err != nil {
			return 0, err
		}
		return countObjects(o.Store)
	}, o.Name)
	if err != nil || !o.hasCommands() {
		return n, err
	}
	// A store hands its messages to the manager before it takes work, so the flags need an opening of their own.
	extra, err := withStore(dir, func(qo qmgr.Options) (int, error) {
		qm, err := qmgr.Open(qo)
		if err != nil {
			return 0, err
		}
		made, err := initialCommands(ctx, qm, o)
		return made, errors.Join(err, qm.Stop(ctx, store.Immediate))
	}, o.Name)
	return n + extra, err
}

// withStore opens a new manager's store for fn and closes it.
func withStore(dir string, fn func(qmgr.Options) (int, error), name string) (int, error) {
	st, err := store.Open(storeOptions(dir, Config{}))
	if err != nil {
		return 0, err
	}
	log := zerolog.Nop()
	who, group := account()
	n, err := fn(qmgr.Options{Name: name, Dir: dir, Store: st, Clock: clock.Real(), Log: &log, User: who, Group: group,
		Version: Version})
	if cerr := st.Close(store.Immediate, func(store.QID) bool { return false }); !errors.Is(cerr, store.ErrClosed) {
		err = errors.Join(err, cerr)
	}
	return n, err
}

func countObjects(st store.Store) (int, error) {
	n := 0
	err := st.Range(store.TableObjects, nil, nil, func(_, _ []byte) error { n++; return nil })
	return n, err
}

func (o CreateOptions) hasCommands() bool {
	return o.DeadQ != "" || o.DefXmitQ != "" || o.Port != 0 || o.Descr != "" || o.MaxUMsgs != 0 || o.MaxHandles != 0
}

// initialCommands applies the flags of create. It returns how many objects that made.
func initialCommands(ctx context.Context, qm *qmgr.Manager, o CreateOptions) (int, error) {
	var alter []string
	text := func(key, v string) {
		if v != "" {
			alter = append(alter, key+"('"+strings.ReplaceAll(v, "'", "''")+"')")
		}
	}
	number := func(key string, v int) {
		if v != 0 {
			alter = append(alter, fmt.Sprintf("%s(%d)", key, v))
		}
	}
	text("DEADQ", o.DeadQ)
	text("DEFXMITQ", o.DefXmitQ)
	text("DESCR", o.Descr)
	number("MAXUMSGS", o.MaxUMsgs)
	number("MAXHANDS", o.MaxHandles)
	var cmds []string
	if len(alter) > 0 {
		cmds = append(cmds, "ALTER QMGR "+strings.Join(alter, " "))
	}
	made := 0
	if o.Port != 0 {
		cmds = append(cmds, fmt.Sprintf("DEFINE LISTENER(%s) TRPTYPE(TCP) PORT(%d) CONTROL(QMGR)", portListener, o.Port))
		made = 1
	}
	for _, text := range cmds {
		cmd, serr := mqsc.ParseCommand(text)
		if serr != nil {
			return 0, fmt.Errorf("%w: %v", ErrBadOption, serr)
		}
		if r := qm.Execute(ctx, cmd, auth.System(o.Name)); r.Failed() {
			return 0, fmt.Errorf("%w: %s: %s", ErrBadOption, text, messagesOf(r))
		}
	}
	return made, nil
}

// ErrBadOption: a flag of create has a value that the queue manager refuses.
var ErrBadOption = errors.New("an option cannot be applied")
