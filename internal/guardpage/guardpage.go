// Package guardpage allocates memory for tests of assembly kernels: an access outside of it faults. It works on Linux
// and macOS; tests that use it have the same build constraint.
//
// # Long runs
//
// Some tests decode mutants of valid streams, or run kernels with lengths and offsets at extremes, between guard pages
// and with each set of kernels that the machine has. go test does a few seconds of this. The environment variable
// BLOSC2_GUARDED_RUNS sets another number of runs for each of these tests, where a run is one call of one decoder or
// kernel:
//
//	BLOSC2_GUARDED_RUNS=10000000 go test -v -timeout 0 -run Guarded \
//	    ./codec/internal/... ./internal/filters ./internal/ndcopy
//
// There are seven such tests, so that this is 70 million runs. Each test logs its runs and fails at the first fault.
package guardpage

import (
	"os"
	"strconv"
	"testing"
)

// Runs returns how many runs a test should do: n, or a tenth with -short, or the value of BLOSC2_GUARDED_RUNS.
func Runs(t testing.TB, n int) int {
	t.Helper()
	if v := os.Getenv("BLOSC2_GUARDED_RUNS"); v != "" {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			t.Fatalf("BLOSC2_GUARDED_RUNS is %q, want a positive number", v)
		}
		return n
	}
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}
