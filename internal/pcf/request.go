package pcf

import (
	"errors"
	"fmt"
	"strings"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
	"github.com/qmgrd/qmgrd/internal/mqsc"
)

// Directory tells what kind an object of a class ("Q", "CHANNEL", "AUTHINFO") is, where a command may leave its type out
// although MQSC has a word for each: MQCMD_DELETE_Q. It may be nil.
type Directory func(class, name string) (attr.Kind, bool)

// Request is one command that came in PCF.
type Request struct {
	// Command is what the executor takes.
	Command *attr.Command
	// Text is the MQSC of an Escape command; Command then is what it says.
	Text string
	// QMgr is the queue manager's name, which answers about authorities begin with.
	QMgr string

	options int32 // MQAUTHOPT_ of a command about authorities
	pcf     int32 // MQCMD_
	escape  bool
	xr      bool // MQCFT_COMMAND_XR
	spec    spec
}

// paramError says which parameter a command was refused for.
type paramError struct {
	id  int32
	err error
}

func (e *paramError) Error() string { return fmt.Sprintf("parameter %d: %v", e.id, e.err) }
func (e *paramError) Unwrap() error { return e.err }

// refuse makes the error of a command, with a reason code for the response.
func (q *Request) refuse(rc mqi.RC, id int32, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if id != 0 {
		err = &paramError{id, err}
	}
	return mqi.Wrap("PCF", mqi.Name("MQCMD", q.pcf), rc, err)
}

// Parse reads a message from the command queue. The header is given even when the command is refused: the response needs
// it. format is MQMD.Format.
func Parse(format string, body []byte, c mqi.Coding, dir Directory) (*Request, mqi.CFMsg, error) {
	m, rest, err := mqi.ParseCF(body, c)
	q := &Request{pcf: m.Command}
	switch {
	case format != mqi.MQFMT_ADMIN:
		return nil, m, q.refuse(mqi.MQRCCF_MD_FORMAT_ERROR, 0, "the message's format is %q, not MQADMIN", format)
	case err != nil:
		return nil, m, err
	case len(rest) > 0:
		return nil, m, q.refuse(mqi.MQRCCF_MSG_LENGTH_ERROR, 0, "%d bytes stand behind the last parameter", len(rest))
	}
	q, err = FromPCF(&m, dir)
	return q, m, err
}

// FromPCF makes the executor's command of one in PCF. An error carries its MQRCCF_ reason code.
func FromPCF(m *mqi.CFMsg, dir Directory) (*Request, error) {
	q := &Request{pcf: m.Command, xr: m.Type == mqi.MQCFT_COMMAND_XR}
	switch {
	case m.Type != mqi.MQCFT_COMMAND && m.Type != mqi.MQCFT_COMMAND_XR:
		return nil, q.refuse(mqi.MQRCCF_CFH_TYPE_ERROR, 0, "type %d is not a command", m.Type)
	case m.MsgSeqNumber != 1:
		return nil, q.refuse(mqi.MQRCCF_CFH_MSG_SEQ_NUMBER_ERR, 0, "MsgSeqNumber %d, a command is one message", m.MsgSeqNumber)
	case m.Control != mqi.MQCFC_LAST:
		return nil, q.refuse(mqi.MQRCCF_CFH_CONTROL_ERROR, 0, "Control %d, a command is one message", m.Control)
	}
	if m.Command == mqi.MQCMD_ESCAPE {
		return q, q.fromEscape(m)
	}
	b, err := q.builder(m, dir)
	if err != nil {
		return nil, err
	}
	if err := b.build(); err != nil {
		return nil, err
	}
	return q, nil
}

