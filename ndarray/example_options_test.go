package ndarray_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

// Set the codec, the level and the filters. chunk.TruncPrec keeps 10 bits of the fraction, which is lossy.
func ExampleCreateOptions() {
	ctx := context.Background()
	data := make([]float32, 1000)
	for i := range data {
		data[i] = 0.1 * float32(i)
	}
	a, err := ndarray.Create(ctx, "", []int64{1000}, data, &ndarray.CreateOptions{
		Codec:   codec.LZ4HC,
		Level:   9,
		Filters: []chunk.Filter{chunk.TruncPrec.With(10), chunk.BitShuffle},
	})
	check(err)
	defer a.Close()
	items, err := ndarray.Read[float32](ctx, a, ndarray.Span(0, 3))
	check(err)
	fmt.Println(a.CreateOptions().Codec, items)
	// Output: lz4hc [0 0.099975586 0.19995117]
}

// A goal chooses codec and filters by the data. ChunkInfos reports the choice for each chunk.
func ExampleCreateOptions_goal() {
	ctx := context.Background()
	data := make([]int32, 1<<18)
	for i := range data {
		data[i] = int32(i)
	}
	a, err := ndarray.Create(ctx, "", []int64{1 << 18}, data, &ndarray.CreateOptions{Goal: ndarray.Smallest})
	check(err)
	defer a.Close()
	o := a.CreateOptions()
	fmt.Println(o.Codec, o.Level, a.CBytes() < a.NBytes()/100)
	for info, err := range a.ChunkInfos(ctx) {
		check(err)
		fmt.Println("chunk", info.Number, info.Codec)
	}
	// Output:
	// zstd 9 true
	// chunk 0 zstd
}

// runs is a user codec: it stores each run of equal bytes as a count and the byte.
type runs struct{}

func (runs) ID() codec.ID { return codec.FromCode(200) } // 160 to 255 are free for programs

func (runs) NewEncoder(codec.Params) (codec.Encoder, error) { return runs{}, nil }

func (runs) NewDecoder(codec.Params) (codec.Decoder, error) { return runs{}, nil }

func (runs) Encode(dst, src []byte) (int, error) {
	out := dst[:0]
	for len(src) > 0 {
		n := 1
		for n < 255 && n < len(src) && src[n] == src[0] {
			n++
		}
		if len(out)+2 > len(dst) {
			return 0, codec.ErrIncompressible // the block is stored uncompressed
		}
		out, src = append(out, byte(n), src[0]), src[n:]
	}
	return len(out), nil
}

func (runs) Decode(dst, src []byte) error { // src is untrusted
	for ; len(src) >= 2; src = src[2:] {
		n := int(src[0])
		if n > len(dst) {
			return fmt.Errorf("runs: too many bytes: %w", codec.ErrCorrupt)
		}
		for i := range dst[:n] {
			dst[i] = src[1]
		}
		dst = dst[n:]
	}
	if len(dst) > 0 || len(src) > 0 {
		return fmt.Errorf("runs: %d bytes are missing: %w", len(dst), codec.ErrCorrupt)
	}
	return nil
}

// Use a codec of your own. Programs that read the array need the codec, too.
func ExampleCreateOptions_userCodec() {
	ctx := context.Background()
	codecs := []codec.Codec{runs{}}
	data := make([]uint16, 10_000)
	for i := range data {
		data[i] = uint16(i / 1000)
	}
	a, err := ndarray.Create(ctx, "", []int64{10_000}, data, &ndarray.CreateOptions{Codec: codec.FromCode(200), Codecs: codecs})
	check(err)
	defer a.Close()
	var stored bytes.Buffer
	_, err = a.Save(ctx, &stored)
	check(err)

	b, err := ndarray.OpenBytes(stored.Bytes(), &ndarray.OpenOptions{Codecs: codecs})
	check(err)
	defer b.Close()
	fmt.Println(ndarray.Item[uint16](ctx, b, 7500))

	c, err := ndarray.OpenBytes(stored.Bytes(), nil)
	check(err)
	defer c.Close()
	_, err = ndarray.Item[uint16](ctx, c, 7500)
	fmt.Println("without the codec:", errors.Is(err, errors.ErrUnsupported))
	// Output:
	// 7 <nil>
	// without the codec: true
}

