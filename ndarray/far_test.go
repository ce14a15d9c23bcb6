package ndarray

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/race"
)

// farSource is a frame.Source that reads many ranges at once. It is safe for concurrent use.
type farSource struct {
	data  []byte
	files map[int64][]byte // chunk files, of a farFiles

	mu     sync.Mutex
	rng    *rand.Rand
	ranges int // calls of ReadRanges
	reads  int // calls of ReadAtContext
	fail   int // one read of that many fails, if it is not 0
	failAt bool
	wait   bool // reads wait for their context
}

var errFar = errors.New("an error of the source")

// fails reports whether a read fails.
func (s *farSource) fails() bool { return s.fail > 0 && s.rng.IntN(s.fail) == 0 }

// ReadAtContext implements frame.Source.
func (s *farSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	s.mu.Lock()
	s.reads++
	fails, wait := s.failAt && s.fails(), s.wait
	s.mu.Unlock()
	if wait {
		<-ctx.Done()
	}
	if fails {
		return 0, errFar
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	data, at := s.file(off)
	return bytes.NewReader(data).ReadAt(p, at)
}

// file returns the file that has an offset, and the offset in it.
func (s *farSource) file(off int64) (data []byte, at int64) {
	if n := off >> 31; n > 0 {
		return s.files[n-1], off & (1<<31 - 1)
	}
	return s.data, off
}

// farFiles is the farSource of a sparse frame.
type farFiles struct{ *farSource }

// ChunkOffset has the file of each chunk at a multiple of 2 GiB.
func (farFiles) ChunkOffset(n int64) int64 { return (n + 1) << 31 }

// Size implements frame.Source.
func (s *farSource) Size() int64 { return int64(len(s.data)) }

// ReadRanges reads ranges in random order and in random parts.
func (s *farSource) ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	s.mu.Lock()
	s.ranges++
	order, part, wait := s.rng.Perm(len(want)), int64(1+s.rng.IntN(5000)), s.wait
	s.mu.Unlock()
	if wait {
		<-ctx.Done()
	}
	for _, i := range order {
		w := want[i]
		data, off := s.file(w.Off)
		if w.Off < 0 || w.Len < 0 || s.files == nil && w.End() > s.Size() {
			return fmt.Errorf("range %v outside %d bytes", w, s.Size())
		}
		size := min(w.Len, int64(len(data))-off) // less after the end of a chunk file
		for at := int64(0); at < size; at += part {
			s.mu.Lock()
			fails := s.fails()
			s.mu.Unlock()
			if err := ctx.Err(); err != nil {
				return err
			}
			if fails {
				return errFar
			}
			b := bytes.Clone(data[off+at : off+min(at+part, size)])
			if err := got(i, at, b); err != nil {
				return err
			}
			clear(b) // got must not retain it
		}
	}
	return nil
}

