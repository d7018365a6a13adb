package pcf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/fap/wire"
	"github.com/qmgrd/qmgrd/internal/fap/wire/wiretest"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

var big = mqi.Coding{Encoding: mqi.MQENC_NORMAL, CCSID: 819}

func command(cmd int32, params ...mqi.CFParam) *mqi.CFMsg {
	return &mqi.CFMsg{Type: mqi.MQCFT_COMMAND, Version: 1, Command: cmd, MsgSeqNumber: 1, Control: mqi.MQCFC_LAST, Params: params}
}

func num(id, v int32) mqi.CFParam            { return mqi.CFInt(id, v) }
func str(id int32, v string) mqi.CFParam     { return mqi.CFString(id, v) }
func list(id int32, v ...int32) mqi.CFParam  { return mqi.CFInts(id, v...) }
func qname(v string) mqi.CFParam             { return str(mqi.MQCA_Q_NAME, v) }
func strs(id int32, v ...string) mqi.CFParam { return mqi.CFStrings(id, v...) }
func filter(typ, id, op int32, n int64, s string) mqi.CFParam {
	return mqi.CFParam{Type: typ, ID: id, Op: op, Ints: []int64{n}, Strings: []string{s}}
}

func directory(class, name string) (attr.Kind, bool) {
	switch class + " " + name {
	case "Q AN.ALIAS":
		return "QALIAS", true
	case "CHANNEL TO.QM2":
		return "CHANNEL(SDR)", true
	}
	return "", false
}

