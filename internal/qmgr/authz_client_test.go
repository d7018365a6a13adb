package qmgr

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/auth"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// FAILDLAY holds up the answer to a wrong password; the log has one line with who, where, which rule.
func TestFailDelay(t *testing.T) {
	r := newAuthRig(t)
	r.log.take()
	done := make(chan error, 1)
	go func() {
		_, err := r.m.AdmitClient(bg, &ClientAttempt{Channel: "APP.CH", Addr: "10.1.2.3:4000", User: "os", ApplName: "prog",
			Credentials: Credentials{Given: true, User: "app", Password: "canary-canary"}})
		done <- err
	}()
	select {
	case err := <-done:
		t.Fatalf("answered at once: %v", err)
	case <-time.After(200 * time.Millisecond): // longer than a hash takes
	}
	var err error
	for waiting := true; waiting; {
		r.clk.Advance(time.Second)
		select {
		case err = <-done:
			waiting = false
		case <-time.After(time.Millisecond):
		}
	}
	wantRC(t, err, mqi.MQRC_NOT_AUTHORIZED)
	s := r.log.take()
	for _, w := range []string{"AMQ5540E", `"user":"app"`, `"address":"10.1.2.3:4000"`, `"channel":"APP.CH"`,
		"AUTHINFO(SYSTEM.DEFAULT.AUTHINFO.IDPWOS) CHCKCLNT(REQDADM)"} {
		if !strings.Contains(s, w) {
			t.Errorf("no %s in %s", w, s)
		}
	}
	if strings.Count(s, "\n") != 1 || strings.Contains(s, "canary") {
		t.Error(s)
	}
	ctx, cancel := context.WithCancel(bg)
	cancel()
	_, err = r.m.AdmitClient(ctx, &ClientAttempt{Channel: "APP.CH", Addr: "10.1.2.3:4000",
		Credentials: Credentials{Given: true, User: "app", Password: "wrong again"}})
	wantRC(t, err, mqi.MQRC_NOT_AUTHORIZED)
}

// The log is exact where the client learns no more than 2035: an id that nobody has, a name that would be an administrator's.
func TestRefusalsAreExact(t *testing.T) {
	r := newAuthRig(t)
	next := auth.NewUsers()
	if err := next.Set("app", "the password", []string{"staff"}); err != nil {
		t.Fatal(err)
	}
	r.host.users = next
	r.ok("REFRESH SECURITY")
	r.log.take()
	ended, cancel := context.WithCancel(bg) // no FAILDLAY
	cancel()
	_, err := r.m.AdmitClient(ended, &ClientAttempt{Channel: "APP.CH", Addr: "10.1.2.3:4000", User: "app", Credentials: Credentials{Given: true},
		Token: true})
	wantRC(t, err, mqi.MQRC_NOT_AUTHORIZED)
	if s := r.log.take(); !strings.Contains(s, "tokens are not checked here") {
		t.Error(s)
	}
	for user, want := range map[string]string{"nosuch": "there is no user nosuch in the password file", "app": "the password of user app is wrong"} {
		_, err := r.m.AdmitClient(ended, &ClientAttempt{Channel: "APP.CH", Addr: "10.1.2.3:4000",
			Credentials: Credentials{Given: true, User: user, Password: "wrong again"}})
		wantRC(t, err, mqi.MQRC_NOT_AUTHORIZED)
		if s := r.log.take(); !strings.Contains(s, want) || strings.Count(s, "\n") != 1 {
			t.Errorf("%s: %s", user, s)
		}
	}
	_, err = r.m.Connect(bg, auth.Identity{User: "root", Unproven: true, Origin: "channel APP.CH"}, ConnectOptions{Channel: "APP.CH"})
	wantRC(t, err, mqi.MQRC_NOT_AUTHORIZED)
	if s := r.log.take(); !strings.Contains(s, "user root lacks CONNECT") || !strings.Contains(s, "an administrator by the client's word alone") {
		t.Error(s)
	}
}
