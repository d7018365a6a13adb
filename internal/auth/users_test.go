package auth

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestUsersFile(t *testing.T) {
	u := NewUsers()
	const canary = "tr0ub4dor&3 canary"
	if err := u.Set("app", canary, []string{"mqclient", "dev", "dev"}); err != nil {
		t.Fatal(err)
	}
	if err := u.Set("admin", "another one", nil); err != nil {
		t.Fatal(err)
	}
	file := u.Format()
	if bytes.Contains(file, []byte("canary")) || !bytes.Contains(file, []byte("$argon2id$v=19$m=19456,t=2,p=1$")) {
		t.Errorf("%s", file)
	}
	r, err := ParseUsers(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.List(); len(got) != 2 || got[1].Name != "app" || strings.Join(got[1].Groups, " ") != "dev mqclient" {
		t.Errorf("%+v", got)
	}
	for _, c := range []struct {
		user, password string
		want           bool
	}{{"app", canary, true}, {"app", canary, true}, {"app", canary + "x", false}, {"app", "", false}, {"admin", canary, false},
		{"APP", canary, false}, {"eve", "nobody has this password", false}, {"", canary, false},
		{"app", canary + strings.Repeat("x", MaxPassword), false}} {
		if got := r.Check(c.user, c.password); got != c.want {
			t.Errorf("%s with %d characters: %v", c.user, len(c.password), got)
		}
	}
	if !bytes.Equal(r.Format(), file) {
		t.Error("reading and writing changes the file")
	}
	if !r.Delete("app") || r.Delete("app") || r.Check("app", canary) {
		t.Error("delete")
	}
}

func TestUsersRefuse(t *testing.T) {
	u := NewUsers()
	for _, c := range [][3]string{{"", "long enough", "g"}, {"a:b", "long enough", "g"}, {"a\nb", "long enough", "g"}, {"a", "short", "g"},
		{"a", strings.Repeat("x", MaxPassword+1), "g"}, {"a", "long enough", "g,h"}} {
		if err := u.Set(c[0], c[1], []string{c[2]}); err == nil {
			t.Errorf("%q was taken", c)
		}
	}
	for _, f := range []string{"app", "app:x:", "a b:$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:",
		"app:$argon2id$v=19$m=4294967295,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:",
		"app:$argon2id$v=19$m=8,t=99,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA:",
		"app:$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA:", "app:$2y$10$abc:"} {
		if _, err := ParseUsers([]byte(f)); err == nil {
			t.Errorf("%q was taken", f)
		}
	}
}

// A user that there is not costs as much as a wrong password, and many tries at once do not stop.
func TestUsersWork(t *testing.T) {
	u := NewUsers()
	if err := u.Set("app", "the password", nil); err != nil {
		t.Fatal(err)
	}
	type work struct {
		n            int
		memory, time uint32
	}
	did := func(user, password string) (w work) {
		u.hashed = func(c *hashCost) { w.n, w.memory, w.time = w.n+1, c.memory, c.time }
		defer func() { u.hashed = nil }()
		if u.Check(user, password) {
			t.Fatal(user)
		}
		return w
	}
	want := work{1, hashMemory, hashTime}
	for _, c := range [][2]string{{"app", "not the password"}, {"eve", "not the password"}, {"", ""},
		{"app", strings.Repeat("x", MaxPassword+1)}} {
		if w := did(c[0], c[1]); w != want {
			t.Errorf("user %q: work %+v, not %+v", c[0], w, want)
		}
	}
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { u.Check("app", "wrong again") })
	}
	if !u.Check("app", "the password") {
		t.Error("the right password")
	}
	wg.Wait()
}

// A new user's name fits a message, and is not the one that stands there for those that do not.
func TestUserNames(t *testing.T) {
	u := NewUsers()
	for name, ok := range map[string]bool{"adminadmin12": true, "adminadmin12x": false, "UNKNOWN": false} {
		if err := u.Set(name, "the password", nil); (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzParseUsers(f *testing.F) {
	u := NewUsers()
	if err := u.Set("app", "the password", []string{"g"}); err != nil {
		f.Fatal(err)
	}
	f.Add(u.Format())
	f.Fuzz(func(t *testing.T, file []byte) {
		u, err := ParseUsers(file)
		if err != nil {
			return
		}
		if _, err := ParseUsers(u.Format()); err != nil {
			t.Errorf("%v of %q", err, u.Format())
		}
	})
}

// Many who give a password at once do not take memory for as many hashes, and one whose check panics takes nobody's turn.
func TestHashesAtATime(t *testing.T) {
	u := NewUsers()
	if err := u.Set("app", "the password", nil); err != nil {
		t.Fatal(err)
	}
	u.Check("app", "wrong") // the hash of nobody is made
	u.hashed = func(*hashCost) { panic("not to be") }
	for range maxHashing {
		func() {
			defer func() { _ = recover() }()
			u.Check("app", "wrong")
		}()
	}
	const n = 8
	begun, goOn := make(chan bool, n), make(chan bool)
	u.hashed = func(*hashCost) { begun <- true; <-goOn }
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() { u.Check("app", "wrong") })
	}
	for range maxHashing {
		<-begun
	}
	select {
	case <-begun:
		t.Errorf("more than %d hashes at a time", maxHashing)
	case <-time.After(50 * time.Millisecond):
	}
	close(goOn)
	wg.Wait()
}
