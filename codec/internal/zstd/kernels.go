package zstd

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// fast executes sequences as long as bits, literals and space cannot end, and sequences are common and valid.
func (r *run) fast() int {
	if !cpu.Has(kernelLevel) {
		return r.fastGeneric()
	}
	if r.count <= 1 || len(r.literals) < margin || len(r.dst) < margin {
		return stopDecode
	}
	race.Read(r.bits.src)
	race.Read(r.literals)
	race.Write(r.dst[r.out:r.end])
	return sequencesKernel(r, spans)
}

// run runs iterations of turnCodes look-ups per stream, as long as neither the input nor the output can end.
func (s *streams4) run() {
	if !cpu.Has(kernelLevel) {
		s.runGeneric()
		return
	}
	race.Read(s.src)
	race.Write(s.dst)
	if s.pairs != nil {
		for n := s.turns(turnCodes, 2); n > 0; n = s.turns(turnCodes, 2) {
			pairsKernel(s, n)
		}
		return
	}
	for n := s.turns(turnCodes, 1); n > 0; n = s.turns(turnCodes, 1) {
		streamsKernel(s, n)
	}
}

// spans has, for offsets below 16, a shuffle mask that repeats the first offset bytes over 32, and the number of the 32
// bytes in complete repetitions. They never change.
var spans = makeSpans()

// span is an entry of spans.
type span struct {
	places [32]byte
	step   uint64
	_      [24]byte // entries of 64 bytes
}

func makeSpans() *[16]span {
	var s [16]span
	for n := 1; n < len(s); n++ {
		for i := range s[n].places {
			s[n].places[i] = byte(i % n)
		}
		s[n].step = uint64(32 / n * n)
	}
	return &s
}
