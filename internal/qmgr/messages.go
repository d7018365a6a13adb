package qmgr

// Message ids of the command executor; their texts are rows of the message table in package attr.
const (
	msgUnexpected       = "AMQ8101S" // what went wrong
	msgNotAuthorized    = "AMQ8135E"
	msgInUse            = "AMQ8148E" // object
	msgNotEmpty         = "AMQ8143E" // queue
	msgNotFound         = "AMQ8147E" // object
	msgExists           = "AMQ8150E" // object
	msgDiskFull         = "AMQ7463E" // queue manager
	msgQuiescing        = "AMQ8156E" // queue manager
	msgNotBuilt         = "AMQ8199E" // command
	msgOtherPlatform    = "AMQ8200E" // command
	msgNeedsGroup       = "AMQ8202E" // what
	msgConflict         = "AMQ8203E" // object, rule
	msgWrongType        = "AMQ8207E" // object, its type, the type wanted
	msgFixed            = "AMQ8208E" // attribute
	msgTopicStrTaken    = "AMQ8211E" // topic string, topic object
	msgBadSelector      = "AMQ8213E" // cause
	msgConnameNeeded    = "AMQ8214E" // channel type
	msgXmitqNeeded      = "AMQ8215E" // channel type
	msgNoInsert         = "AMQ8218E" // insert, where, what to do
	msgChannelExists    = "AMQ8226E" // channel
	msgChannelNotFound  = "AMQ8227E" // channel
	msgNoConnection     = "AMQ8277E" // connection
	msgNoChannelStatus  = "AMQ8420I"
	msgLoggerEvents     = "AMQ8518E"
	msgNoQueueStatus    = "AMQ8565I"
	msgBadFilter        = "AMQ8569E" // filter
	msgListenerActive   = "AMQ8730W" // listener
	msgListenerIdle     = "AMQ8731W" // listener
	msgServiceActive    = "AMQ8737W" // service
	msgServiceFailed    = "AMQ8735E" // service, cause
	msgServiceIdle      = "AMQ8736E" // service
	msgNoTopicStatus    = "AMQ8755I"
	msgNoSubStatus      = "AMQ8761I"
	msgNoAuthrec        = "AMQ8867E" // profile
	msgChannelKind      = "AMQ9502E" // channel
	msgChannelInUse     = "AMQ9514E" // channel
	msgChannelIdle      = "AMQ9533W" // channel
	msgUnknownEntity    = "AMQ8871E" // principal or group
	msgChlauthExists    = "AMQ8879E"
	msgNoChlauth        = "AMQ8884E"
	msgNoApplStatus     = "AMQ8933I"
	msgNoClusQmgr       = "AMQ8934I"
	msgNoServiceStatus  = "AMQ8935I"
	msgNoListenerStatus = "AMQ8936I"
)
