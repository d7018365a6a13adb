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

// AsyncPuts counts puts that asked for no answer, for MQSTAT.
type AsyncPuts struct{ sts STS }

// Count notes how a put ended. When its failure is what MQSTAT will tell, the first of the worst, the result is where the names of
// its objects go; nil otherwise.
func (a *AsyncPuts) Count(err error) *STS {
	cc, rc := Reason(err)
	t := &a.sts
	switch cc {
	case CCOK:
		t.PutSuccessCount++
	case CCWarning:
		t.PutWarningCount++
	default:
		t.PutFailureCount++
	}
	if cc <= t.CompCode {
		return nil
	}
	*t = STS{CompCode: cc, Reason: rc, PutSuccessCount: t.PutSuccessCount, PutWarningCount: t.PutWarningCount,
		PutFailureCount: t.PutFailureCount}
	return t
}

// Undo takes a success back that turns out to be none; its failure is to be counted then.
func (a *AsyncPuts) Undo() { a.sts.PutSuccessCount-- }

// Take gives the counts and begins again.
func (a *AsyncPuts) Take() STS {
	s := a.sts
	*a = AsyncPuts{}
	return s
}

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
