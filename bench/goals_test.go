package main

import (
	"bytes"
	"strings"
	"testing"
)

// A goal against peers takes the best of those that ran, whichever way is better for the metric.
func TestGoals(t *testing.T) {
	rs := []Result{
		{Peer: "qmgrd", Work: "W3", Metric: "durable put+get, 16+16", Value: 9000},
		{Peer: "nats", Work: "W3", Metric: "durable put+get, 16+16", Value: 2000},
		{Peer: "etcd", Work: "W3", Metric: "durable put+get, 16+16", Value: 6000},
		{Peer: "qmgrd", Work: "W5", Metric: "request/reply p50", Value: 100},
		{Peer: "qmgrd", Work: "W5", Metric: "request/reply p99", Value: 300},
		{Peer: "nats", Work: "W5", Metric: "request/reply p50", Value: 200},
	}
	var b bytes.Buffer
	if missed := report(&b, rs, 1000); missed != 2 {
		t.Errorf("%d missed", missed)
	}
	for _, want := range []string{"durable peer's rate  ≥ 2", "1.5", "etcd", "4.5", "NO"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "W2") {
		t.Errorf("a goal that was not measured:\n%s", b.String())
	}
}
