package qmgr

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// What docs/format/values.md says byte by byte is what is written.
func TestValuesAreAsDocumented(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	md := mqi.DefaultMD()
	md.Version, md.BackoutCount, md.Priority, md.Format, md.ReplyToQ = 2, 3, 4, "MQSTR", "R"
	md.MsgID, md.CorrelID, md.GroupID = mqi.ID{1}, mqi.ID{2}, mqi.ID{3}
	b := encodeHead(&msgHead{md: md, deliver: 4, putNanos: 11, expire: 12, props: []byte("p")})
	u32 := func(at int) uint32 { return le.Uint32(b[at:]) }
	if b[0] != 1 || b[1] != 4 || u32(2) != 3 || le.Uint64(b[6:]) != 11 || le.Uint64(b[14:]) != 12 || u32(22) != 2 ||
		u32(22+6*4) != 4 || u32(74) != 0 || b[78] != 1 || b[102] != 2 || b[126] != 3 {
		t.Errorf("head %x", b)
	}
	tail := "\x05MQSTR\x01R" + strings.Repeat("\x00", 8) + "\x01\x00\x00\x00p"
	if got := string(b[150:]); got != tail {
		t.Errorf("behind the numbers %q, want %q", got, tail)
	}
	x := XID{Format: 1, Global: "gg", Branch: "b"}
	if got := string(x.key()); got != "\x00\x00\x00\x01\x02ggb" {
		t.Errorf("XID %q", got)
	}
	br := &branch{xid: x, num: 300, user: "u", appl: "ap"}
	v := br.encode(branchCommitted)
	if !bytes.HasPrefix(v, []byte{1, 5, 0xac, 2}) || !bytes.HasSuffix(v, []byte("\x01u\x02ap\x00\x00\x00")) {
		t.Errorf("record %x", v)
	}
	if got := br.encode(branchRolledBack)[1]; got != 6 || branchPrepared != 4 {
		t.Errorf("states %d, %d", got, branchPrepared)
	}
	d := delayHeader{due: 9, options: 2, report: 1, queue: "Q", qmgr: "M", format: "F"}
	h := d.append(nil)
	if string(h[:4]) != "QDLY" || be.Uint32(h[4:]) != 1 || int(be.Uint32(h[8:])) != len(h) || be.Uint64(h[12:]) != 9 ||
		be.Uint32(h[20:]) != 2 || be.Uint32(h[24:]) != 1 ||
		string(h[28:]) != "\x00\x00\x00\x01Q\x00\x00\x00\x01M\x00\x00\x00\x00\x00\x00\x00\x01F" {
		t.Errorf("QDLY %x", h)
	}
	def, err := newDef("QLOCAL", "Q")
	if err != nil {
		t.Fatal(err)
	}
	def.set("MAXDEPTH", "7")
	if got := string(def.encode(300)); got != "\x01\x06QLOCAL\x01Q\xac\x02\x08MAXDEPTH\x017" {
		t.Errorf("definition %q", got)
	}
	if got := string(storeKey(ClassQueue, "Q")); !strings.HasSuffix(got, "\x00Q") {
		t.Errorf("key %q", got)
	}
}
