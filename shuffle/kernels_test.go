package shuffle

import "testing"

// kernel is a set of kernels that tests can choose.
type kernel struct {
	name      string
	use       features
	available bool
}

// with runs f with this set of kernels, whatever the machine would choose.
func (k kernel) with(t testing.TB, f func()) {
	t.Helper()
	saved := use
	defer func() { use = saved }()
	use = k.use
	if Kernel() != k.name {
		t.Fatalf("kernel %q in use, want %q", Kernel(), k.name)
	}
	f()
}

// forEachKernel runs f once for every set of kernels that this machine has, the generic one first.
func forEachKernel(t *testing.T, f func(t *testing.T)) {
	for _, k := range kernels {
		t.Run(k.name, func(t *testing.T) {
			if !k.available {
				t.Skipf("this machine has no %s", k.name)
			}
			k.with(t, func() { f(t) })
		})
	}
}

// benchmarkEachKernel does the same for benchmarks.
func benchmarkEachKernel(b *testing.B, f func(b *testing.B)) {
	for _, k := range kernels {
		b.Run(k.name, func(b *testing.B) {
			if !k.available {
				b.Skipf("this machine has no %s", k.name)
			}
			k.with(b, func() { f(b) })
		})
	}
}