// TestFromPCF: commands in PCF, and the MQSC that they are.
func TestFromPCF(t *testing.T) {
	connID := []byte("AMQCQM1         \x01\x02\x03\x04\x05\x06\x07\x08")
	for _, x := range []struct {
		m    *mqi.CFMsg
		want string
		kind attr.Kind
	}{
		{command(mqi.MQCMD_CREATE_Q, qname("A.Q"+strings.Repeat(" ", 45)), num(mqi.MQIA_Q_TYPE, mqi.MQQT_LOCAL),
			num(mqi.MQIA_MAX_Q_DEPTH, 100), str(mqi.MQCA_Q_DESC, "it's"), num(mqi.MQIA_INHIBIT_GET, mqi.MQQA_GET_INHIBITED),
			num(mqi.MQIACF_REPLACE, mqi.MQRP_YES), num(mqi.MQIA_SHAREABILITY, mqi.MQQA_NOT_SHAREABLE)),
			"DEFINE QLOCAL('A.Q') MAXDEPTH(100) DESCR('it''s') GET(DISABLED) REPLACE NOSHARE", "QLOCAL"},
		{command(mqi.MQCMD_CHANGE_Q, num(mqi.MQIA_Q_TYPE, mqi.MQQT_ALIAS), qname("A"), str(mqi.MQCA_BASE_OBJECT_NAME, "B"),
			num(mqi.MQIACF_FORCE, mqi.MQFC_YES)), "ALTER QALIAS('A') TARGET('B') FORCE", "QALIAS"},
		{command(mqi.MQCMD_COPY_Q, str(mqi.MQCACF_FROM_Q_NAME, "OLD"), str(mqi.MQCACF_TO_Q_NAME, "NEW"),
			num(mqi.MQIA_Q_TYPE, mqi.MQQT_MODEL), num(mqi.MQIA_DEFINITION_TYPE, mqi.MQQDT_PERMANENT_DYNAMIC)),
			"DEFINE QMODEL('NEW') LIKE('OLD') DEFTYPE(PERMDYN)", "QMODEL"},
		{command(mqi.MQCMD_DELETE_Q, qname("A.Q"), num(mqi.MQIA_Q_TYPE, mqi.MQQT_LOCAL), num(mqi.MQIACF_PURGE, mqi.MQPO_YES)),
			"DELETE QLOCAL('A.Q') PURGE", "QLOCAL"},
		{command(mqi.MQCMD_DELETE_Q, qname("AN.ALIAS")), "DELETE QALIAS('AN.ALIAS')", "QALIAS"},
		{command(mqi.MQCMD_CLEAR_Q, qname("A.Q")), "CLEAR QLOCAL('A.Q')", "QLOCAL"},
		{command(mqi.MQCMD_INQUIRE_Q, qname("Q*"), num(mqi.MQIA_Q_TYPE, mqi.MQQT_LOCAL),
			list(mqi.MQIACF_Q_ATTRS, mqi.MQCA_Q_NAME, mqi.MQIA_CURRENT_Q_DEPTH)), "DISPLAY QUEUE('Q*') TYPE(QLOCAL) CURDEPTH", "QUEUE"},
		{command(mqi.MQCMD_INQUIRE_Q, qname("Q*")), "DISPLAY QUEUE('Q*') ALL", "QUEUE"},
		{command(mqi.MQCMD_INQUIRE_Q, qname("*"), list(mqi.MQIACF_Q_ATTRS, mqi.MQIACF_ALL),
			filter(mqi.MQCFT_INTEGER_FILTER, mqi.MQIA_CURRENT_Q_DEPTH, mqi.MQCFOP_GREATER, 5, "")),
			"DISPLAY QUEUE('*') ALL WHERE(CURDEPTH GT 5)", "QUEUE"},
		{command(mqi.MQCMD_INQUIRE_Q, qname("*"), list(mqi.MQIACF_Q_ATTRS, mqi.MQCA_Q_NAME),
			filter(mqi.MQCFT_STRING_FILTER, mqi.MQCA_Q_DESC, mqi.MQCFOP_LIKE, 0, "pay*")),
			"DISPLAY QUEUE('*') QUEUE WHERE(DESCR LK 'pay*')", "QUEUE"},
		{command(mqi.MQCMD_INQUIRE_Q, qname("*"), filter(mqi.MQCFT_INTEGER_FILTER, mqi.MQIA_INHIBIT_PUT, mqi.MQCFOP_EQUAL, 1, "")),
			"DISPLAY QUEUE('*') ALL WHERE(PUT EQ DISABLED)", "QUEUE"},
		{command(mqi.MQCMD_INQUIRE_Q_NAMES, qname("*")), "DISPLAY QUEUE('*')", "QUEUE"},
		{command(mqi.MQCMD_INQUIRE_Q_MGR, list(mqi.MQIACF_Q_MGR_ATTRS, mqi.MQIA_PLATFORM, mqi.MQCA_Q_MGR_NAME, mqi.MQIA_COMMAND_LEVEL)),
			"DISPLAY QMGR PLATFORM QMNAME CMDLEVEL", "QMGR"},
		{command(mqi.MQCMD_CHANGE_Q_MGR, str(mqi.MQCA_DEAD_LETTER_Q_NAME, "DLQ"), num(mqi.MQIA_PERFORMANCE_EVENT, mqi.MQEVR_ENABLED)),
			"ALTER QMGR DEADQ('DLQ') PERFMEV(ENABLED)", "QMGR"},
		{command(mqi.MQCMD_PING_Q_MGR), "PING QMGR", "QMGR"},
		{command(mqi.MQCMD_INQUIRE_Q_STATUS, qname("A.Q"), num(mqi.MQIACF_Q_STATUS_TYPE, mqi.MQIACF_Q_HANDLE)),
			"DISPLAY QSTATUS('A.Q') TYPE(HANDLE) ALL", "QSTATUS TYPE(HANDLE)"},
		{command(mqi.MQCMD_INQUIRE_Q_STATUS, qname("A.Q"), list(mqi.MQIACF_Q_STATUS_ATTRS, mqi.MQIA_CURRENT_Q_DEPTH)),
			"DISPLAY QSTATUS('A.Q') CURDEPTH", "QSTATUS TYPE(QUEUE)"},
		{command(mqi.MQCMD_CREATE_CHANNEL, str(mqi.MQCACH_CHANNEL_NAME, "APP"), num(mqi.MQIACH_CHANNEL_TYPE, mqi.MQCHT_SVRCONN),
			num(mqi.MQIACH_SHARING_CONVERSATIONS, 5), str(mqi.MQCACH_MCA_USER_ID, "app")),
			"DEFINE CHANNEL('APP') CHLTYPE(SVRCONN) SHARECNV(5) MCAUSER('app')", "CHANNEL(SVRCONN)"},
		{command(mqi.MQCMD_CREATE_CHANNEL, str(mqi.MQCACH_CHANNEL_NAME, "TO.QM2"), num(mqi.MQIACH_CHANNEL_TYPE, mqi.MQCHT_SENDER),
			str(mqi.MQCACH_XMIT_Q_NAME, "QM2"), str(mqi.MQCACH_CONNECTION_NAME, "host(1414)"),
			list(mqi.MQIACH_MSG_COMPRESSION, mqi.MQCOMPRESS_RLE, mqi.MQCOMPRESS_NONE)),
			"DEFINE CHANNEL('TO.QM2') CHLTYPE(SDR) XMITQ('QM2') CONNAME('host(1414)') COMPMSG(RLE,NONE)", "CHANNEL(SDR)"},
		{command(mqi.MQCMD_COPY_CHANNEL, str(mqi.MQCACF_FROM_CHANNEL_NAME, "TO.QM2"), str(mqi.MQCACF_TO_CHANNEL_NAME, "TO.QM3")),
			"DEFINE CHANNEL('TO.QM3') LIKE('TO.QM2') CHLTYPE(SDR)", "CHANNEL(SDR)"},
		{command(mqi.MQCMD_START_CHANNEL, str(mqi.MQCACH_CHANNEL_NAME, "TO.QM2")), "START CHANNEL('TO.QM2')", "CHANNEL"},
		{command(mqi.MQCMD_STOP_CHANNEL, str(mqi.MQCACH_CHANNEL_NAME, "TO.QM2"), num(mqi.MQIACF_MODE, mqi.MQMODE_FORCE),
			num(mqi.MQIACH_CHANNEL_STATUS, mqi.MQCHS_INACTIVE)), "STOP CHANNEL('TO.QM2') MODE(FORCE) STATUS(INACTIVE)", "CHANNEL"},
		{command(mqi.MQCMD_INQUIRE_CHANNEL_STATUS, str(mqi.MQCACH_CHANNEL_NAME, "*"),
			num(mqi.MQIACH_CHANNEL_INSTANCE_TYPE, mqi.MQOT_SAVED_CHANNEL)), "DISPLAY CHSTATUS('*') SAVED ALL", "CHSTATUS"},
		{command(mqi.MQCMD_CREATE_NAMELIST, str(mqi.MQCA_NAMELIST_NAME, "NL"), strs(mqi.MQCA_NAMES, "A", "B   ")),
			"DEFINE NAMELIST('NL') NAMES('A','B')", "NAMELIST"},
		{command(mqi.MQCMD_CREATE_TOPIC, str(mqi.MQCA_TOPIC_NAME, "T"), str(mqi.MQCA_TOPIC_STRING, "a/b ")),
			"DEFINE TOPIC('T') TOPICSTR('a/b ')", "TOPIC"},
		{command(mqi.MQCMD_CREATE_SUBSCRIPTION, str(mqi.MQCACF_SUB_NAME, "my sub"), str(mqi.MQCA_TOPIC_STRING, "a/b"),
			str(mqi.MQCACF_DESTINATION, "A.Q")), "DEFINE SUB('my sub') TOPICSTR('a/b') DEST('A.Q')", "SUB"},
		{command(mqi.MQCMD_CHANGE_SUBSCRIPTION, str(mqi.MQCACF_SUB_NAME, "s"), num(mqi.MQIACF_REQUEST_ONLY, mqi.MQRU_PUBLISH_ON_REQUEST)),
			"ALTER SUB('s') REQONLY(YES)", "SUB"},
		{command(mqi.MQCMD_CHANGE_SUBSCRIPTION, str(mqi.MQCACF_SUB_NAME, "s"), num(mqi.MQIACF_REQUEST_ONLY, mqi.MQRU_PUBLISH_ALL)),
			"ALTER SUB('s') REQONLY(NO)", "SUB"},
		{command(mqi.MQCMD_DELETE_SUBSCRIPTION, mqi.CFBytes(mqi.MQBACF_SUB_ID, connID)),
			"DELETE SUB SUBID(414D5143514D312020202020202020200102030405060708)", "SUB"},
		{command(mqi.MQCMD_CLEAR_TOPIC_STRING, str(mqi.MQCA_TOPIC_STRING, "a/b"), num(mqi.MQIACF_CLEAR_TYPE, mqi.MQCLRT_RETAINED)),
			"CLEAR TOPICSTR('a/b') CLRTYPE(RETAINED)", "TOPICSTR"},
		{command(mqi.MQCMD_INQUIRE_TOPIC_STATUS, str(mqi.MQCA_TOPIC_STRING, "#"), num(mqi.MQIACF_TOPIC_STATUS_TYPE, mqi.MQIACF_TOPIC_SUB)),
			"DISPLAY TPSTATUS('#') TYPE(SUB) ALL", "TPSTATUS TYPE(SUB)"},
		{command(mqi.MQCMD_INQUIRE_CONNECTION, mqi.CFBytes(mqi.MQBACF_CONNECTION_ID, connID)),
			"DISPLAY CONN('0102030405060708') ALL", "CONN"},
		{command(mqi.MQCMD_INQUIRE_CONNECTION, mqi.CFBytes(mqi.MQBACF_GENERIC_CONNECTION_ID, nil)), "DISPLAY CONN('*') ALL", "CONN"},
		{command(mqi.MQCMD_STOP_CONNECTION, mqi.CFBytes(mqi.MQBACF_CONNECTION_ID, connID)), "STOP CONN('0102030405060708')", "CONN"},
		{command(mqi.MQCMD_SET_AUTH_REC, str(mqi.MQCACF_AUTH_PROFILE_NAME, "A.**"), num(mqi.MQIACF_OBJECT_TYPE, mqi.MQOT_Q),
			strs(mqi.MQCACF_GROUP_ENTITY_NAMES, "apps"), list(mqi.MQIACF_AUTH_ADD_AUTHS, mqi.MQAUTH_BROWSE, mqi.MQAUTH_INPUT)),
			"SET AUTHREC PROFILE('A.**') OBJTYPE(QUEUE) GROUP('apps') AUTHADD(BROWSE,GET)", "AUTHREC"},
		{command(mqi.MQCMD_SET_CHLAUTH_REC, str(mqi.MQCACH_CHANNEL_NAME, "*"), num(mqi.MQIACF_CHLAUTH_TYPE, mqi.MQCAUT_BLOCKUSER),
			strs(mqi.MQCACH_MCA_USER_ID_LIST, "*MQADMIN")), "SET CHLAUTH('*') TYPE(BLOCKUSER) USERLIST('*MQADMIN')", "CHLAUTH"},
		{command(mqi.MQCMD_INQUIRE_AUTH_RECS, str(mqi.MQCACF_AUTH_PROFILE_NAME, "A.Q"), num(mqi.MQIACF_OBJECT_TYPE, mqi.MQOT_Q),
			num(mqi.MQIACF_AUTH_OPTIONS, mqi.MQAUTHOPT_NAME_EXPLICIT|mqi.MQAUTHOPT_ENTITY_EXPLICIT), str(mqi.MQCACF_ENTITY_NAME, "app"),
			num(mqi.MQIACF_ENTITY_TYPE, mqi.MQZAET_PRINCIPAL)),
			"DISPLAY AUTHREC PROFILE('A.Q') OBJTYPE(QUEUE) MATCH(EXACT) PRINCIPAL('app') ALL", "AUTHREC"},
		{command(mqi.MQCMD_RESET_Q_STATS, qname("A.*")), "RESET QSTATS('A.*')", "QSTATS"},
		{command(mqi.MQCMD_REFRESH_SECURITY, num(mqi.MQIACF_SECURITY_TYPE, mqi.MQSECTYPE_SSL)), "REFRESH SECURITY TYPE(SSL)", "SECURITY"},
		{command(mqi.MQCMD_SUSPEND_Q_MGR_CLUSTER, str(mqi.MQCA_CLUSTER_NAME, "C")), "SUSPEND QMGR CLUSTER('C')", "QMGR"},
		{command(mqi.MQCMD_ESCAPE, num(mqi.MQIACF_ESCAPE_TYPE, mqi.MQET_MQSC), str(mqi.MQCACF_ESCAPE_TEXT, "dis ql(*) curdepth")),
			"dis ql(*) curdepth", "QLOCAL"},
	} {
		q, err := FromPCF(x.m, directory)
		if err != nil {
			t.Errorf("%s: %v", x.want, err)
			continue
		}
		if q.Command.Text != x.want || q.Command.Kind != x.kind || q.Command.Spec == nil {
			t.Errorf("%s %s\nwant %s %s", q.Command.Text, q.Command.Kind, x.want, x.kind)
		}
	}
}

