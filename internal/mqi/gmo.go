package mqi

// GMO is the get-message options.
type GMO struct {
	Version       int32
	Options       int32
	WaitInterval  int32 // milliseconds, -1 unlimited
	Signal1       int32
	Signal2       int32
	ResolvedQName string // out
	// Version 2.
	MatchOptions  int32
	GroupStatus   byte // out
	SegmentStatus byte // out
	Segmentation  byte // out
	// Version 3.
	MsgToken       Token // in with MQMO_MATCH_MSG_TOKEN, out
	ReturnedLength int32 // out
	// Version 4.
	MsgHandle int64
}

// DefaultGMO returns initial values of MQGMO that every version shares, version 1.
func DefaultGMO() GMO {
	return GMO{
		Version:        1,
		WaitInterval:   -1,
		MatchOptions:   3, // MQMO_MATCH_MSG_ID + MQMO_MATCH_CORREL_ID
		GroupStatus:    ' ',
		SegmentStatus:  ' ',
		Segmentation:   ' ',
		ReturnedLength: -1,
	}
}
