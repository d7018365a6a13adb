package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/web"
)

// topView is what top knows and how it is to be shown. It changes with pictures (feed) and keys (key), and is drawn by
// render.
type topView struct {
	prev, cur *web.Top
	base      *web.Top // the first picture since the manager started: growth is counted from it
	failed    error    // why there is no newer picture

	sort   int // place in topSortWords
	filter string
	typing bool // keys go into the filter
	before string
	paused bool
	part   topPart
	scroll int
	page   int // lines that the last drawing had for what scrolls
	rows   int // and how many there were
}

// topPart is what the lower part of the screen shows.
type topPart int

const (
	topBoth topPart = iota
	topQueuesOnly
	topTopicsOnly
	topParts
)

var topSortWords = []string{"busy", "depth", "full", "name"}

func (v *topView) setSort(word string) error {
	i := slices.Index(topSortWords, word)
	if i < 0 {
		return fmt.Errorf("--sort %s: use %s", word, strings.Join(topSortWords, ", "))
	}
	v.sort = i
	return nil
}

// feed takes a new picture. After a restart of the manager counting begins anew.
func (v *topView) feed(t *web.Top) {
	v.failed = nil
	if v.paused {
		return
	}
	if v.cur != nil && t.Uptime < v.cur.Uptime {
		v.cur, v.base = nil, nil
	}
	if v.base == nil {
		v.base = t
	}
	v.prev, v.cur = v.cur, t
}

// topReport is a picture with rates; --json prints it.
type topReport struct {
	Name        string  `json:"name"`
	Status      string  `json:"status"`
	Time        float64 `json:"time"`
	Uptime      float64 `json:"uptime"`
	Connections int     `json:"connections"`
	Commits     float64 `json:"commitsPerSecond"`
	Syncs       float64 `json:"syncsPerSecond"`
	Written     float64 `json:"writtenBytesPerSecond"`
	LogBytes    uint64  `json:"logBytes"`
	Topics      int     `json:"topics"`
	TopicGrowth float64 `json:"topicsPerSecond"`
	// TopicsSince is how many there are more than at the first picture, Since seconds ago.
	TopicsSince   int              `json:"topicsGrown"`
	Since         float64          `json:"grownInSeconds"`
	Subscriptions int              `json:"subscriptions"`
	Published     float64          `json:"publishedPerSecond"`
	Queues        []topQueueReport `json:"queues"`
	ByTopic       []topTopicReport `json:"byTopic"`

	rated bool // there were two pictures
}

type topQueueReport struct {
	Name  string  `json:"name"`
	Depth int     `json:"depth"`
	Max   int     `json:"maxDepth"`
	In    int     `json:"inputHandles"`
	Out   int     `json:"outputHandles"`
	Puts  float64 `json:"putsPerSecond"`
	Gets  float64 `json:"getsPerSecond"`
}

// full is the depth in percent of MAXDEPTH.
func (q *topQueueReport) full() float64 {
	if q.Max <= 0 {
		return 0
	}
	return 100 * float64(q.Depth) / float64(q.Max)
}

type topTopicReport struct {
	Topic string  `json:"topic"`
	Rate  float64 `json:"publishedPerSecond"`
	Count uint64  `json:"published"`
}

// rate is how fast a counter grew in dt seconds. One that fell belongs to something made anew.
func rate(old, now uint64, dt float64) float64 {
	if dt <= 0 || now < old {
		return 0
	}
	return float64(now-old) / dt
}

// report compares the last two pictures; filter and order are applied.
func (v *topView) report() *topReport {
	if v.cur == nil {
		return nil
	}
	t, p := v.cur, v.prev
	r := &topReport{Name: t.Name, Status: t.Status, Time: t.Time, Uptime: t.Uptime, Connections: t.Conns, LogBytes: t.LogBytes,
		Topics: t.Topics, TopicsSince: t.Topics - v.base.Topics, Since: t.Time - v.base.Time, Subscriptions: t.Subs,
		Queues: []topQueueReport{}, ByTopic: []topTopicReport{}}
	dt := 0.0
	if p == nil {
		p = t
	} else {
		dt = t.Time - p.Time
	}
	r.rated = dt > 0
	if r.rated {
		r.TopicGrowth = float64(t.Topics-p.Topics) / dt
	}
	r.Commits, r.Syncs = rate(p.Commits, t.Commits, dt), rate(p.Syncs, t.Syncs, dt)
	r.Written, r.Published = rate(p.Written, t.Written, dt), rate(p.Published, t.Published, dt)
	before := make(map[string]*web.TopQueue, len(p.Queues))
	for i := range p.Queues {
		before[p.Queues[i].Name] = &p.Queues[i]
	}
	for _, q := range t.Queues {
		if !v.shows(q.Name) {
			continue
		}
		row := topQueueReport{Name: q.Name, Depth: q.Depth, Max: q.Max, In: q.In, Out: q.Out}
		old := before[q.Name]
		if old == nil { // made since
			old = &web.TopQueue{}
		}
		row.Puts, row.Gets = rate(old.Puts, q.Puts, dt), rate(old.Gets, q.Gets, dt)
		r.Queues = append(r.Queues, row)
	}
	v.order(r.Queues)
	v.reportTopics(r, p, dt)
	return r
}

