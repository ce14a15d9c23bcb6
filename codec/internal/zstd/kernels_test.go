package zstd

import "testing"

// with runs f with a set of kernels, whatever the machine would choose.
func with(u features, f func()) {
	saved := use
	defer func() { use = saved }()
	use = u
	f()
}

// forEachKernel runs f once for every set of kernels that this machine has, the generic one first.
func forEachKernel(t *testing.T, f func(t *testing.T)) {
	for _, k := range kernels {
		t.Run(k.name, func(t *testing.T) {
			if !k.available {
				t.Skipf("this machine has no %s", k.name)
			}
			with(k.use, func() {
				if kernel() != k.name {
					t.Fatalf("kernel %q in use", kernel())
				}
				f(t)
			})
		})
	}
}
