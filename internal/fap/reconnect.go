package fap

import "github.com/qmgrd/qmgrd/internal/mqi"

// A client that connects again by itself opens its objects and makes its subscriptions as before, from the descriptors of its
// first calls: what those calls answered is what it asks for. So replies to subscribe verbs keep the strings of the request.

// subOptions are the options of SPI SUBSCRIBE as MQSUB takes them. A client that connects again adds MQSO_RESUME to a durable
// subscription's options, although it had asked for MQSO_ALTER, which MQSUB refuses together. The subscription is as it left
// it, so to resume it is all there is to do.
func subOptions(o int32) int32 {
	const durable = mqi.MQSO_DURABLE | mqi.MQSO_RESUME | mqi.MQSO_ALTER
	if o&durable == durable {
		o &^= mqi.MQSO_ALTER
	}
	return o
}
