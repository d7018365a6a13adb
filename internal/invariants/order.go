package invariants

// The order of the program's locks. A goroutine takes a Ranked or RankedRW only when all those that it holds stand before it in
// this list; two of one rank are never held at once. With the tag "invariants" whoever breaks the order ends the program, in the
// run in which it happens, not in the one in which two goroutines meet. What each lock guards is in internal/qmgr/LOCKS.md.
type (
	// Door is a part that is started and stopped, and uses the queue manager meanwhile.
	Door struct{}
	// Registry is the list of a queue manager's objects.
	Registry struct{}
	// Object is one of them.
	Object struct{}
	// Branches are the transaction branches.
	Branches struct{}
	// Managed is the list of managed queues that go with their last handle.
	Managed struct{}
	// Queue is a queue's messages, waiters and handles.
	Queue struct{}
	// Retained gives the order of the changes of a topic's retained publication.
	Retained struct{}
	// Topics is a topic tree.
	Topics struct{}
	// Store gives the order of units in a store.
	Store struct{}
	// Socket is the conversations of a client's connection.
	Socket struct{}
	// Leaf is any lock under which no other is taken, ranked or not.
	Leaf struct{}
)

// Rank is one of the types above.
type Rank interface{ place() (int, string) }

const leaf = 1 << 10

func (Door) place() (int, string)     { return 1, "Door" }
func (Registry) place() (int, string) { return 2, "Registry" }
func (Object) place() (int, string)   { return 3, "Object" }
func (Branches) place() (int, string) { return 4, "Branches" }
func (Managed) place() (int, string)  { return 5, "Managed" }
func (Queue) place() (int, string)    { return 6, "Queue" }
func (Retained) place() (int, string) { return 7, "Retained" }
func (Topics) place() (int, string)   { return 8, "Topics" }
func (Store) place() (int, string)    { return 9, "Store" }
func (Socket) place() (int, string)   { return 10, "Socket" }
func (Leaf) place() (int, string)     { return leaf, "Leaf" }
