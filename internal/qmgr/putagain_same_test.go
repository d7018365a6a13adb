package qmgr

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// twin is one of two queue managers that are given the same calls: of one the puts are repeated where that can be.
type twin struct {
	*rig
	repeats  bool
	repeated int
	hs       map[string]Handle
	last     string // what was put last, and how
	got      []*keeper
	said     []string
}

func newTwin(t *testing.T, repeats bool) *twin {
	w := &twin{rig: newRig(t), repeats: repeats, hs: map[string]Handle{}}
	w.define("QLOCAL", "Q", "MAXDEPTH", "50")
	w.define("QLOCAL", "Q2")
	w.define("QLOCAL", "R")
	w.define("QALIAS", "A", "TARGET", "Q", "DEFPRTY", "5")
	w.define("QREMOTE", "ALIAS.OF.R", "RNAME", "R", "RQMNAME", "QM1")
	w.alter(ClassQmgr, qmgrName, "STATMQI", "ON", "STATQ", "ON")
	w.got = []*keeper{w.keeps("Q"), w.keeps("Q2")}
	w.got[0].md.Version, w.got[1].md.Version = 2, 2
	for _, n := range []string{"Q", "Q2", "A"} {
		w.opens(n)
	}
	return w
}

func (w *twin) opens(name string) { w.hs[name] = w.openQ(w.c, name, mqi.MQOO_OUTPUT|mqi.MQOO_INQUIRE) }

// put puts as the protocol does: a message whose head has the bytes of the last one's is put again.
func (w *twin) put(queue, kind string, body []byte) {
	md, pmo := repeated()
	putKinds[kind](&md, &pmo)
	now := fmt.Sprint(queue, w.hs[queue], kind)
	same := w.last == now && w.c.Repeats()
	w.last = now
	lent := bytes.Clone(body)
	defer clear(lent) // the read buffer is used again
	if same && w.repeats && w.c.PutAgain(w, lent) {
		w.repeated++
		return
	}
	if err := w.c.PutBy(bg, w, w.hs[queue], &md, &pmo, lent, true); err != nil {
		_, rc := mqi.Reason(err)
		w.said = append(w.said, fmt.Sprintf("%s %s %d", queue, kind, rc))
	}
}

// putKinds are messages of all kinds, most of them such as can be repeated.
var putKinds = map[string]func(*mqi.MD, *mqi.PMO){
	"plain": func(*mqi.MD, *mqi.PMO) {},
	"as queue": func(md *mqi.MD, _ *mqi.PMO) {
		md.Persistence, md.Priority = mqi.MQPER_PERSISTENCE_AS_Q_DEF, mqi.MQPRI_PRIORITY_AS_Q_DEF
	},
	"new ids":     func(_ *mqi.MD, pmo *mqi.PMO) { pmo.Options |= mqi.MQPMO_NEW_MSG_ID | mqi.MQPMO_NEW_CORREL_ID },
	"own ids":     func(md *mqi.MD, _ *mqi.PMO) { md.MsgID, md.CorrelID = mqi.ID{1}, mqi.ID{2} },
	"old":         func(md *mqi.MD, _ *mqi.PMO) { md.Version = 1 },
	"extension":   func(md *mqi.MD, _ *mqi.PMO) { md.Version, md.Format = 1, mqi.MQFMT_MD_EXTENSION },
	"extension 2": func(md *mqi.MD, _ *mqi.PMO) { md.Version, md.Format = 2, mqi.MQFMT_MD_EXTENSION },
	"header":      func(md *mqi.MD, _ *mqi.PMO) { md.Format = mqi.MQFMT_RF_HEADER_2 },
	"reply":       func(md *mqi.MD, _ *mqi.PMO) { md.MsgType, md.ReplyToQ = mqi.MQMT_REQUEST, "ALIAS.OF.R" },
	"reply qm":    func(md *mqi.MD, _ *mqi.PMO) { md.ReplyToQMgr = "ELSEWHERE" },
	"reports":     func(md *mqi.MD, _ *mqi.PMO) { md.Report, md.ReplyToQ = mqi.MQRO_COA|mqi.MQRO_COD, "R" },
	"expires":     func(md *mqi.MD, _ *mqi.PMO) { md.Expiry = 1000 },
	"group": func(md *mqi.MD, _ *mqi.PMO) {
		md.Version, md.MsgFlags, md.GroupID = 2, mqi.MQMF_MSG_IN_GROUP, mqi.ID{7}
	},
	"segment": func(md *mqi.MD, _ *mqi.PMO) { md.Version, md.MsgFlags = 2, mqi.MQMF_SEGMENTATION_ALLOWED },
	"logical": func(md *mqi.MD, pmo *mqi.PMO) { md.Version, pmo.Options = 2, pmo.Options|mqi.MQPMO_LOGICAL_ORDER },
	"in group": func(md *mqi.MD, pmo *mqi.PMO) {
		md.Version, md.MsgFlags, pmo.Options = 2, mqi.MQMF_MSG_IN_GROUP, pmo.Options|mqi.MQPMO_LOGICAL_ORDER
	},
	"version 2":  func(md *mqi.MD, _ *mqi.PMO) { md.Version, md.MsgSeqNumber, md.OriginalLength = 2, 3, 10 },
	"no context": func(_ *mqi.MD, pmo *mqi.PMO) { pmo.Options |= mqi.MQPMO_NO_CONTEXT },
	"in syncpoint": func(_ *mqi.MD, pmo *mqi.PMO) {
		pmo.Options = pmo.Options&^mqi.MQPMO_NO_SYNCPOINT | mqi.MQPMO_SYNCPOINT
	},
	"too urgent": func(md *mqi.MD, _ *mqi.PMO) { md.Priority = 11 },
	"wrong":      func(md *mqi.MD, _ *mqi.PMO) { md.Priority = -5 },
	"answered":   func(_ *mqi.MD, pmo *mqi.PMO) { pmo.Options &^= mqi.MQPMO_ASYNC_RESPONSE },
	"long names": func(md *mqi.MD, _ *mqi.PMO) { md.Format, md.UserIdentifier = "TOOLONGAFORMAT", "A.VERY.LONG.USER" },
	"manager's":  func(md *mqi.MD, _ *mqi.PMO) { md.CodedCharSetID = mqi.MQCCSI_Q_MGR },
	"descriptor": func(_ *mqi.MD, pmo *mqi.PMO) { pmo.Options |= mqi.MQPMO_MD_FOR_OUTPUT_ONLY },
}

