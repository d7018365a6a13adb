package auth

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"golang.org/x/crypto/argon2"

	"github.com/qmgrd/qmgrd/internal/invariants"
)

// Cost of a password's hash: the lower of the two settings that OWASP gives for Argon2id, so that many clients can
// connect. maxHashing bounds how many are computed at a time, and with that their memory.
const (
	hashTime    = 2
	hashMemory  = 19 << 10 // KiB
	hashThreads = 1
	hashLen     = 32
	saltLen     = 16
	maxHashing  = 2

	// Bounds of what a users file may ask for.
	maxHashTime   = 16
	maxHashMemory = 1 << 20

	// MaxUser bounds the name of a new user: what MQMD.UserIdentifier holds.
	MaxUser = 12
	// MaxPassword bounds a password, MinPassword a new one.
	MaxPassword = 256
	MinPassword = 8

	maxKnown = 4096 // passwords known to be right
)

// usersHead is the first line of a users file.
const usersHead = "# qmgrd users: name:hash:groups - kept by qmgrd user; no line holds a password"

// User is one line of the users file.
type User struct {
	Name   string
	Groups []string
	hash   string
}

// Users is the password file of a queue manager. The table does not change once it is in use; Check may be called by many.
type Users struct {
	byName map[string]*User

	hashing chan struct{}
	mu      invariants.Mutex
	key     [32]byte // of this process
	known   map[[32]byte]struct{}

	hashed func(*hashCost) // for tests: called for each hash that is computed
}

// NewUsers makes an empty table.
func NewUsers() *Users {
	u := &Users{byName: map[string]*User{}, hashing: make(chan struct{}, maxHashing), known: map[[32]byte]struct{}{}}
	if _, err := rand.Read(u.key[:]); err != nil {
		panic(err) // documented never to fail
	}
	return u
}

// ParseUsers reads a users file.
func ParseUsers(file []byte) (*Users, error) {
	u := NewUsers()
	for i, line := range bytes.Split(file, []byte("\n")) {
		text := strings.TrimSpace(string(line))
		if text == "" || text[0] == '#' {
			continue
		}
		f := strings.Split(text, ":")
		if len(f) != 3 {
			return nil, fmt.Errorf("line %d is not name:hash:groups", i+1)
		}
		if err := ValidUser(f[0]); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if _, _, err := parseHash(f[1]); err != nil {
			return nil, fmt.Errorf("line %d: user %s: %w", i+1, f[0], err)
		}
		u.byName[f[0]] = &User{Name: f[0], hash: f[1], Groups: strings.FieldsFunc(f[2], func(r rune) bool { return r == ',' })}
	}
	return u, nil
}

// Format writes a users file, by name.
func (u *Users) Format() []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, usersHead)
	for _, w := range u.List() {
		fmt.Fprintf(&b, "%s:%s:%s\n", w.Name, w.hash, strings.Join(w.Groups, ","))
	}
	return b.Bytes()
}

