package qmgr

import (
	"errors"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/pubsub/selector"
)

// Selection strings of MQOPEN: a handle opened for input or for browsing with one gets and browses only what it selects.

// openSelector reads the selection string of an open.
func openSelector(od *mqi.OD, options int32) (*selector.Selector, error) {
	switch {
	case od.Version < 4 || od.SelectionString == "":
		return nil, nil
	case od.ObjectType != mqi.MQOT_Q || options&inputOptions == 0:
		return nil, mqi.E("MQOPEN", od.ObjectName, mqi.MQRC_SELECTOR_INVALID_FOR_TYPE)
	}
	sel, err := selector.Parse(od.SelectionString)
	if err != nil {
		rc := mqi.RC(mqi.MQRC_SELECTION_STRING_ERROR)
		var e *selector.Error
		if errors.As(err, &e) {
			rc = mqi.RC(e.RC)
		}
		return nil, mqi.Wrap("MQOPEN", od.ObjectName, rc, err)
	}
	return sel, nil
}

// selects asks the handle's selector about a message.
func (t *match) selects(h *msgHead, body []byte) bool {
	if t.sel == nil {
		return true
	}
	return t.sel.Matches(selector.Message{MD: &h.md, Props: messageProps(h, body)})
}
