package qmgr

import (
	"fmt"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Publications are counted by topic only while somebody looks, and in bounds; puts and gets of queues always.
func TestActivity(t *testing.T) {
	r := newRig(t)
	r.define("QLOCAL", "A.Q", "MAXDEPTH", "10")
	publish := func(topic string) {
		t.Helper()
		od, md, pmo := mqi.DefaultOD(), mqi.DefaultMD(), mqi.DefaultPMO()
		od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, topic
		if err := r.c.Put1(bg, &od, &md, &pmo, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	put := func() {
		t.Helper()
		od, md, pmo := mqi.DefaultOD(), mqi.DefaultMD(), mqi.DefaultPMO()
		od.ObjectName = "A.Q"
		if err := r.c.Put1(bg, &od, &md, &pmo, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	publish("a/b")
	put()
	put()
	a := r.m.Activity()
	if a.Published != 1 || len(a.ByTopic) != 0 || a.Conns != 1 || a.Topics < 2 {
		t.Errorf("before anybody looks: %+v", a)
	}
	if len(a.Queues) != 1 || a.Queues[0] != (QueueActivity{Name: "A.Q", Depth: 2, Max: 10, Puts: 2}) {
		t.Errorf("queues %+v", a.Queues)
	}
	publish("a/b")
	publish("a/b")
	if a = r.m.Activity(); a.Published != 3 || len(a.ByTopic) != 1 || a.ByTopic[0] != (TopicActivity{"a/b", 2}) {
		t.Errorf("while somebody looks: %+v", a)
	}
	r.clk.Advance(lookFor + time.Second)
	publish("a/c")
	if r.m.look.until.Load() != 0 {
		t.Error("nobody looks any more, and publications are still counted by topic")
	}
	if a = r.m.Activity(); a.Published != 4 || len(a.ByTopic) != 0 {
		t.Errorf("a new look begins anew: %+v", a)
	}
	for i := range maxLooked + 5 {
		r.m.look.published(fmt.Sprint(i), r.clk.Now())
	}
	if a = r.m.Activity(); len(a.ByTopic) != maxLooked || a.OtherTopics != 5 {
		t.Errorf("%d topics, %d others", len(a.ByTopic), a.OtherTopics)
	}
}