// TestRefusals: each wrong command has its reason code, and the response names the parameter.
func TestRefusals(t *testing.T) {
	local := num(mqi.MQIA_Q_TYPE, mqi.MQQT_LOCAL)
	for _, x := range []struct {
		name string
		m    *mqi.CFMsg
		rc   mqi.RC
		id   int32
	}{
		{"type", &mqi.CFMsg{Type: mqi.MQCFT_EVENT, MsgSeqNumber: 1, Control: 1}, mqi.MQRCCF_CFH_TYPE_ERROR, 0},
		{"sequence", &mqi.CFMsg{Type: 1, MsgSeqNumber: 2, Control: 1}, mqi.MQRCCF_CFH_MSG_SEQ_NUMBER_ERR, 0},
		{"control", &mqi.CFMsg{Type: 1, MsgSeqNumber: 1}, mqi.MQRCCF_CFH_CONTROL_ERROR, 0},
		{"command", command(9999), mqi.MQRCCF_CFH_COMMAND_ERROR, 0},
		{"no command", command(mqi.MQCMD_NONE), mqi.MQRCCF_CFH_COMMAND_ERROR, 0},
		{"no parameters", command(mqi.MQCMD_CREATE_Q), mqi.MQRCCF_PARM_COUNT_TOO_SMALL, 0},
		{"no type", command(mqi.MQCMD_CREATE_Q, qname("A")), mqi.MQRCCF_PARM_MISSING, 0},
		{"no name", command(mqi.MQCMD_CREATE_Q, local), mqi.MQRCCF_PARM_MISSING, 0},
		{"no channel type", command(mqi.MQCMD_CHANGE_CHANNEL, str(mqi.MQCACH_CHANNEL_NAME, "A")), mqi.MQRCCF_PARM_MISSING, 0},
		{"queue type", command(mqi.MQCMD_CREATE_Q, qname("A"), num(mqi.MQIA_Q_TYPE, 99)), mqi.MQRCCF_Q_TYPE_ERROR, mqi.MQIA_Q_TYPE},
		{"all queues", command(mqi.MQCMD_CREATE_Q, qname("A"), num(mqi.MQIA_Q_TYPE, mqi.MQQT_ALL)), mqi.MQRCCF_Q_TYPE_ERROR, mqi.MQIA_Q_TYPE},
		{"channel type", command(mqi.MQCMD_CREATE_CHANNEL, num(mqi.MQIACH_CHANNEL_TYPE, 99)), mqi.MQRCCF_CHANNEL_TYPE_ERROR, mqi.MQIACH_CHANNEL_TYPE},
		{"name", command(mqi.MQCMD_CREATE_Q, qname("A B"), local), mqi.MQRCCF_OBJECT_NAME_ERROR, mqi.MQCA_Q_NAME},
		{"name length", command(mqi.MQCMD_CREATE_Q, qname(strings.Repeat("A", 49)), local), mqi.MQRCCF_CFST_STRING_LENGTH_ERR, mqi.MQCA_Q_NAME},
		{"channel name", command(mqi.MQCMD_START_CHANNEL, str(mqi.MQCACH_CHANNEL_NAME, "A?")), mqi.MQRCCF_CHANNEL_NAME_ERROR, mqi.MQCACH_CHANNEL_NAME},
		{"name as number", command(mqi.MQCMD_CREATE_Q, num(mqi.MQCA_Q_NAME, 1), local), mqi.MQRCCF_CFIN_PARM_ID_ERROR, mqi.MQCA_Q_NAME},
		{"unknown CFIN", command(mqi.MQCMD_CREATE_Q, qname("A"), local, num(mqi.MQIACH_HB_INTERVAL, 1)), mqi.MQRCCF_CFIN_PARM_ID_ERROR, mqi.MQIACH_HB_INTERVAL},
		{"unknown CFST", command(mqi.MQCMD_PING_Q_MGR, qname("A")), mqi.MQRCCF_CFST_PARM_ID_ERROR, mqi.MQCA_Q_NAME},
		{"unknown CFIL", command(mqi.MQCMD_PING_Q_MGR, list(5, 1)), mqi.MQRCCF_CFIL_PARM_ID_ERROR, 5},
		{"unknown CFSL", command(mqi.MQCMD_PING_Q_MGR, strs(5, "a")), mqi.MQRCCF_CFSL_PARM_ID_ERROR, 5},
		{"unknown CFBS", command(mqi.MQCMD_PING_Q_MGR, mqi.CFBytes(5, nil)), mqi.MQRCCF_CFBS_PARM_ID_ERROR, 5},
		{"unknown CFGR", command(mqi.MQCMD_PING_Q_MGR, mqi.CFGroup(5)), mqi.MQRCCF_CFGR_PARM_ID_ERROR, 5},
		{"read only", command(mqi.MQCMD_CHANGE_Q, qname("A"), local, num(mqi.MQIA_CURRENT_Q_DEPTH, 1)), mqi.MQRCCF_CFIN_PARM_ID_ERROR, mqi.MQIA_CURRENT_Q_DEPTH},
		{"wrong structure", command(mqi.MQCMD_CREATE_Q, qname("A"), local, str(mqi.MQIA_MAX_Q_DEPTH, "5")), mqi.MQRCCF_CFST_PARM_ID_ERROR, mqi.MQIA_MAX_Q_DEPTH},
		{"range", command(mqi.MQCMD_CREATE_Q, qname("A"), local, num(mqi.MQIA_DEF_PRIORITY, 10)), mqi.MQRCCF_ATTR_VALUE_ERROR, mqi.MQIA_DEF_PRIORITY},
		{"enumeration", command(mqi.MQCMD_CREATE_Q, qname("A"), local, num(mqi.MQIA_INHIBIT_GET, 7)), mqi.MQRCCF_ATTR_VALUE_ERROR, mqi.MQIA_INHIBIT_GET},
		{"replace", command(mqi.MQCMD_CREATE_Q, qname("A"), local, num(mqi.MQIACF_REPLACE, 7)), mqi.MQRCCF_REPLACE_VALUE_ERROR, mqi.MQIACF_REPLACE},
		{"mode", command(mqi.MQCMD_STOP_CHANNEL, str(mqi.MQCACH_CHANNEL_NAME, "A"), num(mqi.MQIACF_MODE, 9)), mqi.MQRCCF_MODE_VALUE_ERROR, mqi.MQIACF_MODE},
		{"text length", command(mqi.MQCMD_CREATE_Q, qname("A"), local, str(mqi.MQCA_Q_DESC, strings.Repeat("x", 65))), mqi.MQRCCF_CFST_STRING_LENGTH_ERR, mqi.MQCA_Q_DESC},
		{"twice CFIN", command(mqi.MQCMD_CREATE_Q, qname("A"), local, num(mqi.MQIA_MAX_Q_DEPTH, 1), num(mqi.MQIA_MAX_Q_DEPTH, 1)), mqi.MQRCCF_CFIN_DUPLICATE_PARM, mqi.MQIA_MAX_Q_DEPTH},
		{"twice CFST", command(mqi.MQCMD_CREATE_Q, qname("A"), local, qname("B")), mqi.MQRCCF_CFST_DUPLICATE_PARM, mqi.MQCA_Q_NAME},
		{"attribute twice", command(mqi.MQCMD_INQUIRE_Q, qname("A"), list(mqi.MQIACF_Q_ATTRS, 3, 3)), mqi.MQRCCF_CFIL_DUPLICATE_VALUE, mqi.MQIACF_Q_ATTRS},
		{"attribute", command(mqi.MQCMD_INQUIRE_Q, qname("A"), list(mqi.MQIACF_Q_ATTRS, 99999)), mqi.MQRCCF_PARM_VALUE_ERROR, mqi.MQIACF_Q_ATTRS},
		{"filter on a change", command(mqi.MQCMD_CHANGE_Q, qname("A"), local, filter(mqi.MQCFT_INTEGER_FILTER, mqi.MQIA_CURRENT_Q_DEPTH, 2, 1, "")), mqi.MQRCCF_CFIF_PARM_ID_ERROR, mqi.MQIA_CURRENT_Q_DEPTH},
		{"filter operator", command(mqi.MQCMD_INQUIRE_Q, qname("*"), filter(mqi.MQCFT_INTEGER_FILTER, mqi.MQIA_CURRENT_Q_DEPTH, mqi.MQCFOP_LIKE, 1, "")), mqi.MQRCCF_CFIF_OPERATOR_ERROR, mqi.MQIA_CURRENT_Q_DEPTH},
		{"two filters", command(mqi.MQCMD_INQUIRE_Q, qname("*"), filter(mqi.MQCFT_INTEGER_FILTER, mqi.MQIA_CURRENT_Q_DEPTH, 2, 1, ""),
			filter(mqi.MQCFT_STRING_FILTER, mqi.MQCA_Q_DESC, 2, 0, "x")), mqi.MQRCCF_TOO_MANY_FILTERS, mqi.MQCA_Q_DESC},
		{"connection id", command(mqi.MQCMD_STOP_CONNECTION, mqi.CFBytes(mqi.MQBACF_CONNECTION_ID, []byte{1})), mqi.MQRCCF_CONNECTION_ID_ERROR, mqi.MQBACF_CONNECTION_ID},
		{"value of an inquiry", command(mqi.MQCMD_INQUIRE_Q, qname("*"), num(mqi.MQIA_CURRENT_Q_DEPTH, 5)), mqi.MQRCCF_CFIN_PARM_ID_ERROR, mqi.MQIA_CURRENT_Q_DEPTH},
		{"entity type", command(mqi.MQCMD_INQUIRE_AUTH_RECS, str(mqi.MQCACF_ENTITY_NAME, "app")), mqi.MQRCCF_ENTITY_TYPE_MISSING, mqi.MQCACF_ENTITY_NAME},
		{"instance type", command(mqi.MQCMD_INQUIRE_CHANNEL_STATUS, str(mqi.MQCACH_CHANNEL_NAME, "*"), num(mqi.MQIACH_CHANNEL_INSTANCE_TYPE, 1)), mqi.MQRCCF_CHL_INST_TYPE_ERROR, mqi.MQIACH_CHANNEL_INSTANCE_TYPE},
		{"escape type", command(mqi.MQCMD_ESCAPE, num(mqi.MQIACF_ESCAPE_TYPE, 2), str(mqi.MQCACF_ESCAPE_TEXT, "x")), mqi.MQRCCF_ESCAPE_TYPE_ERROR, mqi.MQIACF_ESCAPE_TYPE},
		{"escape without text", command(mqi.MQCMD_ESCAPE, num(mqi.MQIACF_ESCAPE_TYPE, 1)), mqi.MQRCCF_PARM_COUNT_TOO_SMALL, 0},
		{"escape syntax", command(mqi.MQCMD_ESCAPE, num(mqi.MQIACF_ESCAPE_TYPE, 1), str(mqi.MQCACF_ESCAPE_TEXT, "DEFINE NOTHING")), mqi.MQRCCF_COMMAND_FAILED, 0},
		{"nothing to copy", command(mqi.MQCMD_COPY_Q, str(mqi.MQCACF_TO_Q_NAME, "B"), local), mqi.MQRCCF_PARM_MISSING, 0},
		{"an item that would be two", command(mqi.MQCMD_SET_AUTH_REC, str(mqi.MQCACF_AUTH_PROFILE_NAME, "A"), num(mqi.MQIACF_OBJECT_TYPE, mqi.MQOT_Q),
			strs(mqi.MQCACF_GROUP_ENTITY_NAMES, "one"+attr.ListSep+"two")), mqi.MQRCCF_ATTR_VALUE_ERROR, mqi.MQCACF_GROUP_ENTITY_NAMES},
		{"required attribute", command(mqi.MQCMD_SET_AUTH_REC, str(mqi.MQCACF_AUTH_PROFILE_NAME, "A")), mqi.MQRCCF_OBJECT_TYPE_MISSING, 0},
		{"no entity", command(mqi.MQCMD_SET_AUTH_REC, str(mqi.MQCACF_AUTH_PROFILE_NAME, "A"), num(mqi.MQIACF_OBJECT_TYPE, mqi.MQOT_Q)), mqi.MQRCCF_ENTITY_NAME_MISSING, 0},
	} {
		_, err := FromPCF(x.m, nil)
		if _, rc := mqi.Reason(err); rc != x.rc {
			t.Errorf("%s: %v, want %s", x.name, err, x.rc.Name())
			continue
		}
		r := ErrorResponse(x.m, err)
		if r.Type != mqi.MQCFT_RESPONSE || r.CompCode != mqi.CCFailed || r.Reason != x.rc || r.Control != mqi.MQCFC_LAST {
			t.Errorf("%s: %+v", x.name, r)
		}
		p := r.Find(mqi.MQIACF_PARAMETER_ID)
		if (p != nil) != (x.id != 0) || p != nil && p.Int() != int64(x.id) {
			t.Errorf("%s: the response names parameter %v, want %d", x.name, p, x.id)
		}
	}
}

