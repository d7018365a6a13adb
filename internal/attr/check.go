package attr

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ValueError says why a value of an attribute is refused. Text stands alone; Error puts the keyword before it.
type ValueError struct{ Key, Text string }

func (e *ValueError) Error() string { return e.Key + ": " + e.Text }

func (a *Attr) refuse(format string, args ...any) error {
	return &ValueError{Key: a.Name, Text: fmt.Sprintf(format, args...)}
}

// CheckValue checks a value that is to be set and returns its canonical text. raw are the items in the brackets (none for a
// flag, one for most); quoted tells that the first stood in quotes, otherwise it is folded to upper case here. A blank value
// is the empty text.
func (a *Attr) CheckValue(raw []string, quoted bool) (string, error) {
	return a.check(raw, quoted, false)
}

// CheckShown is CheckValue for DISPLAY: it takes the words that are only shown too, TYPE(ALL) for one.
func (a *Attr) CheckShown(raw []string, quoted bool) (string, error) {
	return a.check(raw, quoted, true)
}

// CheckValue checks a value that is to be set, its case final and list items joined by ListSep, as CheckValue of Attr does.
func CheckValue(a *Attr, val string) (string, error) { return a.check(a.split(val), true, false) }

// CheckShown checks a value that chooses what DISPLAY shows, its case final and list items joined by ListSep.
func CheckShown(a *Attr, val string) (string, error) { return a.check(a.split(val), true, true) }

func (a *Attr) split(val string) []string {
	if a.IsList() || a.Type == TPair {
		return strings.Split(val, ListSep)
	}
	return []string{val}
}

func (a *Attr) check(raw []string, quoted, shown bool) (string, error) {
	switch a.Type {
	case TFlag, TGroup:
		if len(raw) > 0 {
			return "", a.refuse("takes no value")
		}
		return "YES", nil
	case TListName, TListString, TListEnum:
		return a.checkList(raw, quoted, shown)
	case TPair:
		if len(raw) != 2 {
			return "", a.refuse("takes two values, %d were given", len(raw))
		}
		if err := cmp.Or(a.checkOne(raw[0]), a.checkOne(raw[1])); err != nil {
			return "", err
		}
		return raw[0] + ListSep + raw[1], nil
	}
	switch len(raw) {
	case 0:
		return "", a.refuse("a value is missing; use ' ' for blank")
	case 1:
		return a.checkItem(raw[0], quoted, shown)
	}
	return "", a.refuse("takes one value, %d were given; put a value with blanks or commas in quotes", len(raw))
}

func (a *Attr) checkList(raw []string, quoted, shown bool) (string, error) {
	var items []string
	for _, r := range raw {
		if err := a.checkOne(r); err != nil {
			return "", err
		}
		v, err := a.checkItem(r, quoted, shown)
		if err != nil {
			return "", err
		}
		if v != "" {
			items = append(items, v)
		}
	}
	if a.MaxItems > 0 && len(items) > a.MaxItems {
		return "", a.refuse("%d items are too many, at most %d", len(items), a.MaxItems)
	}
	if a.Type == TListEnum && len(items) == 0 {
		return "", a.refuse("a value is missing; use %s", a.enumWords(shown))
	}
	return strings.Join(items, ListSep), nil
}

// checkOne refuses an item that would become several where the list is read.
func (a *Attr) checkOne(item string) error {
	if strings.Contains(item, ListSep) {
		return a.refuse("%q holds the control character X'1F'; leave it out", item)
	}
	return nil
}

func (a *Attr) checkItem(v string, quoted, shown bool) (string, error) {
	if !quoted {
		v = strings.ToUpper(v)
	}
	if !a.keepsBlanks() || strings.Trim(v, " ") == "" {
		v = strings.TrimRight(v, " ")
	}
	switch a.Type {
	case TName, TListName:
		if shown { // what chooses objects may be generic
			return v, a.checkName(strings.TrimSuffix(v, "*"))
		}
		return v, a.checkName(v)
	case TString, TListString:
		return v, a.checkLength(v)
	case TInt:
		return a.checkInt(v)
	case TEnum, TListEnum:
		return a.checkWord(v, shown)
	case TIntOrEnum:
		if e, ok := a.EnumByWord(v); ok && (shown || !e.ShowOnly) {
			return v, nil
		}
		if _, err := strconv.ParseInt(v, 10, 64); err != nil {
			return "", a.refuse("%q is neither a number nor %s%s", v, a.enumWords(shown), a.hint(v, shown))
		}
		return a.checkInt(v)
	case THex:
		return a.checkHex(v, quoted)
	case TDate:
		return v, a.checkStamp(v, "yyyy-mm-dd", "2006-01-02")
	case TTime:
		return v, a.checkStamp(v, "hh.mm.ss", "15.04.05")
	}
	return v, nil
}

