package daemon

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/paths"
	"github.com/qmgrd/qmgrd/internal/vfs"
	"github.com/qmgrd/qmgrd/internal/vfs/errfs"
)

// A full disk is named to who puts, in the error log once, and by the readiness probe, until there is room again.
func TestFullDiskSaysSo(t *testing.T) {
	data := t.TempDir()
	disk := errfs.New(vfs.OS())
	ready, done := make(chan struct{}), make(chan error, 1)
	stops := make(chan StopRequest, 1)
	go func() {
		done <- Run(context.Background(), Options{Name: "QM1", DataDir: data, Create: true, FS: disk, Log: io.Discard,
			Stops: stops, Ready: func() { close(ready) }, Exit: func(int) {}})
	}()
	<-ready
	tr := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return paths.DialUnix(ctx, paths.Socket(data, "QM1"))
	}}
	ask := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequest(method, "http://q"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("ibm-mq-rest-csrf-token", "")
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	line := strings.Repeat("x", 1<<20)
	frame := string(binary.BigEndian.AppendUint32(nil, uint32(len(line)))) + line
	put := func() (int, string) {
		return ask("POST", "/qmgrd/put?queue=SYSTEM.DEFAULT.LOCAL.QUEUE&persistent=yes", frame)
	}
	disk.SetRoom(0)
	var said string
	for range 200 { // what is allocated already takes some
		if _, said = put(); strings.Contains(said, `"error"`) {
			break
		}
	}
	if !strings.Contains(said, "disk") || !strings.Contains(said, "full") || !strings.Contains(said, `"reasonCode":20`) {
		t.Errorf("put on a full disk: %.300s", said)
	}
	for range 3 { // what needs no room goes on meanwhile, and says nothing of the disk
		if _, b := ask("POST", "/qmgrd/put?queue=SYSTEM.DEFAULT.LOCAL.QUEUE&persistent=no", "\x00\x00\x00\x01x"); !strings.Contains(b, `"end":1`) {
			t.Errorf("nonpersistent put on a full disk: %s", b)
		}
		if code, b := ask("POST", "/qmgrd/get?queue=SYSTEM.DEFAULT.LOCAL.QUEUE&count=1&ack=no", ""); code != http.StatusOK {
			t.Errorf("get on a full disk: %d %.300s", code, b)
		}
		put()
	}
	ask("POST", "/qmgrd/get?queue=SYSTEM.DEFAULT.LOCAL.QUEUE&count=1&ack=no", "")
	if code, b := ask("GET", "/readyz", ""); code != http.StatusServiceUnavailable || !strings.Contains(b, "disk is full") {
		t.Errorf("/readyz: %d %s", code, b)
	}
	if code, _ := ask("GET", "/healthz", ""); code != http.StatusOK {
		t.Errorf("/healthz: %d", code)
	}
	log, err := os.ReadFile(filepath.Join(paths.Dir(data, "QM1"), errorsDir, "AMQERR01.LOG"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "AMQ7463E"); n != 1 {
		t.Errorf("%d entries AMQ7463E in the error log, want 1:\n%s", n, log)
	}
	if n := strings.Count(string(log), "AMQ7474I"); n != 0 {
		t.Errorf("%d entries AMQ7474I in the error log before there is room:\n%s", n, log)
	}
	disk.SetRoom(1 << 40)
	if _, b := put(); !strings.Contains(b, `"end":1`) {
		t.Errorf("put with room again: %s", b)
	}
	if code, b := ask("GET", "/readyz", ""); code != http.StatusOK {
		t.Errorf("/readyz with room again: %d %s", code, b)
	}
	stops <- StopRequest{Why: "test"}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Values that no queue manager can have are refused before a directory is made.
func TestCreateChecksItsOptions(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	for _, o := range []CreateOptions{{DeadQ: "bad name"}, {DefXmitQ: strings.Repeat("X", 49)}, {Port: 65536}, {Port: -1}} {
		o.Name, o.DataDir = "QM1", data
		if _, err := Create(context.Background(), o); !errors.Is(err, ErrBadOption) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(context.Background(), CreateOptions{Name: "QM1", DataDir: file}); err == nil ||
		!strings.Contains(err.Error(), "data directory "+file) {
		t.Errorf("a file as data directory: %v", err)
	}
}
