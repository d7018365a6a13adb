package store

import (
	"context"
	"errors"
	"time"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/vfs"
)

// QID names a local queue for the life of the manager; 0 is never given out. qmgr keeps QID ↔ queue in its
// objects table.
type QID uint32

// Seq is a message's number in its queue, rising, never used twice.
type Seq uint64

// Rec is a message as the store sees it.
type Rec struct {
	Head       []byte // qmgr's encoding of descriptor and properties; kept small
	Body       []byte
	Persistent bool // not persistent: memory or the spill file, no log frame
}

// Loc says where a record lies. It is a hint: the caller keeps it (16 bytes, no pointer) and hands it back to
// Read, which falls back on (QID, Seq) when the record has moved since.
type Loc struct {
	Seg uint32
	Len uint32
	Off uint64
}

// Table is a named key space for everything that is not a message.
type Table uint8

const (
	TableMeta      Table = iota + 1 // manager-wide counters, identifiers
	TableObjects                    // definitions
	TableSubs                       // durable subscriptions
	TableRetained                   // topic string → retained publication
	TableChannels                   // synchronisation records
	TableAuthority                  // authority and channel authentication records
	TableHierarchy                  // publish/subscribe relations
	TableFlows                      // message flows
	TableIndoubt                    // prepared units
)

// StopMode says how much a Close still does.
type StopMode uint8

const (
	Quiesce StopMode = iota
	Immediate
	Preempt
)

var (
	// ErrClosed answers every call after Close.
	ErrClosed = errors.New("store: closed")
	// ErrFailed answers every call after a sync failed: what is on disk is unknown, the manager must end.
	ErrFailed = errors.New("store: a write or sync failed, the store accepts no more work")
	// ErrFull: no room on disk. Nothing of the unit was kept; the store goes on.
	ErrFull = errors.New("store: no space left")
	// ErrNotFound: no such record.
	ErrNotFound = errors.New("store: no such record")
	// ErrCorrupt is wrapped by an error that names file and offset.
	ErrCorrupt = errors.New("store: corrupt")
)

// Ticket is a unit of work on its way to the disk.
type Ticket interface {
	// Wait returns when the unit is durable (nil) or refused. It may be called more than once and by several.
	// A cancelled ctx stops the waiting, never the unit.
	Wait(ctx context.Context) error
	// Leave lets the unit wait for another one without anybody's waiting for it, when it has promised to be awaited, is alone, and
	// such waits were of use lately. then is called without any lock when it is durable or refused, by whoever has committed it.
	// Without true it is not, and Wait is to be called.
	Leave(then func(by any, err error)) bool
	// Locs returns the place of each Put of the unit, in the order of the calls. Only after Wait returned nil.
	Locs() []Loc
}

// Store owns every byte on disk. All methods are safe for concurrent use.
type Store interface {
	// Submit hands the unit over; units become durable in the order of their Submit. The Tx must not be used
	// again. Submit may wait for room (see Admit). A unit with nothing persistent in it completes without a sync (and before Submit returns).
	Submit(t *Tx) Ticket
	// Admit waits until a unit that may still grow by more bytes has room on its way to the disk, and keeps that room
	// for it. Submit waits for room otherwise; for an admitted unit it does not, so that it may be called with a lock
	// held. An admitted unit must be submitted soon.
	Admit(t *Tx, more int)
	// Commit is Submit and Wait.
	Commit(ctx context.Context, t *Tx) ([]Loc, error)
	// Read returns head and body of one live record. The slices are the caller's.
	Read(q QID, s Seq, l Loc) (Rec, error)
	// InMemory reports whether Read of a persistent message needs no file at the moment.
	InMemory(q QID, s Seq) bool
	// Live calls fn for every live message, queue by queue, in Seq order. Once, before the first Submit.
	Live(fn func(Live) error) error
	// Get reads one table entry as it is durable or submitted; ErrNotFound when absent.
	Get(table Table, key []byte) ([]byte, error)
	// GetMany is Get of many keys of a table: fn is called for each that is there, in any order, with its place in keys. v is
	// valid during fn only, and fn may not use the store.
	GetMany(table Table, keys [][]byte, fn func(i int, v []byte) error) error
	// Range walks from ≤ key < to in key order (nil to = to the end). The slices are valid during fn only.
	Range(table Table, from, to []byte, fn func(k, v []byte) error) error
	// Checkpoint makes the log short. A no-op where there is none.
	Checkpoint(ctx context.Context) error
	// Close ends the store. Quiesce and Immediate keep the nonpersistent messages of the queues for which keep
	// says true (NPMCLASS(HIGH) as it is now); Preempt asks nobody and keeps none.
	Close(m StopMode, keep func(QID) bool) error
	// Failed is closed when the store can no longer accept work (ErrFailed).
	Failed() <-chan struct{}
	Stats() Stats
}

// Live is one message found at Open.
type Live struct {
	Q          QID
	S          Seq
	L          Loc
	Head       []byte // valid during the call only
	BodyLen    uint32
	Persistent bool
}

// Stats are figures for DISPLAY QMSTATUS and /metrics.
type Stats struct {
	Syncs, Commits, BytesWritten       uint64
	MemoryMessages, MemoryBytes        uint64
	LogBytes, LogSegments, Checkpoints uint64
	// LogNeeded is how much of the log a start would replay, LogLimit how large the log may grow.
	LogNeeded, LogLimit uint64
}

// Options of Open.
type Options struct {
	Dir         string
	FS          vfs.FS
	MemoryLimit int64 // of nonpersistent messages, those beyond spill; 0 = 64 MiB
	SegmentSize int64 // bytes of a log segment; 0 = 64 MiB
	ReadOnly    bool  // for the checker
	AcceptLoss  bool  // go on behind a corrupt frame

	Clock           clock.Clock   // nil = the machine's
	CacheBytes      int64         // messages just put that are kept in memory; 0 = 8 MiB
	CheckpointBytes int64         // log written between two checkpoints; 0 = SegmentSize
	CheckpointEvery time.Duration // at most, when something was written; 0 = 30 s
	LogSegments     int           // the log may grow to so many segments, then commits wait; 0 = 16
	// JoinDelay is how long a get or a put that is alone waits for another one to share its sync, when such waits were of use
	// lately; 0 = 200 µs, or never with a Clock that is not the machine's; negative = never.
	JoinDelay time.Duration
	// Notice is told in a sentence what an operator should know (an unfinished write at the end of the log); nil =
	// nobody.
	Notice func(string)
}
