package wire

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// fieldByField is a descriptor written as the manual lists it.
func fieldByField(e *Encoder, m *mqi.MD, version int32) {
	e.id("MD  ")
	for _, v := range []int32{version, m.Report, m.MsgType, m.Expiry, m.Feedback, m.Encoding, m.CodedCharSetID} {
		e.i32(v)
	}
	e.str(m.Format, 8)
	e.i32(m.Priority)
	e.i32(m.Persistence)
	e.raw(m.MsgID[:])
	e.raw(m.CorrelID[:])
	e.i32(m.BackoutCount)
	e.str(m.ReplyToQ, 48)
	e.str(m.ReplyToQMgr, 48)
	e.str(m.UserIdentifier, 12)
	e.raw(m.AccountingToken[:])
	e.str(m.ApplIdentityData, 32)
	e.i32(m.PutApplType)
	e.str(m.PutApplName, 28)
	e.str(m.PutDate, 8)
	e.str(m.PutTime, 8)
	e.str(m.ApplOriginData, 4)
	if version >= 2 {
		e.raw(m.GroupID[:])
		for _, v := range []int32{m.MsgSeqNumber, m.Offset, m.MsgFlags, m.OriginalLength} {
			e.i32(v)
		}
	}
}

// A descriptor in one piece is the one field by field, in every order and code page, with texts that are too long, cut between
// characters, converted, or not there.
func TestDescriptorInPlace(t *testing.T) {
	full := mqi.MD{Report: 1, MsgType: 2, Expiry: 3, Feedback: 4, Encoding: 5, CodedCharSetID: 6, Format: "MQSTR", Priority: 7,
		Persistence: 8, BackoutCount: 9, ReplyToQ: strings.Repeat("é", 24) + "x", ReplyToQMgr: strings.Repeat("q", 60),
		UserIdentifier: "Jürgen", ApplIdentityData: strings.Repeat("i", 32), PutApplType: 10, PutApplName: strings.Repeat("€", 10),
		PutDate: "20260102", PutTime: "03040506", ApplOriginData: "o", MsgSeqNumber: 11, Offset: 12, MsgFlags: 13, OriginalLength: 14}
	for i := range full.MsgID {
		full.MsgID[i], full.CorrelID[i], full.GroupID[i] = byte(i+1), byte(i+101), byte(i+201)
	}
	for i := range full.AccountingToken {
		full.AccountingToken[i] = byte(i + 50)
	}
	empty := mqi.DefaultMD()
	for _, ccsid := range []uint16{1208, 819, 850, 1252, 37, 500, 1200} {
		for _, o := range []Order{Big, Little} {
			tx, ok := NewText(ccsid, o.order())
			if !ok {
				t.Fatal(ccsid)
			}
			for _, md := range []*mqi.MD{&full, &empty} {
				for version := int32(1); version <= 2; version++ {
					got := NewEncoder([]byte("before"), Codec{o, tx})
					got.mdAs(md, version)
					got.str("behind", 8)
					want := NewEncoder([]byte("before"), Codec{o, tx})
					fieldByField(want, md, version)
					want.str("behind", 8)
					if !bytes.Equal(got.Bytes(), want.Bytes()) {
						t.Errorf("CCSID %d, order %d, version %d:\n%q\nwant\n%q", ccsid, o, version, got.Bytes(), want.Bytes())
					}
				}
			}
		}
	}
}

// A message that is sent ahead has a descriptor of version 2 whatever the getter's was, which stays as it is.
func TestAsyncDescriptorIsVersion2(t *testing.T) {
	tx, _ := NewText(1208, binary.LittleEndian)
	a := &Async{MD: mqi.DefaultMD(), Data: []byte("x")}
	b := AppendAsync(nil, Header{Magic: TSH, Order: Little, CCSID: 1208, Type: AsyncMsg}, a, Codec{Little, tx}, DefaultTransmission)
	v, err := ViewAsync(b[sizeTSH:])
	if err != nil {
		t.Fatal(err)
	}
	if v.MD.i32(4) != 2 || a.MD.Version != 1 || string(v.Data) != "x" {
		t.Errorf("version %d, %d after that, data %q", v.MD.i32(4), a.MD.Version, v.Data)
	}
}

func BenchmarkDescriptor(b *testing.B) {
	tx, _ := NewText(1208, binary.LittleEndian)
	md := mqi.DefaultMD()
	md.Format, md.UserIdentifier, md.PutApplName, md.PutDate, md.PutTime = "MQSTR", "app", "QM1", "20260102", "03040506"
	for name, fn := range map[string]func(*Encoder, *mqi.MD, int32){"in place": (*Encoder).mdAs, "field by field": fieldByField} {
		b.Run(name, func(b *testing.B) {
			e := NewEncoder(make([]byte, 0, 1024), Codec{Little, tx})
			for b.Loop() {
				e.b = e.b[:0]
				fn(e, &md, 2)
			}
		})
	}
}
