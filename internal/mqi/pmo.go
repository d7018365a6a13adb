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

// Fill gives a descriptor the fields that the record has, by MQPMRF_*.
func (r *PMR) Fill(md *MD, fields int32) {
	if fields&MQPMRF_MSG_ID != 0 {
		md.MsgID = r.MsgID
	}
	if fields&MQPMRF_CORREL_ID != 0 {
		md.CorrelID = r.CorrelID
	}
	if fields&MQPMRF_GROUP_ID != 0 {
		md.GroupID = r.GroupID
	}
	if fields&MQPMRF_FEEDBACK != 0 {
		md.Feedback = r.Feedback
	}
	if fields&MQPMRF_ACCOUNTING_TOKEN != 0 {
		md.AccountingToken = r.AccountingToken
	}
}

// Take gives the record the identifiers that a put returned.
func (r *PMR) Take(md *MD, fields int32) {
	if fields&MQPMRF_MSG_ID != 0 {
		r.MsgID = md.MsgID
	}
	if fields&MQPMRF_CORREL_ID != 0 {
		r.CorrelID = md.CorrelID
	}
	if fields&MQPMRF_GROUP_ID != 0 {
		r.GroupID = md.GroupID
	}
}
