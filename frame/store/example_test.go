package store_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/ndarray"
)

func Example() {
	ctx := context.Background()
	s, err := store.Open(ctx, "../../testdata/stores/tree.b2z", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	for e, err := range s.Walk(ctx, "/") {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Kind == store.KindArray {
			fmt.Println(e.Key, e.Shape, e.DType)
		}
	}
	a, err := s.Array(ctx, "/img/level2")
	if err != nil {
		fmt.Println(err)
		return
	}
	row, err := ndarray.Read[uint16](ctx, a, ndarray.At(0))
	fmt.Println(len(row), err)
	// Output:
	// /img/level0 [64 64] <u2
	// /img/level1 [32 32] <u2
	// /img/level2 [16 16] <u2
	// /meta/pos [10 3] <f8
	// 16 <nil>
}

func ExampleStore_Open() {
	s, err := store.Open(context.Background(), "../../testdata/stores/dict.b2z", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	err = fs.WalkDir(s, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			fmt.Println(name)
		}
		return err
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// g/small
	// g/y
	// x
}

func ExampleCreate() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := store.Create(ctx, filepath.Join(dir, "results.b2d"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	a, err := ndarray.Open(ctx, "../../testdata/stores/lazy_a.b2nd", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	if err := s.Put(ctx, "/run1/a", a.Frame()); err != nil {
		fmt.Println(err)
		return
	}
	if err := s.SetAttr(ctx, "/run1", "unit", "m"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Pack(ctx, filepath.Join(dir, "results.b2z"), nil))
	// Output:
	// <nil>
}
