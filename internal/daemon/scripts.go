package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/obs"
	"github.com/qmgrd/qmgrd/internal/web"
)

// ErrScript: a command of a start-up script failed, and the start was strict.
var ErrScript = errors.New("start-up script")

// scriptFiles lists what --mqsc names: a file, or the *.mqsc of a directory in name order.
func scriptFiles(names []string) ([]string, error) {
	var out []string
	for _, n := range names {
		st, err := os.Stat(n)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			out = append(out, n)
			continue
		}
		found, err := filepath.Glob(filepath.Join(n, "*.mqsc"))
		if err != nil {
			return nil, err
		}
		sort.Strings(found)
		out = append(out, found...)
	}
	return out, nil
}

// runScripts runs the start-up scripts before the doors open.
func (d *daemon) runScripts(ctx context.Context) error {
	files, err := scriptFiles(d.opt.Scripts)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrScript, err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("%w: %v", ErrScript, err)
		}
		s := &script{d: d, name: name, id: auth.System(d.opt.Name)}
		err = s.run(ctx, f)
		f.Close()
		if err != nil {
			return err
		}
		d.log.Info().Str("file", name).Int("commands", s.n).Int("failed", s.failed).Msg("start-up script has run")
	}
	return nil
}

// script is one start-up script in execution.
type script struct {
	d         *daemon
	name      string
	id        auth.Identity
	n, failed int
}

func (s *script) run(ctx context.Context, in io.Reader) error {
	res, err := mqsc.Run(ctx, in, io.Discard, web.Executor{Manager: s.d.qm, Identity: s.id},
		mqsc.RunOptions{QMgr: s.d.opt.Name, Each: s})
	s.n = res.Commands
	if err != nil && !errors.Is(err, ErrScript) {
		err = fmt.Errorf("%w %s: %v", ErrScript, s.name, err)
	}
	return err
}

// Command implements mqsc.Watcher: it looks at what a command came to.
func (s *script) Command(src *mqsc.Source, r *attr.Reply, serr *mqsc.SyntaxError) error {
	switch {
	case serr != nil:
		return s.fault(src, serr.Error())
	case r.Failed() && !isThere(r):
		return s.fault(src, messagesOf(r))
	}
	return nil
}

// isThere reports a failure that is none at the second start: the object exists already.
func isThere(r *attr.Reply) bool {
	switch r.RC {
	case mqi.MQRCCF_OBJECT_ALREADY_EXISTS, mqi.MQRCCF_CHANNEL_ALREADY_EXISTS, mqi.MQRCCF_LISTENER_RUNNING,
		mqi.MQRCCF_SERVICE_RUNNING:
		return true
	}
	for _, m := range r.Msgs {
		switch strings.TrimRight(m.ID, "IWEST") {
		case "AMQ8150", "AMQ8226":
			return true
		}
	}
	return false
}

func messagesOf(r *attr.Reply) string {
	var b strings.Builder
	if err := mqsc.WriteReply(&b, &attr.Command{}, &attr.Reply{CC: r.CC, RC: r.RC, Msgs: r.Msgs}); err != nil {
		return err.Error()
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// fault reports a command that failed; strict starts end with it.
func (s *script) fault(src *mqsc.Source, what string) error {
	line, _ := src.Place(0)
	s.failed++
	id := "AMQ5776E"
	if s.d.opt.Lenient {
		id = "AMQ5777W"
	}
	s.d.log.Warn().Str(obs.FieldAMQ, id).Str("file", s.name).Int("line", line).Msgf("%s:%d: %s", s.name, line, what)
	if s.d.opt.Lenient {
		return nil
	}
	return fmt.Errorf("%w %s:%d: %s", ErrScript, s.name, line, what)
}
