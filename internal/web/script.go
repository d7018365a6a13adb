package web

import (
	"context"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqsc"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// scriptPart is the name of the form part that holds the script.
const scriptPart = "script"

// Executor runs commands as one identity; it is what mqsc.Run needs of a manager.
type Executor struct {
	Manager  *qmgr.Manager
	Identity auth.Identity
}

// Submit implements mqsc.Executor.
func (e Executor) Submit(ctx context.Context, c *attr.Command) mqsc.Pending {
	return e.Manager.Submit(ctx, c, e.Identity)
}

// postMQSC takes one command as JSON, or a script as text or as a part of a form.
func (s *Server) postMQSC(w http.ResponseWriter, r *http.Request) error {
	if _, ok := r.Header[http.CanonicalHeaderKey("ibm-mq-rest-csrf-token")]; !ok {
		return refuse("MQWB0100E", "the header ibm-mq-rest-csrf-token is missing")
	}
	typ, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		typ = "application/json" // what the vendor's path takes
	}
	switch typ {
	case "text/plain":
		return s.runScript(w, r, r.Body)
	case "multipart/form-data":
		return s.runForm(w, r, params["boundary"])
	case "application/json":
		return s.runJSON(w, r)
	}
	return refuse("MQWB0114E", "content type %s is not taken here", clip(typ))
}

// runScript runs a script as it arrives and sends its report as it comes to be.
func (s *Server) runScript(w http.ResponseWriter, r *http.Request, script io.Reader) error {
	o, err := mqsc.OptionsOf(r.URL.Query())
	if err != nil {
		return refuse("MQWB0104E", "%v", err)
	}
	o.QMgr = s.opt.Name
	c, err := s.commandSession(r, "runmqsc")
	if err != nil {
		return err
	}
	defer leave(r, c)
	out, err := newStream(w)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Trailer", mqsc.TrailerNames)
	w.WriteHeader(http.StatusOK)
	if b, ok := r.Body.(*pacedBody); ok {
		b.always = true // somebody may be typing
	}
	defer s.endReads(w, s.ending)()
	defer s.endReads(w, c.Done())() // STOP CONN
	ex := Executor{s.opt.Manager, c.Identity()}
	res, err := mqsc.Run(r.Context(), script, out, ex, o)
	if err != nil {
		// The report has begun, so a status can no longer say it: a response without trailers is a broken one.
		s.log.Warn().Err(err).Int("commands", res.Commands).Msg("a script was cut off")
		panic(http.ErrAbortHandler)
	}
	res.SetTrailers(h.Set)
	return nil
}

// commandSession connects whoever sends commands, so that DISPLAY CONN shows the session and STOP CONN ends it. appl names
// it unless the request does.
func (s *Server) commandSession(r *http.Request, appl string) (*qmgr.Conn, error) {
	if a := r.URL.Query().Get("appl"); a != "" {
		appl = clip(a)
	}
	return s.connectAs(r, qmgr.ConnectOptions{ApplName: appl, Commands: true})
}

// runForm runs the script part of a form, which comes first. No command of this version reads a file, so another part
// in its place is refused rather than dropped.
func (s *Server) runForm(w http.ResponseWriter, r *http.Request, boundary string) error {
	if boundary == "" {
		return refuse("MQWB0103E", "multipart/form-data without a boundary")
	}
	p, err := multipart.NewReader(r.Body, boundary).NextPart()
	switch {
	case errors.Is(err, io.EOF):
		return refuse("MQWB0103E", "the form has no part named %s", scriptPart)
	case err != nil:
		return refuse("MQWB0103E", "the form cannot be read: %v", err)
	case p.FormName() != scriptPart:
		return refuse("MQWB0110E", "part %q: files that a script names (SRCFILE) come with message flows; this version "+
			"takes the part %s alone", p.FormName(), scriptPart)
	}
	return s.runScript(w, r, p)
}
