package mq

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/fap/wire/wiretest"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// script is a server that says what it was given and takes whatever it is told.
type script struct {
	net.Conn
	r io.Reader
}

func (s script) Read(b []byte) (int, error)      { return s.r.Read(b) }
func (s script) Write(b []byte) (int, error)     { return len(b), nil }
func (s script) SetReadDeadline(time.Time) error { return nil }
func (s script) Close() error                    { return nil }

// Whatever a server sends, the client ends with an error at worst.
func FuzzServer(f *testing.F) {
	h := wire.Header{Magic: wire.TSHM, Conv: 1, Order: wire.Little, CCSID: ccsidUTF8, Flags: wire.FlagWhole}
	seed := func(t wire.Type, flags byte, b wire.Body) {
		h.Type, h.Flags = t, flags
		body := wire.Encode(nil, t, wire.API{}, b, codec, h.Size())
		f.Add(append(h.Append(nil, len(body)), body...))
	}
	async := wire.Async{Hobj: 1, MD: mqi.DefaultMD(), Resolved: "Q", Data: []byte("data")}
	seed(wire.AsyncMsg, wire.FlagWhole, &async)
	seed(wire.AsyncMsg, wire.FlagFirst, &async)
	seed(wire.MQGET.Reply(), wire.FlagWhole, &wire.GetReply{MD: mqi.DefaultMD(), GMO: mqi.DefaultGMO(), DataLength: 1, Data: []byte("d")})
	seed(wire.MQPUT.Reply(), wire.FlagWhole, &wire.PutReply{MD: mqi.DefaultMD(), PMO: mqi.DefaultPMO()})
	seed(wire.Notification, wire.FlagWhole, &wire.Notify{Hobj: 1, Code: wire.NoteQStateReply})
	seed(wire.StatusData, wire.FlagWhole|wire.FlagClose, &wire.Status{Code: wire.CodeSecurity})
	seed(wire.Heartbeat, wire.FlagWhole|wire.FlagConfirm, &wire.Empty{})
	for _, list := range wiretest.Recorded(f, "../internal/fap/wire/testdata", wiretest.FromServer) {
		f.Add(bytes.Join(list, nil))
		for _, b := range list {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l := &link{atEnd: func(error) {}}
		l.init(script{r: bytes.NewReader(b)})
		l.shared, l.maxMsg = true, 1<<20
		l.pushed.register(1, &ahead{})
		for {
			s, err := l.next(context.Background(), time.Time{})
			if err != nil {
				return
			}
			var m Message
			switch s.h.Type {
			case wire.MQGET.Reply():
				_, _, err = m.gotFrom(l, &s)
			case wire.MQPUT.Reply():
				_, err = m.tookFrom(l, &s)
			default:
				err = l.dispatch(&s)
			}
			if err != nil {
				return
			}
			m.splitProperties()
		}
	})
}
