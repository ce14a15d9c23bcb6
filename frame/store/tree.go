package store

import (
	"math"
	"slices"
	"sync"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
)

// entryName is a key of the store, of a leaf or a group.
type entryName struct {
	key   string
	leaf  *leaf // nil if nothing is stored under the key itself
	group bool  // there are keys below it
}

// leaf is where the frame of a key is.
type leaf struct {
	key   string
	file  string     // name of an external leaf; "" if it is in the embed store
	off   int64      // in the decoded bytes of the embed store
	size  int64      // stored bytes; -1 if not known
	ref   *Reference // of a leaf that is elsewhere
	fault error      // why it cannot be opened
	next  *leaf      // while an edit renames the file: the leaf after that
}

// index is the map of a store. It is safe for concurrent use.
type index struct {
	mu       sync.RWMutex
	leaves   map[string]*leaf
	children map[string]int // of each group: how many leaves and groups are directly in it; see countChildren
	names    []entryName    // of leaves and groups, in the order of compareKeys; nil if an edit has changed them
}

// get returns the leaf of a key, or nil.
func (x *index) get(key string) *leaf {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.leaves[key]
}

// set sets the leaf of a key, or removes it if l is nil.
func (x *index) set(key string, l *leaf) {
	x.mu.Lock()
	defer x.mu.Unlock()
	had := x.leaves[key] != nil
	if x.names = nil; l == nil {
		delete(x.leaves, key)
	} else {
		x.leaves[key] = l
	}
	if has := l != nil; has != had && x.children[key] == 0 { // otherwise the group counts
		change := 1
		if had {
			change = -1
		}
		x.link(key, change, math.MaxInt)
	}
}

// link changes the number of children of the group that a key is in. If that group thereby begins or ceases to exist,
// link does the same for the group above it. It returns the sum of their weights, and stops after most: the work for a
// group grows with the length of its key, so a long key counts as several groups.
func (x *index) link(key string, change, most int) (weight int) {
	for g := parent(key); ; g = parent(g) {
		before := x.children[g]
		if x.children[g] += change; before+change == 0 {
			delete(x.children, g)
		}
		if before != 0 && before+change != 0 || g == "/" {
			return weight
		}
		if weight += 1 + len(g)/64; weight > most || x.leaves[g] != nil { // the leaf counts
			return weight
		}
	}
}

// countChildren fills the map of groups. It returns an error if there are more than most groups.
func (x *index) countChildren(most int) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.children = map[string]int{}
	left := most
	for key := range x.leaves {
		if left -= x.link(key, 1, left); left < 0 {
			return faults.TooLargef("more than %d groups", most)
		}
	}
	return nil
}

// find returns the entry of a key.
func (x *index) find(key string) (entryName, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	e := entryName{key, x.leaves[key], x.children[key] > 0 || key == "/"}
	return e, e.leaf != nil || e.group
}

// len returns the number of leaves.
func (x *index) len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.leaves)
}

// sorted returns the names, which the caller must not change.
func (x *index) sorted() []entryName {
	x.mu.RLock()
	names := x.names
	x.mu.RUnlock()
	if names != nil {
		return names
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.names = make([]entryName, 0, len(x.leaves)+len(x.children))
	for key, l := range x.leaves {
		x.names = append(x.names, entryName{key, l, x.children[key] > 0})
	}
	for g := range x.children {
		if x.leaves[g] == nil && g != "/" {
			x.names = append(x.names, entryName{key: g, group: true})
		}
	}
	slices.SortFunc(x.names, func(a, b entryName) int { return compareKeys(a.key, b.key) })
	return x.names
}
