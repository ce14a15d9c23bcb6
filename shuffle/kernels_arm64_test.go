//go:build arm64 && !purego

package shuffle

var kernels = []kernel{
	{"generic", features{}, true},
	{"neon", features{neon: true}, true},
}

// vectorWidths are the widths that have vector kernels.
var vectorWidths = []int{2, 3, 4, 8, 16}