// Write a part of an array, and fill another part with one value.
func ExampleWrite() {
	ctx := context.Background()
	a, err := ndarray.Zeros(ctx, "", []int64{3, 4}, "<i2", nil)
	check(err)
	defer a.Close()
	check(ndarray.Write(ctx, a, []int16{1, 2, 3}, ndarray.All, ndarray.At(0)))       // a[:, 0] = [1, 2, 3]
	check(ndarray.Fill(ctx, a, 7, ndarray.At(-1), ndarray.Step(1, ndarray.None, 2))) // a[-1, 1::2] = 7
	for row := range a.Shape()[0] {
		fmt.Println(ndarray.Read[int16](ctx, a, ndarray.At(row)))
	}
	// Output:
	// [1 0 0 0] <nil>
	// [2 0 0 0] <nil>
	// [3 7 0 7] <nil>
}

// Count the items in bins of equal width.
func ExampleHistogram() {
	ctx := context.Background()
	a, err := ndarray.Arange[float32](ctx, "", 0, 10, 0.5, nil)
	check(err)
	defer a.Close()
	fmt.Println(ndarray.Histogram(ctx, a, []float64{0, 2.5, 5, 7.5, 10}))
	// Output: [5 5 5 5] <nil>
}

// Store checksums, and compare all data with them.
func ExampleCreateOptions_checksums() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{1000}, make([]int32, 1000), &ndarray.CreateOptions{Checksums: true})
	check(err)
	defer a.Close()
	var stored bytes.Buffer
	_, err = a.Save(ctx, &stored)
	check(err)

	// RequireChecksums rejects arrays without checksums, and each read compares what it reads.
	b, err := ndarray.OpenBytes(stored.Bytes(), &ndarray.OpenOptions{RequireChecksums: true})
	check(err)
	defer b.Close()
	fmt.Println(b.Verify(ctx, nil)) // the first fault
	// Output: <nil>
}

// With a cache, reads of neighboring items decode their block once.
func ExampleOpenOptions_cache() {
	ctx := context.Background()
	o := &ndarray.OpenOptions{Cache: 16 << 20}
	a, err := ndarray.Open(ctx, "../testdata/python-blosc2/dtype_i4.b2nd", o)
	check(err)
	defer a.Close()
	sum := int32(0)
	for i := range a.Shape()[0] {
		x, err := ndarray.Item[int32](ctx, a, i, 0) // decodes each block once
		check(err)
		sum += x
	}
	fmt.Println(sum)
	// Output: 3126
}

// Limit the memory that an upload from an unknown user may take.
func ExampleOpenOptions_maxBytes() {
	upload, err := os.ReadFile("../testdata/python-blosc2/dtype_i4.b2nd")
	check(err)
	o := &ndarray.OpenOptions{MaxBytes: 16 << 20, MaxMeta: 64 << 10, MaxChunks: 2}
	_, err = ndarray.OpenBytes(upload, o)
	fmt.Println(errors.Is(err, ndarray.ErrTooLarge)) // it has three chunks
	// Output: true
}

// Share an array with other processes, which may use C-Blosc2. A lock file protects each read and each commit.
func ExampleOpenOptions_locking() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "shared")
	check(err)
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.b2nd") // the lock file is a.b2nd.b2lock
	a, err := ndarray.Zeros(ctx, name, []int64{0}, "<i4", &ndarray.CreateOptions{Locking: true})
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println([]int64{4}) // this system has no file locks
		return
	}
	check(err)
	check(ndarray.Append(ctx, a, 0, []int32{1, 2, 3}))
	check(a.Close())

	b, err := ndarray.Edit(ctx, name, &ndarray.OpenOptions{Locking: true})
	check(err)
	defer b.Close()
	check(ndarray.Append(ctx, b, 0, []int32{4}))
	fmt.Println(b.Shape())
	// Output: [4]
}

