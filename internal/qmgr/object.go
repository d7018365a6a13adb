package qmgr

import (
	"strings"
	"sync/atomic"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/invariants"
	"github.com/qmgrd/qmgrd/internal/pubsub"
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

	// Records that are kept, latched and shown like objects; their name is a made-up key.
	ClassChlauth Class = "CHLAUTH"
	ClassAuthrec Class = "AUTHREC"
)

// classOf gives the name space of a kind.
func classOf(k attr.Kind) Class {
	switch k {
	case "QLOCAL", "QMODEL", "QALIAS", "QREMOTE", "QUEUE", "QCLUSTER":
		return ClassQueue
	case "CHANNEL(CLNTCONN)":
		return ClassClntconn
	}
	switch {
	case isChannel(k):
		return ClassChannel
	case strings.HasPrefix(string(k), "AUTHINFO"):
		return ClassAuthinfo
	}
	return Class(k)
}

func isChannel(k attr.Kind) bool { return strings.HasPrefix(string(k), "CHANNEL") }

func isQueue(k attr.Kind) bool { return classOf(k) == ClassQueue }

// subtype is SDR for CHANNEL(SDR), OCSP for AUTHINFO(OCSP), "" for kinds without one.
func subtype(k attr.Kind) string {
	_, t, _ := strings.Cut(string(k), "(")
	return strings.TrimSuffix(t, ")")
}

// chlType is the channel type of a channel kind, "" for other kinds.
func chlType(k attr.Kind) string {
	if isChannel(k) {
		return subtype(k)
	}
	return ""
}

// kindFits reports whether an object of kind k is what a command on kind c means; CHANNEL, AUTHINFO and QUEUE stand
// for each of their types.
func kindFits(c, k attr.Kind) bool {
	return c == k || (c == "CHANNEL" || c == "AUTHINFO" || c == "QUEUE") && (classOf(c) == classOf(k) || isChannel(c) && isChannel(k))
}

// Object is a registered object: its definition, and its running part.
type Object struct {
	Class Class
	Name  string
	def   atomic.Pointer[Def]

	mu      invariants.Ranked[invariants.Object]
	pending *Pending // the change of this object that is not durable yet, or nil

	made     atomic.Pointer[maker] // of a dynamic queue: who made it
	deleting atomic.Bool           // a DELETE is under way: no new handle may be made
	making   atomic.Bool           // MQSUB makes it: no handle but that one's may be made

	// Queue is set for local queues (QLOCAL); it lives as long as the object.
	Queue *Queue

	sub atomic.Pointer[pubsub.Sub] // a subscription's place in the topic tree

	// run is what a listener or service does now; nil until it was first started.
	run atomic.Pointer[running]

	stopped atomic.Bool // of a server-connection channel: STOP CHANNEL, until START CHANNEL, over restarts
}

// Def returns the definition in force; nil while the DEFINE of a new object is not durable.
func (o *Object) Def() *Def { return o.def.Load() }

// latched returns the change under way.
func (o *Object) latched() *Pending {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.pending
}

func (o *Object) setPending(p *Pending) {
	o.mu.Lock()
	o.pending = p
	o.mu.Unlock()
}

// unlatch clears the change if it is still p's.
func (o *Object) unlatch(p *Pending) {
	o.mu.Lock()
	if o.pending == p {
		o.pending = nil
	}
	o.mu.Unlock()
}
