package ndarray

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/meta"
)

// goals are all goals.
var goals = []Goal{Balanced, Smallest, Fastest}

// twoKinds returns n items of 4 bytes: a few values in random order, and in the second half a few random bits.
func twoKinds(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, 4*n)
	for i := range n {
		x := r.Uint32N(30) * 0x9e3779b1
		if i >= n/2 {
			x = 0x00800000 + r.Uint32N(1<<9)<<3
		}
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// stored returns the bytes of an array's frame.
func storedFrame(t testing.TB, a *Array) []byte {
	t.Helper()
	var b bytes.Buffer
	_, err := a.Frame().Save(t.Context(), &b)
	must(t, err)
	return b.Bytes()
}

// chunkParams returns the parameters of each chunk that its header has, except special chunks.
func chunkParams(t testing.TB, f *frame.Frame) []string {
	t.Helper()
	var list []string
	for i := range f.NumChunks() {
		raw, err := f.ReadRaw(t.Context(), nil, i)
		must(t, err)
		h, err := chunk.ParseHeader(raw, int64(len(raw)))
		must(t, err)
		s := h.Params.Codec.String()
		for _, x := range h.Params.Filters {
			if x != chunk.NoFilter {
				s += "+" + x.String()
			}
		}
		if h.Special == chunk.Regular {
			list = append(list, s)
		}
	}
	return list
}

// sameItems compares the items of an array.
func sameItems(t testing.TB, a *Array, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	must(t, a.ReadBytes(t.Context(), got))
	if !bytes.Equal(got, want) {
		t.Fatal("other items")
	}
	must(t, a.Frame().Verify(t.Context(), nil))
}

// TestGoalDeterministic creates arrays with each goal several times, on 1 to 8 goroutines: the bytes are the same. The
// data changes halfway, and so do the parameters of the chunks.
func TestGoalDeterministic(t *testing.T) {
	all := twoKinds(4 << 20)
	counts := []int{1, 2, 8, 8}
	if race.Enabled {
		counts = []int{1, 8}
	}
	for _, g := range goals {
		data := all
		if g != Balanced {
			data = all[15*len(all)/32 : 17*len(all)/32]
		}
		var first []byte
		for _, goroutines := range counts {
			a, err := CreateBytes(t.Context(), "", []int64{int64(len(data) / 4)}, "<u4", data, &CreateOptions{
				Goal: g, Chunks: []int64{1 << 16}, Blocks: []int64{1 << 13}, Concurrency: goroutines,
			})
			must(t, err)
			b := storedFrame(t, a)
			if first == nil {
				first = b
				sameItems(t, a, data)
				list := chunkParams(t, a.Frame())
				if list[0] == list[len(list)-1] && g == Balanced {
					t.Errorf("%v: the data has changed, but not %s", g, list[0])
				}
				t.Log(g, len(data), "bytes stored in", len(b), list[0], list[len(list)-1])
			} else if !bytes.Equal(b, first) {
				t.Errorf("%v: %d goroutines write other bytes", g, goroutines)
			}
			must(t, a.Close())
		}
	}
}

// TestGoalHeader compares the header of the frame with the first chunk.
func TestGoalHeader(t *testing.T) {
	data := twoKinds(1 << 16)
	for _, g := range goals {
		a, err := CreateBytes(t.Context(), "", []int64{1 << 16}, "<u4", data, &CreateOptions{Goal: g, Chunks: []int64{1 << 14}})
		must(t, err)
		raw, err := a.Frame().ReadRaw(t.Context(), nil, 0)
		must(t, err)
		h, err := chunk.ParseHeader(raw, int64(len(raw)))
		must(t, err)
		p := a.Frame().Info().Params
		if h.Params.Codec != p.Codec || len(h.Params.Filters) != len(p.Filters) {
			t.Errorf("%v: the header has %v %v, the chunk %v %v", g, p.Codec, p.Filters, h.Params.Codec, h.Params.Filters)
		}
		for i, f := range p.Filters {
			if h.Params.Filters[i] != f {
				t.Errorf("%v: the header has %v, the chunk %v", g, p.Filters, h.Params.Filters)
			}
		}
	}
}

// TestGoalEdits edits a tuned array at random, before and after it is opened again, beside a model of its items.
func TestGoalEdits(t *testing.T) {
	for _, g := range goals {
		r := rand.New(rand.NewPCG(3, uint64(g)))
		const rows, cols = 300, 200
		want := twoKinds(rows * cols)
		name := t.TempDir() + "/a.b2nd"
		a, err := CreateBytes(t.Context(), name, []int64{rows, cols}, "<u4", want, &CreateOptions{
			Goal: g, Chunks: []int64{64, 64}, Blocks: []int64{32, 16}, Checksums: true,
		})
		must(t, err)
		edits := 30
		if testing.Short() {
			edits = 8
		}
		for edit := range edits {
			if edit == edits/2 {
				must(t, a.Close())
				a, err = Edit(t.Context(), name, nil)
				must(t, err)
			}
			y, x := r.Int64N(rows-1), r.Int64N(cols-1)
			h, w := 1+r.Int64N(rows-y), 1+r.Int64N(cols-x)
			if edit%3 == 0 {
				y, h = y/64*64, min(128, rows-y/64*64)
			}
			part := twoKinds(int(h * w))
			must(t, a.WriteBytes(t.Context(), part, Span(y, y+h), Span(x, x+w)))
			for i := range h {
				copy(want[((y+i)*cols+x)*4:][:w*4], part[i*w*4:])
			}
			if edit%7 == 0 {
				must(t, a.Frame().Compact(t.Context()))
			}
			sameItems(t, a, want)
		}
		must(t, a.Resize(t.Context(), rows+100, cols))
		must(t, a.Resize(t.Context(), rows, cols))
		sameItems(t, a, want)
		must(t, a.AppendBytes(t.Context(), 0, want[:100*cols*4]))
		sameItems(t, a, append(bytes.Clone(want), want[:100*cols*4]...))
		for _, to := range goals {
			c, err := Copy(t.Context(), "", a, &CreateOptions{Goal: to})
			must(t, err)
			sameItems(t, c, append(bytes.Clone(want), want[:100*cols*4]...))
		}
		must(t, a.Close())
	}
}

// TestGoalTypes creates arrays of items of many sizes, and of data without information.
func TestGoalTypes(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, g := range goals {
		for _, dtype := range []string{"|u1", "<i2", "|S3", "<f4", "|V7", "<f8", "<c16", "|S17", "|S200", "|V255", "|V256", "|V1000", "<U5"} {
			d, err := meta.ParseDType(dtype)
			must(t, err)
			for _, bytes := range []int{0, 1, 40, 9000, 70_000, 300_000} {
				n := (bytes + d.Size - 1) / d.Size
				data := make([]byte, n*d.Size)
				for i := range data {
					data[i] = byte(float64(i%d.Size) * math.Sin(float64(i/d.Size)/50))
					if g == Fastest && i > len(data)/2 {
						data[i] = byte(r.Uint32())
					}
				}
				if bytes == 70_000 {
					clear(data)
				}
				a, err := CreateBytes(t.Context(), "", []int64{int64(n)}, dtype, data, &CreateOptions{Goal: g})
				must(t, err)
				sameItems(t, a, data)
				must(t, a.Close())
			}
		}
	}
}

// TestGoalOptions sets a goal together with each parameter that it is in place of.
func TestGoalOptions(t *testing.T) {
	for _, o := range []CreateOptions{
		{Codec: codec.LZ4}, {CodecMeta: 1}, {Level: 1}, {Filters: []chunk.Filter{}}, {Split: chunk.SplitNever}, {Dict: true}, {Goal: 100},
	} {
		if o.Goal == 0 {
			o.Goal = Balanced
		}
		if _, err := Zeros(t.Context(), "", []int64{10}, "<i4", &o); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := CreateRegions(t.Context(), t.TempDir()+"/r", []int64{10}, "<i4", &CreateOptions{Goal: Balanced}); !errors.Is(err, ErrParam) {
		t.Errorf("regions: %v", err)
	}
}

// must fails the test if err is not nil.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestGoalBlocks checks that Balanced has larger blocks for items of one byte, unless the caller sets the blocks.
func TestGoalBlocks(t *testing.T) {
	for _, c := range []struct {
		dtype  string
		goal   Goal
		blocks []int64
		want   int
	}{
		{"|u1", Balanced, nil, 128 << 10},
		{"|b1", Balanced, nil, 128 << 10},
		{"|u1", Balanced, []int64{1 << 12}, 1 << 12},
		{"|u1", Fastest, nil, 64 << 10},
		{"<u2", Balanced, nil, 64 << 10},
	} {
		a, err := Zeros(t.Context(), "", []int64{1 << 20}, c.dtype, &CreateOptions{Goal: c.goal, Blocks: c.blocks})
		must(t, err)
		if got := a.Frame().Info().BlockSize; int(got) != c.want {
			t.Errorf("%s, %v, blocks %v: blocks of %d bytes, want %d", c.dtype, c.goal, c.blocks, got, c.want)
		}
		must(t, a.Close())
	}
}
