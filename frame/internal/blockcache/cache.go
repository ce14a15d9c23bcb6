// Package blockcache keeps decoded blocks.
package blockcache

import (
	"container/list"
	"sync"
)

// Cache keeps the most recently used decoded blocks of one state of a frame. Any number of goroutines may use it.
// Blocks never change. Get and Put hold a lock, but decoding and copying a block does not, and goroutines may continue
// to read a block after it was evicted.
type Cache[S comparable] struct {
	most int64 // bytes of blocks, with Overhead

	mu     sync.Mutex
	state  S // the state of all blocks
	blocks map[Key]*list.Element
	order  list.List // of *cached, the most recently used first
	size   int64
}

// Overhead is about the memory that a block in the cache takes besides its bytes.
const Overhead = 192

// Key identifies a block of a state.
type Key struct{ Chunk, Block int }

type cached struct {
	key  Key
	data []byte
}

func (b *cached) size() int64 { return int64(len(b.data)) + Overhead }

// New returns a cache of most bytes of blocks, with Overhead for each.
func New[S comparable](most int64) *Cache[S] {
	return &Cache[S]{most: most, blocks: map[Key]*list.Element{}}
}

// Get returns a block of a state, or nil.
func (c *Cache[S]) Get(state S, key Key) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != state {
		return nil
	}
	e := c.blocks[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached).data
}

// Put keeps a block of the newest state, and evicts others if there are too many bytes.
func (c *Cache[S]) Put(state S, key Key, data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != state {
		c.reset()
		c.state = state
	}
	b := &cached{key, data}
	if c.blocks[key] != nil || b.size() > c.most {
		return
	}
	c.blocks[key] = c.order.PushFront(b)
	c.size += b.size()
	for c.size > c.most {
		old := c.order.Remove(c.order.Back()).(*cached)
		delete(c.blocks, old.key)
		c.size -= old.size()
	}
}

// Most returns the largest number of bytes of blocks, with Overhead for each.
func (c *Cache[S]) Most() int64 { return c.most }

// Keys returns the keys of the blocks in the cache, the most recently used first.
func (c *Cache[S]) Keys() []Key {
	c.mu.Lock()
	defer c.mu.Unlock()
	var keys []Key
	for e := c.order.Front(); e != nil; e = e.Next() {
		keys = append(keys, e.Value.(*cached).key)
	}
	return keys
}

// Clear removes all blocks. A nil Cache has none.
func (c *Cache[S]) Clear() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reset()
}

func (c *Cache[S]) reset() {
	var none S
	c.state, c.size = none, 0
	clear(c.blocks)
	c.order.Init()
}
