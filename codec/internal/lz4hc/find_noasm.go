//go:build !amd64 || purego

package lz4hc

// generic tells to use no kernels. Only tests change it.
var generic = true

// find does what findGeneric does.
func (s *search) find(pos, low, longest int) match { return s.findGeneric(pos, low, longest) }

// scan does what scanGeneric does.
func (t *midTables) scan(b *block) (found, at int, best bool) { return t.scanGeneric(b) }
