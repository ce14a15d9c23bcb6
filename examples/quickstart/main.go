// Command quickstart demonstrates the library. It creates a small climate data set, reads slices of it, edits it, and
// opens an array that python-blosc2 wrote. Run it from the root of the repository:
//
//	go run ./examples/quickstart
//
// It writes to a temporary directory, which it removes.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

func main() {
	dir, err := os.MkdirTemp("", "quickstart")
	if err != nil {
		log.Fatal(err)
	}
	err = run(context.Background(), os.Stdout, dir, "testdata")
	os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
}

// run writes to the directory dir and reads the test data of the repository from the directory testdata.
func run(ctx context.Context, out io.Writer, dir, testdata string) error {
	a, err := create(ctx, out, filepath.Join(dir, "temperature.b2nd"))
	if err != nil {
		return err
	}
	defer a.Close()
	if err := slice(ctx, out, a); err != nil {
		return err
	}
	if err := edit(ctx, out, a); err != nil {
		return err
	}
	return foreign(ctx, out, filepath.Join(testdata, "python-blosc2", "edited_cframe.b2nd"))
}

// create creates the array. A chunk holds about a month of the whole globe.
func create(ctx context.Context, out io.Writer, name string) (*ndarray.Array, error) {
	var data []float32
	for day := range days {
		data = append(data, globe(day)...)
	}
	about, err := meta.Marshal(map[string]any{"units": "°C", "axes": []string{"day", "latitude", "longitude"}})
	if err != nil {
		return nil, err
	}
	o := &ndarray.CreateOptions{
		Filters: []chunk.Filter{chunk.BitShuffle}, // the codec is the default, Zstd
		Chunks:  []int64{32, lats, lons},
		Blocks:  []int64{8, lats, lons},
		Meta:    []meta.Layer{{Name: "about", Content: about}},
	}
	a, err := ndarray.Create(ctx, name, []int64{days, lats, lons}, data, o)
	if err != nil {
		return nil, err
	}
	info := a.Frame().Info()
	fmt.Fprintf(out, "A year of temperatures, created and compressed:\n  %s: shape %v, dtype %v, chunks %v, blocks %v\n", filepath.Base(name), a.Shape(), a.DType(), a.Chunks(), a.Blocks())
	fmt.Fprintf(out, "  %d bytes in %d chunks take less than %d%% of their size\n", info.NBytes, info.NumChunks, 1+100*info.CBytes/info.NBytes)
	return a, nil
}

// slice reads parts of the array. It decodes only the blocks that hold selected items.
func slice(ctx context.Context, out io.Writer, a *ndarray.Array) error {
	plane, err := ndarray.Read[float32](ctx, a, ndarray.At(200)) // NumPy: a[200]
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nOne day, a[200], is a plane of %d items. At longitude 0:\n ", len(plane))
	for lat := 0; lat < lats; lat += 6 {
		fmt.Fprintf(out, " %+d°: %.1f", 90-5*lat, plane[lat*lons])
	}
	sel, err := ndarray.ParseSelection("::60, 9, 2") // the same notation as in Python
	if err != nil {
		return err
	}
	series, err := ndarray.Read[float32](ctx, a, sel...)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nEvery 60th day at 45° north, 10° east, a[::60, 9, 2]:\n  %.1f\n", series)
	return nil
}

// edit changes the file in place. Each call is one commit, which takes effect completely or not at all.
func edit(ctx context.Context, out io.Writer, a *ndarray.Array) error {
	sel := []ndarray.Index{ndarray.Span(100, 103), ndarray.At(9), ndarray.At(2)}
	if err := ndarray.Write(ctx, a, []float32{11.5, 12, 12.5}, sel...); err != nil {
		return err
	}
	got, err := ndarray.Read[float32](ctx, a, ndarray.Span(99, 104), ndarray.At(9), ndarray.At(2))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nA correction of three days, read back with its neighbors, a[99:104, 9, 2]:\n  %.1f\n", got)

	if err := ndarray.Append(ctx, a, 0, globe(days)); err != nil {
		return err
	}
	last, err := ndarray.Item[float32](ctx, a, -1, 9, 2)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "One more day is appended: shape %v, a[-1, 9, 2] = %.1f\n", a.Shape(), last)
	return nil
}

// foreign opens an array that another program wrote.
func foreign(ctx context.Context, out io.Writer, name string) error {
	a, err := ndarray.Open(ctx, name, nil)
	if err != nil {
		return err
	}
	defer a.Close()
	items, err := ndarray.Read[int32](ctx, a, ndarray.Span(2, 4), ndarray.Step(0, 12, 4))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nAn array that python-blosc2 wrote and edited, %s: shape %v, dtype %v\n", filepath.Base(name), a.Shape(), a.DType())
	fmt.Fprintf(out, "  a[2:4, 0:12:4] = %v\n", items)
	b, err := a.Frame().VLMeta("edited")
	if err != nil {
		return err
	}
	var edited bool
	if err := meta.Unmarshal(b, &edited); err != nil {
		return err
	}
	fmt.Fprintf(out, "  its metalayer \"edited\" is %v\n", edited)
	return nil
}
