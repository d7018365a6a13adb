package mqsc

// JSON: commands and replies in the form of the vendor's runCommandJSON.

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// JSONCommand is a command as runCommandJSON holds it.
type JSONCommand struct {
	Command            string         `json:"command"`
	Qualifier          string         `json:"qualifier"`
	Name               string         `json:"name"`
	Parameters         map[string]any `json:"parameters"`
	ResponseParameters []string       `json:"responseParameters"`
}

// FromJSON makes a command of its JSON form, with the same checks as Parse. Strings keep their case in names and
// texts, words of enumerations may be in any case. A flag is written "share":"yes", or "noshare":"yes".
func FromJSON(j JSONCommand) (*attr.Command, *SyntaxError) {
	b := &jsonBuilder{}
	raw, err := b.build(j)
	src := &Source{Text: b.text.String()}
	if err == nil && len(src.Text) > MaxCommand {
		err = &SyntaxError{Text: fmt.Sprintf("the command has more than %d bytes", MaxCommand), Hint: "make it shorter"}
	}
	if err == nil && b.control != "" {
		// No script could hold it, so no export would bring it back.
		err = &SyntaxError{Text: "a control character is in " + strconv.Quote(clip(b.control)), Hint: "leave it out"}
	}
	if err != nil {
		return nil, err.complete(src)
	}
	raw.text = src.Text
	c := &checker{raw: raw, cmd: &attr.Command{Text: src.Text}, fold: true}
	if err = c.verb(); err == nil {
		b.flags(c)
		err = c.run()
	}
	if err != nil {
		return nil, err.complete(src)
	}
	return c.cmd, nil
}

// jsonBuilder writes the MQSC text of a JSON command while it builds its shape, so that errors have a place.
type jsonBuilder struct {
	text    strings.Builder
	control string // a text with a control character
}

// look notes a text with a control character.
func (b *jsonBuilder) look(v string) {
	if strings.ContainsFunc(v, unicode.IsControl) {
		b.control = v
	}
}

func (b *jsonBuilder) word(w string) rawParam {
	if b.text.Len() > 0 {
		b.text.WriteByte(' ')
	}
	b.look(w)
	p := rawParam{key: w, pos: b.text.Len()}
	b.text.WriteString(upper(w))
	p.end = b.text.Len()
	return p
}

func (b *jsonBuilder) values(p *rawParam, vals []string) {
	p.brackets = true
	b.text.WriteByte('(')
	for i, v := range vals {
		if i > 0 {
			b.text.WriteByte(',')
		}
		b.look(v)
		it := item{text: v, quoted: true, pos: b.text.Len()}
		b.text.WriteString(quoteText(v))
		it.end = b.text.Len()
		p.items = append(p.items, it)
	}
	b.text.WriteByte(')')
	p.end = b.text.Len()
}

func (b *jsonBuilder) build(j JSONCommand) (*rawCommand, *SyntaxError) {
	raw := &rawCommand{}
	raw.verb = b.word(strings.TrimSpace(j.Command))
	if q := strings.TrimSpace(j.Qualifier); q != "" {
		raw.object = b.word(q)
		if j.Name != "" {
			b.values(&raw.object, []string{j.Name})
		}
	}
	keys := make([]string, 0, len(j.Parameters))
	for k := range j.Parameters {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		p := b.word(k)
		vals, ok := jsonValues(j.Parameters[k])
		if !ok {
			return raw, &SyntaxError{Pos: p.pos, End: p.end, Text: "the value of " + quoteWord(k) + " is not a string, a number or a list of them",
				Hint: "write \"" + k + "\": \"value\""}
		}
		b.values(&p, vals)
		raw.params = append(raw.params, p)
	}
	for _, k := range j.ResponseParameters {
		if slices.ContainsFunc(raw.params, func(p rawParam) bool { return strings.EqualFold(p.key, k) }) {
			continue // chosen by value and shown as well
		}
		raw.params = append(raw.params, b.word(k))
	}
	if raw.verb.key == "" {
		return raw, &SyntaxError{Text: "command is missing", Hint: `write "command": "display"`}
	}
	return raw, nil
}

func jsonValues(v any) ([]string, bool) {
	switch v := v.(type) {
	case string:
		return []string{v}, true
	case bool:
		if v {
			return []string{"yes"}, true
		}
		return []string{"no"}, true
	case float64:
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return nil, false
		}
		return []string{strconv.FormatInt(int64(v), 10)}, true
	case json.Number:
		return []string{v.String()}, true
	case int:
		return []string{strconv.Itoa(v)}, true
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			one, ok := jsonValues(e)
			if _, nested := e.([]any); !ok || nested {
				return nil, false
			}
			out = append(out, one...)
		}
		return out, true
	case []string:
		return v, true
	}
	return nil, false
}

