package mqi

// DLH is the dead-letter header: why a message stands on the dead-letter queue, where it was to go, and what follows.
type DLH struct {
	Reason         int32 // MQRC_ or MQFB_
	DestQName      string
	DestQMgrName   string
	Encoding       int32 // of what follows
	CodedCharSetID int32
	Format         string
	PutApplType    int32
	PutApplName    string
	PutDate        string // YYYYMMDD
	PutTime        string // HHMMSSTH
}

// ParseDLH reads an MQDLH (172 bytes) and gives what follows it.
func ParseDLH(b []byte, c Coding) (DLH, []byte, error) {
	r := newReader(b, c, "MQDLH", MQRC_DLH_ERROR)
	r.id("DLH ")
	r.version(MQDLH_VERSION_1, MQDLH_CURRENT_VERSION)
	var h DLH
	h.Reason, h.DestQName, h.DestQMgrName = r.i32(), r.str(MQ_Q_NAME_LENGTH), r.str(MQ_Q_MGR_NAME_LENGTH)
	h.Encoding, h.CodedCharSetID, h.Format = r.i32(), r.i32(), r.str(MQ_FORMAT_LENGTH)
	h.PutApplType, h.PutApplName = r.i32(), r.str(MQ_PUT_APPL_NAME_LENGTH)
	h.PutDate, h.PutTime = r.str(MQ_PUT_DATE_LENGTH), r.str(MQ_PUT_TIME_LENGTH)
	return h, r.tail(), r.err
}

// Append appends the structure.
func (h *DLH) Append(dst []byte, c Coding) ([]byte, error) {
	w := newWriter(dst, c, "MQDLH")
	w.str("DLH", 4)
	w.i32(MQDLH_CURRENT_VERSION, h.Reason)
	w.str(h.DestQName, MQ_Q_NAME_LENGTH)
	w.str(h.DestQMgrName, MQ_Q_MGR_NAME_LENGTH)
	w.i32(h.Encoding, h.CodedCharSetID)
	w.str(h.Format, MQ_FORMAT_LENGTH)
	w.i32(h.PutApplType)
	w.str(h.PutApplName, MQ_PUT_APPL_NAME_LENGTH)
	w.str(h.PutDate, MQ_PUT_DATE_LENGTH)
	w.str(h.PutTime, MQ_PUT_TIME_LENGTH)
	return w.done(dst)
}