// Follow an array that another process appends to.
func ExampleArray_Refresh() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "growing")
	check(err)
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.b2nd")
	writer, err := ndarray.Zeros(ctx, name, []int64{0}, "<f8", nil)
	check(err)
	defer writer.Close()
	reader, err := ndarray.Open(ctx, name, nil)
	check(err)
	defer reader.Close()

	check(ndarray.Append(ctx, writer, 0, []float64{20.5, 21}))
	fmt.Println(reader.Shape()) // until Refresh, a reader sees one state
	changed, err := reader.Refresh(ctx)
	check(err)
	fmt.Println(changed, reader.Shape())
	// Output:
	// [0]
	// true [2]
}

// Open an array that is in memory, such as an upload.
func ExampleOpenBytes() {
	ctx := context.Background()
	upload, err := os.ReadFile("../testdata/python-blosc2/dtype_i4.b2nd")
	check(err)
	a, err := ndarray.OpenBytes(upload, nil)
	check(err)
	defer a.Close()
	x, err := ndarray.Item[int32](ctx, a, 1, 2)
	check(err)
	fmt.Println(a.Shape(), x)
	// Output: [30 20] 89
}

// Open an array in an io.ReaderAt. A read of the array reads only the parts that it needs.
func ExampleOpenReaderAt() {
	ctx := context.Background()
	file, err := os.Open("../testdata/python-blosc2/dtype_i4.b2nd")
	check(err)
	defer file.Close()
	info, err := file.Stat()
	check(err)
	a, err := ndarray.OpenReaderAt(ctx, file, info.Size(), nil)
	check(err)
	defer a.Close()
	column, err := ndarray.Read[int32](ctx, a, ndarray.Span(0, 3), ndarray.At(0))
	check(err)
	fmt.Println(column)
	// Output: [99 87 95]
}

// Save an array to an io.Writer, such as an http.ResponseWriter.
func ExampleArray_Save() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{2, 2}, []int16{1, 2, 3, 4}, nil)
	check(err)
	defer a.Close()
	var w bytes.Buffer
	n, err := a.Save(ctx, &w)
	check(err)
	b, err := ndarray.OpenBytes(w.Bytes(), nil)
	check(err)
	defer b.Close()
	items, err := ndarray.Read[int16](ctx, b)
	check(err)
	fmt.Println(n == int64(w.Len()), items)
	// Output: true [1 2 3 4]
}

// Read numbers of another type. A conversion that could lose a value returns ErrType.
func ExampleRead_numbers() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{3}, []float32{0.5, 1.5, 2.5}, &ndarray.CreateOptions{DType: ">f4"})
	check(err)
	defer a.Close()
	items, err := ndarray.Read[float64](ctx, a)
	check(err)
	fmt.Println(a.DType(), items)
	_, err = ndarray.Read[int64](ctx, a)
	fmt.Println(errors.Is(err, ndarray.ErrType))
	// Output:
	// >f4 [0.5 1.5 2.5]
	// true
}

// Convert items to another dtype, with loss, and store the result.
func ExampleAsType() {
	ctx := context.Background()
	a, err := ndarray.Create(ctx, "", []int64{3}, []float64{0.5, -1.5, 300}, nil)
	check(err)
	defer a.Close()
	view, err := ndarray.AsType(a, "<i2") // nothing is read yet
	check(err)
	b, err := ndarray.Copy(ctx, "", view, nil)
	check(err)
	defer b.Close()
	items, err := ndarray.Read[int16](ctx, b)
	check(err)
	fmt.Println(b.DType(), items)
	// Output: <i2 [0 -1 300]
}

