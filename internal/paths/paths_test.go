package paths

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDataDirOrder(t *testing.T) {
	t.Setenv("QMGRD_DATA", "/env")
	t.Setenv("STATE_DIRECTORY", "/sysd/a:/sysd/b")
	t.Setenv("XDG_STATE_HOME", "/xdg")
	check := func(flag, want string) {
		t.Helper()
		got, err := DataDir(flag)
		if err != nil || got != want {
			t.Fatalf("DataDir(%q) = %q, %v; want %q", flag, got, err, want)
		}
	}
	check("/flag", "/flag")
	check("", "/env")
	t.Setenv("QMGRD_DATA", "")
	check("", "/sysd/a")
	t.Setenv("STATE_DIRECTORY", "")
	if os.Geteuid() == 0 {
		check("", systemDir)
	} else {
		check("", "/xdg/qmgrd")
	}
}

func TestFolderKeepsNamesInside(t *testing.T) {
	for _, qm := range []string{"QM1", "a.b/c", "..", "/", "%_"} {
		if err := ValidName(qm); err != nil {
			t.Fatal(err)
		}
		f := Folder(qm)
		if strings.ContainsAny(f, "./") || QMName(f) != qm {
			t.Errorf("Folder(%q) = %q, back %q", qm, f, QMName(f))
		}
	}
	for _, bad := range []string{"", strings.Repeat("A", 49), "a b", "a!b", "ä"} {
		if ValidName(bad) == nil {
			t.Errorf("ValidName(%q) accepted", bad)
		}
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"QM1", "A!B", "noini"} {
		if err := os.Mkdir(filepath.Join(dir, f), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"QM1", "A!B"} {
		if err := os.WriteFile(filepath.Join(dir, f, "qm.ini"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := List(dir)
	if err != nil || !cmp.Equal(got, []string{"A.B", "QM1"}) {
		t.Fatalf("List = %v, %v", got, err)
	}
	if got, err := List(filepath.Join(dir, "none")); err != nil || got != nil {
		t.Fatalf("List of no directory = %v, %v", got, err)
	}
}

func TestSocketsOfAnyLength(t *testing.T) {
	for _, sub := range []string{"s", strings.Repeat("long-", 30)} {
		dir := filepath.Join(t.TempDir(), sub)
		if err := os.MkdirAll(Dir(dir, "QM.1"), 0o700); err != nil {
			t.Fatal(err)
		}
		path := Socket(dir, "QM.1")
		l, err := ListenUnix(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ListenUnix(path); !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatalf("second listen: %v", err)
		}
		done := make(chan error, 1)
		go func() {
			// the probe of the refused second listen arrives first
			for i := 0; i < 2; i++ {
				c, err := l.Accept()
				if err != nil {
					done <- err
					return
				}
				_, _ = io.WriteString(c, "hello")
				c.Close()
			}
			done <- nil
		}()
		c, err := DialUnix(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(c); string(b) != "hello" {
			t.Fatalf("read %q", b)
		}
		c.Close()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if l.Addr().String() != path {
			t.Errorf("Addr = %s", l.Addr())
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("socket file after Close: %v", err)
		}
	}
}

func TestStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), SocketName)
	l, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	l.UnixListener.Close() // as a killed process leaves it
	l2, err := ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	l2.Close()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenUnix(path); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Fatalf("listen over a file: %v", err)
	}
}
