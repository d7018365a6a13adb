package pubsub

import "time"

// Counters are what DISPLAY SBSTATUS shows of a subscription: messages put to its destination, the last of them, and
// when an application last connected to it. Times are zero for "never".
func (s *Sub) Counters() (msgs int64, last, resumed time.Time) {
	return s.numMsgs.Load(), timeOf(s.lastMsg.Load()), timeOf(s.resumed.Load())
}
