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
	mu     sync.RWMutex
	leaves map[string]*leaf
	names  []entryName // of leaves and groups, in the order of compareKeys; nil if an edit has changed them
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
	if x.names = nil; l == nil {
		delete(x.leaves, key)
	} else {
		x.leaves[key] = l
	}
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
	groups, _ := x.groups(math.MaxInt)
	x.names = make([]entryName, 0, len(x.leaves)+len(groups))
	for key, l := range x.leaves {
		x.names = append(x.names, entryName{key, l, groups[key]})
	}
	for g := range groups {
		if x.leaves[g] == nil {
			x.names = append(x.names, entryName{key: g, group: true})
		}
	}
	slices.SortFunc(x.names, func(a, b entryName) int { return compareKeys(a.key, b.key) })
	return x.names
}

// groups returns the keys that have others below them, of which there may be most. The work for a group grows with the
// length of its key, so a long key counts as several groups.
func (x *index) groups(most int) (map[string]bool, error) {
	groups := map[string]bool{}
	count := 0
	for key := range x.leaves {
		for g := parent(key); g != "/" && !groups[g]; g = parent(g) {
			groups[g] = true
			if count += 1 + len(g)/64; count > most {
				return nil, faults.TooLargef("more than %d groups", most)
			}
		}
	}
	return groups, nil
}
