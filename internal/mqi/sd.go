package mqi

// SD is the subscription descriptor of MQSUB.
type SD struct {
	Version             int32
	Options             int32
	ObjectName          string // 48, the TOPIC object
	AlternateUserID     string // 12
	AlternateSecurityID [40]byte
	SubExpiry           int32  // tenths of a second, -1 unlimited
	ObjectString        string // topic string below ObjectName's
	SubName             string
	SubUserData         string
	SubCorrelID         ID
	PubPriority         int32
	PubAccountingToken  Account
	PubApplIdentityData string // 32
	SelectionString     string
	SubLevel            int32
	ResObjectString     string // out

	// Shared asks to share the subscription with others that do, as the shared subscriptions of JMS 2. It is not part of
	// MQSD: clients say it beside (LSD).
	Shared bool
}

// DefaultSD returns the initial values of MQSD, version 1.
func DefaultSD() SD {
	return SD{Version: 1, SubExpiry: -1, PubPriority: -3 /* MQPRI_PRIORITY_AS_PUBLISHED */, SubLevel: 1}
}
