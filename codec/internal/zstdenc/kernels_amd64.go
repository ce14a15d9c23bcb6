//go:build amd64 && !purego

package zstdenc

import "golang.org/x/sys/cpu"

// kernels tells to use those in assembly. Only tests change it.
var kernels = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// run does what runGeneric does.
func (s *fastSearch) run() {
	if !kernels {
		s.runGeneric()
		return
	}
	raceRead(s.src[:s.end])
	raceWrite(s.text[:cap(s.text)])
	fastKernel(s)
}

// fastKernel is runGeneric.
//
//go:noescape
func fastKernel(s *fastSearch)
