package mqsc

// Turns a command's shape into an attr.Command: every keyword known, every value canonical.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
)

// ParseCommand parses one command, as an HTTP request or an Escape PCF message holds it. A semicolon may follow it;
// several lines are joined as in a script.
func ParseCommand(text string) (*attr.Command, *SyntaxError) {
	var j Joiner
	var all []*Source
	for line := range strings.Lines(strings.TrimPrefix(text, bom)) {
		all = append(all, j.Add(strings.TrimRight(line, "\r\n")).Commands...)
	}
	if s := j.Finish(); s != nil {
		all = append(all, s)
	}
	switch len(all) {
	case 0:
		e := &SyntaxError{Text: "no command", Hint: "give one MQSC command"}
		return nil, e.complete(&Source{Text: ""})
	case 1:
		return ParseSource(all[0])
	}
	e := &SyntaxError{End: len(all[1].Text), Text: "more than one command", Hint: "send them one by one, or run a script"}
	return nil, e.complete(all[1])
}

// ParseSource parses a command of a script.
func ParseSource(s *Source) (*attr.Command, *SyntaxError) {
	if s.Over {
		e := &SyntaxError{End: len(s.Text), Text: fmt.Sprintf("the command has more than %d bytes", MaxCommand),
			Hint: "make it shorter; was a continuation sign or a line end lost before it?"}
		return nil, e.complete(s)
	}
	raw, serr := scanCommand(s.Text)
	c := &checker{raw: raw, cmd: &attr.Command{Text: s.Text}}
	if err := c.verb(); err != nil {
		return nil, err.complete(s) // an unknown verb says more than what follows it
	}
	if serr == nil {
		serr = c.run()
	}
	if serr != nil {
		if serr.Syntax == nil {
			serr.Syntax = shortSyntax(c.cmd)
		}
		return nil, serr.complete(s)
	}
	return c.cmd, nil
}

// checker builds a command from its shape.
type checker struct {
	raw  *rawCommand
	cmd  *attr.Command
	fold bool            // fold quoted words of enumerations: JSON has no unquoted ones
	seen map[string]bool // canonical keywords so far

	kindsOf  attr.Kind // kindList was made for
	kindList []attr.Kind
}

func (c *checker) run() *SyntaxError {
	if err := c.object(); err != nil {
		return err
	}
	if err := c.kind(); err != nil {
		return err
	}
	if err := c.name(); err != nil {
		return err
	}
	c.seen = map[string]bool{}
	for i := range c.raw.params {
		if err := c.param(&c.raw.params[i]); err != nil {
			return err
		}
	}
	return c.required()
}

func at(p *rawParam, text, hint string) *SyntaxError {
	return &SyntaxError{Pos: p.pos, End: p.end, Text: text, Hint: hint}
}

// verb resolves the first word.
func (c *checker) verb() *SyntaxError {
	w := &c.raw.verb
	word := upper(w.key)
	verb, ok := attr.CanonVerb(word)
	if ok {
		c.cmd.Verb = verb
		return nil
	}
	e := &SyntaxError{Pos: w.pos, End: w.end, Text: fmt.Sprintf("%s is not a command", quoteWord(w.key))}
	switch {
	case templateAt(c.raw.text) >= 0 && templateAt(w.key) >= 0:
		e.Text, e.Hint = "an unrendered template", templateHint
	case strings.HasPrefix(word, "--"), strings.HasPrefix(word, "#"), strings.HasPrefix(word, "//"):
		e.Hint = "a comment line begins with *"
	case strings.HasPrefix(word, "\xff\xfe"), strings.HasPrefix(word, "\xfe\xff"), strings.ContainsRune(word, 0):
		e.Hint = "the script is not text in UTF-8 (perhaps UTF-16): save it as UTF-8"
	default:
		e.Hint = didYouMean(word, attr.VerbWords())
	}
	if w.key == "" {
		e.Text = "the command does not begin with a verb"
	}
	if e.Hint == "" {
		e.Hint = "? lists the commands"
	}
	e.Syntax = []string{}
	return e
}

// object resolves the second word.
func (c *checker) object() *SyntaxError {
	w := &c.raw.object
	verb := c.cmd.Verb
	if w.key == "" {
		words := objectsHere(verb)
		return &SyntaxError{ID: listID, Pos: len(c.raw.text), End: len(c.raw.text), Text: verb + " needs an object keyword",
			Hint: "one of " + strings.Join(words, " "), Syntax: words}
	}
	word := upper(w.key)
	obj, known := attr.CanonObject(word)
	if known {
		if spec, ok := attr.LookupVerb(verb, obj); ok {
			c.cmd.Object, c.cmd.Spec = obj, spec
			return nil
		}
	}
	e := at(w, fmt.Sprintf("%s is not an object of %s", quoteWord(w.key), verb), "")
	e.Syntax = []string{}
	if templateAt(w.key) >= 0 {
		e.Text, e.Hint = "an unrendered template", templateHint
		return e
	}
	if e.Hint = didYouMean(word, objectsHere(verb)); e.Hint == "" {
		e.Hint = "one of " + strings.Join(objectsHere(verb), " ")
	}
	return e
}