// keepsBlanks: topic strings, subscription names and user data are of variable length, so their trailing blanks count.
func (a *Attr) keepsBlanks() bool { return a.Type == TString && a.MaxLen >= 10240 }

func (a *Attr) checkLength(v string) error {
	if a.MaxLen > 0 && len(v) > a.MaxLen {
		return a.refuse("%d characters are too many, at most %d", len(v), a.MaxLen)
	}
	return nil
}

// checkName takes inserts as they are; what is put for them is checked when the command runs.
func (a *Attr) checkName(v string) error {
	v = WithoutInserts(v)
	if err := a.checkLength(v); err != nil {
		return err
	}
	for i := 0; i < len(v); i++ {
		if v[i] == '*' && a.Generic && (!a.Positional || i == len(v)-1) {
			continue
		}
		if !nameChar(v[i]) {
			return a.refuse("%q holds %q; a name is made of A-Z a-z 0-9 . / _ %%", v, v[i:i+1])
		}
	}
	return nil
}

// CheckName checks the name of an object by this row. generic allows a * at the end whatever the row says, as DISPLAY does.
func (a *Attr) CheckName(name string, generic bool) error {
	if name == "" && (a.Type == TName || a.Type == THex) {
		return a.refuse("a name is missing")
	}
	if generic {
		if name == "*" {
			return nil
		}
		name = strings.TrimSuffix(name, "*")
	}
	switch a.Type {
	case TName:
		return a.checkName(name)
	case THex:
		_, err := a.checkHex(name, false)
		return err
	}
	return a.checkLength(name)
}

func nameChar(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '/' || c == '_' || c == '%'
}

func (a *Attr) checkInt(v string) (string, error) {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil && !errorsIsRange(err) {
		return "", a.refuse("%q is not a number", v)
	}
	if err != nil || n < a.Min || n > a.Max {
		return "", a.refuse("%s is not in %d..%d", v, a.Min, a.Max)
	}
	return strconv.FormatInt(n, 10), nil
}

func errorsIsRange(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

func (a *Attr) checkWord(v string, shown bool) (string, error) {
	if e, ok := a.EnumByWord(v); ok && (shown || !e.ShowOnly) {
		return v, nil
	}
	return "", a.refuse("%q is not %s%s", v, a.enumWords(shown), a.hint(v, shown))
}

func (a *Attr) words(shown bool) []string {
	var out []string
	for _, e := range a.Enum {
		if shown || !e.ShowOnly {
			out = append(out, e.Word)
		}
	}
	return out
}

func (a *Attr) enumWords(shown bool) string {
	w := a.words(shown)
	if len(w) == 1 {
		return w[0]
	}
	return "one of " + strings.Join(w, ", ")
}

func (a *Attr) hint(v string, shown bool) string {
	if n := Nearest(strings.ToUpper(v), a.words(shown)); n != "" {
		return "; did you mean " + n + "?"
	}
	return ""
}

// checkHex gives digits in upper case; values of fixed length (the default tells) are filled with zeros on the right.
func (a *Attr) checkHex(v string, quoted bool) (string, error) {
	u := strings.ToUpper(v)
	if a.Generic && strings.HasSuffix(u, "*") {
		digits := strings.TrimSuffix(u, "*")
		if strings.Trim(digits, "0123456789ABCDEF") == "" && len(digits) <= a.MaxLen {
			return u, nil
		}
	}
	if strings.Trim(u, "0123456789ABCDEF") != "" || a.AsText && quoted && len(u) != a.MaxLen {
		if !a.AsText || !quoted {
			return "", a.refuse("%q holds other characters than hexadecimal digits", v)
		}
		u = strings.ToUpper(hex.EncodeToString([]byte(v)))
	}
	if a.MaxLen > 0 && len(u) > a.MaxLen {
		return "", a.refuse("%d hexadecimal digits are too many, at most %d", len(u), a.MaxLen)
	}
	if a.MaxLen > 0 && len(a.Default) == a.MaxLen {
		u += strings.Repeat("0", a.MaxLen-len(u))
	}
	return u, nil
}

func (a *Attr) checkStamp(v, form, layout string) error {
	if v == "" {
		return nil
	}
	if _, err := time.Parse(layout, v); err != nil {
		return a.refuse("%q is not of the form %s", v, form)
	}
	return nil
}

// Nearest returns the candidate most like the word, "" when none is near: at most a third of its letters differ.
func Nearest(word string, candidates []string) string {
	best, bestDist := "", len(word)/3+1
	for _, c := range candidates {
		if d := distance(word, c); d < bestDist {
			best, bestDist = c, d
		}
	}
	return best
}

// distance counts inserted, dropped, changed and swapped letters.
func distance(a, b string) int {
	prev2 := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
