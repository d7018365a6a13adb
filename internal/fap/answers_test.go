package fap_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// wordyConn is a connection whose inquiries have long answers.
type wordyConn struct{ fap.Conn }

func (wordyConn) Inq(context.Context, int32, []int32, int, int) ([]int32, []byte, error) {
	return nil, bytes.Repeat([]byte{'x'}, longAnswer), nil
}

const longAnswer = 1 << 20

// TestLongAnswers: calls that came together are answered no further than their client reads, also before the first of their answers
// is written.
func TestLongAnswers(t *testing.T) {
	s := start(t, nil, wrapped{memory.New("QM1", "Q1"), func(c fap.Conn) fap.Conn { return wordyConn{c} }}, nil)
	p := s.dial(t)
	p.ccsid = 1208 // in which the answers need no conversion
	p.negotiate(firstID())
	p.connect(1)
	served := func() int64 { return s.Status()[0].Calls }
	const calls = 20
	before := served()
	ask := p.pack(wire.MQINQ, 1, wire.API{Hobj: 1}, &wire.Attrs{Selectors: []int32{mqi.MQCA_Q_DESC}, CharLength: longAnswer})
	p.write(bytes.Repeat(ask, calls))
	eventually(t, "some are served", func() bool { return served() > before })
	for last, since := before, time.Now(); time.Since(since) < 300*time.Millisecond; time.Sleep(time.Millisecond) { // until no more are
		if n := served(); n != last {
			last, since = n, time.Now()
		}
		if n := s.Unsent(); n > fap.MaxOut+2*longAnswer {
			t.Fatalf("%d bytes wait to be read", n)
		}
	}
	for range calls { // and then all of them
		p.want(wire.MQINQ.Reply())
	}
}
