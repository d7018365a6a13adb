package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// commandReply is the answer of the vendor's mqsc action.
type commandReply struct {
	CommandResponse       []oneReply `json:"commandResponse"`
	OverallCompletionCode int32      `json:"overallCompletionCode"`
	OverallReasonCode     int32      `json:"overallReasonCode"`
}

// oneReply is one object shown, or one message. Text is for runCommand, Parameters and Message for runCommandJSON.
type oneReply struct {
	CompletionCode int32          `json:"completionCode"`
	ReasonCode     int32          `json:"reasonCode"`
	Text           []string       `json:"text,omitempty"`
	Parameters     map[string]any `json:"parameters,omitempty"`
	Message        []string       `json:"message,omitempty"`
}

// runJSON runs one command, given as text or as JSON.
func (s *Server) runJSON(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(r, maxJSON)
	if err != nil {
		return err
	}
	var typ struct {
		Type       string          `json:"type"`
		Parameters json.RawMessage `json:"parameters"`
	}
	if err := json.Unmarshal(body, &typ); err != nil {
		return refuse("MQWB0103E", "the body is not JSON: %v", err)
	}
	var cmd *attr.Command
	var serr *mqsc.SyntaxError
	asJSON := typ.Type == "runCommandJSON"
	switch typ.Type {
	case "runCommand":
		var p struct {
			Command *string `json:"command"`
		}
		if err := json.Unmarshal(typ.Parameters, &p); err != nil || p.Command == nil {
			return refuse("MQWB0103E", "runCommand needs parameters.command, a text with one MQSC command")
		}
		cmd, serr = mqsc.ParseCommand(*p.Command)
	case "runCommandJSON":
		var c mqsc.JSONCommand
		dec := json.NewDecoder(bytes.NewReader(body))
		dec.UseNumber()
		if err := dec.Decode(&c); err != nil {
			return refuse("MQWB0103E", "the command cannot be read: %v", err)
		}
		cmd, serr = mqsc.FromJSON(c)
	default:
		return refuse("MQWB0103E", "type %q is not known: use runCommand or runCommandJSON", clip(typ.Type))
	}
	if serr != nil {
		writeJSON(w, http.StatusOK, syntaxReply(serr, asJSON))
		return nil
	}
	c, err := s.commandSession(r, applREST)
	if err != nil {
		return err
	}
	defer leave(r, c)
	reply := s.opt.Manager.Execute(r.Context(), cmd, c.Identity())
	writeJSON(w, http.StatusOK, replyOf(cmd, reply, asJSON))
	return nil
}

// syntaxReply is the answer to a command that could not be read.
func syntaxReply(e *mqsc.SyntaxError, asJSON bool) *commandReply {
	one := oneReply{CompletionCode: int32(mqi.CCFailed), ReasonCode: mqi.MQRCCF_COMMAND_FAILED}
	text := []string{e.Error(), e.Segment}
	if asJSON {
		one.Message = text
	} else {
		one.Text = text
	}
	return &commandReply{[]oneReply{one}, one.CompletionCode, one.ReasonCode}
}

// replyOf gives each object shown its own entry, and the messages behind them.
func replyOf(cmd *attr.Command, r *attr.Reply, asJSON bool) *commandReply {
	out := &commandReply{CommandResponse: []oneReply{}, OverallCompletionCode: r.CC}
	if r.CC != int32(mqi.CCOK) {
		out.OverallReasonCode = mqi.MQRCCF_COMMAND_FAILED
	}
	if r.Rows != nil {
		for row := range r.Rows {
			one := oneReply{}
			if asJSON {
				one.Parameters = mqsc.JSONParameters(&row)
			} else {
				one.Text = textOf(cmd, &attr.Reply{Rows: func(yield func(attr.Row) bool) { yield(row) }})
			}
			out.CommandResponse = append(out.CommandResponse, one)
		}
	}
	if len(r.Msgs) == 0 {
		return out
	}
	one := oneReply{CompletionCode: r.CC, ReasonCode: r.RC}
	text := textOf(cmd, &attr.Reply{CC: r.CC, RC: r.RC, Msgs: r.Msgs})
	if asJSON {
		one.Message = text
	} else {
		one.Text = text
	}
	out.CommandResponse = append(out.CommandResponse, one)
	return out
}

func textOf(cmd *attr.Command, r *attr.Reply) []string {
	var b bytes.Buffer
	_ = mqsc.WriteReply(&b, cmd, r) // a buffer takes everything
	var out []string
	for l := range strings.Lines(b.String()) {
		if l = strings.TrimRight(l, " \n"); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// run executes a command of our own; it is always well formed.
func (s *Server) run(ctx context.Context, command string, fn func(attr.Row)) error {
	cmd, serr := mqsc.ParseCommand(command)
	if serr != nil {
		return serr
	}
	reply := s.opt.Manager.Execute(ctx, cmd, s.self())
	if reply.Failed() {
		return fmt.Errorf("%s: %s", command, strings.Join(textOf(cmd, reply), " "))
	}
	if reply.Rows == nil {
		return nil
	}
	for row := range reply.Rows {
		fn(row)
	}
	return nil
}
