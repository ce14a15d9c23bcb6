package shuffle_test

import (
	"fmt"

	"github.com/goblosc/blosc2/shuffle"
)

func ExampleShuffle() {
	src := []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0} // 1, 2, 3 as int32
	dst := make([]byte, len(src))
	shuffle.Shuffle(dst, src, 4)
	fmt.Println(dst)
	shuffle.Unshuffle(src, dst, 4)
	fmt.Println(src)
	// Output:
	// [1 2 3 0 0 0 0 0 0 0 0 0]
	// [1 0 0 0 2 0 0 0 3 0 0 0]
}

func ExampleByteDeltaEncode() {
	src := []byte{10, 11, 12, 13, 200, 200, 200, 201} // two streams, as Shuffle leaves them
	dst := make([]byte, len(src))
	shuffle.ByteDeltaEncode(dst, src, 2)
	fmt.Println(dst)
	// Output: [10 1 1 1 200 0 0 1]
}
