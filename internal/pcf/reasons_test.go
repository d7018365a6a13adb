package pcf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/qmgrd/qmgrd/internal/mqi"
)

// Each refusal has the reason code that MQ names for it, by the command server.
func TestServerReasonCodes(t *testing.T) {
	r := newServerRig(t)
	chl := func(typ int32, ps ...mqi.CFParam) *mqi.CFMsg {
		return command(mqi.MQCMD_CREATE_CHANNEL, append([]mqi.CFParam{str(mqi.MQCACH_CHANNEL_NAME, "C"), num(mqi.MQIACH_CHANNEL_TYPE, typ)}, ps...)...)
	}
	qmgr := func(p mqi.CFParam) *mqi.CFMsg { return command(mqi.MQCMD_CHANGE_Q_MGR, p) }
	r.mqsc("DEFINE LISTENER(LT) TRPTYPE(TCP)")
	r.mqsc("DEFINE QALIAS(AL) TARGET(REPLY)")
	for _, x := range []struct {
		rc mqi.RC
		m  *mqi.CFMsg
	}{
		{mqi.MQRCCF_DISC_INT_WRONG_TYPE, chl(mqi.MQCHT_RECEIVER, num(mqi.MQIACH_DISC_INTERVAL, 5))},
		{mqi.MQRCCF_SHARING_CONVS_TYPE, chl(mqi.MQCHT_RECEIVER, num(mqi.MQIACH_SHARING_CONVERSATIONS, 5))},
		{mqi.MQRCCF_BATCH_INT_WRONG_TYPE, chl(mqi.MQCHT_SVRCONN, num(mqi.MQIACH_BATCH_INTERVAL, 5))},
		{mqi.MQRCCF_XMIT_Q_NAME_WRONG_TYPE, chl(mqi.MQCHT_SVRCONN, str(mqi.MQCACH_XMIT_Q_NAME, "X"))},
		{mqi.MQRCCF_CFIN_PARM_ID_ERROR, chl(mqi.MQCHT_SVRCONN, num(mqi.MQIA_MAX_Q_DEPTH, 5))},
		{mqi.MQRCCF_MISSING_CONN_NAME, chl(mqi.MQCHT_SENDER, str(mqi.MQCACH_XMIT_Q_NAME, "X"))},
		{mqi.MQRCCF_CONN_NAME_ERROR, chl(mqi.MQCHT_SENDER, str(mqi.MQCACH_XMIT_Q_NAME, "X"), str(mqi.MQCACH_CONNECTION_NAME, strings.Repeat("x", 265)))},
		{mqi.MQRCCF_MR_COUNT_ERROR, chl(mqi.MQCHT_RECEIVER, num(mqi.MQIACH_MR_COUNT, -1))},
		{mqi.MQRCCF_MR_INTERVAL_ERROR, chl(mqi.MQCHT_RECEIVER, num(mqi.MQIACH_MR_INTERVAL, -1))},
		{mqi.MQRCCF_KEEP_ALIVE_INT_ERROR, chl(mqi.MQCHT_SVRCONN, num(mqi.MQIACH_KEEP_ALIVE_INTERVAL, -9))},
		{mqi.MQRCCF_SSL_CLIENT_AUTH_ERROR, chl(mqi.MQCHT_SVRCONN, num(mqi.MQIACH_SSL_CLIENT_AUTH, 9))},
		{mqi.MQRCCF_CHAD_ERROR, qmgr(num(mqi.MQIA_CHANNEL_AUTO_DEF, 9))},
		{mqi.MQRCCF_CHAD_EVENT_ERROR, qmgr(num(mqi.MQIA_CHANNEL_AUTO_DEF_EVENT, 9))},
		{mqi.MQRCCF_SUITE_B_ERROR, qmgr(list(mqi.MQIA_SUITE_B_STRENGTH, 77))},
		{mqi.MQRCCF_CERT_VAL_POLICY_ERROR, qmgr(num(mqi.MQIA_CERT_VAL_POLICY, 9))},
		{mqi.MQRCCF_CCSID_ERROR, qmgr(num(mqi.MQIA_CODED_CHAR_SET_ID, 0))},
		{mqi.MQRCCF_CCSID_ERROR, qmgr(num(mqi.MQIA_CODED_CHAR_SET_ID, 1))}, // no answer could be written in it
		{0, command(mqi.MQCMD_PING_Q_MGR)},
		{mqi.MQRCCF_OBJECT_WRONG_TYPE, command(mqi.MQCMD_CHANGE_LISTENER, str(mqi.MQCACH_LISTENER_NAME, "LT"),
			num(mqi.MQIACH_XMIT_PROTOCOL_TYPE, mqi.MQXPT_LU62))},
		{mqi.MQRCCF_LSTR_STATUS_NOT_FOUND, command(mqi.MQCMD_INQUIRE_LISTENER_STATUS, str(mqi.MQCACH_LISTENER_NAME, "LT"))},
		{mqi.MQRCCF_SERV_STATUS_NOT_FOUND, command(mqi.MQCMD_INQUIRE_SERVICE_STATUS, str(mqi.MQCA_SERVICE_NAME, "NONE"))},
		{mqi.MQRCCF_APPL_STATUS_NOT_FOUND, command(mqi.MQCMD_INQUIRE_APPL_STATUS, str(mqi.MQCACF_APPL_NAME, "none"))},
		{mqi.MQRCCF_LIKE_OBJECT_WRONG_TYPE, command(mqi.MQCMD_COPY_Q, str(mqi.MQCACF_FROM_Q_NAME, "AL"), str(mqi.MQCACF_TO_Q_NAME, "B"),
			num(mqi.MQIA_Q_TYPE, mqi.MQQT_LOCAL))},
		{mqi.MQRCCF_Q_WRONG_TYPE, command(mqi.MQCMD_CLEAR_Q, qname("AL"))},
	} {
		r.one(x.rc, x.m)
	}
}

