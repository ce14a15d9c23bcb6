package store

import (
	"iter"
	"path"
	"slices"
)

// compare compares the key of e with another one.
func (e entryName) compare(key string) int { return compareKeys(e.key, key) }

// from returns the entries from the first one below a group on.
func (s *Store) from(group string) []entryName {
	names := s.index.sorted()
	if group == "/" {
		return names
	}
	start, _ := slices.BinarySearchFunc(names, group+"/", entryName.compare)
	return names[start:]
}

// below returns the entries below a group, each directly before those below it.
func (s *Store) below(group string) iter.Seq[entryName] {
	names := s.from(group)
	return func(yield func(entryName) bool) {
		for _, e := range names {
			if !isInside(e.key, group) || !yield(e) {
				return
			}
		}
	}
}

// in returns the entries in a group, without those below them. It takes time for them only.
func (s *Store) in(group string) iter.Seq[entryName] {
	names := s.from(group)
	return func(yield func(entryName) bool) {
		for rest := names; len(rest) > 0 && isInside(rest[0].key, group); {
			e := rest[0]
			if !yield(e) {
				return
			}
			rest = rest[1:]
			if !e.group {
				continue
			}
			below, _ := slices.BinarySearchFunc(rest, e.key, func(n entryName, key string) int {
				if isInside(n.key, key) {
					return -1
				}
				return 1
			})
			rest = rest[below:]
		}
	}
}

// Has reports whether there is a leaf or a group with a key. "/" always exists.
func (s *Store) Has(key string) bool {
	_, ok := s.index.find(cleanKey(key))
	return ok
}

// isGroupMeta reports whether a key holds the attributes of a group.
func (s *Store) isGroupMeta(key string) bool {
	return s.layout == LayoutTree && path.Base(key) == groupMeta
}

// Keys returns the keys of all leaves below a group, "/" for the whole store, in the order of Walk. It reads nothing.
// The columns of tables are included. The leaves that hold the attributes of a group are not.
func (s *Store) Keys(group string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for e := range s.below(cleanKey(group)) {
			if e.leaf != nil && !s.isGroupMeta(e.key) && !yield(e.key) {
				return
			}
		}
	}
}

// looksLikeTable reports whether leaves with the names of those of a table are below a key. A leaf _meta that is
// a reference to a remote array does not count. See isTable.
func (s *Store) looksLikeTable(key string) bool {
	l := s.index.get(join(key, tableMeta))
	return l != nil && l.ref == nil && s.index.get(join(key, tableRows)) != nil
}
