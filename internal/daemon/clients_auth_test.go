package daemon

import (
	"testing"

	"github.com/qmgrd/qmgrd/internal/fap"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// What a client gives is given, though nobody can check it: a token is not taken for no credentials.
func TestCredentials(t *testing.T) {
	for _, c := range []struct {
		name string
		r    fap.ConnectRequest
		want qmgr.ClientAttempt
	}{
		{"none", fap.ConnectRequest{}, qmgr.ClientAttempt{}},
		{"a password", fap.ConnectRequest{Auth: &wire.ConAuth{AuthType: 1, User: "app", Password: "p"}, Protected: true},
			qmgr.ClientAttempt{Credentials: qmgr.Credentials{Given: true, User: "app", Password: "p"}, Unreadable: true}},
		{"blank", fap.ConnectRequest{Auth: &wire.ConAuth{AuthType: 1}}, qmgr.ClientAttempt{}},
		{"compatibility mode", fap.ConnectRequest{User: "app", Password: "p"},
			qmgr.ClientAttempt{Credentials: qmgr.Credentials{Given: true, User: "app", Password: "p"}}},
		{"a token", fap.ConnectRequest{Auth: &wire.ConAuth{Token: "t"}},
			qmgr.ClientAttempt{Credentials: qmgr.Credentials{Given: true}, Token: true}},
		{"a token by its type", fap.ConnectRequest{Auth: &wire.ConAuth{AuthType: 2}},
			qmgr.ClientAttempt{Credentials: qmgr.Credentials{Given: true}, Token: true}},
		{"both", fap.ConnectRequest{Auth: &wire.ConAuth{AuthType: 1, User: "app", Password: "p", Token: "t"}},
			qmgr.ClientAttempt{Credentials: qmgr.Credentials{Given: true, User: "app"}, Token: true}},
	} {
		a := qmgr.ClientAttempt{}
		credentials(&a, &c.r)
		if a.Credentials != c.want.Credentials || a.Token != c.want.Token || a.Unreadable != c.want.Unreadable {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
}