// List returns the users by name.
func (u *Users) List() []User {
	out := make([]User, 0, len(u.byName))
	for _, w := range u.byName {
		out = append(out, *w)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Set adds a user or replaces one. Not on a table in use.
func (u *Users) Set(name, password string, groups []string) error {
	if err := ValidUser(name); err != nil {
		return err
	}
	switch {
	case len(name) > MaxUser:
		return fmt.Errorf("user %s: a user's name has at most %d characters, as messages carry it", name, MaxUser)
	case name == "UNKNOWN":
		return fmt.Errorf("UNKNOWN stands in messages for users whose name is too long for them, and is nobody's name")
	}
	for _, g := range groups {
		if err := ValidUser(g); err != nil {
			return fmt.Errorf("group: %w", err)
		}
	}
	switch {
	case len(password) < MinPassword:
		return fmt.Errorf("a password has at least %d characters", MinPassword)
	case len(password) > MaxPassword:
		return fmt.Errorf("a password has at most %d bytes", MaxPassword)
	}
	hash, err := newHash(password)
	if err != nil {
		return err
	}
	groups = slices.Clone(groups)
	sort.Strings(groups)
	u.byName[name] = &User{Name: name, Groups: slices.Compact(groups), hash: hash}
	return nil
}

// Delete removes a user; false when there is none. Not on a table in use.
func (u *Users) Delete(name string) bool {
	_, ok := u.byName[name]
	delete(u.byName, name)
	return ok
}

// Find returns a user.
func (u *Users) Find(name string) (User, bool) {
	w, ok := u.byName[name]
	if !ok {
		return User{}, false
	}
	return *w, true
}

// ValidUser checks the characters of a user or group name.
func ValidUser(name string) error {
	if name == "" || len(name) > 64 {
		return fmt.Errorf("a name of 1 to 64 characters is needed")
	}
	for _, c := range name {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("._-@$", c):
		default:
			return fmt.Errorf("name %.64q: letters, digits and . _ - @ $ are taken", name)
		}
	}
	return nil
}

// nobody is hashed for users that there are not, so that the time tells nothing.
var nobody = sync.OnceValue(func() string {
	h, err := newHash("nobody has this password")
	if err != nil {
		panic(err)
	}
	return h
})

// Check reports whether a password is the user's. It takes the same time for a wrong password and an unknown user. What
// was right once is known at once from then on, by a code that is worth nothing outside of this process.
func (u *Users) Check(name, password string) bool {
	if len(password) > MaxPassword {
		password = password[:MaxPassword]
		name = "" // no user has such a password
	}
	w, hash := u.byName[name], nobody()
	if w != nil {
		hash = w.hash
	}
	code := u.code(hash, password)
	if w != nil && u.knows(code) {
		return true
	}
	ok := u.verifyInTurn(hash, password) && w != nil
	if ok {
		u.learn(code)
	}
	return ok
}

// verifyInTurn is verify, for at most maxHashing at a time.
func (u *Users) verifyInTurn(hash, password string) bool {
	u.hashing <- struct{}{}
	defer func() { <-u.hashing }()
	return u.verify(hash, password)
}

func (u *Users) knows(code [32]byte) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	_, known := u.known[code]
	return known
}

func (u *Users) learn(code [32]byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.known) >= maxKnown {
		clear(u.known)
	}
	u.known[code] = struct{}{}
}

func (u *Users) code(hash, password string) (c [32]byte) {
	h := hmac.New(sha256.New, u.key[:])
	fmt.Fprintf(h, "%d:%s:%s", len(hash), hash, password)
	h.Sum(c[:0])
	return c
}

// newHash is in the PHC string format.
func newHash(password string) (string, error) {
	salt := make([]byte, saltLen)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	sum := argon2.IDKey([]byte(password), salt, hashTime, hashMemory, hashThreads, hashLen)
	e := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashTime, hashThreads,
		e.EncodeToString(salt), e.EncodeToString(sum)), nil
}

type hashCost struct {
	memory, time uint32
	threads      uint8
	salt         []byte
}

func parseHash(s string) (c hashCost, sum []byte, err error) {
	f := strings.Split(s, "$")
	if len(f) != 6 || f[0] != "" || f[1] != "argon2id" || f[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, fmt.Errorf("the hash is not of the form $argon2id$v=%d$...; qmgrd user add makes it anew", argon2.Version)
	}
	if _, err := fmt.Sscanf(f[3], "m=%d,t=%d,p=%d", &c.memory, &c.time, &c.threads); err != nil {
		return c, nil, fmt.Errorf("the cost %.40q of the hash cannot be read", f[3])
	}
	if c.memory < 8 || c.memory > maxHashMemory || c.time < 1 || c.time > maxHashTime || c.threads < 1 {
		return c, nil, fmt.Errorf("the cost %s of the hash is out of range", f[3])
	}
	if c.salt, err = base64.RawStdEncoding.DecodeString(f[4]); err == nil {
		sum, err = base64.RawStdEncoding.DecodeString(f[5])
	}
	if err != nil || len(sum) < 16 || len(c.salt) < 8 {
		return c, nil, fmt.Errorf("the hash is damaged")
	}
	return c, sum, nil
}

func (u *Users) verify(hash, password string) bool {
	c, sum, err := parseHash(hash)
	if err != nil {
		return false
	}
	if u.hashed != nil {
		u.hashed(&c)
	}
	got := argon2.IDKey([]byte(password), c.salt, c.time, c.memory, c.threads, uint32(len(sum)))
	return subtle.ConstantTimeCompare(got, sum) == 1
}
