package wire

import "strconv"

// Type is a segment type. The reply to an MQI or XA type is Type + ReplyOffset.
type Type byte

const (
	InitialData  Type = 1
	Resync       Type = 2
	Reset        Type = 3
	Message      Type = 4
	StatusData   Type = 5
	Security     Type = 6
	Ping         Type = 7
	UserIDData   Type = 8
	Heartbeat    Type = 9
	ConAuthInfo  Type = 10
	Renegotiate  Type = 11
	SocketAction Type = 12
	AsyncMsg     Type = 13
	RequestMsgs  Type = 14
	Notification Type = 15

	MQCONN  Type = 129
	MQDISC  Type = 130
	MQOPEN  Type = 131
	MQCLOSE Type = 132
	MQGET   Type = 133
	MQPUT   Type = 134
	MQPUT1  Type = 135
	MQSET   Type = 136
	MQINQ   Type = 137
	MQCMIT  Type = 138
	MQBACK  Type = 139
	SPI     Type = 140
	MQSTAT  Type = 141
	MQSUB   Type = 142
	MQSUBRQ Type = 143

	XAStart    Type = 161
	XAEnd      Type = 162
	XAOpen     Type = 163
	XAClose    Type = 164
	XAPrepare  Type = 165
	XACommit   Type = 166
	XARollback Type = 167
	XAForget   Type = 168
	XARecover  Type = 169
	XAComplete Type = 170
)

// ReplyOffset lies between the type of a request and that of its reply.
const ReplyOffset = 16

// Reply is the type that answers t.
func (t Type) Reply() Type { return t + ReplyOffset }

// IsCall reports whether t is an MQI request, IsCallReply whether it answers one. Both carry the API header.
func (t Type) IsCall() bool      { return t >= MQCONN && t <= MQSUBRQ }
func (t Type) IsCallReply() bool { return t >= MQCONN+ReplyOffset && t <= MQSUBRQ+ReplyOffset }

// IsXA and IsXAReply do the same for the XA verbs, which have their own header.
func (t Type) IsXA() bool      { return t >= XAStart && t <= XAComplete }
func (t Type) IsXAReply() bool { return t >= XAStart+ReplyOffset && t <= XAComplete+ReplyOffset }

var typeNames = map[Type]string{
	InitialData: "INITIAL_DATA", Resync: "RESYNC", Reset: "RESET", Message: "MESSAGE", StatusData: "STATUS",
	Security: "SECURITY", Ping: "PING", UserIDData: "USERID", Heartbeat: "HEARTBEAT", ConAuthInfo: "CONAUTH_INFO",
	Renegotiate: "RENEGOTIATE", SocketAction: "SOCKET_ACTION", AsyncMsg: "ASYNC_MESSAGE",
	RequestMsgs: "REQUEST_MSGS", Notification: "NOTIFICATION",
	MQCONN: "MQCONN", MQDISC: "MQDISC", MQOPEN: "MQOPEN", MQCLOSE: "MQCLOSE", MQGET: "MQGET", MQPUT: "MQPUT",
	MQPUT1: "MQPUT1", MQSET: "MQSET", MQINQ: "MQINQ", MQCMIT: "MQCMIT", MQBACK: "MQBACK", SPI: "SPI",
	MQSTAT: "MQSTAT", MQSUB: "MQSUB", MQSUBRQ: "MQSUBRQ",
	XAStart: "XA_START", XAEnd: "XA_END", XAOpen: "XA_OPEN", XAClose: "XA_CLOSE", XAPrepare: "XA_PREPARE",
	XACommit: "XA_COMMIT", XARollback: "XA_ROLLBACK", XAForget: "XA_FORGET", XARecover: "XA_RECOVER",
	XAComplete: "XA_COMPLETE",
}

func (t Type) String() string {
	if s, ok := typeNames[t]; ok {
		return s
	}
	if t.IsCallReply() || t.IsXAReply() {
		return typeNames[t-ReplyOffset] + "_REPLY"
	}
	return "type " + strconv.Itoa(int(t))
}

// Control flags 1 of a segment.
const (
	FlagConfirm  byte = 0x01 // the peer must answer
	FlagError    byte = 0x02
	FlagReqClose byte = 0x04
	FlagClose    byte = 0x08 // close the channel
	FlagFirst    byte = 0x10
	FlagLast     byte = 0x20
	FlagAccepted byte = 0x40
	FlagDLQUsed  byte = 0x80

	FlagWhole = FlagFirst | FlagLast // an unsplit message
)

// Code is the code of a STATUS segment.
type Code int32

const (
	CodeOK                 Code = 0
	CodeNoChannel          Code = 1
	CodeWrongType          Code = 2
	CodeQMUnavailable      Code = 3
	CodeQMTerminating      Code = 5
	CodeUserClosed         Code = 7
	CodeSegmentType        Code = 10
	CodeLengthError        Code = 11
	CodeInvalidData        Code = 12
	CodeProtocolID         Code = 14
	CodeGeneral            Code = 16
	CodeSecurity           Code = 20
	CodeChannelUnavailable Code = 22
	CodeClosedByExit       Code = 23
	CodeCipherSpec         Code = 24
	CodePeerName           Code = 25
	CodeClientCertificate  Code = 26
	CodeConvID             Code = 30
	CodeSocketAction       Code = 31
	CodeStandby            Code = 32
	CodeCCSID              Code = 240
	CodeEncoding           Code = 241
	CodeFAPLevel           Code = 242
	CodeNegotiation        Code = 243
)

// Action is the type of a SOCKET_ACTION.
type Action int32

const (
	StartConv       Action = 1
	EndConv         Action = 2
	StopQuiesce     Action = 3
	PauseDataSends  Action = 4
	DataSendsPaused Action = 5
	ResumeDataSends Action = 6
	QMQuiesce       Action = 7
	AcceptConv      Action = 8
)

// Note is the code of a NOTIFICATION.
type Note int32

const (
	NoteGetInhibited    Note = 1
	NoteGetAllowed      Note = 2
	NoteConnState       Note = 3
	NoteConnStateReply  Note = 4
	NoteQState          Note = 5
	NoteQStateReply     Note = 6
	NoteQuiescing       Note = 7
	NoteTxnAllowed      Note = 8
	NoteTxnRevoke       Note = 9
	NoteTxnRevokeReply  Note = 10
	NoteCheckMsg        Note = 11
	NoteBrowseFirst     Note = 12
	NoteMsgTooLarge     Note = 13
	NoteStreamFailure   Note = 14
	NoteClientEmpty     Note = 15
	NoteTxnPaused       Note = 16
	NoteReconnectFinish Note = 17
)
