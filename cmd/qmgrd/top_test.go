package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/web"
)

// picture is what a manager answers second n after its start.
func picture(n float64) *web.Top {
	return &web.Top{Name: "QM1", Status: "Running", Time: 1000 + n, Uptime: n, Conns: 3, Topics: 100 + int(10*n), Subs: 4,
		Commits: uint64(500 * n), Syncs: uint64(50 * n), Written: uint64(2048 * n), LogBytes: 64 << 20, Published: uint64(30 * n),
		Queues: []web.TopQueue{
			{Name: "IDLE", Depth: 7, Max: 5000},
			{Name: "NEARLY.FULL", Depth: 95, Max: 100, Puts: uint64(n), In: 1},
			{Name: "ORDERS", Depth: 20, Max: 5000, Puts: uint64(200 * n), Gets: uint64(190 * n), In: 2, Out: 1},
		},
		ByTopic: []web.TopTopic{{Topic: "a/b", Published: uint64(10 * n)}, {Topic: "evil/\x1b[2J", Published: uint64(20 * n)}}}
}

func fedView(pictures ...*web.Top) *topView {
	v := &topView{}
	for _, p := range pictures {
		v.feed(p)
	}
	return v
}

// Rates are differences of two pictures; the first has none, and a restart begins anew.
func TestTopRates(t *testing.T) {
	if fedView().report() != nil {
		t.Error("a report of nothing")
	}
	if r := fedView(picture(5)).report(); r.rated || r.Commits != 0 || r.Queues[0].Puts != 0 {
		t.Errorf("one picture has rates: %+v", r)
	}
	r := fedView(picture(1), picture(3), picture(5)).report()
	if r.Commits != 500 || r.Syncs != 50 || r.Written != 2048 || r.Published != 30 || r.TopicGrowth != 10 || r.TopicsSince != 40 ||
		r.Since != 4 {
		t.Errorf("%+v", r)
	}
	if q := r.Queues[0]; q.Name != "ORDERS" || q.Puts != 200 || q.Gets != 190 {
		t.Errorf("busiest queue %+v", q)
	}
	if x := r.ByTopic; x[0].Rate != 20 || x[1].Topic != "a/b" || x[1].Rate != 10 {
		t.Errorf("topics %+v", x)
	}
	v := fedView(picture(100), picture(101), picture(2))
	if r := v.report(); r.rated || r.TopicsSince != 0 {
		t.Errorf("after a restart: %+v", r)
	}
	made := picture(2)
	made.Queues = append(made.Queues, web.TopQueue{Name: "NEW", Puts: 1000, Max: 5000})
	if q := fedView(picture(1), made).report().Queues[0]; q.Name != "NEW" || q.Puts != 1000 {
		t.Errorf("a queue made since: %+v", q)
	}
	again := picture(2) // deleted and defined again: its counters begin anew
	again.Queues[2].Puts = 3
	if q := fedView(picture(1), again).report().Queues[2]; q.Puts < 0 || q.Puts > 3 {
		t.Errorf("counters that fell: %+v", q)
	}
}

// Keys: order, pause, filter, parts, scrolling.
func TestTopKeys(t *testing.T) {
	v := fedView(picture(1), picture(2))
	press := func(keys string) (quit bool) {
		for _, k := range decodeKeys([]byte(keys)) {
			quit = v.key(k)
		}
		return quit
	}
	first := func() string { return v.report().Queues[0].Name }
	for _, want := range []string{"NEARLY.FULL", "NEARLY.FULL", "IDLE", "ORDERS"} { // depth, full, name, busy
		if press("s"); first() != want {
			t.Errorf("sort %s: %s is first", topSortWords[v.sort], first())
		}
	}
	press("p")
	v.feed(picture(9))
	if v.cur.Uptime != 2 || !strings.Contains(v.render(80, 24)[0].text, "PAUSED") {
		t.Error("not paused")
	}
	press("p")
	if press("/ord"); !v.typing || len(v.report().Queues) != 1 || v.render(80, 24)[23].text != "filter: ord_" {
		t.Errorf("filter %q", v.filter)
	}
	if press("q\x7f"); v.filter != "ord" {
		t.Errorf("typed %q", v.filter)
	}
	if press("\r"); v.typing || v.filter != "ord" {
		t.Error("Enter keeps the filter")
	}
	if press("/x\x1b"); v.filter != "ord" {
		t.Errorf("Esc while typing leaves it as it was: %q", v.filter)
	}
	if press("\x1b"); v.filter != "" {
		t.Error("Esc drops the filter")
	}
	if press("t"); strings.Contains(screenText(v, 80, 24), "TOPIC PUBLISHED TO") {
		t.Error("t shows queues alone first")
	}
	if press("t"); strings.Contains(screenText(v, 80, 24), "ORDERS") {
		t.Error("then topics alone")
	}
	press("t")
	for _, quit := range []string{"q", "\x03", "/abc\x03"} {
		v.typing = false
		if !press(quit) {
			t.Errorf("%q does not end top", quit)
		}
	}
	got := decodeKeys([]byte("\x1b[A\x1b[B\x1b[5~\x1b[6~\x1b[H\x1bOF\x1b[15~\x1b[1;5Cä"))
	if want := []topKey{keyUp, keyDown, keyPgUp, keyPgDn, keyHome, keyEnd, 'ä'}; !slices.Equal(got, want) {
		t.Errorf("decoded %v", got)
	}
}

