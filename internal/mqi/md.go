package mqi

// ID is a message, correlation or group identifier. The zero value is MQMI_NONE, MQCI_NONE, MQGI_NONE.
type ID [24]byte

// IsZero reports whether the identifier is "none".
func (id ID) IsZero() bool { return id == ID{} }

// Token is a message token (MsgToken of the get-message options).
type Token [16]byte

// Account is an accounting token.
type Account [32]byte

// MD is the message descriptor, with all fields of version 2 and in the order of the MQMD structure. Character
// fields hold their text without trailing blanks; padding is the wire codec's business.
type MD struct {
	Version          int32
	Report           int32
	MsgType          int32
	Expiry           int32 // tenths of a second, -1 unlimited
	Feedback         int32
	Encoding         int32
	CodedCharSetID   int32
	Format           string // 8
	Priority         int32
	Persistence      int32
	MsgID            ID
	CorrelID         ID
	BackoutCount     int32
	ReplyToQ         string // 48
	ReplyToQMgr      string // 48
	UserIdentifier   string // 12
	AccountingToken  Account
	ApplIdentityData string // 32
	PutApplType      int32
	PutApplName      string // 28
	PutDate          string // 8, YYYYMMDD
	PutTime          string // 8, HHMMSSTH
	ApplOriginData   string // 4
	// Version 2.
	GroupID        ID
	MsgSeqNumber   int32
	Offset         int32
	MsgFlags       int32
	OriginalLength int32
}

// DefaultMD returns a descriptor with the initial values of MQMD (MQMD_DEFAULT), version 1.
func DefaultMD() MD {
	return MD{
		Version:        1,
		MsgType:        8, // MQMT_DATAGRAM
		Expiry:         -1,
		Encoding:       546, // MQENC_NATIVE, little endian
		Priority:       -1,  // MQPRI_PRIORITY_AS_Q_DEF
		Persistence:    2,   // MQPER_PERSISTENCE_AS_Q_DEF
		MsgSeqNumber:   1,
		OriginalLength: -1,
	}
}