func TestParse(t *testing.T) {
	body, err := command(mqi.MQCMD_PING_Q_MGR).Append(nil, big)
	if err != nil {
		t.Fatal(err)
	}
	if q, _, err := Parse(mqi.MQFMT_ADMIN, body, big, nil); err != nil || q.String() != "MQCMD_PING_Q_MGR: PING QMGR" {
		t.Errorf("%v %v", q, err)
	}
	for _, x := range []struct {
		format string
		body   []byte
		rc     mqi.RC
	}{{mqi.MQFMT_STRING, body, mqi.MQRCCF_MD_FORMAT_ERROR}, {mqi.MQFMT_ADMIN, body[:20], mqi.MQRCCF_CFH_LENGTH_ERROR},
		{mqi.MQFMT_ADMIN, append(append([]byte(nil), body...), 0), mqi.MQRCCF_MSG_LENGTH_ERROR}} {
		_, m, err := Parse(x.format, x.body, big, nil)
		if _, rc := mqi.Reason(err); rc != x.rc || m.Command != mqi.MQCMD_PING_Q_MGR && len(x.body) >= 36 {
			t.Errorf("%q: %v %+v", x.format, err, m)
		}
	}
}

// sample gives a value that an attribute can be set to.
func sample(a *attr.Attr) string {
	if a.Default != "" {
		return a.Default
	}
	for _, e := range a.Enum {
		if !e.ShowOnly && e.HasNum {
			return e.Word
		}
	}
	switch a.Type {
	case attr.TInt, attr.TIntOrEnum:
		return fmt.Sprint(a.Min)
	case attr.THex:
		return "AB"
	}
	return "X"
}

