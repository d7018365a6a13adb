package store

import "github.com/qmgrd/qmgrd/internal/invariants"

// cache keeps messages just put, so that a get that follows at once reads no file. First in, first out.
type cache struct {
	mu    invariants.Ranked[invariants.Leaf]
	m     map[cacheKey]cached
	order []cacheKey
	next  int // in order, of the oldest
	bytes int64
	limit int64
}

type cacheKey struct {
	q QID
	s Seq
}

type cached struct{ head, body []byte }

const (
	defaultCache   = 8 << 20
	maxCachedValue = 64 << 10
)

func newCache(limit int64) *cache {
	if limit == 0 {
		limit = defaultCache
	}
	return &cache{m: map[cacheKey]cached{}, limit: limit}
}

func (c *cached) size() int64 { return int64(len(c.head)+len(c.body)) + 64 }

// apply follows a unit.
func (c *cache) apply(t *Tx) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range t.ops {
		o := &t.ops[i]
		k := cacheKey{o.q, o.s}
		switch {
		case o.kind == opDropQueue:
			for k := range c.m {
				if k.q == o.q {
					c.drop(k)
				}
			}
		case !o.persistent:
		case o.kind == opPut:
			c.put(k, cached{o.a, o.b})
		case o.kind == opRemove:
			c.drop(k)
		case o.kind == opHead:
			if e, ok := c.m[k]; ok {
				c.bytes += int64(len(o.a) - len(e.head))
				e.head = o.a
				c.m[k] = e
			}
		}
	}
}

func (c *cache) put(k cacheKey, e cached) {
	if len(e.head)+len(e.body) > maxCachedValue || e.size() > c.limit {
		return
	}
	c.drop(k)
	c.m[k] = e
	c.bytes += e.size()
	c.order = append(c.order, k)
	for c.next < len(c.order) && (c.bytes > c.limit || len(c.order)-c.next > 2*len(c.m)+1024) {
		c.drop(c.order[c.next])
		c.next++
	}
	if c.next > 1024 && c.next > len(c.order)/2 {
		n := copy(c.order, c.order[c.next:])
		c.order, c.next = c.order[:n], 0
	}
}

func (c *cache) drop(k cacheKey) {
	if e, ok := c.m[k]; ok {
		c.bytes -= e.size()
		delete(c.m, k)
	}
}

func (c *cache) has(q QID, s Seq) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.m[cacheKey{q, s}]
	return ok
}

func (c *cache) get(q QID, s Seq) (Rec, bool) {
	c.mu.Lock()
	e, ok := c.m[cacheKey{q, s}]
	c.mu.Unlock()
	if !ok {
		return Rec{}, false
	}
	return Rec{Head: append([]byte{}, e.head...), Body: append([]byte(nil), e.body...), Persistent: true}, true
}
