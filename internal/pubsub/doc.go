// Package pubsub is the publish/subscribe engine: the topic tree, topic objects and what they pass down, subscriptions
// and who gets a publication, the index of retained publications, and the life of unused topics.
//
// Invariants
//   - A node is there exactly while it is used, or has been unused for less than TREELIFE, or TREELIFE is 0.
//     Used means: a topic object, a retained publication, a child node, a publisher or a subscriber.
//   - Node.uses is the number of those; Tree.Check recounts it.
//   - No full path is stored; a node's topic string is built from its ancestors.
//   - One lock hold touches at most pageVisits nodes, so nobody waits behind a walk or a mass removal.
//
// What never happens here: queues, disk, sockets, MQSC. The engine returns who gets what; the queue manager does it.
// Start at Tree (tree.go); publishing at Match (match.go); DISPLAY TPSTATUS at Status (status.go).
package pubsub