// TestEveryAttribute: each attribute of each kind goes out in a response and comes back in a change with the same value.
func TestEveryAttribute(t *testing.T) {
	n := 0
	for _, kind := range attr.Kinds() {
		object, class := objectOf(kind)
		spec, ok := attr.LookupVerb("ALTER", object)
		if !ok || spec.PCFNum == 0 || spec.Priority == 3 {
			continue
		}
		schema, _ := attr.SchemaOf(kind)
		for i := range schema.Attrs {
			a := &schema.Attrs[i]
			if a.Alter != attr.Yes || a.ID == 0 || a.Hidden || a.Positional {
				continue
			}
			val := sample(a)
			p, ok := itemParam(&attr.Item{Key: a.Name, Val: val, Attr: a})
			if !ok {
				if !hasWordsOnly(a) {
					t.Errorf("%s %s(%s) has no parameter", kind, a.Name, val)
				}
				continue
			}
			m := command(spec.PCFNum)
			if row := schema.NameAttr(); row != nil {
				m.Params = append(m.Params, str(row.ID, "OBJ"))
			}
			m.Params = append(m.Params, typeParam(kind, class)...)
			if kind == "LISTENER" {
				m.Params = append(m.Params, num(mqi.MQIACH_XMIT_PROTOCOL_TYPE, mqi.MQXPT_TCP))
			}
			m.Params = append(m.Params, p)
			q, err := FromPCF(m, nil)
			if err != nil {
				t.Errorf("%s %s(%s): %v", kind, a.Name, val, err)
				continue
			}
			if got, _ := q.Command.Get(a.Name); strings.TrimRight(got, " ") != val {
				t.Errorf("%s %s(%s): %q comes back", kind, a.Name, val, got)
			}
			n++
		}
	}
	if n < 500 {
		t.Errorf("only %d attributes were tried", n)
	}
}

