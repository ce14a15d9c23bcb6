//go:build amd64 && !purego

package shuffle

import "golang.org/x/sys/cpu"

var kernels = []kernel{
	{"generic", features{}, true},
	{"avx2", features{avx2: true}, cpu.X86.HasAVX2},
}

// vectorWidths are the widths that have vector kernels.
var vectorWidths = func() (widths []int) {
	for w := 2; w <= 300; w++ {
		widths = append(widths, w)
	}
	return widths
}()
