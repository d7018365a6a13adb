package qmgr

import (
	"encoding/binary"
	"fmt"
	goruntime "runtime"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func benchPutGet(b *testing.B, r *rig, change ...func(*mqi.MD)) {
	r.define("QLOCAL", "Q")
	h := r.openQ(r.c, "Q", inOut)
	body := make([]byte, 1024)
	b.SetBytes(1024)
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
		for _, f := range change {
			f(&md)
		}
		if err := r.c.Put(bg, h, &md, &pmo, body); err != nil {
			b.Fatal(err)
		}
		gmo := mqi.DefaultGMO()
		md = mqi.DefaultMD()
		if _, _, err := r.c.Get(bg, h, &md, &gmo, 1024); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPutGetMemory(b *testing.B) { benchPutGet(b, newRig(b)) }

func BenchmarkPutGetNonpersistent(b *testing.B) { benchPutGet(b, newBoltRig(b)) }

func BenchmarkPutGetPersistent(b *testing.B) { benchPutGet(b, newBoltRig(b), persistent) }

// BenchmarkPutPersistentParallel shows what group commit brings: many connections share syncs.
func BenchmarkPutPersistentParallel(b *testing.B) {
	r := newBoltRig(b)
	r.define("QLOCAL", "Q", "MAXDEPTH", "999999999")
	body := make([]byte, 1024)
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		c := r.connect()
		h := r.openQ(c, "Q", inOut)
		for pb.Next() {
			md, pmo := mqi.DefaultMD(), mqi.DefaultPMO()
			md.Persistence = mqi.MQPER_PERSISTENT
			if err := c.Put(bg, h, &md, &pmo, body); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkGetByCorrelID gets from a queue a million messages deep and puts back.
func BenchmarkGetByCorrelID(b *testing.B) {
	r := newRig(b)
	r.define("QLOCAL", "Q", "MAXDEPTH", "999999999")
	h := r.openQ(r.c, "Q", inOut)
	const deep = 1000000
	cor := func(i int) (id mqi.ID) {
		copy(id[:], fmt.Sprintf("%024d", i))
		return id
	}
	for i := 0; i < deep; i++ {
		r.put(r.c, h, "x", 0, func(md *mqi.MD) { md.CorrelID = cor(i) })
	}
	get := func(i int) {
		if _, _, err := tryGet(r.c, h, 0, func(md *mqi.MD, _ *mqi.GMO) { md.CorrelID = cor(i) }); err != nil {
			b.Fatal(err)
		}
	}
	get(0)
	r.put(r.c, h, "x", 0, func(md *mqi.MD) { md.CorrelID = cor(0) })
	b.ResetTimer()
	for n := 0; n < b.N; n++ {
		i := n * 7919 % deep
		get(i)
		r.put(r.c, h, "x", 0, func(md *mqi.MD) { md.CorrelID = cor(i) })
	}
}

// BenchmarkEntry reports what a message costs in the queue's own memory: one that stands alone, and one of a group of ten.
func BenchmarkEntry(b *testing.B) {
	const n = 200000
	for name, of := range map[string]func(i int) *part{
		"alone": func(int) *part { return nil },
		"group": func(i int) *part {
			p := part{seq: int32(i%10 + 1), flags: groupMsg}
			binary.BigEndian.PutUint32(p.group[:], uint32(i/10))
			return &p
		},
	} {
		b.Run(name, func(b *testing.B) {
			r := newRig(b)
			q := r.define("QLOCAL", "Q", "MAXDEPTH", "999999999").Queue
			var before, after goruntime.MemStats
			goruntime.GC()
			goruntime.ReadMemStats(&before)
			for i := range n {
				if _, _, rc := q.reserve(&newMsg{size: 1, part: of(i)}); rc != 0 {
					b.Fatal(rc)
				}
			}
			goruntime.GC()
			goruntime.ReadMemStats(&after)
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/n, "B/message")
		})
	}
}

// BenchmarkGetByMsgID gets by MsgId at depths that lie far apart: the time must not depend on the depth.
func BenchmarkGetByMsgID(b *testing.B) {
	for _, deep := range []int{1000, 1000000} {
		b.Run(fmt.Sprint(deep), func(b *testing.B) {
			r := newRig(b)
			r.define("QLOCAL", "Q", "MAXDEPTH", "999999999")
			h := r.openQ(r.c, "Q", inOut)
			ids := make([]mqi.ID, deep)
			for i := range ids {
				ids[i] = r.put(r.c, h, "x", 0).MsgID
			}
			get := func(i int) {
				if _, _, err := tryGet(r.c, h, 0, func(md *mqi.MD, _ *mqi.GMO) { md.MsgID = ids[i] }); err != nil {
					b.Fatal(err)
				}
				ids[i] = r.put(r.c, h, "x", 0).MsgID
			}
			get(0) // makes the index
			b.ResetTimer()
			for n := 0; n < b.N; n++ {
				get(n * 7919 % deep)
			}
		})
	}
}

// BenchmarkGroup puts and gets a group of ten messages in logical order behind many other messages, which belong to groups that
// are not complete: what a get passes over it does not read.
func BenchmarkGroup(b *testing.B) {
	r := newRig(b)
	r.define("QLOCAL", "Q", "MAXDEPTH", "999999999")
	h := r.openQ(r.c, "Q", inOut)
	for range 1000 {
		r.put(r.c, h, "x", 0, flagged(groupMsg))
	}
	b.ResetTimer()
	for n := 0; n < b.N; n++ {
		for i := range 10 {
			f := int32(groupMsg)
			if i == 9 {
				f = lastGroup
			}
			r.put(r.c, h, "x", logicalPut, flagged(f))
		}
		for range 10 {
			r.get(r.c, h, logicalGet|mqi.MQGMO_ALL_MSGS_AVAILABLE)
		}
	}
}

// BenchmarkSelector gets the one message that a selection string selects behind a thousand that it does not: each is read.
func BenchmarkSelector(b *testing.B) {
	r := newRig(b)
	r.define("QLOCAL", "Q", "MAXDEPTH", "999999999")
	h := r.openQ(r.c, "Q", inOut)
	od := mqi.DefaultOD()
	od.ObjectName, od.Version, od.SelectionString = "Q", 4, "Root.MQMD.Priority = 0 AND JMSType IS NULL AND Root.MQMD.Format = 'WANTED  '"
	s, err := r.c.Open(bg, &od, mqi.MQOO_INPUT_SHARED)
	if err != nil {
		b.Fatal(err)
	}
	for range 1000 {
		r.put(r.c, h, "x", 0)
	}
	b.ResetTimer()
	for n := 0; n < b.N; n++ {
		r.put(r.c, h, "x", 0, func(md *mqi.MD) { md.Format = "WANTED" })
		r.get(r.c, s, 0)
	}
}
