package web

import (
	"encoding/hex"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The vendor's messaging paths: one text message a request. Expiry and wait are in milliseconds here, tenths of a
// second in the descriptor.

const (
	hdrMsgID       = "ibm-mq-md-messageId"
	hdrCorrelID    = "ibm-mq-md-correlationId"
	hdrExpiry      = "ibm-mq-md-expiry"
	hdrPersistence = "ibm-mq-md-persistence"
	hdrPriority    = "ibm-mq-md-priority"
	hdrReplyTo     = "ibm-mq-md-replyTo"
)

// applREST is the application name of connections that these paths make.
const applREST = "qmgrd REST"

// maxListed bounds messagelist, as limit= does.
const (
	defaultListed = 10
	maxListed     = 10000
)

// postMessage puts the body on a queue.
func (s *Server) postMessage(w http.ResponseWriter, r *http.Request) error {
	md, err := descriptorOf(r)
	if err != nil {
		return err
	}
	if err := textType(r); err != nil {
		return err
	}
	x, err := s.openQueue(r, r.PathValue("q"), applREST, mqi.MQOO_OUTPUT)
	if err != nil {
		return err
	}
	defer x.close()
	body, err := readText(r)
	if err != nil {
		return err
	}
	pmo := mqi.DefaultPMO()
	pmo.Options = mqi.MQPMO_NO_SYNCPOINT | mqi.MQPMO_FAIL_IF_QUIESCING
	if err := x.c.Put(r.Context(), x.h, md, &pmo, body); err != nil && !isWarning(err) {
		return err
	}
	x.end(r.Context())
	w.Header()[hdrMsgID] = []string{hex.EncodeToString(md.MsgID[:])}
	w.WriteHeader(http.StatusCreated)
	return nil
}

// textType checks the content type of a body; none is text.
func textType(r *http.Request) error {
	v := r.Header.Get("Content-Type")
	if v == "" {
		return nil
	}
	typ, params, err := mime.ParseMediaType(v)
	cs := strings.ToLower(params["charset"])
	ok := strings.HasPrefix(typ, "text/") || typ == "application/json" || typ == "application/xml"
	if err != nil || !ok || cs != "" && cs != "utf-8" {
		return refuse("MQWB0105E", "content type %s is not taken", clip(v))
	}
	return nil
}

// descriptorOf makes a descriptor of the ibm-mq-md headers.
func descriptorOf(r *http.Request) (*mqi.MD, error) {
	md := mqi.DefaultMD()
	md.Format, md.CodedCharSetID = formatString, 1208
	md.Persistence = mqi.MQPER_NOT_PERSISTENT // the vendor's default for these paths
	var err error
	h := r.Header
	switch v := h.Get(hdrPersistence); v {
	case "", "nonPersistent":
	case "persistent":
		md.Persistence = mqi.MQPER_PERSISTENT
	case "asDestination":
		md.Persistence = mqi.MQPER_PERSISTENCE_AS_Q_DEF
	default:
		return nil, refuse("MQWB0104E", "%s: %s: use persistent, nonPersistent or asDestination", hdrPersistence, clip(v))
	}
	if v := h.Get(hdrExpiry); v != "" && v != "unlimited" {
		ms, err := parseInt(hdrExpiry, v, 0, 99999999900)
		if err != nil {
			return nil, err
		}
		md.Expiry = int32(max(1, (ms+99)/100))
	}
	if v := h.Get(hdrPriority); v != "" && v != "asDestination" {
		n, err := parseInt(hdrPriority, v, 0, 9)
		if err != nil {
			return nil, err
		}
		md.Priority = int32(n)
	}
	if v := h.Get(hdrCorrelID); v != "" {
		if md.CorrelID, err = parseID(hdrCorrelID, v); err != nil {
			return nil, err
		}
	}
	if v := h.Get(hdrReplyTo); v != "" {
		md.ReplyToQ, md.ReplyToQMgr = parseReplyTo(v)
	}
	return &md, nil
}

// selection is which message a request asks for, and how long it waits.
func selection(r *http.Request, options int32) (*mqi.MD, *mqi.GMO, error) {
	md, gmo := mqi.DefaultMD(), mqi.DefaultGMO()
	gmo.Version, gmo.MatchOptions = 2, mqi.MQMO_NONE
	gmo.Options = options | mqi.MQGMO_FAIL_IF_QUIESCING | mqi.MQGMO_NO_WAIT
	q := r.URL.Query()
	var err error
	if v := q.Get("messageId"); v != "" {
		if md.MsgID, err = parseID("messageId", v); err != nil {
			return nil, nil, err
		}
		gmo.MatchOptions |= mqi.MQMO_MATCH_MSG_ID
	}
	if v := q.Get("correlationId"); v != "" {
		if md.CorrelID, err = parseID("correlationId", v); err != nil {
			return nil, nil, err
		}
		gmo.MatchOptions |= mqi.MQMO_MATCH_CORREL_ID
	}
	if v := q.Get("wait"); v != "" {
		ms, err := parseInt("wait", v, 0, 1<<31-1)
		if err != nil {
			return nil, nil, err
		}
		gmo.WaitInterval = int32(ms)
		gmo.Options = gmo.Options&^mqi.MQGMO_NO_WAIT | mqi.MQGMO_WAIT
	}
	return &md, &gmo, nil
}

// getMessage browses one message.
func (s *Server) getMessage(w http.ResponseWriter, r *http.Request) error {
	md, gmo, err := selection(r, mqi.MQGMO_BROWSE_FIRST)
	if err != nil {
		return err
	}
	x, err := s.openQueue(r, r.PathValue("q"), applREST, mqi.MQOO_BROWSE)
	if err != nil {
		return err
	}
	defer x.close()
	body, err := x.get(r.Context(), md, gmo)
	x.end(r.Context())
	return s.sendMessage(w, md, body, err)
}

// deleteMessage gets one message. It is browsed first, so that one that is not text stays as it was, backout count
// included; when another getter takes it in between, the search begins again.
func (s *Server) deleteMessage(w http.ResponseWriter, r *http.Request) error {
	md, gmo, err := selection(r, mqi.MQGMO_BROWSE_FIRST)
	if err != nil {
		return err
	}
	x, err := s.openQueue(r, r.PathValue("q"), applREST, mqi.MQOO_INPUT_SHARED|mqi.MQOO_BROWSE)
	if err != nil {
		return err
	}
	defer x.close()
	for {
		m, g := *md, *gmo
		body, err := x.get(r.Context(), &m, &g)
		if err != nil || !plainText(&m, body) {
			return s.sendMessage(w, &m, body, err)
		}
		m, g = *md, *gmo
		g.Options = mqi.MQGMO_MSG_UNDER_CURSOR | mqi.MQGMO_NO_SYNCPOINT | mqi.MQGMO_FAIL_IF_QUIESCING
		body, err = x.get(r.Context(), &m, &g)
		if !isReason(err, mqi.MQRC_NO_MSG_UNDER_CURSOR) {
			x.end(r.Context())
			return s.sendMessage(w, &m, body, err)
		}
	}
}

func plainText(md *mqi.MD, body []byte) bool {
	return (md.Format == formatString || md.Format == "") && isText(body)
}

func errNotText(md *mqi.MD) error {
	return refuse("MQWB0109E", "message %s has format %q", hex.EncodeToString(md.MsgID[:]), md.Format)
}

// sendMessage writes a message, or 204 when there was none.
func (s *Server) sendMessage(w http.ResponseWriter, md *mqi.MD, body []byte, err error) error {
	if isReason(err, mqi.MQRC_NO_MSG_AVAILABLE) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	if !plainText(md, body) {
		return errNotText(md)
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h[hdrMsgID] = []string{hex.EncodeToString(md.MsgID[:])}
	if !md.CorrelID.IsZero() {
		h[hdrCorrelID] = []string{hex.EncodeToString(md.CorrelID[:])}
	}
	h[hdrExpiry] = []string{"unlimited"}
	if md.Expiry >= 0 {
		h[hdrExpiry] = []string{strconv.FormatInt(int64(md.Expiry)*100, 10)}
	}
	h[hdrPersistence] = []string{"nonPersistent"}
	if md.Persistence == mqi.MQPER_PERSISTENT {
		h[hdrPersistence] = []string{"persistent"}
	}
	h[hdrPriority] = []string{strconv.Itoa(int(md.Priority))}
	if md.ReplyToQ != "" {
		to := md.ReplyToQ
		if md.ReplyToQMgr != "" {
			to += "@" + md.ReplyToQMgr
		}
		h[hdrReplyTo] = []string{to}
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) // the reader has gone; a browse changes nothing, a get is committed
	return nil
}

// listedMessage is one line of messagelist.
type listedMessage struct {
	MessageID     string `json:"messageId"`
	CorrelationID string `json:"correlationId"`
	Format        string `json:"format"`
}

// getMessageList browses a queue and shows what it holds, at most limit= messages.
func (s *Server) getMessageList(w http.ResponseWriter, r *http.Request) error {
	md, gmo, err := selection(r, mqi.MQGMO_BROWSE_NEXT|mqi.MQGMO_ACCEPT_TRUNCATED_MSG)
	if err != nil {
		return err
	}
	limit := int64(defaultListed)
	if v := r.URL.Query().Get("limit"); v != "" {
		if limit, err = parseInt("limit", v, 1, maxListed); err != nil {
			return err
		}
	}
	x, err := s.openQueue(r, r.PathValue("q"), applREST, mqi.MQOO_BROWSE)
	if err != nil {
		return err
	}
	defer x.close()
	list := []listedMessage{}
	for int64(len(list)) < limit {
		m, g := *md, *gmo
		if _, _, err := x.c.Get(r.Context(), x.h, &m, &g, 0); err != nil && !isWarning(err) {
			if isReason(err, mqi.MQRC_NO_MSG_AVAILABLE) {
				break
			}
			return err
		}
		list = append(list, listedMessage{hex.EncodeToString(m.MsgID[:]), hex.EncodeToString(m.CorrelID[:]),
			strings.TrimSpace(m.Format)})
	}
	x.end(r.Context())
	writeJSON(w, http.StatusOK, map[string][]listedMessage{"messages": list})
	return nil
}

// readText reads the body of a request that puts or publishes one text message.
func readText(r *http.Request) ([]byte, error) {
	body, err := readBody(r, maxMessage)
	if err != nil {
		return nil, err
	}
	if !isText(body) {
		return nil, refuse("MQWB0105E", "the body is not UTF-8")
	}
	return body, nil
}
