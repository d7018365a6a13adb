package mqi

import (
	"errors"
	"fmt"
)

// CC is a completion code, RC a reason code.
type CC int32
type RC int32

const (
	CCOK      CC = 0
	CCWarning CC = 1
	CCFailed  CC = 2
)

// Error is the only error type that leaves a verb. RC goes on the wire, Err only in the log.
type Error struct {
	Op, Object string
	CC         CC
	RC         RC
	Err        error
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s %s: reason %d (%s)", e.Op, e.Object, e.RC, e.RC.Name())
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// E makes a failed completion.
func E(op, object string, rc RC) *Error { return &Error{Op: op, Object: object, CC: CCFailed, RC: rc} }

// Wrap is E with a cause for the log.
func Wrap(op, object string, rc RC, err error) *Error {
	return &Error{Op: op, Object: object, CC: CCFailed, RC: rc, Err: err}
}

// Warn makes a completion with a warning: the verb did its work.
func Warn(op, object string, rc RC) *Error {
	return &Error{Op: op, Object: object, CC: CCWarning, RC: rc}
}

// Reason returns the codes of an error: (CCOK, 0) for nil, 2195 for one that carries none.
func Reason(err error) (CC, RC) {
	if err == nil {
		return CCOK, 0
	}
	var e *Error
	if errors.As(err, &e) {
		return e.CC, e.RC
	}
	return CCFailed, RC(MQRC_UNEXPECTED_ERROR)
}
