package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Records of the state file (docs/format/state.md). Every record carries a checksum over what it is, whose it is and
// what is in it, so that a record in the wrong place is as wrong as one with a changed byte.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var (
	le = binary.LittleEndian
	be = binary.BigEndian
)

const (
	bucketHead  = 'h' // + qid: seq → head record
	bucketBody  = 'b' // + qid: seq → body record
	bucketTable = 't' // + table: key → table record

	bucketLog = "log" // what the log store notes at a checkpoint
)

func queueBucket(kind byte, q QID) []byte {
	return be.AppendUint32([]byte{kind}, uint32(q))
}

func tableBucket(t Table) []byte { return []byte{bucketTable, byte(t)} }

func seqKey(s Seq) []byte { return be.AppendUint64(nil, uint64(s)) }

func recordCRC(bucket, key, val []byte) uint32 {
	c := crc32.Update(0, castagnoli, bucket)
	c = crc32.Update(c, castagnoli, key)
	return crc32.Update(c, castagnoli, val)
}

// sealRecord returns crc | val for the record key of bucket.
func sealRecord(bucket, key []byte, parts ...[]byte) []byte {
	n := recordHeader
	for _, p := range parts {
		n += len(p)
	}
	out := make([]byte, recordHeader, n)
	for _, p := range parts {
		out = append(out, p...)
	}
	sealInPlace(bucket, key, out)
	return out
}

const (
	recordHeader = 4 // what a record has before its value
	bodyLenSize  = 4 // what a head's value has before the head
)

// sealInPlace completes a record whose value is there already.
func sealInPlace(bucket, key, rec []byte) {
	le.PutUint32(rec, recordCRC(bucket, key, rec[recordHeader:]))
}

// openRecord checks a stored record and returns its value, which aliases rec.
func openRecord(file string, bucket, key, rec []byte) ([]byte, error) {
	if len(rec) < 4 {
		return nil, corrupt(file, placeOf(bucket, key), fmt.Sprintf("record of %d bytes is too short", len(rec)))
	}
	if recordCRC(bucket, key, rec[4:]) != le.Uint32(rec) {
		return nil, corrupt(file, placeOf(bucket, key), "checksum does not match")
	}
	return rec[4:], nil
}

// head record value: body length u32 | head.
func splitHead(file string, bucket, key, val []byte) (bodyLen uint32, head []byte, err error) {
	if len(val) < 4 {
		return 0, nil, corrupt(file, placeOf(bucket, key), "head record is too short")
	}
	return le.Uint32(val), val[4:], nil
}

// placeOf names a record as a reader of the format document would.
func placeOf(bucket, key []byte) string {
	switch {
	case len(bucket) == 5 && (bucket[0] == bucketHead || bucket[0] == bucketBody):
		kind := "heads"
		if bucket[0] == bucketBody {
			kind = "bodies"
		}
		if len(key) == 8 {
			return fmt.Sprintf("%s of queue %d, message %d", kind, be.Uint32(bucket[1:]), be.Uint64(key))
		}
		return fmt.Sprintf("%s of queue %d, key %x", kind, be.Uint32(bucket[1:]), key)
	case len(bucket) == 2 && bucket[0] == bucketTable:
		return fmt.Sprintf("table %s, key %q", Table(bucket[1]), key)
	}
	return fmt.Sprintf("bucket %q, key %x", bucket, key)
}

const (
	maxKey   = 32 << 10 // bbolt's bound, less our prefix and a little room
	maxValue = 1 << 30  // of a head, a body or a table value
	keyRoom  = maxKey - 64
)

// validate refuses a unit that no store could ever keep, before it is on its way.
func (t *Tx) validate() error {
	for i := range t.ops {
		o := &t.ops[i]
		switch {
		case (o.kind == opSet || o.kind == opUnset) && len(o.a) > keyRoom:
			return fmt.Errorf("store: key of table %s has %d bytes, at most %d are possible", o.table, len(o.a), keyRoom)
		case len(o.a) > maxValue || len(o.b) > maxValue:
			return fmt.Errorf("store: a value of %d bytes, at most %d are possible", max(len(o.a), len(o.b)), maxValue)
		}
	}
	return nil
}

var tableNames = map[Table]string{
	TableMeta: "meta", TableObjects: "objects", TableSubs: "subscriptions", TableRetained: "retained",
	TableChannels: "channels", TableAuthority: "authority", TableHierarchy: "hierarchy", TableFlows: "flows",
	TableIndoubt: "indoubt",
}

// String is the table's name in messages and in the format document.
func (t Table) String() string {
	if n, ok := tableNames[t]; ok {
		return n
	}
	return fmt.Sprintf("number %d", uint8(t))
}
