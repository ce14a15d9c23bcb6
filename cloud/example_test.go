package cloud_test

import (
	"context"
	"fmt"
	"log"

	"gocloud.dev/blob/memblob"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// With a bucket in memory in place of one of package s3.
func Example() {
	ctx := context.Background()
	b := cloud.New(memblob.OpenBucket(nil), "mem://bucket", nil)
	defer b.Close()

	// Write an array while it is created.
	err := b.Create(ctx, "a.b2nd", func(st frame.Storage) error {
		a, err := ndarray.Arange[int32](ctx, "", 0, 1000, 1, &ndarray.CreateOptions{Storage: st})
		if err != nil {
			return err
		}
		return a.Close()
	}, nil)
	if err != nil {
		log.Fatal(err)
	}

	// Read a part of it.
	src, err := b.Open(ctx, "a.b2nd", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	a, err := ndarray.OpenSource(ctx, src, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	items, err := ndarray.Read[int32](ctx, a, ndarray.Span(100, 105))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Shape(), items)
	// Output: [1000] [100 101 102 103 104]
}

// An array in a bucket grows by one step: it is written again.
func ExampleBucket_Create() {
	ctx := context.Background()
	b := cloud.New(memblob.OpenBucket(nil), "mem://bucket", nil)
	defer b.Close()
	first, err := ndarray.Create(ctx, "", []int64{2, 3}, []float32{1, 2, 3, 4, 5, 6}, nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := b.Save(ctx, "a.b2nd", first, nil); err != nil {
		log.Fatal(err)
	}
	src, err := b.Open(ctx, "a.b2nd", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer src.Close()
	a, err := ndarray.OpenSource(ctx, src, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer a.Close()
	day, err := ndarray.Create(ctx, "", []int64{1, 3}, []float32{7, 8, 9}, nil)
	if err != nil {
		log.Fatal(err)
	}
	err = b.Create(ctx, "a.b2nd", func(st frame.Storage) error {
		n, err := ndarray.Concat(ctx, "", 0, []ndarray.Reader{a, day}, &ndarray.CreateOptions{
			Storage: st, Attrs: map[string]any{"units": "K"}, // attributes are not copied
		})
		if err != nil {
			return err
		}
		return n.Close()
	}, &cloud.WriteOptions{Overwrite: true})
	if err != nil {
		log.Fatal(err)
	}

	again, err := b.Open(ctx, "a.b2nd", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer again.Close()
	grown, err := ndarray.OpenSource(ctx, again, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer grown.Close()
	items, err := ndarray.Read[float32](ctx, grown)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(grown.Shape(), items, grown.Attrs())
	// Output: [3 3] [1 2 3 4 5 6 7 8 9] [units]
}
