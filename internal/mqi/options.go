package mqi

// CNO is the connect options.
type CNO struct {
	Version      int32
	Options      int32
	ConnTag      [128]byte
	ConnectionID ID // out
	ApplName     string
	CCDTURL      string
	UserID       string
	Password     string
}

// STS is the status structure of MQSTAT.
type STS struct {
	Version          int32
	CompCode         CC
	Reason           RC
	PutSuccessCount  int32
	PutWarningCount  int32
	PutFailureCount  int32
	ObjectType       int32
	ObjectName       string
	ObjectQMgrName   string
	ResolvedObject   string
	ResolvedQMgrName string
	ObjectString     string
	SubName          string
	OpenOptions      int32
	SubOptions       int32
}

// DefaultSTS returns the initial values of MQSTS, version 1.
func DefaultSTS() STS { return STS{Version: 1, ObjectType: 1} }

// BO is the begin options.
type BO struct {
	Version int32
	Options int32
}

// SRO is the subscription request options.
type SRO struct {
	Version int32
	Options int32
	NumPubs int32 // out
}

// DefaultBO and DefaultSRO return the initial values of MQBO and MQSRO.
func DefaultBO() BO   { return BO{Version: 1} }
func DefaultSRO() SRO { return SRO{Version: 1} }
