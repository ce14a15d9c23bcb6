package frame

import (
	"container/list"
	"sync"
)

// cache keeps decoded blocks of one state of a frame, those that were asked for last. It may be used by any number of
// goroutines. Its lock is held for looking up and for putting in, never while a block is decoded or copied: blocks in it
// do not change, and what is thrown out stays with those who still read it.
type cache struct {
	most int64 // bytes of blocks

	mu     sync.Mutex
	s      *snapshot // the state; no other has blocks here
	blocks map[cacheKey]*list.Element
	order  list.List // of *cached, that of the last use first
	size   int64
}

type cacheKey struct{ chunk, block int }

type cached struct {
	key  cacheKey
	data []byte
}

func newCache(most int64) *cache {
	if most <= 0 {
		return nil
	}
	return &cache{most: most, blocks: map[cacheKey]*list.Element{}}
}

// get returns a block of a state, or nil.
func (c *cache) get(s *snapshot, key cacheKey) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.s != s {
		return nil
	}
	e := c.blocks[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).data
}

// put keeps a block of the state s, which is the newest, and throws out others to make room.
func (c *cache) put(s *snapshot, key cacheKey, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.s != s {
		c.reset()
		c.s = s
	}
	if c.blocks[key] != nil || int64(len(data)) > c.most {
		return
	}
	c.blocks[key] = c.order.PushFront(&cached{key, data})
	c.size += int64(len(data))
	for c.size > c.most {
		old := c.order.Remove(c.order.Back()).(*cached)
		delete(c.blocks, old.key)
		c.size -= int64(len(old.data))
	}
}

// clear forgets everything.
func (c *cache) clear() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset()
}

func (c *cache) reset() {
	c.s, c.size = nil, 0
	clear(c.blocks)
	c.order.Init()
}
