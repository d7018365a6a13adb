package qmgr

import "github.com/qmgrd/qmgrd/internal/mqi"

// stub for now
type statsState struct{}

func (m *Manager) startStats() {}
func (m *Manager) stopStats()  {}

func (c *Conn) putDone(op string, h *handle, md *mqi.MD, size int, err error) {
	if _, rc := mqi.Reason(err); rc == mqi.MQRC_PUT_INHIBITED {
		c.inhibited(h.name, rc)
	}
}

func (c *Conn) getDone(h *handle, md *mqi.MD, gmo *mqi.GMO, size int, err error) {
	if _, rc := mqi.Reason(err); rc == mqi.MQRC_GET_INHIBITED {
		c.inhibited(h.name, rc)
	}
}
