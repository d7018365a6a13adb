package daemon

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/qmgrd/qmgrd/internal/clock"
	"github.com/qmgrd/qmgrd/internal/qmgr"
)

// A start ends the programs that a killed run left behind, and nothing else: not a process that has such a number by now.
func TestLeftoversAreEnded(t *testing.T) {
	var buf bytes.Buffer
	log := zerolog.New(&buf)
	dir := t.TempDir()
	killed := zerolog.Nop()
	h := newServices(&killed, dir, clock.Real())
	pid, err := h.Start(qmgr.ServiceSpec{Name: "S1", StartCmd: "/bin/sleep", StartArg: "100", Server: true})
	if err != nil {
		t.Fatal(err)
	}
	other := exec.Command("/bin/sleep", "100")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	list := filepath.Join(dir, childrenName)
	b, err := os.ReadFile(list)
	if err != nil || !strings.HasPrefix(string(b), fmt.Sprintf("%d ", pid)) || !strings.HasSuffix(string(b), " S1\n") {
		t.Fatalf("%q, %v", b, err)
	}
	b = fmt.Appendf(b, "%d 1 S2\nx y\n1 1 S3\n-5 %s S4\n", other.Process.Pid, childStart(other.Process.Pid))
	if err := os.WriteFile(list, b, 0o600); err != nil {
		t.Fatal(err)
	}
	newServices(&log, dir, clock.Real()).endLeftovers()
	h.children.Wait() // the first run's own wait sees it end
	if childStart(pid) != "" {
		t.Error("the program still runs")
	}
	if childStart(other.Process.Pid) == "" {
		t.Error("another process was ended")
	}
	if n := strings.Count(buf.String(), "left over"); n != 1 || !strings.Contains(buf.String(), `"service":"S1"`) {
		t.Errorf("said %d times: %s", n, buf.String())
	}
	if _, err := os.Stat(list); err == nil {
		t.Error("the list is still there")
	}
}
