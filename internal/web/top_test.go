package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// The picture that qmgrd top draws, for administrators.
func TestTop(t *testing.T) {
	s := newServer(t)
	get := func() (top Top) {
		t.Helper()
		w := request(s, true, "GET", "/qmgrd/top", "", "")
		if err := json.Unmarshal(w.Body.Bytes(), &top); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%d %v %s", w.Code, err, w.Body)
		}
		return top
	}
	get()
	c, err := s.opt.Manager.Connect(context.Background(), s.self(), qmgr.ConnectOptions{ApplName: "test"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Break()
	for _, topic := range []string{"x", "y", "y"} {
		od, md, pmo := mqi.DefaultOD(), mqi.DefaultMD(), mqi.DefaultPMO()
		od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, topic
		if err := c.Put1(context.Background(), &od, &md, &pmo, nil); err != nil {
			t.Fatal(err)
		}
	}
	top := get()
	if top.Name != "QM1" || top.Status != "Running" || top.Conns != 1 || top.Published != 3 || len(top.Queues) < 10 {
		t.Errorf("%+v", top)
	}
	if len(top.ByTopic) != 2 || top.ByTopic[0] != (TopTopic{"y", 2}) {
		t.Errorf("topics %+v", top.ByTopic)
	}
	if w := request(s, false, "GET", "/qmgrd/top", "", ""); w.Code != http.StatusForbidden {
		t.Errorf("somebody else: %d", w.Code)
	}
}

// fakeCommands is a command server that says what it was told.
type fakeCommands struct {
	running bool
	err     error
}

func (f *fakeCommands) Start(context.Context) error {
	f.running = f.err == nil
	return f.err
}
func (f *fakeCommands) Stop(context.Context) error { f.running = false; return nil }
func (f *fakeCommands) Running() bool              { return f.running }

// What strmqcsv, endmqcsv and dspmqcsv ask for.
func TestCommandServer(t *testing.T) {
	s := newServer(t)
	if w := request(s, true, "GET", "/qmgrd/cmdserv", "", ""); w.Code != http.StatusNotImplemented {
		t.Errorf("none: %d %s", w.Code, w.Body)
	}
	f := &fakeCommands{}
	s.opt.Commands = f
	for _, x := range []struct{ method, path, status string }{
		{"GET", "/qmgrd/cmdserv", `{"name":"QM1","status":"STOPPED","changed":false}`},
		{"POST", "/qmgrd/cmdserv?action=start", `{"name":"QM1","status":"RUNNING","changed":true}`},
		{"POST", "/qmgrd/cmdserv?action=start", `{"name":"QM1","status":"RUNNING","changed":false}`},
		{"POST", "/qmgrd/cmdserv?action=stop", `{"name":"QM1","status":"STOPPED","changed":true}`},
	} {
		w := request(s, true, x.method, x.path, "", "")
		var got, want commandServerState
		if err := errors.Join(json.Unmarshal(w.Body.Bytes(), &got), json.Unmarshal([]byte(x.status), &want)); err != nil || got != want {
			t.Errorf("%s %s: %v %s", x.method, x.path, err, w.Body)
		}
	}
	if w := request(s, true, "POST", "/qmgrd/cmdserv?action=dance", "", ""); w.Code != http.StatusBadRequest {
		t.Errorf("unknown action: %d", w.Code)
	}
	f.err = mqi.E("MQOPEN", "SYSTEM.ADMIN.COMMAND.QUEUE", mqi.MQRC_OBJECT_IN_USE)
	if w := request(s, true, "POST", "/qmgrd/cmdserv?action=start", "", ""); w.Code == http.StatusOK || f.running {
		t.Errorf("one that cannot start: %d %s", w.Code, w.Body)
	}
	if w := request(s, false, "POST", "/qmgrd/cmdserv?action=stop", "", ""); w.Code != http.StatusForbidden {
		t.Errorf("somebody else: %d", w.Code)
	}
}
