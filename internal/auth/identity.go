// Package auth holds identities and, later, what decides about them: CONNAUTH, CHLAUTH rules, authority records.
// It opens no socket.
package auth

// Identity is who asks.
type Identity struct {
	User   string
	UID    int
	Groups []string
	Admin  bool   // may do everything: root, the manager's own user, members of the administrators' group
	Origin string // "local", "mqsc", "channel NAME", for logs
}

// System is the queue manager itself.
func System(user string) Identity { return Identity{User: user, UID: -1, Admin: true, Origin: "qmgr"} }
