//go:build !amd64 || purego

package lz4hc

// find does what findGeneric does.
func (s *search) find(pos, low, longest int) match { return s.findGeneric(pos, low, longest) }

// scan does what scanGeneric does.
func (t *midTables) scan(b *block) (found, at int, best bool) { return t.scanGeneric(b) }
