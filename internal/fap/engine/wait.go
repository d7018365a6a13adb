package engine

import (
	"context"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// Prompt implements fap.Prompter.
func (c conn) Prompt(hobj int32, md *mqi.MD, pmo *mqi.PMO) bool {
	return c.Conn.Prompt(qmgr.Handle(hobj), md, pmo)
}

// PutBy implements fap.Prompter.
func (c conn) PutBy(ctx context.Context, by any, hobj int32, md *mqi.MD, pmo *mqi.PMO, body []byte, lent bool) error {
	original, fresh := pmo.OriginalMsgHandle, pmo.NewMsgHandle
	pmo.OriginalMsgHandle, pmo.NewMsgHandle = mqi.MQHM_NONE, mqi.MQHM_NONE
	err := c.Conn.PutBy(ctx, by, qmgr.Handle(hobj), md, pmo, body, lent)
	pmo.OriginalMsgHandle, pmo.NewMsgHandle = original, fresh
	return err
}

// Gather and Deliver of qmgr.Conn are fap.Gatherer's.
var _ fap.Gatherer = conn{}

// NewWait implements fap.Waiter.
func (c conn) NewWait(w fap.Waker) fap.Wait { return &wait{w: c.Conn.NewWaiting(w)} }

// wait is a qmgr.Waiting that gives properties as conn.Get does.
type wait struct {
	w       *qmgr.Waiting
	gmo     *mqi.GMO
	handle  int64
	options int32
}

// begin has the get ask for properties as conn.Get does, until state sees its end.
func (w *wait) begin(gmo *mqi.GMO) {
	w.gmo, w.handle, w.options = gmo, gmo.MsgHandle, gmo.Options
	propsInData(gmo)
}

func (w *wait) Get(hobj int32, md *mqi.MD, gmo *mqi.GMO, max int) ([]byte, int, fap.WaitState, error) {
	w.begin(gmo)
	return w.state(w.w.Get(qmgr.Handle(hobj), md, gmo, max))
}

func (w *wait) GetAhead(hobj int32, md *mqi.MD, gmo *mqi.GMO, max int, asked bool) ([]byte, int, fap.WaitState, error) {
	w.begin(gmo)
	return w.state(w.w.GetAhead(qmgr.Handle(hobj), md, gmo, max, asked))
}

func (w *wait) Resume() ([]byte, int, fap.WaitState, error) { return w.state(w.w.Resume()) }

func (w *wait) Finish(leave bool) ([]byte, int, fap.WaitState, error) {
	return w.state(w.w.Finish(leave))
}

func (w *wait) Cancel() {
	w.w.Cancel()
	w.gmo.MsgHandle, w.gmo.Options = w.handle, w.options
}

// state gives the options back that propsInData has changed, when the get is over.
func (w *wait) state(body []byte, n int, s qmgr.GetState, err error) ([]byte, int, fap.WaitState, error) {
	if s == qmgr.GetOver || s == qmgr.GetUnfit {
		w.gmo.MsgHandle, w.gmo.Options = w.handle, w.options
	}
	return body, n, states[s], held(err)
}

var states = [...]fap.WaitState{qmgr.GetOver: fap.Over, qmgr.GetWaits: fap.Waits, qmgr.GetBlocks: fap.Blocks,
	qmgr.GetUnfit: fap.Unfit, qmgr.GetSettles: fap.Settles}

// Passed implements fap.Passer.
func (c conn) Passed(hobj int32) (put, got uint64, depth int) {
	return c.Conn.Passed(qmgr.Handle(hobj))
}
