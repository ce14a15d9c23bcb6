//go:build !((amd64 || arm64) && !purego)

package blosclz

import "github.com/goblosc/blosc2/internal/cpu"

// kernelLevel is a level that no machine has in a build without assembly.
const kernelLevel = cpu.Baseline

// run does nothing: there is no kernel.
func (d *decoder) run() {}
