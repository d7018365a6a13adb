package web

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// command runs one command as an administrator.
func command(t *testing.T, s *Server, text string) {
	t.Helper()
	c, serr := mqsc.ParseCommand(text)
	if serr != nil {
		t.Fatal(serr)
	}
	ex := Executor{s.opt.Manager, s.opt.Admins.Identify(Peer{})}
	if r := ex.Submit(t.Context(), c).Wait(t.Context()); r.Failed() {
		t.Fatalf("%s: %+v", text, r.Msgs)
	}
}

// Who is no administrator may do with messages what the authority records say, and nothing else.
func TestMessagingByAuthority(t *testing.T) {
	s := newServer(t)
	command(t, s, "DEFINE QLOCAL(A.Q)")
	command(t, s, "SET AUTHREC OBJTYPE(QMGR) PRINCIPAL('someone') AUTHADD(CONNECT)")
	command(t, s, "SET AUTHREC OBJTYPE(QUEUE) PROFILE('A.**') PRINCIPAL('someone') AUTHADD(PUT)")
	const path = "/ibmmq/rest/v2/messaging/qmgr/QM1/queue/A.Q/message"
	if w := request(s, false, "POST", path, "text/plain;charset=utf-8", "hello"); w.Code != http.StatusCreated {
		t.Errorf("put: %d %s", w.Code, w.Body)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if w := request(s, false, method, path, "", ""); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "2035") {
			t.Errorf("%s: %d %s", method, w.Code, w.Body)
		}
	}
	if w := request(s, false, "POST", "/qmgrd/publish?topic=x", "", ""); w.Code != http.StatusForbidden {
		t.Errorf("publish: %d %s", w.Code, w.Body)
	}
	command(t, s, "SET AUTHREC OBJTYPE(QUEUE) PROFILE('A.Q') PRINCIPAL('someone') AUTHADD(GET,BROWSE)")
	if w := request(s, false, "DELETE", path, "", ""); w.Code != http.StatusOK || w.Body.String() != "hello" {
		t.Errorf("get: %d %s", w.Code, w.Body)
	}
}

// CHCKLOCL(REQUIRED) wants credentials of everybody, and wrong ones are refused under OPTIONAL too.
func TestMessagingWithPassword(t *testing.T) {
	s := newServer(t)
	command(t, s, "ALTER AUTHINFO(SYSTEM.DEFAULT.AUTHINFO.IDPWOS) AUTHTYPE(IDPWOS) FAILDLAY(0)")
	command(t, s, "REFRESH SECURITY")
	post := func(password string) int {
		r := httptest.NewRequest("POST", "/ibmmq/rest/v2/messaging/qmgr/QM1/queue/SYSTEM.DEFAULT.LOCAL.QUEUE/message",
			strings.NewReader("x"))
		r.Header.Set("ibm-mq-rest-csrf-token", "")
		r.Header.Set("Content-Type", "text/plain;charset=utf-8")
		r.Host = "localhost"
		if password != "" {
			r.SetBasicAuth("someone", password)
		}
		r = r.WithContext(context.WithValue(r.Context(), identityKey{}, s.opt.Admins.Identify(Peer{})))
		w := httptest.NewRecorder()
		s.http.Handler.ServeHTTP(w, r)
		return w.Code
	}
	if code := post(""); code != http.StatusCreated {
		t.Errorf("without a password: %d", code)
	}
	if code := post("wrong"); code != http.StatusForbidden {
		t.Errorf("with a wrong one: %d", code)
	}
	command(t, s, "ALTER AUTHINFO(SYSTEM.DEFAULT.AUTHINFO.IDPWOS) AUTHTYPE(IDPWOS) CHCKLOCL(REQUIRED)")
	command(t, s, "REFRESH SECURITY TYPE(CONNAUTH)")
	if code := post(""); code != http.StatusForbidden {
		t.Errorf("with CHCKLOCL(REQUIRED): %d", code)
	}
}
