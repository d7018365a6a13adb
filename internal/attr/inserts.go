package attr

import "strings"

// An insert is a word between plus signs, +QMNAME+, that the queue manager replaces by a value when a command runs. Names
// may hold them: a plus sign means nothing else there. Other texts may not, because in them it may stand for itself.

// Inserts gives the words of the inserts in s, in order: QMNAME for +QMNAME+.
func Inserts(s string) []string {
	var out []string
	eachInsert(s, func(string) {}, func(word string) { out = append(out, word) })
	return out
}

// ReplaceInserts puts values for the inserts of s; one that value does not know stays as it is.
func ReplaceInserts(s string, value func(word string) (string, bool)) string {
	if strings.IndexByte(s, '+') < 0 {
		return s
	}
	var b strings.Builder
	eachInsert(s, func(text string) { b.WriteString(text) }, func(word string) {
		if v, ok := value(word); ok {
			b.WriteString(v)
		} else {
			b.WriteString("+" + word + "+")
		}
	})
	return b.String()
}

// WithoutInserts gives s without its inserts.
func WithoutInserts(s string) string {
	return ReplaceInserts(s, func(string) (string, bool) { return "", true })
}

// eachInsert walks s: what stands between inserts goes to text, the words of the inserts to insert.
func eachInsert(s string, text, insert func(string)) {
	for {
		from := strings.IndexByte(s, '+')
		if from < 0 {
			text(s)
			return
		}
		n := strings.IndexByte(s[from+1:], '+')
		if n < 0 {
			text(s)
			return
		}
		word := s[from+1 : from+1+n]
		if !insertWord(word) { // the second sign may begin an insert
			text(s[:from+1+n])
			s = s[from+1+n:]
			continue
		}
		text(s[:from])
		insert(word)
		s = s[from+n+2:]
	}
}

func insertWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

// TakesInserts reports the attributes in whose values inserts are replaced: names, and the addresses of channels.
func (a *Attr) TakesInserts() bool {
	switch a.Type {
	case TName, TListName:
		return true
	}
	return a.Name == "CONNAME" || a.Name == "LOCLADDR"
}
