package fap_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/memory"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/fap/wire/wiretest"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// pipe is a listener with one connection.
type pipe struct {
	c    chan net.Conn
	done chan struct{}
}

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.c:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error   { close(p.done); return nil }
func (p *pipe) Addr() net.Addr { return &net.TCPAddr{} }

// addressed gives a pipe's end an address, as sockets have.
type addressed struct{ net.Conn }

func (addressed) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// FuzzSession sends any bytes as a client that has or has not connected: the server does not fail inside, and the socket
// ends with the peer.
func FuzzSession(f *testing.F) {
	frame := func(t wire.Type, conv uint32, hobj int32, b wire.Body) []byte {
		h := wire.Header{Magic: wire.TSHM, Conv: conv, Order: wire.Big, Encoding: wire.EncodingBig, CCSID: 819, Type: t}
		c, _ := h.Codec()
		var out bytes.Buffer
		wire.WriteMessage(&out, h, wire.Encode(nil, t, wire.API{Hobj: hobj}, b, c, 0), wire.DefaultTransmission)
		return out.Bytes()
	}
	od := mqi.DefaultOD()
	od.Version, od.ObjectName = 4, "Q1"
	f.Add(true, frame(wire.MQOPEN, 1, 0, &wire.Open{OD: od, Options: 17}))
	f.Add(true, frame(wire.MQPUT, 1, 1, newPut("x", 2)))
	f.Add(true, frame(wire.MQGET, 1, 1, newGet(1, 5)))
	f.Add(true, frame(wire.MQINQ, 1, 1, &wire.Attrs{Selectors: []int32{20}, IntCount: 1}))
	f.Add(true, frame(wire.RequestMsgs, 1, 0, &wire.Request{Hobj: 1, Requested: 1, Flags: 0x19, Sel: &wire.Selection{Match: 3}}))
	f.Add(true, frame(wire.Notification, 1, 0, &wire.Notify{Hobj: -1, Code: 3, Value: 2}))
	f.Add(true, frame(wire.SPI, 1, 0, &wire.SPIBody{Verb: 6, Part: &wire.SPIReserveIn{TagSize: 24}}))
	f.Add(true, frame(wire.MQDISC, 1, 0, &wire.Empty{}))
	f.Add(false, frame(wire.InitialData, 1, 0, firstID()))
	for name, list := range wiretest.Recorded(f, "wire/testdata", wiretest.FromClient) { // what a client sent in one go
		f.Add(!strings.HasPrefix(name, "01-"), bytes.Join(list, nil))
		f.Add(strings.HasPrefix(name, "01-"), bytes.Join(list, nil))
	}
	f.Fuzz(func(t *testing.T, connected bool, stream []byte) {
		client, srv := net.Pipe()
		l := &pipe{c: make(chan net.Conn, 1), done: make(chan struct{})}
		l.c <- addressed{srv}
		log := &syncBuffer{mu: make(chan struct{}, 1)}
		logger := zerolog.New(log)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() {
			defer close(done)
			fap.Serve(ctx, l, memory.New("QM1", "Q1"), fap.Options{Log: &logger})
		}()
		p := &peer{t: t, nc: client, order: wire.Big, ccsid: 819, asm: wire.Assembler{Max: 1 << 20}}
		client.SetDeadline(time.Now().Add(10 * time.Second))
		if connected {
			p.negotiate(firstID())
			p.connect(1)
			p.open(1, "Q1")
		}
		go io.Copy(io.Discard, client)
		client.Write(stream)
		client.Close()
		cancel()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("the server does not end")
		}
		if strings.Contains(log.String(), "AMQ6125") {
			t.Fatal(log.String())
		}
	})
}
