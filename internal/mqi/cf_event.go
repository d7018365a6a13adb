package mqi

// Event messages: what happened, in PCF, for the SYSTEM.ADMIN.*.EVENT queues.

// Event is something that happened. Which fields an event message has is a row of the table below; a field that a row
// marks as optional is left out when it is blank.
type Event struct {
	Reason    RC
	Qualifier int32 // MQRQ_, of events that have one
	QMgr      string

	QName, BaseObject, ObjectQMgr, XmitQ, Process, TopicString string
	QType, BaseType, ObjectType                                int32
	ApplType                                                   int32
	ApplName, User                                             string
	Options                                                    int32 // of MQOPEN or MQSUB
	Command                                                    int32 // MQCMD_
	DestQMgr                                                   string
	Host                                                       string

	SinceReset, HighDepth, Enqueued, Dequeued int32 // performance events; seconds and messages

	Channel, ConnName string
	ChannelType       int32
	ErrorID           int32
	AuxInts           [2]int32
	AuxStrings        [3]string
	ConvReason        int32
	Format            string
	HandshakeStage    string
	SSLReturnCode     int32
	SSLPeer           string
	ClientUser        string
}

// eventField is one parameter of an event message.
type eventField struct {
	num  func(*Event) int32
	text func(*Event) string
	id   int32
	size int32 // of a string, blank padded; 0 for its own length
	opt  bool  // left out when blank
}

func evNum(id int32, f func(*Event) int32) eventField { return eventField{id: id, num: f} }
func evName(id, size int32, f func(*Event) string) eventField {
	return eventField{id: id, size: size, text: f}
}
func optional(f eventField) eventField { f.opt = true; return f }

