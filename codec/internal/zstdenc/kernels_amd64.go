//go:build amd64 && !purego

package zstdenc

import (
	"golang.org/x/sys/cpu"

	"github.com/goblosc/blosc2/codec/internal/race"
)

// kernels tells to use those in assembly. Only tests change it.
var kernels = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// run does what runGeneric does.
func (s *fastSearch) run() {
	if !kernels {
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
	if !kernels {
		return s.longestGeneric(at, length)
	}
	if length >= len(s.src)-at {
		return length, 0
	}
	return longestKernel(s, at, length)
}

// longestKernel is longestGeneric where there may be more than length bytes.
//
//go:noescape
func longestKernel(s *rowSearch, at, length int) (int, int)

// run does what runGeneric does.
func (r *sequenceRun) run() {
	if !kernels {
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
func countParts(count *[256]uint32, parts *[3][256]uint32, b []byte) {
	if !kernels {
		countPartsGeneric(count, parts, b)
		return
	}
	race.Read(b)
	countKernel(count, parts, b)
}

//go:noescape
func countKernel(count *[256]uint32, parts *[3][256]uint32, b []byte)