// flags turns "share":"yes" into SHARE and "share":"no" into NOSHARE, and a filter's text into its three parts.
func (b *jsonBuilder) flags(c *checker) {
	if err := c.object(); err != nil {
		return // run reports it
	}
	if err := c.kind(); err != nil {
		return
	}
	for i := range c.raw.params {
		p := &c.raw.params[i]
		if len(p.items) != 1 {
			continue
		}
		if strings.EqualFold(p.key, "WHERE") {
			if inner, err := scanCommand("X X(" + p.items[0].text + ")"); err == nil {
				p.items = inner.object.items
				for n := range p.items {
					p.items[n].pos, p.items[n].end = p.pos, p.end
				}
			}
			continue
		}
		k, ok := c.lookup(upper(p.key))
		if !ok || !k.flag {
			continue
		}
		switch upper(p.items[0].text) {
		case "YES", upper(p.key):
			p.brackets, p.items = false, nil
		case "NO":
			if k.row != nil && k.row.Neg != "" && !k.no {
				p.key, p.brackets, p.items = k.row.Neg, false, nil
			}
		}
	}
}

// JSONParameters gives a row in JSON form: keys in lower case, numbers as numbers, lists as arrays, flags as
// "yes" or "no".
func JSONParameters(row *attr.Row) map[string]any {
	out := make(map[string]any, len(row.Items))
	for i := range row.Items {
		it := &row.Items[i]
		out[strings.ToLower(it.Key)] = jsonValue(it)
	}
	return out
}

func jsonValue(it *attr.Item) any {
	a := it.Attr
	if a == nil {
		return it.Val
	}
	switch {
	case a.Type == attr.TFlag:
		if it.Val == "NO" {
			return "no"
		}
		return "yes"
	case a.IsList():
		vals := splitList(it.Val)
		if vals == nil {
			vals = []string{}
		}
		return vals
	case a.Type == attr.TPair:
		return pairText(it.Key, it.Val)
	case a.Type == attr.TInt || a.Type == attr.TIntOrEnum:
		if n, err := strconv.ParseInt(it.Val, 10, 64); err == nil {
			return n
		}
	case a.Hidden && strings.TrimSpace(it.Val) != "":
		return HiddenMask
	}
	return it.Val
}

// jsonLine is what runmqsc --json prints for one command.
type jsonLine struct {
	Line    int              `json:"line"`
	Command string           `json:"command"`
	CC      int32            `json:"completionCode"`
	RC      int32            `json:"reasonCode"`
	Text    []string         `json:"text"`
	Objects []map[string]any `json:"objects,omitempty"`
}

// reasonSyntax is the reason code of a syntax error (MQRCCF_COMMAND_FAILED).
const reasonSyntax = 3008

func jsonReply(s *Source, _ *attr.Command, r *attr.Reply) string {
	l := newJSONLine(s)
	l.CC, l.RC = r.CC, r.RC
	if r.Rows != nil {
		for row := range r.Rows {
			l.Objects = append(l.Objects, JSONParameters(&row))
		}
	}
	for _, m := range r.Msgs {
		l.Text = append(l.Text, messageLine(m))
	}
	l.Text = append(l.Text, r.Text...)
	return l.encode()
}

func jsonSyntaxError(s *Source, e *SyntaxError) string {
	l := newJSONLine(s)
	l.CC, l.RC = 2, reasonSyntax
	l.Text = append(l.Text, e.Error())
	return l.encode()
}

func jsonText(s *Source, text string) string {
	l := newJSONLine(s)
	l.Text = strings.Split(strings.TrimRight(text, "\n"), "\n")
	return l.encode()
}

func newJSONLine(s *Source) *jsonLine {
	line, _ := s.Place(0)
	text := s.Text
	if s.Over {
		text = clip(text)
	}
	return &jsonLine{Line: line, Command: text, Text: []string{}}
}

func (l *jsonLine) encode() string {
	b, err := json.Marshal(l)
	if err != nil {
		// strings, numbers and lists of them always encode
		return fmt.Sprintf("{\"completionCode\":2,\"text\":[%q]}\n", err.Error())
	}
	return string(b) + "\n"
}
