package mqi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// synonym is a property that has a name of JMS or of publish/subscribe beside its folder and element.
type synonym struct {
	name   string
	folder string // folder.element
	typ    int32
	set    bool // an application may set it under this name
}

var synonyms = [...]synonym{
	{"JMSCorrelationID", "jms.Cid", MQTYPE_STRING, true},
	{"JMSDeliveryMode", "jms.Dlv", MQTYPE_INT32, false},
	{"JMSDestination", "jms.Dst", MQTYPE_STRING, false},
	{"JMSExpiration", "jms.Exp", MQTYPE_INT64, false},
	{"JMSPriority", "jms.Pri", MQTYPE_INT32, false},
	{"JMSReplyTo", "jms.Rto", MQTYPE_STRING, true},
	{"JMSTimestamp", "jms.Tms", MQTYPE_INT64, false},
	{"JMSType", "mcd.Type", MQTYPE_STRING, true},
	{"JMSXGroupID", "jms.Gid", MQTYPE_STRING, true},
	{"JMSXGroupSeq", "jms.Seq", MQTYPE_INT32, true},
	{"MQTopicString", "mqps.Top", MQTYPE_STRING, false},
	{"MQSubUserData", "mqps.Sud", MQTYPE_STRING, false},
	{"MQIsRetained", "mqps.Ret", MQTYPE_BOOLEAN, false},
	{"MQPubOptions", "mqps.Pub", MQTYPE_INT32, false},
	{"MQPubLevel", "mqps.Pbl", MQTYPE_INT32, false},
	{"MQPubTime", "mqpse.Pts", MQTYPE_STRING, false},
	{"MQPubSeqNum", "mqpse.Seq", MQTYPE_INT32, false},
	{"MQPubStrIntData", "mqpse.Sid", MQTYPE_STRING, false},
	{"MQPubFormat", "mqpse.Pfmt", MQTYPE_INT32, false},
}

// impliedTypes are the types of elements that are written without a dt attribute although they are no strings.
var impliedTypes = map[string]int32{"mqext.Dly": MQTYPE_INT64, "mqext.Dtm": MQTYPE_INT64}

func init() {
	for _, s := range synonyms {
		if s.typ != MQTYPE_STRING {
			impliedTypes[s.folder] = s.typ
		}
	}
}

func synonymOf(name string) *synonym {
	for i := range synonyms {
		if synonyms[i].name == name {
			return &synonyms[i]
		}
	}
	return nil
}

// CanonicalPropName gives the name that a property is kept under: jms.Cid for JMSCorrelationID, colour for usr.colour.
func CanonicalPropName(name string) string {
	if s := synonymOf(name); s != nil {
		return s.folder
	}
	if bare, ok := strings.CutPrefix(name, "usr."); ok && !strings.Contains(bare, ".") {
		return bare
	}
	return name
}

// CheckPropName gives 0 for a name that a property can have, 2442 or 2513 otherwise.
func CheckPropName(name string) RC {
	if utf8.RuneCountInString(name) > MQ_MAX_PROPERTY_NAME_LENGTH {
		return MQRC_PROPERTY_NAME_LENGTH_ERR
	}
	if synonymOf(name) != nil {
		return 0
	}
	if strings.HasPrefix(name, "JMS") || strings.HasPrefix(name, "usr.JMS") {
		return MQRC_PROPERTY_NAME_ERROR
	}
	parts := strings.Split(name, ".")
	for _, p := range parts {
		if !isIdentifier(p) {
			return MQRC_PROPERTY_NAME_ERROR
		}
	}
	if isSelectorWord(CanonicalPropName(name)) || len(parts) > 2 && isFlat(parts[0]) {
		return MQRC_PROPERTY_NAME_ERROR
	}
	return 0
}

// checkPropSet is CheckPropName for a property that is to be set, with its type.
func checkPropSet(name string, typ int32) RC {
	if rc := CheckPropName(name); rc != 0 {
		return rc
	}
	s := synonymOf(name)
	switch {
	case s == nil:
		return 0
	case !s.set:
		return MQRC_PROPERTY_NAME_ERROR
	case s.typ != typ:
		return MQRC_PROPERTY_TYPE_ERROR
	}
	return 0
}

// isFlat reports the folders that hold no groups: all that begin with mq, in any case, but mq_usr; and those of JMS and
// the service integration bus.
func isFlat(folder string) bool {
	if lower := strings.ToLower(folder); strings.HasPrefix(lower, "mq") {
		return !strings.HasPrefix(lower, "mq_usr")
	}
	switch folder {
	case "jms", "mcd", "usr", "sib":
		return true
	}
	return false
}

// isSelectorWord reports the words of selection strings, which no property can be called.
func isSelectorWord(name string) bool {
	switch strings.ToUpper(name) {
	case "NULL", "TRUE", "FALSE", "NOT", "AND", "OR", "BETWEEN", "LIKE", "IN", "IS", "ESCAPE":
		return true
	}
	return false
}

// isIdentifier reports the identifiers of Java.
func isIdentifier(s string) bool {
	for i, r := range s {
		start := unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) || unicode.Is(unicode.Sc, r) || unicode.Is(unicode.Pc, r)
		if !start && (i == 0 || !unicode.IsDigit(r) && !unicode.IsMark(r)) || r == utf8.RuneError {
			return false
		}
	}
	return s != ""
}

// splitPropName gives folder and path of a canonical name.
func splitPropName(name string) (folder string, path []string) {
	parts := strings.Split(name, ".")
	if len(parts) == 1 {
		return "usr", parts
	}
	return parts[0], parts[1:]
}
