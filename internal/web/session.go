package web

import (
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// formatString is MQFMT_STRING.
const formatString = "MQSTR"

// errModel is why nothing is put to a model queue here.
var errModel = errors.New("a model queue: put to a queue that was made of it, or to a local queue")

// session is one connection with one open queue, for one request.
type session struct {
	c *qmgr.Conn
	h qmgr.Handle
}

// openQueue connects as the request's user and opens a queue; authority records decide what it may do.
func (s *Server) openQueue(r *http.Request, queue, appl string, options int32) (*session, error) {
	c, err := s.connect(r, appl)
	if err != nil {
		return nil, err
	}
	od := mqi.DefaultOD()
	od.ObjectName = queue
	if options&mqi.MQOO_OUTPUT != 0 && s.opt.Manager.IsModel(queue) {
		// Opening it would make a dynamic queue that ends with this request, and the messages with it.
		c.Break()
		return nil, mqi.Wrap("MQOPEN", queue, mqi.MQRC_OPTION_NOT_VALID_FOR_TYPE, errModel)
	}
	h, err := c.Open(r.Context(), &od, options|mqi.MQOO_FAIL_IF_QUIESCING)
	if err != nil {
		c.Break()
		return nil, err
	}
	return &session{c: c, h: h}, nil
}

// connect makes a connection for the user of a request: the one that the system names, or with Basic credentials the one
// that they prove. AUTHINFO CHCKLOCL says whether there must be some.
func (s *Server) connect(r *http.Request, appl string) (*qmgr.Conn, error) {
	return s.connectAs(r, qmgr.ConnectOptions{ApplName: appl})
}

func (s *Server) connectAs(r *http.Request, o qmgr.ConnectOptions) (*qmgr.Conn, error) {
	o.PID = pidOf(r)
	cred := qmgr.Credentials{}
	cred.User, cred.Password, cred.Given = r.BasicAuth()
	id, err := s.opt.Manager.AdmitLocal(r.Context(), identityOf(r), cred)
	if err != nil {
		return nil, err
	}
	return s.opt.Manager.Connect(r.Context(), id, o)
}

// end ends the connection in order (MQDISC), when everything in its unit of work is committed.
func (x *session) end(ctx context.Context) { _ = x.c.Disconnect(ctx) }

// leave ends a connection that has no unit of work: in order, unless the request was broken off.
func leave(r *http.Request, c *qmgr.Conn) {
	if r.Context().Err() == nil {
		_ = c.Disconnect(r.Context())
	}
	c.Break()
}

// close ends the connection; an open unit of work is backed out. After end it does nothing.
func (x *session) close() { x.c.Break() }

// get gets or browses one message.
func (x *session) get(ctx context.Context, md *mqi.MD, gmo *mqi.GMO) ([]byte, error) {
	body, _, err := x.c.Get(ctx, x.h, md, gmo, maxMessage)
	if err != nil && !isWarning(err) {
		return nil, err
	}
	return body, nil
}

func isWarning(err error) bool {
	cc, _ := mqi.Reason(err)
	return cc == mqi.CCWarning
}

func isReason(err error, rc mqi.RC) bool {
	var e *mqi.Error
	return errors.As(err, &e) && e.RC == rc
}

// parseID reads an identifier of at most 48 hexadecimal digits.
func parseID(what, v string) (mqi.ID, error) {
	var id mqi.ID
	b, err := hex.DecodeString(v)
	if err != nil || len(b) > len(id) {
		return id, refuse("MQWB0104E", "%s=%s: use up to 48 hexadecimal digits, two for a byte", what, clip(v))
	}
	copy(id[:], b)
	return id, nil
}

// parseInt reads a whole number in a range.
func parseInt(what, v string, min, max int64) (int64, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < min || n > max {
		return 0, refuse("MQWB0104E", "%s=%s: use a number from %d to %d", what, clip(v), min, max)
	}
	return n, nil
}

// parseReplyTo reads QUEUE or QUEUE@QMGR.
func parseReplyTo(v string) (q, qm string) {
	q, qm, _ = strings.Cut(v, "@")
	return strings.TrimSpace(q), strings.TrimSpace(qm)
}

// clip keeps what came from outside short in an error.
func clip(v string) string {
	const most = 80
	if len(v) <= most {
		return v
	}
	return strings.ToValidUTF8(v[:most], "") + "..."
}

// isText reports whether a body can be shown as text as it is.
func isText(b []byte) bool { return utf8.Valid(b) }
