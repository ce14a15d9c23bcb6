package store

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"
)

// find returns the entry of a key.
func (s *Store) find(key string) (entryName, bool) {
	names := s.index.sorted()
	i, ok := slices.BinarySearchFunc(names, key, func(e entryName, key string) int { return cmp.Compare(e.key, key) })
	if !ok {
		return entryName{key: key, group: key == "/"}, key == "/"
	}
	return names[i], true
}

// below returns the entries below a group, in the order of their keys.
func (s *Store) below(group string) iter.Seq[entryName] {
	start, names := 0, s.index.sorted()
	if group != "/" {
		start, _ = slices.BinarySearchFunc(names, group+"/", func(e entryName, key string) int { return cmp.Compare(e.key, key) })
	}
	return func(yield func(entryName) bool) {
		for _, e := range names[start:] {
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
// columns of tables are included. The leaves that hold the attributes of a group are not.
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
	return s.index.get(join(key, tableMeta)) != nil && s.index.get(join(key, tableRows)) != nil
}

// commonKey returns the name of a key as a file system knows it.
func commonKey(key string) string {
	if key == "/" {
		return "."
	}
	return strings.TrimPrefix(key, "/")
}
