package mq_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/mq"
)

func TestInquireSet(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q) DESCR('orders of today') MAXDEPTH(77) BOTHRESH(3) BOQNAME(Q.BACK)", "DEFINE QALIAS(A) TARGET(Q)")
	c := s.connect(t)
	q := open(t, c, "Q", mq.Output|mq.InquireMode|mq.SetMode)
	put(t, q, mq.PutOptions{}, "a", "b")
	got, err := q.Inquire(ctx, mq.Description, mq.CurrentDepth, mq.BackoutQueue, mq.MaxDepth, mq.BackoutThreshold, mq.PutInhibit)
	want := mq.Attributes{mq.Description: "orders of today", mq.CurrentDepth: int32(2), mq.BackoutQueue: "Q.BACK", mq.MaxDepth: int32(77),
		mq.BackoutThreshold: int32(3), mq.PutInhibit: int32(0)}
	if err != nil || !maps.Equal(got, want) || got.Int(mq.MaxDepth) != 77 || got.Text(mq.BackoutQueue) != "Q.BACK" {
		t.Errorf("inquired %v %v, want %v", got, err, want)
	}
	if err := q.Set(ctx, mq.Attributes{mq.PutInhibit: 1, mq.TriggerData: "from Go", mq.TriggerDepth: int32(5)}); err != nil {
		t.Fatal(err)
	}
	if err := q.Put(ctx, mq.NewText("c"), mq.PutOptions{}); !errors.Is(err, mq.PutInhibited) {
		t.Errorf("put to an inhibited queue: %v", err)
	}
	if got, err := q.Inquire(ctx, mq.TriggerData, mq.TriggerDepth, mq.PutInhibit); err != nil || got.Text(mq.TriggerData) != "from Go" ||
		got.Int(mq.TriggerDepth) != 5 || got.Int(mq.PutInhibit) != 1 {
		t.Errorf("after set: %v %v", got, err)
	}
	if err := q.Set(ctx, mq.Attributes{mq.MaxDepth: 5}); !errors.Is(err, mq.Reason(2067)) {
		t.Errorf("what cannot be set: %v", err)
	}
	if err := q.Set(ctx, mq.Attributes{mq.TriggerData: strings.Repeat("x", 65)}); !errors.Is(err, mq.Reason(2006)) {
		t.Errorf("too long: %v", err)
	}
	if err := q.Set(ctx, mq.Attributes{mq.PutInhibit: true}); !errors.Is(err, mq.Reason(2067)) {
		t.Errorf("a type that attributes do not have: %v", err)
	}
	if _, err := open(t, c, "Q", mq.Output).Inquire(ctx, mq.MaxDepth); !errors.Is(err, mq.Reason(2038)) {
		t.Errorf("not open for it: %v", err)
	}
	var e *mq.Error
	if a, err := open(t, c, "A", mq.InquireMode).Inquire(ctx, mq.BaseObject, mq.MaxDepth); !errors.As(err, &e) || e.Code != mq.Warning ||
		a.Text(mq.BaseObject) != "Q" {
		t.Errorf("an alias has no MAXDEPTH: %v %v", a, err)
	}
	if a, err := c.Inquire(ctx, mq.QMgrName, mq.Platform); err != nil || a.Text(mq.QMgrName) != "QM1" || a.Int(mq.Platform) != 3 {
		t.Errorf("of the queue manager: %v %v", a, err)
	}
}

