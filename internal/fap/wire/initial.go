package wire

// ID is the body of INITIAL_DATA. Size keeps the length that the peer used, which depends on its level.
type ID struct {
	Size            int // set by decode; encode writes this many bytes
	FAP             byte
	Cap1, ECap1     byte
	Err1            byte
	MaxBatch        uint16
	MaxTransmission int32
	MaxMsgLength    int32
	SeqWrap         int32
	Channel         string // 20
	// From 44 bytes.
	Cap2, ECap2 byte
	CCSID       uint16
	QMgr        string // 48
	HeartbeatIv int32
	EFLLength   uint16
	// From 102 bytes.
	Err2      byte
	HdrComp   [2]byte
	MsgComp   [16]byte
	SSLReset  int32
	Convs     int32
	Cap3      byte
	ECap3     byte
	ProcessID int32
	ThreadID  int32
	TraceID   int32
	Product   string // 12
	QMgrID    string // 48
	// From 208 bytes.
	PAL   [10]uint16
	Nonce [12]byte
}

// Capability and error flags of INITIAL_DATA.
const (
	Cap1Conversion = 0x02
	Cap1Split      = 0x04
	Cap1MQRequest  = 0x20 // an MQI channel
	Cap2DistLists  = 0x01
	Cap2XA         = 0x10
	Cap2SPI        = 0x40
	Cap3SyncGet    = 0x08 // plain MQGET on shared conversations
	Cap3ConnTag    = 0x20

	ErrCCSID        = 0x01
	ErrEncoding     = 0x02
	ErrTransmission = 0x04
	ErrFAP          = 0x08
	ErrMsgLength    = 0x10
	ErrHeartbeat    = 0x80
)

// IDSize is the size of the structure that a level uses.
func IDSize(fap byte) int {
	switch {
	case fap < 4:
		return 44
	case fap < 8:
		return 102
	case fap == 8:
		return 128
	case fap == 9:
		return 160
	case fap < 13:
		return 208
	}
	return 240
}

// idSizes are the places where a structure may end.
var idSizes = []int{44, 102, 128, 160, 208, 240}

func (i *ID) decode(d *Decoder) {
	d.in = "ID"
	at := d.off
	for _, n := range idSizes {
		if d.rest() >= n {
			i.Size = n
		}
	}
	d.id("ID  ")
	i.FAP, i.Cap1, i.ECap1, i.Err1 = d.u8(), d.u8(), d.u8(), d.u8()
	d.skip(2)
	i.MaxBatch = d.u16()
	i.MaxTransmission, i.MaxMsgLength, i.SeqWrap = d.i32(), d.i32(), d.i32()
	i.Channel = d.str(20)
	if i.Size >= 102 {
		i.Cap2, i.ECap2, i.CCSID = d.u8(), d.u8(), d.u16()
		i.QMgr, i.HeartbeatIv, i.EFLLength = d.str(48), d.i32(), d.u16()
	}
	if i.Size >= 128 {
		i.Err2 = d.u8()
		d.skip(1)
		copy(i.HdrComp[:], d.take(2))
		copy(i.MsgComp[:], d.take(16))
		d.skip(2)
		i.SSLReset = d.i32()
	}
	if i.Size >= 160 {
		i.Convs, i.Cap3, i.ECap3 = d.i32(), d.u8(), d.u8()
		d.skip(2)
		i.ProcessID, i.ThreadID, i.TraceID = d.i32(), d.i32(), d.i32()
		i.Product = d.str(12)
	}
	if i.Size >= 208 {
		i.QMgrID = d.str(48)
	}
	if i.Size >= 240 {
		for n := range i.PAL {
			i.PAL[n] = d.u16()
		}
		copy(i.Nonce[:], d.take(12))
	}
	if d.err == nil && d.off-at != i.Size {
		d.fail(BadLength)
	}
}

func (i *ID) encode(e *Encoder) {
	at := len(e.b)
	e.id("ID  ")
	e.raw([]byte{i.FAP, i.Cap1, i.ECap1, i.Err1, 0, 0})
	e.u16(i.MaxBatch)
	e.i32(i.MaxTransmission)
	e.i32(i.MaxMsgLength)
	e.i32(i.SeqWrap)
	e.str(i.Channel, 20)
	e.raw([]byte{i.Cap2, i.ECap2})
	e.u16(i.CCSID)
	e.str(i.QMgr, 48)
	e.i32(i.HeartbeatIv)
	e.u16(i.EFLLength)
	e.raw([]byte{i.Err2, 0})
	e.raw(i.HdrComp[:])
	e.raw(i.MsgComp[:])
	e.zero(2)
	e.i32(i.SSLReset)
	e.i32(i.Convs)
	e.raw([]byte{i.Cap3, i.ECap3, 0, 0})
	e.i32(i.ProcessID)
	e.i32(i.ThreadID)
	e.i32(i.TraceID)
	e.str(i.Product, 12)
	e.str(i.QMgrID, 48)
	for _, p := range i.PAL {
		e.u16(p)
	}
	e.raw(i.Nonce[:])
	if n := at + i.Size; i.Size > 0 && n < len(e.b) {
		e.b = e.b[:n]
	}
}