// drain takes what lies on the queues, so that the gets wait again.
func (w *twin) drain() {
	for _, k := range w.got {
		body, n, s, err := k.w.Resume()
		for s != GetWaits {
			if s == GetBlocks {
				body, n, _, err = k.w.Finish(false)
			}
			if err == nil {
				k.Take(nil, body, n, nil)
			}
			k.md = mqi.DefaultMD()
			k.md.Version = 2
			if body, n, s, err = k.w.GetAhead(k.h, &k.md, &k.gmo, 1000, true); err != nil {
				break // the queue gives nothing
			}
		}
	}
}

// state is what can be seen of a twin. Identifiers that the queue manager has made are like one another.
func (w *twin) state(t *testing.T) any {
	type queue struct {
		texts                       []string
		mds                         []mqi.MD
		depth, puts, gets, enq, deq int
		highest                     int
		put, got                    string
	}
	out := struct {
		queues []queue
		sts    mqi.STS
		said   []string
		mqi    string
	}{said: w.said, mqi: fmt.Sprintf("%+v", w.m.ev.stats.mqi)}
	known := map[mqi.ID]int{}
	id := func(x mqi.ID) mqi.ID {
		if !bytes.HasPrefix(x[:], []byte("AMQ ")) {
			return x
		}
		if known[x] == 0 {
			known[x] = len(known) + 1
		}
		return mqi.ID{255, byte(known[x] >> 8), byte(known[x])}
	}
	for i, name := range []string{"Q", "Q2"} {
		q, k := w.m.lookup(ClassQueue, name).Queue, w.got[i]
		o := queue{texts: k.got, depth: q.depth(), puts: int(q.watch.puts), gets: int(q.watch.gets), enq: int(q.watch.enq),
			deq: int(q.watch.deq), highest: int(q.watch.highest), put: fmt.Sprintf("%+v", q.stats), got: fmt.Sprintf("%+v", w.m.ev.stats.queues[q])}
		for _, md := range k.mds {
			md.MsgID, md.CorrelID, md.GroupID = id(md.MsgID), id(md.CorrelID), id(md.GroupID)
			o.mds = append(o.mds, md)
		}
		out.queues = append(out.queues, o)
	}
	sts, err := w.c.Stat(mqi.MQSTAT_TYPE_ASYNC_ERROR)
	if err != nil {
		t.Fatal(err)
	}
	out.sts = sts
	return out
}

