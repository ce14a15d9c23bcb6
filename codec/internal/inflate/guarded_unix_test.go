//go:build linux || darwin

package inflate

import (
	"bytes"
	"compress/zlib"
	"io"
	"math/rand"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/mutant"
	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
	"github.com/goblosc/blosc2/internal/guardpage"
)

const (
	longestMatch    = 258
	longestDistance = 1 << 15
)

// sequences is zlib as a mutant.Format. It writes blocks of all kinds, with codes for all symbols.
type sequences struct {
	preset    codes
	described []codes
	lengths   [longestMatch + 1]int // symbols

	w         bitWriter
	all       *codes // of the block that is open, or nil
	remaining int    // sequences until the block ends
}

// codes are the two codes of a block.
type codes struct {
	literals, distances *huffman
	description         bitWriter
}

func newSequences() *sequences {
	r := rand.New(rand.NewSource(1))
	f := &sequences{}
	fixed := make([]int, 288)
	for i := range fixed {
		fixed[i] = 8
		if i >= 144 && i < 256 {
			fixed[i] = 9
		} else if i >= 256 && i < 280 {
			fixed[i] = 7
		}
	}
	f.preset = codes{literals: newHuffman(fixed), distances: newHuffman(bytesOf(5, 32))}
	for range 16 {
		literals, _ := randomHuffman(r, maxLiterals, maxBits, r.Perm(maxLiterals)...)
		distances, _ := randomHuffman(r, maxDistances, maxBits, r.Perm(maxDistances)...)
		c := codes{literals: literals, distances: distances}
		describe(r, &c.description, literals.lengths, distances.lengths)
		f.described = append(f.described, c)
	}
	for symbol := endOfBlock + 1; symbol < maxLiterals; symbol++ {
		e := literalSymbols[symbol]
		for i := range 1 << (e & 63) {
			f.lengths[min(longestMatch, int(e>>16)+i)] = symbol
		}
	}
	return f
}

// bytesOf returns n times v.
func bytesOf(v, n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// Valid returns sequences for some content.
func (f *sequences) Valid(r *rand.Rand, limit int) (seqs []mutant.Sequence, dict []byte) {
	content := trial.Input(r.Intn(len(trial.Kinds())), limit, r.Int63())
	return mutant.Find(content, mutant.Rules{MinLength: 3, MaxLength: longestMatch, MaxDistance: longestDistance}), nil
}

// Prepare does nothing: the format can represent all sequences that the rules allow.
func (f *sequences) Prepare(*rand.Rand, []mutant.Sequence, bool) (window int) { return longestDistance }

func (f *sequences) Write(r *rand.Rand, seqs []mutant.Sequence, content []byte, n int) (stream []byte, exact bool) {
	f.w = bitWriter{b: append(f.w.b[:0], 0x78, 0x9c)}
	f.all = nil
	exact = true
	for i, s := range seqs {
		p := s.Literals
		if len(p) > 0 && r.Intn(24) == 0 {
			k := r.Intn(len(p) + 1)
			f.stored(p[:k])
			p = p[k:]
		}
		f.block(r)
		for _, c := range p {
			f.all.literals.put(&f.w, int(c))
		}
		if i == len(seqs)-1 {
			break
		}
		if 4*i > 3*len(seqs) && r.Intn(64) == 0 && len(f.all.literals.lengths) == 288 {
			f.all.literals.put(&f.w, 286+r.Intn(2)) // no symbol
			exact = false
		}
		f.match(r, s)
	}
	f.end()
	f.w.put(1, 1) // the last block: nothing, with the preset codes
	f.w.put(1, 2)
	f.w.put(0, 7)
	sum := checksum(content)
	if r.Intn(32) == 0 {
		sum[r.Intn(4)]++
		exact = false
	}
	return append(f.w.end(), sum...), exact
}

// block begins a new block, unless the open block continues.
func (f *sequences) block(r *rand.Rand) {
	if f.remaining--; f.all != nil && f.remaining > 0 {
		return
	}
	f.end()
	f.remaining = 1 + r.Intn(200)
	f.w.put(0, 1)
	if r.Intn(3) == 0 {
		f.all = &f.preset
		f.w.put(1, 2)
		return
	}
	f.all = &f.described[r.Intn(len(f.described))]
	f.w.put(2, 2)
	d := &f.all.description
	for _, c := range d.b {
		f.w.put(uint64(c), 8)
	}
	f.w.put(d.word, d.n)
}

// end ends the block that is open.
func (f *sequences) end() {
	if f.all != nil {
		f.all.literals.put(&f.w, endOfBlock)
		f.all = nil
	}
}

// stored writes a stored block.
func (f *sequences) stored(p []byte) {
	f.end()
	f.w.put(0, 3)
	f.w.b, f.w.word, f.w.n = f.w.end(), 0, 0
	f.w.put(uint64(len(p))|uint64(len(p)^0xffff)<<16, 32)
	f.w.b = append(f.w.b, p...)
}

func (f *sequences) match(r *rand.Rand, s mutant.Sequence) {
	symbol := f.lengths[s.Length]
	if s.Length == longestMatch && r.Intn(2) == 0 {
		symbol-- // the symbol before, whose bits can represent this length too
	}
	e := literalSymbols[symbol]
	f.all.literals.put(&f.w, symbol)
	f.w.put(uint64(s.Length)-uint64(e>>16), int(e&63))
	symbol = maxDistances - 1
	for int(distanceSymbols[symbol]>>16) > s.Distance {
		symbol--
	}
	e = distanceSymbols[symbol]
	f.all.distances.put(&f.w, symbol)
	f.w.put(uint64(s.Distance)-uint64(e>>16), int(e&63))
}

// standardDecoder is the decoder of the standard library, without the allocations.
type standardDecoder struct {
	in bytes.Reader
	z  io.ReadCloser
}

func (s *standardDecoder) decode(dst, src, _ []byte) bool {
	s.in.Reset(src)
	var err error
	if s.z == nil {
		s.z, err = zlib.NewReader(&s.in)
	} else {
		err = s.z.(zlib.Resetter).Reset(&s.in, nil)
	}
	if err != nil {
		s.z = nil
		return false
	}
	if _, err := io.ReadFull(s.z, dst); err != nil {
		return false
	}
	var more [1]byte
	n, err := s.z.Read(more[:])
	return n == 0 && err == io.EOF
}

// TestGuardedSequences decodes mutants of streams between guard pages. Package guardpage describes long runs.
func TestGuardedSequences(t *testing.T) {
	const size = 1 << 17
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	d := new(Decoder)
	x := mutant.Test{
		Rules:  mutant.Rules{MinLength: 3, MaxLength: longestMatch, MaxDistance: longestDistance},
		Format: newSequences(),
		Src:    guardpage.New(t, 2*size), Dst: guardpage.New(t, size),
		Paths: []mutant.Path{
			{Name: "compress/zlib", Decode: new(standardDecoder).decode},
			{Name: "prefix", Prefix: func(dst, src, _ []byte, n int) bool { return d.DecodePrefix(dst, src, n) == nil }},
		},
	}
	for _, l := range cputest.Available(cpu.AVX2) {
		x.Paths = append(x.Paths, mutant.Path{Name: l.String(), Decode: func(dst, src, _ []byte) bool {
			defer cpu.Limit(l)()
			return d.Decode(dst, src) == nil
		}})
	}
	x.Run(t, guardpage.Runs(t, 100_000))
}
