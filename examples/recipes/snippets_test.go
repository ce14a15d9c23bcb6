package recipes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// compute returns the items of a box of an array of 40 x 60 items: their positions.
func compute(box ndarray.Box) []float32 {
	var items []float32
	for i := range box.Shape[0] {
		for j := range box.Shape[1] {
			items = append(items, float32((box.Start[0]+i)*60+box.Start[1]+j))
		}
	}
	return items
}

// TestRegionsSnippet has the snippets of docs/RECIPES.md in which several processes write an array.
func TestRegionsSnippet(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "x.b2nd")
	for row := range int64(2) {
		for column := range int64(2) { // another process
			w, err := ndarray.CreateRegions(ctx, name, []int64{40, 60}, "<f4", &ndarray.CreateOptions{Chunks: []int64{20, 20}})
			must(t, err)
			defer w.Close()
			box, err := w.ChunkBox(row, column) // the items that this process makes
			must(t, err)
			err = ndarray.Write(ctx, w, compute(box), box.Selection()...)
			must(t, err)
		}
	}
	repaired := 0
	r, err := ndarray.OpenRegions(ctx, name, nil)
	must(t, err)
	defer r.Close()
	for box, err := range r.Missing(ctx) { // after a writer died
		must(t, err)
		err = ndarray.Write(ctx, r, compute(box), box.Selection()...)
		must(t, err)
		repaired++
	}
	err = r.Finish(ctx) // ErrUnfinished if chunks are missing
	must(t, err)
	a, err := ndarray.Open(ctx, name, nil)
	must(t, err)
	defer a.Close()
	got, err := ndarray.Read[float32](ctx, a)
	must(t, err)
	if want := compute(ndarray.Box{Start: []int64{0, 0}, Shape: []int64{40, 60}}); repaired != 2 || !slices.Equal(got, want) {
		t.Errorf("%d chunks were missing, want 2; or other items", repaired)
	}
}

// TestRechunkSnippet has the snippets that change the chunks of an array.
func TestRechunkSnippet(t *testing.T) {
	ctx := t.Context()
	t.Chdir(t.TempDir())
	x, err := ndarray.FromFunc(ctx, "planes.b2nd", []int64{48, 12, 16}, func(tile ndarray.Tile[float32]) error {
		for at, item := range tile.All() {
			*item = float32(at[0]*192 + at[1]*16 + at[2])
		}
		return nil
	}, &ndarray.CreateOptions{Chunks: []int64{1, -1, -1}})
	must(t, err)
	want, err := ndarray.Read[float32](ctx, x)
	must(t, err)

	chunks := []int64{-1, 8, 8}
	y, err := ndarray.Copy(ctx, "series.b2nd", x, &ndarray.CreateOptions{Chunks: chunks, MaxMemory: 1 << 30})
	must(t, err)
	defer y.Close()
	got, err := ndarray.Read[float32](ctx, y)
	if err != nil || !slices.Equal(got, want) || !slices.Equal(y.Chunks(), []int64{48, 8, 8}) {
		t.Errorf("Copy: chunks %v, %v, or other items", y.Chunks(), err)
	}

	const memory = 48 * 4 * 4 * 4 * 2
	to := []int64{48, 4, 4}
	send := func(item ndarray.WorkItem, to string) { must(t, work(ctx, item, to)) }
	wait := func() {}
	plan, err := ndarray.PlanRechunk(x.Shape(), 4, x.Chunks(), to, memory)
	must(t, err)
	for i, stage := range plan {
		name := fmt.Sprintf("stage%d.b2nd", i+1) // the last one is the result
		r, err := ndarray.CreateRegions(ctx, name, x.Shape(), "<f4", &ndarray.CreateOptions{Chunks: stage.Chunks})
		must(t, err)
		for item := range x.WorkItems(ndarray.ByWindow(x, stage.Tile, nil, nil)) {
			send(item, name) // to any machine
		}
		wait() // for all of them
		err = r.Finish(ctx)
		must(t, err)
		r.Close()
		x.Close()
		x, err = ndarray.Open(ctx, name, nil) // the source of the next stage, after which you can remove it
		must(t, err)
	}
	defer x.Close()
	got, err = ndarray.Read[float32](ctx, x)
	if err != nil || !slices.Equal(got, want) || !slices.Equal(x.Chunks(), to) || len(plan) < 2 {
		t.Errorf("%d stages: chunks %v, %v, or other items", len(plan), x.Chunks(), err)
	}
}

// work copies the tile of a message to another array.
func work(ctx context.Context, item ndarray.WorkItem, to string) error {
	x, err := ndarray.Open(ctx, item.Name, nil)
	if err != nil {
		return err
	}
	defer x.Close()
	r, err := ndarray.OpenRegions(ctx, to, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	items, err := ndarray.Read[float32](ctx, x, item.Selection()...)
	if err != nil {
		return err
	}
	return ndarray.Write(ctx, r, items, item.Selection()...)
}

// readPatch reads the square of size x size items at (y, x) of an image. What is outside the image becomes zeros.
// scratch has room for size x size items.
func readPatch(ctx context.Context, image ndarray.Reader, y, x, size int64, patch, scratch []float32) error {
	shape := image.Shape()
	top, left := max(y, 0), max(x, 0)
	rows, columns := min(y+size, shape[0])-top, min(x+size, shape[1])-left
	clear(patch)
	if rows <= 0 || columns <= 0 {
		return nil
	}
	inside := scratch[:rows*columns]
	err := ndarray.ReadInto(ctx, image, inside, ndarray.Span(top, top+rows), ndarray.Span(left, left+columns))
	if err != nil {
		return err
	}
	for i := range rows {
		copy(patch[(top-y+i)*size+left-x:], inside[i*columns:(i+1)*columns])
	}
	return nil
}

// TestPatchSnippet compares patches inside, at every border and outside of an image with its items.
func TestPatchSnippet(t *testing.T) {
	const rows, columns, size = 11, 9, 4
	items, err := ndarray.Arange[float32](t.Context(), "", 1, rows*columns+1, 1, nil)
	must(t, err)
	defer items.Close()
	image, err := ndarray.Reshape(t.Context(), "", items, []int64{rows, columns}, nil)
	must(t, err)
	defer image.Close()
	patch, scratch := make([]float32, size*size), make([]float32, size*size)
	for y := int64(-size - 1); y <= rows+1; y++ {
		for x := int64(-size - 1); x <= columns+1; x++ {
			must(t, readPatch(t.Context(), image, y, x, size, patch, scratch))
			for i, got := range patch {
				want, row, column := float32(0), y+int64(i)/size, x+int64(i)%size
				if row >= 0 && row < rows && column >= 0 && column < columns {
					want = float32(row*columns + column + 1)
				}
				if got != want {
					t.Fatalf("patch at (%d, %d), item %d: %v, want %v", y, x, i, got, want)
				}
			}
		}
	}
}

// TestRecipeSnippets checks that the Go snippets of three sections of docs/RECIPES.md are code of this file.
func TestRecipeSnippets(t *testing.T) {
	text, err := os.ReadFile(recipesFile)
	must(t, err)
	for title, least := range map[string]int{"Training loader": 1, "Several writers of one array": 2, "Change the chunks of a large array": 2} {
		_, section, _ := strings.Cut(string(text), "\n## "+title+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if n := checkSnippets(t, section, "snippets_test.go"); n < least {
			t.Errorf("%q shows %d snippets, want at least %d", title, n, least)
		}
	}
}
