// Package cputest runs tests and benchmarks with each set of kernels in turn.
package cputest

import (
	"slices"
	"testing"

	"github.com/goblosc/blosc2/internal/cpu"
)

// Each runs f with the Go code and then, in a build with assembly, with the kernels of each of the given levels. It
// skips levels that this machine does not have.
func Each(t *testing.T, f func(t *testing.T), levels ...cpu.Level) {
	for _, l := range all(levels) {
		t.Run(l.String(), func(t *testing.T) {
			if !cpu.Has(l) {
				t.Skipf("this machine has no %v", l)
			}
			defer cpu.Limit(l)()
			f(t)
		})
	}
}

// EachBenchmark is Each for benchmarks.
func EachBenchmark(b *testing.B, f func(b *testing.B), levels ...cpu.Level) {
	for _, l := range all(levels) {
		b.Run(l.String(), func(b *testing.B) {
			if !cpu.Has(l) {
				b.Skipf("this machine has no %v", l)
			}
			defer cpu.Limit(l)()
			f(b)
		})
	}
}

// Available returns cpu.Generic and the given levels that this machine has.
func Available(levels ...cpu.Level) []cpu.Level {
	return slices.DeleteFunc(all(levels), func(l cpu.Level) bool { return !cpu.Has(l) })
}

func all(levels []cpu.Level) []cpu.Level {
	if !cpu.Kernels {
		levels = nil
	}
	return append([]cpu.Level{cpu.Generic}, levels...)
}
