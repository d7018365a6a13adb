package wire

import (
	"encoding/binary"
	"sync"
)

// Body is what stands in a segment behind its headers.
type Body interface {
	decode(*Decoder)
	encode(*Encoder)
}

// API is the header of MQI calls and their replies. XA verbs use the same 16 bytes with their own meaning: CompCode is
// the return value, Reason the flags, Hobj the resource manager id.
type API struct {
	Length   int32 // big-endian always: request: reply wanted at most; reply: bytes of the whole message
	CompCode int32
	Reason   int32
	Hobj     int32
}

// NewBody returns an empty body of the type; types without a body, and unknown ones, give Empty.
func NewBody(t Type) Body {
	if t.IsXA() || t.IsXAReply() {
		return newXABody(t)
	}
	if mk, ok := bodies[t]; ok {
		return mk()
	}
	return &Empty{}
}

var bodies = map[Type]func() Body{
	InitialData:  func() Body { return &ID{} },
	UserIDData:   func() Body { return &UserID{} },
	ConAuthInfo:  func() Body { return &ConAuth{} },
	StatusData:   func() Body { return &Status{} },
	SocketAction: func() Body { return &Socket{} },
	AsyncMsg:     func() Body { return &Async{} },
	RequestMsgs:  func() Body { return &Request{} },
	Notification: func() Body { return &Notify{} },

	MQCONN:  func() Body { return &Conn{} },
	MQOPEN:  func() Body { return &Open{} },
	MQCLOSE: func() Body { return &Close{} },
	MQGET:   func() Body { return &Get{} },
	MQPUT:   func() Body { return &Put{} },
	MQPUT1:  func() Body { return &Put1{} },
	MQSET:   func() Body { return &Attrs{Values: true} },
	MQINQ:   func() Body { return &Attrs{} },
	SPI:     func() Body { return &SPIBody{} },
	MQSTAT:  func() Body { return &Stat{} },
	MQSUB:   func() Body { return &Sub{} },
	MQSUBRQ: func() Body { return &SubRq{} },

	MQCONN + ReplyOffset:  func() Body { return &Conn{} },
	MQOPEN + ReplyOffset:  func() Body { return &Open{} },
	MQGET + ReplyOffset:   func() Body { return &GetReply{} },
	MQPUT + ReplyOffset:   func() Body { return &PutReply{} },
	MQPUT1 + ReplyOffset:  func() Body { return &Put1Reply{} },
	MQINQ + ReplyOffset:   func() Body { return &Attrs{Values: true, Reply: true} },
	SPI + ReplyOffset:     func() Body { return &SPIBody{Reply: true} },
	MQSTAT + ReplyOffset:  func() Body { return &Stat{} },
	MQSUB + ReplyOffset:   func() Body { return &Sub{} },
	MQSUBRQ + ReplyOffset: func() Body { return &SubRq{} },
}

// Empty is the body of segments that have none.
type Empty struct{}

func (*Empty) decode(*Decoder) {}
func (*Empty) encode(*Encoder) {}

// hasAPI reports whether the 16-byte header stands first.
func hasAPI(t Type) bool { return t.IsCall() || t.IsCallReply() || t.IsXA() || t.IsXAReply() }

// DecodeAPI reads only the 16-byte header.
func DecodeAPI(b []byte, c Codec) (API, error) {
	d := NewDecoder(b, c)
	return d.api(), d.err
}

func (d *Decoder) api() API {
	d.in = "API"
	var a API
	if p := d.take(4); p != nil {
		a.Length = int32(binary.BigEndian.Uint32(p))
	}
	a.CompCode, a.Reason, a.Hobj = d.i32(), d.i32(), d.i32()
	return a
}

// Decode reads a whole message. Parts of b are kept in the result. With an error of a structure the API header is valid
// if it could be read.
func Decode(t Type, b []byte, c Codec) (API, Body, error) {
	d := NewDecoder(b, c)
	var a API
	if hasAPI(t) {
		a = d.api()
	}
	body := NewBody(t)
	body.decode(d)
	return a, body, d.err
}

// encoders are used again: bodies take them by interface, so that each would be allocated.
var encoders = sync.Pool{New: func() any { return new(Encoder) }}

// Encode writes a whole message to dst. With head, the size of its segment header, the API length is set to the size of the
// message as replies have it; head 0 keeps the length given.
func Encode(dst []byte, t Type, a API, body Body, c Codec, head int) []byte {
	at := len(dst)
	e := encoders.Get().(*Encoder)
	*e = *NewEncoder(dst, c)
	defer func() {
		*e = Encoder{}
		encoders.Put(e)
	}()
	if hasAPI(t) {
		e.b = binary.BigEndian.AppendUint32(e.b, uint32(a.Length))
		e.i32(a.CompCode)
		e.i32(a.Reason)
		e.i32(a.Hobj)
	}
	body.encode(e)
	if hasAPI(t) && head > 0 {
		binary.BigEndian.PutUint32(e.b[at:], uint32(len(e.b)-at+head))
	}
	return e.b
}
