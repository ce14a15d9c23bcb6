package serve

import (
	"container/list"
	"context"
	"io/fs"
	"sync"
	"time"
)

// stamp identifies the state of a file: see the package comment.
type stamp struct {
	size, mtime int64
	inode       uint64
}

// stampOf returns the stamp of a file.
func stampOf(info fs.FileInfo) stamp {
	return stamp{info.Size(), info.ModTime().UnixNano(), inode(info)}
}

// entryKey identifies an entry of the cache: a file, or a leaf of the store in a file.
type entryKey struct{ name, leaf string }

// maxIndexes is the largest number of bytes that the entries of a cache take in memory, most of them for indexes of
// chunks.
const maxIndexes = 256 << 20

// cache keeps open files. An entry that is evicted or outdated is closed when no request uses it.
type cache struct {
	max     int
	maxSize int64
	time    time.Duration // to open a file
	mu      sync.Mutex
	entries map[entryKey]*list.Element
	recent  *list.List // of *entry, the least recently used one last
	size    int64      // bytes that the entries take in memory
	open    int        // entries that are not closed, evicted ones included
	opened  int64      // entries that were opened
}

// newCache returns a cache of at most n entries and maxIndexes bytes, not counting evicted ones in use. Opening a file
// may take up to limit.
func newCache(n int, limit time.Duration) *cache {
	return &cache{max: n, maxSize: maxIndexes, time: limit, entries: map[entryKey]*list.Element{}, recent: list.New()}
}

// acquire returns the entry of a key with a stamp, which it opens if necessary. The caller releases it. Requests for an
// entry that another one is opening wait for it.
func (c *cache) acquire(ctx context.Context, k entryKey, now stamp, parent *entry, open func(context.Context, *entry) error) (*entry, error) {
	c.mu.Lock()
	var drop []*entry
	var e *entry
	if el := c.entries[k]; el != nil {
		if e = el.Value.(*entry); e.stamp != now || e.parent != parent {
			drop = append(drop, c.remove(el))
			e = nil
		} else {
			c.recent.MoveToFront(el)
		}
	}
	if e == nil {
		e = &entry{key: k, stamp: now, parent: parent, cache: c, refs: 1, ready: make(chan struct{})}
		if parent != nil {
			parent.refs++
		}
		c.open++
		c.opened++
		c.entries[k] = c.recent.PushFront(e)
		for c.recent.Len() > c.max {
			drop = append(drop, c.remove(c.recent.Back()))
		}
		e.refs++
		c.mu.Unlock()
		c.release(drop...)
		// The first client may leave while others wait for the entry.
		openCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.time)
		e.err = open(openCtx, e)
		cancel()
		drop = c.setSize(e)
		close(e.ready)
		c.release(drop...)
	} else {
		e.refs++
		c.mu.Unlock()
		c.release(drop...)
	}
	select {
	case <-e.ready:
	case <-ctx.Done():
		c.release(e)
		return nil, ctx.Err()
	}
	if e.err != nil {
		err := e.err
		c.forget(e)
		c.release(e)
		return nil, err
	}
	return e, nil
}

// setSize notes the bytes that an entry takes, now that it is open. It takes entries out of the cache until all are
// within the limit: only this one if it alone is beyond it. The caller releases them.
func (c *cache) setSize(e *entry) (drop []*entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e.size = e.memory()
	el := c.entries[e.key]
	if el == nil || el.Value.(*entry) != e { // evicted
		return nil
	}
	c.size += e.size
	if e.size > c.maxSize {
		return []*entry{c.remove(el)}
	}
	for el := c.recent.Back(); c.size > c.maxSize; {
		last := el
		if el = el.Prev(); last.Value.(*entry).size > 0 { // it is open
			drop = append(drop, c.remove(last))
		}
	}
	return drop
}

// setStamp sets the stamp of an entry that is being opened.
func (c *cache) setStamp(e *entry, now stamp) {
	c.mu.Lock()
	e.stamp = now
	c.mu.Unlock()
}

// stampOf returns the stamp with which an entry was opened.
func (c *cache) stampOf(e *entry) stamp {
	c.mu.Lock()
	defer c.mu.Unlock()
	return e.stamp
}

// remove takes an entry out of the cache. The caller releases it after unlocking.
func (c *cache) remove(el *list.Element) *entry {
	e := c.recent.Remove(el).(*entry)
	delete(c.entries, e.key)
	c.size -= e.size
	return e
}

// forget takes an entry out of the cache, if it still is there.
func (c *cache) forget(e *entry) {
	c.mu.Lock()
	el := c.entries[e.key]
	if el == nil || el.Value.(*entry) != e {
		c.mu.Unlock()
		return
	}
	c.remove(el)
	c.mu.Unlock()
	c.release(e)
}

// release gives up references. It closes the entries that have none left, and gives up their stores.
func (c *cache) release(entries ...*entry) {
	for _, e := range entries {
		for e != nil {
			c.mu.Lock()
			e.refs--
			last := e.refs == 0
			c.mu.Unlock()
			if !last {
				break
			}
			<-e.ready
			e.close()
			c.mu.Lock()
			c.open--
			c.mu.Unlock()
			e = e.parent
		}
	}
}

// clear takes out all entries.
func (c *cache) clear() {
	c.mu.Lock()
	var drop []*entry
	for c.recent.Len() > 0 {
		drop = append(drop, c.remove(c.recent.Back()))
	}
	c.mu.Unlock()
	c.release(drop...)
}

// counts returns the number of open entries, and of entries that were opened.
func (c *cache) counts() (open int, opened int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open, c.opened
}