// fromEscape takes a command in MQSC.
func (q *Request) fromEscape(m *mqi.CFMsg) error {
	q.escape = true
	typ, text := m.Find(mqi.MQIACF_ESCAPE_TYPE), m.Find(mqi.MQCACF_ESCAPE_TEXT)
	switch {
	case typ == nil || text == nil:
		return q.refuse(mqi.MQRCCF_PARM_COUNT_TOO_SMALL, 0, "an Escape command has MQIACF_ESCAPE_TYPE and MQCACF_ESCAPE_TEXT")
	case typ.Int() != mqi.MQET_MQSC:
		return q.refuse(mqi.MQRCCF_ESCAPE_TYPE_ERROR, mqi.MQIACF_ESCAPE_TYPE, "escape type %d", typ.Int())
	case text.Type != mqi.MQCFT_STRING:
		return q.refuse(cfCodes[text.Type].unknown, mqi.MQCACF_ESCAPE_TEXT, "the text is no MQCFST")
	}
	q.Text = text.Text()
	cmd, serr := mqsc.ParseCommand(q.Text)
	if serr != nil {
		return mqi.Wrap("PCF", "MQCMD_ESCAPE", mqi.MQRCCF_COMMAND_FAILED, serr)
	}
	q.Command = cmd
	return nil
}

// builder makes one command.
type builder struct {
	q     *Request
	m     *mqi.CFMsg
	cmd   *attr.Command
	class string // "Q" where the object is narrowed by a type
	kinds []attr.Kind
	seen  map[string]bool
	taken map[int32]bool // parameters that are no attributes
	dir   Directory
	typed *attr.Param // the type, when it was the directory's to tell
}

// builder finds the command's verb and object.
func (q *Request) builder(m *mqi.CFMsg, dir Directory) (*builder, error) {
	b := &builder{q: q, m: m, dir: dir, seen: map[string]bool{}, taken: map[int32]bool{}}
	s, ok := special[m.Command]
	if !ok {
		for i, v := range attr.Verbs() {
			if v.PCFNum == m.Command && m.Command != 0 {
				s, ok = spec{verb: attr.Verbs()[i].Verb, object: attr.Verbs()[i].Object}, true
				break
			}
		}
	}
	if !ok {
		return nil, q.refuse(mqi.MQRCCF_CFH_COMMAND_ERROR, 0, "command %d is not known here", m.Command)
	}
	q.spec = s
	q.options = mqi.MQAUTHOPT_ENTITY_EXPLICIT | mqi.MQAUTHOPT_NAME_ALL_MATCHING // where the command has none
	b.class = s.object
	b.cmd = &attr.Command{Verb: s.verb, Object: s.object}
	q.Command = b.cmd
	return b, nil
}

func (b *builder) build() error {
	if err := b.unique(); err != nil {
		return err
	}
	if err := b.kind(); err != nil {
		return err
	}
	spec, ok := attr.LookupVerb(b.cmd.Verb, b.cmd.Object)
	if !ok {
		return b.q.refuse(mqi.MQRCCF_CFH_COMMAND_ERROR, 0, "%s has no object %s", b.cmd.Verb, b.cmd.Object)
	}
	b.cmd.Spec = spec
	b.kinds = b.rowKinds()
	if err := b.name(); err != nil {
		return err
	}
	if p := b.typed; p != nil {
		p.Attr, _ = spec.Attr(b.cmd.Kind, p.Key)
		b.seen[p.Key] = true
		b.cmd.Params = append(b.cmd.Params, *p)
	}
	for i := range b.m.Params {
		if err := b.param(&b.m.Params[i]); err != nil {
			return err
		}
	}
	if b.cmd.Verb == "DISPLAY" && !b.asked() && b.q.spec.names == 0 {
		b.ask("ALL")
	}
	if missing := spec.Missing(b.cmd.Get); len(missing) > 0 && b.cmd.Verb != "DISPLAY" {
		if rc, ok := missingErrors[missing[0]]; ok && len(b.m.Params) > 0 {
			return b.q.refuse(rc, 0, "%s is missing", missing[0])
		}
		return b.missing("%s is missing", missing[0])
	}
	b.cmd.Text = commandText(b.cmd)
	return nil
}

// missing refuses a command that lacks a parameter.
func (b *builder) missing(format string, args ...any) error {
	rc := mqi.RC(mqi.MQRCCF_PARM_MISSING)
	if len(b.m.Params) == 0 {
		rc = mqi.MQRCCF_PARM_COUNT_TOO_SMALL
	}
	return b.q.refuse(rc, 0, format, args...)
}