var (
	evQMgr      = evName(MQCA_Q_MGR_NAME, MQ_Q_MGR_NAME_LENGTH, func(e *Event) string { return e.QMgr })
	evQ         = evName(MQCA_Q_NAME, MQ_Q_NAME_LENGTH, func(e *Event) string { return e.QName })
	evOptQ      = optional(evQ)
	evBaseQ     = evName(MQCA_BASE_Q_NAME, MQ_Q_NAME_LENGTH, func(e *Event) string { return e.QName })
	evBaseObj   = evName(MQCA_BASE_OBJECT_NAME, MQ_OBJECT_NAME_LENGTH, func(e *Event) string { return e.BaseObject })
	evObjQMgr   = optional(evName(MQCACF_OBJECT_Q_MGR_NAME, MQ_Q_MGR_NAME_LENGTH, func(e *Event) string { return e.ObjectQMgr }))
	evXmitQ     = evName(MQCA_XMIT_Q_NAME, MQ_Q_NAME_LENGTH, func(e *Event) string { return e.XmitQ })
	evProcess   = optional(evName(MQCA_PROCESS_NAME, MQ_PROCESS_NAME_LENGTH, func(e *Event) string { return e.Process }))
	evTopic     = optional(evName(MQCA_TOPIC_STRING, 0, func(e *Event) string { return e.TopicString }))
	evQType     = evNum(MQIA_Q_TYPE, func(e *Event) int32 { return e.QType })
	evBaseType  = evNum(MQIA_BASE_TYPE, func(e *Event) int32 { return e.BaseType })
	evApplType  = evNum(MQIA_APPL_TYPE, func(e *Event) int32 { return e.ApplType })
	evApplName  = evName(MQCACF_APPL_NAME, MQ_APPL_NAME_LENGTH, func(e *Event) string { return e.ApplName })
	evUser      = evName(MQCACF_USER_IDENTIFIER, MQ_USER_ID_LENGTH, func(e *Event) string { return e.User })
	evQualifier = evNum(MQIACF_REASON_QUALIFIER, func(e *Event) int32 { return e.Qualifier })
	evOpenOpts  = evNum(MQIACF_OPEN_OPTIONS, func(e *Event) int32 { return e.Options })
	evSubOpts   = evNum(MQIACF_SUB_OPTIONS, func(e *Event) int32 { return e.Options })
	evCommand   = evNum(MQIACF_COMMAND, func(e *Event) int32 { return e.Command })
	evDestQMgr  = evName(MQCACF_DESTINATION_Q_MGR, MQ_Q_MGR_NAME_LENGTH, func(e *Event) string { return e.DestQMgr })
	evDest      = evName(MQCACF_DESTINATION, MQ_Q_NAME_LENGTH, func(e *Event) string { return e.QName })
	evHost      = optional(evName(MQCACF_HOST_NAME, 0, func(e *Event) string { return e.Host }))

	evReset = evNum(MQIA_TIME_SINCE_RESET, func(e *Event) int32 { return e.SinceReset })
	evHigh  = evNum(MQIA_HIGH_Q_DEPTH, func(e *Event) int32 { return e.HighDepth })
	evEnq   = evNum(MQIA_MSG_ENQ_COUNT, func(e *Event) int32 { return e.Enqueued })
	evDeq   = evNum(MQIA_MSG_DEQ_COUNT, func(e *Event) int32 { return e.Dequeued })

	evChannel   = evName(MQCACH_CHANNEL_NAME, MQ_CHANNEL_NAME_LENGTH, func(e *Event) string { return e.Channel })
	evConn      = optional(evName(MQCACH_CONNECTION_NAME, MQ_CONN_NAME_LENGTH, func(e *Event) string { return e.ConnName }))
	evChlXmitQ  = optional(evName(MQCACH_XMIT_Q_NAME, MQ_Q_NAME_LENGTH, func(e *Event) string { return e.XmitQ }))
	evChlType   = evNum(MQIACH_CHANNEL_TYPE, func(e *Event) int32 { return e.ChannelType })
	evError     = evNum(MQIACF_ERROR_IDENTIFIER, func(e *Event) int32 { return e.ErrorID })
	evAux1      = evNum(MQIACF_AUX_ERROR_DATA_INT_1, func(e *Event) int32 { return e.AuxInts[0] })
	evAux2      = evNum(MQIACF_AUX_ERROR_DATA_INT_2, func(e *Event) int32 { return e.AuxInts[1] })
	evAuxS1     = evName(MQCACF_AUX_ERROR_DATA_STR_1, 0, func(e *Event) string { return e.AuxStrings[0] })
	evAuxS2     = evName(MQCACF_AUX_ERROR_DATA_STR_2, 0, func(e *Event) string { return e.AuxStrings[1] })
	evAuxS3     = evName(MQCACF_AUX_ERROR_DATA_STR_3, 0, func(e *Event) string { return e.AuxStrings[2] })
	evConv      = evNum(MQIACF_CONV_REASON_CODE, func(e *Event) int32 { return e.ConvReason })
	evFormat    = evName(MQCACH_FORMAT_NAME, MQ_FORMAT_LENGTH, func(e *Event) string { return e.Format })
	evStage     = evName(MQCACH_SSL_HANDSHAKE_STAGE, MQ_SSL_HANDSHAKE_STAGE_LENGTH, func(e *Event) string { return e.HandshakeStage })
	evSSLCode   = evNum(MQIACH_SSL_RETURN_CODE, func(e *Event) int32 { return e.SSLReturnCode })
	evSSLPeer   = optional(evName(MQCACH_SSL_PEER_NAME, 0, func(e *Event) string { return e.SSLPeer }))
	evClntUser  = optional(evName(MQCACH_CLIENT_USER_ID, 0, func(e *Event) string { return e.ClientUser }))
	evOptChl    = optional(evChannel)
	evOptUser   = optional(evUser)
	evPerf      = []eventField{evQMgr, evBaseQ, evReset, evHigh, evEnq, evDeq}
	evApplOn    = []eventField{evQMgr, evQ, evApplType, evApplName, evObjQMgr, evOptChl, evConn}
	evOnXmitQ   = []eventField{evQMgr, evQ, evXmitQ, evApplType, evApplName, evObjQMgr, evOptChl, evConn}
	evOnXmitQT  = []eventField{evQMgr, evQ, evXmitQ, evQType, evApplType, evApplName, evObjQMgr, evOptChl, evConn}
	evChannelUp = []eventField{evQMgr, evChannel, evChlXmitQ, evConn}
	evChannelDn = []eventField{evQMgr, evQualifier, evChannel, evError, evAux1, evAux2, evAuxS1, evAuxS2, evAuxS3, evChlXmitQ, evConn}
)

// eventRow is one kind of event: reason, with the qualifier where the fields depend on it.
type eventRow struct {
	reason    RC
	qualifier int32
	command   int32
	fields    []eventField
}

