package web

import (
	"net/http"
	"strings"
	"testing"
)

// The door for metrics alone gives them to everybody, and has nothing else.
func TestMetricsAlone(t *testing.T) {
	s := NewMetrics(newServer(t).opt)
	w := request(s, false, http.MethodGet, "/metrics", "", "")
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `ibmmq_qmgr_status{platform="UNIX",qmgr="QM1"} 2`) {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	for _, x := range [][2]string{{http.MethodPost, mqscPath}, {http.MethodPost, "/qmgrd/stop"}, {http.MethodGet, "/qmgrd/export"}, {http.MethodGet, "/"}} {
		if w := request(s, true, x[0], x[1], "application/json", "{}"); w.Code != http.StatusNotFound {
			t.Errorf("%s %s: %d %s", x[0], x[1], w.Code, w.Body)
		}
	}
	if w := request(s, true, http.MethodPost, "/metrics", "", ""); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}
