package mqi

// The programmable command format (PCF): commands, their replies, and event messages are an MQCFH and parameters.

// CFMsg is one message in PCF.
type CFMsg struct {
	Type         int32 // MQCFT_COMMAND, MQCFT_RESPONSE, MQCFT_EVENT …
	Version      int32
	Command      int32 // MQCMD_
	MsgSeqNumber int32
	Control      int32 // MQCFC_
	CompCode     CC
	Reason       RC
	Params       []CFParam
}

// CFParam is one parameter structure; which fields count depends on Type.
type CFParam struct {
	Type    int32 // MQCFT_INTEGER, MQCFT_STRING …
	ID      int32 // MQIA_, MQCA_, MQIACF_ …
	Op      int32 // of filters, MQCFOP_
	CCSID   int32 // of strings; MQCCSI_DEFAULT is the message's
	Ints    []int64
	Strings []string
	Bytes   []byte
	Params  []CFParam // of a group
}

// Bounds of a PCF message.
const (
	// maxGroupDepth is how deep groups may stand in groups.
	maxGroupDepth = 3
	// minCFLength is the shortest parameter structure (MQCFIN, an empty MQCFIL, MQCFBS or MQCFGR).
	minCFLength = 16
	// maxBlankStrings is how many strings a list of strings without characters may have.
	maxBlankStrings = 1024
	// maxCFParams is how many parameters a group may promise.
	maxCFParams = 1 << 20
)

// CFInt is an MQCFIN.
func CFInt(id int32, v int32) CFParam {
	return CFParam{Type: MQCFT_INTEGER, ID: id, Ints: []int64{int64(v)}}
}

// CFInt64 is an MQCFIN64.
func CFInt64(id int32, v int64) CFParam {
	return CFParam{Type: MQCFT_INTEGER64, ID: id, Ints: []int64{v}}
}

// CFInts is an MQCFIL.
func CFInts(id int32, v ...int32) CFParam {
	p := CFParam{Type: MQCFT_INTEGER_LIST, ID: id, Ints: make([]int64, len(v))}
	for i := range v {
		p.Ints[i] = int64(v[i])
	}
	return p
}

// CFString is an MQCFST.
func CFString(id int32, v string) CFParam {
	return CFParam{Type: MQCFT_STRING, ID: id, Strings: []string{v}}
}

// CFStrings is an MQCFSL.
func CFStrings(id int32, v ...string) CFParam {
	return CFParam{Type: MQCFT_STRING_LIST, ID: id, Strings: v}
}

// CFBytes is an MQCFBS.
func CFBytes(id int32, v []byte) CFParam {
	return CFParam{Type: MQCFT_BYTE_STRING, ID: id, Bytes: v}
}

// CFGroup is an MQCFGR with the parameters in it.
func CFGroup(id int32, params ...CFParam) CFParam {
	return CFParam{Type: MQCFT_GROUP, ID: id, Params: params}
}

// cfShape is what the layouts of parameter structures differ in.
type cfShape struct {
	name  string
	typ   int32
	fixed int
	rc    RC // the length is wrong
}

var cfShapes = [...]cfShape{
	{"MQCFIN", MQCFT_INTEGER, MQCFIN_STRUC_LENGTH, MQRCCF_CFIN_LENGTH_ERROR},
	{"MQCFIN64", MQCFT_INTEGER64, MQCFIN64_STRUC_LENGTH, MQRCCF_CFIN_LENGTH_ERROR},
	{"MQCFIL", MQCFT_INTEGER_LIST, MQCFIL_STRUC_LENGTH_FIXED, MQRCCF_CFIL_LENGTH_ERROR},
	{"MQCFIL64", MQCFT_INTEGER64_LIST, MQCFIL64_STRUC_LENGTH_FIXED, MQRCCF_CFIL_LENGTH_ERROR},
	{"MQCFST", MQCFT_STRING, MQCFST_STRUC_LENGTH_FIXED, MQRCCF_CFST_LENGTH_ERROR},
	{"MQCFSL", MQCFT_STRING_LIST, MQCFSL_STRUC_LENGTH_FIXED, MQRCCF_CFSL_LENGTH_ERROR},
	{"MQCFBS", MQCFT_BYTE_STRING, MQCFBS_STRUC_LENGTH_FIXED, MQRCCF_CFBS_LENGTH_ERROR},
	{"MQCFIF", MQCFT_INTEGER_FILTER, MQCFIF_STRUC_LENGTH, MQRCCF_CFIF_LENGTH_ERROR},
	{"MQCFSF", MQCFT_STRING_FILTER, MQCFSF_STRUC_LENGTH_FIXED, MQRCCF_CFSF_LENGTH_ERROR},
	{"MQCFBF", MQCFT_BYTE_STRING_FILTER, MQCFBF_STRUC_LENGTH_FIXED, MQRCCF_CFBF_LENGTH_ERROR},
	{"MQCFGR", MQCFT_GROUP, MQCFGR_STRUC_LENGTH, MQRCCF_CFGR_LENGTH_ERROR},
}

func cfShapeOf(typ int32) *cfShape {
	for i := range cfShapes {
		if cfShapes[i].typ == typ {
			return &cfShapes[i]
		}
	}
	return nil
}

// CFName is the name of a parameter's structure, "MQCFST".
func CFName(typ int32) string {
	if s := cfShapeOf(typ); s != nil {
		return s.name
	}
	return Name("MQCFT", typ)
}
