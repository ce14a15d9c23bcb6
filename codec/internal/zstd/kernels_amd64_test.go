//go:build amd64 && !purego

package zstd

import "golang.org/x/sys/cpu"

// kernels are the sets of kernels of this machine.
var kernels = []struct {
	name      string
	use       features
	available bool
}{
	{"generic", features{}, true},
	{"avx2", features{avx2: true}, cpu.X86.HasAVX2 && cpu.X86.HasBMI2},
}
