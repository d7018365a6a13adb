package qmgr

import (
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Messages that share an identifier, most often that of none, do not make a put of a higher priority look at all of them.
func TestIndexWithPriorities(t *testing.T) {
	r := newRig(t)
	q := r.define("QLOCAL", "Q", "MAXDEPTH", "999999").Queue
	h := r.openQ(r.c, "Q", inOut)
	const many = 200_000
	for range many {
		r.put(r.c, h, "m", 0)
	}
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	md.CorrelID, gmo.Version, gmo.MatchOptions = mqi.ID{1}, 2, mqi.MQMO_MATCH_CORREL_ID
	_, _, err := r.c.Get(bg, h, &md, &gmo, 100)
	wantRC(t, err, mqi.MQRC_NO_MSG_AVAILABLE)
	if q.byCor == nil {
		t.Fatal("no index")
	}
	took := func(prio int32) time.Duration {
		began := time.Now()
		for range 500 {
			r.put(r.c, h, "m", 0, func(md *mqi.MD) { md.Priority = prio })
		}
		return time.Since(began)
	}
	if low, high := took(0), took(9); high > 20*low+100*time.Millisecond {
		t.Errorf("500 puts take %v, of a higher priority %v", low, high)
	}
	// By identifier too, the highest priority comes first, and then the oldest.
	for i, prio := range []int32{3, 9, 0, 9, 3} {
		r.put(r.c, h, string(rune('a'+i)), 0, func(md *mqi.MD) { md.Priority, md.CorrelID = prio, mqi.ID{1} })
	}
	checkQueue(t, q)
	got := ""
	for range 5 {
		md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
		md.CorrelID, gmo.Version, gmo.MatchOptions = mqi.ID{1}, 2, mqi.MQMO_MATCH_CORREL_ID
		body, _, err := r.c.Get(bg, h, &md, &gmo, 100)
		wantRC(t, err, 0)
		got += string(body)
	}
	if got != "bdaec" {
		t.Errorf("got %q", got)
	}
}
