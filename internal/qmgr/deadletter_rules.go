package qmgr

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// The rule table of the dead-letter handler: one optional line of control data, then a rule a line, tried in order. A line
// whose last character is + or - goes on in the next, at its first character that is no blank (+) or at its first (-).
// Lines that begin with * are comments.

// DeadLetterTable is a rule table.
type DeadLetterTable struct {
	InputQ   string // blank: DEADQ of the queue manager
	InputQM  string
	RetryInt time.Duration // RETRYINT, between two tries
	Wait     time.Duration // WAIT; 0 NO, negative YES: for ever
	rules    []deadRule
}

// deadAction is what a rule does.
type deadAction uint8

const (
	deadRetry deadAction = iota + 1
	deadForward
	deadDiscard
	deadIgnore
)

var deadActions = map[string]deadAction{"RETRY": deadRetry, "FWD": deadForward, "DISCARD": deadDiscard, "IGNORE": deadIgnore}

// deadRule is one line: patterns, all of which must fit, and an action.
type deadRule struct {
	line     int
	patterns map[string]string // by keyword; numbers in decimal digits
	action   deadAction
	fwdQ     string
	fwdQM    string
	noHeader bool // HEADER(NO): forward without MQDLH
	context  bool // PUTAUT(CTX): put with the authority of the user in the message
	retry    int  // RETRY: how often the action is tried
}

// deadPatterns are the keywords of patterns. Those with a prefix take numbers or the names of MQ constants.
var deadPatterns = map[string]string{"APPLIDAT": "", "APPLNAME": "", "APPLTYPE": "MQAT_", "DESTQ": "", "DESTQM": "",
	"FORMAT": "", "MSGTYPE": "MQMT_", "PERSIST": "MQPER_", "REASON": "MQRC_", "REPLYQ": "", "REPLYQM": "", "USERID": ""}

const (
	maxRuleLine = 8 << 10
	maxRules    = 4096
)

// ParseDeadLetterTable reads a rule table. The error names the line.
func ParseDeadLetterTable(r io.Reader) (*DeadLetterTable, error) {
	t := &DeadLetterTable{RetryInt: 60 * time.Second, Wait: -1}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 4096), maxRuleLine)
	number, start, text := 0, 0, ""
	fail := func(err error) error { return fmt.Errorf("rule table, line %d: %w", start, err) }
	for in.Scan() {
		number++
		line := strings.TrimRight(in.Text(), " \t\r")
		if text == "" {
			start = number
			if strings.HasPrefix(line, "*") || strings.TrimSpace(line) == "" {
				continue
			}
		}
		switch {
		case strings.HasSuffix(line, "+"):
			text += strings.TrimLeft(strings.TrimSuffix(line, "+"), " \t")
			continue
		case strings.HasSuffix(line, "-"):
			text += strings.TrimSuffix(line, "-")
			continue
		case text != "" && len(text) < maxRuleLine:
			line = text + strings.TrimLeft(line, " \t")
		}
		text = ""
		if err := t.add(line, start); err != nil {
			return nil, fail(err)
		}
	}
	start = number + 1
	switch err := in.Err(); {
	case err != nil:
		return nil, fail(err)
	case text != "":
		return nil, fail(fmt.Errorf("the last line is continued, but nothing follows"))
	case len(t.rules) == 0:
		return nil, fmt.Errorf("the rule table holds no rule")
	}
	return t, nil
}

// keyword is KEY(value) of a rule.
type ruleWord struct{ key, val string }

// splitRule cuts a line into keywords. Values may stand in quotes; a quote in them is doubled.
func splitRule(s string) ([]ruleWord, error) {
	var out []ruleWord
	for {
		s = strings.TrimLeft(s, " \t,")
		if s == "" {
			return out, nil
		}
		key, rest, ok := strings.Cut(s, "(")
		if !ok {
			return nil, fmt.Errorf("%q: a keyword takes a value in brackets", key)
		}
		key = strings.ToUpper(strings.TrimSpace(key))
		val := ""
		rest = strings.TrimLeft(rest, " \t")
		if strings.HasPrefix(rest, "'") {
			for rest = rest[1:]; ; {
				part, after, ok := strings.Cut(rest, "'")
				if !ok {
					return nil, fmt.Errorf("%s: the quote is not closed", key)
				}
				val, rest = val+part, after
				if !strings.HasPrefix(rest, "'") {
					break
				}
				val, rest = val+"'", rest[1:]
			}
			rest = strings.TrimLeft(rest, " \t")
			if !strings.HasPrefix(rest, ")") {
				return nil, fmt.Errorf("%s: a closing bracket is missing", key)
			}
			s = rest[1:]
		} else {
			v, after, ok := strings.Cut(rest, ")")
			if !ok {
				return nil, fmt.Errorf("%s: a closing bracket is missing", key)
			}
			val, s = strings.TrimSpace(v), after
		}
		for _, w := range out {
			if w.key == key {
				return nil, fmt.Errorf("%s is given twice", key)
			}
		}
		out = append(out, ruleWord{key, val})
	}
}

