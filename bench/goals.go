package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// A goal is one sentence of the goal table in docs/bench.md: a number of qmgrd, alone or divided by one of the peers.
type goal struct {
	work, name string
	metric     string
	over       string   // divided by this metric of qmgrd itself
	peers      []string // divided by the best (or least) of these peers that ran; empty: no division
	least      bool     // the value must be at least the limit; else at most
	limit      float64
}

var durablePeers = []string{"nats", "rabbit-classic", "rabbit-quorum", "artemis-aio", "artemis-nio", "etcd"}

const (
	ratio1  = "ratio to group-commit probe, 1 writers"
	ratio16 = "ratio to group-commit probe, 16 writers"
)

// goals for a queue of n messages in W8 and W9.
func goals(n int) []goal {
	return []goal{
		{work: "W1", name: "exec to first put+get, ms", metric: "exec to first put+get", limit: 60},
		{work: "W1", name: "idle RSS, MiB", metric: "idle RSS", limit: 25},
		{work: "W1", name: "idle CPU, % of a core", metric: "idle CPU", limit: 0.5},
		{work: "W2", name: "durable 1+1, ratio to the disk probe", metric: ratio1, least: true, limit: 0.42},
		{work: "W2", name: "… over the best durable peer's ratio", metric: ratio1, peers: durablePeers, least: true, limit: 1.6},
		{work: "W2", name: "server CPU a message, µs", metric: "server CPU a message, 1+1 durable", limit: 330},
		{work: "W3", name: "durable 16+16, ratio to the disk probe", metric: ratio16, least: true, limit: 0.2},
		{work: "W3", name: "… over the best durable peer's rate", metric: "durable put+get, 16+16", peers: durablePeers, least: true, limit: 2},
		{work: "W3", name: "… over NATS' rate", metric: "durable put+get, 16+16", peers: []string{"nats"}, least: true, limit: 3},
		{work: "W3", name: "server CPU a message, µs", metric: "server CPU a message, 16+16 durable", limit: 120},
		{work: "W4", name: "confirmed 1+1 over mosquitto", metric: "nonpersistent, 1+1 confirmed", peers: []string{"mosquitto"}, least: true, limit: 0.9},
		{work: "W4", name: "confirmed 1+1 over NATS", metric: "nonpersistent, 1+1 confirmed", peers: []string{"nats"}, least: true, limit: 1.4},
		{work: "W4", name: "… server CPU a message, µs", metric: "server CPU a message, 1+1 confirmed", limit: 65},
		{work: "W4", name: "confirmed 16+16 over NATS", metric: "nonpersistent, 16+16 confirmed", peers: []string{"nats"}, least: true, limit: 1},
		{work: "W4", name: "… server CPU a message, µs", metric: "server CPU a message, 16+16 confirmed", limit: 32},
		{work: "W4", name: "streamed 1+1 over NATS", metric: "nonpersistent, 1+1 streamed", peers: []string{"nats"}, least: true, limit: 0.4},
		{work: "W4", name: "streamed 1+1 over mosquitto", metric: "nonpersistent, 1+1 streamed", peers: []string{"mosquitto"}, least: true, limit: 2.5},
		{work: "W4", name: "streamed 1+1 over RabbitMQ", metric: "nonpersistent, 1+1 streamed", peers: []string{"rabbit-classic"}, least: true, limit: 5},
		{work: "W4", name: "… server CPU a message, µs", metric: "server CPU a message, 1+1 streamed", limit: 6},
		{work: "W5", name: "request/reply p50 over two bare round trips", metric: "ratio of p50 to two bare TCP round trips", limit: 4.5},
		{work: "W5", name: "request/reply p50 over NATS'", metric: "request/reply p50", peers: []string{"nats"}, limit: 1},
		{work: "W5", name: "request/reply p99 over p50", metric: "request/reply p99", over: "request/reply p50", limit: 2.5},
		{work: "W8", name: "kill -9 to first get, ms", metric: "kill -9 to first get", limit: 900},
		{work: "W8", name: "… over NATS'", metric: "kill -9 to first get", peers: []string{"nats"}, limit: 0.5},
		{work: "W8", name: "RSS with the deep queue, MiB", metric: fmt.Sprintf("%d messages: RSS", n), limit: 120},
		{work: "W8", name: "RSS after recovery, MiB", metric: "RSS after recovery", limit: 120},
		{work: "W9", name: "deep over empty in turn, each to the probe", metric: atDepth(n), over: besideDepth(n), least: true, limit: 0.95},
	}
}

// value finds a median.
func value(rs []Result, peer, work, metric string) (float64, bool) {
	for _, r := range rs {
		if r.Peer == peer && r.Work == work && r.Metric == metric {
			return r.Value, true
		}
	}
	return 0, false
}

// measured is the goal's number, and who it was compared with; ok is false when the run did not measure it.
func (g *goal) measured(rs []Result) (v float64, with string, ok bool) {
	if v, ok = value(rs, "qmgrd", g.work, g.metric); !ok {
		return 0, "", false
	}
	if g.over != "" {
		o, ok := value(rs, "qmgrd", g.work, g.over)
		return v / o, "", ok && o > 0
	}
	if len(g.peers) == 0 {
		return v, "", true
	}
	best := 0.0
	for _, p := range g.peers {
		o, ok := value(rs, p, g.work, g.metric)
		if ok && o > 0 && (with == "" || g.least == (o > best)) {
			best, with = o, p
		}
	}
	if with == "" {
		return 0, "", false
	}
	return v / best, with, true
}

// report says for every goal that this run measured whether it holds, and returns how many do not.
func report(out io.Writer, rs []Result, n int) int {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	missed, any := 0, false
	for _, g := range goals(n) {
		v, with, ok := g.measured(rs)
		if !ok {
			continue
		}
		if !any {
			fmt.Fprintln(w, "\nwork\tgoal of qmgrd\tlimit\tmeasured\tagainst\tholds")
			any = true
		}
		sign, holds := "≤", v <= g.limit
		if g.least {
			sign, holds = "≥", v >= g.limit
		}
		word := "yes"
		if !holds {
			word = "NO"
			missed++
		}
		fmt.Fprintf(w, "%s\t%s\t%s %.4g\t%.3g\t%s\t%s\n", g.work, g.name, sign, g.limit, v, with, word)
	}
	w.Flush()
	return missed
}
