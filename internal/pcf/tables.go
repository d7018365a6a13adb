package pcf

import "github.com/qmgrd/qmgrd/internal/mqi"

// What PCF says in its own way; everything else comes from the rows of package attr.

// spec is how one PCF command stands to the verb and object of MQSC.
type spec struct {
	verb, object string // object "Q" and "CHANNEL" … are narrowed by the type parameter
	to           int32  // COPY: the parameter with the new object's name
	from         int32  // COPY: the parameter with the name to copy
	names        int32  // INQUIRE_…_NAMES: the parameter that lists the names
	types        int32  // and the one that lists their types
	nameOf       string // the kind whose name the command takes, when its own has none
}

// special are the commands whose row in attr's table does not tell all: several rows share the number, or none has it.
var special = map[int32]spec{
	mqi.MQCMD_CHANGE_Q:  {verb: "ALTER", object: "Q"},
	mqi.MQCMD_CREATE_Q:  {verb: "DEFINE", object: "Q"},
	mqi.MQCMD_DELETE_Q:  {verb: "DELETE", object: "Q"},
	mqi.MQCMD_INQUIRE_Q: {verb: "DISPLAY", object: "QUEUE"},
	mqi.MQCMD_COPY_Q:    {verb: "DEFINE", object: "Q", from: mqi.MQCACF_FROM_Q_NAME, to: mqi.MQCACF_TO_Q_NAME},
	mqi.MQCMD_COPY_CHANNEL: {verb: "DEFINE", object: "CHANNEL", from: mqi.MQCACF_FROM_CHANNEL_NAME,
		to: mqi.MQCACF_TO_CHANNEL_NAME},
	mqi.MQCMD_COPY_PROCESS: {verb: "DEFINE", object: "PROCESS", from: mqi.MQCACF_FROM_PROCESS_NAME,
		to: mqi.MQCACF_TO_PROCESS_NAME},
	mqi.MQCMD_COPY_NAMELIST: {verb: "DEFINE", object: "NAMELIST", from: mqi.MQCACF_FROM_NAMELIST_NAME,
		to: mqi.MQCACF_TO_NAMELIST_NAME},
	mqi.MQCMD_COPY_AUTH_INFO: {verb: "DEFINE", object: "AUTHINFO", from: mqi.MQCACF_FROM_AUTH_INFO_NAME,
		to: mqi.MQCACF_TO_AUTH_INFO_NAME},
	mqi.MQCMD_COPY_LISTENER: {verb: "DEFINE", object: "LISTENER", from: mqi.MQCACF_FROM_LISTENER_NAME,
		to: mqi.MQCACF_TO_LISTENER_NAME},
	mqi.MQCMD_COPY_SERVICE: {verb: "DEFINE", object: "SERVICE", from: mqi.MQCACF_FROM_SERVICE_NAME,
		to: mqi.MQCACF_TO_SERVICE_NAME},
	mqi.MQCMD_COPY_TOPIC: {verb: "DEFINE", object: "TOPIC", from: mqi.MQCACF_FROM_TOPIC_NAME,
		to: mqi.MQCACF_TO_TOPIC_NAME},
	mqi.MQCMD_COPY_SUBSCRIPTION: {verb: "DEFINE", object: "SUB", from: mqi.MQCACF_FROM_SUB_NAME,
		to: mqi.MQCACF_TO_SUB_NAME},
	mqi.MQCMD_COPY_COMM_INFO: {verb: "DEFINE", object: "COMMINFO", from: mqi.MQCACF_FROM_COMM_INFO_NAME,
		to: mqi.MQCACF_TO_COMM_INFO_NAME},
	mqi.MQCMD_COPY_CF_STRUC: {verb: "DEFINE", object: "CFSTRUCT", from: mqi.MQCACF_FROM_CF_STRUC_NAME,
		to: mqi.MQCACF_TO_CF_STRUC_NAME},
	mqi.MQCMD_INQUIRE_Q_NAMES: {verb: "DISPLAY", object: "QUEUE", names: mqi.MQCACF_Q_NAMES, types: mqi.MQIACF_Q_TYPES},
	mqi.MQCMD_INQUIRE_CHANNEL_NAMES: {verb: "DISPLAY", object: "CHANNEL", names: mqi.MQCACH_CHANNEL_NAMES,
		types: mqi.MQIACH_CHANNEL_TYPES},
	mqi.MQCMD_INQUIRE_PROCESS_NAMES:   {verb: "DISPLAY", object: "PROCESS", names: mqi.MQCACF_PROCESS_NAMES},
	mqi.MQCMD_INQUIRE_NAMELIST_NAMES:  {verb: "DISPLAY", object: "NAMELIST", names: mqi.MQCACF_NAMELIST_NAMES},
	mqi.MQCMD_INQUIRE_AUTH_INFO_NAMES: {verb: "DISPLAY", object: "AUTHINFO", names: mqi.MQCACF_AUTH_INFO_NAMES},
	mqi.MQCMD_INQUIRE_TOPIC_NAMES:     {verb: "DISPLAY", object: "TOPIC", names: mqi.MQCACF_TOPIC_NAMES},
	mqi.MQCMD_INQUIRE_CF_STRUC_NAMES:  {verb: "DISPLAY", object: "CFSTRUCT", names: mqi.MQCACF_CF_STRUC_NAMES},
	mqi.MQCMD_RESET_Q_STATS:           {verb: "RESET", object: "QSTATS", nameOf: "QUEUE"},
	mqi.MQCMD_RESUME_Q_MGR_CLUSTER:    {verb: "RESUME", object: "QMGR"},
	mqi.MQCMD_SUSPEND_Q_MGR_CLUSTER:   {verb: "SUSPEND", object: "QMGR"},
}

