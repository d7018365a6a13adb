package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/qmgrd/qmgrd/internal/daemon"
	"github.com/qmgrd/qmgrd/internal/paths"
)

// client speaks HTTP over a manager's local socket.
type client struct {
	qm   string
	http *http.Client
}

// connect finds a manager and makes a client of its socket; the first request tells whether somebody is there.
func connect(data, qm string) (*client, error) {
	if err := paths.ValidName(qm); err != nil {
		return nil, fmt.Errorf("%w: %v", daemon.ErrBadName, err)
	}
	if _, err := os.Stat(filepath.Join(paths.Dir(data, qm), "qm.ini")); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s in %s", daemon.ErrNoSuch, qm, data)
	} else if errors.Is(err, fs.ErrPermission) {
		return nil, notAllowed(qm)
	} else if err != nil {
		return nil, err
	}
	sock := paths.Socket(data, qm)
	tr := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return paths.DialUnix(ctx, sock)
		},
		DisableCompression: true,
	}
	return &client{qm: qm, http: &http.Client{Transport: tr}}, nil
}

func notAllowed(qm string) error {
	return fmt.Errorf("%w: the socket of %s is not for this user: run it as root, as the queue manager's user or as a "+
		"member of its administrators' group (qm.ini)", fs.ErrPermission, qm)
}

// restID is the identifier of the HTTP interface in front of a message, which is nothing to who typed a command.
var restID = regexp.MustCompile(`^MQWB\d+E: `)

// refusal is an error of the door: its reason code and what it said.
type refusal struct {
	Message string `json:"message"`
	RC      int32  `json:"reasonCode"`
	status  int
}

func (r *refusal) Error() string { return r.Message }

// do sends a request. A status that is not 2xx is a *refusal with exit code 10.
func (c *client) do(ctx context.Context, method, path string, q url.Values, body io.Reader) (*http.Response, error) {
	u := url.URL{Scheme: "http", Host: "qmgrd", Path: path, RawQuery: q.Encode()}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("ibm-mq-rest-csrf-token", "qmgrd")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, withCode(exitRefused, readRefusal(resp))
}

// unreachable says why nobody answered.
func (c *client) unreachable(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%w: %s; qmgrd start %s starts it", daemon.ErrNotRunning, c.qm, c.qm)
	}
	if errors.Is(err, fs.ErrPermission) {
		return notAllowed(c.qm)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return fmt.Errorf("queue manager %s: %w", c.qm, err)
}

func readRefusal(resp *http.Response) error {
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	var list struct{ Error []refusal }
	if json.Unmarshal(b, &list) == nil && len(list.Error) > 0 {
		r := list.Error[0]
		r.status = resp.StatusCode
		r.Message = restID.ReplaceAllString(r.Message, "")
		return &r
	}
	return fmt.Errorf("the queue manager answered %s: %s", resp.Status, strings.TrimSpace(string(b)))
}

// mqscReply is one command's answer to runCommand.
type mqscReply struct {
	Response []struct {
		CC   int32    `json:"completionCode"`
		RC   int32    `json:"reasonCode"`
		Text []string `json:"text"`
	} `json:"commandResponse"`
	CC int32 `json:"overallCompletionCode"`
	RC int32 `json:"overallReasonCode"`
}

// mqsc runs one command.
func (c *client) mqsc(ctx context.Context, command string) (*mqscReply, error) {
	body, err := json.Marshal(map[string]any{"type": "runCommand", "parameters": map[string]string{"command": command}})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://qmgrd/ibmmq/rest/v2/admin/action/qmgr/"+url.PathEscape(c.qm)+"/mqsc", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("ibm-mq-rest-csrf-token", "qmgrd")
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, withCode(exitRefused, readRefusal(resp))
	}
	var r mqscReply
	return &r, json.NewDecoder(resp.Body).Decode(&r)
}

// text is all lines of a reply.
func (r *mqscReply) text() string {
	var b strings.Builder
	for _, c := range r.Response {
		for _, l := range c.Text {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// authList shows the AUTHLIST of the records a DISPLAY AUTHREC finds; none is an empty list.
func (c *client) authList(ctx context.Context, command string) ([]string, error) {
	r, err := c.mqsc(ctx, command)
	if err != nil {
		return nil, err
	}
	var out []string
	in := false
	for _, l := range strings.Split(r.text(), "\n") {
		l = strings.TrimSpace(l)
		if _, rest, ok := strings.Cut(l, "AUTHLIST("); ok {
			in, l = true, rest
		}
		if !in {
			continue
		}
		end := strings.HasSuffix(l, ")")
		out = append(out, strings.FieldsFunc(l, func(r rune) bool { return r == ',' || r == ' ' || r == ')' })...)
		in = !end
	}
	return out, nil
}
