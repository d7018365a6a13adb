package daemon

import (
	"io"
	"runtime/debug"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// Version is set by the linker.
var Version = "dev"

// VRMF is the command level that clients and the error log see.
const VRMF = "9.4.1.0"

// Options of Run.
type Options struct {
	Name    string
	DataDir string

	Create       bool // make it when it is missing
	Container    bool // the environment names it
	Listen       string
	HTTP         string
	HTTPInsecure bool
	Scripts      []string // --mqsc: files, or directories whose *.mqsc run in name order
	// Dev makes the objects and users that tutorials assume (docs/dev-setup.md).
	Dev bool
	// LowLatency keeps the processors awake while clients send much.
	LowLatency bool
	Lenient    bool // a failing start-up command is logged, not fatal

	// AcceptLoss starts on a damaged store and gives up what is damaged.
	AcceptLoss bool

	FS       vfs.FS    // of the store; nil is the machine's
	Log      io.Writer // JSON lines
	LogLevel zerolog.Level
	// Ready is called once, when work is accepted.
	Ready func()
	// Stops brings stop requests from outside (signals); may be nil.
	Stops <-chan StopRequest
	// Exit ends the process at once; a preemptive stop calls it. Tests put something else here.
	Exit func(code int)
}

// tuneMemory keeps a resting manager small, and a busy one from collecting garbage all the time. An operator's GOGC and GOMEMLIMIT win, because the runtime read them.
func tuneMemory(c Config, env func(string) string) {
	if env("GOGC") == "" {
		startPacer(clock.Real())
	}
	if c.HeapLimit > 0 && env("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(c.HeapLimit)
	}
}

// loadingGC is the growth while objects and messages are loaded: they stay, so that looking through them often finds
// nothing.
const loadingGC = 400

// loading makes collections rare until the result is called.
func loading(env func(string) string) (done func()) {
	if env("GOGC") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(loadingGC)
	return func() { debug.SetGCPercent(before) }
}
