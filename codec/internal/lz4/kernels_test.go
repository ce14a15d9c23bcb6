package lz4

import "testing"

// forEachKernel runs f with every kernel that this machine has, the generic one first.
func forEachKernel(t *testing.T, f func(t *testing.T)) {
	saved := generic
	defer func() { generic = saved }()
	for _, g := range []bool{true, false} {
		if !g && saved {
			return
		}
		generic = g
		f(t)
	}
}
