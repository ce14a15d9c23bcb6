package mutant

import (
	"math/rand"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
)

// A Kind is a kind of stream for benchmarks.
type Kind struct {
	Name      string
	Sequences []Sequence
}

// Kinds returns streams that decode to about n bytes, each of sequences of one kind, for formats whose shortest match
// has at most 4 bytes.
func Kinds(n int) []Kind {
	r := rand.New(rand.NewSource(1))
	return []Kind{
		{"short matches", sequences(r, n, 0, 8, 4, 17, 32, 4096)},
		{"long matches", sequences(r, n, 0, 8, 40, 400, 64, 8000)},
		{"literals", sequences(r, n, 30, 200, 4, 5, 32, 4096)},
		{"repeats, short", sequences(r, n, 0, 8, 4, 17, 1, 8)},
		{"repeats, long", sequences(r, n, 0, 8, 40, 400, 1, 16)},
	}
}

// sequences returns sequences that decode to about n bytes. Numbers of literals, lengths and distances are below the
// upper limits and not below the lower ones.
func sequences(r *rand.Rand, n, literals, moreLiterals, length, longer, distance, farther int) []Sequence {
	first := make([]byte, farther)
	r.Read(first)
	s := []Sequence{{Literals: first[:min(n/4, farther)], Length: 4, Distance: 8}}
	for total := len(s[0].Literals); total < n; {
		l := make([]byte, literals+r.Intn(moreLiterals-literals))
		r.Read(l)
		far := min(farther, total)
		next := Sequence{Literals: l, Length: length + r.Intn(longer-length), Distance: distance + r.Intn(far-distance)}
		s = append(s, next)
		total += len(l) + next.Length
	}
	return append(s, Sequence{Literals: make([]byte, 20)})
}

// BenchmarkKinds decodes streams of each kind on each path. The program .ci/instructions counts the instructions.
func BenchmarkKinds(b *testing.B, kinds []Kind, format Format, paths []Path) {
	for _, k := range kinds {
		stream, _ := format.Write(rand.New(rand.NewSource(1)), k.Sequences, nil, 0)
		dst := make([]byte, Total(k.Sequences))
		for _, p := range paths {
			b.Run(k.Name+"/"+p.Name, func(b *testing.B) { decodeKind(b, p.Decode, dst, stream) })
		}
	}
}

// decodeKind is one benchmark.
//
//go:noinline
func decodeKind(b *testing.B, decode func(dst, src, dict []byte) bool, dst, stream []byte) {
	for b.Loop() {
		if !decode(dst, stream, nil) {
			b.Fatal("invalid stream")
		}
	}
	b.ReportMetric(float64(len(dst)), "B/stream")
}

// An Encoding is one way to encode.
type Encoding struct {
	Name   string
	Encode func(dst, src []byte)
}

// BenchmarkContents encodes n bytes of four kinds of content in each way. The program .ci/instructions counts the
// instructions.
func BenchmarkContents(b *testing.B, n int, encodings []Encoding) {
	for _, k := range trial.Kinds() {
		if k.Name == "zeros" || k.Name == "skewed" || k.Name == "ramp" || k.Name == "image" {
			continue
		}
		src, dst := make([]byte, n), make([]byte, 2*n)
		k.Fill(src, rand.New(rand.NewSource(1)))
		for _, e := range encodings {
			b.Run(k.Name+"/"+e.Name, func(b *testing.B) { encodeKind(b, e.Encode, dst, src) })
		}
	}
}

// encodeKind is one benchmark.
//
//go:noinline
func encodeKind(b *testing.B, encode func(dst, src []byte), dst, src []byte) {
	for b.Loop() {
		encode(dst, src)
	}
	b.ReportMetric(float64(len(src)), "B/stream")
}
