package qmgrd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// engines are the packages that get time from clock and files from vfs (ARCHITECTURE.md, invariant 7).
var engines = []string{"internal/mqi", "internal/attr", "internal/mqsc", "internal/esql", "internal/pubsub", "internal/xmitq",
	"internal/store", "internal/qmgr", "internal/channel", "internal/pcf"}

// outside are calls that reach the machine past clock and vfs, by package.
var outside = map[string]string{
	"time":         "Now Sleep Since Until After AfterFunc Tick NewTimer NewTicker",
	"os":           "Open OpenFile Create CreateTemp ReadFile WriteFile Mkdir MkdirAll MkdirTemp Remove RemoveAll Rename ReadDir Stat Lstat Truncate",
	"math/rand":    "*",
	"math/rand/v2": "*",
}

// allowed are the uses that do no harm, with the reason.
var allowed = map[string]string{
	"internal/attr/effects/page.go os":      "it writes docs/compatibility.md at generate time; no engine imports it",
	"internal/qmgr/runtime.go math/rand/v2": "the start of the identifiers, which must differ from run to run",
}

// TestEnginesUseClockAndVFS reads every file of the engines.
func TestEnginesUseClockAndVFS(t *testing.T) {
	files := 0
	for _, dir := range engines {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			if base := filepath.Base(filepath.Dir(name)); base == "storetest" || strings.Contains(name, "/gen/") ||
				strings.Contains(name, "/internal/") && base == "gen" {
				return nil
			}
			files++
			lintEngine(t, name)
			return nil
		})
		if err != nil && !strings.Contains(err.Error(), "no such file") {
			t.Fatal(err)
		}
	}
	if files < 50 {
		t.Fatalf("%d files: the engines are elsewhere", files)
	}
}

func lintEngine(t *testing.T, name string) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, name, nil, 0)
	if err != nil || f.Name.Name == "main" {
		return // generators, and files that somebody is writing: the compiler judges those
	}
	names := map[string]string{} // local name → import path
	for _, imp := range f.Imports {
		p, _ := strconv.Unquote(imp.Path.Value)
		calls, ok := outside[p]
		if !ok || allowed[name+" "+p] != "" {
			continue
		}
		local := filepath.Base(p)
		if local == "v2" {
			local = "rand"
		}
		if imp.Name != nil {
			local = imp.Name.Name
		}
		if calls == "*" {
			t.Errorf("%s imports %s: chance comes from the caller", name, p)
			continue
		}
		names[local] = calls
	}
	ast.Inspect(f, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok || id.Obj != nil {
			return true
		}
		for _, call := range strings.Fields(names[id.Name]) {
			if call == sel.Sel.Name {
				t.Errorf("%s: %s.%s: use clock or vfs", set.Position(sel.Pos()), id.Name, call)
			}
		}
		return true
	})
}

// watched are the packages whose locks the instrument of internal/invariants knows (internal/qmgr/LOCKS.md).
var watched = []string{"internal/auth", "internal/daemon", "internal/fap", "internal/pcf", "internal/pubsub", "internal/qmgr", "internal/store",
	"internal/web", "internal/xmitq"}

// unwatched are locks that may be plain ones, with the reason.
var unwatched = map[string]string{
	"internal/fap/memory/memory.go": "a manager for tests of the protocol; the product has another",
}

// TestLocksAreWatched: a plain mutex would hide from the instrument what is held over a sync or a write to a peer.
func TestLocksAreWatched(t *testing.T) {
	files := 0
	for _, dir := range watched {
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || unwatched[name] != "" ||
				filepath.Base(filepath.Dir(name)) == "storetest" {
				return err
			}
			files++
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				return nil
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if id, ok := sel.X.(*ast.Ident); ok && id.Name == "sync" && (sel.Sel.Name == "Mutex" || sel.Sel.Name == "RWMutex") {
						t.Errorf("%s: sync.%s: use a lock of internal/invariants", set.Position(sel.Pos()), sel.Sel.Name)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 200 {
		t.Fatalf("%d files: the locks are elsewhere", files)
	}
}
