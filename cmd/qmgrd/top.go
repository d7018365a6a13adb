package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"

	"github.com/chzyer/readline"
	"github.com/spf13/cobra"

	"github.com/qmgrd/qmgrd/internal/web"
)

// qmgrd top: what a queue manager does, on a screen that is drawn every second, or as text and JSON for scripts. The
// model and what is drawn are pure (top_model.go, top_render.go); the terminal is in top_screen.go.

// topFlags are the options of top.
type topFlags struct {
	once, json   bool
	interval     time.Duration
	sort, filter string
}

func (e *env) topCmd() *cobra.Command {
	var f topFlags
	c := &cobra.Command{Use: "top QM", Short: "watch the busiest queues, topics and connections",
		Long: "top shows, every second: connections, units of work and disk syncs a second, the number of topics and how\n" +
			"it grows, the busiest queues and the topics that are published to.\n\n" +
			topKeys + "\n\nWith --once it prints one picture and ends; with --json it prints one line of JSON an interval.",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := dataDir(c)
			if err != nil {
				return err
			}
			return e.top(dir, args[0], f)
		}}
	c.Flags().BoolVar(&f.once, "once", false, "print one picture, of one interval, and end")
	c.Flags().BoolVar(&f.json, "json", false, "print JSON instead of drawing")
	c.Flags().DurationVar(&f.interval, "interval", time.Second, "time between two pictures")
	c.Flags().StringVar(&f.sort, "sort", topSortWords[0], "order of queues: busy, depth, full or name")
	c.Flags().StringVar(&f.filter, "filter", "", "show only queues and topics whose name holds `text`")
	return c
}

const (
	minTopInterval = 100 * time.Millisecond
	onceWidth      = 80
)

func (e *env) top(dir, qm string, f topFlags) error {
	v := &topView{filter: f.filter}
	if err := v.setSort(f.sort); err != nil {
		return err
	}
	if f.interval < minTopInterval {
		return fmt.Errorf("--interval %v: the shortest is %v", f.interval, minTopInterval)
	}
	cl, err := connect(dir, qm)
	if err != nil {
		return err
	}
	fetch := func(ctx context.Context) (*web.Top, error) {
		ctx, cancel := context.WithTimeout(ctx, topTimeout)
		defer cancel()
		return cl.top(ctx)
	}
	if f.once || f.json {
		return e.topPlain(v, f, fetch)
	}
	in, inOK := e.stdin.(*os.File)
	out, outOK := e.stdout.(*os.File)
	if !inOK || !outOK || !readline.IsTerminal(int(in.Fd())) || !readline.IsTerminal(int(out.Fd())) {
		return errors.New("top draws on a terminal, and this is none: use --once or --json")
	}
	return e.topTerminal(v, f.interval, in, out, fetch)
}

// topTimeout bounds one question; a manager that is busy for so long is shown as not answering.
const topTimeout = 5 * time.Second

func (c *client) top(ctx context.Context) (*web.Top, error) {
	resp, err := c.do(ctx, http.MethodGet, "/qmgrd/top", url.Values{}, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var t web.Top
	if err := json.NewDecoder(io.LimitReader(resp.Body, topLimit)).Decode(&t); err != nil {
		return nil, fmt.Errorf("queue manager %s: its answer cannot be read: %w", c.qm, err)
	}
	return &t, nil
}

// topLimit bounds an answer: that of some hundred thousand queues.
const topLimit = 64 << 20

// topPlain prints pictures one after the other; the first needs two answers, since rates are differences.
func (e *env) topPlain(v *topView, f topFlags, fetch func(context.Context) (*web.Top, error)) error {
	enc := json.NewEncoder(e.stdout)
	for first := true; ; first = false {
		t, err := fetch(e.ctx)
		if err != nil {
			return err
		}
		v.feed(t)
		switch {
		case first:
		case f.json:
			err = enc.Encode(v.report())
		default:
			for _, l := range v.text(onceWidth) {
				if _, err = fmt.Fprintln(e.stdout, l); err != nil {
					break
				}
			}
		}
		if err != nil || f.once && !first {
			return err
		}
		select {
		case <-time.After(f.interval):
		case <-e.ctx.Done():
			return nil
		}
	}
}
