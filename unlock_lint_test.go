package qmgrd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// guarded are the packages whose locks a panic of one client's verb must not leave behind: it is recovered, and ends that client only.
var guarded = []string{"internal/qmgr", "internal/fap", "internal/pcf", "internal/auth"}

// builtins are functions of the language that a section without defer may call: they cannot panic there.
var builtins = map[string]bool{"append": true, "len": true, "cap": true, "delete": true, "clear": true, "min": true, "max": true,
	"copy": true, "make": true, "new": true, "close": true}

// plain are the other calls under a lock that need no defer, each at its place, with the reason.
var plain = map[string]string{
	"internal/fap/outbox.go o.swap":                "it moves fields",
	"internal/fap/outbox.go o.keep":                "it moves fields, and what it calls runs in a goroutine",
	"internal/fap/outbox.go o.later":               "it moves fields, gives the lock back and starts a goroutine",
	"internal/fap/outbox.go o.over":                "it sets fields and gives the lock back",
	"internal/fap/conv.go c.stopIt":                "the end of a context",
	"internal/fap/socket.go k.deadline.Stop":       "a timer",
	"internal/qmgr/expire.go x.timer.Stop":         "a timer",
	"internal/qmgr/expire.go x.busy.Add":           "a WaitGroup that counts up",
	"internal/qmgr/stats_message.go st.timer.Stop": "a timer",
	"internal/qmgr/stats_message.go st.busy.Add":   "a WaitGroup that counts up",
	"internal/qmgr/retained_sweep.go slices.Clone": "a slice that is there",
	"internal/fap/get.go cancel":                   "the end of a context",
	"internal/qmgr/retained.go r.born.Load":        "an atomic number",
}

// TestLocksAreGivenBack: a lock is given back by a deferred call, or nothing is called in between that could panic.
func TestLocksAreGivenBack(t *testing.T) {
	seen := 0
	used := map[string]bool{}
	for _, dir := range guarded {
		names, _ := filepath.Glob(dir + "/*.go")
		own := declared(names)
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			f, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				continue // the compiler judges that
			}
			ast.Inspect(f, func(n ast.Node) bool {
				for _, list := range blocksOf(n) {
					for i, s := range list {
						lock, ok := lockCall(s)
						if !ok {
							continue
						}
						seen++
						u := &section{lock: lock, file: name, own: own, used: used}
						if bad := u.unguarded(list[i+1:]); bad != nil {
							t.Errorf("%s: %s is called while %s is locked, without defer: if it panics the lock stays",
								set.Position(bad.Pos()), types.ExprString(bad.Fun), lock)
						}
					}
				}
				return true
			})
		}
	}
	for at := range plain {
		if !used[at] {
			t.Errorf("%s is not called under a lock without defer any more", at)
		}
	}
	if seen < 100 {
		t.Fatalf("%d locks: the packages are elsewhere", seen)
	}
}

func blocksOf(n ast.Node) [][]ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return [][]ast.Stmt{n.List}
	case *ast.CaseClause:
		return [][]ast.Stmt{n.Body}
	case *ast.CommClause:
		return [][]ast.Stmt{n.Body}
	}
	return nil
}

// lockCall returns what a statement locks.
func lockCall(s ast.Stmt) (string, bool) {
	x, ok := s.(*ast.ExprStmt)
	if !ok {
		return "", false
	}
	return methodOn(x.X, "Lock", "RLock")
}

func methodOn(x ast.Expr, names ...string) (string, bool) {
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return "", false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", false
	}
	for _, n := range names {
		if sel.Sel.Name == n {
			return types.ExprString(sel.X), true
		}
	}
	return "", false
}

// declared are the functions of a package: one of a builtin's name would stand for it.
func declared(names []string) map[string]bool {
	own := map[string]bool{}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				own[fn.Name.Name] = true
			}
		}
	}
	return own
}

// section is what follows the taking of a lock.
type section struct {
	lock, file string
	own        map[string]bool // functions of the package
	used       map[string]bool // of plain
}

// harmless says whether a call is one that cannot panic.
func (u *section) harmless(call *ast.CallExpr) bool {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		if builtins[fn.Name] && fn.Obj == nil && !u.own[fn.Name] {
			return true
		}
	case *ast.ArrayType: // a conversion
		return true
	case *ast.ParenExpr:
		_, ok := fn.X.(*ast.StarExpr)
		return ok
	}
	at := u.file + " " + types.ExprString(call.Fun)
	if plain[at] == "" {
		return false
	}
	u.used[at] = true
	return true
}

// unguarded returns a call that may panic before the lock is given back.
func (u *section) unguarded(list []ast.Stmt) *ast.CallExpr {
	lock := u.lock
	for _, s := range list {
		if d, ok := s.(*ast.DeferStmt); ok {
			if on, ok := methodOn(d.Call, "Unlock", "RUnlock"); ok && on == lock {
				return nil
			}
			if lit, ok := d.Call.Fun.(*ast.FuncLit); ok && unlocks(lit.Body, lock) {
				return nil
			}
		}
		if x, ok := s.(*ast.ExprStmt); ok {
			if on, ok := methodOn(x.X, "Unlock", "RUnlock"); ok && on == lock {
				return nil
			}
		}
		if bad := u.callIn(s); bad != nil {
			return bad
		}
	}
	return nil // given back by another function, which says so
}

func unlocks(n ast.Node, lock string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if on, ok := methodOn(call, "Unlock", "RUnlock"); ok && on == lock {
				found = true
			}
		}
		return !found
	})
	return found
}

// callIn finds the first call of a statement that may panic. What stands behind an Unlock in the same block is not under the lock.
func (u *section) callIn(s ast.Stmt) (bad *ast.CallExpr) {
	ast.Inspect(s, func(n ast.Node) bool {
		if bad != nil {
			return false
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // it runs later, or in a call that is found
		case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
			for _, list := range blocksOf(n) {
				for i, s := range list {
					if x, ok := s.(*ast.ExprStmt); ok {
						if on, ok := methodOn(x.X, "Unlock", "RUnlock"); ok && on == u.lock {
							list = list[:i]
							break
						}
					}
				}
				for _, s := range list {
					if bad = u.callIn(s); bad != nil {
						return false
					}
				}
			}
			if c, ok := n.(*ast.CommClause); ok && c.Comm != nil {
				bad = u.callIn(c.Comm)
			}
			return false
		case *ast.CallExpr:
			if !u.harmless(n) {
				bad = n
				return false
			}
		}
		return true
	})
	return bad
}
