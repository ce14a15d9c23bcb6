package table

import (
	"context"
	"errors"
	"io/fs"
	"testing"
)

func TestRows(t *testing.T) {
	ctx := context.Background()
	type row struct {
		Number  int64    `b2:"c4_int64"`
		Color   *string  `b2:"c2_dictionary"`
		List    []int64  `b2:"c5_list"`
		Raw     []byte   `b2:"c3_vlbytes"`
		Any     any      `b2:"c0_uint16"`
		Omitted chan int `b2:"-"`
		hidden  int
	}
	n := 0
	for r, err := range Rows[row](ctx, mustTable(t, "wide1.b2z"), 1, 4) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 && (r.Number != 3151337826458959775 || r.Color == nil || *r.Color != "green" || len(r.List) != 2 || r.List[1] != 92 ||
			len(r.Raw) != 11 || r.Any != uint16(16702) || r.hidden != 0) {
			t.Errorf("%+v", r)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
	type nullable struct {
		Value *int16  `b2:"c0_int16"`
		Plain int16   `b2:"c0_int16"`
		Bytes *[]byte `b2:"c2_vlbytes"`
	}
	n = 0
	for r, err := range Rows[nullable](ctx, mustTable(t, "wide2.b2d"), 0, 400) {
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 && (r.Value == nil || *r.Value != -14666 || r.Plain != -14666 || r.Bytes == nil || len(*r.Bytes) != 2) ||
			n == 1 && (r.Value != nil || r.Plain != 0) || n == 2 && r.Bytes != nil {
			t.Errorf("row %d: %+v", n, r)
		}
		n++
	}
	if n != 400 {
		t.Errorf("%d rows, want 400", n)
	}
}

func TestRowsErrors(t *testing.T) {
	tab := mustTable(t, "wide1.b2z")
	fail := func(name string, want error, rows func(func(struct{}, error) bool)) {
		t.Helper()
		var got error
		for _, err := range rows {
			got = err
		}
		if !errors.Is(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	fail("another type", ErrType, errorsOf[struct {
		N string `b2:"c4_int64"`
	}](tab, 0, 1))
	fail("no such column", fs.ErrNotExist, errorsOf[struct{ Missing int }](tab, 0, 1))
	fail("not a struct", ErrType, errorsOf[int](tab, 0, 1))
	fail("too many rows", ErrBounds, errorsOf[struct{}](tab, 0, 6))
}

// errorsOf returns the errors of Rows.
func errorsOf[T any](tab *Table, start, stop int64) func(func(struct{}, error) bool) {
	return func(yield func(struct{}, error) bool) {
		for _, err := range Rows[T](context.Background(), tab, start, stop) {
			if !yield(struct{}{}, err) {
				return
			}
		}
	}
}
