package qmgr

import (
	"strconv"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// filterFits reports whether the operator of a WHERE can be used with its attribute's type.
func filterFits(f *attr.Filter) bool {
	switch f.Attr.Type {
	case attr.TListName, attr.TListString, attr.TListEnum:
		switch f.Op {
		case "CT", "EX", "CTG", "EXG":
			return true
		}
		// A list that holds one value is compared as a whole (USERLIST, NAMES of one).
		return f.Op == "EQ" || f.Op == "NE" || f.Op == "LK" || f.Op == "NL"
	case attr.TEnum, attr.TFlag:
		return f.Op == "EQ" || f.Op == "NE"
	case attr.TInt:
		if _, err := strconv.ParseInt(f.Val, 10, 64); err != nil {
			return false
		}
		return orderOp(f.Op)
	case attr.TIntOrEnum:
		if _, err := strconv.ParseInt(f.Val, 10, 64); err != nil {
			return f.Op == "EQ" || f.Op == "NE"
		}
		return orderOp(f.Op)
	case attr.TGroup:
		return false
	}
	return orderOp(f.Op) || f.Op == "LK" || f.Op == "NL"
}

func orderOp(op string) bool {
	switch op {
	case "LT", "GT", "EQ", "NE", "LE", "GE":
		return true
	}
	return false
}

// filterMatches evaluates a WHERE on one value in its canonical text.
func filterMatches(f *attr.Filter, a *attr.Attr, v string) bool {
	switch f.Op {
	case "LK":
		return generic(f.Val, v)
	case "NL":
		return !generic(f.Val, v)
	case "CT":
		return anyItem(v, func(s string) bool { return s == f.Val })
	case "EX":
		return !anyItem(v, func(s string) bool { return s == f.Val })
	case "CTG":
		return anyItem(v, func(s string) bool { return generic(f.Val, s) })
	case "EXG":
		return !anyItem(v, func(s string) bool { return generic(f.Val, s) })
	}
	if a.Type == attr.TFlag {
		return holds(f.Op, compareText(v, flagText(f.Val, a)))
	}
	x, err1 := strconv.ParseInt(v, 10, 64)
	y, err2 := strconv.ParseInt(f.Val, 10, 64)
	numeric := a.Type == attr.TInt || a.Type == attr.TIntOrEnum
	switch {
	case numeric && err1 == nil && err2 == nil:
		switch {
		case x < y:
			return holds(f.Op, -1)
		case x > y:
			return holds(f.Op, 1)
		}
		return holds(f.Op, 0)
	case numeric && (err1 == nil) != (err2 == nil):
		return f.Op == "NE" // a number is never a word
	}
	return holds(f.Op, compareText(v, f.Val))
}

// flagText takes SHARE, NOSHARE, YES and NO to the canonical YES and NO.
func flagText(s string, a *attr.Attr) string {
	switch s {
	case a.Name:
		return "YES"
	case "NO" + a.Name:
		return "NO"
	}
	return s
}

func compareText(a, b string) int {
	return strings.Compare(strings.TrimRight(a, " "), strings.TrimRight(b, " "))
}

func holds(op string, c int) bool {
	switch op {
	case "LT":
		return c < 0
	case "GT":
		return c > 0
	case "EQ":
		return c == 0
	case "NE":
		return c != 0
	case "LE":
		return c <= 0
	case "GE":
		return c >= 0
	}
	return false
}

func anyItem(list string, f func(string) bool) bool {
	for _, s := range items(list) {
		if f(s) {
			return true
		}
	}
	return false
}
