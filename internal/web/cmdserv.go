package web

import (
	"context"
	"net/http"
)

// CommandServer is what reads commands in PCF from the command queue; the daemon's.
type CommandServer interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
	Running() bool
}

// commandServerState is the answer of /qmgrd/cmdserv.
type commandServerState struct {
	Name    string `json:"name"`
	Status  string `json:"status"` // the words of DISPLAY QMSTATUS CMDSERV
	Changed bool   `json:"changed"`
}

func (s *Server) commandServer(changed bool) commandServerState {
	st := commandServerState{s.opt.Name, "STOPPED", changed}
	if s.opt.Commands.Running() {
		st.Status = "RUNNING"
	}
	return st
}

// getCommandServer is dspmqcsv.
func (s *Server) getCommandServer(w http.ResponseWriter, _ *http.Request) error {
	if s.opt.Commands == nil {
		return refuse("MQWB0110E", "there is no command server here")
	}
	writeJSON(w, http.StatusOK, s.commandServer(false))
	return nil
}

// postCommandServer is strmqcsv and endmqcsv: action=start or stop. What is so already is no error.
func (s *Server) postCommandServer(w http.ResponseWriter, r *http.Request) error {
	c := s.opt.Commands
	if c == nil {
		return refuse("MQWB0110E", "there is no command server here")
	}
	var want bool
	switch action := r.URL.Query().Get("action"); action {
	case "start":
		want = true
	case "stop":
	default:
		return refuse("MQWB0104E", "action=%s: use start or stop", clip(action))
	}
	if c.Running() == want {
		writeJSON(w, http.StatusOK, s.commandServer(false))
		return nil
	}
	act := c.Stop
	if want {
		act = c.Start
	}
	if err := act(r.Context()); err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, s.commandServer(true))
	return nil
}
