//go:build amd64 && !purego

package zstd

import "github.com/goblosc/blosc2/internal/cpu"

// kernelLevel is the level that the kernels of this package need.
const kernelLevel = cpu.AVX2

// turnCodes is the number of look-ups per stream in one iteration of a kernel for four streams.
const turnCodes = 6

// sequencesKernel does fastGeneric. literals and dst must have at least margin bytes.
//
//go:noescape
func sequencesKernel(r *run, spans *[16]span) (stop int)

// streamsKernel runs n iterations, with n > 0.
//
//go:noescape
func streamsKernel(s *streams4, n int)

// pairsKernel is streamsKernel with the table of pairs.
//
//go:noescape
func pairsKernel(s *streams4, n int)
