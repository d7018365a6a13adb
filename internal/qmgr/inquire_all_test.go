package qmgr

import (
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/attr"
	"github.com/qmgrd/qmgrd/internal/mqi"
)

// selectorsOf are what MQINQ documents for each kind of object on the distributed platforms.
var selectorsOf = map[string]string{
	"QLOCAL": `CA_ALTERATION_DATE CA_ALTERATION_TIME CA_BACKOUT_REQ_Q_NAME CA_CLUSTER_NAME CA_CLUSTER_NAMELIST CA_CREATION_DATE
		CA_CREATION_TIME CA_INITIATION_Q_NAME CA_PROCESS_NAME CA_Q_DESC CA_Q_NAME CA_TRIGGER_DATA IA_ACCOUNTING_Q IA_BACKOUT_THRESHOLD
		IA_CLWL_Q_PRIORITY IA_CLWL_Q_RANK IA_CLWL_USEQ IA_CURRENT_Q_DEPTH IA_DEF_BIND IA_DEF_INPUT_OPEN_OPTION IA_DEF_PERSISTENCE
		IA_DEF_PRIORITY IA_DEF_PUT_RESPONSE_TYPE IA_DEF_READ_AHEAD IA_DEFINITION_TYPE IA_DIST_LISTS IA_HARDEN_GET_BACKOUT IA_INHIBIT_GET
		IA_INHIBIT_PUT IA_MAX_MSG_LENGTH IA_MAX_Q_DEPTH IA_MONITORING_Q IA_MSG_DELIVERY_SEQUENCE IA_NPM_CLASS IA_OPEN_INPUT_COUNT
		IA_OPEN_OUTPUT_COUNT IA_PROPERTY_CONTROL IA_Q_DEPTH_HIGH_EVENT IA_Q_DEPTH_HIGH_LIMIT IA_Q_DEPTH_LOW_EVENT IA_Q_DEPTH_LOW_LIMIT
		IA_Q_DEPTH_MAX_EVENT IA_Q_SERVICE_INTERVAL IA_Q_SERVICE_INTERVAL_EVENT IA_Q_TYPE IA_RETENTION_INTERVAL IA_SCOPE IA_SHAREABILITY
		IA_STATISTICS_Q IA_TRIGGER_CONTROL IA_TRIGGER_DEPTH IA_TRIGGER_MSG_PRIORITY IA_TRIGGER_TYPE IA_USAGE`,
	"QALIAS": `CA_ALTERATION_DATE CA_ALTERATION_TIME CA_BASE_OBJECT_NAME CA_CLUSTER_NAME CA_CLUSTER_NAMELIST CA_Q_DESC CA_Q_NAME
		IA_CLWL_Q_PRIORITY IA_CLWL_Q_RANK IA_DEF_BIND IA_DEF_PERSISTENCE IA_DEF_PRIORITY IA_DEF_PUT_RESPONSE_TYPE IA_DEF_READ_AHEAD
		IA_INHIBIT_GET IA_INHIBIT_PUT IA_PROPERTY_CONTROL IA_Q_TYPE IA_SCOPE`,
	"QREMOTE": `CA_ALTERATION_DATE CA_ALTERATION_TIME CA_CLUSTER_NAME CA_CLUSTER_NAMELIST CA_Q_DESC CA_Q_NAME CA_REMOTE_Q_MGR_NAME
		CA_REMOTE_Q_NAME CA_XMIT_Q_NAME IA_CLWL_Q_PRIORITY IA_CLWL_Q_RANK IA_DEF_BIND IA_DEF_PERSISTENCE IA_DEF_PRIORITY
		IA_DEF_PUT_RESPONSE_TYPE IA_INHIBIT_PUT IA_Q_TYPE IA_SCOPE`,
	"QMGR": `CA_ALTERATION_DATE CA_ALTERATION_TIME CA_CHANNEL_AUTO_DEF_EXIT CA_CLUSTER_WORKLOAD_DATA CA_CLUSTER_WORKLOAD_EXIT
		CA_COMMAND_INPUT_Q_NAME CA_DEAD_LETTER_Q_NAME CA_DEF_XMIT_Q_NAME CA_PARENT CA_Q_MGR_DESC CA_Q_MGR_IDENTIFIER CA_Q_MGR_NAME
		CA_REPOSITORY_NAME CA_REPOSITORY_NAMELIST CA_SSL_CRL_NAMELIST CA_SSL_KEY_REPOSITORY IA_ACCOUNTING_CONN_OVERRIDE IA_ACCOUNTING_INTERVAL
		IA_ACCOUNTING_MQI IA_ACCOUNTING_Q IA_ACTIVITY_RECORDING IA_AUTHORITY_EVENT IA_CHANNEL_AUTO_DEF IA_CHANNEL_AUTO_DEF_EVENT
		IA_CHANNEL_EVENT IA_CLWL_MRU_CHANNELS IA_CLWL_USEQ IA_CLUSTER_WORKLOAD_LENGTH IA_CODED_CHAR_SET_ID IA_COMMAND_EVENT IA_COMMAND_LEVEL
		IA_CONFIGURATION_EVENT IA_DIST_LISTS IA_INHIBIT_EVENT IA_LOCAL_EVENT IA_LOGGER_EVENT IA_MAX_HANDLES IA_MAX_MSG_LENGTH
		IA_MAX_PRIORITY IA_MAX_PROPERTIES_LENGTH IA_MAX_UNCOMMITTED_MSGS IA_MONITORING_AUTO_CLUSSDR IA_MONITORING_CHANNEL IA_MONITORING_Q
		IA_MSG_MARK_BROWSE_INTERVAL IA_PERFORMANCE_EVENT IA_PLATFORM IA_PUBSUB_MODE IA_PUBSUB_MAXMSG_RETRY_COUNT IA_PUBSUB_NP_MSG
		IA_PUBSUB_NP_RESP IA_PUBSUB_SYNC_PT IA_REMOTE_EVENT IA_SSL_EVENT IA_SSL_FIPS_REQUIRED IA_SSL_RESET_COUNT IA_START_STOP_EVENT
		IA_STATISTICS_AUTO_CLUSSDR IA_STATISTICS_CHANNEL IA_STATISTICS_INTERVAL IA_STATISTICS_MQI IA_STATISTICS_Q IA_SYNCPOINT
		IA_TRACE_ROUTE_RECORDING IA_TREE_LIFE_TIME IA_TRIGGER_INTERVAL`,
	"PROCESS":  `CA_ALTERATION_DATE CA_ALTERATION_TIME CA_APPL_ID CA_ENV_DATA CA_PROCESS_DESC CA_PROCESS_NAME CA_USER_DATA IA_APPL_TYPE`,
	"NAMELIST": `CA_ALTERATION_DATE CA_ALTERATION_TIME CA_NAMELIST_DESC CA_NAMELIST_NAME CA_NAMES IA_NAME_COUNT`,
}

