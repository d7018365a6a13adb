package main

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/width"
)

// What top draws: lines of text with a style, never wider or higher than asked.

// topStyle is how a line is drawn.
type topStyle int

const (
	stylePlain topStyle = iota
	styleTitle
	styleHead
	styleHot  // a queue that is nearly full
	styleNote // the last line
)

type topLine struct {
	text  string
	style topStyle
}

// hotPercent of MAXDEPTH is where a queue is marked, as QDEPTHHI's default.
const hotPercent = 80

// render draws the screen.
func (v *topView) render(w, h int) []topLine {
	if w < 1 || h < 1 {
		return nil
	}
	var lines []topLine
	r := v.report()
	if r == nil {
		lines = []topLine{{"qmgrd top", styleTitle}, {"waiting for the first picture …", stylePlain}}
	} else {
		lines = append(v.summary(r), topLine{})
		lines = append(lines, v.tables(r, w, max(h-len(lines)-1, 0))...)
	}
	if len(lines) > h-1 {
		lines = lines[:h-1]
	}
	for len(lines) < h-1 {
		lines = append(lines, topLine{})
	}
	lines = append(lines, topLine{v.bottom(), styleNote})
	for i := range lines {
		lines[i].text = clipWidth(lines[i].text, w)
	}
	return lines
}

// text is a picture with every row, for --once.
func (v *topView) text(w int) []string {
	r := v.report()
	lines := v.summary(r)
	lines = append(lines, topLine{})
	lines = append(lines, queueTable(r.Queues, w)...)
	if len(r.ByTopic) > 0 {
		lines = append(lines, topLine{})
		lines = append(lines, topicTable(r.ByTopic, w)...)
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = strings.TrimRight(clipWidth(l.text, w), " ")
	}
	return out
}

// summary are the lines about the queue manager.
func (v *topView) summary(r *topReport) []topLine {
	title := fmt.Sprintf("qmgrd top  %s  %s  up %s", r.Name, r.Status, span(r.Uptime))
	if v.paused {
		title += "  PAUSED"
	}
	per := func(f float64) string {
		if !r.rated {
			return "-"
		}
		return short(f)
	}
	written := "-"
	if r.rated {
		written = size(r.Written)
	}
	grown := ""
	if r.rated {
		grown = fmt.Sprintf(" (%+.0f/s, %+d in %s)", r.TopicGrowth, r.TopicsSince, span(r.Since))
	}
	return []topLine{{title, styleTitle},
		{fmt.Sprintf("connections %d  commits/s %s  syncs/s %s  written/s %s  log %s", r.Connections, per(r.Commits), per(r.Syncs),
			written, size(float64(r.LogBytes))), stylePlain},
		{fmt.Sprintf("topics %d%s  subscriptions %d  published/s %s", r.Topics, grown, r.Subscriptions, per(r.Published)), stylePlain}}
}

// tables fill h lines: queues, and topics in the lower third when any are published to.
func (v *topView) tables(r *topReport, w, h int) []topLine {
	queues, topics := queueTable(r.Queues, w), topicTable(r.ByTopic, w)
	switch {
	case v.part == topTopicsOnly:
		return v.window(topics, h)
	case v.part == topQueuesOnly || len(r.ByTopic) == 0 || h < 9:
		return v.window(queues, h)
	}
	low := min(len(topics), max(h/3, 3))
	out := v.window(queues, h-low-1)
	for len(out) < h-low {
		out = append(out, topLine{})
	}
	return append(out, topics[:low]...)
}

// window is the part of a table that scrolling has come to, under its head.
func (v *topView) window(table []topLine, h int) []topLine {
	if h < 1 {
		return nil
	}
	rows := table[1:]
	v.page, v.rows = h-1, len(rows)
	from := max(0, min(v.scroll, len(rows)-v.page))
	return append([]topLine{table[0]}, rows[from:min(from+v.page, len(rows))]...)
}

const (
	queueColumns = "%8s %5s %7s %7s %4s %4s"
	topicColumns = "%12s %12s"
)

