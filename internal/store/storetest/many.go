package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/store"
)

// testGetMany asks for entries that lie in the state file, in the log, and nowhere yet, at once.
func testGetMany(t *testing.T, o Opener) {
	s := o.Open(t, t.TempDir())
	defer s.Close(store.Immediate, nil)
	set := func(from, to int, val string) {
		commit(t, s, func(tx *store.Tx) {
			for i := from; i < to; i++ {
				tx.Set(store.TableRetained, fmt.Appendf(nil, "k%d", i), fmt.Appendf(nil, "%s%d", val, i))
			}
		})
	}
	set(0, 40, "old")
	if err := s.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
	set(20, 60, "new")
	commit(t, s, func(tx *store.Tx) {
		tx.Set(store.TableRetained, []byte("empty"), nil)
		for i := 10; i < 60; i += 10 {
			tx.Unset(store.TableRetained, fmt.Appendf(nil, "k%d", i))
		}
	})
	tx := &store.Tx{}
	tx.Set(store.TableRetained, []byte("k1"), []byte("last1"))
	tx.Unset(store.TableRetained, []byte("k2"))
	tx.Set(store.TableRetained, []byte("k70"), []byte("last70"))
	k := s.Submit(tx)
	keys := [][]byte{[]byte("empty"), []byte("k"), []byte("zzz"), []byte("k41")}
	var want []string
	for i := range 80 {
		key := fmt.Appendf(nil, "k%d", (i*37)%80)
		if v, err := s.Get(store.TableRetained, key); err == nil {
			want = append(want, fmt.Sprintf("%d %s=%s", len(keys), key, v))
		}
		keys = append(keys, key)
	}
	want = append(want, "0 empty=", "3 k41=new41")
	slices.Sort(want)
	for range 2 { // before and after the last unit is durable
		var got []string
		if err := s.GetMany(store.TableRetained, keys, func(i int, v []byte) error {
			got = append(got, fmt.Sprintf("%d %s=%s", i, keys[i], v))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if err := k.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	stop := errors.New("enough")
	for _, key := range []string{"k1", "k5", "k41"} { // submitted, in the state file, in the log
		err := s.GetMany(store.TableRetained, [][]byte{[]byte(key)}, func(int, []byte) error { return stop })
		if !errors.Is(err, stop) {
			t.Errorf("%s: what fn returns comes back as %v", key, err)
		}
	}
}