// hasWordsOnly reports attributes whose values have no number in MQ.
func hasWordsOnly(a *attr.Attr) bool {
	for _, e := range a.Enum {
		if !e.HasNum {
			return true
		}
	}
	return false
}

// objectOf gives the object keyword of a kind, and the class that has types.
func objectOf(kind attr.Kind) (object, class string) {
	object, _, _ = strings.Cut(string(kind), "(")
	if strings.HasPrefix(object, "Q") && object != "QMGR" {
		return object, "Q"
	}
	return object, object
}

func typeParam(kind attr.Kind, class string) []mqi.CFParam {
	k, ok := typeKeys[class]
	if !ok {
		return nil
	}
	word := string(kind)
	if _, in, ok := strings.Cut(word, "("); ok {
		word = strings.TrimSuffix(in, ")")
	}
	of := attr.Kind(class)
	if class == "Q" {
		of = "QUEUE"
	}
	s, _ := attr.SchemaOf(of)
	row, _ := s.Lookup(k.key)
	e, _ := row.EnumByWord(word)
	return []mqi.CFParam{num(k.id, e.Num)}
}

// TestEveryCommand: each command of the tables that has a number is known by it.
func TestEveryCommand(t *testing.T) {
	for _, v := range attr.Verbs() {
		if v.PCFNum == 0 {
			continue
		}
		_, err := FromPCF(command(v.PCFNum), nil)
		if _, rc := mqi.Reason(err); rc == mqi.MQRCCF_CFH_COMMAND_ERROR {
			t.Errorf("%s %s: %v", v.Verb, v.Object, err)
		}
	}
}

func rowsOf(rows ...attr.Row) func(func(attr.Row) bool) {
	return func(yield func(attr.Row) bool) {
		for _, r := range rows {
			if !yield(r) {
				return
			}
		}
	}
}

func item(t *testing.T, kind attr.Kind, key, val string) attr.Item {
	t.Helper()
	s, ok := attr.SchemaOf(kind)
	if !ok {
		t.Fatalf("no kind %s", kind)
	}
	row, ok := s.Lookup(key)
	if !ok {
		t.Fatalf("no %s in %s", key, kind)
	}
	return attr.Item{Key: key, Val: val, Attr: row}
}

