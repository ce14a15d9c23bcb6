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
