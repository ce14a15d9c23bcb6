// Command loader feeds a training loop with batches of images in random order. The images are stored as bytes and read
// as float32. Two buffers are reused for all batches, and the next batch is read during the work on the last one.
package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"math/rand/v2"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

const count, side, batchSize = 1000, 28, 64

// batch is a part of the images with their labels.
type batch struct {
	images []float32
	labels []int64
	err    error
}

// batches ranges over the images in the given order. A batch is valid until the next one.
func batches(ctx context.Context, images, labels ndarray.Reader, order []int64) iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		full, free := make(chan batch), make(chan batch, 2)
		defer func() { // the goroutine ends before the loop does, even after break
			cancel()
			for b := range full {
				free <- b
			}
		}()
		for range 2 {
			free <- batch{images: make([]float32, batchSize*side*side), labels: make([]int64, batchSize)}
		}
		go func() {
			defer close(full)
			for part := range slices.Chunk(order, batchSize) {
				b := <-free
				b.images, b.labels = b.images[:len(part)*side*side], b.labels[:len(part)]
				b.err = errors.Join(
					ndarray.ReadInto(ctx, images, b.images, ndarray.Pick(part...)), // images[part]
					ndarray.ReadInto(ctx, labels, b.labels, ndarray.Pick(part...)))
				if full <- b; b.err != nil {
					return
				}
			}
		}()
		for b := range full {
			if !yield(b, b.err) {
				return
			}
			free <- b
		}
	}
}

// create creates the images and their labels, in memory here. A chunk has 50 images, and a block has one.
func create(ctx context.Context) (images, labels *ndarray.Array, err error) {
	pixels, digits := make([]uint8, count*side*side), make([]int64, count)
	for i := range pixels {
		digits[i/side/side] = int64(i / side / side % 10)
		pixels[i] = uint8(i/side/side%10*20 + i%side)
	}
	images, err = ndarray.Create(ctx, "", []int64{count, side, side}, pixels, &ndarray.CreateOptions{
		Codec: codec.LZ4, Chunks: []int64{50, side, side}, Blocks: []int64{1, side, side},
	})
	if err != nil {
		return nil, nil, err
	}
	labels, err = ndarray.Create(ctx, "", []int64{count}, digits, nil)
	return images, labels, err
}

func run(ctx context.Context) error {
	images, labels, err := create(ctx)
	if err != nil {
		return err
	}
	order := make([]int64, count)
	for i := range order {
		order[i] = int64(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for epoch := range 2 {
		random.Shuffle(count, func(i, j int) { order[i], order[j] = order[j], order[i] })
		n, first := 0, [10]float32{}
		for b, err := range batches(ctx, images, labels, order) {
			if err != nil {
				return err
			}
			n++
			for i, label := range b.labels {
				first[label] = b.images[i*side*side]
			}
		}
		fmt.Println("epoch", epoch, "has", n, "batches, first pixels of the labels", first)
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, err := range batches(ctx, images, labels, order) {
		if err != nil {
			fmt.Println("stopped early:", errors.Is(err, context.Canceled))
			break
		}
		cancel()
	}
	return nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Print(err)
	}
}
