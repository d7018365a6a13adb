package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/store"
)

// Problem is one error in the vendor's JSON form.
type Problem struct {
	Type        string `json:"type"` // "rest" or "qmgr"
	MsgID       string `json:"msgId"`
	Message     string `json:"message"`
	Explanation string `json:"explanation"`
	Action      string `json:"action"`
	CC          int32  `json:"completionCode,omitempty"`
	RC          int32  `json:"reasonCode,omitempty"`

	status int
}

func (p *Problem) Error() string { return p.Message }

// problemRow is one row of the table of what the door itself refuses.
type problemRow struct {
	status              int
	explanation, action string
}

// problems: identifiers that the vendor's interface is known to use keep their meaning; the words are ours.
var problems = map[string]problemRow{
	"MQWB0009E": {http.StatusNotFound, "The path names a queue manager that this process is not.",
		"Use the name that GET /ibmmq/rest/v2/admin/qmgr shows."},
	"MQWB0100E": {http.StatusForbidden, "The request changes something and lacks the header that shows that it was meant.",
		"Send ibm-mq-rest-csrf-token with any value."},
	"MQWB0102E": {http.StatusForbidden, "The user of this connection is no administrator: root, the user whose process " +
		"the queue manager is, or a member of the administrators' group of qm.ini.", "Send the request as such a user."},
	"MQWB0103E": {http.StatusBadRequest, "The body is not the JSON that this path takes.", "Correct the body."},
	"MQWB0104E": {http.StatusBadRequest, "A value in the query or in a header is not one that this path takes.",
		"Correct the value."},
	"MQWB0105E": {http.StatusUnsupportedMediaType, "This path takes text only.",
		"Send Content-Type: text/plain;charset=utf-8, or use qmgrd put --file for other bytes."},
	"MQWB0114E": {http.StatusUnsupportedMediaType, "The body of this path is a command as JSON, or a script as text or in a form.",
		"Send Content-Type: application/json for one command, text/plain for a script."},
	"MQWB0115E": {http.StatusMethodNotAllowed, "The path is one that answers, but not to this method.",
		"Use a method that the header Allow names; docs/http.md has them."},
	"MQWB0106E": {http.StatusRequestEntityTooLarge, "The body is longer than a message may be.",
		"Send a shorter one."},
	"MQWB0107E": {http.StatusNotFound, "No service answers at this path.", "See docs/http.md for the paths there are."},
	"MQWB0109E": {http.StatusUnprocessableEntity, "The message is not text (format MQSTR), so it was left where it is.",
		"Get it with qmgrd get --json, which gives binary bodies too."},
	"MQWB0110E": {http.StatusNotImplemented, "This version does not have this part yet.", "See docs/compatibility.md."},
	"MQWB0111E": {http.StatusServiceUnavailable, "The queue manager is ending or not ready.",
		"Try again when it runs."},
	"MQWB0113E": {http.StatusServiceUnavailable, "The file system of the data directory has no room for messages or " +
		"definitions.", "Make room there; errors/AMQERR01.LOG says when it was first met (AMQ7463E)."},
	"MQWB0119E": {http.StatusForbidden, "This port is open for programs of this machine alone (--http-insecure), and the request " +
		"names another host, or comes from a page of another origin.",
		"Use http://localhost:PORT or http://127.0.0.1:PORT, and no browser page of another origin."},
	"MQWB0112E": {http.StatusInternalServerError, "The request met an internal error; the queue manager goes on.",
		"The error log has the details."},
}

// refuse makes a Problem of a row.
func refuse(id, format string, a ...any) *Problem {
	row := problems[id]
	return &Problem{Type: "rest", MsgID: id, Message: id + ": " + fmt.Sprintf(format, a...),
		Explanation: row.explanation, Action: row.action, status: row.status}
}

// reasonStatus is the HTTP status of reason codes that are not simply a bad request.
var reasonStatus = map[mqi.RC]int{
	mqi.MQRC_NOT_AUTHORIZED:      http.StatusForbidden,
	mqi.MQRC_UNKNOWN_OBJECT_NAME: http.StatusNotFound,
	mqi.MQRC_Q_MGR_QUIESCING:     http.StatusServiceUnavailable,
	mqi.MQRC_Q_MGR_STOPPING:      http.StatusServiceUnavailable,
	mqi.MQRC_Q_MGR_NOT_AVAILABLE: http.StatusServiceUnavailable,
	mqi.MQRC_UNEXPECTED_ERROR:    http.StatusInternalServerError,
	mqi.MQRC_RESOURCE_PROBLEM:    http.StatusInsufficientStorage,
}

// ofError makes a Problem of whatever a handler failed with. Causes stay in the log: a reply shows codes and names.
func ofError(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var e *mqi.Error
	if !errors.As(err, &e) {
		return refuse("MQWB0112E", "internal error")
	}
	status, ok := reasonStatus[e.RC]
	if !ok {
		status = http.StatusBadRequest
	}
	what := e.Op
	if e.Object != "" {
		what += " of " + e.Object
	}
	p = &Problem{Type: "qmgr", MsgID: "MQWB0300E", status: status, CC: int32(e.CC), RC: int32(e.RC),
		Message:     fmt.Sprintf("MQWB0300E: %s ended with reason %d (%s)", what, e.RC, e.RC.Name()),
		Explanation: "The queue manager refused the request with an MQ reason code.",
		Action:      "Look up the reason code; its name says what to change."}
	if errors.Is(err, errModel) {
		p.Message += ": " + errModel.Error()
	}
	if errors.Is(err, store.ErrFull) {
		p.status = http.StatusInsufficientStorage
		p.Message += ": the disk of the queue manager's data directory is full"
		p.Action = problems["MQWB0113E"].action
	}
	return p
}

// fail writes a Problem.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := ofError(err)
	if p.status >= http.StatusInternalServerError && p.status != http.StatusNotImplemented {
		s.log.Warn().Err(err).Str("path", r.URL.Path).Str("user", identityOf(r).User).Msg("request failed")
	}
	writeJSON(w, p.status, map[string][]*Problem{"error": {p}})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(b, '\n')) // the reader has gone; nothing is left to tell
}
