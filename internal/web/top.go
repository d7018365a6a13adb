package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// topTopics is how many topics one answer names: the most published ones.
const topTopics = 200

// Top is the answer of /qmgrd/top, what qmgrd top draws. Counters only grow while the process lives: rates are the
// differences of two answers by their Time.
type Top struct {
	Name     string  `json:"name"`
	Status   string  `json:"status"`
	Time     float64 `json:"time"` // seconds, Unix
	Uptime   float64 `json:"uptime"`
	Conns    int     `json:"connections"`
	Topics   int     `json:"topics"`        // TPCOUNT
	Subs     int     `json:"subscriptions"` // SUBCOUNT
	Commits  uint64  `json:"commits"`
	Syncs    uint64  `json:"syncs"`
	Written  uint64  `json:"writtenBytes"`
	LogBytes uint64  `json:"logBytes"`

	Published uint64     `json:"published"`
	Queues    []TopQueue `json:"queues"`
	// ByTopic counts since somebody began to look; it begins anew when nobody has for some seconds. OtherTopics came for
	// topics that are not listed.
	ByTopic     []TopTopic `json:"byTopic"`
	OtherTopics uint64     `json:"otherTopics"`
}

// TopQueue is a local queue.
type TopQueue struct {
	Name  string `json:"name"`
	Depth int    `json:"depth"`
	Max   int    `json:"maxDepth"`
	In    int    `json:"inputHandles"`
	Out   int    `json:"outputHandles"`
	Puts  uint64 `json:"puts"`
	Gets  uint64 `json:"gets"`
}

// TopTopic is a topic string.
type TopTopic struct {
	Topic     string `json:"topic"`
	Published uint64 `json:"published"`
}

func (s *Server) getTop(w http.ResponseWriter, _ *http.Request) error {
	a, st, now := s.opt.Manager.Activity(), s.opt.Store.Stats(), s.opt.Clock.Now()
	t := Top{Name: s.opt.Name, Status: s.opt.Status().Status, Time: float64(now.UnixMilli()) / 1000,
		Uptime: now.Sub(s.started).Seconds(), Conns: a.Conns, Topics: a.Topics, Subs: a.Subs, Commits: st.Commits,
		Syncs: st.Syncs, Written: st.BytesWritten, LogBytes: st.LogBytes, Published: a.Published,
		Queues: make([]TopQueue, 0, len(a.Queues)), ByTopic: []TopTopic{}, OtherTopics: a.OtherTopics}
	for _, q := range a.Queues {
		t.Queues = append(t.Queues, TopQueue(q))
	}
	slices.SortFunc(a.ByTopic, func(x, y qmgr.TopicActivity) int {
		if x.Published != y.Published {
			return map[bool]int{true: -1, false: 1}[x.Published > y.Published]
		}
		return strings.Compare(x.Topic, y.Topic)
	})
	for i, x := range a.ByTopic {
		if i < topTopics {
			t.ByTopic = append(t.ByTopic, TopTopic(x))
		} else {
			t.OtherTopics += x.Published
		}
	}
	writeJSON(w, http.StatusOK, &t)
	return nil
}