// typeKey is the keyword that chooses among the kinds of an object, its parameter, and the word that stands when it is
// left out.
type typeKey struct {
	key, def string
	id       int32
	rc       mqi.RC // of a number that is no type
}

var typeKeys = map[string]typeKey{
	"Q":        {"TYPE", "", mqi.MQIA_Q_TYPE, mqi.MQRCCF_Q_TYPE_ERROR},
	"CHANNEL":  {"CHLTYPE", "", mqi.MQIACH_CHANNEL_TYPE, mqi.MQRCCF_CHANNEL_TYPE_ERROR},
	"AUTHINFO": {"AUTHTYPE", "", mqi.MQIA_AUTH_INFO_TYPE, mqi.MQRCCF_PARM_VALUE_ERROR},
	"QSTATUS":  {"TYPE", "QUEUE", mqi.MQIACF_Q_STATUS_TYPE, mqi.MQRCCF_PARM_VALUE_ERROR},
	"TPSTATUS": {"TYPE", "TOPIC", mqi.MQIACF_TOPIC_STATUS_TYPE, mqi.MQRCCF_TOPIC_TYPE_ERROR},
}

// attrLists are the parameters that list the attributes an inquiry asks for.
var attrLists = map[string]int32{
	"QUEUE": mqi.MQIACF_Q_ATTRS, "QMGR": mqi.MQIACF_Q_MGR_ATTRS, "PROCESS": mqi.MQIACF_PROCESS_ATTRS,
	"NAMELIST": mqi.MQIACF_NAMELIST_ATTRS, "CHANNEL": mqi.MQIACF_CHANNEL_ATTRS, "AUTHINFO": mqi.MQIACF_AUTH_INFO_ATTRS,
	"QSTATUS": mqi.MQIACF_Q_STATUS_ATTRS, "CHSTATUS": mqi.MQIACH_CHANNEL_INSTANCE_ATTRS, "CONN": mqi.MQIACF_CONNECTION_ATTRS,
	"TOPIC": mqi.MQIACF_TOPIC_ATTRS, "SUB": mqi.MQIACF_SUB_ATTRS, "SBSTATUS": mqi.MQIACF_SUB_STATUS_ATTRS,
	"TPSTATUS": mqi.MQIACF_TOPIC_STATUS_ATTRS, "LISTENER": mqi.MQIACF_LISTENER_ATTRS,
	"LSSTATUS": mqi.MQIACF_LISTENER_STATUS_ATTRS, "SERVICE": mqi.MQIACF_SERVICE_ATTRS,
	"SVSTATUS": mqi.MQIACF_SERVICE_STATUS_ATTRS, "CLUSQMGR": mqi.MQIACF_CLUSTER_Q_MGR_ATTRS,
	"CFSTRUCT": mqi.MQIACF_CF_STRUC_ATTRS, "CHLAUTH": mqi.MQIACF_CHLAUTH_ATTRS, "COMMINFO": mqi.MQIACF_COMM_INFO_ATTRS,
	"AUTHREC": mqi.MQIACF_AUTH_PROFILE_ATTRS, "AUTHSERV": mqi.MQIACF_AUTH_SERVICE_ATTRS,
	"QMSTATUS": mqi.MQIACF_Q_MGR_STATUS_ATTRS, "PUBSUB": mqi.MQIACF_PUBSUB_STATUS_ATTRS, "APSTATUS": mqi.MQIACF_APPL_INFO_ATTRS,
}