func answers(t *testing.T, m *mqi.CFMsg, r *attr.Reply) []mqi.CFMsg {
	t.Helper()
	q, err := FromPCF(m, directory)
	if err != nil {
		t.Fatal(err)
	}
	var out []mqi.CFMsg
	q.Responses(r, func(m mqi.CFMsg) bool {
		b, err := m.Append(nil, big)
		if err != nil {
			t.Fatal(err)
		}
		back, _, err := mqi.ParseCF(b, big)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, back)
		return true
	})
	for i, m := range out {
		if m.MsgSeqNumber != int32(i+1) || (m.Control == mqi.MQCFC_LAST) != (i == len(out)-1) || m.Type != mqi.MQCFT_RESPONSE {
			t.Errorf("response %d: %+v", i, m)
		}
	}
	return out
}

func describe(m mqi.CFMsg) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d/%d", m.CompCode, m.Reason)
	for _, p := range m.Params {
		switch {
		case len(p.Strings) > 0:
			var s []string
			for _, x := range p.Strings {
				s = append(s, strings.TrimRight(x, " "))
			}
			fmt.Fprintf(&b, " %d=%s", p.ID, strings.Join(s, ","))
		case p.Type == mqi.MQCFT_BYTE_STRING:
			fmt.Fprintf(&b, " %d=%X", p.ID, p.Bytes)
		default:
			fmt.Fprintf(&b, " %d=%v", p.ID, p.Ints)
		}
	}
	return b.String()
}

