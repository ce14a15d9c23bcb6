package store

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
)

// entryName is a key of the store, of a leaf or a group.
type entryName struct {
	key   string
	leaf  *leaf // nil if nothing is stored under the key itself
	group bool  // there are keys below it
}

// sortKeys makes the sorted list of leaves and groups.
func (s *Store) sortKeys() error {
	groups := map[string]bool{}
	count := 0
	for key := range s.leaves {
		for g := path.Dir(key); g != "/" && !groups[g]; g = path.Dir(g) {
			groups[g] = true
			// Every group takes memory for its whole key, so deep keys count as many leaves.
			if count += 1 + len(g)/256; count > 4*s.opts.maxLeaves() {
				return faults.Corruptf("more than %d groups", 4*s.opts.maxLeaves())
			}
		}
	}
	s.names = make([]entryName, 0, len(s.leaves)+len(groups))
	for key, l := range s.leaves {
		s.names = append(s.names, entryName{key, l, groups[key]})
	}
	for g := range groups {
		if s.leaves[g] == nil {
			s.names = append(s.names, entryName{key: g, group: true})
		}
	}
	slices.SortFunc(s.names, func(a, b entryName) int { return cmp.Compare(a.key, b.key) })
	return nil
}

// find returns the entry of a key.
func (s *Store) find(key string) (entryName, bool) {
	i, ok := slices.BinarySearchFunc(s.names, key, func(e entryName, key string) int { return cmp.Compare(e.key, key) })
	if !ok {
		return entryName{key: key, group: key == "/"}, key == "/"
	}
	return s.names[i], true
}

// below returns the entries below a group, in the order of their keys.
func (s *Store) below(group string) iter.Seq[entryName] {
	start := 0
	if group != "/" {
		start, _ = slices.BinarySearchFunc(s.names, group+"/", func(e entryName, key string) int { return cmp.Compare(e.key, key) })
	}
	return func(yield func(entryName) bool) {
		for _, e := range s.names[start:] {
			if !isInside(e.key, group) || !yield(e) {
				return
			}
		}
	}
}

// Has reports whether there is a leaf or a group with a key. "/" always exists.
func (s *Store) Has(key string) bool {
	_, ok := s.find(cleanKey(key))
	return ok
}

// isGroupMeta reports whether a key holds the attributes of a group.
func (s *Store) isGroupMeta(key string) bool {
	return s.layout == LayoutTree && path.Base(key) == groupMeta
}

// Keys returns the keys of all leaves below a group, "/" for the whole store, in their order. It reads nothing. The
// leaves that hold a table are among them, those that hold the attributes of a group are not.
func (s *Store) Keys(group string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for e := range s.below(cleanKey(group)) {
			if e.leaf != nil && !s.isGroupMeta(e.key) && !yield(e.key) {
				return
			}
		}
	}
}

// looksLikeTable reports whether the leaves of a table are below a key.
func (s *Store) looksLikeTable(key string) bool {
	return s.leaves[join(key, tableMeta)] != nil && s.leaves[join(key, tableRows)] != nil
}

// commonKey returns the name of a key as a file system knows it.
func commonKey(key string) string {
	if key == "/" {
		return "."
	}
	return strings.TrimPrefix(key, "/")
}
