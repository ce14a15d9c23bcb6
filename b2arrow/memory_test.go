package b2arrow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/tabletest"
)

// TestMemoryOfObjects reads objects that are within MaxBytes one by one, but not as one record batch.
func TestMemoryOfObjects(t *testing.T) {
	const n, most = 12, 1 << 20
	b := build(t, `{"name": "s", "kind": "vlstring"}`, tabletest.AllLive(n))
	batches := make([][]any, n)
	for i := range batches {
		batches[i] = []any{strings.Repeat("a", most/4)}
	}
	b.Items("_cols/s", batches...)
	checkMemory(t, b, n, []memoryCase{{0, 0, nil}, {most, 0, frame.ErrTooLarge}, {most, 2, nil}})
}

// TestMemoryOfValues reads objects whose MessagePack is within MaxBytes, all together, while their values are not.
func TestMemoryOfValues(t *testing.T) {
	const n, most = 16, 1 << 20
	b := build(t, `{"name": "s", "kind": "list", "item": {"kind": "int64"}}`, tabletest.AllLive(n))
	list := make([]any, 12_000)
	for i := range list {
		list[i] = int64(i % 100)
	}
	batches := make([][]any, n)
	for i := range batches {
		batches[i] = []any{list}
	}
	b.Items("_cols/s", batches...)
	checkMemory(t, b, n, []memoryCase{
		{0, 0, nil}, {most, 0, frame.ErrTooLarge}, {most, 4, nil},
		{1 << 19, 1, frame.ErrTooLarge}, // a list takes 768 kB as []any
	})
}

// TestMemoryOfStreams reads Arrow streams that are within MaxBytes one by one, but not as one record batch.
func TestMemoryOfStreams(t *testing.T) {
	const n, most = 12, 1 << 20
	b := build(t, `{"name": "s", "kind": "list", "serializer": "arrow", "item": {"kind": "int64"}}`, tabletest.AllLive(n))
	list := "[[" + strings.Repeat("0, ", most/4/8) + "0]]"
	content, schema := stream(t, arrow.ListOf(arrow.PrimitiveTypes.Int64), list)
	b.Batches("_cols/s", arrowLayer(schema), slices.Repeat([]int{1}, n), slices.Repeat([][][]byte{{content}}, n))
	checkMemory(t, b, n, []memoryCase{{0, 0, nil}, {most, 0, frame.ErrTooLarge}, {most, 2, nil}})
}

// TestMemoryOfNulls reads a null in place of a structure with two large arrays, which together have more than 2^31
// elements.
func TestMemoryOfNulls(t *testing.T) {
	field := `{"name": "%s", "kind": "ndarray", "item_shape": [1073741824], "dtype_str": "|u1"}`
	b := build(t, `{"name": "s", "kind": "struct", "fields": [`+fmt.Sprintf(field, "a")+", "+fmt.Sprintf(field, "b")+`]}`, tabletest.AllLive(1))
	b.Items("_cols/s", []any{nil})
	checkMemory(t, b, 1, []memoryCase{{0, 0, frame.ErrTooLarge}})
}

// memoryCase is a limit of memory, the number of rows of a batch, and the error that is expected.
type memoryCase struct {
	limit, rows int64
	want        error
}

// checkMemory reads a table of n rows with limits of memory.
func checkMemory(t *testing.T, b *builder, n int64, cases []memoryCase) {
	t.Helper()
	ctx := context.Background()
	for _, x := range cases {
		s, err := store.Open(ctx, b.Dir, &store.OpenOptions{Frames: &frame.OpenOptions{MaxBytes: x.limit}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		tab, err := table.Open(ctx, s, "/")
		if err != nil {
			t.Fatal(err)
		}
		rows := int64(0)
		for r, e := range Batches(ctx, tab, &Options{Rows: x.rows}) {
			if err = e; err != nil {
				break
			}
			rows += r.NumRows()
			r.Release()
		}
		if !errors.Is(err, x.want) || x.want == nil && (err != nil || rows != n) {
			t.Errorf("MaxBytes %d, %d rows at a time: %d rows, %v, want %v", x.limit, x.rows, rows, err, x.want)
		}
	}
}
