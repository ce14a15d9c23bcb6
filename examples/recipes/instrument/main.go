// Command instrument appends images to an array, one commit for each, and a follower reads them as they arrive. The
// two are goroutines here. They may as well be processes, as the file is all that they share.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

const images, side = 20, 64

// record appends the images. A chunk holds 8 images and a block one: an append compresses only its own image.
func record(ctx context.Context, a *ndarray.Array) error {
	image := make([]uint16, side*side)
	for i := range images {
		for k := range image {
			image[k] = uint16(1000*i + k)
		}
		if err := ndarray.Append(ctx, a, 0, image); err != nil {
			return err
		}
	}
	return nil
}

// follow reads each image once and returns the sum of their first items.
func follow(ctx context.Context, name string) (sum int, err error) {
	a, err := ndarray.Open(ctx, name, &ndarray.OpenOptions{Locking: true})
	if err != nil {
		return 0, err
	}
	defer a.Close()
	for next := int64(0); next < images; {
		changed, err := a.Refresh(ctx)
		if err != nil {
			return 0, err
		}
		if !changed && next == a.Shape()[0] {
			time.Sleep(time.Millisecond)
			continue
		}
		for n := a.Shape()[0]; next < n; next++ {
			first, err := ndarray.Item[uint16](ctx, a, next, 0, 0)
			if err != nil {
				return 0, err
			}
			sum += int(first)
		}
	}
	return sum, nil
}

func run(ctx context.Context, name string) error {
	a, err := ndarray.Zeros(ctx, name, []int64{0, side, side}, "<u2", &ndarray.CreateOptions{
		Codec: codec.LZ4, Chunks: []int64{8, side, side}, Blocks: []int64{1, side, side},
		Locking: true, // other processes may open the file at any time
	})
	if err != nil {
		return err
	}
	defer a.Close()
	recorded := make(chan error, 1)
	go func() { recorded <- record(ctx, a) }()
	sum, err := follow(ctx, name)
	if err != nil {
		return err
	}
	if err := <-recorded; err != nil {
		return err
	}
	fmt.Println("recorded", a.Shape(), "and followed, sum", sum)
	return nil
}

func main() {
	dir, err := os.MkdirTemp("", "instrument")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), filepath.Join(dir, "images.b2nd")); err != nil {
		log.Print(err)
	}
}