func TestResponses(t *testing.T) {
	queue := func(name, typ, depth string) attr.Row {
		return attr.Row{ID: "AMQ8409I", Items: []attr.Item{item(t, "QUEUE", "QUEUE", name), item(t, "QUEUE", "TYPE", typ),
			item(t, "QUEUE", "CURDEPTH", depth)}}
	}
	inquire := command(mqi.MQCMD_INQUIRE_Q, qname("*"))
	two := func() *attr.Reply {
		return &attr.Reply{Rows: rowsOf(queue("Q1", "QLOCAL", "3"), queue("Q2", "QALIAS", "5000000000"))}
	}
	for _, x := range []struct {
		name string
		m    *mqi.CFMsg
		r    *attr.Reply
		want []string
	}{
		{"objects", inquire, two(), []string{"0/0 2016=Q1 20=[1] 3=[3]", "0/0 2016=Q2 20=[3] 3=[5000000000]"}},
		{"names", command(mqi.MQCMD_INQUIRE_Q_NAMES, qname("*")), two(), []string{"0/0 3011=Q1,Q2 1261=[1 3]"}},
		{"done", command(mqi.MQCMD_PING_Q_MGR), &attr.Reply{}, []string{"0/0"}},
		{"failed", command(mqi.MQCMD_CLEAR_Q, qname("A")), &attr.Reply{CC: 2, RC: 2085}, []string{"2/2085"}},
		{"failed without a code", command(mqi.MQCMD_CLEAR_Q, qname("A")), &attr.Reply{CC: 2}, []string{"2/3008"}},
		{"failed behind objects", inquire, &attr.Reply{CC: 2, RC: 2101, Rows: rowsOf(queue("Q1", "QLOCAL", "3"))},
			[]string{"0/0 2016=Q1 20=[1] 3=[3]", "2/2101", "2/3008"}},
		{"lists, flags, dates", command(mqi.MQCMD_INQUIRE_NAMELIST, str(mqi.MQCA_NAMELIST_NAME, "*")),
			&attr.Reply{Rows: rowsOf(attr.Row{Items: []attr.Item{item(t, "NAMELIST", "NAMES", "A"+attr.ListSep+"B"),
				item(t, "NAMELIST", "ALTDATE", "2026-01-02"), item(t, "QLOCAL", "TRIGGER", "NO"), {Key: "ODD", Val: "x"}}})},
			[]string{"0/0 2020=A,B 2027=2026-01-02 24=[0]"}},
		{"connection", command(mqi.MQCMD_INQUIRE_CONNECTION, mqi.CFBytes(mqi.MQBACF_GENERIC_CONNECTION_ID, nil)),
			&attr.Reply{Rows: rowsOf(attr.Row{Items: []attr.Item{item(t, "CONN", "CONN", "0102030405060708"),
				item(t, "CONN", "EXTCONN", "414D5143514D31202020202020202020"),
				item(t, "CONN", "CONNOPTS", "MQCNO_HANDLE_SHARE_BLOCK"+attr.ListSep+"MQCNO_RECONNECT")}})},
			[]string{fmt.Sprintf("0/0 7006=414D5143514D312020202020202020200102030405060708 1108=[%d]",
				mqi.MQCNO_HANDLE_SHARE_BLOCK|mqi.MQCNO_RECONNECT)}},
		{"units of work", command(mqi.MQCMD_INQUIRE_CONNECTION, mqi.CFBytes(mqi.MQBACF_GENERIC_CONNECTION_ID, nil)),
			&attr.Reply{Rows: rowsOf(attr.Row{Items: []attr.Item{item(t, "CONN", "QMURID", "0.258"),
				item(t, "CONN", "EXTURID", "XA_FORMATID[00004D51] XA_GTRID[6774] XA_BQUAL[00FF01]")}},
				attr.Row{Items: []attr.Item{item(t, "QSTATUS TYPE(HANDLE)", "QMURID", "0.0"),
					item(t, "QSTATUS TYPE(HANDLE)", "URID", "XA_FORMATID[] XA_GTRID[] XA_BQUAL[]")}})},
			[]string{"0/0 7009=0000000000000102 7005=00004D510000000200000003677400FF01", "0/0 7009=0000000000000000 7005="}},
		// As a queue manager with MONQ(OFF) was seen to answer; programs take the two numbers without looking.
		{"monitoring that is off", command(mqi.MQCMD_INQUIRE_Q_STATUS, qname("A")),
			&attr.Reply{Rows: rowsOf(attr.Row{Items: []attr.Item{item(t, "QSTATUS TYPE(QUEUE)", "MSGAGE", ""),
				item(t, "QSTATUS TYPE(QUEUE)", "QTIME", "")}})},
			[]string{"0/0 1227=[-1] 1226=[-1 -1]"}},
		{"channel status", command(mqi.MQCMD_INQUIRE_CHANNEL_STATUS, str(mqi.MQCACH_CHANNEL_NAME, "*")),
			&attr.Reply{Rows: rowsOf(attr.Row{Items: []attr.Item{item(t, "CHSTATUS", "CHANNEL", "C"), item(t, "CHSTATUS", "CURRENT", "YES"),
				item(t, "CHSTATUS", "NETTIME", "1"+attr.ListSep+"2"), item(t, "CHSTATUS", "STATUS", "RUNNING")}})},
			[]string{"0/0 3501=C 1523=[1011] 1605=[1 2] 1527=[3]"}},
	} {
		var got []string
		for _, m := range answers(t, x.m, x.r) {
			got = append(got, describe(m))
		}
		if strings.Join(got, "\n") != strings.Join(x.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", x.name, strings.Join(got, "\n"), strings.Join(x.want, "\n"))
		}
	}
	calls := 0
	q, err := FromPCF(inquire, nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Responses(two(), func(mqi.CFMsg) bool { calls++; return false })
	if calls != 1 {
		t.Errorf("%d responses after the first was refused", calls)
	}
}

func TestHiddenValuesStay(t *testing.T) {
	if _, ok := itemParam(&attr.Item{Key: "PASSWORD", Val: "secret", Attr: item(t, "CHANNEL(SDR)", "PASSWORD", "").Attr}); ok {
		t.Error("a password is shown")
	}
	q, err := FromPCF(command(mqi.MQCMD_CHANGE_CHANNEL, str(mqi.MQCACH_CHANNEL_NAME, "A"), num(mqi.MQIACH_CHANNEL_TYPE, mqi.MQCHT_SENDER),
		str(mqi.MQCACH_PASSWORD, "secret")), nil)
	if err != nil || strings.Contains(q.String(), "secret") {
		t.Errorf("%v %v", q, err)
	}
}

func TestEscape(t *testing.T) {
	m := command(mqi.MQCMD_ESCAPE, num(mqi.MQIACF_ESCAPE_TYPE, mqi.MQET_MQSC), str(mqi.MQCACF_ESCAPE_TEXT, "DISPLAY QLOCAL(A) CURDEPTH"))
	row := attr.Row{ID: "AMQ8409I", Items: []attr.Item{item(t, "QLOCAL", "QUEUE", "A"), item(t, "QLOCAL", "CURDEPTH", "3")}}
	got := answers(t, m, &attr.Reply{Rows: rowsOf(row)})
	if len(got) != 1 || !strings.Contains(got[0].Find(mqi.MQCACF_ESCAPE_TEXT).Text(), "CURDEPTH(3)") || got[0].Command != mqi.MQCMD_INQUIRE_Q {
		t.Errorf("%+v", got)
	}
	msg := attr.Message{ID: "AMQ8147E", Inserts: []string{"A"}}
	got = answers(t, m, &attr.Reply{CC: 2, RC: 2085, Msgs: []attr.Message{msg}})
	if len(got) != 1 || got[0].CompCode != mqi.CCFailed || got[0].Reason != 2085 {
		t.Errorf("one line of failure: %+v", got)
	}
	got = answers(t, m, &attr.Reply{CC: 2, RC: 2085, Msgs: []attr.Message{msg, msg}})
	if len(got) != 3 || got[1].Reason != 2085 || got[2].Reason != mqi.MQRCCF_COMMAND_FAILED || got[2].CompCode != mqi.CCFailed {
		t.Errorf("two lines of failure: %+v", got)
	}
	q, err := FromPCF(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	q.Responses(&attr.Reply{Msgs: []attr.Message{msg, msg, msg}}, func(mqi.CFMsg) bool { calls++; return false })
	if calls != 1 {
		t.Errorf("%d messages for who wants no more than one", calls)
	}
	bad := command(mqi.MQCMD_ESCAPE, num(mqi.MQIACF_ESCAPE_TYPE, mqi.MQET_MQSC), str(mqi.MQCACF_ESCAPE_TEXT, "DEFINE NOTHING"))
	_, err = FromPCF(bad, nil)
	r := EscapeError(bad, err)
	if r.Reason != mqi.MQRCCF_COMMAND_FAILED || !strings.Contains(r.Find(mqi.MQCACF_ESCAPE_TEXT).Text(), "NOTHING") {
		t.Errorf("%+v", r)
	}
}

func FuzzParse(f *testing.F) {
	for _, m := range []*mqi.CFMsg{command(mqi.MQCMD_INQUIRE_Q, qname("*"), list(mqi.MQIACF_Q_ATTRS, 3, 20)),
		command(mqi.MQCMD_CREATE_Q, qname("A"), num(mqi.MQIA_Q_TYPE, 1), strs(mqi.MQCA_NAMES, "A")),
		command(mqi.MQCMD_ESCAPE, num(mqi.MQIACF_ESCAPE_TYPE, 1), str(mqi.MQCACF_ESCAPE_TEXT, "DIS QMGR")),
		command(mqi.MQCMD_STOP_CONNECTION, mqi.CFBytes(mqi.MQBACF_CONNECTION_ID, make([]byte, 24)))} {
		b, err := m.Append(nil, big)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	for _, b := range wiretest.Recorded(f, "../fap/wire/testdata", wiretest.FromClient)["18-pcf"] {
		h, body, err := wire.ReadSegment(bytes.NewReader(b), 1<<16)
		if err != nil {
			f.Fatal(err)
		}
		c, _ := h.Codec()
		if _, d, err := wire.Decode(h.Type, body, c); err == nil {
			if put, ok := d.(*wire.Put); ok {
				f.Add(put.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		q, m, err := Parse(mqi.MQFMT_ADMIN, b, big, directory)
		if err != nil {
			var e *mqi.Error
			if !errors.As(err, &e) || e.RC == 0 {
				t.Fatalf("an error without a reason code: %v", err)
			}
			ErrorResponse(&m, err)
			return
		}
		if q.Command == nil || q.Command.Spec == nil {
			t.Fatalf("no command of %+v", m)
		}
		q.Responses(&attr.Reply{}, func(mqi.CFMsg) bool { return true })
	})
}