// kindKey is the keyword that chooses among the kinds of an object, with its value when it is left out.
var kindKey = map[string]struct{ key, def string }{
	"CHANNEL":  {"CHLTYPE", ""},
	"AUTHINFO": {"AUTHTYPE", ""},
	"QSTATUS":  {"TYPE", "QUEUE"},
	"TPSTATUS": {"TYPE", "TOPIC"},
}

// kind chooses the rows that are in force, by the type keyword of the command.
func (c *checker) kind() *SyntaxError {
	obj, verb := c.cmd.Object, c.cmd.Verb
	c.cmd.Kind = attr.Kind(obj)
	by, ok := kindKey[obj]
	if !ok {
		return nil
	}
	form := func(v string) attr.Kind {
		if by.def == "" {
			return attr.Kind(obj + "(" + v + ")")
		}
		return attr.Kind(obj + " TYPE(" + v + ")")
	}
	if by.def != "" {
		c.cmd.Kind = form(by.def)
	}
	p := c.find(by.key)
	if p == nil && by.def == "" && verb == "DISPLAY" {
		p = c.find("TYPE")
	}
	words := kindWords(obj)
	if p == nil || len(p.items) != 1 {
		if by.def == "" && (verb == "DEFINE" || verb == "ALTER") {
			return at(&c.raw.object, by.key+" is missing", "give the type: "+by.key+"("+strings.Join(words, " | ")+")")
		}
		return nil
	}
	val := upper(p.items[0].text)
	if slices.Contains(words, val) {
		c.cmd.Kind = form(val)
		return nil
	}
	if val == "ALL" && verb == "DISPLAY" {
		return nil
	}
	e := at(p, fmt.Sprintf("%s is not a value of %s", quoteWord(p.items[0].text), by.key), didYouMean(val, words))
	if e.Hint == "" {
		e.Hint = "one of " + strings.Join(words, " ")
	}
	return e
}

// find gives the parameter with a keyword, nil when it was not given.
func (c *checker) find(key string) *rawParam {
	for i := range c.raw.params {
		if strings.EqualFold(c.raw.params[i].key, key) {
			return &c.raw.params[i]
		}
	}
	return nil
}

// name checks the brackets behind the object.
func (c *checker) name() *SyntaxError {
	w, rule := &c.raw.object, c.cmd.Spec.NeedName
	obj := c.cmd.Object
	if !w.brackets {
		if (rule == attr.NameRequired || rule == attr.NameGeneric) && !c.bySubid() {
			return at(w, obj+" needs a name in brackets", "write "+obj+"(NAME)")
		}
		return nil
	}
	if rule == attr.NameNone {
		return at(w, obj+" takes no name", "leave the brackets out")
	}
	if len(w.items) != 1 {
		text := "the name is missing"
		if len(w.items) > 1 {
			text = "more than one name"
		}
		return at(w, text, "write "+obj+"(NAME)")
	}
	it := &w.items[0]
	name, msg, hint := checkName(c.cmd, it)
	if msg != "" {
		return &SyntaxError{Pos: it.pos, End: w.end, Text: msg, Hint: hint}
	}
	c.cmd.Name, c.cmd.HasName = name, true
	return nil
}

// bySubid reports a subscription that is named by its id.
func (c *checker) bySubid() bool {
	switch c.cmd.Object {
	case "SUB", "SBSTATUS":
		return c.find("SUBID") != nil
	}
	return false
}

// param checks one parameter.
func (c *checker) param(p *rawParam) *SyntaxError {
	word := upper(p.key)
	if word == "WHERE" && c.cmd.Verb == "DISPLAY" {
		return c.where(p)
	}
	k, ok := c.lookup(word)
	if !ok {
		return c.unknown(p, word)
	}
	if c.seen[k.name] {
		text := k.name + " is given twice"
		if k.no != c.saidNo(k.name) && k.flag {
			text = k.name + " and NO" + k.name + " exclude each other"
		}
		return at(p, text, "leave one out")
	}
	c.seen[k.name] = true
	par := attr.Param{Key: k.name, Attr: k.row}
	switch {
	case k.flag:
		if p.brackets {
			return at(p, k.name+" takes no value", "leave the brackets out")
		}
		par.HasValue, par.Val = !k.asked, "YES"
		if k.no {
			par.Val = "NO"
		}
		if k.asked {
			par.Val = ""
		}
	case !p.brackets:
		if !k.asked {
			return at(p, k.name+" needs a value", "write "+syntaxOf(&k))
		}
	default:
		if !k.valued {
			return at(p, k.name+" takes no value here", fmt.Sprintf("to choose by value write WHERE(%s EQ value)", k.name))
		}
		val, err := c.value(p, &k)
		if err != nil {
			return err
		}
		par.HasValue, par.Val = true, val
	}
	c.cmd.Params = append(c.cmd.Params, par)
	return nil
}