var eventRows = [...]eventRow{
	{MQRC_Q_DEPTH_HIGH, 0, MQCMD_PERFM_EVENT, evPerf},
	{MQRC_Q_DEPTH_LOW, 0, MQCMD_PERFM_EVENT, evPerf},
	{MQRC_Q_FULL, 0, MQCMD_PERFM_EVENT, evPerf},
	{MQRC_Q_SERVICE_INTERVAL_HIGH, 0, MQCMD_PERFM_EVENT, evPerf},
	{MQRC_Q_SERVICE_INTERVAL_OK, 0, MQCMD_PERFM_EVENT, evPerf},

	{MQRC_Q_MGR_ACTIVE, 0, MQCMD_Q_MGR_EVENT, []eventField{evQMgr, evHost}},
	{MQRC_Q_MGR_NOT_ACTIVE, 0, MQCMD_Q_MGR_EVENT, []eventField{evQMgr, evQualifier, evHost}},

	{MQRC_GET_INHIBITED, 0, MQCMD_Q_MGR_EVENT, []eventField{evQMgr, evQ, evApplType, evApplName, evOptChl, evConn}},
	{MQRC_PUT_INHIBITED, 0, MQCMD_Q_MGR_EVENT, evApplOn},

	{MQRC_ALIAS_BASE_Q_TYPE_ERROR, 0, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evQ, evBaseObj, evQType, evApplType, evApplName, evObjQMgr, evOptChl, evConn}},
	{MQRC_UNKNOWN_ALIAS_BASE_Q, 0, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evQ, evBaseObj, evApplType, evApplName, evObjQMgr, evBaseType, evOptChl, evConn}},
	{MQRC_UNKNOWN_OBJECT_NAME, 0, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evApplType, evApplName, evOptQ, evProcess, evObjQMgr, evOptChl, evConn}},
	{MQRC_UNKNOWN_REMOTE_Q_MGR, 0, MQCMD_Q_MGR_EVENT, evApplOn},
	{MQRC_REMOTE_Q_NAME_ERROR, 0, MQCMD_Q_MGR_EVENT, evApplOn},
	{MQRC_UNKNOWN_XMIT_Q, 0, MQCMD_Q_MGR_EVENT, evOnXmitQ},
	{MQRC_UNKNOWN_DEF_XMIT_Q, 0, MQCMD_Q_MGR_EVENT, evOnXmitQ},
	{MQRC_XMIT_Q_TYPE_ERROR, 0, MQCMD_Q_MGR_EVENT, evOnXmitQT},
	{MQRC_DEF_XMIT_Q_TYPE_ERROR, 0, MQCMD_Q_MGR_EVENT, evOnXmitQT},
	{MQRC_XMIT_Q_USAGE_ERROR, 0, MQCMD_Q_MGR_EVENT, evOnXmitQ},
	{MQRC_DEF_XMIT_Q_USAGE_ERROR, 0, MQCMD_Q_MGR_EVENT, evOnXmitQ},

	{MQRC_NOT_AUTHORIZED, MQRQ_CONN_NOT_AUTHORIZED, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evQualifier, evUser, evApplType, evApplName, evOptChl, evConn}},
	{MQRC_NOT_AUTHORIZED, MQRQ_CSP_NOT_AUTHORIZED, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evQualifier, evUser, evApplType, evApplName, evOptChl, evConn}},
	{MQRC_NOT_AUTHORIZED, MQRQ_OPEN_NOT_AUTHORIZED, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evQualifier, evOpenOpts, evUser, evApplType, evApplName, evObjQMgr, evOptQ, evProcess, evTopic,
			evOptChl, evConn}},
	{MQRC_NOT_AUTHORIZED, MQRQ_CLOSE_NOT_AUTHORIZED, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evQualifier, evQ, evUser, evApplType, evApplName, evOptChl, evConn}},
	{MQRC_NOT_AUTHORIZED, MQRQ_CMD_NOT_AUTHORIZED, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evQualifier, evCommand, evUser}},
	{MQRC_NOT_AUTHORIZED, MQRQ_SUB_NOT_AUTHORIZED, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evQualifier, evSubOpts, evUser, evApplType, evApplName, evTopic, evOptChl, evConn}},
	{MQRC_NOT_AUTHORIZED, MQRQ_SUB_DEST_NOT_AUTHORIZED, MQCMD_Q_MGR_EVENT,
		[]eventField{evQMgr, evQualifier, evSubOpts, evUser, evApplType, evApplName, evTopic, evDestQMgr, evDest, evOptChl, evConn}},

	{MQRC_CHANNEL_STARTED, 0, MQCMD_CHANNEL_EVENT, evChannelUp},
	{MQRC_CHANNEL_ACTIVATED, 0, MQCMD_CHANNEL_EVENT, evChannelUp},
	{MQRC_CHANNEL_NOT_ACTIVATED, 0, MQCMD_CHANNEL_EVENT, evChannelUp},
	{MQRC_CHANNEL_STOPPED, 0, MQCMD_CHANNEL_EVENT, evChannelDn},
	{MQRC_CHANNEL_STOPPED_BY_USER, 0, MQCMD_CHANNEL_EVENT, evChannelDn},
	{MQRC_CHANNEL_CONV_ERROR, 0, MQCMD_CHANNEL_EVENT,
		[]eventField{evQMgr, evConv, evChannel, evFormat, evChlXmitQ, evConn}},
	{MQRC_CHANNEL_AUTO_DEF_OK, 0, MQCMD_CHANNEL_EVENT, []eventField{evQMgr, evChannel, evChlType, evConn}},
	{MQRC_CHANNEL_AUTO_DEF_ERROR, 0, MQCMD_CHANNEL_EVENT,
		[]eventField{evQMgr, evChannel, evChlType, evError, evConn, evAux1}},
	{MQRC_CHANNEL_BLOCKED, 0, MQCMD_CHANNEL_EVENT,
		[]eventField{evQMgr, evQualifier, evOptChl, evOptUser, evConn, evClntUser, evSSLPeer}},
	{MQRC_CHANNEL_BLOCKED_WARNING, 0, MQCMD_CHANNEL_EVENT,
		[]eventField{evQMgr, evQualifier, evOptChl, evOptUser, evConn, evClntUser, evSSLPeer}},
	{MQRC_CHANNEL_NOT_AVAILABLE, 0, MQCMD_CHANNEL_EVENT, []eventField{evQMgr, evQualifier, evChannel, evConn}},
	{MQRC_CHANNEL_SSL_ERROR, 0, MQCMD_CHANNEL_EVENT,
		[]eventField{evQMgr, evQualifier, evChannel, evChlXmitQ, evConn, evStage, evSSLCode, evSSLPeer}},
}

