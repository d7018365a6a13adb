package mqsc

// WHERE(keyword operator value), and the keywords that a command cannot do without.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// filterID is the message of a filter that cannot be.
const filterID = "AMQ8569E"

var (
	compareOps = []string{"LT", "GT", "EQ", "NE", "LE", "GE"}
	likeOps    = []string{"LK", "NL"}
	listOps    = []string{"CT", "EX", "CTG", "EXG"}
)

// unfiltered are the keywords that no filter may name (facts/mqsc.md §3).
var unfiltered = map[string]bool{"CMDSCOPE": true, "MONITOR": true, "OPENTYPE": true, "QTIME": true, "TYPE": true, "URID": true,
	"ALL": true, "WHERE": true}

// where parses a filter.
func (c *checker) where(p *rawParam) *SyntaxError {
	if c.cmd.Where != nil {
		return at(p, "WHERE is given twice", "a command has one filter")
	}
	const form = "write WHERE(KEYWORD EQ value)"
	if len(p.items) != 3 {
		return at(p, "a filter has a keyword, an operator and a value", form)
	}
	for _, it := range p.items[:2] {
		if it.quoted {
			return &SyntaxError{Pos: it.pos, End: p.end, Text: "the keyword and the operator of a filter stand without quotes", Hint: form}
		}
	}
	key := &rawParam{key: p.items[0].text, pos: p.items[0].pos, end: p.items[0].end}
	k, ok := c.lookup(upper(key.key))
	if !ok || !k.asked && !k.valued {
		e := c.unknown(key, upper(key.key))
		e.End = p.end
		return e
	}
	fail := func(it *item, text, hint string) *SyntaxError {
		return &SyntaxError{ID: filterID, Pos: it.pos, End: p.end, Text: text, Hint: hint}
	}
	if unfiltered[k.name] || k.row != nil && k.row.Type == attr.TGroup {
		return fail(&p.items[0], k.name+" cannot be filtered by", "name another attribute")
	}
	op := upper(p.items[1].text)
	ops := opsOf(k.row)
	if !slices.Contains(ops, op) {
		return fail(&p.items[1], fmt.Sprintf("%s is not an operator for %s", quoteWord(p.items[1].text), k.name),
			"one of "+strings.Join(ops, " "))
	}
	val, text := filterValue(k.row, op, p.items[2].text)
	if text != "" {
		return fail(&p.items[2], text, "write "+syntaxOf(&k))
	}
	c.cmd.Where = &attr.Filter{Key: k.name, Op: op, Val: val, Attr: k.row}
	return nil
}

// opsOf lists the operators for an attribute.
func opsOf(row *attr.Attr) []string {
	if row == nil {
		return compareOps
	}
	switch {
	case row.IsList():
		return listOps
	case row.Type == attr.TEnum, row.Type == attr.TFlag:
		return []string{"EQ", "NE"}
	case row.Type == attr.TInt, row.Type == attr.TIntOrEnum:
		return compareOps
	}
	return append(slices.Clone(compareOps), likeOps...)
}

// filterValue gives the canonical value of a filter, or what is wrong with it.
func filterValue(row *attr.Attr, op, v string) (string, string) {
	if row == nil {
		return v, ""
	}
	switch row.Type {
	case attr.TInt, attr.TIntOrEnum, attr.TEnum:
		canon, err := attr.CheckValue(row, v)
		if err != nil {
			// A bound that no object can have is still a comparison: CURDEPTH GT 0, MAXDEPTH GE 0.
			if n, ok := number(v); ok && row.Type != attr.TEnum {
				return n, ""
			}
			return "", err.Error()
		}
		return canon, ""
	case attr.TFlag:
		switch v {
		case "YES", "NO":
			return v, ""
		case row.Name:
			return "YES", ""
		case row.Neg:
			return "NO", ""
		}
		return "", fmt.Sprintf("%s is not a value of %s", quoteWord(v), row.Name)
	}
	if row.Type == attr.THex {
		v = upper(v)
	}
	if op == "LK" || op == "NL" || op == "CTG" || op == "EXG" {
		if n := strings.IndexByte(v, '*'); n >= 0 && n < len(v)-1 {
			return "", "the * of a generic value must be its last character"
		}
	}
	return strings.TrimRight(v, " "), ""
}

// number gives an integer in canonical form.
func number(v string) (string, bool) {
	sign, digits := "", v
	if d, ok := strings.CutPrefix(v, "-"); ok {
		sign, digits = "-", d
	}
	if digits == "" || len(digits) > 18 || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" {
		return "0", true
	}
	return sign + digits, true
}

// required reports a keyword that the command cannot do without.
func (c *checker) required() *SyntaxError {
	cmd := c.cmd
	missing := cmd.Spec.Missing(cmd.Get)
	end := len(c.raw.text)
	if len(missing) > 0 {
		return &SyntaxError{Pos: end, End: end, Text: missing[0] + " is missing",
			Hint: fmt.Sprintf("%s %s needs it", cmd.Verb, c.kindName())}
	}
	if cmd.Verb == "ALTER" && cmd.Object == "QMGR" && !slices.ContainsFunc(cmd.Params, func(p attr.Param) bool {
		return p.Attr == nil || p.Attr.Alter == attr.Yes
	}) {
		return &SyntaxError{Pos: end, End: end, Text: "nothing to alter", Hint: "name at least one attribute with its value"}
	}
	if c.nameOrSubid() && !cmd.HasName && !cmd.Has("SUBID") {
		return at(&c.raw.object, cmd.Object+" needs a name or SUBID", "write "+cmd.Object+"('name')")
	}
	return nil
}

// nameOrSubid reports the commands on subscriptions, which are named by either.
func (c *checker) nameOrSubid() bool {
	return c.cmd.Object == "SUB" || c.cmd.Object == "SBSTATUS"
}
