package ndarray

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// naiveBoxes returns the expected boxes with and without halos.
func naiveBoxes(shape, size, step, halo []int64) (boxes, inner []Box) {
	type part struct{ from, to, lo, hi int64 }
	boxes, inner = []Box{{}}, []Box{{}}
	for i, n := range shape {
		var parts []part
		for at := int64(0); at < n; at += step[i] {
			end := min(at+size[i], n)
			parts = append(parts, part{at, end, max(at-halo[i], 0), min(end+halo[i], n)})
		}
		var b, in []Box
		for k := range boxes {
			for _, p := range parts {
				x, y := boxes[k].clone(), inner[k].clone()
				x.Start, x.Shape = append(x.Start, p.lo), append(x.Shape, p.hi-p.lo)
				y.Start, y.Shape = append(y.Start, p.from), append(y.Shape, p.to-p.from)
				b, in = append(b, x), append(in, y)
			}
		}
		boxes, inner = b, in
	}
	return boxes, inner
}

func sameBox(a, b Box) bool { return slices.Equal(a.Start, b.Start) && slices.Equal(a.Shape, b.Shape) }

// TestTiles ranges over arrays and views with all kinds of boxes, and compares the tiles with a model.
func TestTiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	ctx := context.Background()
	for range 300 {
		shape, o := shapeOf(r)
		n, _ := grid.Product(shape)
		data := counting(n)
		a, err := Create(ctx, "", shape, data, o)
		if err != nil {
			t.Fatal(err)
		}
		one := make([]int64, len(shape))
		size, step, halo := slices.Clone(one), slices.Clone(one), slices.Clone(one)
		for i := range one {
			size[i], step[i], halo[i] = 1+r.Int64N(6), 1+r.Int64N(6), r.Int64N(3)
		}
		type way struct {
			boxes            Boxes
			size, step, halo []int64
		}
		ways := []way{
			{ByChunk(a), a.Chunks(), a.Chunks(), one},
			{ByBlock(a), a.Blocks(), a.Blocks(), one},
			{ByWindow(a, size, step, halo), size, step, halo},
			{ByWindow(a, size, nil, nil), size, size, one},
		}
		if len(shape) > 0 {
			axis, k := r.IntN(len(shape)), 1+r.Int64N(4)
			rows := slices.Clone(shape)
			steps := slices.Clone(shape)
			for i := range steps {
				steps[i] = max(steps[i], 1)
			}
			rows[axis], steps[axis] = k, k
			ways = append(ways, way{ByRows(a, axis-len(shape)*r.IntN(2), k), rows, steps, one})
		}
		for _, w := range ways {
			boxes, inner := naiveBoxes(shape, w.size, w.step, w.halo)
			if w.boxes.Len() != int64(len(boxes)) {
				t.Fatalf("%v by %v: %d boxes, want %d", shape, w.size, w.boxes.Len(), len(boxes))
			}
			var listed []Box
			for b := range w.boxes.All() {
				listed = append(listed, b.clone())
			}
			if !slices.EqualFunc(listed, boxes, sameBox) {
				t.Fatalf("%v by %v, %v, %v: %v", shape, w.size, w.step, w.halo, listed)
			}
			k := 0
			for tile, err := range Tiles[int32](ctx, a, w.boxes.ReadAhead(r.IntN(4))) {
				if err != nil || !sameBox(tile.Box, boxes[k]) || !sameBox(tile.Inner, inner[k]) {
					t.Fatalf("%v: %v, %v", shape, tile.Box, err)
				}
				i := 0
				eachItem(tile.Box, shape, func(at []int64, flat int64) {
					if tile.Items[i] != data[flat] {
						t.Fatalf("%v: item %v of %v is %d", shape, at, tile.Box, tile.Items[i])
					}
					i++
				})
				for at, x := range tile.All() {
					if got, err := Item[int32](ctx, a, at...); err != nil || got != *x {
						t.Fatalf("%v: item %v is %d, %d (%v)", shape, at, *x, got, err)
					}
					if r.IntN(3) == 0 {
						break
					}
				}
				k++
			}
			if k != len(boxes) {
				t.Fatalf("%v: %d tiles of %d", shape, k, len(boxes))
			}
		}
		v, err := Transpose(a)
		if err != nil {
			t.Fatal(err)
		}
		var all []byte
		for tile, err := range rawTiles(ctx, v, runs(v, memoryLimits{30, 60}).ReadAhead(1)) {
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range tile.Rows() {
				all = append(all, row...)
			}
		}
		if !bytes.Equal(all, rawBytes(t, v)) {
			t.Fatalf("%v transposed: the items differ", shape)
		}
	}
}