// valueErrors are the reason codes of wrong values that are not the general 3229.
var valueErrors = map[int32]mqi.RC{
	mqi.MQIA_Q_TYPE: mqi.MQRCCF_Q_TYPE_ERROR, mqi.MQIACH_CHANNEL_TYPE: mqi.MQRCCF_CHANNEL_TYPE_ERROR,
	mqi.MQIACF_REPLACE: mqi.MQRCCF_REPLACE_VALUE_ERROR, mqi.MQIACF_FORCE: mqi.MQRCCF_FORCE_VALUE_ERROR,
	mqi.MQIACF_PURGE: mqi.MQRCCF_PURGE_VALUE_ERROR, mqi.MQIACF_MODE: mqi.MQRCCF_MODE_VALUE_ERROR,
	mqi.MQIACF_ACTION: mqi.MQRCCF_ACTION_VALUE_ERROR, mqi.MQIACH_IN_DOUBT: mqi.MQRCCF_INDOUBT_VALUE_ERROR,
	mqi.MQIACF_ESCAPE_TYPE: mqi.MQRCCF_ESCAPE_TYPE_ERROR, mqi.MQIACH_XMIT_PROTOCOL_TYPE: mqi.MQRCCF_XMIT_PROTOCOL_TYPE_ERR,
	mqi.MQIACH_BATCH_SIZE: mqi.MQRCCF_BATCH_SIZE_ERROR, mqi.MQIACH_BATCH_INTERVAL: mqi.MQRCCF_BATCH_INT_ERROR,
	mqi.MQIACH_DISC_INTERVAL: mqi.MQRCCF_DISC_INT_ERROR, mqi.MQIACH_HB_INTERVAL: mqi.MQRCCF_HB_INTERVAL_ERROR,
	mqi.MQIACH_LONG_RETRY: mqi.MQRCCF_LONG_RETRY_ERROR, mqi.MQIACH_LONG_TIMER: mqi.MQRCCF_LONG_TIMER_ERROR,
	mqi.MQIACH_SHORT_RETRY: mqi.MQRCCF_SHORT_RETRY_ERROR, mqi.MQIACH_SHORT_TIMER: mqi.MQRCCF_SHORT_TIMER_ERROR,
	mqi.MQIACH_MAX_MSG_LENGTH: mqi.MQRCCF_MAX_MSG_LENGTH_ERROR, mqi.MQIACH_NPM_SPEED: mqi.MQRCCF_NPM_SPEED_ERROR,
	mqi.MQIACH_PUT_AUTHORITY: mqi.MQRCCF_PUT_AUTH_ERROR, mqi.MQIACH_DATA_CONVERSION: mqi.MQRCCF_DATA_CONV_VALUE_ERROR,
	mqi.MQIACH_SEQUENCE_NUMBER_WRAP: mqi.MQRCCF_SEQ_NUMBER_WRAP_ERROR, mqi.MQIACH_MCA_TYPE: mqi.MQRCCF_MCA_TYPE_ERROR,
	mqi.MQIACH_SHARING_CONVERSATIONS: mqi.MQRCCF_SHARING_CONVS_ERROR, mqi.MQIACH_MAX_INSTANCES: mqi.MQRCCF_MAX_INSTANCES_ERROR,
	mqi.MQIACH_MAX_INSTS_PER_CLIENT: mqi.MQRCCF_MAX_INSTS_PER_CLNT_ERR, mqi.MQIACF_CHLAUTH_TYPE: mqi.MQRCCF_CHLAUTH_TYPE_ERROR,
	mqi.MQIACH_PORT_NUMBER: mqi.MQRCCF_PORT_NUMBER_ERROR, mqi.MQIACH_BACKLOG: mqi.MQRCCF_BACKLOG_OUT_OF_RANGE,
	mqi.MQCACH_CHANNEL_NAME: mqi.MQRCCF_CHANNEL_NAME_ERROR, mqi.MQCACH_XMIT_Q_NAME: mqi.MQRCCF_XMIT_Q_NAME_ERROR,
	mqi.MQCACH_CONNECTION_NAME: mqi.MQRCCF_CONN_NAME_ERROR, mqi.MQCACF_AUTH_PROFILE_NAME: mqi.MQRCCF_PROFILE_NAME_ERROR,
}

