package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

// copyRechunked copies an array of planes to chunks that hold time series, and back, with little memory. For comparison
// it copies with the defaults of Copy, and makes a part of the new chunks with one read for each.
func copyRechunked(ctx context.Context, w io.Writer, dir string, size, memory, part int64) error {
	path := func(name string) string { return filepath.Join(dir, name+".b2nd") }
	o := &ndarray.CreateOptions{Codec: codec.LZ4, Level: 5, Chunks: []int64{8, side, side}, NoSync: true}
	planes, err := newField().create(ctx, path("planes"), size, o)
	if err != nil {
		return err
	}
	defer planes.Close()
	series := []int64{planes.Shape()[0], 16, 16}
	fmt.Fprintf(w, "\n%.1f GB stored in %.1f GB, chunks %v and %v:\n\n", float64(planes.NBytes())/1e9, float64(planes.CBytes())/1e9, planes.Chunks(), series)
	fmt.Fprintln(w, "| copy | time | peak memory | bytes read, written | forecast |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- |")
	row := func(name string, u usage, forecast string) {
		fmt.Fprintf(w, "| %s | %s | %d MiB | %.1f GB, %.1f GB | %s |\n", name, seconds(u.time), u.peak>>20, float64(u.read)/1e9, float64(u.write)/1e9, forecast)
	}
	// to copies an array to other chunks.
	to := func(title, name string, from *ndarray.Array, chunks []int64, memory int64) (*ndarray.Array, error) {
		forecast, err := plan(from, chunks, memory)
		if err != nil {
			return nil, err
		}
		var a *ndarray.Array
		u, err := measure(func() (err error) {
			a, err = ndarray.Copy(ctx, path(name), from, &ndarray.CreateOptions{Chunks: chunks, MaxMemory: memory, NoSync: true})
			return err
		})
		if err == nil {
			row(title, u, forecast)
		}
		return a, err
	}
	bound := fmt.Sprintf("with %d MiB", memory>>20)
	a, err := to("to series, "+bound, "series", planes, series, memory)
	if err != nil {
		return err
	}
	defer a.Close()
	back, err := to("back, "+bound, "back", a, planes.Chunks(), memory)
	if err != nil {
		return err
	}
	err = same(ctx, planes, back)
	back.Close()
	if err != nil {
		return err
	}
	if err := os.Remove(path("back")); err != nil {
		return err
	}
	plain, err := to("to series, defaults of Copy", "plain", planes, series, 0)
	if err != nil {
		return err
	}
	defer plain.Close()
	u, err := measure(func() error { return eachChunk(ctx, path("naive"), planes, series, part) })
	if err == nil {
		row(fmt.Sprintf("to series, each chunk alone, 1/%d of them", part), u, "-")
	}
	return err
}

// plan returns the stages and the bytes that PlanRechunk expects, as text. PlanRechunk counts decoded bytes. plan
// divides them by the compression ratio of the array, so that they compare with stored bytes.
func plan(from *ndarray.Array, chunks []int64, memory int64) (string, error) {
	if memory == 0 {
		return "-", nil
	}
	stages, err := ndarray.PlanRechunk(from.Shape(), 4, from.Chunks(), chunks, memory)
	if err != nil {
		return "", err
	}
	var read, written int64
	for _, s := range stages {
		read += s.BytesRead
		written += s.BytesWritten
	}
	stored := float64(from.CBytes()) / float64(from.NBytes()) / 1e9
	return fmt.Sprintf("stages: %d; %.1f GB, %.1f GB", len(stages), float64(read)*stored, float64(written)*stored), nil
}

// eachChunk makes a part of the new array, reading each of its chunks alone.
func eachChunk(ctx context.Context, name string, from *ndarray.Array, chunks []int64, part int64) error {
	shape := slices.Clone(from.Shape())
	shape[1] = max(shape[1]/part/chunks[1], 1) * chunks[1]
	o := &ndarray.CreateOptions{Codec: codec.LZ4, Level: 5, Chunks: chunks, NoSync: true}
	a, err := ndarray.Zeros(ctx, name, shape, "<f4", o)
	if err != nil {
		return err
	}
	defer a.Close()
	var buf []float32
	for box := range ndarray.ByChunk(a).All() {
		buf = slices.Grow(buf[:0], int(box.Size()))[:box.Size()]
		if err := ndarray.ReadInto(ctx, from, buf, box.Selection()...); err != nil {
			return err
		}
		if err := ndarray.Write(ctx, a, buf, box.Selection()...); err != nil {
			return err
		}
	}
	return nil
}

// same returns an error if two arrays differ.
func same(ctx context.Context, a, b *ndarray.Array) error {
	var buf []float32
	for t, err := range ndarray.Tiles[float32](ctx, a, ndarray.ByChunk(a)) {
		if err != nil {
			return err
		}
		buf = slices.Grow(buf[:0], len(t.Items))[:len(t.Items)]
		if err := ndarray.ReadInto(ctx, b, buf, t.Selection()...); err != nil {
			return err
		}
		if !slices.Equal(t.Items, buf) {
			return fmt.Errorf("the copies differ at %v", t.Start)
		}
	}
	return nil
}
