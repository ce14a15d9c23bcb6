package objects_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/objects"
)

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()

	o, err := objects.Create(ctx, filepath.Join(dir, "notes.b2b"), objects.Batches, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer o.Close()
	if err := o.Append(ctx, "first", 2, []float64{0.5, 1.5}); err != nil {
		fmt.Println(err)
		return
	}
	if err := o.Append(ctx, map[string]any{"last": true}); err != nil {
		fmt.Println(err)
		return
	}
	for v, err := range o.Items(ctx, 0, o.Len()) {
		fmt.Println(v, err)
	}
	fmt.Println(o.Batches(), "batches")
	// Output:
	// first <nil>
	// 2 <nil>
	// [0.5 1.5] <nil>
	// map[last:true] <nil>
	// 2 batches
}

func ExampleCreate_lists() {
	ctx := context.Background()
	o, err := objects.Create(ctx, "", objects.Lists, &objects.CreateOptions{Element: "int64", Nullable: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer o.Close()
	if err := o.Append(ctx, []int{1, 2}, nil, []int{}); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.Append(ctx, []string{"text"}))
	fmt.Println(o.Len())
	// Output:
	// objects: appending: item 0: element 0 is string, want int64: wrong type
	// 3
}

func ExampleArray_Refresh() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, name := context.Background(), filepath.Join(dir, "log.b2b")

	w, err := objects.Create(ctx, name, objects.Batches, nil) // usually in another process
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()
	f, err := frame.Open(ctx, name, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	o, err := objects.New(ctx, f)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Append(ctx, "started", "ready"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(o.Len())
	fmt.Println(o.Refresh(ctx))
	fmt.Println(o.Len())
	// Output:
	// 0
	// true <nil>
	// 2
}
