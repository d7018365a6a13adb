package wire

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

func codecs(t *testing.T) (out []Codec) {
	for _, o := range []Order{Big, Little} {
		for _, ccsid := range []uint16{1208, 500} {
			tx, ok := NewText(ccsid, o.order())
			if !ok {
				t.Fatalf("CCSID %d", ccsid)
			}
			out = append(out, Codec{Order: o, Text: tx})
		}
	}
	return out
}

// Records stand where a client of the vendor's puts them (MQOD of version 2: names at 200, answers behind them), also behind the
// strings of version 4; what follows the structure is read from behind them.
func TestObjectRecords(t *testing.T) {
	for _, c := range codecs(t) {
		for _, version := range []int32{2, 3, 4} {
			od := mqi.DefaultOD()
			od.Version, od.RecsPresent, od.InvalidDestCount = version, 3, 1
			od.ObjectRecords = []mqi.OR{{ObjectName: "A"}, {ObjectName: "B", ObjectQMgrName: "QM2"}, {ObjectName: "C"}}
			od.ResponseRecords = []mqi.RR{{}, {CC: mqi.CCFailed, RC: mqi.MQRC_UNKNOWN_OBJECT_NAME}, {}}
			if version == 4 {
				od.ObjectString, od.SelectionString = "a/b/c", "x = 1"
			}
			want := &Open{OD: od, Options: 16}
			b := Encode(nil, MQOPEN, API{}, want, c, 0)
			_, got, err := Decode(MQOPEN, b, c)
			if d := cmp.Diff(Body(want), got); err != nil || d != "" {
				t.Errorf("version %d, order %d: %v\n%s", version, c.Order, err, d)
			}
			at := len(b) - 4 - 3*sizeRR - 3*sizeOR // options come last
			body := len(b) - len(Encode(nil, MQOPEN, API{}, &Open{OD: mqi.DefaultOD()}, c, 0))
			if version == 2 && body != 200-168+3*(sizeOR+sizeRR) {
				t.Errorf("%d bytes for records", body)
			}
			if name := c.Text.field(b[at : at+48]); name != "A" {
				t.Errorf("version %d: %q where the first name should be", version, name)
			}
		}
	}
}

func TestPutRecords(t *testing.T) {
	id := func(n byte) (id mqi.ID) { id[3] = n; return id }
	for _, c := range codecs(t) {
		for fields := int32(1); fields < 32; fields++ {
			pmo := mqi.DefaultPMO()
			pmo.Version, pmo.RecsPresent, pmo.PutMsgRecFields = 2, 2, fields
			for n := range byte(2) {
				all := mqi.MD{MsgID: id(n + 1), CorrelID: id(n + 3), GroupID: id(n + 5), Feedback: int32(n) + 70000,
					AccountingToken: mqi.Account{n + 7}}
				var r mqi.PMR
				for _, f := range []struct {
					flag int32
					set  func()
				}{
					{mqi.MQPMRF_MSG_ID, func() { r.MsgID = all.MsgID }}, {mqi.MQPMRF_CORREL_ID, func() { r.CorrelID = all.CorrelID }},
					{mqi.MQPMRF_GROUP_ID, func() { r.GroupID = all.GroupID }}, {mqi.MQPMRF_FEEDBACK, func() { r.Feedback = all.Feedback }},
					{mqi.MQPMRF_ACCOUNTING_TOKEN, func() { r.AccountingToken = all.AccountingToken }},
				} {
					if fields&f.flag != 0 {
						f.set()
					}
				}
				pmo.PutMsgRecords = append(pmo.PutMsgRecords, r)
			}
			pmo.ResponseRecords = []mqi.RR{{CC: mqi.CCWarning, RC: 5}, {CC: mqi.CCFailed, RC: mqi.MQRC_Q_FULL}}
			want := &Put{MD: mqi.DefaultMD(), PMO: pmo, Data: []byte("data behind them")}
			b := Encode(nil, MQPUT, API{}, want, c, 0)
			_, got, err := Decode(MQPUT, b, c)
			if d := cmp.Diff(Body(want), got); err != nil || d != "" {
				t.Errorf("fields %d, order %d: %v\n%s", fields, c.Order, err, d)
			}
		}
	}
}

// A place or a number of records that does not fit is refused before memory is made for it.
func TestBadRecords(t *testing.T) {
	c := codecs(t)[0]
	od := mqi.DefaultOD()
	od.Version, od.RecsPresent = 2, 1
	od.ObjectRecords, od.ResponseRecords = []mqi.OR{{ObjectName: "A"}}, []mqi.RR{{}}
	good := Encode(nil, MQOPEN, API{}, &Open{OD: od, Options: 16}, c, 0)
	start := len(good) - 4 - sizeRR - sizeOR - 200
	for name, put := range map[string]struct {
		at int
		v  uint32
	}{
		"too many": {168, 5}, "very many": {168, 1<<31 - 1}, "names in the structure": {184, 100}, "names behind the end": {184, 1 << 20},
		"a negative place": {188, 0xFFFFFF00}, "answers behind the end": {188, uint32(len(good))},
	} {
		b := append([]byte(nil), good...)
		c.Order.order().PutUint32(b[start+put.at:], put.v)
		_, _, err := Decode(MQOPEN, b, c)
		var bad *Error
		if !errors.As(err, &bad) || bad.Why != BadLength {
			t.Errorf("%s: %v", name, err)
		}
	}
	b := append([]byte(nil), good...)
	c.Order.order().PutUint32(b[start+184:], 0) // none at all: it is for the queue manager to say so
	_, got, err := Decode(MQOPEN, b, c)
	if err != nil || len(got.(*Open).OD.ObjectRecords) != 0 || got.(*Open).OD.RecsPresent != 1 {
		t.Errorf("no names: %+v %v", got, err)
	}
}
