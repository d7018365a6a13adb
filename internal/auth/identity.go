// Package auth decides who somebody is and what he may do: channel authentication records (CHLAUTH), connection
// authentication (CONNAUTH) with its password file, authority records, and the names of TLS cipher specifications.
//
// Everything here is a function of what it is given. It opens no file and no socket, and reads no clock: package daemon
// brings files and addresses, package qmgr the records.
package auth

// Identity is who asks.
type Identity struct {
	User   string
	UID    int // of a local user; -1 when there is none
	Groups []string
	Admin  bool   // may do everything: root, the manager's own user, members of the administrators' groups
	Origin string // "local", "mqsc", "channel NAME", for logs

	Unproven bool // the name is an administrator's, by the client's word alone: it gives nothing
}

// System is the queue manager itself.
func System(user string) Identity { return Identity{User: user, UID: -1, Admin: true, Origin: "qmgr"} }

// AdminGroup is the group whose members administer every queue manager, as in the vendor's installations.
const AdminGroup = "mqm"

// Account is what is known of a user id by its name alone.
type Account struct {
	Groups []string
	Admin  bool
}

// Directory finds accounts. An id that nobody knows has no groups and is no administrator.
type Directory interface {
	Account(user string) Account
}

// DirectoryFunc is a Directory.
type DirectoryFunc func(user string) Account

// Account implements Directory.
func (f DirectoryFunc) Account(user string) Account { return f(user) }
