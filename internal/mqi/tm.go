package mqi

// TM is the trigger message, the data of a message of format MQTRIG on an initiation queue.
type TM struct {
	QName       string // 48, the queue that was triggered
	ProcessName string // 48
	TriggerData string // 64
	ApplType    int32
	ApplID      string // 256
	EnvData     string // 128
	UserData    string // 128
}

// ParseTM reads an MQTM (684 bytes) and gives what follows it.
func ParseTM(b []byte, c Coding) (TM, []byte, error) {
	r := newReader(b, c, "MQTM", MQRC_TM_ERROR)
	r.id("TM  ")
	r.version(MQTM_VERSION_1, MQTM_CURRENT_VERSION)
	var t TM
	t.QName, t.ProcessName = r.str(MQ_Q_NAME_LENGTH), r.str(MQ_PROCESS_NAME_LENGTH)
	t.TriggerData, t.ApplType = r.str(MQ_TRIGGER_DATA_LENGTH), r.i32()
	t.ApplID, t.EnvData = r.str(MQ_PROCESS_APPL_ID_LENGTH), r.str(MQ_PROCESS_ENV_DATA_LENGTH)
	t.UserData = r.str(MQ_PROCESS_USER_DATA_LENGTH)
	return t, r.tail(), r.err
}

// Append appends the structure.
func (t *TM) Append(dst []byte, c Coding) ([]byte, error) {
	w := newWriter(dst, c, "MQTM")
	w.str("TM", 4)
	w.i32(MQTM_CURRENT_VERSION)
	w.str(t.QName, MQ_Q_NAME_LENGTH)
	w.str(t.ProcessName, MQ_PROCESS_NAME_LENGTH)
	w.str(t.TriggerData, MQ_TRIGGER_DATA_LENGTH)
	w.i32(t.ApplType)
	w.str(t.ApplID, MQ_PROCESS_APPL_ID_LENGTH)
	w.str(t.EnvData, MQ_PROCESS_ENV_DATA_LENGTH)
	w.str(t.UserData, MQ_PROCESS_USER_DATA_LENGTH)
	return w.done(dst)
}

// TMC2 is the trigger message in characters, which a trigger monitor gives a program as its parameter.
type TMC2 struct {
	QName       string
	ProcessName string
	TriggerData string
	ApplType    string // 4, blank as monitors leave it
	ApplID      string
	EnvData     string
	UserData    string
	QMgrName    string // version 2
}

// TMC2 gives the character form of the trigger message.
func (t *TM) TMC2(qmgr string) TMC2 {
	return TMC2{QName: t.QName, ProcessName: t.ProcessName, TriggerData: t.TriggerData, ApplID: t.ApplID, EnvData: t.EnvData,
		UserData: t.UserData, QMgrName: qmgr}
}

// ParseTMC2 reads an MQTMC (684 bytes, no queue manager) or MQTMC2 (732 bytes) and gives what follows it.
func ParseTMC2(b []byte, c Coding) (TMC2, []byte, error) {
	r := newReader(b, c, "MQTMC2", MQRC_TMC_ERROR)
	r.id("TMC ")
	v := r.str(4)
	if r.err == nil && v != "   1" && v != "   2" {
		r.fail(errVersion)
	}
	var t TMC2
	t.QName, t.ProcessName = r.str(MQ_Q_NAME_LENGTH), r.str(MQ_PROCESS_NAME_LENGTH)
	t.TriggerData, t.ApplType = r.str(MQ_TRIGGER_DATA_LENGTH), r.str(4)
	t.ApplID, t.EnvData = r.str(MQ_PROCESS_APPL_ID_LENGTH), r.str(MQ_PROCESS_ENV_DATA_LENGTH)
	t.UserData = r.str(MQ_PROCESS_USER_DATA_LENGTH)
	if v == "   2" {
		t.QMgrName = r.str(MQ_Q_MGR_NAME_LENGTH)
	}
	return t, r.tail(), r.err
}

// Append appends the structure as MQTMC2. It has no numbers, so the encoding means nothing.
func (t *TMC2) Append(dst []byte, ccsid int32) ([]byte, error) {
	w := newWriter(dst, NativeCoding(ccsid), "MQTMC2")
	w.str("TMC", 4)
	w.str("   2", 4)
	w.str(t.QName, MQ_Q_NAME_LENGTH)
	w.str(t.ProcessName, MQ_PROCESS_NAME_LENGTH)
	w.str(t.TriggerData, MQ_TRIGGER_DATA_LENGTH)
	w.str(t.ApplType, 4)
	w.str(t.ApplID, MQ_PROCESS_APPL_ID_LENGTH)
	w.str(t.EnvData, MQ_PROCESS_ENV_DATA_LENGTH)
	w.str(t.UserData, MQ_PROCESS_USER_DATA_LENGTH)
	w.str(t.QMgrName, MQ_Q_MGR_NAME_LENGTH)
	return w.done(dst)
}
