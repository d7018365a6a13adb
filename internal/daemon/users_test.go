package daemon

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

func mustRun(t *testing.T, qm *qmgr.Manager, text string) {
	t.Helper()
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		t.Fatal(serr)
	}
	if r := qm.Execute(context.Background(), c, auth.System("QM1")); r.Failed() {
		t.Fatalf("%s: %s", text, messagesOf(r))
	}
}

// The users file is replaced as a whole, is the owner's alone, and is not followed through a link.
func TestUsersFile(t *testing.T) {
	dir := t.TempDir()
	add := func(name string) error {
		return editUsers(dir, func(u *auth.Users) error { return u.Set(name, "the password", []string{"g"}) })
	}
	if err := add("app"); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, usersName)
	st, err := os.Stat(name)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Fatal(st.Mode(), err)
	}
	if err := add("a:b"); err == nil {
		t.Error("a bad name was taken")
	}
	u, err := ReadUsers(dir)
	if err != nil || !u.Check("app", "the password") || len(u.List()) != 1 {
		t.Fatal(u, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".users-*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if err := os.Chmod(name, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadUsers(dir); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), "x")
	if err := os.Rename(name, other); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, name); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadUsers(dir); err == nil {
		t.Error("a link was followed")
	}
}

func TestPlainPasswordsSetting(t *testing.T) {
	for text, want := range map[string]string{"Security:\n PlainPasswords=YES\n": "true", "Security:\n PlainPasswords=no\n": "false",
		"": "false", "Security:\n PlainPasswords=1\n": "error"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, iniName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := ReadConfig(dir)
		got := map[bool]string{true: "true", false: "false"}[c.PlainPasswords]
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