// kind chooses the object and the rows in force, by the command's type parameter.
func (b *builder) kind() error {
	b.cmd.Kind = attr.Kind(b.class)
	class := b.class
	if class == "QUEUE" {
		return nil // a DISPLAY of queues takes their type as any keyword
	}
	k, ok := typeKeys[class]
	if !ok {
		return nil
	}
	p := b.given(k.id)
	if p == nil {
		return b.kindWithoutType(class, k)
	}
	words := attr.Kind(class)
	if class == "Q" {
		words = "QUEUE"
	}
	schema, _ := attr.SchemaOf(words)
	row, ok := schema.Lookup(k.key)
	if !ok {
		return nil
	}
	e, ok := row.EnumByNum(int32(p.Int()))
	switch {
	case p.Type != mqi.MQCFT_INTEGER:
		return b.q.refuse(cfCodes[p.Type].unknown, k.id, "%s is no number", k.key)
	case !ok:
		return b.q.refuse(k.rc, k.id, "%d is no value of %s", p.Int(), k.key)
	case e.Word == "ALL" || class == "Q" && e.Word == "QCLUSTER":
		if b.cmd.Verb != "DISPLAY" {
			return b.q.refuse(k.rc, k.id, "%s is no type of an object", e.Word)
		}
		return nil
	case class == "Q":
		b.cmd.Object, b.cmd.Kind = e.Word, attr.Kind(e.Word)
		b.taken[k.id] = true
	case k.def == "":
		b.cmd.Kind = attr.Kind(class + "(" + e.Word + ")")
	default:
		b.cmd.Kind = attr.Kind(class + " TYPE(" + e.Word + ")")
	}
	if _, ok := attr.SchemaOf(b.cmd.Kind); !ok {
		return b.q.refuse(k.rc, k.id, "there is no %s", b.cmd.Kind)
	}
	return nil
}

// kindWithoutType is for commands that leave the type out: what the object with that name is decides.
func (b *builder) kindWithoutType(class string, k typeKey) error {
	verb := b.cmd.Verb
	switch {
	case k.def != "":
		b.cmd.Kind = attr.Kind(class + " TYPE(" + k.def + ")")
		return nil
	case class != "Q" && verb != "ALTER" && verb != "DEFINE":
		return nil
	}
	id := b.q.spec.from // a copy is what it is copied from
	if id == 0 {
		id = nameID(class)
	}
	if p := b.given(id); p != nil && b.dir != nil && (b.q.spec.from != 0 || verb == "DELETE") {
		if kind, ok := b.dir(class, trimName(p.Text())); ok {
			b.cmd.Kind = kind
			if class == "Q" {
				b.cmd.Object = string(kind)
				return nil
			}
			word := strings.TrimSuffix(strings.TrimPrefix(string(kind), class+"("), ")")
			b.typed = &attr.Param{Key: k.key, Val: word, HasValue: true}
			return nil
		}
	}
	if class == "Q" && verb == "DELETE" { // there is none: the executor says so of a local queue
		b.cmd.Object, b.cmd.Kind = "QLOCAL", "QLOCAL"
		return nil
	}
	return b.missing("%s (parameter %d) is missing", k.key, k.id)
}

// nameID is the parameter that names an object of a class.
func nameID(class string) int32 {
	if class == "Q" {
		class = "QUEUE"
	}
	if s, ok := attr.SchemaOf(attr.Kind(class)); ok {
		if row := s.NameAttr(); row != nil {
			return row.ID
		}
	}
	return 0
}

func trimName(s string) string { return strings.TrimRight(s, " \x00") }

