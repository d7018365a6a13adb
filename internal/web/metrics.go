package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/obs"
)

// platform is what dashboards expect in the label of that name.
const platform = "UNIX"

// scrapeTimeout bounds what a scrape may take of the manager.
const scrapeTimeout = 10 * time.Second

func (s *Server) self() auth.Identity { return auth.System(s.opt.Name) }

func (s *Server) getMetrics(w http.ResponseWriter, r *http.Request) error {
	promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	return nil
}

// NewMetrics makes a door that has nothing but GET /metrics, for whoever asks.
func NewMetrics(o Options) *Server {
	o.LoopbackAdmin = false
	s := New(o)
	mux, handle := s.newMux()
	handle("GET /metrics", s.getMetrics)
	s.http.Handler = s.guard(mux)
	return s
}

// gauge is a metric that comes from an attribute of a DISPLAY row.
type gauge struct{ name, help, key string }

var queueGauges = []gauge{
	{"ibmmq_queue_depth", "Messages on the queue.", "CURDEPTH"},
	{"ibmmq_queue_input_handles", "Handles open for input.", "IPPROCS"},
	{"ibmmq_queue_output_handles", "Handles open for output.", "OPPROCS"},
	{"ibmmq_queue_oldest_message_age", "Age of the oldest message in seconds.", "MSGAGE"},
	{"ibmmq_queue_uncommitted_messages", "Puts and gets that are not committed.", "UNCOM"},
}

// samples reads what DISPLAY shows, so that a dashboard and an operator see the same figures.
func (s *Server) samples(emit func(obs.Sample)) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	type labels struct{ usage, descr, cluster string }
	queues := map[string]labels{}
	queueLabels := []string{"qmgr", "queue", "usage", "description", "cluster", "platform"}
	values := func(q string, l labels) []string {
		return []string{s.opt.Name, q, l.usage, l.descr, l.cluster, platform}
	}
	failed := s.run(ctx, "DISPLAY QLOCAL(*) MAXDEPTH USAGE DESCR CLUSTER", func(row attr.Row) {
		v := byKey(row)
		l := labels{"NORMAL", v["DESCR"], v["CLUSTER"]}
		if v["USAGE"] == "XMITQ" {
			l.usage = "XMITQ"
		}
		queues[v["QUEUE"]] = l
		number(emit, "ibmmq_queue_attribute_max_depth", "MAXDEPTH of the queue.", v["MAXDEPTH"], queueLabels,
			values(v["QUEUE"], l))
	})
	if failed == nil {
		failed = s.run(ctx, "DISPLAY QSTATUS(*) TYPE(QUEUE) ALL", func(row attr.Row) {
			v := byKey(row)
			l, ok := queues[v["QUEUE"]]
			if !ok {
				return // defined since
			}
			for _, g := range queueGauges {
				number(emit, g.name, g.help, v[g.key], queueLabels, values(v["QUEUE"], l))
			}
		})
	}
	s.qmgrSamples(ctx, emit)
	s.storeSamples(emit)
	if failed != nil {
		s.log.Warn().Err(failed).Msg("metrics are incomplete")
	}
}

// qmgrSamples: the status number 2 is MQQMSTA_RUNNING.
func (s *Server) qmgrSamples(ctx context.Context, emit func(obs.Sample)) {
	names, vals := []string{"qmgr", "platform"}, []string{s.opt.Name, platform}
	st := s.opt.Status()
	status := map[string]float64{"Starting": 1, "Running": 2, "Quiescing": 3}[st.Status]
	emit(obs.Sample{Name: "ibmmq_qmgr_status", Help: "1 starting, 2 running, 3 quiescing.", Labels: names, Values: vals,
		Value: status})
	emit(obs.Sample{Name: "ibmmq_qmgr_uptime", Help: "Seconds since the start.", Labels: names, Values: vals,
		Value: s.opt.Clock.Now().Sub(s.started).Seconds()})
	emit(obs.Sample{Name: "ibmmq_qmgr_active_listeners", Help: "Bound listeners.", Labels: names, Values: vals,
		Value: float64(len(st.Listeners))})
	_ = s.run(ctx, "DISPLAY QMSTATUS CONNS", func(row attr.Row) { // without it the figure is absent
		number(emit, "ibmmq_qmgr_connection_count", "Connected applications.", byKey(row)["CONNS"], names, vals)
	})
}

// storeSamples are ours alone, so their names begin with qmgrd.
func (s *Server) storeSamples(emit func(obs.Sample)) {
	st := s.opt.Store.Stats()
	names, vals := []string{"qmgr"}, []string{s.opt.Name}
	for _, m := range []struct {
		name, help string
		counter    bool
		v          uint64
	}{
		{"qmgrd_store_syncs_total", "Disk syncs.", true, st.Syncs},
		{"qmgrd_store_commits_total", "Units of work made durable.", true, st.Commits},
		{"qmgrd_store_written_bytes_total", "Bytes written.", true, st.BytesWritten},
		{"qmgrd_store_checkpoints_total", "Checkpoints.", true, st.Checkpoints},
		{"qmgrd_store_memory_messages", "Nonpersistent messages, in memory and spilled to disk.", false, st.MemoryMessages},
		{"qmgrd_store_memory_bytes", "Bytes of nonpersistent messages in memory.", false, st.MemoryBytes},
		{"qmgrd_store_log_bytes", "Bytes of log on disk.", false, st.LogBytes},
		{"qmgrd_store_log_segments", "Log segments on disk.", false, st.LogSegments},
	} {
		emit(obs.Sample{Name: m.name, Help: m.help, Counter: m.counter, Labels: names, Values: vals, Value: float64(m.v)})
	}
}

func byKey(row attr.Row) map[string]string {
	out := make(map[string]string, len(row.Items))
	for i := range row.Items {
		out[row.Items[i].Key] = row.Items[i].Val
	}
	return out
}

// number emits a figure; a value that is no number ("NO" for UNCOM, blank) is 0 for words and absent when blank.
func number(emit func(obs.Sample), name, help, val string, labels, values []string) {
	if val == "" {
		return
	}
	f, err := strconv.ParseFloat(val, 64)
	if err != nil {
		f = 0
		if val == "YES" {
			f = 1
		}
	}
	emit(obs.Sample{Name: name, Help: help, Labels: labels, Values: values, Value: f})
}
