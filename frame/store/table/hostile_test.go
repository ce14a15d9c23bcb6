package table

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/ndarray"
)

// TestMemoryOfSchema opens a table whose schema takes few stored bytes and much memory.
func TestMemoryOfSchema(t *testing.T) {
	ctx := context.Background()
	b := build(t, `{"name": "c", "kind": "int32"}`, []bool{true})
	for name, element := range map[string]string{"lists": "[],", "maps": "{},", "fields": `{"a":0},`} {
		list := strings.Repeat(element, 1<<20/len(element))
		b.Schema(`{"version": 3, "columns": [{"name": "c", "kind": "int32"}], "rest": [` + list[:len(list)-1] + `]}`)
		s, err := store.Open(ctx, b.Dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = Open(ctx, s, "/")
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v, want %v", name, err, ErrTooLarge)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 && !race.Enabled {
			t.Errorf("%s: %d bytes of memory", name, used)
		}
	}
}

// TestFirstTime reads timestamps that are the zero time.Time without being null.
func TestFirstTime(t *testing.T) {
	ctx := context.Background()
	for unit, perSecond := range map[string]int64{"s": 1, "ms": 1e3, "us": 1e6} {
		b := build(t, `{"name": "t", "kind": "timestamp", "unit": "`+unit+`", "null_storage": "mask"}`, []bool{true, true, true})
		array(b, "_cols/t", []int64{3}, []int64{time.Time{}.Unix() * perSecond, ndarray.NaT, -1})
		c, err := b.column("t")
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read[any](ctx, c, 0, 3)
		want := []any{time.Time{}.UTC(), nil, time.Unix(0, -int64(time.Second)/perSecond).UTC()}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", unit, got, err, want)
		}
	}
}

// TestManyColumns looks up columns of a table of one column, and of one of 50,000: each takes about the same time.
func TestManyColumns(t *testing.T) {
	var took [2]time.Duration
	for i, n := range []int{1, 50_000} {
		columns := make([]string, n)
		for k := range columns {
			columns[k] = fmt.Sprintf(`{"name": "c%06d", "kind": "int8"}`, k)
		}
		tab, err := build(t, strings.Join(columns, ","), []bool{true}).open()
		if err != nil {
			t.Fatal(err)
		}
		took[i] = math.MaxInt64
		for range 5 {
			start := time.Now()
			for range 1000 {
				if _, err := tab.Column(t.Context(), "c999999"); !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
			took[i] = min(took[i], time.Since(start))
		}
	}
	if took[1] > 20*took[0] {
		t.Errorf("1000 columns of 50,000: %v, of one: %v", took[1], took[0])
	}
}
