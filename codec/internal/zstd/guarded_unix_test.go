//go:build linux || darwin

package zstd

import (
	"bytes"
	"runtime/debug"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/mutant"
	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/cpu/cputest"
	"github.com/goblosc/blosc2/internal/guardpage"
)

// TestGuardedSequences decodes mutants of frames between guard pages. Package guardpage describes long runs.
func TestGuardedSequences(t *testing.T) {
	const size = 1 << 17
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	dict := guardpage.New(t, 1) // a page
	copy(dict, trial.Input(3, len(dict), 1))
	x := mutant.Test{
		Rules:  mutant.Rules{MinLength: 3, MaxLength: 70_000, MaxDistance: 1 << 18},
		Format: newFrameFormat(bytes.Clone(dict)),
		Src:    guardpage.New(t, 2*size), Dst: guardpage.New(t, size), Dict: dict,
	}
	for _, l := range cputest.Available(kernelLevel) {
		for _, pairs := range []bool{false, true} {
			name := l.String()
			d := [2]*Decoder{newDecoder(t, nil), newDecoder(t, dict)}
			if pairs {
				name += " pairs"
				d[0].minPairs, d[1].minPairs = 0, 0
			}
			decoder := func(dict []byte) *Decoder { return d[min(len(dict), 1)] }
			x.Paths = append(x.Paths,
				mutant.Path{Name: name, Decode: func(dst, src, dict []byte) bool {
					defer cpu.Limit(l)()
					return decoder(dict).Decode(dst, src) == nil
				}},
				mutant.Path{Name: name + " prefix", Every: 4, Prefix: func(dst, src, dict []byte, n int) bool {
					defer cpu.Limit(l)()
					return decoder(dict).DecodePrefix(dst, src, n) == nil
				}})
		}
	}
	if BatchIsFaster() {
		d := [2]*Decoder{newDecoder(t, nil), newDecoder(t, dict)}
		twin, p := guardpage.New(t, size), partner()
		other := make([]byte, len(p.content))
		x.Paths = append(x.Paths,
			mutant.Path{Name: "batch", Every: 2, Decode: func(dst, src, dict []byte) bool {
				t := twin[len(twin)-len(dst):]
				err := d[min(len(dict), 1)].DecodeBatch([][]byte{dst, t}, [][]byte{src, src}, []int{len(dst), len(t)})
				return err == nil && bytes.Equal(t, dst)
			}},
			mutant.Path{Name: "batch with others", Every: 16, Decode: func(dst, src, dict []byte) bool {
				return d[min(len(dict), 1)].DecodeBatch([][]byte{other, dst, other}, [][]byte{p.frame, src, p.frame},
					[]int{len(other), len(dst), len(other)}) == nil
			}})
	}
	x.Run(t, guardpage.Runs(t, 200_000))
}