func screenText(v *topView, w, h int) string {
	var b strings.Builder
	for _, l := range v.render(w, h) {
		b.WriteString(l.text + "\n")
	}
	return b.String()
}

// The drawing on 80 by 24, and on any size: never more lines or columns than there are, nothing a terminal acts upon.
func TestTopRender(t *testing.T) {
	v := fedView(picture(1), picture(3))
	want := []string{
		"qmgrd top  QM1  Running  up 3s",
		"connections 3  commits/s 500  syncs/s 50  written/s 2.0 KiB  log 64.0 MiB",
		"topics 130 (+10/s, +20 in 2s)  subscriptions 4  published/s 30",
		"",
		"QUEUE                                      DEPTH  FULL   PUT/s   GET/s   IN  OUT",
		"ORDERS                                        20    0%     200     190    2    1",
		"NEARLY.FULL                                   95   95%     1.0       0    1    0",
		"IDLE                                           7    0%       0       0    0    0",
	}
	lines := v.render(80, 24)
	for i, w := range want {
		if got := strings.TrimRight(lines[i].text, " "); got != w {
			t.Errorf("line %d\n got %q\nwant %q", i+1, got, w)
		}
	}
	if lines[6].style != styleHot || lines[5].style != stylePlain {
		t.Error("a queue that is nearly full is marked, others are not")
	}
	if s := screenText(v, 80, 24); !strings.Contains(s, "evil/?[2J") || strings.Contains(s, "\x1b") {
		t.Errorf("a topic string reaches the terminal: %q", s)
	}
	big := picture(3)
	for i := range 500 {
		big.Queues = append(big.Queues, web.TopQueue{Name: fmt.Sprintf("Q.%048d", i), Depth: 1 << 29, Max: 999999999})
		big.ByTopic = append(big.ByTopic, web.TopTopic{Topic: strings.Repeat("漢字/", 50), Published: uint64(i)})
	}
	v.feed(big)
	for _, part := range []topPart{topBoth, topQueuesOnly, topTopicsOnly} {
		v.part = part
		for w := 1; w < 140; w += 7 {
			for h := 1; h < 40; h += 3 {
				lines := v.render(w, h)
				if len(lines) != h {
					t.Fatalf("%dx%d: %d lines", w, h, len(lines))
				}
				for _, l := range lines {
					if textWidth(l.text) > w {
						t.Fatalf("%dx%d: %q is wider", w, h, l.text)
					}
				}
			}
		}
	}
	v.part = topQueuesOnly
	v.render(80, 24)
	v.key(keyEnd)
	if s := screenText(v, 80, 24); !strings.Contains(s, "IDLE") || v.scroll != 503-v.page {
		t.Errorf("End: scroll %d of %d, page %d", v.scroll, v.rows, v.page)
	}
	v.key(keyHome)
	if v.key(keyUp); v.scroll != 0 {
		t.Errorf("above the first line: %d", v.scroll)
	}
	if v.failed = errors.New("nobody is there"); !strings.HasPrefix(v.render(80, 24)[23].text, "no answer: nobody is there") {
		t.Error("a failure is not shown")
	}
	if got := screenText(&topView{}, 80, 5); !strings.Contains(got, "waiting") {
		t.Errorf("before the first picture: %q", got)
	}
}

// The terminal is given back whatever ends top; a resize draws anew, a failure keeps it running.
func TestTopScreen(t *testing.T) {
	for name, end := range map[string]func(keys chan []byte, cancel func()){
		"q":            func(keys chan []byte, _ func()) { keys <- []byte("q") },
		"end of input": func(keys chan []byte, _ func()) { close(keys) },
		"signal":       func(_ chan []byte, cancel func()) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			keys, ticks, winch := make(chan []byte), make(chan time.Time), make(chan os.Signal)
			asked := make(chan int, 10)
			n := 0
			var out strings.Builder
			s := &topScreen{view: &topView{}, out: &out, keys: keys, ticks: ticks, resized: winch, codes: styleCodes,
				size: func() (int, int) { return 80, 24 },
				fetch: func(context.Context) (*web.Top, error) {
					n++
					asked <- n
					if n == 2 {
						return nil, errors.New("does not answer now")
					}
					return picture(float64(n)), nil
				}}
			done := make(chan error, 1)
			go func() { done <- s.run(ctx) }()
			<-asked
			for i := 2; i <= 3; {
				ticks <- time.Time{}
				select {
				case <-asked:
					i++
				case <-time.After(time.Millisecond): // the answer before was still on its way
				}
			}
			winch <- os.Interrupt
			winch <- os.Interrupt // the drawing after the first has ended
			end(keys, cancel)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			got := out.String()
			if !strings.HasPrefix(got, enterScreen) || !strings.HasSuffix(got, leaveScreen) || strings.Count(got, leaveScreen) != 1 {
				t.Errorf("the terminal: %q … %q", got[:20], got[len(got)-40:])
			}
			if !strings.Contains(got, "does not answer now") || !strings.Contains(got, "QM1") {
				t.Errorf("drawn: %q", got)
			}
		})
	}
}
