//go:build linux || darwin

package blosclz

import (
	"math"
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/mutant"
	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/guardpage"
)

// sequences is BloscLZ as a mutant.Format.
type sequences struct {
	e Encoder
	b []byte // the stream
}

// Valid returns the sequences of the encoder for some content. Sometimes, and if the encoder fails, it returns the
// sequences of mutant.Find.
func (f *sequences) Valid(r *rand.Rand, limit int) (seqs []mutant.Sequence, dict []byte) {
	content := trial.Input(r.Intn(len(trial.Kinds())), limit, r.Int63())
	stream := make([]byte, 2*limit+100)
	if n := f.e.Encode(stream, content, 1+r.Intn(9)); n > 0 && r.Intn(4) > 0 {
		return parse(stream[:n]), nil
	}
	return mutant.Find(content, mutant.Rules{MinLength: 3, MaxLength: 1 << 16, MaxDistance: 1 << 16}), nil
}

// parse returns the sequences of a valid stream.
func parse(b []byte) (seqs []mutant.Sequence) {
	var s mutant.Sequence
	for first := true; len(b) > 0; first = false {
		c := int(b[0])
		if b = b[1:]; first {
			c &= 31
		}
		if c < 32 {
			s.Literals = append(s.Literals, b[:c+1]...)
			b = b[c+1:]
			continue
		}
		s.Length = c>>5 + 2
		for more := s.Length == 9; more; b = b[1:] {
			s.Length += int(b[0])
			more = b[0] == 255
		}
		s.Distance = c&31<<8 + int(b[0]) + 1
		if b = b[1:]; s.Distance == maxNear+1 {
			s.Distance += int(b[0])<<8 + int(b[1])
			b = b[2:]
		}
		seqs = append(seqs, s)
		s = mutant.Sequence{}
	}
	return append(seqs, s)
}

// Prepare makes the stream begin and end with a literal.
func (f *sequences) Prepare(_ *rand.Rand, seqs []mutant.Sequence, _ bool) (window int) {
	for _, i := range [2]int{0, len(seqs) - 1} {
		if len(seqs[i].Literals) == 0 {
			seqs[i].Literals = []byte{1}
		}
	}
	return math.MaxInt
}

func (f *sequences) Write(r *rand.Rand, seqs []mutant.Sequence, content []byte, n int) (stream []byte, exact bool) {
	f.b = f.b[:0]
	for i, s := range seqs {
		for p := s.Literals; len(p) > 0; {
			k := min(len(p), maxRun)
			if r.Intn(16) == 0 {
				k = 1 + r.Intn(k)
			}
			f.b = append(append(f.b, byte(k-1)), p[:k]...)
			p = p[k:]
		}
		if i == len(seqs)-1 {
			break
		}
		distance := min(s.Distance, maxNear+1) - 1
		f.b = append(f.b, byte(min(s.Length-2, 7)<<5|distance>>8))
		if n := s.Length - 9; n >= 0 {
			for ; n >= 255; n -= 255 {
				f.b = append(f.b, 255)
			}
			f.b = append(f.b, byte(n))
		}
		f.b = append(f.b, byte(distance))
		if far := s.Distance - maxNear - 1; far >= 0 {
			f.b = append(f.b, byte(far>>8), byte(far))
		}
	}
	f.b[0] |= byte(r.Intn(8) << 5) // which means nothing
	return f.b, true
}

// TestGuardedSequences decodes mutants of streams between guard pages. Package guardpage describes long runs.
func TestGuardedSequences(t *testing.T) {
	const size = 1 << 17
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	generic := func(f func()) {
		defer cpu.Limit(cpu.Generic)()
		f()
	}
	x := mutant.Test{
		Rules:  mutant.Rules{MinLength: 3, MaxLength: 70_000, MaxDistance: maxNear + 1 + 1<<16 - 1},
		Format: &sequences{},
		Src:    guardpage.New(t, 2*size), Dst: guardpage.New(t, size),
		Paths: []mutant.Path{
			{Name: "generic", Decode: func(dst, src, _ []byte) (ok bool) {
				generic(func() { ok = Decode(dst, src) })
				return ok
			}},
			{Name: "generic prefix", Every: 4, Prefix: func(dst, src, _ []byte, n int) (ok bool) {
				generic(func() { ok = DecodePrefix(dst, src, n) })
				return ok
			}},
		},
	}
	if cpu.Has(kernelLevel) {
		kernel := kernelLevel.String()
		x.Paths = append(x.Paths,
			mutant.Path{Name: kernel, Decode: func(dst, src, _ []byte) bool { return Decode(dst, src) }},
			mutant.Path{Name: kernel + " prefix", Every: 2, Prefix: func(dst, src, _ []byte, n int) bool {
				return DecodePrefix(dst, src, n)
			}})
	}
	x.Run(t, guardpage.Runs(t, 1_000_000))
}
