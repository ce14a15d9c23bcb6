//go:build !((amd64 || arm64) && !purego)

package cpu

// Kernels reports whether the build has assembly for this architecture.
const Kernels = false

const baseline = "none"

func detect() Level { return Generic }
