package ndarray

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/internal/ndcopy"
)

// FuzzReadWrite runs a program of edits, drawn from a seed, on an array whose geometry the fuzzer chooses, and compares
// it with a plain one.
func FuzzReadWrite(f *testing.F) {
	f.Add(uint64(1), uint8(2), uint16(10), uint16(12), uint16(3), uint8(4), uint8(5), uint8(6))
	f.Add(uint64(2), uint8(0), uint16(0), uint16(0), uint16(0), uint8(0), uint8(0), uint8(1))
	f.Add(uint64(3), uint8(3), uint16(7), uint16(1), uint16(9), uint8(200), uint8(3), uint8(255))
	f.Add(uint64(4), uint8(1), uint16(300), uint16(0), uint16(0), uint8(64), uint8(9), uint8(2))
	f.Fuzz(func(t *testing.T, seed uint64, ndim uint8, x, y, z uint16, chunks, blocks, size uint8) {
		rng := rand.New(rand.NewPCG(seed, 1))
		most := []int64{1, 600, 40, 14}[ndim%4]
		shape := []int64{int64(x) % most, int64(y) % most, int64(z) % most}[:ndim%4]
		o := &Options{Chunks: make([]int32, len(shape)), Blocks: make([]int32, len(shape))}
		for i := range shape {
			o.Chunks[i] = 1 + int32(chunks>>i)%int32(most)
			o.Blocks[i] = 1 + int32(blocks>>i)%o.Chunks[i]
		}
		o.CParams, o.Concurrency = randomCParams(rng), 1
		m := newModel(shape, 1+int(size))
		m.data = randomBytes(rng, len(m.data))
		ctx := context.Background()
		a, err := CreateBytes(ctx, "", shape, fmt.Sprintf("|V%d", m.size), m.data, o)
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			m.check(t, a, rng)
			switch rng.IntN(3) {
			case 0:
				next := make([]int64, len(shape))
				for i := range next {
					next[i] = rng.Int64N(most)
				}
				if err := a.Resize(ctx, next...); err != nil {
					t.Fatal(err)
				}
				m = m.resize(next)
			default:
				sel := randomSelection(rng, m.shape)
				list, _ := m.at(t, sel)
				src := randomBytes(rng, len(list)*m.size)
				if err := a.WriteBytes(ctx, src, sel...); err != nil {
					t.Fatal(err)
				}
				m.write(t, src, sel)
			}
		}
		m.check(t, a, rng)
	})
}

// FuzzOpen opens any bytes and reads from them; what opens can also be edited in memory, or says why not.
func FuzzOpen(f *testing.F) {
	for _, b := range smallFiles(f, 1300) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if !tryAll(t, "fuzzed", b) {
			return
		}
		a, err := FromBytes(bytes.Clone(b), nil)
		if err != nil {
			return
		}
		if n := a.Size(); n > 1<<16 || int64(a.ItemSize()) > 1<<10 || a.geometryBytes() > 1<<22 {
			return
		}
		c, err := Copy(context.Background(), a, "", nil)
		if err != nil {
			return
		}
		item := make([]byte, a.ItemSize())
		shape := c.Shape()
		for i := range shape {
			shape[i] = (shape[i] + 1) % 50
		}
		// An array that opened may still hold chunks that are not sound: then an edit fails, and leaves it as it was.
		before := make([]byte, c.Size()*int64(c.ItemSize()))
		readable := c.ReadBytes(context.Background(), before) == nil
		err = c.Resize(context.Background(), shape...)
		if err == nil {
			err = c.FillBytes(context.Background(), item)
		}
		if err == nil {
			after := make([]byte, c.Size()*int64(c.ItemSize()))
			if err := c.ReadBytes(context.Background(), after); err != nil || !ndcopy.IsZero(after) {
				t.Errorf("filled with zeros, but reads as something else: %v", err)
			}
		} else if after := make([]byte, len(before)); readable && len(before) == int(c.Size())*c.ItemSize() {
			if err := c.ReadBytes(context.Background(), after); err != nil || !bytes.Equal(before, after) {
				t.Errorf("not the same after an edit that failed: %v", err)
			}
		}
	})
}

// geometryBytes returns the decoded size of a chunk.
func (a *Array) geometryBytes() int64 { return a.state.Load().geo.chunkBytes }