// The queues that event messages are put on.
const (
	QMgrEventQueue    = "SYSTEM.ADMIN.QMGR.EVENT"
	PerfmEventQueue   = "SYSTEM.ADMIN.PERFM.EVENT"
	ChannelEventQueue = "SYSTEM.ADMIN.CHANNEL.EVENT"
)

// Message gives the event's message and the queue it is for; false when there is no such event.
func (e *Event) Message() (m CFMsg, queue string, ok bool) {
	row := e.row()
	if row == nil {
		return CFMsg{}, "", false
	}
	m = CFMsg{Type: MQCFT_EVENT, Version: MQCFH_VERSION_1, Command: row.command, MsgSeqNumber: 1, Control: MQCFC_LAST,
		CompCode: CCWarning, Reason: e.Reason}
	for i := range row.fields {
		f := &row.fields[i]
		switch {
		case f.num != nil:
			m.Params = append(m.Params, CFInt(f.id, f.num(e)))
		case f.opt && f.text(e) == "":
		default:
			m.Params = append(m.Params, CFString(f.id, padName(f.text(e), int(f.size))))
		}
	}
	switch row.command {
	case MQCMD_PERFM_EVENT:
		return m, PerfmEventQueue, true
	case MQCMD_CHANNEL_EVENT:
		return m, ChannelEventQueue, true
	}
	return m, QMgrEventQueue, true
}

func (e *Event) row() *eventRow {
	for i := range eventRows {
		r := &eventRows[i]
		if r.reason == e.Reason && (r.qualifier == 0 || r.qualifier == e.Qualifier) {
			return r
		}
	}
	return nil
}

// padName fills a name with blanks to the length of its field.
func padName(s string, n int) string {
	for len(s) < n {
		s += "                "[:min(16, n-len(s))]
	}
	return s
}

// EventMD is the descriptor of an event message; priority and persistence are those of the event queue.
func EventMD(qmgr string, ccsid int32) MD {
	m := DefaultMD()
	m.Format, m.CodedCharSetID = MQFMT_EVENT, ccsid
	m.PutApplType, m.PutApplName = MQAT_QMGR, qmgr[:min(len(qmgr), MQ_PUT_APPL_NAME_LENGTH)]
	return m
}
