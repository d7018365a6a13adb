package mqi

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestReasonName(t *testing.T) {
	for _, c := range []struct {
		rc   RC
		want string
	}{
		{0, "MQRC_NONE"},
		{MQRC_Q_FULL, "MQRC_Q_FULL"},
		{2085, "MQRC_UNKNOWN_OBJECT_NAME"},
		{MQRCCF_COMMAND_FAILED, "MQRCCF_COMMAND_FAILED"},
		{-7, "MQRC_-7"},
		{999999, "MQRC_999999"},
	} {
		if got := c.rc.Name(); got != c.want {
			t.Errorf("RC(%d).Name() = %s, want %s", c.rc, got, c.want)
		}
	}
}

func TestNameAndFlagNames(t *testing.T) {
	if got := Name("MQCHT", MQCHT_SVRCONN); got != "MQCHT_SVRCONN" {
		t.Errorf("channel type: %s", got)
	}
	if got := Name("MQNOSUCH", 3); got != "MQNOSUCH_3" {
		t.Errorf("unknown family: %s", got)
	}
	got := strings.Join(FlagNames("MQOO", MQOO_INPUT_SHARED|MQOO_OUTPUT|MQOO_FAIL_IF_QUIESCING), ",")
	if want := "MQOO_INPUT_SHARED,MQOO_OUTPUT,MQOO_FAIL_IF_QUIESCING"; got != want {
		t.Errorf("flags: %s, want %s", got, want)
	}
}

// Every reason code of the table has a name that leads back to its number.
func TestFamiliesAreSortedAndComplete(t *testing.T) {
	for _, f := range families {
		for i, n := range f.names {
			if i > 0 && f.names[i-1].num >= n.num {
				t.Errorf("%s: %s is out of order", f.prefix, n.name)
			}
			if got := Name(f.prefix, n.num); got != n.name {
				t.Errorf("Name(%s, %d) = %s, want %s", f.prefix, n.num, got, n.name)
			}
		}
	}
	data, err := os.ReadFile("constants.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(data), "\n") {
		name, value, ok := strings.Cut(line, "\t")
		if !ok || !strings.HasPrefix(name, "MQRC_") {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil {
			t.Fatal(err)
		}
		if got := RC(n).Name(); got != name {
			t.Errorf("RC(%d).Name() = %s, want %s", n, got, name)
		}
	}
}

func TestGeneratedFilesAreCurrent(t *testing.T) {
	dir := t.TempDir()
	src, err := os.ReadFile("constants.tsv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "constants.tsv"), src, 0o600); err != nil {
		t.Fatal(err)
	}
	gen, err := filepath.Abs("gen/main.go")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", gen)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("generator: %v\n%s", err, out)
	}
	for _, f := range []string{"const_gen.go", "names_gen.go"} {
		want, err := os.ReadFile(filepath.Join(dir, f))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(f); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is stale: run go generate ./internal/mqi (%v)", f, err)
		}
	}
}
