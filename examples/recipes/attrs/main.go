// Command attrs keeps attributes with an array: Go values, and a small array. python-blosc2 shows them as vlmeta.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"

	"github.com/goblosc/blosc2/ndarray"
)

// create creates an array with attributes and changes some of them.
func create(ctx context.Context, name string) error {
	a, err := ndarray.Full(ctx, name, []int64{4, 3}, 1.5, &ndarray.CreateOptions{
		Attrs: map[string]any{"title": "Sea level", "author": "Ada", "version": 1},
	})
	if err != nil {
		return err
	}
	defer a.Close()

	latitudes, err := ndarray.Create(ctx, "", []int64{4}, []float32{60, 20, -20, -60}, nil)
	if err != nil {
		return err
	}
	b, err := a.Begin(ctx) // one commit for all changes
	if err != nil {
		return err
	}
	defer b.Rollback() // does nothing after Commit
	if err := b.SetAttr(ctx, "version", 2); err != nil {
		return err
	}
	if err := b.SetAttr(ctx, "axes", []string{"latitude", "longitude"}); err != nil {
		return err
	}
	if err := b.SetAttr(ctx, "latitude", latitudes); err != nil {
		return err
	}
	if err := b.DeleteAttr(ctx, "author"); err != nil {
		return err
	}
	return b.Commit()
}

func run(ctx context.Context, name string) error {
	if err := create(ctx, name); err != nil {
		return err
	}
	a, err := ndarray.Open(ctx, name, nil)
	if err != nil {
		return err
	}
	defer a.Close()
	fmt.Println(a.Attrs())

	var (
		title     string
		version   int
		axes      []string
		latitudes *ndarray.Array
	)
	for name, v := range map[string]any{"title": &title, "version": &version, "axes": &axes, "latitude": &latitudes} {
		if err := a.Attr(name, v); err != nil {
			return err
		}
	}
	items, err := ndarray.Read[float32](ctx, latitudes)
	if err != nil {
		return err
	}
	fmt.Println(title, version, axes, items)

	err = a.Attr("author", &title)
	fmt.Println("no author:", errors.Is(err, fs.ErrNotExist))
	return nil
}

func main() {
	dir, err := os.MkdirTemp("", "attrs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := run(context.Background(), filepath.Join(dir, "sealevel.b2nd")); err != nil {
		log.Print(err)
	}
}
