package pubsub

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Topic strings: their levels, their limits, and how an object's string and an application's become one.

// MaxTopicLen is the longest topic string, in characters (MQ_TOPIC_STR_LENGTH).
const MaxTopicLen = 10240

// Reason codes this engine gives; the queue manager passes them on.
const (
	RCUnknownObjectName = 2085 // MQRC_UNKNOWN_OBJECT_NAME
	RCTopicString       = 2425 // MQRC_TOPIC_STRING_ERROR
	RCObjectString      = 2441 // MQRC_OBJECT_STRING_ERROR
	RCAdminTopicString  = 2598 // MQRC_ADMIN_TOPIC_STRING_ERROR
	RCOptions           = 2046 // MQRC_OPTIONS_ERROR
	RCDuplicateGroupSub = 2514 // MQRC_DUPLICATE_GROUP_SUB
	RCObjectExists      = 2100 // MQRC_OBJECT_ALREADY_EXISTS
)

// Error carries the reason code of a refused topic string, filter or topic object.
type Error struct {
	RC    int32
	Topic string // the string or object name that was refused, shortened for messages
	Why   string
}

func (e *Error) Error() string { return fmt.Sprintf("topic %q: %s (reason %d)", e.Topic, e.Why, e.RC) }

// refuse makes an Error with at most 100 bytes of the topic in it.
func refuse(rc int32, topic, why string) *Error {
	if len(topic) > 100 {
		topic = strings.ToValidUTF8(topic[:100], "") + "…"
	}
	return &Error{RC: rc, Topic: topic, Why: why}
}

// CheckLen refuses a topic string longer than MaxTopicLen characters.
func CheckLen(topic string) error {
	if len(topic) > MaxTopicLen && utf8.RuneCountInString(topic) > MaxTopicLen {
		return refuse(RCObjectString, topic, fmt.Sprintf("longer than %d characters", MaxTopicLen))
	}
	return nil
}

// nextLevel cuts the first level off a topic string. The empty string has no levels and is the root; callers test
// for it once, before their loop. more is false with the last level.
func nextLevel(s string) (level, rest string, more bool) {
	if i := strings.IndexByte(s, '/'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// present is the rule for a part of a topic string: it counts when it does not begin with a blank or a null.
func present(s string) bool { return s != "" && s[0] != ' ' && s[0] != 0 }

// Combine joins the topic string of an object (hasObject says there is one) and the application's ObjectString.
func Combine(objectTopic string, hasObject bool, objectString string) (string, error) {
	var full string
	switch a, b := hasObject && present(objectTopic), present(objectString); {
	case a && b:
		full = objectTopic + "/" + objectString
	case a:
		full = objectTopic
	case b:
		full = objectString
	case hasObject:
		return "", refuse(RCTopicString, "", "the topic object has no topic string and none was given; set ObjectString")
	default:
		return "", refuse(RCUnknownObjectName, "", "neither a topic object nor a topic string was given")
	}
	return full, CheckLen(full)
}

// IsAdminTopic reports whether a topic string lies in $SYS/MQ, where only the queue manager publishes.
func IsAdminTopic(topic string) bool {
	return topic == AdminTopic || strings.HasPrefix(topic, AdminTopic+"/")
}

// AdminTopic is the branch of the queue manager's own topics. It is kept apart from the rest: what topic objects above it
// say, and allow, does not hold in it.
const AdminTopic = "$SYS/MQ"