// ids are the numbers of a response's parameters.
func ids(m mqi.CFMsg) (out []int32) {
	for _, p := range m.Params {
		out = append(out, p.ID)
	}
	return out
}

// What a response has depends on the list of attributes; what the vendor always returns is there without being asked for.
func TestServerResponseParameters(t *testing.T) {
	r := newServerRig(t)
	r.mqsc("SET AUTHREC PROFILE(REPLY) OBJTYPE(QUEUE) GROUP('apps') AUTHADD(GET)")
	r.mqsc("DEFINE CHANNEL(SD) CHLTYPE(SDR) CONNAME('h') XMITQ(X)")
	r.mqsc("DEFINE PROCESS(P)")
	for _, x := range []struct {
		m    *mqi.CFMsg
		want []int32
	}{
		// The usual way to ask for names alone.
		{command(mqi.MQCMD_INQUIRE_Q, qname("REPLY"), list(mqi.MQIACF_Q_ATTRS, mqi.MQCA_Q_NAME)), []int32{mqi.MQCA_Q_NAME, mqi.MQIA_Q_TYPE}},
		{command(mqi.MQCMD_INQUIRE_PROCESS, str(mqi.MQCA_PROCESS_NAME, "P"), list(mqi.MQIACF_PROCESS_ATTRS, mqi.MQCA_PROCESS_NAME)),
			[]int32{mqi.MQCA_PROCESS_NAME}},
		{command(mqi.MQCMD_INQUIRE_CHANNEL, str(mqi.MQCACH_CHANNEL_NAME, "SD"), list(mqi.MQIACF_CHANNEL_ATTRS, mqi.MQIACH_RESET_REQUESTED)),
			[]int32{mqi.MQCACH_CHANNEL_NAME, mqi.MQIACH_CHANNEL_TYPE, mqi.MQIACH_RESET_REQUESTED}},
		{command(mqi.MQCMD_INQUIRE_AUTH_RECS, str(mqi.MQCACF_AUTH_PROFILE_NAME, "REPLY"), num(mqi.MQIACF_OBJECT_TYPE, mqi.MQOT_Q),
			num(mqi.MQIACF_AUTH_OPTIONS, mqi.MQAUTHOPT_NAME_EXPLICIT)),
			[]int32{mqi.MQCA_Q_MGR_NAME, mqi.MQIACF_AUTH_OPTIONS, mqi.MQCACF_AUTH_PROFILE_NAME, mqi.MQCACF_ENTITY_NAME,
				mqi.MQIACF_ENTITY_TYPE, mqi.MQIACF_OBJECT_TYPE, mqi.MQIACF_AUTHORIZATION_LIST}},
	} {
		out, _ := r.ask(x.m)
		if got := ids(out[0]); len(out) != 1 || !slices.Equal(got, x.want) {
			t.Errorf("%s: %d responses, %v, want %v", mqi.Name("MQCMD", x.m.Command), len(out), got, x.want)
		}
	}
}

// An inquiry can be filtered by the type of its objects, as MQSC's can.
func TestServerFiltersByType(t *testing.T) {
	r := newServerRig(t)
	for _, x := range []struct {
		cmd, name, typ, want int32
	}{
		{mqi.MQCMD_INQUIRE_CHANNEL, mqi.MQCACH_CHANNEL_NAME, mqi.MQIACH_CHANNEL_TYPE, mqi.MQCHT_SVRCONN},
		{mqi.MQCMD_INQUIRE_AUTH_INFO, mqi.MQCA_AUTH_INFO_NAME, mqi.MQIA_AUTH_INFO_TYPE, mqi.MQAIT_IDPW_OS},
		{mqi.MQCMD_INQUIRE_Q, mqi.MQCA_Q_NAME, mqi.MQIA_Q_TYPE, mqi.MQQT_MODEL},
	} {
		out, _ := r.ask(command(x.cmd, str(x.name, "SYSTEM.*"), filter(mqi.MQCFT_INTEGER_FILTER, x.typ, mqi.MQCFOP_EQUAL, int64(x.want), "")))
		for _, m := range out {
			if p := m.Find(x.typ); m.Reason != 0 || p == nil || p.Int() != int64(x.want) {
				t.Error(fmt.Sprint(mqi.Name("MQCMD", x.cmd), m))
			}
		}
	}
}
