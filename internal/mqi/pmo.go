package mqi

// PMO is the put-message options.
type PMO struct {
	Version int32
	Options int32
	Timeout int32
	// Context is the handle whose last message gives the context of PASS_IDENTITY and PASS_ALL; an opaque number
	// of the connection.
	Context          int32
	KnownDestCount   int32  // out
	UnknownDestCount int32  // out
	InvalidDestCount int32  // out
	ResolvedQName    string // out
	ResolvedQMgrName string // out
	// Version 2.
	RecsPresent     int32
	PutMsgRecFields int32
	PutMsgRecords   []PMR
	ResponseRecords []RR // out
	// Version 3.
	OriginalMsgHandle int64
	NewMsgHandle      int64
	Action            int32
	PubLevel          int32
}

// PMR is a put-message record: the fields of one destination of a distribution list.
type PMR struct {
	MsgID           ID
	CorrelID        ID
	GroupID         ID
	Feedback        int32
	AccountingToken Account
}

// DefaultPMO returns the initial values of MQPMO, version 1.
func DefaultPMO() PMO { return PMO{Version: 1, Timeout: -1, PubLevel: 9} }