// cfCodes are the reason codes of one kind of parameter structure: an identifier the command does not know, and one that
// is given twice.
var cfCodes = map[int32]struct{ unknown, twice mqi.RC }{
	mqi.MQCFT_INTEGER:            {mqi.MQRCCF_CFIN_PARM_ID_ERROR, mqi.MQRCCF_CFIN_DUPLICATE_PARM},
	mqi.MQCFT_INTEGER64:          {mqi.MQRCCF_CFIN_PARM_ID_ERROR, mqi.MQRCCF_CFIN_DUPLICATE_PARM},
	mqi.MQCFT_STRING:             {mqi.MQRCCF_CFST_PARM_ID_ERROR, mqi.MQRCCF_CFST_DUPLICATE_PARM},
	mqi.MQCFT_INTEGER_LIST:       {mqi.MQRCCF_CFIL_PARM_ID_ERROR, mqi.MQRCCF_CFIN_DUPLICATE_PARM},
	mqi.MQCFT_INTEGER64_LIST:     {mqi.MQRCCF_CFIL_PARM_ID_ERROR, mqi.MQRCCF_CFIN_DUPLICATE_PARM},
	mqi.MQCFT_STRING_LIST:        {mqi.MQRCCF_CFSL_PARM_ID_ERROR, mqi.MQRCCF_CFSL_DUPLICATE_PARM},
	mqi.MQCFT_BYTE_STRING:        {mqi.MQRCCF_CFBS_PARM_ID_ERROR, mqi.MQRCCF_CFBS_DUPLICATE_PARM},
	mqi.MQCFT_INTEGER_FILTER:     {mqi.MQRCCF_CFIF_PARM_ID_ERROR, mqi.MQRCCF_TOO_MANY_FILTERS},
	mqi.MQCFT_STRING_FILTER:      {mqi.MQRCCF_CFSF_PARM_ID_ERROR, mqi.MQRCCF_TOO_MANY_FILTERS},
	mqi.MQCFT_BYTE_STRING_FILTER: {mqi.MQRCCF_CFBF_PARM_ID_ERROR, mqi.MQRCCF_TOO_MANY_FILTERS},
	mqi.MQCFT_GROUP:              {mqi.MQRCCF_CFGR_PARM_ID_ERROR, mqi.MQRCCF_CFGR_PARM_ID_ERROR},
}

// filterOps are the operators of WHERE by their numbers.
var filterOps = [...]struct {
	num  int32
	word string
}{
	{mqi.MQCFOP_LESS, "LT"}, {mqi.MQCFOP_EQUAL, "EQ"}, {mqi.MQCFOP_NOT_GREATER, "LE"}, {mqi.MQCFOP_GREATER, "GT"},
	{mqi.MQCFOP_NOT_EQUAL, "NE"}, {mqi.MQCFOP_NOT_LESS, "GE"}, {mqi.MQCFOP_LIKE, "LK"}, {mqi.MQCFOP_NOT_LIKE, "NL"},
	{mqi.MQCFOP_CONTAINS, "CT"}, {mqi.MQCFOP_EXCLUDES, "EX"}, {mqi.MQCFOP_CONTAINS_GEN, "CTG"},
	{mqi.MQCFOP_EXCLUDES_GEN, "EXG"},
}

// instanceTypes are what CHSTATUS's flags CURRENT, SAVED and SHORT are in PCF: one parameter with three values.
var instanceTypes = map[int64]string{mqi.MQOT_CURRENT_CHANNEL: "CURRENT", mqi.MQOT_SAVED_CHANNEL: "SAVED",
	mqi.MQOT_SHORT_CHANNEL: "SHORT"}

// optionFamilies are the attributes that MQSC shows as names and PCF as a number of bits.
var optionFamilies = map[int32]string{mqi.MQIACF_CONNECT_OPTIONS: "MQCNO", mqi.MQIACF_OPEN_OPTIONS: "MQOO"}
