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
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// ErrScript: a command of a start-up script failed, and the start was strict.
var ErrScript = errors.New("start-up script")

// inFlight is how many definitions of a script share syncs.
const inFlight = 256

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

// script is one start-up script in execution. It needs the place of each command, so it does not use mqsc.Run.
type script struct {
	d      *daemon
	name   string
	id     auth.Identity
	queue  []pendingCommand
	n      int
	failed int
}

type pendingCommand struct {
	src *mqsc.Source
	p   *qmgr.Pending
}

func (s *script) run(ctx context.Context, in io.Reader) error {
	rd := mqsc.NewReader(in, func() error { return nil })
	for {
		line, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return s.drain(ctx, 0)
		}
		if err != nil {
			return fmt.Errorf("%w %s: %v", ErrScript, s.name, err)
		}
		for _, src := range line.Commands {
			if isEnd(src.Text) {
				return s.drain(ctx, 0)
			}
			if err := s.command(ctx, src); err != nil {
				return err
			}
		}
	}
}

func isEnd(text string) bool {
	switch strings.ToUpper(text) {
	case "END", "QUIT", "EXIT":
		return true
	}
	return false
}

// command starts a command. Definitions may be under way together; whatever else there is waits for them.
func (s *script) command(ctx context.Context, src *mqsc.Source) error {
	s.n++
	cmd, serr := mqsc.ParseSource(src)
	if serr != nil {
		if err := s.drain(ctx, 0); err != nil {
			return err
		}
		return s.fault(src, serr.Error())
	}
	keep := 0
	if cmd.Verb == "DEFINE" {
		keep = inFlight - 1
	}
	if err := s.drain(ctx, keep); err != nil {
		return err
	}
	s.queue = append(s.queue, pendingCommand{src, s.d.qm.Submit(ctx, cmd, s.id)})
	if keep > 0 {
		return nil
	}
	return s.drain(ctx, 0)
}

// drain waits until at most keep commands are under way.
func (s *script) drain(ctx context.Context, keep int) error {
	for len(s.queue) > keep {
		c := s.queue[0]
		s.queue = s.queue[1:]
		r := c.p.Wait(ctx)
		if !r.Failed() || isThere(r) {
			continue
		}
		if err := s.fault(c.src, messagesOf(r)); err != nil {
			return errors.Join(err, s.drain(ctx, 0))
		}
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
