// Package qmgrd_test checks what holds for the tree as a whole.
package qmgrd_test

import (
	"encoding/json"
	"os/exec"
	"sort"
	"strings"
	"testing"
)

const module = "github.com/qmgrd/qmgrd/"

// layers is the diagram of ARCHITECTURE.md. A package may import any lower layer, never one of its own.
var layers = []struct {
	level int
	pkgs  string
}{
	{0, "internal/clock internal/vfs internal/obs internal/invariants internal/paths internal/leaks"},
	{1, "internal/mqi internal/attr internal/mqsc internal/esql"},
	{2, "internal/pubsub internal/xmitq internal/auth internal/store internal/sharing"},
	{3, "internal/qmgr"},
	{4, "internal/web internal/fap internal/channel internal/pcf internal/flow internal/aggr"},
	{5, "internal/daemon"},
	{6, "cmd/qmgrd cmd/runmqsc internal/crashtest internal/fap/testserver"}, // programs
}

// within holds the arrows inside one layer: L1's, fakes to what they stand for, and those ARCHITECTURE.md names.
var within = map[string]string{
	"internal/mqsc":        "internal/attr internal/mqi",
	"internal/attr":        "internal/mqi",
	"internal/channel":     "internal/fap",
	"internal/flow":        "internal/aggr",
	"internal/vfs":         "internal/invariants",
	"internal/vfs/crashfs": "internal/vfs",
	"internal/vfs/errfs":   "internal/vfs",
}

// barred is what a package must not import although its layer would allow it.
var barred = map[string]string{
	"cmd/runmqsc": "internal/qmgr internal/store internal/daemon internal/pubsub internal/xmitq",
}

// only names third-party modules that one part of the tree alone may import.
var only = map[string]string{
	"go.etcd.io/bbolt":                    "internal/store",
	"github.com/spf13/cobra":              "cmd/",
	"github.com/chzyer/readline":          "cmd/",
	"github.com/prometheus/client_golang": "internal/obs internal/web",
	"go.etcd.io/etcd":                     "internal/sharing",
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for dec.More() {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs
}

// home is the longest entry of the layer table that p is or lies below.
func home(p string) (string, int, bool) {
	best, level := "", 0
	for _, l := range layers {
		for _, e := range strings.Fields(l.pkgs) {
			if (p == e || strings.HasPrefix(p, e+"/")) && len(e) > len(best) {
				best, level = e, l.level
			}
		}
	}
	return best, level, best != ""
}

func under(list, p string) bool {
	for _, e := range strings.Fields(list) {
		if p == e || strings.HasPrefix(p, strings.TrimSuffix(e, "/")+"/") {
			return true
		}
	}
	return false
}

// TestLayers: imports only point down (ARCHITECTURE.md, invariant 5).
func TestLayers(t *testing.T) {
	var outside []string
	for _, p := range listPackages(t) {
		from := strings.TrimPrefix(p.ImportPath, module)
		fromHome, fromLevel, ok := home(from)
		if !ok {
			if from != strings.TrimSuffix(module, "/") && !strings.HasPrefix(from, "mq") {
				outside = append(outside, from)
			}
			continue
		}
		for _, imp := range p.Imports {
			checkImport(t, from, fromHome, fromLevel, imp)
		}
	}
	sort.Strings(outside)
	for _, p := range outside {
		t.Errorf("%s has no place in the layers: add it to ARCHITECTURE.md and to this test", p)
	}
}

func checkImport(t *testing.T, from, fromHome string, fromLevel int, imp string) {
	t.Helper()
	to, ours := strings.CutPrefix(imp, module)
	if !ours {
		for mod, where := range only {
			if (imp == mod || strings.HasPrefix(imp, mod+"/")) && !under(where, from) {
				t.Errorf("%s imports %s, which is for %s alone", from, mod, where)
			}
		}
		return
	}
	toHome, toLevel, ok := home(to)
	switch {
	case !ok || toHome == fromHome:
	case under(barred[fromHome], to):
		t.Errorf("%s must not import %s", from, to)
	case toLevel < fromLevel:
	case under(within[from], to), under(within[fromHome], to):
	default:
		t.Errorf("%s (layer %d) imports %s (layer %d)", from, fromLevel, to, toLevel)
	}
}
