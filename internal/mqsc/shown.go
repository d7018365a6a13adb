package mqsc

import (
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// HiddenMask stands for a value that is never shown: a password.
const HiddenMask = "********"

// ShownText is a command's text for logs and events: as it was written, but for the values that are never shown. These are found by
// their keywords, since a value need not look as it was written: folded, or with doubled quotes.
func ShownText(c *attr.Command) string {
	hidden := hiddenWords(c)
	if len(hidden) == 0 {
		return c.Text
	}
	raw, err := scanCommand(c.Text)
	if err != nil {
		return c.Verb + " " + c.Object // a text of another form: rather nothing of it than a secret
	}
	var b strings.Builder
	at := 0
	for i := range raw.params {
		p := &raw.params[i]
		if p.brackets && slices.Contains(hidden, upper(p.key)) {
			b.WriteString(c.Text[at:p.pos] + p.key + "('" + HiddenMask + "')")
			at = p.end
		}
	}
	return b.String() + c.Text[at:]
}

// hiddenWords are the spellings of the keywords in a command whose values are never shown.
func hiddenWords(c *attr.Command) (words []string) {
	for i := range c.Params {
		if a := c.Params[i].Attr; a != nil && a.Hidden && c.Params[i].Val != "" {
			words = append(append(words, a.Name), a.Syn...)
		}
	}
	return words
}
