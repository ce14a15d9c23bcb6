package filters_test

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/filters"
)

func ExampleCellEncode() {
	src := []byte("abcdefghijklmnop") // 4x4 items of one byte
	dst := make([]byte, len(src))
	if err := filters.CellEncode(dst, src, 1, 2, []int32{4, 4}); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s\n", dst)
	// Output: abefcdghijmnklop
}