func queueTable(list []topQueueReport, w int) []topLine {
	row := func(name string, style topStyle, cols ...any) topLine {
		tail := fmt.Sprintf(queueColumns, cols...)
		return topLine{fitWidth(name, max(w-len(tail)-1, 8)) + " " + tail, style}
	}
	out := []topLine{row("QUEUE", styleHead, "DEPTH", "FULL", "PUT/s", "GET/s", "IN", "OUT")}
	for i := range list {
		q := &list[i]
		style := stylePlain
		if q.full() >= hotPercent {
			style = styleHot
		}
		out = append(out, row(q.Name, style, fmt.Sprint(q.Depth), fmt.Sprintf("%.0f%%", q.full()), short(q.Puts),
			short(q.Gets), fmt.Sprint(q.In), fmt.Sprint(q.Out)))
	}
	return out
}

func topicTable(list []topTopicReport, w int) []topLine {
	row := func(name string, style topStyle, cols ...any) topLine {
		tail := fmt.Sprintf(topicColumns, cols...)
		return topLine{fitWidth(name, max(w-len(tail)-1, 8)) + " " + tail, style}
	}
	out := []topLine{row("TOPIC PUBLISHED TO", styleHead, "PUB/s", "SINCE START")}
	for _, t := range list {
		out = append(out, row(t.Topic, stylePlain, short(t.Rate), fmt.Sprint(t.Count)))
	}
	return out
}

// bottom is the last line: the filter while it is typed, what is wrong, or the keys.
func (v *topView) bottom() string {
	switch {
	case v.typing:
		return "filter: " + v.filter + "_"
	case v.failed != nil:
		return "no answer: " + v.failed.Error()
	}
	s := "q quit  s sort:" + topSortWords[v.sort] + "  p pause  / filter"
	if v.filter != "" {
		s += ":" + v.filter
	}
	return s + "  t queues/topics  arrows scroll"
}

// short writes a rate in at most seven characters.
func short(f float64) string {
	switch {
	case f == 0:
		return "0"
	case f < 10:
		return fmt.Sprintf("%.1f", f)
	case f < 1e5:
		return fmt.Sprintf("%.0f", f)
	case f < 1e7:
		return fmt.Sprintf("%.0fk", f/1e3)
	}
	return fmt.Sprintf("%.0fM", f/1e6)
}

// size writes bytes.
func size(f float64) string {
	units := [...]string{"B", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for f >= 1024 && i < len(units)-1 {
		f, i = f/1024, i+1
	}
	if i == 0 || f >= 100 {
		return fmt.Sprintf("%.0f %s", f, units[i])
	}
	return fmt.Sprintf("%.1f %s", f, units[i])
}

// span writes seconds.
func span(seconds float64) string {
	d := time.Duration(max(seconds, 0)) * time.Second
	switch h := int(d.Hours()); {
	case h >= 48:
		return fmt.Sprintf("%dd%dh", h/24, h%24)
	case h > 0:
		return fmt.Sprintf("%dh%02dm", h, int(d.Minutes())%60)
	case d >= time.Minute:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%ds", int(d.Seconds()))
}

// clipWidth cuts a line to w columns. What a terminal would act upon, as an escape in a topic string, becomes a
// question mark.
func clipWidth(s string, w int) string {
	var b strings.Builder
	used := 0
	for _, r := range s {
		if !unicode.IsPrint(r) {
			r = '?'
		}
		n := runeWidth(r)
		if used+n > w {
			break
		}
		b.WriteRune(r)
		used += n
	}
	return b.String()
}

// fitWidth makes a text exactly w columns wide; one that is cut ends in …
func fitWidth(s string, w int) string {
	c := clipWidth(s, w)
	if textWidth(s) > w {
		c = clipWidth(s, w-1) + "…"
	}
	return c + strings.Repeat(" ", max(w-textWidth(c), 0))
}

func textWidth(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.IsPrint(r) {
			r = '?'
		}
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
