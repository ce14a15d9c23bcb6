package codec_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"

	"github.com/goblosc/blosc2/codec"
)

func Example() {
	c, err := codec.Set{}.ByID(codec.LZ4)
	if err != nil {
		log.Fatal(err)
	}
	encoder, err := c.NewEncoder(codec.Params{Level: 5})
	if err != nil {
		log.Fatal(err)
	}
	block := bytes.Repeat([]byte("temperature "), 100)
	stream := make([]byte, len(block))
	n, err := encoder.Encode(stream, block)
	if errors.Is(err, codec.ErrIncompressible) {
		fmt.Println("store the block as it is")
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(block), "bytes to", n)

	// A stream does not hold the length of its content: the decoder fills dst.
	decoder, err := c.NewDecoder(codec.Params{})
	if err != nil {
		log.Fatal(err)
	}
	got := make([]byte, len(block))
	if err := decoder.Decode(got, stream[:n]); err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.Equal(got, block))
	// Output:
	// 1200 bytes to 26
	// true
}