// betweenPuts is what happens between puts.
var betweenPuts = map[string]func(w *twin, n int){
	"later":    func(w *twin, n int) { w.clk.Advance(time.Duration(n) * time.Hour) },
	"priority": func(w *twin, n int) { w.alter(ClassQueue, "Q", "DEFPRTY", fmt.Sprint(n)) },
	"length":   func(w *twin, n int) { w.alter(ClassQueue, "Q", "MAXMSGL", fmt.Sprint(100+10*n)) },
	"all":      func(w *twin, n int) { w.alter(ClassQmgr, qmgrName, "MAXMSGL", fmt.Sprint(33000-n)) },
	"ccsid":    func(w *twin, n int) { w.alter(ClassQmgr, qmgrName, "CCSID", []string{"819", "1208"}[n%2]) },
	"persist":  func(w *twin, n int) { w.alter(ClassQueue, "Q", "DEFPSIST", []string{"YES", "NO", "NO"}[n%3]) },
	"put":      func(w *twin, n int) { w.alter(ClassQueue, "Q", "PUT", []string{"DISABLED", "ENABLED", "ENABLED"}[n%3]) },
	"get":      func(w *twin, n int) { w.alter(ClassQueue, "Q", "GET", []string{"DISABLED", "ENABLED", "ENABLED"}[n%3]) },
	"cap":      func(w *twin, n int) { w.alter(ClassQueue, "Q", "CUSTOM", []string{"CAPEXPRY(10)", "", ""}[n%3]) },
	"stream":   func(w *twin, n int) { w.alter(ClassQueue, "Q", "STREAMQ", []string{"Q2", "", ""}[n%3]) },
	"events": func(w *twin, n int) {
		w.alter(ClassQueue, "Q", "QDPHIEV", []string{"ENABLED", "DISABLED"}[n%2], "QDEPTHHI", "1")
	},
	"busy": func(w *twin, n int) { w.got[0].busy = n%3 == 0 },
	"reopen": func(w *twin, _ int) {
		_ = w.c.Close(bg, w.hs["Q"], 0)
		w.opens("Q")
	},
	"inquire": func(w *twin, _ int) { _, _, _ = w.c.Inq(bg, w.hs["Q"], []int32{mqi.MQIA_DEF_PRIORITY}, 1, 0) },
	"commit":  func(w *twin, _ int) { _ = w.c.Commit(bg) },
	"backout": func(w *twin, _ int) { _ = w.c.Backout(bg) },
	"put1": func(w *twin, _ int) {
		od, md, pmo := mqi.DefaultOD(), mqi.DefaultMD(), mqi.DefaultPMO()
		od.ObjectName = "Q2"
		_ = w.c.Put1(bg, &od, &md, &pmo, []byte("put1"))
	},
	"drain": func(w *twin, _ int) { w.drain() },
}

// A queue manager that repeats puts is not to be told from one that does not, whatever else happens between them.
func TestPutAgainAsPut(t *testing.T) {
	var kinds, names []string
	for k := range putKinds {
		kinds = append(kinds, k)
	}
	for k := range betweenPuts {
		names = append(names, k)
	}
	slices.Sort(names)
	slices.Sort(kinds)
	repeated := 0
	for seed := range uint64(60) {
		repeated += sameDeeds(t, seed, kinds, names)
	}
	if repeated == 0 {
		t.Error("nothing was repeated")
	}
}

// sameDeeds has both twins do the same, and says how many puts the one has repeated.
func sameDeeds(t *testing.T, seed uint64, kinds, names []string) int {
	rnd := rand.New(rand.NewPCG(seed, 1))
	a, b := newTwin(t, true), newTwin(t, false)
	defer a.stop()
	defer b.stop()
	queue, kind := "Q", "plain"
	var deeds []string
	for i := range 150 {
		if rnd.IntN(5) == 0 {
			queue, kind = []string{"Q", "Q", "Q", "Q2", "A"}[rnd.IntN(5)], "plain"
			if rnd.IntN(3) > 0 {
				kind = kinds[rnd.IntN(len(kinds))]
			}
		}
		if rnd.IntN(4) == 0 {
			name, n := names[rnd.IntN(len(names))], rnd.IntN(10)
			deeds = append(deeds, fmt.Sprint(name, " ", n))
			betweenPuts[name](a, n)
			betweenPuts[name](b, n)
		}
		body := fmt.Appendf(nil, "%d %s", i, bytes.Repeat([]byte("x"), rnd.IntN(120)))
		if kind == "extension" && rnd.IntN(4) > 0 {
			e := mqi.MDE{Format: mqi.MQFMT_STRING, MsgSeqNumber: 1, CodedCharSetID: int32(i + 1)}
			body, _ = e.Append(nil, mqi.NativeCoding(mqi.DefaultCCSID))
		}
		deeds = append(deeds, fmt.Sprint(queue, " ", kind))
		a.put(queue, kind, body)
		b.put(queue, kind, body)
	}
	if d := cmp.Diff(fmt.Sprintf("%+v", b.state(t)), fmt.Sprintf("%+v", a.state(t))); d != "" {
		t.Fatalf("seed %d: %s\n%s", seed, d, deeds)
	}
	return a.repeated
}