// saidNo reports whether a flag given before was given in its NO form.
func (c *checker) saidNo(key string) bool {
	v, _ := c.cmd.Get(key)
	return v == "NO"
}

// unknown reports a keyword that the command does not have.
func (c *checker) unknown(p *rawParam, word string) *SyntaxError {
	e := at(p, fmt.Sprintf("%s is not a keyword of %s %s", quoteWord(p.key), c.cmd.Verb, c.kindName()), "")
	words := c.words()
	platform, foreign := attr.ForeignPlatform(c.cmd.Object, word)
	switch {
	case foreign && platform == "release":
		e.Hint = "this level of the product does not have it"
	case foreign:
		e.Hint = "it exists on " + platform + " only"
	case templateAt(p.key) >= 0:
		e.Text, e.Hint = "an unrendered template", templateHint
	case strings.HasPrefix(word, "*"):
		e.Hint = "a remark behind a command stands on a line of its own that begins with *"
	default:
		e.Hint = didYouMean(word, words)
	}
	if e.Hint == "" {
		e.Hint = fmt.Sprintf("? %s %s lists the keywords", c.cmd.Verb, c.cmd.Object)
	}
	return e
}

// kindName names what is defined, for messages: CHANNEL CHLTYPE(SDR).
func (c *checker) kindName() string {
	k := string(c.cmd.Kind)
	if obj, rest, ok := strings.Cut(k, "("); ok && kindKey[obj].key != "" {
		return obj + " " + kindKey[obj].key + "(" + rest
	}
	return k
}

// value checks what stands in the brackets and gives its canonical text.
func (c *checker) value(p *rawParam, k *keyword) (string, *SyntaxError) {
	items := p.items
	row := k.row
	if len(items) == 0 {
		if k.name == "NAMES" {
			return "", nil
		}
		return "", at(p, k.name+" has no value", fmt.Sprintf("a blank value is written %s(' ')", k.name))
	}
	vals := make([]string, len(items))
	for i := range items {
		vals[i] = items[i].text
		if c.fold && row != nil && isWord(row.Type) {
			vals[i] = upper(vals[i])
		}
	}
	if row == nil {
		return strings.Join(vals, attr.ListSep), nil
	}
	if len(vals) > 1 && !row.IsList() && row.Type != attr.TPair {
		if !joinsAddresses(k.name, items) {
			return "", &SyntaxError{Pos: items[1].pos, End: p.end, Text: k.name + " takes one value",
				Hint: "put a text with blanks or commas in quotes"}
		}
		vals = []string{strings.Join(vals, ",")}
	}
	check := row.CheckValue
	if c.cmd.Verb == "DISPLAY" {
		check = row.CheckShown
	}
	canon, err := check(vals, row.Type != attr.THex || items[0].quoted) // case is final already
	if err != nil {
		return "", c.badValue(p, k, err)
	}
	return canon, nil
}

// badValue reports a value that its row refuses.
func (c *checker) badValue(p *rawParam, k *keyword, err error) *SyntaxError {
	e := &SyntaxError{Pos: p.items[0].pos, End: p.end, Text: err.Error()}
	first := p.items[0].text
	switch {
	case templateAt(first) >= 0:
		e.Hint = templateHint
	case p.items[0].quoted && isWord(k.row.Type) && upper(first) != first:
		e.Hint = "in quotes lower case stays lower case: leave the quotes out"
	case !strings.Contains(e.Text, "; "): // the text has a hint of its own
		e.Hint = "write " + syntaxOf(k)
	}
	return e
}

// joinsAddresses reports the values of connection names that are written without quotes: host(1414),other(1414). A port that a blank
// parts from its host is no address of its own.
func joinsAddresses(key string, items []item) bool {
	if key != "CONNAME" && key != "LOCLADDR" {
		return false
	}
	return !slices.ContainsFunc(items, func(it item) bool { return it.quoted || strings.HasPrefix(it.text, "(") && key == "CONNAME" })
}

// isWord reports the types whose values are words without case.
func isWord(t attr.Type) bool { return t == attr.TEnum || t == attr.TIntOrEnum || t == attr.TListEnum }

// quoteWord shows a word of the script in a message, cut when it is very long.
func quoteWord(s string) string {
	const most = 64
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return printable(s)
}

// didYouMean names the nearest of some words, or the only one that begins so.
func didYouMean(word string, among []string) string {
	const most = 32 // no keyword is nearly as long
	if len(word) > most {
		return ""
	}
	near := attr.Nearest(word, among)
	if near == "" && len(word) > 2 {
		fit := slices.DeleteFunc(slices.Clone(among), func(w string) bool { return !strings.HasPrefix(w, word) })
		if len(fit) == 1 {
			near = fit[0]
		}
	}
	if near == "" {
		return ""
	}
	return "did you mean " + near + "?"
}