func TestProperties(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c := s.connect(t)
	q := open(t, c, "Q", mq.Output|mq.InputShared|mq.BrowseMode)
	values := map[string]any{"colour": "red", "urgent": true, "count": int32(7), "big": int64(1) << 40, "tiny": int8(-3),
		"price": 12.5, "blob": []byte{0, 1, 255}, "nothing": nil, "shop.till": "x<&>y"}
	in := mq.NewText("body")
	for name, v := range values {
		if err := in.Properties.Set(name, v); err != nil {
			t.Fatal(name, err)
		}
	}
	if err := q.Put(ctx, in, mq.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Put1(ctx, "Q", in, mq.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	if string(in.Body) != "body" || in.Format != mq.FormatString {
		t.Errorf("the put changed the message: %q %s", in.Body, in.Format)
	}
	for range 2 {
		out, err := q.Get(ctx, mq.GetOptions{Properties: true})
		if err != nil {
			t.Fatal(err)
		}
		if string(out.Body) != "body" || out.Format != mq.FormatString || out.CCSID != 1208 || out.Properties.Len() != len(values) {
			t.Errorf("got %q %s %d with %d properties", out.Body, out.Format, out.CCSID, out.Properties.Len())
		}
		for name, v := range out.Properties.All() {
			if b, ok := v.([]byte); ok && bytes.Equal(b, values["blob"].([]byte)) {
				continue
			}
			if want, there := values[name]; !there || v != want {
				t.Errorf("%s is %v (%T), want %v", name, v, v, want)
			}
		}
		if out.Properties.String("count") != "7" || out.Properties.String("missing") != "" {
			t.Errorf("count %q", out.Properties.String("count"))
		}
	}
	// Selectors look at them, and messages of one set of properties do not share changes.
	sel, err := c.OpenWith(ctx, "Q", mq.Input, mq.OpenOptions{Selector: "colour = 'blue'"})
	if err != nil {
		t.Fatal(err)
	}
	blue := *in
	if err := blue.Properties.Set("colour", "blue"); err != nil {
		t.Fatal(err)
	}
	blue.Properties.Delete("count")
	for _, m := range []*mq.Message{in, &blue} {
		if err := q.Put(ctx, m, mq.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	m, err := sel.Get(ctx, mq.GetOptions{Properties: true})
	if err != nil || m.Properties.String("colour") != "blue" {
		t.Fatalf("selected %+v %v", m, err)
	}
	if _, has := m.Properties.Get("count"); has || in.Properties.String("colour") != "red" {
		t.Error("a change of one message's properties is seen in another's")
	}
	// Without the option the properties stand before the data, as the queue's PROPCTL says.
	if m, err := q.Get(ctx, mq.GetOptions{}); err != nil || m.Format != "MQHRF2" || !bytes.HasSuffix(m.Body, []byte("body")) {
		t.Errorf("plain get: %+v %v", m, err)
	}
	for name, v := range map[string]any{"": 1, "two words": 1, "JMSSomething": 1, "x": struct{}{}, "y": uint8(1)} {
		if err := in.Properties.Set(name, v); err == nil {
			t.Errorf("%q = %v was accepted", name, v)
		}
	}
}

// Publications tell their topic in a property.
func TestPublicationProperties(t *testing.T) {
	s := serve(t, nil)
	c := s.connect(t)
	for _, ahead := range []bool{false, true} {
		sub, err := c.Subscribe(ctx, mq.SubOptions{Topic: "sport/+", ReadAhead: ahead})
		if err != nil {
			t.Fatal(err)
		}
		topic, err := s.connect(t).OpenTopic(ctx, "sport/golf")
		if err != nil {
			t.Fatal(err)
		}
		p := mq.NewText("par")
		if err := errors.Join(p.Properties.Set("hole", 4), topic.Publish(ctx, p, mq.PubOptions{})); err != nil {
			t.Fatal(err)
		}
		m, err := sub.Get(ctx, mq.GetOptions{Wait: 20 * time.Second, Properties: true})
		if err != nil || string(m.Body) != "par" || m.Properties.String("mqps.Top") != "sport/golf" || m.Properties.String("hole") != "4" {
			t.Errorf("read ahead %v: %+v %v, properties:", ahead, m, err)
			for n, v := range m.Properties.All() {
				t.Logf("%s=%v", n, v)
			}
		}
		if err := sub.Close(ctx); err != nil {
			t.Error(err)
		}
	}
}

// A group is got in its order, and only when it is complete if that is wanted.
func TestGroups(t *testing.T) {
	s := serve(t, nil, "DEFINE QLOCAL(Q)")
	c := s.connect(t)
	q := open(t, c, "Q", mq.Output|mq.Input)
	group := func(texts ...string) {
		for i, text := range texts {
			m := mq.NewText(text)
			m.Flags = mq.InGroup
			if i == len(texts)-1 {
				m.Flags = mq.LastInGroup
			}
			if err := q.Put(ctx, m, mq.PutOptions{LogicalOrder: true}); err != nil {
				t.Fatal(err)
			}
		}
	}
	half := mq.NewText("half")
	half.Flags, half.GroupID, half.Seq = mq.InGroup, mq.ID{9}, 1
	if err := q.Put(ctx, half, mq.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	group("a", "b", "c")
	whole := mq.GetOptions{LogicalOrder: true, WholeGroups: true}
	for i, want := range []string{"a", "b", "c", ""} {
		m, err := q.Get(ctx, whole)
		if want == "" {
			if !errors.Is(err, mq.NoMsgAvailable) {
				t.Errorf("half a group: %+v %v", m, err)
			}
			break
		}
		if err != nil || string(m.Body) != want || m.Seq != int32(i+1) || m.Flags&(mq.InGroup|mq.LastInGroup) == 0 {
			t.Fatalf("%+v %v, want %s", m, err, want)
		}
	}
}
