package qmgr

import (
	"sync"
	"sync/atomic"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// Class is a name space: two objects of one class cannot share a name. All queue kinds are one class.
type Class string

const (
	ClassQueue    Class = "QUEUE"
	ClassTopic    Class = "TOPIC"
	ClassSub      Class = "SUB"
	ClassChannel  Class = "CHANNEL"
	ClassClntconn Class = "CLNTCONN"
	ClassProcess  Class = "PROCESS"
	ClassNamelist Class = "NAMELIST"
	ClassAuthinfo Class = "AUTHINFO"
	ClassComminfo Class = "COMMINFO"
	ClassListener Class = "LISTENER"
	ClassService  Class = "SERVICE"
	ClassCFStruct Class = "CFSTRUCT"
	ClassQmgr     Class = "QMGR"
)

// Def is an object's definition at one moment. Immutable once it is stored in an Object.
type Def struct {
	Kind   attr.Kind
	Name   string
	Schema *attr.Schema
	Vals   []string // by place in Schema.Attrs; canonical text
}

// Get returns an attribute's canonical text, "" when the kind has no such attribute.
func (d *Def) Get(keyword string) string {
	if i, ok := d.Schema.Index(keyword); ok {
		return d.Vals[i]
	}
	return ""
}

// Object is a registered object: its definition, and its running part.
type Object struct {
	Class Class
	Name  string
	def   atomic.Pointer[Def]

	mu      sync.Mutex
	pending *Pending // the change of this object that is not durable yet, or nil

	// Queue is set for local queues (QLOCAL); it lives as long as the object.
	Queue *Queue
}

// Def returns the definition in force.
func (o *Object) Def() *Def { return o.def.Load() }