// TestBadBoxes checks the errors of invalid boxes.
func TestBadBoxes(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros(ctx, "", []int64{4, 5}, ">i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		boxes Boxes
		want  error
	}{
		{ByRows(a, 2, 1), ErrBounds}, {ByRows(a, -3, 1), ErrBounds}, {ByRows(a, 0, 0), ErrShape},
		{ByWindow(a, []int64{1}, nil, nil), ErrShape}, {ByWindow(a, []int64{1, 0}, nil, nil), ErrShape},
		{ByWindow(a, []int64{1, 1}, []int64{0, 1}, nil), ErrShape}, {ByWindow(a, []int64{1, 1}, nil, []int64{0, -1}), ErrShape},
	} {
		n := 0
		for _, err := range Tiles[int32](ctx, a, c.boxes.ReadAhead(1)) {
			if n++; !errors.Is(err, c.want) {
				t.Error(err)
			}
		}
		if n != 1 || c.boxes.Len() != 0 {
			t.Errorf("%d tiles, %d boxes", n, c.boxes.Len())
		}
	}
	for _, err := range Tiles[float32](ctx, a, ByChunk(a)) {
		if !errors.Is(err, ErrType) {
			t.Error(err)
		}
	}
	huge := ByWindow(a, []int64{math.MaxInt64, 2}, []int64{math.MaxInt64, math.MaxInt64}, []int64{0, math.MaxInt64})
	if huge.Len() != 1 {
		t.Errorf("%d boxes", huge.Len())
	}
	for x := range huge.All() {
		if !sameBox(x, Box{[]int64{0, 0}, []int64{4, 5}}) {
			t.Error(x)
		}
	}
	rows := ByRows(a, 0, 3)
	if err := a.Resize(ctx, 3, 5); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range Tiles[int32](ctx, a, rows) {
		if n++; (n == 2) != errors.Is(err, ErrBounds) {
			t.Errorf("tile %d of an array that shrank: %v", n, err)
		}
	}
	a.Close()
	for _, err := range Tiles[int32](ctx, a, rows) {
		if !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	}
}

