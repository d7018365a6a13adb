package mq

import (
	"fmt"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Reason is a reason code, MQRC_*. It is an error, for errors.Is.
type Reason int32

// Reason codes that programs often ask for. Any other number may be converted to a Reason.
const (
	ConnectionBroken    Reason = mqi.MQRC_CONNECTION_BROKEN      // 2009
	QFull               Reason = mqi.MQRC_Q_FULL                 // 2053
	GetInhibited        Reason = mqi.MQRC_GET_INHIBITED          // 2016
	PutInhibited        Reason = mqi.MQRC_PUT_INHIBITED          // 2051
	HandleClosed        Reason = mqi.MQRC_HOBJ_ERROR             // 2019
	NotConnected        Reason = mqi.MQRC_HCONN_ERROR            // 2018
	NoMsgAvailable      Reason = mqi.MQRC_NO_MSG_AVAILABLE       // 2033
	NotAuthorized       Reason = mqi.MQRC_NOT_AUTHORIZED         // 2035
	ObjectInUse         Reason = mqi.MQRC_OBJECT_IN_USE          // 2042
	QMgrNameError       Reason = mqi.MQRC_Q_MGR_NAME_ERROR       // 2058
	QMgrNotAvailable    Reason = mqi.MQRC_Q_MGR_NOT_AVAILABLE    // 2059
	TruncatedAccepted   Reason = mqi.MQRC_TRUNCATED_MSG_ACCEPTED // 2079
	TruncatedFailed     Reason = mqi.MQRC_TRUNCATED_MSG_FAILED   // 2080
	UnknownObject       Reason = mqi.MQRC_UNKNOWN_OBJECT_NAME    // 2085
	QMgrQuiescing       Reason = mqi.MQRC_Q_MGR_QUIESCING        // 2161
	QMgrStopping        Reason = mqi.MQRC_Q_MGR_STOPPING         // 2162
	ConnectionQuiescing Reason = mqi.MQRC_CONNECTION_QUIESCING   // 2202
	MsgTooBigForChannel Reason = mqi.MQRC_MSG_TOO_BIG_FOR_CHANNEL
	MsgTooBigForQueue   Reason = mqi.MQRC_MSG_TOO_BIG_FOR_Q
	SyncpointLimit      Reason = mqi.MQRC_SYNCPOINT_LIMIT_REACHED
	HostNotAvailable    Reason = mqi.MQRC_HOST_NOT_AVAILABLE       // 2538
	ChannelConfigError  Reason = mqi.MQRC_CHANNEL_CONFIG_ERROR     // 2539
	UnknownChannel      Reason = mqi.MQRC_UNKNOWN_CHANNEL_NAME     // 2540
	ChannelNotAvailable Reason = mqi.MQRC_CHANNEL_NOT_AVAILABLE    // 2537
	SSLInitialization   Reason = mqi.MQRC_SSL_INITIALIZATION_ERROR // 2393
	KeyRepositoryError  Reason = mqi.MQRC_KEY_REPOSITORY_ERROR     // 2381
	BackedOut           Reason = mqi.MQRC_BACKED_OUT               // 2003
	CallInterrupted     Reason = mqi.MQRC_CALL_INTERRUPTED         // 2549
	ReconnectFailed     Reason = mqi.MQRC_RECONNECT_FAILED         // 2548
	unsupportedCipher   Reason = mqi.MQRC_UNSUPPORTED_CIPHER_SUITE // 2400
	optionsError        Reason = mqi.MQRC_OPTIONS_ERROR
	unexpected          Reason = mqi.MQRC_UNEXPECTED_ERROR
)

// String is the name, "MQRC_NO_MSG_AVAILABLE".
func (r Reason) String() string { return mqi.RC(r).Name() }

// Error makes a reason code something to compare with.
func (r Reason) Error() string { return fmt.Sprintf("reason %d (%s)", int32(r), r.String()) }

// CompletionCode says whether a verb did its work.
type CompletionCode int32

// Completion codes.
const (
	OK      CompletionCode = CompletionCode(mqi.CCOK)
	Warning CompletionCode = CompletionCode(mqi.CCWarning)
	Failed  CompletionCode = CompletionCode(mqi.CCFailed)
)

// Error is the error of every verb.
type Error struct {
	Op     string // the verb, "MQPUT"
	Object string // what it was about: a queue, a topic, an address
	Code   CompletionCode
	Reason Reason
	Err    error // what was behind it, or nil: a network error, the context's
}

func (e *Error) Error() string {
	s := e.Op
	if e.Object != "" {
		s += " " + e.Object
	}
	s += ": " + e.Reason.Error()
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns what was behind it.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the error's reason code.
func (e *Error) Is(target error) bool {
	r, ok := target.(Reason)
	return ok && r == e.Reason
}

func fail(op, object string, r Reason, err error) *Error {
	return &Error{Op: op, Object: object, Code: Failed, Reason: r, Err: err}
}