// add takes one whole line: control data as the first, rules after it.
func (t *DeadLetterTable) add(line string, number int) error {
	words, err := splitRule(line)
	if err != nil {
		return err
	}
	control := false
	for _, w := range words {
		switch w.key {
		case "INPUTQ", "INPUTQM", "RETRYINT", "WAIT":
			control = true
		}
	}
	if !control {
		if len(t.rules) >= maxRules {
			return fmt.Errorf("more than %d rules", maxRules)
		}
		return t.addRule(words, number)
	}
	if len(t.rules) > 0 {
		return fmt.Errorf("control data (INPUTQ, INPUTQM, RETRYINT, WAIT) must stand before the rules")
	}
	return t.control(words)
}

func (t *DeadLetterTable) control(words []ruleWord) error {
	for _, w := range words {
		switch w.key {
		case "INPUTQ":
			t.InputQ = strings.TrimSpace(w.val)
		case "INPUTQM":
			t.InputQM = strings.TrimSpace(w.val)
		case "RETRYINT":
			n, err := ruleNumber(w, 1)
			if err != nil {
				return err
			}
			t.RetryInt = time.Duration(n) * time.Second
		case "WAIT":
			switch v := strings.ToUpper(w.val); v {
			case "YES":
				t.Wait = -1
			case "NO":
				t.Wait = 0
			default:
				n, err := ruleNumber(w, 0)
				if err != nil {
					return fmt.Errorf("WAIT(%s): use YES, NO or a number of seconds", w.val)
				}
				t.Wait = time.Duration(n) * time.Second
			}
		default:
			return fmt.Errorf("%s cannot stand in control data", w.key)
		}
	}
	return nil
}

func ruleNumber(w ruleWord, least int) (int, error) {
	n, err := strconv.ParseInt(w.val, 10, 32)
	if err != nil || int(n) < least || n > 999999999 {
		return 0, fmt.Errorf("%s(%s): use a number from %d to 999999999", w.key, w.val, least)
	}
	return int(n), nil
}

func (t *DeadLetterTable) addRule(words []ruleWord, number int) error {
	r := deadRule{line: number, patterns: map[string]string{}, retry: 1}
	for _, w := range words {
		if prefix, ok := deadPatterns[w.key]; ok {
			v, err := patternValue(w, prefix)
			if err != nil {
				return err
			}
			r.patterns[w.key] = v
			continue
		}
		if err := r.does(w); err != nil {
			return err
		}
	}
	switch {
	case r.action == 0:
		return fmt.Errorf("ACTION is missing: RETRY, FWD, DISCARD or IGNORE")
	case r.action == deadForward && r.fwdQ == "":
		return fmt.Errorf("ACTION(FWD) needs FWDQ")
	case r.action != deadForward && (r.fwdQ != "" || r.fwdQM != ""):
		return fmt.Errorf("FWDQ and FWDQM go with ACTION(FWD) only")
	}
	t.rules = append(t.rules, r)
	return nil
}

// does reads a keyword of the action.
func (r *deadRule) does(w ruleWord) error {
	v := strings.ToUpper(w.val)
	switch w.key {
	case "ACTION":
		if r.action = deadActions[v]; r.action == 0 {
			return fmt.Errorf("ACTION(%s): use RETRY, FWD, DISCARD or IGNORE", w.val)
		}
	case "FWDQ":
		r.fwdQ = strings.TrimSpace(w.val)
	case "FWDQM":
		r.fwdQM = strings.TrimSpace(w.val)
	case "HEADER":
		if v != "YES" && v != "NO" {
			return fmt.Errorf("HEADER(%s): use YES or NO", w.val)
		}
		r.noHeader = v == "NO"
	case "PUTAUT":
		if v != "DEF" && v != "CTX" {
			return fmt.Errorf("PUTAUT(%s): use DEF or CTX", w.val)
		}
		r.context = v == "CTX"
	case "RETRY":
		n, err := ruleNumber(w, 1)
		if err != nil {
			return err
		}
		r.retry = n
	default:
		return fmt.Errorf("unknown keyword %s", w.key)
	}
	return nil
}

// patternValue makes a pattern comparable: names of constants become digits.
func patternValue(w ruleWord, prefix string) (string, error) {
	if prefix == "" || w.val == "*" {
		return w.val, nil
	}
	if _, err := strconv.ParseInt(w.val, 10, 32); err == nil {
		return w.val, nil
	}
	name := strings.ToUpper(w.val)
	prefixes := []string{prefix}
	if prefix == "MQRC_" {
		prefixes = append(prefixes, "MQFB_")
	}
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			if n, ok := mqi.Number(name); ok {
				return strconv.Itoa(int(n)), nil
			}
		}
	}
	return "", fmt.Errorf("%s(%s): use a number or a constant %s…", w.key, w.val, prefix)
}

// wild compares a text with a pattern in which ? is any character and * any number of them.
func wild(pattern, s string) bool {
	p, i, star, mark := 0, 0, -1, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p, i = p+1, i+1
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
