package esql

// The MQ constants that every program knows. Others come through Options.Constant.

const noID = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

var constants = map[string]Value{
	"MQMD_CURRENT_VERSION": Int(2), "MQMD_VERSION_1": Int(1), "MQMD_VERSION_2": Int(2),
	"MQFMT_NONE": char("        "), "MQFMT_STRING": char("MQSTR   "), "MQFMT_RF_HEADER_2": char("MQHRF2  "),
	"MQFMT_DEAD_LETTER_HEADER": char("MQDEAD  "),
	"MQMT_REQUEST":             Int(1), "MQMT_REPLY": Int(2), "MQMT_REPORT": Int(4), "MQMT_DATAGRAM": Int(8),
	"MQPER_NOT_PERSISTENT": Int(0), "MQPER_PERSISTENT": Int(1), "MQPER_PERSISTENCE_AS_Q_DEF": Int(2),
	"MQEI_UNLIMITED": Int(-1), "MQPRI_PRIORITY_AS_Q_DEF": Int(-1),
	"MQRO_NONE": Int(0), "MQRO_COPY_MSG_ID_TO_CORREL_ID": Int(0), "MQRO_NEW_MSG_ID": Int(0), "MQRO_PASS_CORREL_ID": Int(64),
	"MQRO_PASS_MSG_ID": Int(128), "MQRO_EXCEPTION": Int(16777216), "MQRO_EXPIRATION": Int(2097152), "MQRO_COA": Int(256),
	"MQRO_COD": Int(2048), "MQRO_DISCARD_MSG": Int(134217728),
	"MQMI_NONE": {kind: Blob, s: noID}, "MQCI_NONE": {kind: Blob, s: noID}, "MQGI_NONE": {kind: Blob, s: noID},
	"MQENC_NATIVE": Int(546), "MQCCSI_Q_MGR": Int(0), "MQCCSI_INHERIT": Int(-2), "MQFB_NONE": Int(0),
}

func constantNamed(word string) (Value, bool) {
	v, ok := constants[word]
	return v, ok
}
