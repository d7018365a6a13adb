package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var corpusHeader = regexp.MustCompile(`commands: (\d+), syntax errors: (\d+), failed: (\d+)`)

// own are our counts where the corpus leaves them open (docs/compatibility.md): 27 needs a queue-sharing group, which
// a new manager is not in; 31 is uncertain by intent.
var own = map[string]string{"27-queue-sharing-group.mqsc": "5 0 3", "31-uncertain.mqsc": "13 7 1"}

// closing reads the three closing lines of a report.
func closing(out []byte) (string, error) {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) < 3 {
		return "", fmt.Errorf("no closing lines: %s", out)
	}
	var got []string
	for _, l := range lines[len(lines)-3:] {
		n, _, _ := strings.Cut(l, " ")
		switch n {
		case "No", "All":
			n = "0"
		case "One":
			n = "1"
		}
		got = append(got, n)
	}
	return strings.Join(got, " "), nil
}

// TestCorpusPiped pipes every script of the corpus into runmqsc on a manager of its own; the headers hold the counts.
func TestCorpusPiped(t *testing.T) {
	files, err := filepath.Glob("../../testdata/mqsc/corpus/*.mqsc")
	if err != nil || len(files) < 31 {
		t.Fatalf("corpus: %d files, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(filepath.Base(f), func(t *testing.T) { runCorpusFile(t, f) })
	}
}

func runCorpusFile(t *testing.T, file string) {
	data := t.TempDir()
	if _, err := qmgrd(data, nil, "start", "QM1", "--create", "--detach"); err != nil {
		t.Fatal(err)
	}
	defer killAll(data)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	// The scripts name one port; any that is free does, so that another manager on this machine is not in the way.
	text = bytes.ReplaceAll(text, []byte("21414"), []byte(freePort(t.Fatal)))
	want, ok := own[filepath.Base(file)]
	if !ok {
		m := corpusHeader.FindSubmatch(text)
		if m == nil {
			t.Fatal("no header")
		}
		want = fmt.Sprintf("%s %s %s", m[1], m[2], m[3])
	}
	out, err := tool("runmqsc", data, bytes.NewReader(text), "QM1")
	code := 0
	var x *exec.ExitError
	if errors.As(err, &x) {
		code, err = x.ExitCode(), nil
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := closing(out)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("commands, syntax errors, failed: %s, want %s\n%s", got, want, out)
	}
	wantCode := 10
	if strings.HasSuffix(got, " 0 0") {
		wantCode = 0
	}
	if code != wantCode {
		t.Errorf("exit code %d for %s", code, got)
	}
	if _, err := qmgrd(data, nil, "stop", "QM1", "-i", "-w"); err != nil {
		t.Error(err)
	}
	if out, err := qmgrd(data, nil, "check", "QM1"); err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}
}
