package mqsc

// Writes definitions that parse back to the same values.

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// maxWritten is the longest line written: what every MQSC reader takes.
const maxWritten = 2000

// Quote gives a value as it stands between brackets: bare when it needs no quotes, lists with commas, blank as ' '.
func Quote(val string, a *attr.Attr) string {
	if a != nil {
		if a.IsList() {
			items := splitList(val)
			if len(items) == 0 {
				if a.Name == "NAMES" {
					return " "
				}
				return "' '"
			}
			for i := range items {
				items[i] = quoteOne(items[i], a.Type)
			}
			return strings.Join(items, ",")
		}
		return quoteOne(val, a.Type)
	}
	return quoteOne(val, attr.TString)
}

// quoteOne writes one value. Numbers and words of enumerations never have quotes.
func quoteOne(v string, t attr.Type) string {
	switch t {
	case attr.TInt, attr.TEnum, attr.TIntOrEnum, attr.TListEnum:
		if v != "" {
			return v
		}
	case attr.THex:
		if v != "" {
			return v
		}
	case attr.TPair:
		one, two, _ := strings.Cut(v, attr.ListSep)
		return bareOrQuoted(one) + "," + bareOrQuoted(two)
	}
	return quoteText(v)
}

func bareOrQuoted(v string) string {
	if v == "" || strings.Trim(v, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/%") != "" {
		return quoteText(v)
	}
	return v
}

// quoteText puts a text in quotes. A blank one is ' ', as MQSC has no empty string. A line break cannot stand in a
// script; it becomes a blank.
func quoteText(v string) string {
	if v == "" {
		return "' '"
	}
	return "'" + strings.NewReplacer("'", "''", "\n", " ").Replace(v) + "'"
}

// FormatOptions of FormatDefine.
type FormatOptions struct {
	Verb    string // DEFINE when empty; ALTER, SET
	Replace bool   // add REPLACE
	OneLine bool   // everything on one line
}

// FormatDefine writes one command that makes an object: a line for each attribute, joined by +. vals are canonical
// and in the order to be written; attributes of the queue manager's own (dates) are left out, and hidden values, which
// are named in a comment line instead.
func FormatDefine(w io.Writer, kind attr.Kind, name string, vals []attr.Item, o FormatOptions) error {
	verb := o.Verb
	if verb == "" {
		verb = "DEFINE"
	}
	var b strings.Builder
	obj, key, typ := splitKind(kind)
	lines := []string{verb + " " + obj}
	if name != "" {
		lines[0] += "(" + quoteText(name) + ")"
	}
	if typ != "" {
		lines = append(lines, key+"("+typ+")")
	}
	for i := range vals {
		it := &vals[i]
		if it.Key == key || it.Attr != nil && (it.Attr.Positional || !written(it.Attr, verb)) {
			continue
		}
		if it.Attr != nil && it.Attr.Hidden {
			if strings.TrimSpace(it.Val) != "" {
				b.WriteString("* " + it.Key + " of " + obj + "(" + printable(name) + ") is set; secrets are not exported\n")
			}
			continue
		}
		if strings.Contains(it.Val, "\n") {
			lineEnd(&b, it.Key, obj, name)
		}
		lines = append(lines, formatItem(it))
	}
	if strings.Contains(name, "\n") {
		lineEnd(&b, "the name", obj, name)
	}
	if o.Replace {
		lines = append(lines, "REPLACE")
	}
	if o.OneLine {
		_, err := io.WriteString(w, b.String()+strings.Join(lines, " ")+"\n")
		return err
	}
	for i, l := range lines {
		if i > 0 {
			b.WriteString("       ")
		}
		b.WriteString(breakLong(l))
		if i < len(lines)-1 {
			b.WriteString(" +")
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lineEnd says in a comment what the script cannot: PCF and programs may give a text with line ends.
func lineEnd(b *strings.Builder, what, obj, name string) {
	b.WriteString("* " + what + " of " + obj + "(" + printable(name) + ") holds a line end, which is a blank here\n")
}

// written reports whether the verb may give the attribute.
func written(a *attr.Attr, verb string) bool {
	if verb == "ALTER" {
		return a.Alter == attr.Yes
	}
	return a.Define == attr.Yes
}

func formatItem(it *attr.Item) string {
	if it.Attr != nil && it.Attr.Type == attr.TFlag {
		return ItemText(it)
	}
	return it.Key + "(" + Quote(it.Val, it.Attr) + ")"
}

// splitKind gives the object keyword of a kind and, when it has types, their keyword and this one's.
func splitKind(k attr.Kind) (obj, key, typ string) {
	obj, rest, ok := strings.Cut(string(k), "(")
	if !ok {
		return obj, "", ""
	}
	obj = strings.TrimSuffix(obj, " TYPE")
	return obj, kindKey[obj].key, strings.TrimSuffix(rest, ")")
}

// breakLong breaks a long value inside its quotes with +. The sign drops the blanks that follow, and a line that
// begins with * would be a comment: neither may stand behind a break.
func breakLong(s string) string {
	if len(s) <= maxWritten {
		return s
	}
	var b strings.Builder
	for len(s) > maxWritten {
		n := maxWritten
		for n > 1 && (!utf8.RuneStart(s[n]) || isBlank(s[n]) || s[n] == '*') {
			n--
		}
		if n == 1 {
			break // blanks only: no place to break
		}
		b.WriteString(s[:n] + "+\n")
		s = s[n:]
	}
	b.WriteString(s)
	return b.String()
}
