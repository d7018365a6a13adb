package mqsc

// Object names: length, characters, generic forms.

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/qmgrd/qmgrd/internal/attr"
)

func runes(s string) int { return utf8.RuneCountInString(s) }

// maxText is the longest topic string and subscription name.
const maxText = 10240

// badNameChar gives the first character that no object's name may have, as a message shows it; "" when all are good.
func badNameChar(name string) string {
	for _, r := range name {
		switch {
		case 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		case r == '.', r == '_', r == '/', r == '%':
		case r == ' ':
			return "a blank"
		default:
			return "the character " + printable(string(r))
		}
	}
	return ""
}

// checkName checks the brackets behind the object and gives the name, or what is wrong and what to do.
func checkName(cmd *attr.Command, it *item) (name, text, hint string) {
	obj := cmd.Object
	switch obj {
	case "TPSTATUS", "TOPICSTR", "SUB", "SBSTATUS":
		// trailing blanks count in these
		if runes(it.text) > maxText {
			return "", fmt.Sprintf("the name has %d characters, at most %d are allowed", runes(it.text), maxText), "make it shorter"
		}
		if strings.TrimSpace(it.text) == "" && obj != "TPSTATUS" {
			return "", "the name is blank", "write " + obj + "('name')"
		}
		return it.text, "", ""
	}
	name = strings.TrimRight(it.text, " ")
	if name == "" {
		return "", "the name is blank", "write " + obj + "(NAME)"
	}
	generic := cmd.Spec.NeedName == attr.NameGeneric || cmd.Spec.NeedName == attr.NameOptional && obj != "LISTENER"
	body := name
	if generic {
		body = strings.TrimSuffix(name, "*")
	}
	if obj == "SECURITY" && name != "*" {
		return "", "only * may stand here", "write " + cmd.Verb + " SECURITY(*)"
	}
	body = attr.WithoutInserts(body) // what is put for them is checked when the command runs
	if most := nameLength(cmd); runes(attr.WithoutInserts(name)) > most {
		return "", fmt.Sprintf("the name has %d characters, at most %d are allowed", runes(name), most), "make it shorter"
	}
	if obj == "APSTATUS" {
		return name, "", ""
	}
	bad := badNameChar(body)
	switch {
	case bad == "":
		return name, "", ""
	case templateAt(body) >= 0:
		return "", "an unrendered template", templateHint
	case strings.Contains(body, "*") && generic:
		return "", "the * of a generic name must be its last character", "shorten the name to what stands before the first *"
	case strings.Contains(body, "*"):
		return "", cmd.Verb + " " + obj + " takes no generic name", "name one object"
	case strings.Contains(body, `"`):
		return "", "double quotes are not quotes in MQSC", "use single quotes"
	case strings.Contains(body, "+"):
		return "", "a plus sign in a name is part of an insert", "write +QMNAME+ for the queue manager's name"
	}
	return "", "a name must not hold " + bad, "use A-Z a-z 0-9 . _ / %"
}

// nameLength is the greatest length of the command's object name.
func nameLength(cmd *attr.Command) int {
	for _, k := range []attr.Kind{attr.Kind(cmd.Verb + " " + cmd.Object), cmd.Kind, attr.Kind(cmd.Object)} {
		if s, ok := attr.SchemaOf(k); ok {
			if row := s.NameAttr(); row != nil && row.MaxLen > 0 {
				return row.MaxLen
			}
		}
	}
	switch cmd.Object {
	case "CHANNEL", "CHLAUTH", "CHSTATUS":
		return 20
	case "APSTATUS":
		return 28
	}
	return 48
}
