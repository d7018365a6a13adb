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

// harmless are calls that a section without defer may make: they cannot panic there.
var harmless = map[string]bool{"append": true, "len": true, "cap": true, "delete": true, "clear": true, "min": true, "max": true, "copy": true,
	"make": true, "new": true, "close": true, "Broadcast": true, "Signal": true, "Load": true, "Store": true, "Stop": true, "Add": true,
	"cancel": true, "stopIt": true, // of contexts
	"slices.Clone": true, "slices.DeleteFunc": true}

// plain are functions whose calls under a lock need no defer, with the reason.
var plain = map[string]string{
	"internal/fap/outbox.go o.swap":  "it moves fields",
	"internal/fap/outbox.go o.keep":  "it moves fields, and what it calls runs in a goroutine",
	"internal/fap/outbox.go o.later": "it moves fields, gives the lock back and starts a goroutine",
	"internal/fap/outbox.go o.over":  "it sets fields and gives the lock back",
}

// TestLocksAreGivenBack: a lock is given back by a deferred call, or nothing is called in between that could panic.
func TestLocksAreGivenBack(t *testing.T) {
	seen := 0
	for _, dir := range guarded {
		names, _ := filepath.Glob(dir + "/*.go")
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
						if bad := unguarded(list[i+1:], lock, name); bad != nil {
							t.Errorf("%s: %s is called while %s is locked, without defer: if it panics the lock stays",
								set.Position(bad.Pos()), types.ExprString(bad.Fun), lock)
						}
					}
				}
				return true
			})
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

// unguarded returns a call that may panic before the lock is given back.
func unguarded(list []ast.Stmt, lock, file string) *ast.CallExpr {
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
		if bad := callIn(s, lock, file); bad != nil {
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
func callIn(s ast.Stmt, lock, file string) (bad *ast.CallExpr) {
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
						if on, ok := methodOn(x.X, "Unlock", "RUnlock"); ok && on == lock {
							list = list[:i]
							break
						}
					}
				}
				for _, s := range list {
					if bad = callIn(s, lock, file); bad != nil {
						return false
					}
				}
			}
			if c, ok := n.(*ast.CommClause); ok && c.Comm != nil {
				bad = callIn(c.Comm, lock, file)
			}
			return false
		case *ast.CallExpr:
			name := ""
			if plain[file+" "+types.ExprString(n.Fun)] != "" {
				return true
			}
			switch fn := n.Fun.(type) {
			case *ast.Ident:
				name = fn.Name
			case *ast.SelectorExpr:
				name = fn.Sel.Name
				if harmless[types.ExprString(fn)] {
					return true
				}
			case *ast.ArrayType:
				name = "make"
			case *ast.ParenExpr:
				name = "make"
			}
			if !harmless[name] {
				bad = n
				return false
			}
		}
		return true
	})
	return bad
}
