package shuffle

import "testing"

// forEachKernel runs f once for every set of kernels that this machine has, the generic one first.
func forEachKernel(t *testing.T, f func(t *testing.T)) {
	t.Run("generic", f)
}