// TestTilesLeaveNothing ends loops early by break, an error, a panic or the context, and checks that no goroutine and
// no reader of the frame remains.
func TestTilesLeaveNothing(t *testing.T) {
	ctx := context.Background()
	name := filepath.Join(t.TempDir(), "a.b2nd")
	a, err := Create(ctx, name, []int64{40, 50}, counting(2000), &CreateOptions{Chunks: []int64{3, 7}, Blocks: []int64{2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for depth := range 6 {
		for stop := range 5 {
			n := 0
			for _, err := range Tiles[int32](ctx, a, ByChunk(a).ReadAhead(depth)) {
				if n++; err != nil {
					t.Fatal(err)
				} else if n == stop+1 {
					break
				}
			}
		}
		dead, cancel := context.WithCancel(ctx)
		n := 0
		var last error
		for _, err := range Tiles[int32](dead, a, ByBlock(a).ReadAhead(depth)) {
			if n++; n == 3 {
				cancel()
			}
			last = err
		}
		cancel()
		if !errors.Is(last, context.Canceled) || n > 4+depth {
			t.Errorf("canceled after 3 tiles: %d, %v", n, last)
		}
		func() {
			defer func() { recover() }()
			for range Tiles[int32](ctx, a, ByRows(a, 0, 1).ReadAhead(depth)) {
				panic("stop")
			}
		}()
		for range a.ChunkInfos(ctx) {
			break
		}
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i > 200 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond) // a goroutine that has sent its result is about to end
	}
}

// TestTilesOneState edits the array during a loop.
func TestTilesOneState(t *testing.T) {
	ctx := context.Background()
	a, err := Create(ctx, "", []int64{30}, make([]int32, 30), &CreateOptions{Chunks: []int64{4}, Blocks: []int64{2}})
	if err != nil {
		t.Fatal(err)
	}
	for tile, err := range Tiles[int32](ctx, a, ByChunk(a).ReadAhead(1)) {
		if err != nil || slices.Max(tile.Items) != 0 {
			t.Fatal(tile, err)
		}
		if err := Fill(ctx, a, int32(9)); err != nil {
			t.Fatal(err)
		}
		if err := a.Resize(ctx, 5); err != nil {
			t.Fatal(err)
		}
	}
}

// TestChunkInfos compares the descriptions of chunks with the array.
func TestChunkInfos(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros(ctx, "", []int64{5, 7}, "<i4", &CreateOptions{Chunks: []int64{2, 4}, Blocks: []int64{2, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if err := Write(ctx, a, []int32{1, 2, 3}, At(4), Span(4, 7)); err != nil {
		t.Fatal(err)
	}
	if err := Fill(ctx, a, int32(7), Span(2, 4), Span(None, 4)); err != nil {
		t.Fatal(err)
	}
	boxes, _ := naiveBoxes([]int64{5, 7}, []int64{2, 4}, []int64{2, 4}, []int64{0, 0})
	k := 0
	for c, err := range a.ChunkInfos(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		want := chunk.Zeros
		switch k {
		case 5:
			want = chunk.Regular
		case 2:
			want = chunk.Value
		}
		if c.Number != int64(k) || c.Coord[0] != int64(k/2) || c.Coord[1] != int64(k%2) || !sameBox(c.Box, boxes[k]) ||
			c.Special != want && c.Special != chunk.Regular || c.NBytes != 32 || (c.CBytes == 0) != (want == chunk.Zeros) ||
			(c.Codec == codec.Zstd) != (c.Special == chunk.Regular) || (c.Filters[5] == chunk.Shuffle) != (c.Special == chunk.Regular) {
			t.Errorf("chunk %d: %+v", k, c)
		}
		if info, err := a.Frame().ChunkInfo(ctx, k); err != nil || info != (frame.ChunkInfo{
			Special: c.Special, Off: c.Off, NBytes: c.NBytes, CBytes: c.CBytes, Blocks: c.Blocks, Stored: c.Stored, Codec: c.Codec, Filters: c.Filters,
		}) {
			t.Errorf("chunk %d: %+v, but the frame has %+v: %v", k, c, info, err)
		}
		k++
	}
	if k != 6 {
		t.Errorf("%d chunks", k)
	}
	for _, s := range []struct {
		sel  []Index
		want []int64
	}{
		{[]Index{At(3)}, []int64{2, 3}}, {[]Index{All, Span(5, 6)}, []int64{1, 3, 5}}, {[]Index{Step(4, None, -3), At(-1)}, []int64{1, 5}}, {[]Index{Span(1, 1)}, nil},
	} {
		var got []int64
		for c, err := range a.ChunkInfos(ctx, s.sel...) {
			if err != nil || !sameBox(c.Box, boxes[c.Number]) {
				t.Errorf("%v: %+v, %v", s.sel, c, err)
			}
			got = append(got, c.Number)
		}
		if !slices.Equal(got, s.want) {
			t.Errorf("%v: chunks %d, want %d", s.sel, got, s.want)
		}
	}
	for _, s := range []struct {
		sel  Index
		want error
	}{{At(5), ErrBounds}, {Pick(0, 4), errors.ErrUnsupported}} {
		for _, err := range a.ChunkInfos(ctx, s.sel) {
			if !errors.Is(err, s.want) {
				t.Errorf("%v: %v, want %v", s.sel, err, s.want)
			}
		}
	}
	a.Close()
	for _, err := range a.ChunkInfos(ctx) {
		if !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	}
	b, _ := Zeros(ctx, "", []int64{0, 7}, "<i4", nil)
	for range b.ChunkInfos(ctx) {
		t.Error("an empty array has a chunk")
	}
}

// TestChunkInfosModel compares the chunks of random selections with those of the selected items.
func TestChunkInfosModel(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(7, 21))
	chunks := 0
	for range 300 {
		shape := make([]int64, rng.IntN(5))
		for i := range shape {
			shape[i] = rng.Int64N(12)
		}
		o := &CreateOptions{}
		o.Chunks, o.Blocks = randomPartition(rng, shape)
		a, err := Zeros(ctx, "", shape, "|u1", o)
		if err != nil {
			t.Fatal(err)
		}
		for range 10 {
			sel := randomSelection(rng, shape)
			_, positions, err := naiveSelect(shape, sel)
			if err != nil {
				t.Fatal(err)
			}
			want := map[int64]bool{}
			for _, p := range positions {
				number, times := int64(0), int64(1)
				for i := len(shape) - 1; i >= 0; i-- {
					number += p % shape[i] / o.Chunks[i] * times
					times *= (shape[i]-1)/o.Chunks[i] + 1
					p /= shape[i]
				}
				want[number] = true
			}
			var got []int64
			for c, err := range a.ChunkInfos(ctx, sel...) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, c.Number)
				if len(got) > 1000 {
					break
				}
			}
			if len(got) != len(want) || !slices.IsSorted(got) || slices.ContainsFunc(got, func(n int64) bool { return !want[n] }) {
				t.Errorf("%v of %v in chunks of %v: chunks %d, want %v", sel, shape, o.Chunks, got, want)
			}
			chunks += len(got)
		}
		a.Close()
	}
	if chunks < 1000 {
		t.Errorf("only %d chunks", chunks)
	}
}

// TestTilesLimit reads a small file that states a large shape.
func TestTilesLimit(t *testing.T) {
	ctx := context.Background()
	a, err := Zeros(ctx, "", []int64{1 << 30}, "|u1", &CreateOptions{Chunks: []int64{1 << 30}, Blocks: []int64{1 << 20}})
	if err != nil {
		t.Fatal(err)
	}
	packed, err := saved(a.Frame())
	if err != nil {
		t.Fatal(err)
	}
	b, err := OpenBytes(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range rawTiles(ctx, b, ByChunk(b).ReadAhead(0)) {
		if !errors.Is(err, ErrTooLarge) {
			t.Error(err)
		}
	}
	var n countingWriter
	if err := ToWriter(ctx, &n, b); err != nil || n != 1<<30 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

type countingWriter int64

func (w *countingWriter) Write(b []byte) (int, error) {
	*w += countingWriter(len(b))
	return len(b), nil
}

func BenchmarkTiles(b *testing.B) {
	ctx := context.Background()
	data := make([]byte, 64<<20)
	for i := 0; i < len(data); i += 4 {
		binary.LittleEndian.PutUint32(data[i:], uint32(i>>2)*7)
	}
	a, err := CreateBytes(ctx, "", []int64{4096, 4096}, "<i4", data, nil)
	if err != nil {
		b.Fatal(err)
	}
	for name, boxes := range map[string]Boxes{
		"chunks": ByChunk(a), "blocks": ByBlock(a), "rows": ByRows(a, 0, 128), "columns": ByRows(a, 1, 128),
		"windows": ByWindow(a, []int64{512, 512}, nil, []int64{8, 8}),
	} {
		for depth, label := range []string{"/0", "/1", "/2"} {
			b.Run(name+label, func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					for _, err := range Tiles[int32](ctx, a, boxes.ReadAhead(depth)) {
						if err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}

// TestBoxSelection reads and writes boxes that are not within the array. None may select other items.
func TestBoxSelection(t *testing.T) {
	ctx := t.Context()
	a, err := Arange[int32](ctx, "", 0, 10, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []Box{
		{[]int64{-3}, []int64{2}}, {[]int64{8}, []int64{5}}, {[]int64{2}, []int64{-1}}, {[]int64{11}, []int64{0}}, {[]int64{1}, []int64{math.MaxInt64}},
		{[]int64{None}, []int64{2}}, {[]int64{0, 0}, []int64{1}}, {[]int64{0}, []int64{1, 1}}, {[]int64{0, 0}, []int64{1, 1}},
	} {
		if _, err := Read[int32](ctx, a, b.Selection()...); !errors.Is(err, ErrBounds) {
			t.Errorf("Read of %v: %v, want %v", b, err, ErrBounds)
		}
		if err := Fill(ctx, a, -1, b.Selection()...); !errors.Is(err, ErrBounds) {
			t.Errorf("Fill of %v: %v, want %v", b, err, ErrBounds)
		}
	}
	for _, b := range []Box{{[]int64{0}, []int64{10}}, {[]int64{7}, []int64{3}}, {[]int64{10}, []int64{0}}, {[]int64{4}, []int64{1}}} {
		got, err := Read[int32](ctx, a, b.Selection()...)
		want, _ := Read[int32](ctx, a, Span(b.Start[0], b.Start[0]+b.Shape[0]))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("Read of %v: %v, %v, want %v", b, got, err, want)
		}
	}
}
