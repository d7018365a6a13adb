package web

import (
	"encoding/hex"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Publish/subscribe: the vendor's path for one publication, and the streams of qmgrd publish and subscribe.

// hdrRetain keeps a publication for later subscribers: true or false.
const hdrRetain = "ibm-mq-pub-retain"

// openTopic connects as the request's user and opens a topic string for output.
func (s *Server) openTopic(r *http.Request, topic, appl string) (*session, error) {
	c, err := s.connect(r, appl)
	if err != nil {
		return nil, err
	}
	od := mqi.DefaultOD()
	od.Version, od.ObjectType, od.ObjectString = 4, mqi.MQOT_TOPIC, topic
	h, err := c.Open(r.Context(), &od, mqi.MQOO_OUTPUT|mqi.MQOO_FAIL_IF_QUIESCING)
	if err != nil {
		c.Break()
		return nil, err
	}
	return &session{c: c, h: h}, nil
}

// postPublication publishes the body. The topic string is one element of the path: its slashes are written %2F.
func (s *Server) postPublication(w http.ResponseWriter, r *http.Request) error {
	md, err := descriptorOf(r)
	if err != nil {
		return err
	}
	if err := textType(r); err != nil {
		return err
	}
	pmo := mqi.DefaultPMO()
	pmo.Options = mqi.MQPMO_NO_SYNCPOINT | mqi.MQPMO_FAIL_IF_QUIESCING
	switch v := r.Header.Get(hdrRetain); strings.ToLower(v) {
	case "", "false":
	case "true":
		pmo.Options |= mqi.MQPMO_RETAIN
	default:
		return refuse("MQWB0104E", "%s: %s: use true or false", hdrRetain, clip(v))
	}
	x, err := s.openTopic(r, r.PathValue("topic"), applREST)
	if err != nil {
		return err
	}
	defer x.close()
	body, err := readText(r)
	if err != nil {
		return err
	}
	if err := x.c.Put(r.Context(), x.h, md, &pmo, body); err != nil && !isWarning(err) {
		return err
	}
	x.end(r.Context())
	w.Header()[hdrMsgID] = []string{hex.EncodeToString(md.MsgID[:])}
	w.WriteHeader(http.StatusCreated)
	return nil
}

// postPublish publishes frames as they arrive, as postPut puts them.
func (s *Server) postPublish(w http.ResponseWriter, r *http.Request) error {
	duplex(w)
	q := r.URL.Query()
	md, err := putDescriptor(q)
	if err != nil {
		return err
	}
	retain, err := yesNoOf("retain", q)
	if err != nil {
		return err
	}
	x, err := s.openTopic(r, q.Get("topic"), applName(q))
	if err != nil {
		return err
	}
	defer x.close()
	var options int32
	if retain {
		options = mqi.MQPMO_RETAIN
	}
	return s.putFrames(w, r, x, md, options)
}

func yesNoOf(name string, q url.Values) (bool, error) {
	switch v := q.Get(name); v {
	case "", "no":
		return false, nil
	case "yes":
		return true, nil
	default:
		return false, refuse("MQWB0104E", "%s=%s: use yes or no", name, clip(v))
	}
}

// idleGet bounds one get of a subscription that waits for ever, so that a reader that has gone is noticed.
const idleGet = 5 * time.Second

// postSubscribe subscribes and sends publications until count have been sent, or none came for wait milliseconds. A
// durable subscription is made or resumed, and stays.
func (s *Server) postSubscribe(w http.ResponseWriter, r *http.Request) error {
	duplex(w)
	q := r.URL.Query()
	sd, err := subscriptionOf(q)
	if err != nil {
		return err
	}
	md, gmo, err := selection(r, mqi.MQGMO_SYNCPOINT|mqi.MQGMO_PROPERTIES_FORCE_MQRFH2)
	if err != nil {
		return err
	}
	wait, forever := time.Duration(max(0, gmo.WaitInterval))*time.Millisecond, q.Get("wait") == ""
	if forever {
		wait = idleGet
	}
	count := int64(0)
	if v := q.Get("count"); v != "" {
		if count, err = parseInt("count", v, 1, 1<<31-1); err != nil {
			return err
		}
	}
	ack, err := wantsAcks(q, false, false)
	if err != nil {
		return err
	}
	c, err := s.connect(r, applName(q))
	if err != nil {
		return err
	}
	topic := sd.ObjectString
	queue, _, err := c.Subscribe(r.Context(), sd, 0)
	if err == nil && sd.ResObjectString != topic { // resuming does not compare them, and this one would wait for something else
		err = mqi.E("MQSUB", sd.SubName, mqi.MQRC_TOPIC_NOT_ALTERABLE)
	}
	if err != nil {
		c.Break()
		return err
	}
	x := &session{c: c, h: queue}
	defer x.close()
	out, err := s.newLines(w)
	if err != nil {
		return err
	}
	if err := out.flush(); err != nil { // tells the reader that the subscription is there
		return nil
	}
	g := &getter{s: s, x: x, r: r, md: *md, gmo: *gmo, wait: wait, out: out, props: true}
	defer g.listen(w, ack)()
	for count == 0 || int64(g.n) < count {
		more, err := g.one()
		if err != nil {
			return out.end(g.n, g.failed(err))
		}
		if !more && (!forever || r.Context().Err() != nil) {
			break
		}
	}
	return g.close()
}

// subscriptionOf makes a descriptor of the query of subscribe.
func subscriptionOf(q url.Values) (*mqi.SD, error) {
	durable, err := yesNoOf("durable", q)
	if err != nil {
		return nil, err
	}
	sd := mqi.DefaultSD()
	sd.ObjectString, sd.SubName = q.Get("topic"), q.Get("name")
	sd.SelectionString = q.Get("selector")
	sd.Options = mqi.MQSO_CREATE | mqi.MQSO_MANAGED | mqi.MQSO_FAIL_IF_QUIESCING
	if durable {
		sd.Options |= mqi.MQSO_DURABLE | mqi.MQSO_RESUME
	}
	return &sd, nil
}

// takeProps moves the properties of a message out of its body and names them for the stream.
func takeProps(md *mqi.MD, body []byte) (map[string]any, []byte) {
	props, rest, err := mqi.SplitProps(md, body, false)
	if err != nil {
		return nil, body
	}
	out := map[string]any{}
	for i := range props {
		name, v := props[i].Name, &props[i].Value
		switch name {
		case "mqps.Top":
			name = "MQTopicString"
		case "mqps.Sud":
			name = "MQSubUserData"
		case "mqps.Ret":
			name = "MQIsRetained"
		}
		switch v.Type {
		case mqi.MQTYPE_NULL:
			out[name] = nil
		case mqi.MQTYPE_BOOLEAN:
			out[name] = v.Int != 0
		case mqi.MQTYPE_INT8, mqi.MQTYPE_INT16, mqi.MQTYPE_INT32, mqi.MQTYPE_INT64:
			out[name] = v.Int
		case mqi.MQTYPE_FLOAT32, mqi.MQTYPE_FLOAT64:
			out[name] = JSONFloat(v.Float)
		case mqi.MQTYPE_BYTE_STRING:
			out[name] = v.Bytes
		default:
			out[name] = v.Text
		}
	}
	return out, rest
}

// JSONFloat is a number as JSON can hold it: what is none, or infinite, is text: NaN, +Inf, -Inf. A stream would end at it.
func JSONFloat(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}
