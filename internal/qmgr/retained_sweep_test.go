package qmgr

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// hidingStore shows an entry of the retained publications no more, as a store does when a unit under way has another for its key.
type hidingStore struct {
	*slowStore
	key  string
	hide atomic.Bool
}

func (h *hidingStore) Range(table store.Table, from, to []byte, fn func(k, v []byte) error) error {
	return h.slowStore.Range(table, from, to, func(k, v []byte) error {
		if table == retainedTable && h.hide.Load() && string(k) == h.key {
			return nil
		}
		return fn(k, v)
	})
}

// A sweep meets a publication under way in the place of one that was cleared, and the store refuses it in the end: the cleared entry is
// there again, so the record of the clear stays until a sweep has removed it. Else the next start would bring it back.
func TestSweepBesideRefusedPublication(t *testing.T) {
	setClearOneByOne(t, 0)
	st := &hidingStore{slowStore: &slowStore{Store: store.OpenMem()}, key: string(retainedKey("t"))}
	log := zerolog.Nop()
	o := Options{Name: "QM1", Store: st, Clock: clock.NewFake(testTime), Log: &log, User: "root", Version: "test"}
	if err := Create(o); err != nil {
		t.Fatal(err)
	}
	m, err := Open(o) // and not started: nobody else sweeps
	if err != nil {
		t.Fatal(err)
	}
	run := &crashRun{t: t}
	defer run.end(m)
	c, err := m.Connect(bg, admin, ConnectOptions{})
	wantRC(t, err, 0)
	for _, topic := range []string{"a", "t"} {
		wantRC(t, tryPub(c, topic, "old", mqi.MQPMO_RETAIN, persistent), 0)
	}
	run.command(m, "CLEAR TOPICSTR('#') CLRTYPE(RETAINED)")
	recorded := func() bool {
		return slices.ContainsFunc(inTable(t, m), func(k string) bool { return isClearedKey([]byte(k)) })
	}
	if !recorded() || !slices.Contains(inTable(t, m), st.key) {
		t.Fatalf("the store has %q", inTable(t, m))
	}

	hold := make(chan struct{})
	st.set(hold, store.ErrFull)
	refused := make(chan error, 1)
	go func() { refused <- tryPub(c, "t", "new", mqi.MQPMO_RETAIN, persistent) }()
	for under := false; !under; {
		m.retain.mu.Lock()
		under = len(m.retain.flight) == 1
		m.retain.mu.Unlock()
	}
	st.hide.Store(true)
	st.set(nil, nil)
	swept := make(chan bool, 1)
	go func() {
		over, err := m.retain.sweepOnce(bg, st)
		swept <- over || err != nil
	}()
	select {
	case <-swept:
		t.Fatal("the sweep does not wait for the publication under way")
	case <-time.After(50 * time.Millisecond):
	}
	st.hide.Store(false)
	close(hold)
	if err := <-refused; err == nil {
		t.Fatal("the publication is not refused")
	}
	if <-swept || !recorded() {
		t.Errorf("the clear is forgotten while the store has %q", inTable(t, m))
	}
	sweepAll(t, m)
	if left := inTable(t, m); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// afterRange is called once, when a walk of the store is over.
type afterRange struct {
	*slowStore
	do func()
}

func (a *afterRange) Range(table store.Table, from, to []byte, fn func(k, v []byte) error) error {
	err := a.slowStore.Range(table, from, to, fn)
	if do := a.do; do != nil && table == retainedTable {
		a.do = nil
		do()
	}
	return err
}

// A topic is published to again between the moment in which a sweep reads its cleared entry and that in which it removes it: what is
// under way then is not removed with it.
func TestSweepSparesWhatCameSince(t *testing.T) {
	setClearOneByOne(t, 0)
	st := &afterRange{slowStore: &slowStore{Store: store.OpenMem()}}
	log := zerolog.Nop()
	o := Options{Name: "QM1", Store: st, Clock: clock.NewFake(testTime), Log: &log, User: "root", Version: "test"}
	if err := Create(o); err != nil {
		t.Fatal(err)
	}
	m, err := Open(o) // and not started: nobody else sweeps
	if err != nil {
		t.Fatal(err)
	}
	run := &crashRun{t: t}
	defer run.end(m)
	c, err := m.Connect(bg, admin, ConnectOptions{})
	wantRC(t, err, 0)
	for _, topic := range []string{"a", "t"} {
		wantRC(t, tryPub(c, topic, "old", mqi.MQPMO_RETAIN, persistent), 0)
	}
	run.command(m, "CLEAR TOPICSTR('#') CLRTYPE(RETAINED)")
	hold, done := make(chan struct{}), make(chan error, 1)
	st.do = func() {
		st.set(hold, nil)
		go func() { done <- tryPub(c, "t", "new", mqi.MQPMO_RETAIN, persistent) }()
		for under := false; !under; {
			m.retain.mu.Lock()
			under = len(m.retain.flight) == 1
			m.retain.mu.Unlock()
		}
		st.set(nil, nil)
	}
	inTime(t, "the sweep", func() {
		if over, err := m.retain.sweepOnce(bg, st); over || err != nil {
			t.Errorf("the sweep is over: %t, %v", over, err)
		}
	})
	close(hold)
	wantRC(t, <-done, 0)
	sweepAll(t, m)
	if got, want := inTable(t, m), []string{string(retainedKey("t"))}; !slices.Equal(got, want) {
		t.Errorf("the store has %q, want %q", got, want)
	}
}
