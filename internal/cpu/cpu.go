// Package cpu reports which assembly kernels this machine can run.
package cpu

// Level is a set of instructions. Each level includes the lower ones.
type Level uint8

// The levels.
const (
	Generic  Level = iota // Go code only: other architectures, and the build tag purego
	Baseline              // every machine of the architecture: SSE2 on amd64, NEON on arm64
	SSSE3                 // this level and the higher ones: amd64
	AVX2                  // with BMI1 and BMI2
	AVX512                // with BW, DQ, VL, VBMI, GFNI and VPCLMULQDQ, as in Ice Lake and Zen 4
)

// String returns the name of the highest instruction set of a level, or "generic".
func (l Level) String() string {
	return [...]string{"generic", baseline, "ssse3", "avx2", "avx512"}[l]
}

// level is the highest level of this machine. Only Limit changes it.
var level = detect()

// Has reports whether kernels of level l may run.
func Has(l Level) bool { return level >= l }

// Current returns the highest level for which Has reports true.
func Current() Level { return level }

// Limit makes Has report false for levels above l until restore is called. It is for tests that compare kernels with
// the Go code. No kernel may run during either call.
func Limit(l Level) (restore func()) {
	saved := level
	level = min(level, l)
	return func() { level = saved }
}
