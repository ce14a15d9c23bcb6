//go:build linux || darwin

package blosclz

import (
	"math/rand"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/mutant"
	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
)

// BenchmarkKinds decodes streams of one kind of tokens each, with the kernel and the Go code.
func BenchmarkKinds(b *testing.B) {
	const n = 16 << 10
	kinds := mutant.Kinds(n)
	for _, k := range trial.Kinds() {
		if k.Name == "temperatures" || k.Name == "sine" {
			content, stream := make([]byte, n), make([]byte, 2*n)
			k.Fill(content, rand.New(rand.NewSource(1)))
			stream = stream[:new(Encoder).Encode(stream, content, 9)]
			kinds = append(kinds, mutant.Kind{Name: "shuffled " + k.Name, Sequences: parse(stream)})
		}
	}
	mutant.BenchmarkKinds(b, kinds, &sequences{}, []mutant.Path{
		{Name: "kernel", Decode: func(dst, src, _ []byte) bool { return Decode(dst, src) }},
		{Name: "generic", Decode: func(dst, src, _ []byte) bool {
			defer cpu.Limit(cpu.Generic)()
			return Decode(dst, src)
		}},
	})
}
