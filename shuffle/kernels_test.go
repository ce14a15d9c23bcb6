package shuffle

import "testing"

// forEachKernel runs f once for every set of kernels that this machine has, the generic one first.
func forEachKernel(t *testing.T, f func(t *testing.T)) {
	for _, k := range kernels {
		t.Run(k.name, func(t *testing.T) {
			if !k.available {
				t.Skipf("this machine has no %s", k.name)
			}
			saved := use
			defer func() { use = saved }()
			use = k.use
			if Kernel() != k.name {
				t.Fatalf("kernel %q in use, want %q", Kernel(), k.name)
			}
			f(t)
		})
	}
}

type kernel struct {
	name      string
	use       features
	available bool
}
