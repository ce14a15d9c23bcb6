//go:build !((amd64 || arm64) && !purego)

package zstd

import "github.com/goblosc/blosc2/internal/cpu"

// kernelLevel is a level that no machine has in a build without assembly, so that the Go versions always run.
const kernelLevel = cpu.Baseline

// turnCodes is the number of look-ups per stream in one iteration of runGeneric.
const turnCodes = 5

func sequencesKernel(r *run, _ *[16]span) (stop int) { return r.fastGeneric() }

func streamsKernel(s *streams4, _ int) { s.runGeneric() }

func pairsKernel(s *streams4, _ int) { s.runGeneric() }
