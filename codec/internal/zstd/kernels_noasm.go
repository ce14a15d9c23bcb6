//go:build !((amd64 || arm64) && !purego)

package zstd

import "github.com/goblosc/blosc2/internal/cpu"

// kernelLevel is a level that no machine has: there are no kernels.
const kernelLevel = cpu.Baseline

func (r *run) fast() int { return r.fastGeneric() }

func (s *streams4) run() { s.runGeneric() }
