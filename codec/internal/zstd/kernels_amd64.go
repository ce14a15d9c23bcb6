//go:build amd64 && !purego

package zstd

import "golang.org/x/sys/cpu"

// features are the instruction sets that the kernels of this package may use. Only tests change them.
type features struct {
	avx2 bool // and BMI2
}

var use = features{avx2: cpu.X86.HasAVX2 && cpu.X86.HasBMI2}

// kernel names the kernels in use.
func kernel() string {
	if use.avx2 {
		return "avx2"
	}
	return "generic"
}

// fast does sequences as long as neither bits nor literals nor room can end and they are common and sound.
func (r *run) fast() int {
	if !use.avx2 {
		return r.fastGeneric()
	}
	if r.count <= 1 || len(r.literals) < margin || len(r.dst) < margin {
		return stopDecode
	}
	raceRead(r.bits.src)
	raceRead(r.literals)
	raceWrite(r.dst[r.out:r.end])
	return sequencesAVX2(r, spans)
}

// run takes turns of 5 codes a stream, as long as neither the input nor the output can end.
func (s *streams4) run() {
	if !use.avx2 {
		s.runGeneric()
		return
	}
	raceRead(s.src)
	raceWrite(s.dst)
	for {
		n := s.turns()
		if n <= 0 {
			break
		}
		streamsBMI2(s, n)
	}
}

// sequencesAVX2 does what fastGeneric does. literals and dst are not shorter than margin.
//
//go:noescape
func sequencesAVX2(r *run, spans *[16]span) (stop int)

// streamsBMI2 takes n turns, which is not 0.
//
//go:noescape
func streamsBMI2(s *streams4, n int)

// spans has, for offsets below 16, a mask of VPSHUFB that repeats the first so many bytes over 32, and how many of the 32
// are whole repetitions. They never change.
var spans = makeSpans()

// span is an entry of spans.
type span struct {
	mask [32]byte
	step uint64
	_    [24]byte // entries of 64 bytes
}

func makeSpans() *[16]span {
	var s [16]span
	for n := 1; n < len(s); n++ {
		for i := range s[n].mask {
			s[n].mask[i] = byte(i % n)
		}
		s[n].step = uint64(32 / n * n)
	}
	return &s
}
