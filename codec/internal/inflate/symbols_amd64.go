//go:build amd64 && !purego

package inflate

import (
	"github.com/goblosc/blosc2/codec/internal/spans"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// kernelLevel is the level that the kernel needs.
const kernelLevel = cpu.AVX2

// fast decodes symbols as long as there is enough input and output.
func (r *run) fast(t *tables) (stop int) {
	if len(r.dst) < room {
		return stopLimit // the kernel subtracts room from the end of dst, which must not wrap around below address 0
	}
	if !cpu.Has(kernelLevel) {
		return r.fastGeneric(t)
	}
	race.Read(r.src)
	race.Write(r.dst)
	return symbolsAVX2(r, t, spans.Table())
}

//go:noescape
func symbolsAVX2(r *run, t *tables, spans *[17]spans.Span) (stop int)
