//go:build amd64 && !purego

package zstd

import "github.com/goblosc/blosc2/internal/cpu"

// kernelLevel is what the kernels of this package need.
const kernelLevel = cpu.AVX2

// turnCodes is how many look-ups a kernel for four streams takes in a turn.
const turnCodes = 6

// sequencesKernel does what fastGeneric does. literals and dst are not shorter than margin.
//
//go:noescape
func sequencesKernel(r *run, spans *[16]span) (stop int)

// streamsKernel takes n turns, which is not 0.
//
//go:noescape
func streamsKernel(s *streams4, n int)

// pairsKernel does, with the table of pairs.
//
//go:noescape
func pairsKernel(s *streams4, n int)
