//go:build linux || darwin

package lz4

import (
	"math/rand"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/mutant"
	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/pierrec/lz4/v4"
)

// BenchmarkKinds decodes blocks of one kind of sequences each, with the kernel, the Go code and another library.
func BenchmarkKinds(b *testing.B) {
	const n = 16 << 10
	kinds := mutant.Kinds(n)
	for _, k := range trial.Kinds() {
		if k.Name == "temperatures" || k.Name == "sine" {
			content, stream := make([]byte, n), make([]byte, 2*n)
			k.Fill(content, rand.New(rand.NewSource(1)))
			stream = stream[:new(Encoder).Encode(stream, content, 1)]
			kinds = append(kinds, mutant.Kind{Name: "shuffled " + k.Name, Sequences: parse(stream)})
		}
	}
	mutant.BenchmarkKinds(b, kinds, &sequences{}, []mutant.Path{
		{Name: "kernel", Decode: Decode},
		{Name: "generic", Decode: decodeGeneric},
		{Name: "library", Decode: func(dst, src, dict []byte) bool {
			_, err := lz4.UncompressBlockWithDict(src, dst, dict)
			return err == nil
		}},
	})
}

// BenchmarkEncodeKinds encodes several kinds of content with the kernel and the Go code.
func BenchmarkEncodeKinds(b *testing.B) {
	var e Encoder
	mutant.BenchmarkContents(b, 16<<10, []mutant.Encoding{
		{Name: "kernel", Encode: func(dst, src []byte) { e.Encode(dst, src, 1) }},
		{Name: "generic", Encode: func(dst, src []byte) {
			defer cpu.Limit(cpu.Generic)()
			e.Encode(dst, src, 1)
		}},
	})
}
