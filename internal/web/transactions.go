package web

import (
	"errors"
	"net/http"

	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// getTransactions lists the prepared units of work (dspmqtrn).
func (s *Server) getTransactions(w http.ResponseWriter, _ *http.Request) error {
	writeJSON(w, http.StatusOK, s.opt.Manager.Transactions())
	return nil
}

// postTransaction settles one of them (rsvmqtrn): number, and action commit, backout or forget.
func (s *Server) postTransaction(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	n, err := parseInt("number", q.Get("number"), 1, 1<<53)
	if err != nil {
		return err
	}
	action := q.Get("action")
	switch action {
	case qmgr.ResolveCommit, qmgr.ResolveBack, qmgr.ResolveForget:
	default:
		return refuse("MQWB0104E", "action=%s: use commit, backout or forget", clip(action))
	}
	if err := s.opt.Manager.ResolveTransaction(uint64(n), action, identityOf(r).User); err != nil {
		p := ofError(err)
		if e := (*mqi.Error)(nil); errors.As(err, &e) && e.RC == mqi.MQRC_UOW_NOT_AVAILABLE {
			p.Message += ": " + e.Err.Error()
		}
		return p
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
