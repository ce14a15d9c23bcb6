package ndarray

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray/internal/fartest"
	"github.com/goblosc/blosc2/ndarray/internal/grid"
)

// farForms is an array in memory and its stored forms: a contiguous frame and a sparse one. Tests only read it.
type farForms struct {
	local *Array
	whole []byte
	index []byte // of the sparse frame
	files map[int64][]byte
}

func newFarForms(t testing.TB, local *Array) *farForms {
	t.Helper()
	x := &farForms{local: local, whole: fartest.Stored(t, local.Frame())}
	x.index, x.files = fartest.StoredFiles(t, local.Frame())
	return x
}

// randomFarArray returns an array in memory, sometimes with chunks that were replaced. It has less than most^3 items.
func randomFarArray(t testing.TB, rng *rand.Rand, most int64) *Array {
	t.Helper()
	shape := make([]int64, 1+rng.IntN(3))
	for i := range shape {
		shape[i] = 1 + rng.Int64N([]int64{most * most * most, most * most / 9, most}[len(shape)-1])
	}
	chunks, blocks := randomPartition(rng, shape)
	for i := range chunks {
		if blocks[i] = max(blocks[i], chunks[i]/8+1); chunks[i] < shape[i]/8 {
			chunks[i] = shape[i]/8 + 1
		}
	}
	n := int64(1)
	for _, x := range shape {
		n *= x
	}
	p := randomCParams(rng)
	o := &CreateOptions{
		Codec: p.Codec, Level: p.Level, Filters: p.Filters, Split: p.Split, Dict: p.Dict, Chunks: chunks, Blocks: blocks,
		Checksums: rng.IntN(2) == 0, BlockTable: rng.IntN(2) == 0, Concurrency: 1,
	}
	if o.Dict {
		o.Codec, o.Level = codec.Zstd, 5
	}
	a, err := CreateBytes(ctx, "", shape, "<u2", randomBytes(rng, int(2*n)), o)
	if err != nil {
		t.Fatal(err)
	}
	for range rng.IntN(3) {
		sel := randomSelection(rng, shape)
		if err := a.FillBytes(ctx, []byte{byte(rng.Uint32()), 1}, sel...); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// randomFarSelection is randomSelection, sometimes with a list.
func randomFarSelection(rng *rand.Rand, shape []int64) []Index {
	if len(shape) == 0 || rng.IntN(3) > 0 {
		return randomSelection(rng, shape)
	}
	at := make([]int64, rng.IntN(20))
	for i := range at {
		at[i] = rng.Int64N(shape[0])
	}
	return []Index{Pick(at...)}
}

// randomFarReader returns a view of two arrays that are the same, or the arrays.
func randomFarReader(t testing.TB, rng *rand.Rand, a, b *Array) (x, y Reader) {
	t.Helper()
	x, y = a, b
	var err1, err2 error
	switch sel := randomSelection(rng, a.Shape()); rng.IntN(4) {
	case 0:
		x, err1 = Slice(a, sel...)
		y, err2 = Slice(b, sel...)
	case 1:
		x, err1 = Transpose(a)
		y, err2 = Transpose(b)
	}
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	for _, n := range x.Shape() {
		if n == 0 {
			return a, b
		}
	}
	return x, y
}

// TestFar reads random selections of random arrays from a source that reads many ranges at once, and compares them with
// a read from memory. The source may fail.
func TestFar(t *testing.T) {
	rounds := 300
	if testing.Short() || race.Enabled {
		rounds = 20
	}
	for i := range rounds {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		testFar(t, rng, newFarForms(t, randomFarArray(t, rng, 60)))
	}
}

// FuzzFar is TestFar with 256 arrays. Making an array takes longer than reading from it, so each is made once.
func FuzzFar(f *testing.F) {
	for i := range uint64(8) {
		f.Add(byte(i), i)
	}
	var made [256]*farForms
	f.Fuzz(func(t *testing.T, array byte, seed uint64) {
		if made[array] == nil {
			rng := rand.New(rand.NewPCG(uint64(array), 2))
			made[array] = newFarForms(t, randomFarArray(t, rng, 4+rng.Int64N(40)))
		}
		testFar(t, rand.New(rand.NewPCG(seed, 3)), made[array])
	})
}

func testFar(t *testing.T, rng *rand.Rand, x *farForms) {
	local := x.local
	src := fartest.NewSource(x.whole, rng.Uint64())
	from := frame.Source(src)
	if rng.IntN(3) == 0 {
		from = fartest.Files{Source: src}
		src.Data, src.Files = x.index, x.files
	}
	if rng.IntN(2) == 0 {
		from = fartest.Gap{Reader: from.(fartest.Reader), Len: rng.Int64N(20_000)}
		if src.Files != nil {
			from = fartest.GapFiles{Gap: from.(fartest.Gap)}
		}
	}
	o := &OpenOptions{
		Concurrency: 1 + rng.IntN(3), Cache: rng.Int64N(2) * 1 << 18, Verify: rng.IntN(3) == 0,
		// A quarter is read ahead at a time.
		MaxBytes: []int64{0, 0, 1 << 20, 300_000, 10_000 + int64(len(x.whole))/2}[rng.IntN(5)],
	}
	a, err := OpenSource(ctx, from, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	src.Lock()
	src.Fail, src.FailAt = []int{0, 3, 10, 100}[rng.IntN(4)], rng.IntN(2) == 0
	src.Unlock()
	for range 6 {
		x, y := randomFarReader(t, rng, a, local)
		sel := randomFarSelection(rng, x.Shape())
		shape, err := x.SelectionShape(sel...)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(2)
		for _, k := range shape {
			n *= k
		}
		got, want := make([]byte, n), make([]byte, n)
		if err := y.ReadBytes(ctx, want, sel...); err != nil {
			t.Fatal(err)
		}
		switch err := x.ReadBytes(ctx, got, sel...); {
		case errors.Is(err, frame.ErrTooLarge) && o.MaxBytes > 0:
		case errors.Is(err, fartest.Err) && src.Fail > 0:
			if at := new(frame.Error); !errors.As(err, &at) || at.Part != "chunk" {
				t.Errorf("error without a location: %v", err)
			}
		case err != nil:
			t.Fatalf("%v of %v: %v", sel, x.Shape(), err)
		case !bytes.Equal(got, want):
			t.Fatalf("%v of %v in chunks of %v, blocks of %v: the items differ", sel, x.Shape(), a.Chunks(), a.Blocks())
		}
	}
	testFarPasses(t, rng, a, x, src.Fail > 0)
	content, plain := a.Frame().Content(ctx), local.Frame().Content(ctx)
	off := rng.Int64N(plain.Size())
	got := make([]byte, rng.Int64N(plain.Size()-off)+1)
	want := bytes.Clone(got)
	if _, err := plain.ReadAt(want, off); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	if _, err := content.ReadAt(got, off); err == nil && !bytes.Equal(got, want) {
		t.Fatalf("%d bytes at %d differ", len(got), off)
	} else if err != nil && err != io.EOF && !errors.Is(err, fartest.Err) && o.MaxBytes == 0 {
		t.Fatal(err)
	}
}

// testFarPasses compares calls that read all chunks with the array in memory.
func testFarPasses(t *testing.T, rng *rand.Rand, a *Array, x *farForms, fails bool) {
	t.Helper()
	local, whole := x.local, x.whole
	allowed := func(what string, err error) bool {
		if err != nil && !(fails && errors.Is(err, fartest.Err)) && !errors.Is(err, frame.ErrTooLarge) {
			t.Fatalf("%s: %v", what, err)
		}
		return err == nil
	}
	var b bytes.Buffer
	if _, err := a.Save(ctx, &b); allowed("Save", err) && !bytes.Equal(b.Bytes(), whole) {
		t.Fatalf("Save writes %d other bytes", b.Len())
	}
	allowed("Verify", a.Verify(ctx, nil))
	c, err := Copy(ctx, "", a, &CreateOptions{Concurrency: 1})
	if allowed("Copy", err) {
		if got := fartest.Stored(t, c.Frame()); len(got) != len(whole) {
			t.Fatalf("Copy has %d bytes, want %d", len(got), len(whole))
		}
		c.Close()
	}
	chunks, _ := randomPartition(rng, a.Shape())
	for i, x := range a.Shape() {
		chunks[i] = max(chunks[i], x/4+1)
	}
	c, err = Copy(ctx, "", a, &CreateOptions{Chunks: chunks, MaxMemory: 1 + rng.Int64N(100_000), Level: 1, Concurrency: 1 + rng.IntN(2)})
	if allowed("Copy with another partition", err) {
		got, want := make([]byte, 2*c.Size()), make([]byte, 2*c.Size())
		if err := errors.Join(c.ReadBytes(ctx, got), local.ReadBytes(ctx, want)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("Copy to chunks of %v has other items, %v", chunks, err)
		}
		c.Close()
	}
	testFarBoxes(t, rng, a, local, allowed)
	n := a.Frame().NumChunks()
	for i := range n {
		if rng.IntN(5) == 0 {
			i = rng.IntN(n)
		}
		info, err := a.Frame().ChunkInfo(ctx, i)
		plain, _ := local.Frame().ChunkInfo(ctx, i)
		info.Off, plain.Off = 0, 0
		if allowed("ChunkInfo", err) && info != plain {
			t.Fatalf("chunk %d: %+v, want %+v", i, info, plain)
		}
		got, err := a.Frame().ReadChunk(ctx, nil, i)
		want, _ := local.Frame().ReadChunk(ctx, nil, i)
		if allowed("ReadChunk", err) && !bytes.Equal(got, want) {
			t.Fatalf("chunk %d differs", i)
		}
		got, err = a.Frame().ReadBlock(ctx, nil, i, 0)
		want, _ = local.Frame().ReadBlock(ctx, nil, i, 0)
		if allowed("ReadBlock", err) && !bytes.Equal(got, want) {
			t.Fatalf("block 0 of chunk %d differs", i)
		}
	}
}

// testFarBoxes compares calls that read all chunks, a box at a time, with the array in memory.
func testFarBoxes(t *testing.T, rng *rand.Rand, a, local *Array, allowed func(what string, err error) bool) {
	t.Helper()
	o := &ReduceOptions{Axes: []int{rng.IntN(len(a.Shape()))}}
	sums := func(x *Array) ([]uint64, error) {
		s, err := Reduce(ctx, x, OpSum, o)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		return Read[uint64](ctx, s)
	}
	got, err := sums(a)
	if allowed("Reduce", err) {
		if want, _ := sums(local); !slices.Equal(got, want) {
			t.Fatalf("Reduce returns other sums")
		}
	}
	boxes := []Boxes{ByChunk(a), ByTile(a, 1+rng.Int64N(50_000)), ByRows(a, 0, 1+rng.Int64N(50))}[rng.IntN(3)]
	next, end := iter.Pull2(Tiles[uint16](ctx, local, boxes))
	defer end()
	stop := rng.Int64N(min(2*boxes.Len(), 200))
	for tile, err := range Tiles[uint16](ctx, a, boxes.ReadAhead(rng.IntN(4))) {
		want, _, _ := next()
		if allowed("Tiles", err) && !slices.Equal(tile.Items, want.Items) {
			t.Fatalf("Tiles returns other items for the box %v", tile.Box)
		}
		if stop--; stop < 0 {
			break
		}
	}
}

// TestFarCorrupt compares reads of damaged arrays with reads from memory.
func TestFarCorrupt(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	failed, arrays := 0, 100
	if testing.Short() {
		arrays = 25
	}
	for range arrays {
		good := randomFarArray(t, rng, 60)
		data := fartest.Stored(t, good.Frame())
		chunks := int(good.Frame().Info().CBytes)
		good.Close()
		for range 1 + rng.IntN(10) {
			data[len(data)/8+rng.IntN(1+min(chunks, len(data)*3/4))] ^= 1 << rng.IntN(8)
		}
		src := fartest.NewSource(data, 1)
		a, err := OpenSource(ctx, src, &OpenOptions{Concurrency: 1})
		if err != nil {
			continue
		}
		local, err := OpenBytes(data, &OpenOptions{Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			sel := randomFarSelection(rng, a.Shape())
			got, err := Read[uint16](ctx, a, sel...)
			want, wantErr := Read[uint16](ctx, local, sel...)
			if (err == nil) != (wantErr == nil) || !slices.Equal(got, want) {
				t.Errorf("%v: %v, want %v", sel, err, wantErr)
			}
			if err != nil {
				failed++
			}
		}
		a.Close()
		local.Close()
	}
	if failed < arrays/5 {
		t.Errorf("only %d reads have failed", failed)
	}
}

// TestFarCancel cancels reads that wait for their source. All goroutines must end.
func TestFarCancel(t *testing.T) {
	local := randomFarArray(t, rand.New(rand.NewPCG(4, 4)), 60)
	data := fartest.Stored(t, local.Frame())
	synctest.Test(t, func(t *testing.T) {
		src := fartest.NewSource(data, 1)
		a, err := OpenSource(context.Background(), src, &OpenOptions{Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		src.Wait = true
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			dst := make([]byte, 2*a.Size())
			done <- a.ReadBytes(ctx, dst)
		}()
		synctest.Wait()
		if src.Ranges == 0 {
			t.Error("nothing is read ahead")
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
		a.Close()
	})
}

// TestFarPanic checks that a panic of the source continues on the goroutine of the read.
func TestFarPanic(t *testing.T) {
	local := randomFarArray(t, rand.New(rand.NewPCG(4, 4)), 60)
	a, err := OpenSource(ctx, fartest.Panic{Source: fartest.NewSource(fartest.Stored(t, local.Frame()), 1)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	defer func() {
		if v := recover(); v != "in ReadRanges" {
			t.Errorf("panic with %v", v)
		}
	}()
	a.ReadBytes(ctx, make([]byte, 2*a.Size()))
}

// TestFarAheadContext cancels a read of one box while several boxes are read ahead and the source does not answer for
// bytes that the read requests itself. The context of the reading ahead goes on.
func TestFarAheadContext(t *testing.T) {
	data := make([]byte, 64*1024*2)
	rand.NewChaCha8([32]byte{4}).Read(data)
	local, err := CreateBytes(ctx, "", []int64{64, 1024}, "<u2", data, &CreateOptions{Chunks: []int64{64, 1024}, Blocks: []int64{1, 256}})
	if err != nil {
		t.Fatal(err)
	}
	data = fartest.Stored(t, local.Frame())
	for name, x := range map[string]struct {
		count grid.Dims
		after int64 // the beginning of the chunk, and of the bytes that are read ahead
	}{
		"blocks in one range":      {grid.Dims{16, 1024}, 5000},
		"blocks in several ranges": {grid.Dims{64, 256}, 50_000},
	} {
		synctest.Test(t, func(t *testing.T) {
			src := fartest.NewSource(data, 1)
			a, err := OpenSource(context.Background(), fartest.Gap{Reader: src}, &OpenOptions{Concurrency: 1, MaxBytes: 40_000})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			h, err := snapshotOf(context.Background(), a)
			if err != nil {
				t.Fatal(err)
			}
			defer h.release()
			src.After = x.after
			var start grid.Dims
			all, stop := context.WithCancel(context.Background())
			defer h.readAhead(all, func(yield func(box) bool) { yield(box{start, x.count}) })()
			defer stop()
			ctx, cancel := context.WithCancel(all)
			done := make(chan error, 1)
			go func() { done <- h.read(ctx, make([]byte, 2*x.count[0]*x.count[1]), &start, &x.count) }()
			synctest.Wait()
			cancel()
			synctest.Wait()
			select {
			case err := <-done:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("%s: %v", name, err)
				}
			default:
				t.Errorf("%s: the read waits for the source", name)
			}
		})
	}
}

// randomChunks returns an array of n chunks with 8 blocks and size items each, and its items.
func randomChunks(t *testing.T, n, size int64) (stored, data []byte) {
	t.Helper()
	data = make([]byte, n*size*2)
	rand.NewChaCha8([32]byte{5}).Read(data)
	local, err := CreateBytes(ctx, "", []int64{n * size}, "<u2", data, &CreateOptions{Chunks: []int64{size}, Blocks: []int64{size / 8}})
	if err != nil {
		t.Fatal(err)
	}
	return fartest.Stored(t, local.Frame()), data
}

// farSnapshot returns the snapshot of an array that one goroutine reads. The end of the test closes it.
func farSnapshot(t *testing.T, src frame.Source, maxBytes int64) *snapshot {
	t.Helper()
	a, err := OpenSource(ctx, src, &OpenOptions{Concurrency: 1, MaxBytes: maxBytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	h, err := snapshotOf(ctx, a)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.release)
	return h
}

// readBoxes reads ahead boxes of size items from item first on, and reads those that order returns. src counts the
// reads.
func readBoxes(t *testing.T, src *fartest.Source, gap bool, most int64, data []byte, first, size int64, order func(boxes []box) []box) {
	t.Helper()
	from := frame.Source(src)
	if gap {
		from = fartest.Gap{Reader: src} // parts of chunks are not read as whole chunks
	}
	h := farSnapshot(t, from, most)
	items := int64(len(data) / 2)
	var boxes []box
	for at := first; at < items; at += size {
		boxes = append(boxes, box{grid.Dims{at}, grid.Dims{min(size, items-at)}})
	}
	src.Ranges, src.Reads, src.Bytes = 0, 0, 0
	defer h.readAhead(ctx, slices.Values(boxes))()
	for _, x := range order(slices.Clone(boxes)) {
		got := make([]byte, 2*x.count[0])
		if err := h.read(ctx, got, &x.start, &x.count); err != nil || !bytes.Equal(got, data[2*x.start[0]:][:len(got)]) {
			t.Errorf("box at %d: other items, %v", x.start[0], err)
		}
	}
}

// TestFarAheadOrder reads boxes that begin inside a chunk, the later one of two first, as goroutines may. All bytes are
// read ahead.
func TestFarAheadOrder(t *testing.T) {
	const n, size = 16, 4096 // chunks, and items of each
	stored, data := randomChunks(t, n, size)
	for i, first := range []int64{1, 100, size / 2, size - 1, 1, 100, size / 2, size - 1} {
		src := fartest.NewSource(stored, 1)
		readBoxes(t, src, i >= 4, 0, data, first, size, func(boxes []box) []box {
			for k := range len(boxes) / 2 {
				boxes[2*k], boxes[2*k+1] = boxes[2*k+1], boxes[2*k]
			}
			return boxes
		})
		if src.Ranges > 1+i/4 || src.Reads > 0 || src.Bytes > int64(len(stored))*105/100 {
			t.Errorf("boxes from %d: %d reads of ranges and %d others, of %d bytes of %d", first, src.Ranges, src.Reads, src.Bytes, len(stored))
		}
	}
}

// TestFarAheadShuffled is TestFarAheadOrder for more chunks, an order that differs by up to eight boxes, and windows of
// only a few boxes. Later boxes are still read ahead, also if some are not read at all.
func TestFarAheadShuffled(t *testing.T) {
	const n, size = 400, 4096
	stored, data := randomChunks(t, n, size)
	for _, x := range []struct {
		first, most int64
		gap         bool
		left        int // a box that is not read in each of the first groups
		reads       int // most reads of a box or a part, of three for each box
	}{
		{1, 60_000, false, -1, 450}, {size / 2, 60_000, false, -1, 520}, {size - 1, 60_000, false, -1, 600}, {size - 1, 60_000, true, -1, 300},
		{1, 120_000, false, -1, 200}, {size - 1, 120_000, false, -1, 0}, {size / 2, 120_000, false, 3, 300}, {size - 1, 120_000, true, 3, 450},
	} {
		src := fartest.NewSource(stored, 1)
		readBoxes(t, src, x.gap, x.most, data, x.first, size, func(boxes []box) (order []box) {
			rng, groups := rand.New(rand.NewPCG(1, 2)), 0
			for group := range slices.Chunk(boxes, 8) {
				rng.Shuffle(len(group), func(i, j int) { group[i], group[j] = group[j], group[i] })
				for i, b := range group {
					if i != x.left || groups >= 20 {
						order = append(order, b)
					}
				}
				groups++
			}
			return order
		})
		if src.Reads > x.reads {
			t.Errorf("%+v: %d reads of single ranges", x, src.Reads)
		}
	}
}

// TestFarAheadLess reads one item of each box that is read ahead, as a reduction does with special chunks. Later boxes
// are still read ahead.
func TestFarAheadLess(t *testing.T) {
	const n, size = 200, 512 // chunks, and items of each
	data := make([]byte, n*size*2)
	rand.NewChaCha8([32]byte{6}).Read(data)
	local, err := CreateBytes(ctx, "", []int64{n * size}, "<u2", data, &CreateOptions{Chunks: []int64{size}, Blocks: []int64{size / 8}})
	if err != nil {
		t.Fatal(err)
	}
	src := fartest.NewSource(fartest.Stored(t, local.Frame()), 1)
	h := farSnapshot(t, src, 40_000)
	var boxes []box
	for at := int64(0); at < n*size; at += size {
		boxes = append(boxes, box{grid.Dims{at}, grid.Dims{size}})
	}
	src.Ranges, src.Reads = 0, 0
	defer h.readAhead(ctx, slices.Values(boxes))()
	for _, x := range boxes {
		got := make([]byte, 2)
		if err := h.read(ctx, got, &x.start, &grid.Dims{1}); err != nil || !bytes.Equal(got, data[2*x.start[0]:][:2]) {
			t.Errorf("item %d: %v, %v", x.start[0], got, err)
		}
	}
	if src.Ranges > n/2+4 || src.Reads > 0 {
		t.Errorf("%d reads of ranges and %d others", src.Ranges, src.Reads)
	}
}
