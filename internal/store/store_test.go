package store_test

import (
	"os"
	"testing"

	"github.com/qmgrd/qmgrd/internal/leaks"
	"github.com/qmgrd/qmgrd/internal/store"
	"github.com/qmgrd/qmgrd/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killEnv); dir != "" {
		killChild(dir)
		return
	}
	leaks.VerifyTestMain(m)
}

func TestMem(t *testing.T) {
	storetest.Run(t, storetest.Opener{Forgets: true, Open: func(testing.TB, string) store.Store { return store.OpenMem() }})
}

func openBolt(t testing.TB, dir string) store.Store {
	t.Helper()
	s, err := store.OpenBolt(store.Options{Dir: dir})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func TestBolt(t *testing.T) { storetest.Run(t, storetest.Opener{Open: openBolt}) }

func openLog(t testing.TB, dir string) store.Store {
	t.Helper()
	s, err := store.OpenLog(store.Options{Dir: dir})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func TestLog(t *testing.T) { storetest.Run(t, storetest.Opener{Open: openLog}) }

// Small segments: every unit meets the borders between them, parts and big files are common.
func TestLogSmall(t *testing.T) {
	storetest.Run(t, storetest.Opener{Open: func(t testing.TB, dir string) store.Store {
		t.Helper()
		s, err := store.OpenLog(store.Options{Dir: dir, SegmentSize: 64 << 10, LogSegments: 4, CacheBytes: 32 << 10})
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		return s
	}})
}
