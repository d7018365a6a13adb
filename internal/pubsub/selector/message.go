package selector

import (
	"encoding/hex"
	"strings"
	"time"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Message gives the properties of a message: its own, and those that its descriptor stands for, under the names of
// JMS (JMSPriority, JMSXUserID, JMS_IBM_Format …) and under Root.MQMD.
type Message struct {
	MD *mqi.MD
	// Props are the message's own properties, JMSType among them; may be nil. They come before the descriptor's.
	Props Properties
}

// Property is for Properties.
func (m Message) Property(name string) Value {
	if field, ok := strings.CutPrefix(name, mqmdPrefix); ok {
		if get := mqmdFields[field]; get != nil {
			return get(m.MD)
		}
		return Value{}
	}
	if m.Props != nil {
		if v := m.Props.Property(name); !v.IsNull() {
			return v
		}
	}
	if get := jmsNames[name]; get != nil {
		return get(m.MD)
	}
	return Value{}
}

const mqmdPrefix = "Root.MQMD."

// folderNames are the properties that have a name beside that of their folder and element.
var folderNames = map[string]string{"mcd.Type": "JMSType", "jms.Cid": "JMSCorrelationID", "jms.Gid": "JMSXGroupID",
	"jms.Seq": "JMSXGroupSeq", "mqps.Top": "MQTopicString", "mqps.Sud": "MQSubUserData", "mqps.Ret": "MQIsRetained"}

// Name is what a property is known by here: colour for usr.colour, JMSType for mcd.Type.
func Name(property string) string {
	if n, ok := folderNames[property]; ok {
		return n
	}
	if bare, ok := strings.CutPrefix(property, "usr."); ok && bare != "" && !strings.Contains(bare, ".") {
		return bare
	}
	return property
}

func integer(get func(*mqi.MD) int32) func(*mqi.MD) Value {
	return func(md *mqi.MD) Value { return Int(int64(get(md))) }
}

func field(get func(*mqi.MD) string) func(*mqi.MD) Value {
	return func(md *mqi.MD) Value { return Field(get(md)) }
}

// mqmdFields are the names below Root.MQMD.
var mqmdFields = map[string]func(*mqi.MD) Value{
	"StrucId":          func(*mqi.MD) Value { return Field("MD") },
	"Version":          integer(func(md *mqi.MD) int32 { return md.Version }),
	"Report":           integer(func(md *mqi.MD) int32 { return md.Report }),
	"MsgType":          integer(func(md *mqi.MD) int32 { return md.MsgType }),
	"Expiry":           integer(func(md *mqi.MD) int32 { return md.Expiry }),
	"Feedback":         integer(func(md *mqi.MD) int32 { return md.Feedback }),
	"Encoding":         integer(func(md *mqi.MD) int32 { return md.Encoding }),
	"CodedCharSetId":   integer(func(md *mqi.MD) int32 { return md.CodedCharSetID }),
	"Format":           field(func(md *mqi.MD) string { return md.Format }),
	"Priority":         integer(func(md *mqi.MD) int32 { return md.Priority }),
	"Persistence":      integer(func(md *mqi.MD) int32 { return md.Persistence }),
	"MsgId":            func(md *mqi.MD) Value { return Bytes(md.MsgID[:]) },
	"CorrelId":         func(md *mqi.MD) Value { return Bytes(md.CorrelID[:]) },
	"BackoutCount":     integer(func(md *mqi.MD) int32 { return md.BackoutCount }),
	"ReplyToQ":         field(func(md *mqi.MD) string { return md.ReplyToQ }),
	"ReplyToQMgr":      field(func(md *mqi.MD) string { return md.ReplyToQMgr }),
	"UserIdentifier":   field(func(md *mqi.MD) string { return md.UserIdentifier }),
	"AccountingToken":  func(md *mqi.MD) Value { return Bytes(md.AccountingToken[:]) },
	"ApplIdentityData": field(func(md *mqi.MD) string { return md.ApplIdentityData }),
	"PutApplType":      integer(func(md *mqi.MD) int32 { return md.PutApplType }),
	"PutApplName":      field(func(md *mqi.MD) string { return md.PutApplName }),
	"PutDate":          field(func(md *mqi.MD) string { return md.PutDate }),
	"PutTime":          field(func(md *mqi.MD) string { return md.PutTime }),
	"ApplOriginData":   field(func(md *mqi.MD) string { return md.ApplOriginData }),
	"GroupId":          func(md *mqi.MD) Value { return Bytes(md.GroupID[:]) },
	"MsgSeqNumber":     integer(func(md *mqi.MD) int32 { return md.MsgSeqNumber }),
	"Offset":           integer(func(md *mqi.MD) int32 { return md.Offset }),
	"MsgFlags":         integer(func(md *mqi.MD) int32 { return md.MsgFlags }),
	"OriginalLength":   integer(func(md *mqi.MD) int32 { return md.OriginalLength }),
}

// jmsNames are the JMS names that the descriptor answers.
var jmsNames = map[string]func(*mqi.MD) Value{
	"JMSDeliveryMode": func(md *mqi.MD) Value {
		if md.Persistence == mqi.MQPER_PERSISTENT {
			return String("PERSISTENT")
		}
		return String("NON_PERSISTENT")
	},
	"JMSPriority":         mqmdFields["Priority"],
	"JMSMessageID":        func(md *mqi.MD) Value { return jmsID(md.MsgID) },
	"JMSCorrelationID":    func(md *mqi.MD) Value { return jmsID(md.CorrelID) },
	"JMSTimestamp":        putTime,
	"JMSXUserID":          mqmdFields["UserIdentifier"],
	"JMSXAppID":           mqmdFields["PutApplName"],
	"JMSXDeliveryCount":   integer(func(md *mqi.MD) int32 { return md.BackoutCount + 1 }),
	"JMS_IBM_Format":      mqmdFields["Format"],
	"JMS_IBM_MsgType":     mqmdFields["MsgType"],
	"JMS_IBM_Feedback":    mqmdFields["Feedback"],
	"JMS_IBM_Encoding":    mqmdFields["Encoding"],
	"JMS_IBM_PutApplType": mqmdFields["PutApplType"],
	"JMS_IBM_PutDate":     mqmdFields["PutDate"],
	"JMS_IBM_PutTime":     mqmdFields["PutTime"],
	"JMSXGroupID":         groupID,
	"JMSXGroupSeq":        groupSeq,
	"JMS_IBM_Last_Msg_In_Group": func(md *mqi.MD) Value {
		return Bool(md.MsgFlags&mqi.MQMF_LAST_MSG_IN_GROUP != 0)
	},
}

// jmsID is the JMS form of an identifier; NULL for none.
func jmsID(id mqi.ID) Value {
	if id.IsZero() {
		return Value{}
	}
	return String("ID:" + hex.EncodeToString(id[:]))
}

func groupID(md *mqi.MD) Value { return jmsID(md.GroupID) }

func groupSeq(md *mqi.MD) Value {
	if md.GroupID.IsZero() {
		return Value{}
	}
	return Int(int64(md.MsgSeqNumber))
}

// putTime is the put time in milliseconds since 1970; NULL when the descriptor has none.
func putTime(md *mqi.MD) Value {
	if len(md.PutDate) != 8 || len(md.PutTime) != 8 {
		return Value{}
	}
	t, err := time.Parse("20060102150405.00", md.PutDate+md.PutTime[:6]+"."+md.PutTime[6:])
	if err != nil {
		return Value{}
	}
	return Int(t.UnixMilli())
}
