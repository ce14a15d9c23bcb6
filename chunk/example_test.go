package chunk_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

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
	z, err := chunk.Encode(nil, src, chunk.Params{TypeSize: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := chunk.Decode(nil, z)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(src), "bytes, same again:", bytes.Equal(src, back), "less than half:", len(z) < len(src)/2)
	// Output: 400000 bytes, same again: true less than half: true
}

// This example sets a codec and filters: the values keep 12 bits of their mantissas, and their bytes are grouped.
func ExampleParams() {
	var src []byte
	for i := range 10_000 {
		src = binary.LittleEndian.AppendUint32(src, math.Float32bits(20+float32(math.Sin(float64(i)/500))))
	}
	z, err := chunk.Encode(nil, src, chunk.Params{
		TypeSize: 4,
		Codec:    codec.LZ4HC,
		Level:    9,
		Filters:  []chunk.Filter{chunk.TruncPrec.With(12), chunk.Shuffle},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := chunk.ParseHeader(z, int64(len(z)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h.Params.Codec, h.Params.Filters[:2], len(z) < len(src)/10)
	// Output: lz4hc [trunc_prec(12) shuffle] true
}

// A Coder keeps codecs and memory for many chunks, and goroutines may share it. Buffers can be used again, too.
func ExampleCoder() {
	coder := &chunk.Coder{Concurrency: 2}
	p := chunk.Params{TypeSize: 4, Codec: codec.LZ4, Level: 9, Filters: []chunk.Filter{chunk.BitShuffle}}
	var z, back []byte
	for n := range 3 {
		var err error
		if z, err = coder.Encode(z[:0], squares(10_000*n), p); err != nil {
			fmt.Println(err)
			return
		}
		if back, err = coder.Decode(back[:0], z); err != nil {
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
func ExampleCoder_DecodeAt() {
	z, err := chunk.Encode(nil, squares(1_000_000), chunk.Params{TypeSize: 4, BlockSize: 32 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	file := bytes.NewReader(z) // or io.NewSectionReader(file, offset, size)

	var coder chunk.Coder
	var item [4]byte
	if _, err := coder.DecodeAt(item[:], file, 4*12_345); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(binary.LittleEndian.Uint32(item[:]))
	// Output: 152399025
}

// A header describes a chunk without decoding it.
func ExampleParseHeader() {
	z, err := chunk.Encode(nil, squares(10_000), chunk.Params{TypeSize: 4, Codec: codec.LZ4})
	if err != nil {
		fmt.Println(err)
		return
	}
	h, err := chunk.ParseHeader(z, int64(len(z)))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(h.NBytes, "bytes in", h.NumBlocks, "block, items of", h.Params.TypeSize, h.Params.Codec, h.Params.Filters[5])
	// Output: 40000 bytes in 1 block, items of 4 lz4 shuffle
}

// A special value takes 32 bytes, however large the chunk is.
func ExampleEncodeSpecial() {
	z, err := chunk.EncodeSpecial(nil, chunk.NaNs, 1<<20, nil, chunk.Params{TypeSize: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := chunk.Decode(nil, z)
	fmt.Println(len(z), len(back), err)
	// Output: 32 1048576 <nil>
}