// stored returns an array as it is stored.
func stored(t testing.TB, a *Array) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := a.Save(ctx, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// farForms is an array in memory and its stored forms: a contiguous frame and a sparse one. Tests only read it.
type farForms struct {
	local *Array
	whole []byte
	index []byte // of the sparse frame
	files map[int64][]byte
}

func newFarForms(t testing.TB, local *Array) *farForms {
	t.Helper()
	x := &farForms{local: local, whole: stored(t, local)}
	x.index, x.files = storedFiles(t, local)
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
	src := &farSource{data: x.whole, rng: rand.New(rand.NewPCG(rng.Uint64(), 1))}
	from := frame.Source(src)
	if rng.IntN(3) == 0 {
		from = farFiles{src}
		src.data, src.files = x.index, x.files
	}
	if rng.IntN(2) == 0 {
		from = farGap{from.(farReader), rng.Int64N(20_000)}
		if src.files != nil {
			from = farGapFiles{from.(farGap), farFiles{src}}
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
	src.mu.Lock()
	src.fail, src.failAt = []int{0, 3, 10, 100}[rng.IntN(4)], rng.IntN(2) == 0
	src.mu.Unlock()
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
		case errors.Is(err, errFar) && src.fail > 0:
			if at := new(frame.Error); !errors.As(err, &at) || at.Part != "chunk" {
				t.Errorf("error without a location: %v", err)
			}
		case err != nil:
			t.Fatalf("%v of %v: %v", sel, x.Shape(), err)
		case !bytes.Equal(got, want):
			t.Fatalf("%v of %v in chunks of %v, blocks of %v: the items differ", sel, x.Shape(), a.Chunks(), a.Blocks())
		}
	}
	testFarPasses(t, rng, a, x, src.fail > 0)
	content, plain := a.Frame().Content(ctx), local.Frame().Content(ctx)
	off := rng.Int64N(plain.Size())
	got := make([]byte, rng.Int64N(plain.Size()-off)+1)
	want := bytes.Clone(got)
	if _, err := plain.ReadAt(want, off); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	if _, err := content.ReadAt(got, off); err == nil && !bytes.Equal(got, want) {
		t.Fatalf("%d bytes at %d differ", len(got), off)
	} else if err != nil && err != io.EOF && !errors.Is(err, errFar) && o.MaxBytes == 0 {
		t.Fatal(err)
	}
}

// farReader is a source that reads many ranges at once.
type farReader interface {
	frame.Source
	ReadRanges(ctx context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error
}

// farGap is a farReader that has a gap.
type farGap struct {
	farReader
	gap int64
}

// Gap returns the gap.
func (g farGap) Gap() int64 { return g.gap }

// farGapFiles is the farGap of a sparse frame.
type farGapFiles struct {
	farGap
	files farFiles
}

// ChunkOffset is that of farFiles.
func (g farGapFiles) ChunkOffset(n int64) int64 { return g.files.ChunkOffset(n) }

// storedFiles returns the files of an array as a sparse frame.
func storedFiles(t testing.TB, a *Array) (index []byte, chunks map[int64][]byte) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a")
	s, err := frame.Copy(ctx, dir, a.Frame(), &frame.CreateOptions{Sparse: true, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	chunks = map[int64][]byte{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() == "chunks.b2frame" {
			index = b
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(e.Name(), ".chunk"), 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		chunks[n] = append(b, make([]byte, n%3*100)...) // bytes after the chunk are not read
	}
	return index, chunks
}

// testFarPasses compares calls that read all chunks with the array in memory.
func testFarPasses(t *testing.T, rng *rand.Rand, a *Array, x *farForms, fails bool) {
	t.Helper()
	local, whole := x.local, x.whole
	allowed := func(what string, err error) bool {
		if err != nil && !(fails && errors.Is(err, errFar)) && !errors.Is(err, frame.ErrTooLarge) {
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
		if got := stored(t, c); len(got) != len(whole) {
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

// farArray returns an array of random items on a farSource.
func farArray(t *testing.T, shape, chunks, blocks []int64, o *OpenOptions, edit func(a *Array)) (local, a *Array, src *farSource) {
	t.Helper()
	n := int64(2)
	for _, x := range shape {
		n *= x
	}
	data := make([]byte, n)
	rand.NewChaCha8([32]byte{1}).Read(data)
	local, err := CreateBytes(ctx, "", shape, "<u2", data, &CreateOptions{Chunks: chunks, Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(local)
	}
	src = &farSource{data: stored(t, local), rng: rand.New(rand.NewPCG(1, 1))}
	if a, err = OpenSource(ctx, src, o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	src.ranges, src.reads = 0, 0
	return local, a, src
}

// readFar reads a selection with at most a number of calls of ReadRanges, and none of ReadAtContext.
func readFar(t *testing.T, local, a *Array, src *farSource, most int, sel ...Index) {
	t.Helper()
	want, err := Read[uint16](ctx, local, sel...)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]uint16, len(want))
	if err := ReadInto(ctx, a, got, sel...); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v: the items differ", sel)
	}
	if src.ranges > most || src.reads > 0 {
		t.Errorf("%v: %d reads of ranges and %d others, want at most %d and 0", sel, src.ranges, src.reads, most)
	}
	src.ranges, src.reads = 0, 0
}

// TestFarRounds counts the calls of the source.
func TestFarRounds(t *testing.T) {
	// Small chunks are read whole, at once. Then their blocks are known.
	for _, o := range []*OpenOptions{{}, {Verify: true}} {
		local, a, src := farArray(t, []int64{200, 30, 30}, []int64{40, 30, 30}, []int64{1, 10, 30}, o, nil)
		readFar(t, local, a, src, 1, All, At(5), At(6))
		readFar(t, local, a, src, 1, All, At(15), At(6))
		readFar(t, local, a, src, 1)
	}
	// Larger chunks are not.
	local, a, src := farArray(t, []int64{4, 1 << 19}, []int64{1, 1 << 19}, []int64{1, 1 << 12}, &OpenOptions{Cache: 1 << 20}, nil)
	readFar(t, local, a, src, 2, All, At(5))
	readFar(t, local, a, src, 0, All, At(6))
	readFar(t, local, a, src, 1, All, At(1<<18))
	// Chunks out of order are located before they are read whole.
	local, a, src = farArray(t, []int64{4, 1 << 14}, []int64{1, 1 << 14}, []int64{1, 1 << 12}, nil, func(a *Array) {
		for _, i := range []int64{3, 2, 0, 1} {
			if err := a.FillBytes(ctx, []byte{byte(i), 1}, At(i), Span(0, 1<<14-1)); err != nil {
				t.Fatal(err)
			}
		}
	})
	readFar(t, local, a, src, 2)
}

// TestFarWindows reads more bytes than are read ahead at a time: of many chunks, and of one chunk.
func TestFarWindows(t *testing.T) {
	const most = 1 << 20 // a quarter at a time
	local, a, src := farArray(t, []int64{64, 1 << 15}, []int64{1, 1 << 15}, []int64{1, 1 << 12}, &OpenOptions{MaxBytes: most, Concurrency: 1}, nil)
	readFar(t, local, a, src, 64/3+1)
	local, a, src = farArray(t, []int64{1 << 21}, []int64{1 << 21}, []int64{1 << 12}, &OpenOptions{MaxBytes: most, Concurrency: 1}, nil)
	readFar(t, local, a, src, 8, Step(0, None, 3<<12))
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
		data := stored(t, good)
		chunks := int(good.Frame().Info().CBytes)
		good.Close()
		for range 1 + rng.IntN(10) {
			data[len(data)/8+rng.IntN(1+min(chunks, len(data)*3/4))] ^= 1 << rng.IntN(8)
		}
		src := &farSource{data: data, rng: rand.New(rand.NewPCG(1, 1))}
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
	data := stored(t, local)
	synctest.Test(t, func(t *testing.T) {
		src := &farSource{data: data, rng: rand.New(rand.NewPCG(1, 1))}
		a, err := OpenSource(context.Background(), src, &OpenOptions{Concurrency: 1})
		if err != nil {
			t.Fatal(err)
		}
		src.wait = true
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() {
			dst := make([]byte, 2*a.Size())
			done <- a.ReadBytes(ctx, dst)
		}()
		synctest.Wait()
		if src.ranges == 0 {
			t.Error("nothing is read ahead")
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
		a.Close()
	})
}

// farPanic is a source whose ReadRanges panics.
type farPanic struct{ *farSource }

func (farPanic) ReadRanges(context.Context, []frame.Range, func(int, int64, []byte) error) error {
	panic("in ReadRanges")
}

// TestFarPanic checks that a panic of the source continues on the goroutine of the read.
func TestFarPanic(t *testing.T) {
	local := randomFarArray(t, rand.New(rand.NewPCG(4, 4)), 60)
	a, err := OpenSource(ctx, farPanic{&farSource{data: stored(t, local), rng: rand.New(rand.NewPCG(1, 1))}}, nil)
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
