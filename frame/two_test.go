package frame

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"path/filepath"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
)

// countingPlan reads whole chunks, or some of their blocks, some of which have places, and counts how often each block
// comes.
type countingPlan struct {
	t      *testing.T
	chunks int
	next   int
	only   []int32          // blocks, or all
	placed func(k int) bool // whether a block has a place
	part   int              // only so many thirds of the other blocks are wanted
	size   int              // bytes of a chunk
	got    []byte           // all chunks
	mu     sync.Mutex
	places map[[2]int]int
	blocks map[[2]int]int
}

func (p *countingPlan) Next(v *engine.Visit) bool {
	v.Chunk = p.next
	v.Blocks = append(v.Blocks, p.only...)
	p.next++
	return v.Chunk < p.chunks
}

func (p *countingPlan) Block(b *engine.Block, v *engine.Visit, k, at, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [2]int{v.Chunk, k}
	p.places[key]++
	*b = engine.Block{Need: n * p.part / 3, Mover: countingMover{p, key, at}}
	if p.placed(k) {
		p.blocks[key]++
		b.Data, b.Need, b.Mover = p.got, n, nil
		b.Copy.Begin(v.Chunk*p.size+at, 0, n)
	}
}

// countingMover takes a block without a place.
type countingMover struct {
	*countingPlan
	key [2]int
	at  int
}

func (p countingMover) Move(data []byte, _ bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocks[p.key]++
	copy(p.got[p.key[0]*p.size+p.at:], data[:len(data)*p.part/3])
	return nil
}

func (p countingMover) Unshuffle(coder.Shuffled) bool { return false }

func (p *countingPlan) Special(*engine.Visit, chunk.Special, []byte, int, int) error {
	p.t.Error("a special chunk")
	return nil
}

// decodeAll reads what a plan needs of the newest state.
func decodeAll(f *Frame, p engine.ReadPlan) error {
	v, err := f.View()
	if err != nil {
		return err
	}
	defer v.Release()
	return v.Decode(context.Background(), p, 1000, 0)
}

// TestDecodeTwo reads blocks that pay to be decoded two by two, of which all, none or some have places. Each must come
// once, from chunks in a file and in memory.
func TestDecodeTwo(t *testing.T) {
	const chunks = 3
	for _, blockSize := range []int{512, 700 << 10} { // two of the longer ones are too long without a place
		size := blockSize*9 + 100
		if blockSize > 1000 {
			size = blockSize*4 + 100
		}
		src := make([]byte, chunks*size)
		r := rand.New(rand.NewSource(1))
		for i := range src {
			if src[i] = byte(i % 12); i%12 < 3 {
				src[i] = byte(r.Intn(256))
			}
		}
		name := filepath.Join(t.TempDir(), "x.b2frame")
		o := &Options{CParams: chunk.CParams{Codec: codec.LZ4, TypeSize: 4, BlockSize: blockSize, Filters: []chunk.Filter{}}, NoSync: true}
		f, err := Create(name, o, nil)
		must(t, err)
		for i := range chunks {
			must(t, f.Append(src[i*size:][:size]))
		}
		must(t, f.Close())
		for workers := 1; workers <= 3; workers++ {
			f, err := Open(name, &Options{Concurrency: workers})
			must(t, err)
			for what, placed := range map[string]func(k int) bool{
				"all": func(int) bool { return true }, "none": func(int) bool { return false }, "some": func(k int) bool { return k%3 == 0 },
			} {
				for i, only := range [][]int32{nil, {0, 2, 3, 4}, {1}, nil, {0, 2, 3, 4}} {
					part := 3
					if i >= 3 {
						part = i - 2
					}
					what := fmt.Sprintf("blocks of %d, %d workers, %s placed, only %d, %d thirds", blockSize, workers, what, only, part)
					p := &countingPlan{t: t, chunks: chunks, only: only, placed: placed, part: part, size: size, got: make([]byte, len(src)),
						places: map[[2]int]int{}, blocks: map[[2]int]int{}}
					must(t, decodeAll(f, p))
					n := (size + blockSize - 1) / blockSize
					wanted := only
					if wanted == nil {
						for k := range int32(n) {
							wanted = append(wanted, k)
						}
					}
					if len(p.places) != chunks*len(wanted) || len(p.blocks) != chunks*len(wanted) {
						t.Fatalf("%s: %d blocks asked for, %d came, want %d", what, len(p.places), len(p.blocks), chunks*len(wanted))
					}
					for i := range chunks {
						for _, k := range wanted {
							at := i*size + int(k)*blockSize
							end := min(at+blockSize, (i+1)*size)
							if !placed(int(k)) {
								end = at + (end-at)*part/3
							}
							if key := [2]int{i, int(k)}; p.places[key] != 1 || p.blocks[key] != 1 || !bytes.Equal(p.got[at:end], src[at:end]) {
								t.Fatalf("%s: block %d of chunk %d: asked for %d times, came %d times, or other data", what, k, i, p.places[key], p.blocks[key])
							}
						}
					}
				}
			}
			must(t, f.Close())
		}
	}
}
