//go:build !(amd64 && !purego)

package zstdenc

func (s *fastSearch) run() { s.runGeneric() }

func (s *rowSearch) longest(at, length int) (int, int) { return s.longestGeneric(at, length) }

func (h *huffmanCode) streams4(dst, literals []byte) int { return h.streams4Generic(dst, literals) }

func (r *sequenceRun) run() { r.runGeneric() }

func countParts(count *[256]uint32, parts *[3][256]uint32, b []byte, stride int) {
	countPartsGeneric(count, parts, b, stride)
}

func (f *finder) descend(at int, node, lowest uint32, best, reach int) (int, int) {
	return f.descendGeneric(at, node, lowest, best, reach)
}

func (s *steps) relax(i int, prices []uint32, m match) { s.relaxGeneric(i, prices, m) }
