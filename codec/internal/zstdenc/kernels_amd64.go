//go:build amd64 && !purego

package zstdenc

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// run does what runGeneric does.
func (s *fastSearch) run() {
	if !cpu.Has(cpu.AVX2) {
		s.runGeneric()
		return
	}
	race.Read(s.src[:s.end])
	race.Write(s.text[:cap(s.text)])
	fastKernel(s)
}

// fastKernel is runGeneric.
//
//go:noescape
func fastKernel(s *fastSearch)

// longest does what longestGeneric does.
func (s *rowSearch) longest(at, length int) (int, int) {
	if !cpu.Has(cpu.AVX2) {
		return s.longestGeneric(at, length)
	}
	if length >= len(s.src)-at {
		return length, 0
	}
	return longestKernel(s, at, length)
}

// longestKernel is longestGeneric if there may be more than length bytes.
//
//go:noescape
func longestKernel(s *rowSearch, at, length int) (int, int)

// run does what runGeneric does.
func (r *sequenceRun) run() {
	if !cpu.Has(cpu.AVX2) {
		r.runGeneric()
		return
	}
	if len(r.records) > 0 {
		race.Write(r.bits.dst[r.bits.at:][:12*len(r.records)])
		recordsKernel(r)
	}
}

// recordsKernel is runGeneric for one record or more.
//
//go:noescape
func recordsKernel(r *sequenceRun)

// countParts does what countPartsGeneric does, for 16 bytes or more.
func countParts(count *[256]uint32, parts *[3][256]uint32, b []byte, stride int) {
	if !cpu.Has(cpu.AVX2) {
		countPartsGeneric(count, parts, b, stride)
		return
	}
	race.Read(b)
	countKernel(count, parts, b, stride)
}

//go:noescape
func countKernel(count *[256]uint32, parts *[3][256]uint32, b []byte, stride int)

// descend does what descendGeneric does.
func (f *finder) descend(at int, node, lowest uint32, best, reach int) (int, int) {
	if !cpu.Has(cpu.AVX2) {
		return f.descendGeneric(at, node, lowest, best, reach)
	}
	return descendKernel(f, at, node, lowest, best, reach)
}

// descendKernel is descendGeneric.
//
//go:noescape
func descendKernel(f *finder, at int, node, lowest uint32, best, reach int) (int, int)

// relax does what relaxGeneric does.
func (s *steps) relax(i int, prices []uint32, m match) {
	if n := len(prices) &^ 7; n > 0 && cpu.Has(cpu.AVX2) {
		_ = s.costs[i+n-1] // all slices have the same length
		relaxKernel(s, i, prices[:n], &m)
		i, prices = i+n, prices[n:]
		m.length += uint32(n)
	}
	s.relaxGeneric(i, prices, m)
}

// relaxKernel is relaxGeneric for a multiple of 8 lengths, at least 8.
//
//go:noescape
func relaxKernel(s *steps, i int, prices []uint32, m *match)
