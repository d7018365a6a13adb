package crashfs

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func mustOpen(t *testing.T, d *FS, name string) *file {
	t.Helper()
	f, err := d.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return f.(*file)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func crashed(t *testing.T, d *FS, k Keep, seed uint64) *FS {
	t.Helper()
	c, err := d.Crash(k, seed, t.TempDir())
	must(t, err)
	return c
}

func TestUnsyncedIsLost(t *testing.T) {
	d := New(t.TempDir())
	must(t, d.MkdirAll("/a", 0o700))
	must(t, d.SyncDir("/"))
	f := mustOpen(t, d, "/a/f")
	f.WriteAt([]byte("one"), 0)
	must(t, f.Sync())
	f.WriteAt([]byte("two"), 3)
	if names, _ := crashed(t, d, None, 0).List("/a"); len(names) != 0 {
		t.Fatalf("the name was not synced, and yet %v", names)
	}
	must(t, func() error { d.dead = false; return d.SyncDir("/a") }())
	for k, want := range map[Keep]string{None: "one", All: "onetwo"} {
		c := crashed(t, d, k, 0)
		g := mustOpen(t, c, "/a/f")
		if string(g.n.cur) != want {
			t.Fatalf("keep %d: %q, want %q", k, g.n.cur, want)
		}
	}
}

func TestRenameNeedsSyncDir(t *testing.T) {
	d := New(t.TempDir())
	must(t, d.MkdirAll("/a", 0o700))
	must(t, d.SyncDir("/"))
	mustOpen(t, d, "/a/new")
	must(t, d.SyncDir("/a"))
	must(t, d.Rename("/a/new", "/a/f"))
	if _, err := crashed(t, d, None, 0).Stat("/a/new"); err != nil {
		t.Fatalf("an unsynced rename: %v", err)
	}
	if _, err := crashed(t, d, All, 0).Stat("/a/f"); err != nil {
		t.Fatalf("a kept rename: %v", err)
	}
}

func TestRandomTears(t *testing.T) {
	kinds := map[string]bool{}
	for seed := range uint64(200) {
		d := New(t.TempDir())
		f := mustOpen(t, d, "/f")
		must(t, d.SyncDir("/"))
		f.WriteAt([]byte(strings.Repeat("o", 1024)), 0)
		must(t, f.Sync())
		f.WriteAt([]byte(strings.Repeat("n", 1024)), 0)
		c := crashed(t, d, Random, seed)
		b := mustOpen(t, c, "/f").n.cur
		kinds[string([]byte{b[0], b[511], b[512], b[1023]})] = true
	}
	for _, want := range []string{"oooo", "nnnn", "oonn", "nnoo", "\x00\x00nn"} {
		if !kinds[want] {
			t.Errorf("never saw %q", want)
		}
	}
	for k := range kinds {
		if k[0] != k[1] || k[2] != k[3] {
			t.Errorf("a sector is torn: %q", k)
		}
	}
}

func TestCrashAt(t *testing.T) {
	d := New(t.TempDir())
	f := mustOpen(t, d, "/f")
	d.CrashAt(2)
	if _, err := f.WriteAt([]byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); !errors.Is(err, ErrCrashed) || !d.Dead() {
		t.Fatalf("second change: %v", err)
	}
	if _, err := f.WriteAt([]byte("y"), 0); !errors.Is(err, ErrCrashed) {
		t.Fatalf("after the crash: %v", err)
	}
}