var inquiredTypes = map[string]int32{"QMGR": mqi.MQOT_Q_MGR, "PROCESS": mqi.MQOT_PROCESS, "NAMELIST": mqi.MQOT_NAMELIST}

// Every selector that is documented for a kind of object is answered, and so is every attribute that MQSC shows of it: with the
// value that MQSC shows.
func TestInquireEverySelector(t *testing.T) {
	r := newObjRig(t)
	for _, s := range []string{"QLOCAL(L) DESCR('text') TRIGDATA('data') USAGE(XMITQ)", "QALIAS(A) TARGET(L)",
		"QREMOTE(R) RNAME(FAR) RQMNAME(L)", "PROCESS(P) APPLICID('run')", "NAMELIST(N) NAMES(ONE,TWO)"} {
		r.ok("DEFINE " + s)
	}
	c, err := r.m.Connect(bg, admin, ConnectOptions{})
	wantRC(t, err, 0)
	defer c.Break()
	for kind, name := range map[string]string{"QLOCAL": "L", "QALIAS": "A", "QREMOTE": "R", "QMGR": "", "PROCESS": "P", "NAMELIST": "N"} {
		od := mqi.DefaultOD()
		od.ObjectName = name
		if typ, ok := inquiredTypes[kind]; ok {
			od.ObjectType = typ
		}
		h, err := c.Open(bg, &od, mqi.MQOO_INQUIRE)
		wantRC(t, err, 0)
		for _, word := range strings.Fields(selectorsOf[kind]) {
			sel, ok := mqi.Number("MQ" + word)
			if !ok {
				t.Errorf("no constant MQ%s", word)
				continue
			}
			ints, chars, err := c.Inq(bg, h, []int32{sel}, 1, 4096)
			if err != nil || len(ints)+len(chars) == 0 {
				t.Errorf("%s MQ%s: %v", kind, word, err)
			}
		}
		var o *Object
		switch kind {
		case "QMGR":
			o = r.m.lookup(ClassQmgr, qmgrName)
		case "PROCESS":
			o = r.m.lookup(ClassProcess, name)
		case "NAMELIST":
			o = r.m.lookup(ClassNamelist, name)
		default:
			o = r.m.lookup(ClassQueue, name)
		}
		inquireShown(t, c, h, o.Def())
	}
}

// inquireShown inquires what MQSC shows of a definition.
func inquireShown(t *testing.T, c *Conn, h Handle, d *Def) {
	for i := range d.Schema.Attrs {
		a := &d.Schema.Attrs[i]
		if a.PCF == "" || a.Display != attr.Yes || a.Define != attr.Yes {
			continue
		}
		ints, chars, err := c.Inq(bg, h, []int32{a.ID}, 1, 1<<16)
		if err != nil {
			t.Errorf("%s %s (%s): %v", d.Kind, a.Name, a.PCF, err)
			continue
		}
		switch {
		case len(ints) == 1:
			noLimit := a.Name == "CAPEXPRY" || a.Name == "MAXFSIZE" // their words NOLIMIT and DEFAULT are −1
			if want := intValue(a, d.val(i)); ints[0] != want || want == mqi.MQIAV_NOT_APPLICABLE && !noLimit {
				t.Errorf("%s %s(%s): %d", d.Kind, a.Name, d.val(i), ints[0])
			}
		default:
			if got := strings.TrimRight(string(chars), " "); !strings.Contains(d.val(i), attr.ListSep) && got != strings.TrimRight(d.val(i), " ") {
				t.Errorf("%s %s(%s): %q", d.Kind, a.Name, d.val(i), got)
			}
		}
	}
}
