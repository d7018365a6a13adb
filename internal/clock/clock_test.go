package clock

import (
	"testing"
	"time"
)

func TestFakeRunsTimersInOrder(t *testing.T) {
	c := NewFake(time.Unix(0, 0))
	var got []int
	c.AfterFunc(2*time.Second, func() { got = append(got, 2) })
	c.AfterFunc(time.Second, func() {
		got = append(got, 1)
		c.AfterFunc(500*time.Millisecond, func() { got = append(got, 15) })
	})
	late := c.AfterFunc(time.Hour, func() { got = append(got, 99) })
	c.Advance(3 * time.Second)
	if len(got) != 3 || got[0] != 1 || got[1] != 15 || got[2] != 2 {
		t.Fatalf("ran %v, want [1 15 2]", got)
	}
	if !late.Stop() || late.Stop() {
		t.Fatal("Stop must report true once for a pending timer")
	}
	if want := time.Unix(3, 0); !c.Now().Equal(want) {
		t.Fatalf("now %v, want %v", c.Now(), want)
	}
}