func (v *topView) reportTopics(r *topReport, p *web.Top, dt float64) {
	before := make(map[string]uint64, len(p.ByTopic))
	for _, x := range p.ByTopic {
		before[x.Topic] = x.Published
	}
	for _, x := range v.cur.ByTopic {
		if v.shows(x.Topic) {
			r.ByTopic = append(r.ByTopic, topTopicReport{x.Topic, rate(before[x.Topic], x.Published, dt), x.Published})
		}
	}
	slices.SortStableFunc(r.ByTopic, func(a, b topTopicReport) int {
		return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Topic, b.Topic))
	})
}

func (v *topView) shows(name string) bool {
	return v.filter == "" || strings.Contains(strings.ToLower(name), strings.ToLower(v.filter))
}

// order sorts queues; what is equal goes by depth, then by name, so that the screen does not jump.
func (v *topView) order(list []topQueueReport) {
	by := func(a, b *topQueueReport) int {
		switch topSortWords[v.sort] {
		case "busy":
			return cmp.Compare(b.Puts+b.Gets, a.Puts+a.Gets)
		case "full":
			return cmp.Compare(b.full(), a.full())
		case "name":
			return cmp.Compare(a.Name, b.Name)
		}
		return 0
	}
	slices.SortFunc(list, func(a, b topQueueReport) int {
		return cmp.Or(by(&a, &b), cmp.Compare(b.Depth, a.Depth), cmp.Compare(a.Name, b.Name))
	})
}

// topKeys is the help of the screen's keys.
const topKeys = "Keys: q quit, s sort, p pause, / filter (Enter keeps it, Esc drops it), t queues or topics,\n" +
	"arrows, PgUp, PgDn, Home and End scroll."

// topKey is a key: a letter, or one of the names below.
type topKey rune

const (
	keyUp topKey = -1 - iota
	keyDown
	keyPgUp
	keyPgDn
	keyHome
	keyEnd
	keyEsc
	keyEnter
	keyBack
	keyInterrupt
)

// key acts on a key; true ends top.
func (v *topView) key(k topKey) (quit bool) {
	if k == keyInterrupt {
		return true
	}
	if v.typing {
		v.typed(k)
		return false
	}
	switch k {
	case 'q', 'Q':
		return true
	case 's':
		v.sort, v.scroll = (v.sort+1)%len(topSortWords), 0
	case 'S':
		v.sort, v.scroll = (v.sort+len(topSortWords)-1)%len(topSortWords), 0
	case 'p', ' ':
		v.paused = !v.paused
	case 't', '\t':
		v.part, v.scroll = (v.part+1)%topParts, 0
	case '/':
		v.typing, v.before = true, v.filter
	case keyEsc:
		v.filter, v.scroll = "", 0
	default:
		v.scrollBy(k)
	}
	return false
}

// typed takes a key of the filter.
func (v *topView) typed(k topKey) {
	v.scroll = 0
	switch {
	case k == keyEnter:
		v.typing = false
	case k == keyEsc:
		v.typing, v.filter = false, v.before
	case k == keyBack:
		if r := []rune(v.filter); len(r) > 0 {
			v.filter = string(r[:len(r)-1])
		}
	case k >= ' ' && len(v.filter) < 200:
		v.filter += string(rune(k))
	}
}

func (v *topView) scrollBy(k topKey) {
	page := max(v.page, 1)
	switch k {
	case keyUp:
		v.scroll--
	case keyDown:
		v.scroll++
	case keyPgUp:
		v.scroll -= page
	case keyPgDn:
		v.scroll += page
	case keyHome:
		v.scroll = 0
	case keyEnd:
		v.scroll = v.rows
	}
	v.scroll = max(0, min(v.scroll, v.rows-page))
}
