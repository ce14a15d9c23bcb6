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

func (planeFilter) ID() chunk.FilterID { return 170 }

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
	if len(b.Shape) != 2 || b.ItemSize != 1 || int(b.Shape[0])*int(b.Shape[1]) != len(block) {
		return 0, fmt.Errorf("block of %d bytes, want a plane of shape %v: %w", len(block), b.Shape, errors.ErrUnsupported)
	}
	return int(b.Shape[1]), nil
}

// This example uses a user filter. It has a number from 160 up, and both sides pass it in their Options.
func ExampleUserFilter() {
	image := make([]byte, 4*64*64) // four blocks of 64 x 64
	for i := range image {
		image[i] = byte(i/64 + i%64*i%64)
	}
	o := &chunk.Options{
		Filters:    chunk.FilterSet{}.With(planeFilter{}),
		BlockShape: []int32{64, 64},
	}
	p := chunk.Params{BlockSize: 64 * 64, Codec: codec.LZ4, Filters: []chunk.Filter{{ID: 170}}}
	z, err := chunk.Encode(nil, image, p, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := chunk.Decode(nil, z, o)
	fmt.Println(bytes.Equal(back, image), err)

	_, err = chunk.Decode(nil, z, nil)
	fmt.Println(err)
	// Output:
	// true <nil>
	// chunk header at byte 16: filter 170 (filter 170): unsupported
}

// A prefilter transforms the data that is stored: here from degrees Celsius to Kelvin, while compressing.
func ExampleOptions_prefilter() {
	var celsius []byte
	for i := range 1000 {
		celsius = binary.LittleEndian.AppendUint16(celsius, uint16(i%40))
	}
	o := &chunk.Options{Prefilter: func(dst, src []byte, b chunk.BlockInfo) error {
		for i := 0; i < len(src); i += 2 {
			binary.LittleEndian.PutUint16(dst[i:], binary.LittleEndian.Uint16(src[i:])+273)
		}
		return nil
	}}
	z, err := chunk.Encode(nil, celsius, chunk.Params{TypeSize: 2}, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	kelvin, err := chunk.Decode(nil, z, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(binary.LittleEndian.Uint16(kelvin), binary.LittleEndian.Uint16(kelvin[2*39:]))
	// Output: 273 312
}

// A postfilter transforms the data that is read, without another pass over it. Offset is the offset of the block in the
// chunk.
func ExampleOptions_postfilter() {
	z, err := chunk.EncodeSpecial(nil, chunk.Zeros, 1000, nil, chunk.Params{BlockSize: 100})
	if err != nil {
		fmt.Println(err)
		return
	}
	o := &chunk.Options{Postfilter: func(dst, src []byte, b chunk.BlockInfo) error {
		for i := range dst {
			dst[i] = src[i] + byte((b.Offset+i)%10)
		}
		return nil
	}}
	data, err := chunk.Decode(nil, z, o)
	fmt.Println(data[995:], err)
	// Output: [5 6 7 8 9] <nil>
}

// A chunk can have blocks of any size, for records of variable length.
func ExampleEncodeVL() {
	words := [][]byte{[]byte("blocks"), []byte("of"), []byte("any"), []byte("size")}
	z, err := chunk.EncodeVL(nil, words, chunk.Params{Codec: codec.LZ4}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := chunk.DecodeVL(z, nil)
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

// This example uses a user codec with the number of a plug-in. With nil Filters the chunk would use Shuffle, which
// images do not need.
func ExampleOptions_codecs() {
	pixels := make([]byte, 2*128*128)
	for i := range pixels {
		pixels[i] = byte(i % 128 / 16)
	}
	o := &chunk.Options{
		Codecs:     codec.Set{}.With(jpeg2000{}),
		BlockShape: []int32{128, 128},
	}
	p := chunk.Params{Codec: codec.FromCode(37), BlockSize: 128 * 128, Filters: []chunk.Filter{}}
	z, err := chunk.Encode(nil, pixels, p, o)
	if err != nil {
		fmt.Println(err)
		return
	}
	back, err := chunk.Decode(nil, z, o)
	fmt.Println(bytes.Equal(back, pixels), len(z) < len(pixels)/10, err)

	_, err = chunk.Decode(nil, z, nil)
	fmt.Println("without the codec:", errors.Is(err, errors.ErrUnsupported))
	// Output:
	// true true <nil>
	// without the codec: true
}
