//go:build arm64 && !purego

package cpu

// Kernels reports whether the build has assembly for this architecture.
const Kernels = true

const baseline = "neon"

// detect returns Baseline: Go runs only on arm64 machines that have NEON.
func detect() Level { return Baseline }
