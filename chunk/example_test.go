package chunk_test

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// squares returns n little-endian int32s.
func squares(n int) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(i*i))
	}
	return b
}

// This example compresses and decompresses a chunk in memory. Each call may use all CPUs.
func Example() {
	src := squares(100_000)
	z, err := chunk.Encode(nil, src, chunk.Params{TypeSize: 4}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := chunk.Decode(nil, z, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(src), "bytes, same again:", bytes.Equal(src, back), "less than half:", len(z) < len(src)/2)
	// Output: 400000 bytes, same again: true less than half: true
}

// A Pool keeps codecs and memory for many chunks.
func ExamplePool() {
	pool := chunk.NewPool(&chunk.Options{Concurrency: 2})
	p := chunk.Params{TypeSize: 4, Codec: codec.LZ4, Level: 9, Filters: []chunk.Filter{{ID: chunk.BitShuffle}}}
	var z, back []byte
	for n := range 3 {
		var err error
		if z, err = pool.Encode(z[:0], squares(10_000*n), p); err != nil {
			fmt.Println(err)
			return
		}
		if back, err = pool.Decode(back[:0], z); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(len(back))
	}
	// Output:
	// 0
	// 40000
	// 80000
}

// This example reads one item of a chunk in a file. It reads and decodes one block.
func ExampleNewReaderAt() {
	z, err := chunk.Encode(nil, squares(1_000_000), chunk.Params{TypeSize: 4, BlockSize: 32 << 10}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	file := bytes.NewReader(z) // or an *os.File

	r, err := chunk.NewReaderAt(file, file.Size(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var item [4]byte
	if _, err := r.ReadAt(item[:], 4*12_345); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(binary.LittleEndian.Uint32(item[:]), "of", r.Size()/4, "items")
	// Output: 152399025 of 1000000 items
}

// A header describes a chunk without decoding it.
func ExampleParseHeader() {
	z, err := chunk.Encode(nil, squares(10_000), chunk.Params{TypeSize: 4, Codec: codec.LZ4}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := chunk.ParseHeader(z, int64(len(z)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h.NBytes, "bytes in", h.NumBlocks(), "block, items of", h.TypeSize, codec.FromCode(h.Codec), h.Filters[5].ID)
	// Output: 40000 bytes in 1 block, items of 4 lz4 shuffle
}

// A special value takes 32 bytes, however large the chunk is.
func ExampleEncodeSpecial() {
	z, err := chunk.EncodeSpecial(nil, chunk.NaNs, 1<<20, nil, chunk.Params{TypeSize: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := chunk.Decode(nil, z, nil)
	fmt.Println(len(z), len(back), err)
	// Output: 32 1048576 <nil>
}
