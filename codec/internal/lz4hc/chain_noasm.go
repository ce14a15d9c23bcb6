//go:build !(amd64 && !purego)

package lz4hc

// find does what findGeneric does.
func (s *search) find(pos, low, longest int) match { return s.findGeneric(pos, low, longest) }