// Several writers fill one array. Each writer opens it by its name and writes whole chunks. The last step finishes it.
func ExampleRegions() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "regions")
	check(err)
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "a.b2nd")
	layout, err := ndarray.CreateRegions(ctx, name, []int64{4, 6}, "<i4", &ndarray.CreateOptions{Chunks: []int64{2, 3}})
	if err != nil {
		log.Fatal(err)
	}
	defer layout.Close()

	write := func(row, column int64) error { // in another process, perhaps
		r, err := ndarray.OpenRegions(ctx, name, nil)
		if err != nil {
			return err
		}
		defer r.Close()
		box, err := r.ChunkBox(row, column)
		if err != nil {
			return err
		}
		items := make([]int32, box.Size())
		for i := range items {
			items[i] = int32(10*row + column)
		}
		return ndarray.Write(ctx, r, items, box.Selection()...)
	}
	for _, at := range [][2]int64{{1, 1}, {0, 0}, {0, 1}, {0, 1}} { // one of them twice
		if err := write(at[0], at[1]); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(errors.Is(layout.Finish(ctx), ndarray.ErrUnfinished))
	for box, err := range layout.Missing(ctx) {
		fmt.Println("missing:", box.Start, err)
	}
	if err := errors.Join(write(1, 0), layout.Finish(ctx)); err != nil {
		log.Fatal(err)
	}
	a, err := ndarray.Open(ctx, name, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	items, err := ndarray.Read[int32](ctx, a, ndarray.Step(0, 4, 2))
	fmt.Println(items, err)
	// Output:
	// true
	// missing: [2 0] <nil>
	// [0 0 0 1 1 1 10 10 10 11 11 11] <nil>
}

// A plan for 10 TB on 100 workers that have 1 GiB each for items: from one chunk for each hour to one for each point.
func ExamplePlanRechunk() {
	shape := []int64{2_400_000, 720, 1440} // hours, latitudes, longitudes of float32
	plan, err := ndarray.PlanRechunk(shape, 4, []int64{1, 720, 1440}, []int64{60_000, 8, 8}, 1<<30)
	if err != nil {
		log.Fatal(err)
	}
	const workers = 100
	for i, s := range plan {
		fmt.Printf("stage %d: %d tiles of %v, %d for each worker, %d MiB\n", i+1, s.Tiles, s.Tile, (s.Tiles+workers-1)/workers, s.Memory>>20)
		fmt.Printf("  reads %d files, %.1f TB; writes %d files of %v, %.1f TB\n",
			s.Reads, float64(s.BytesRead)/1e12, s.Writes, s.Chunks, float64(s.BytesWritten)/1e12)
	}
	// Output:
	// stage 1: 10000 tiles of [240 720 1440], 100 for each worker, 949 MiB
	//   reads 2400000 files, 10.0 TB; writes 2600000 files of [240 72 56], 10.0 TB
	// stage 2: 10400 tiles of [60000 72 56], 104 for each worker, 922 MiB
	//   reads 2600000 files, 10.0 TB; writes 648000 files of [60000 8 8], 10.0 TB
}

// The tiles of an array as messages for other machines.
func ExampleArray_WorkItems() {
	ctx := context.Background()
	a, err := ndarray.Zeros(ctx, "", []int64{4, 6}, "<i4", &ndarray.CreateOptions{Chunks: []int64{2, 2}})
	if err != nil {
		log.Fatal(err)
	}
	for item := range a.WorkItems(ndarray.ByTile(a, 32)) { // tiles of up to 32 bytes
		text, err := json.Marshal(item)
		fmt.Println(string(text), err)
	}
	// Output:
	// {"Name":"","Start":[0,0],"Shape":[2,4],"NBytes":32} <nil>
	// {"Name":"","Start":[0,4],"Shape":[2,2],"NBytes":16} <nil>
	// {"Name":"","Start":[2,0],"Shape":[2,4],"NBytes":32} <nil>
	// {"Name":"","Start":[2,4],"Shape":[2,2],"NBytes":16} <nil>
}
