package qmgr

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// spoil changes a byte of text wherever the log of dir holds it.
func spoil(t *testing.T, dir, text string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "log", "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(b, []byte(text)); i >= 0 {
			b[i] ^= 1
			if err := os.WriteFile(name, b, 0o600); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%q is in no segment", text)
}

// A message whose place on disk is damaged is served to nobody and said once; what is behind it is served; it counts and
// can be cleared.
func TestDamagedMessageIsPassedOver(t *testing.T) {
	r := newBoltRig(t)
	r.define("QLOCAL", "A", "DEFPSIST", "YES")
	h := r.openQ(r.c, "A", mqi.MQOO_OUTPUT)
	for _, text := range []string{"the first message", "the second message", "the third message"} {
		r.put(r.c, h, text, 0)
	}
	r.restart(store.Preempt)
	spoil(t, r.dir, "the first message")
	spoil(t, r.dir, "the second message")
	h = r.openQ(r.c, "A", mqi.MQOO_INPUT_SHARED|mqi.MQOO_BROWSE)
	_, _, err := tryGet(r.c, h, mqi.MQGMO_BROWSE_FIRST)
	wantRC(t, err, mqi.MQRC_OBJECT_DAMAGED)
	_, _, err = tryGet(r.c, h, mqi.MQGMO_SYNCPOINT)
	wantRC(t, err, mqi.MQRC_OBJECT_DAMAGED)
	if text, _ := r.get(r.c, h, mqi.MQGMO_SYNCPOINT); text != "the third message" {
		t.Fatalf("got %q", text)
	}
	if err := r.c.Backout(bg); err != nil {
		t.Fatal(err)
	}
	if text, _ := r.get(r.c, h, mqi.MQGMO_NO_SYNCPOINT); text != "the third message" {
		t.Fatalf("got %q", text)
	}
	for _, o := range []int32{mqi.MQGMO_NO_SYNCPOINT, mqi.MQGMO_BROWSE_FIRST} {
		_, _, err := tryGet(r.c, h, o)
		wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	}
	if n := r.depth("A"); n != 2 {
		t.Fatalf("depth %d, want the damaged ones", n)
	}
	if n := strings.Count(r.log.String(), msgDamaged); n != 2 || !strings.Contains(r.log.String(), `"queue":"A"`) {
		t.Fatalf("said %d times:\n%s", n, r.log.String())
	}
	if err := r.c.Close(bg, h, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.m.lookup(ClassQueue, "A").Queue.clear(bg); err != nil {
		t.Fatal(err)
	}
	if n := r.depth("A"); n != 0 {
		t.Fatalf("depth %d after a clear", n)
	}
}
