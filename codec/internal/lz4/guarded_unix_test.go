//go:build linux || darwin

package lz4

import (
	"bytes"
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/mutant"
	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/guardpage"
)

// sequences is LZ4 as a mutant.Format.
type sequences struct {
	e Encoder
	b []byte // the stream
}

// Valid returns the sequences that the encoder makes of some content.
func (f *sequences) Valid(r *rand.Rand, limit int) (seqs []mutant.Sequence, dict []byte) {
	content := trial.Input(r.Intn(len(trial.Kinds())), limit, r.Int63())
	stream := make([]byte, 2*limit+16)
	if r.Intn(3) == 0 {
		dict = trial.Input(3, 1+r.Intn(1<<(1+r.Intn(16))), r.Int63())
	}
	return parse(stream[:f.e.Encode(stream, content, 1)]), dict
}

// parse returns the sequences of a valid block.
func parse(b []byte) (seqs []mutant.Sequence) {
	length := func(n int) int {
		for more := n == 15; more; b = b[1:] {
			n += int(b[0])
			more = b[0] == 255
		}
		return n
	}
	for {
		token := int(b[0])
		b = b[1:]
		n := length(token >> 4)
		s := mutant.Sequence{Literals: b[:n]}
		if b = b[n:]; len(b) == 0 {
			return append(seqs, s)
		}
		s.Distance = int(b[0]) | int(b[1])<<8
		b = b[2:]
		s.Length = length(token&15) + 4
		seqs = append(seqs, s)
	}
}

// Prepare does nothing: LZ4 can represent all sequences that the rules allow.
func (f *sequences) Prepare(*rand.Rand, []mutant.Sequence, bool) (window int) { return 1 << 16 }

func (f *sequences) Write(r *rand.Rand, seqs []mutant.Sequence, content []byte, n int) (stream []byte, exact bool) {
	f.b = f.b[:0]
	for i, s := range seqs {
		token := min(len(s.Literals), 15) << 4
		if i < len(seqs)-1 {
			token |= min(s.Length-4, 15)
		} else if r.Intn(4) == 0 {
			token |= r.Intn(16) // ignored
		}
		f.b = append(f.b, byte(token))
		f.length(len(s.Literals))
		f.b = append(f.b, s.Literals...)
		if i < len(seqs)-1 {
			f.b = append(f.b, byte(s.Distance), byte(s.Distance>>8))
			f.length(s.Length - 4)
		}
	}
	return f.b, true
}

// length writes the bytes of a length that do not fit into the token.
func (f *sequences) length(n int) {
	if n < 15 {
		return
	}
	for n -= 15; n >= 255; n -= 255 {
		f.b = append(f.b, 255)
	}
	f.b = append(f.b, byte(n))
}

// TestGuardedSequences decodes mutants of blocks between guard pages. Package guardpage describes long runs.
func TestGuardedSequences(t *testing.T) {
	const size = 1 << 17
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	kernel := "library"
	if cpu.Has(kernelLevel) {
		kernel = kernelLevel.String()
	}
	twin := guardpage.New(t, size)
	sound := append([]byte(nil), 0x5f, 'a', 'b', 'c', 'd', 'e', 5, 0, 50, 0x90, '1', '2', '3', '4', '5', '6', '7', '8', '9')
	expanded := make([]byte, 5+15+4+50+9)
	x := mutant.Test{
		Rules:  mutant.Rules{MinLength: 4, MaxLength: 70_000, MaxDistance: 1<<16 - 1, Zero: true},
		Format: &sequences{},
		Src:    guardpage.New(t, 2*size), Dst: guardpage.New(t, size), Dict: guardpage.New(t, size),
		Paths: []mutant.Path{
			{Name: "generic", Decode: decodeGeneric},
			{Name: kernel, Decode: Decode},
			{Name: kernel + " twice", Every: 2, Decode: func(dst, src, dict []byte) bool {
				other := twin[len(twin)-len(dst):]
				return DecodeAll([][]byte{dst, other}, [][]byte{src, src}, dict) && bytes.Equal(dst, other)
			}},
			{Name: kernel + " in a batch", Every: 4, Decode: func(dst, src, dict []byte) bool {
				clear(expanded)
				return DecodeAll([][]byte{expanded, dst, twin[:len(expanded)]}, [][]byte{sound, src, sound}, dict) &&
					string(expanded[len(expanded)-9:]) == "123456789" && bytes.Equal(expanded, twin[:len(expanded)])
			}},
			{Name: kernel + " prefix", Every: 2, Prefix: DecodePrefix},
			{Name: "generic prefix", Every: 4, Prefix: func(dst, src, dict []byte, n int) (ok bool) {
				defer cpu.Limit(cpu.Generic)()
				return DecodePrefix(dst, src, dict, n)
			}},
		},
	}
	x.Run(t, guardpage.Runs(t, 1_000_000))
}
