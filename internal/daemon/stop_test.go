package daemon

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/mq"
)

// askToStop is what qmgrd stop sends.
func askToStop(t *testing.T, data, query string) {
	t.Helper()
	tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return paths.DialUnix(ctx, paths.Socket(data, "QM1"))
	}}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequest(http.MethodPost, "http://qmgrd/qmgrd/stop?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("ibm-mq-rest-csrf-token", "")
	r, err := (&http.Client{Transport: tr}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusAccepted {
		t.Fatal(r.Status)
	}
}

// Whose quiesced queue manager does not end asks once more, with -r: clients that connect again by themselves are sent away then, too.
func TestSecondStopSendsClientsAway(t *testing.T) {
	ctx, data := context.Background(), t.TempDir()
	if _, err := Create(ctx, CreateOptions{DataDir: data, Name: "QM1"}); err != nil {
		t.Fatal(err)
	}
	name, _ := account()
	script := filepath.Join(t.TempDir(), "setup.mqsc")
	if err := os.WriteFile(script, []byte("DEFINE CHANNEL(C) CHLTYPE(SVRCONN) MCAUSER('"+name+"')\n"+
		"ALTER QMGR CHLAUTH(DISABLED) CONNAUTH(' ')\nREFRESH SECURITY TYPE(CONNAUTH)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{DataDir: data, Name: "QM1", Listen: "127.0.0.1:0", Scripts: []string{script}, Log: &bytes.Buffer{},
			Ready: func() { close(ready) }})
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	st, err := StatusOf(ctx, data, "QM1")
	if err != nil {
		t.Fatal(err)
	}
	c, err := mq.Connect(ctx, mq.Options{Addr: st.Listeners[0].Address, Channel: "C", Reconnect: &mq.Reconnect{}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	askToStop(t, data, "mode=quiesce")
	<-c.Quiescing()
	askToStop(t, data, "mode=quiesce&reconnect=true")
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the queue manager waits for a client that connects again by itself")
		askToStop(t, data, "mode=immediate")
		<-ended
	}
}
