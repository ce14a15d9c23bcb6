//go:build arm64 && !purego

package filters

import "github.com/goblosc/blosc2/internal/cpu"

var levels = []cpu.Level{cpu.Baseline}

// vectorWidths are the widths that have vector kernels.
var vectorWidths = []int{2, 3, 4, 8, 16}
