//go:build (!amd64 && !arm64) || purego

package zstd

// features are the instruction sets that the kernels of this package may use: none here.
type features struct{}

var use features

func kernel() string { return "generic" }

func (r *run) fast() int { return r.fastGeneric() }

func (s *streams4) run() { s.runGeneric() }
