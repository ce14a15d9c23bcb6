//go:build arm64 && !purego

package zstd

// kernels are the sets of kernels of this machine.
var kernels = []struct {
	name      string
	use       features
	available bool
}{
	{"generic", features{}, true},
	{"neon", features{neon: true}, true},
}
