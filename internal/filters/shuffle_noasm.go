//go:build !((amd64 || arm64) && !purego)

package filters

import "github.com/goblosc/blosc2/internal/cpu"

// vectorLevel is a level that no machine has in a build without assembly, so that the Go versions always run.
const vectorLevel = cpu.Baseline

const vectorElements = 16

// gatherVector moves no elements.
func gatherVector(dst []byte, rowLen int, src []byte, stride, cols, n int) int { return 0 }

// scatterVector moves no elements.
func scatterVector(dst []byte, stride int, src []byte, rowLen, cols, n int) int { return 0 }
