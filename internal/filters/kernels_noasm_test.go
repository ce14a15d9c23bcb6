//go:build !((amd64 || arm64) && !purego)

package filters

import "github.com/goblosc/blosc2/internal/cpu"

var levels []cpu.Level

var vectorWidths []int