// name takes the parameter that stands in MQSC's brackets behind the object.
func (b *builder) name() error {
	row, id := b.nameRow(), b.q.spec.to
	if row == nil {
		return nil
	}
	if id == 0 {
		id = row.ID
	}
	if from := b.q.spec.from; from != 0 {
		p := b.given(from)
		if p == nil {
			return b.missing("the name of the object to copy (parameter %d) is missing", from)
		}
		b.cmd.Params = append(b.cmd.Params, attr.Param{Key: "LIKE", Val: trimName(p.Text()), HasValue: true, Attr: b.likeRow()})
		b.seen["LIKE"], b.taken[from] = true, true
	}
	b.taken[id] = true
	if row.ID == mqi.MQBACF_CONNECTION_ID {
		return b.connection()
	}
	p := b.given(id)
	rule := b.cmd.Spec.NeedName
	if b.q.spec.nameOf != "" {
		rule = attr.NameGeneric
	}
	if p == nil {
		if rule == attr.NameRequired || rule == attr.NameGeneric {
			return b.missing("the name (parameter %d) is missing", id)
		}
		return nil
	}
	if rule == attr.NameNone {
		delete(b.taken, id)
		return nil
	}
	if p.Type != mqi.MQCFT_STRING {
		return b.q.refuse(cfCodes[p.Type].unknown, id, "the name is no MQCFST")
	}
	name := p.Text()
	if row.Type == attr.TName || row.MaxLen < longText {
		name = trimName(name)
	}
	if err := row.CheckName(name, rule != attr.NameRequired); err != nil {
		rc := mqi.RC(mqi.MQRCCF_OBJECT_NAME_ERROR)
		switch {
		case row.MaxLen > 0 && len(name) > row.MaxLen:
			rc = mqi.MQRCCF_CFST_STRING_LENGTH_ERR
		case row.ID == mqi.MQCACH_CHANNEL_NAME:
			rc = mqi.MQRCCF_CHANNEL_NAME_ERROR
		}
		return b.q.refuse(rc, id, "%w", err)
	}
	b.cmd.Name, b.cmd.HasName = name, true
	return nil
}

// longText is the length from which on a text's trailing blanks count: topic strings, subscription names.
const longText = 10240

func (b *builder) nameRow() *attr.Attr {
	kinds := b.kinds
	if of := b.q.spec.nameOf; of != "" {
		kinds = []attr.Kind{attr.Kind(of)}
	}
	for _, k := range kinds {
		if s, ok := attr.SchemaOf(k); ok {
			if row := s.NameAttr(); row != nil {
				return row
			}
		}
	}
	return nil
}

func (b *builder) likeRow() *attr.Attr {
	row, _ := b.cmd.Spec.Attr(b.cmd.Kind, "LIKE")
	return row
}

// rowKinds lists where the command's keywords have rows, the nearest first.
func (b *builder) rowKinds() []attr.Kind {
	out := []attr.Kind{attr.Kind(b.cmd.Verb + " " + b.cmd.Object), b.cmd.Kind}
	if o := attr.Kind(b.cmd.Object); o != b.cmd.Kind {
		out = append(out, o)
	}
	return append(out, "*")
}

// commandText writes the command in MQSC, for logs and command events.
func commandText(c *attr.Command) string {
	var b strings.Builder
	b.WriteString(c.Verb + " " + c.Object)
	if c.HasName {
		b.WriteString("(" + mqsc.Quote(c.Name, nil) + ")")
	}
	for _, p := range c.Params {
		switch {
		case p.Attr != nil && p.Attr.Type == attr.TFlag && p.HasValue:
			word := p.Key
			if p.Val == "NO" && p.Attr.Neg != "" {
				word = p.Attr.Neg
			}
			b.WriteString(" " + word)
		case !p.HasValue:
			b.WriteString(" " + p.Key)
		case p.Attr != nil && p.Attr.Hidden:
			b.WriteString(" " + p.Key + "('" + mqsc.HiddenMask + "')")
		default:
			b.WriteString(" " + p.Key + "(" + mqsc.Quote(p.Val, p.Attr) + ")")
		}
	}
	if w := c.Where; w != nil {
		b.WriteString(" WHERE(" + w.Key + " " + w.Op + " " + mqsc.Quote(w.Val, w.Attr) + ")")
	}
	return b.String()
}

var errValue = errors.New("the value is not allowed")
