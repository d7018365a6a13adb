package fap

// turn is what a goroutine that runs conversations has written and not flushed: the answers on its own socket, and the messages
// for getters on others. It belongs to that goroutine.
type turn struct {
	home    *socket
	touched []*socket
}

// touch notes a socket in whose outbox something was put.
func (t *turn) touch(k *socket) {
	if k == t.home {
		return
	}
	for _, o := range t.touched {
		if o == k {
			return
		}
	}
	t.touched = append(t.touched, k)
}

// flush is called before the goroutine waits for anything.
func (t *turn) flush() {
	t.home.out.flush()
	for i, k := range t.touched {
		k.out.flush()
		t.touched[i] = nil
	}
	t.touched = t.touched[:0]
}
