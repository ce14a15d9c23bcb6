package ndarray

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/internal/race"
)

// TestReadAllocates checks that reading in a loop allocates nothing once the first rounds have set up what is kept.
func TestReadAllocates(t *testing.T) {
	if race.Enabled {
		t.Log("pools drop memory at random when races are looked for; counting allocations means nothing then")
		return
	}
	for _, concurrency := range []int{1, 3} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) { readAllocates(t, concurrency) })
	}
}

func readAllocates(t *testing.T, concurrency int) {
	ctx := context.Background()
	o := &Options{Chunks: []int32{20, 30}, Blocks: []int32{7, 10}}
	o.Concurrency = concurrency
	data := make([]float32, 50*70)
	for i := range data {
		data[i] = float32(i % 1000)
	}
	clear(data[30*70:])
	for _, name := range []string{"", filepath.Join(t.TempDir(), "a.b2nd")} {
		a, err := Create(ctx, name, []int64{50, 70}, data, o)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		full, err := Full("", []int64{50, 70}, "<f4", []byte{0, 0, 128, 63}, o)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float32, 50*70)
		var item float32
		row, column := Span(3, 40), Step(60, 2, -3)
		for what, f := range map[string]func() error{
			"whole":  func() error { return ReadInto(ctx, a, dst) },
			"slice":  func() error { return ReadInto(ctx, a, dst[:37*20], row, column) },
			"inline": func() error { return ReadInto(ctx, a, dst[:5*70], Span(3, 8)) },
			"point":  func() error { return ReadInto(ctx, a, dst[:1], At(3), At(-8)) },
			"zeros":  func() error { return ReadInto(ctx, a, dst[:5*70], Span(42, 47)) },
			"value":  func() error { return ReadInto(ctx, full, dst) },
			"item": func() (err error) {
				item, err = ReadAt[float32](ctx, a, 5, 6)
				return err
			},
		} {
			var failed error
			run := func() {
				if err := f(); err != nil {
					failed = err
				}
			}
			for range 10 {
				run()
			}
			if n := testing.AllocsPerRun(200, run); n != 0 || failed != nil {
				t.Errorf("file %q: %s: %v allocations in a read, error %v", name, what, n, failed)
			}
		}
		if item != 356 {
			t.Errorf("item %v", item)
		}
	}
}
