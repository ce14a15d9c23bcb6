//go:build arm64 && !purego

package zstd

import "github.com/goblosc/blosc2/internal/cpu"

// kernelLevel is what the kernels of this package need.
const kernelLevel = cpu.Baseline

// turnCodes is how many look-ups a kernel for four streams takes in a turn.
const turnCodes = 5
