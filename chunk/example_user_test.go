package chunk_test

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// planeFilter stores for each item of a 2-d block of bytes the difference from the item above it.
type planeFilter struct{}

func (planeFilter) Code() uint8 { return 170 }

func (planeFilter) Forward(dst, src []byte, b chunk.BlockInfo) error {
	width, err := planeWidth(src, b)
	if err != nil {
		return err
	}
	copy(dst[:width], src)
	for i := width; i < len(src); i++ {
		dst[i] = src[i] - src[i-width]
	}
	return nil
}

func (planeFilter) Backward(dst, src []byte, b chunk.BlockInfo) error {
	width, err := planeWidth(src, b)
	if err != nil {
		return err
	}
	copy(dst[:width], src)
	for i := width; i < len(src); i++ {
		dst[i] = src[i] + dst[i-width]
	}
	return nil
}

func planeWidth(block []byte, b chunk.BlockInfo) (int, error) {
	if len(b.Shape) != 2 || b.TypeSize != 1 || int(b.Shape[0])*int(b.Shape[1]) != len(block) {
		return 0, fmt.Errorf("block of %d bytes, want a plane of shape %v: %w", len(block), b.Shape, errors.ErrUnsupported)
	}
	return int(b.Shape[1]), nil
}

// This example uses a user filter. It has a number from 160 up, and both sides pass it to their Coder.
func ExampleUserFilter() {
	image := make([]byte, 4*64*64) // four blocks of 64 x 64
	for i := range image {
		image[i] = byte(i/64 + i%64*i%64)
	}
	c := &chunk.Coder{
		UserFilters: []chunk.UserFilter{planeFilter{}},
		BlockShape:  []int32{64, 64},
	}
	p := chunk.Params{BlockSize: 64 * 64, Codec: codec.LZ4, Filters: []chunk.Filter{170}}
	z, err := c.Encode(nil, image, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := c.Decode(nil, z)
	fmt.Println(bytes.Equal(back, image), err)

	_, err = chunk.Decode(nil, z) // without the filter
	fmt.Println(err)
	// Output:
	// true <nil>
	// chunk header at byte 16: filter with number 170: unsupported; add it to UserFilters
}

// A chunk can have blocks of any size, for records of variable length.
func ExampleCoder_EncodeBlocks() {
	words := [][]byte{[]byte("blocks"), []byte("of"), []byte("any"), []byte("size")}
	var c chunk.Coder
	z, err := c.EncodeBlocks(nil, words, chunk.Params{Codec: codec.LZ4})
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := c.DecodeBlocks(z)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, b := range back {
		fmt.Println(string(b))
	}
	// Output:
	// blocks
	// of
	// any
	// size
}

// jpeg2000 represents an image codec with a number that the format reserves for plug-ins (37 is Grok). A real program
// calls a decoder here. This one stores its own header with the size of the image and compresses with flate.
type jpeg2000 struct{}

func (jpeg2000) ID() codec.ID { return codec.FromCode(37) }

func (jpeg2000) NewEncoder(p codec.Params) (codec.Encoder, error) {
	if len(p.BlockShape) != 2 {
		return nil, fmt.Errorf("block shape %v, want two dimensions: %w", p.BlockShape, errors.ErrUnsupported)
	}
	return image{p}, nil
}

func (jpeg2000) NewDecoder(p codec.Params) (codec.Decoder, error) { return image{p}, nil }

type image struct{ p codec.Params }

func (m image) Encode(dst, src []byte) (int, error) {
	var b bytes.Buffer
	head := binary.LittleEndian.AppendUint32(nil, uint32(m.p.BlockShape[0]))
	b.Write(binary.LittleEndian.AppendUint32(head, uint32(m.p.BlockShape[1])))
	w, err := flate.NewWriter(&b, m.p.Level)
	if err != nil {
		return 0, err
	}
	if _, err := w.Write(src); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	if b.Len() > len(dst) {
		return 0, codec.ErrIncompressible
	}
	return copy(dst, b.Bytes()), nil
}

func (m image) Decode(dst, src []byte) error {
	if len(src) < 8 {
		return fmt.Errorf("image without header: %w", codec.ErrCorrupt)
	}
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(src[8:])), dst); err != nil {
		return fmt.Errorf("image: %v: %w", err, codec.ErrCorrupt)
	}
	return nil
}

// This example uses a user codec with the number of a plug-in. Without Filters the chunk would use Shuffle, which
// images do not need.
func ExampleCoder_userCodec() {
	pixels := make([]byte, 2*128*128)
	for i := range pixels {
		pixels[i] = byte(i % 128 / 16)
	}
	c := &chunk.Coder{
		Codecs:     []codec.Codec{jpeg2000{}},
		BlockShape: []int32{128, 128},
	}
	p := chunk.Params{Codec: codec.FromCode(37), BlockSize: 128 * 128, Filters: []chunk.Filter{chunk.NoFilter}}
	z, err := c.Encode(nil, pixels, p)
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := c.Decode(nil, z)
	fmt.Println(bytes.Equal(back, pixels), len(z) < len(pixels)/10, err)

	_, err = chunk.Decode(nil, z)
	fmt.Println("without the codec:", errors.Is(err, errors.ErrUnsupported))
	// Output:
	// true true <nil>
	// without the codec: true
}
