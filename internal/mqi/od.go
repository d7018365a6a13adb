package mqi

// OD is the object descriptor of MQOPEN and MQPUT1.
type OD struct {
	Version         int32
	ObjectType      int32
	ObjectName      string // 48; out: the generated name of a dynamic queue
	ObjectQMgrName  string // 48
	DynamicQName    string // 48
	AlternateUserID string // 12
	// Version 2, distribution lists: answered per destination.
	RecsPresent       int32
	KnownDestCount    int32 // out
	UnknownDestCount  int32 // out
	InvalidDestCount  int32 // out
	ObjectRecords     []OR
	ResponseRecords   []RR // out
	AlternateSecurity [40]byte
	// Version 3.
	ResolvedQName    string // out
	ResolvedQMgrName string // out
	// Version 4.
	ObjectString    string
	SelectionString string
	ResObjectString string // out
	ResolvedType    int32  // out
}

// OR is an object record: one destination of a distribution list.
type OR struct {
	ObjectName     string
	ObjectQMgrName string
}

// RR is a response record: what one destination came to.
type RR struct {
	CC CC
	RC RC
}

// DefaultOD returns the initial values of MQOD, version 1.
func DefaultOD() OD {
	return OD{Version: 1, ObjectType: 1 /* MQOT_Q */, DynamicQName: "AMQ.*"}
}
