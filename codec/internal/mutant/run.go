package mutant

import (
	"bytes"
	"crypto/subtle"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// A Format writes sequences as streams of a format.
type Format interface {
	// Valid returns the sequences of a valid stream that decodes to at most limit bytes, and the dictionary it needs or
	// nil.
	Valid(r *rand.Rand, limit int) (seqs []Sequence, dict []byte)

	// Prepare changes sequences to others that the format can represent. If valid is set, they must stay valid. It
	// returns the window: a match with a greater distance is an error, except in the dictionary.
	Prepare(r *rand.Rand, seqs []Sequence, valid bool) (window int)

	// Write returns the stream of sequences that Prepare has seen. They decode to content, or begin to. The stream may
	// claim that it decodes to n bytes. If exact is false, the stream has other faults than the sequences have, or may
	// have.
	Write(r *rand.Rand, seqs []Sequence, content []byte, n int) (stream []byte, exact bool)
}

// A Path is one way to decode. The first of several paths is the reference for the others.
type Path struct {
	Name   string
	Decode func(dst, src, dict []byte) bool

	// Prefix decodes the first n bytes or more, if it is not nil.
	Prefix func(dst, src, dict []byte, n int) bool

	Every int // only each Every-th mutant is decoded this way; 0 is 1
}

// Test is a test of the decoders of a format.
type Test struct {
	Rules
	Format   Format
	Paths    []Path
	Src, Dst []byte // memory between guard pages
	Dict     []byte // likewise, or nil

	ones, want []byte
}

// perStream is the number of mutants of one valid stream.
const perStream = 64

// Run decodes valid streams and mutants until all paths together have done that many runs. All paths must agree on each
// mutant, and with the model if the mutant has one. At least half of the mutants must be decoded up to the middle of
// the output or further.
func (x *Test) Run(t *testing.T, runs int) {
	t.Helper()
	x.ones = bytes.Repeat([]byte{0xff}, len(x.Dst))
	var count tally
	for seed := int64(0); count.runs < runs; seed++ {
		if !x.stream(t, seed, &count) {
			t.Fatalf("seed %d", seed)
		}
	}
	count.report(t)
}

// stream does the runs of one valid stream and its mutants, and reports whether all is well.
func (x *Test) stream(t *testing.T, seed int64, count *tally) bool {
	r := rand.New(rand.NewSource(seed))
	valid, dict := x.Format.Valid(r, min(len(x.Dst), 1<<(5+r.Intn(9))))
	if len(dict) > 0 {
		dict = append(x.Dict[place(r, len(x.Dict), len(dict)):][:0:len(dict)], dict...)
	}
	m := mutator{Rules: x.Rules, r: r, dict: len(dict)}
	var content []byte
	for i := range perStream {
		seqs := append(m.seqs[:0], valid...)
		if m.seqs = seqs; i > 0 {
			seqs = m.mutate(valid)
		}
		window := x.Format.Prepare(r, seqs, i == 0)
		total := Total(seqs)
		n := total
		if i > 0 {
			n = size(r, seqs)
		}
		n = min(n, len(x.Dst))
		var valid bool
		content, valid = expand(content, seqs, dict, window, len(x.Dst))
		stream, exact := x.Format.Write(r, seqs, content, n)
		if i > 0 && r.Intn(8) == 0 {
			stream, exact = damage(r, stream), false
		}
		if len(stream) > len(x.Src) || len(stream) == 0 || n == 0 {
			continue
		}
		valid = valid && n == total
		if i == 0 && !valid {
			t.Error("the sequences of a valid stream are not")
			return false
		}
		mutant := mutant{stream: stream, dict: dict, content: content, n: n, valid: valid, exact: exact}
		if err := x.decode(r, &mutant, count, i); err != nil {
			t.Errorf("mutant %d, %d bytes to %d, dictionary of %d: %v\n%x", i, len(stream), n, len(dict), err, stream[:min(len(stream), 1<<12)])
			return false
		}
	}
	return true
}

// size returns a length for the output: that of the content, or one that cuts a match off, or one too many.
func size(r *rand.Rand, seqs []Sequence) int {
	total := Total(seqs)
	switch r.Intn(8) {
	case 0:
		return total + 1
	case 1:
		return max(0, total-1)
	case 2:
		return total + r.Intn(80)
	case 3:
		n := Total(seqs[:len(seqs)-r.Intn(min(len(seqs), 4))])
		return max(0, n+r.Intn(3)-1)
	}
	return total
}

// place returns the offset of n bytes in memory: at its end, or sometimes at its beginning.
func place(r *rand.Rand, room, n int) int {
	if r.Intn(4) == 0 {
		return 0
	}
	return room - n
}

// mutant is a stream with what is known of it.
type mutant struct {
	stream, dict, content []byte // content is the longest known beginning
	n                     int
	valid, exact          bool // valid counts only if exact
}

// decode decodes a mutant on all paths.
func (x *Test) decode(r *rand.Rand, m *mutant, count *tally, number int) error {
	src := x.Src[place(r, len(x.Src), len(m.stream)):][:len(m.stream):len(m.stream)]
	copy(src, m.stream)
	dst := x.Dst[place(r, len(x.Dst), m.n):][:m.n:m.n]
	half := (m.n + 1) / 2
	known := m.content[:min(len(m.content), m.n)]
	valid := m.valid
	var want []byte
	for i := range x.Paths {
		p := &x.Paths[i]
		if p.Every > 1 && number%p.Every > 0 {
			continue
		}
		count.add(p.Name)
		subtle.XORBytes(dst, known, x.ones) // bytes that are not decoded differ from those that should be
		if p.Prefix != nil {
			wanted := 1 + r.Intn(m.n)
			if wanted == m.n {
				continue
			}
			ok := p.Prefix(dst, src, m.dict, wanted)
			if !ok && valid {
				return fmt.Errorf("%s: the first %d bytes are not decoded", p.Name, wanted)
			}
			if ok && m.exact && !bytes.Equal(dst[:wanted], known[:min(wanted, len(known))]) {
				return fmt.Errorf("%s: the first %d bytes are wrong", p.Name, wanted)
			}
			continue
		}
		ok := p.Decode(dst, src, m.dict)
		if want == nil {
			if m.exact && ok != m.valid {
				return fmt.Errorf("%s: %v, want %v", p.Name, ok, m.valid)
			}
			if m.exact && ok && !bytes.Equal(dst, known) {
				return fmt.Errorf("%s: wrong bytes", p.Name)
			}
			valid = ok
			want = append(x.want[:0], dst...)
			x.want = want
		}
		if ok != valid || ok && !bytes.Equal(dst, want) {
			return fmt.Errorf("%s: %v, and %v on path %s, or other bytes", p.Name, ok, valid, x.Paths[0].Name)
		}
		if i == 0 {
			count.mutants++
			if ok {
				count.valid++
			}
			if half <= len(known) && bytes.Equal(dst[:half], known[:half]) {
				count.deep++
			}
		}
	}
	return nil
}

// tally counts runs.
type tally struct {
	mutants     int
	valid, deep int // mutants; deep ones are decoded up to the middle of the output or further
	runs        int
	paths       map[string]int // runs
}

func (c *tally) add(path string) {
	if c.paths == nil {
		c.paths = map[string]int{}
	}
	c.runs++
	c.paths[path]++
}

// report logs the counts. It fails the test if less than half of the mutants are decoded up to the middle.
func (c *tally) report(t *testing.T) {
	t.Helper()
	var paths []string
	for _, name := range slices.Sorted(maps.Keys(c.paths)) {
		paths = append(paths, fmt.Sprintf("%s %d", name, c.paths[name]))
	}
	percent := func(n int) float64 { return 100 * float64(n) / float64(c.mutants) }
	t.Logf("%d mutants, %.0f%% decoded up to the middle or further, %.0f%% valid; %d runs: %s", c.mutants, percent(c.deep),
		percent(c.valid), c.runs, strings.Join(paths, ", "))
	if 2*c.deep < c.mutants {
		t.Errorf("%d of %d mutants are decoded up to the middle or further, want half of them", c.deep, c.mutants)
	}
	if c.valid == 0 || c.valid == c.mutants {
		t.Errorf("%d of %d mutants are valid", c.valid, c.mutants)
	}
}

// damage returns a stream with a changed byte in its last quarter, or without its end.
func damage(r *rand.Rand, stream []byte) []byte {
	tail := stream[len(stream)-(len(stream)+3)/4:]
	if r.Intn(4) == 0 {
		return stream[:len(stream)-r.Intn(len(tail))]
	}
	tail[r.Intn(len(tail))] += byte(1 + r.Intn(255))
	return stream
}
