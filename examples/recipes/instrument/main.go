// Command instrument appends images to an array, one commit for each, and a follower reads them as they arrive. The
// two are goroutines here. They may as well be processes, as the file is all that they share.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

const images, side = 20, 64

// open opens the array for appending, and creates it if it does not exist: a recorder may be started again.
// A chunk holds 8 images and a block one: an append compresses only its own image.
func open(ctx context.Context, name string) (*ndarray.Array, error) {
	a, err := ndarray.Edit(ctx, name, &ndarray.OpenOptions{Locking: true})
	if !errors.Is(err, fs.ErrNotExist) {
		return a, err
	}
	return ndarray.Zeros(ctx, name, []int64{0, side, side}, "<u2", &ndarray.CreateOptions{
		Codec: codec.LZ4, Chunks: []int64{8, side, side}, Blocks: []int64{1, side, side},
		Locking: true, // other processes may open the file at any time
	})
}

// record appends the images that the array does not have yet, up to image end.
func record(ctx context.Context, name string, end int) error {
	a, err := open(ctx, name)
	if err != nil {
		return err
	}
	defer a.Close()
	image := make([]uint16, side*side)
	for i := int(a.Shape()[0]); i < end; i++ {
		for k := range image {
			image[k] = uint16(1000*i + k)
		}
		if err := ndarray.Append(ctx, a, 0, image); err != nil {
			return err
		}
		time.Sleep(time.Millisecond) // until the next image
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
		first, err := ndarray.Item[uint16](ctx, a, next, 0, 0)
		switch {
		case err == nil:
			sum += int(first)
			next++
		case errors.Is(err, ndarray.ErrBounds): // image next is not recorded yet
			time.Sleep(time.Millisecond)
		default:
			return 0, err
		}
	}
	return sum, nil
}

func run(ctx context.Context, name string) error {
	if err := record(ctx, name, images/2); err != nil {
		return err
	}
	recorded := make(chan error, 1)
	go func() { recorded <- record(ctx, name, images) }() // started again, as after a power failure
	sum, err := follow(ctx, name)
	if err != nil {
		return err
	}
	if err := <-recorded; err != nil {
		return err
	}
	fmt.Println("recorded and followed", images, "images, sum", sum)
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
