//go:build !((amd64 || arm64) && !purego)

package cpu

// Kernels reports whether there is assembly for this architecture in the build.
const Kernels = false

const baseline = "none"

func detect() Level { return Generic }
