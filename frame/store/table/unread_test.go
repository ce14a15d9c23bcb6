package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame/store/internal/rows"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
)

// TestUnreadItems reads columns whose deleted rows and nulls have items that no Go value can hold. In
// half of the tables, so has one more row, which is an error.
func TestUnreadItems(t *testing.T) {
	const n = rows.Window + 1000 // two windows
	for name, x := range map[string]struct {
		deleted, null int // distance between deleted rows, and between nulls
	}{
		"deleted": {100, 0}, "null": {0, 100}, "both": {3, 7}, "no rows": {0, 0},
	} {
		live, notNull, items := tabletest.AllLive(n), tabletest.AllLive(n), []byte(nil)
		var want []any
		var strs []string
		for i := range n {
			live[i] = x.deleted == 0 || i%x.deleted != 2
			notNull[i] = x.null == 0 || i%x.null != 5
			char := uint32('a' + i%7)
			if !live[i] || !notNull[i] && i%3 == 0 {
				char = 0x4000000
			}
			items = binary.LittleEndian.AppendUint32(items, char)
			if !live[i] {
				continue
			}
			text := string(rune('a' + i%7))
			want, strs = append(want, text), append(strs, text)
			if !notNull[i] {
				want[len(want)-1] = nil
				if i%3 == 0 {
					strs[len(strs)-1] = ""
				}
			}
		}
		const bad = n - 2 // the stored row that cannot be read
		for _, faulty := range []bool{false, true} {
			if faulty {
				binary.LittleEndian.PutUint32(items[4*bad:], 0x110000)
			}
			b := build(t, `{"name": "s", "kind": "string", "max_length": 1, "nullable": true, "null_storage": "mask"}`, live)
			b.fixed("_cols/s", "<U1", items)
			array(b, "_cols/s.notnull", []int64{n}, notNull)
			checkUnread(t, b, name, want, strs, bad, faulty)
		}
	}
}

// checkUnread compares the values of a column with what the functions of the package return. If faulty is true, the
// stored row bad must be an error.
func checkUnread(t *testing.T, b *builder, name string, want []any, strs []string, bad int64, faulty bool) {
	t.Helper()
	ctx := t.Context()
	c, err := b.column("s")
	if err != nil {
		t.Fatal(err)
	}
	last := int64(len(want))
	row := c.rows.Rank(bad)
	message := fmt.Sprintf("row %d: ", row)
	check := func(what string, err error, same bool) {
		t.Helper()
		if faulty && (!errors.Is(err, ndarray.ErrValue) || !strings.Contains(err.Error(), message) || !strings.Contains(err.Error(), fmt.Sprintf("item %d: ", bad))) {
			t.Errorf("%s, %s: %v, want an error of %sitem %d", name, what, err, message, bad)
		}
		if !faulty && (err != nil || !same) {
			t.Errorf("%s, %s: %v, or other values", name, what, err)
		}
	}
	values, err := Read[any](ctx, c, 0, last)
	check("Read[any]", err, reflect.DeepEqual(values, want))
	texts, err := Read[string](ctx, c, 0, last)
	check("Read[string]", err, slices.Equal(texts, strs))
	pointers, err := ReadNullable[string](ctx, c, 0, last)
	same := len(pointers) == len(want)
	for i, p := range pointers {
		same = same && (p == nil) == (want[i] == nil) && (p == nil || *p == want[i])
	}
	check("ReadNullable", err, same)
	var numbers []int64
	for i, v := range want {
		if v == "c" {
			numbers = append(numbers, int64(i))
		}
	}
	found, err := Find(ctx, c, Equal, "c")
	check("Find", err, slices.Equal(found, numbers))
	i := 0
	err = nil
	for v, e := range All[string](ctx, c) {
		if err = e; err != nil {
			break
		}
		same = same && v == strs[i]
		i++
	}
	check("All", err, same && i == len(strs))
	if faulty && int64(i) > row {
		t.Errorf("%s: All returns %d rows before the fault in row %d", name, i, row)
	}
	type line struct {
		S *string `b2:"s"`
	}
	i, err = 0, nil
	for v, e := range Rows[line](ctx, c.t, 0, last) {
		if err = e; err != nil {
			break
		}
		same = same && (v.S == nil) == (want[i] == nil) && (v.S == nil || *v.S == want[i])
		i++
	}
	check("Rows", err, same && i == len(want))
}

// TestUnreadElements reads times and numbers of deleted rows and nulls that are out of the range of the Go type.
func TestUnreadElements(t *testing.T) {
	ctx := t.Context()
	var items []byte
	for _, seconds := range []int64{1, 2, math.MaxInt64, 3, math.MaxInt64, 4, 5, 6} {
		items = binary.LittleEndian.AppendUint64(items, uint64(seconds))
	}
	b := build(t, `{"name": "t", "kind": "ndarray", "item_shape": [2], "dtype_str": "<m8[s]", "nullable": true, "null_storage": "mask"}`,
		[]bool{true, false, true, true})
	b.Fixed("_cols/t", "<m8[s]", []int64{4, 2}, items)
	array(b, "_cols/t.notnull", []int64{4}, []bool{true, true, false, true})
	const s = time.Second
	c, err := b.column("t")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Read[time.Duration](ctx, c, 0, 3); err != nil || !slices.Equal(got, []time.Duration{s, 2 * s, 0, 4 * s, 5 * s, 6 * s}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Read[any](ctx, c, 1, 3); err != nil || !reflect.DeepEqual(got, []any{nil, []time.Duration{5 * s, 6 * s}}) {
		t.Errorf("%v, %v", got, err)
	}
	// An int of 32 bits cannot hold the null.
	for _, second := range []bool{true, false} {
		b := build(t, `{"name": "u", "kind": "uint32", "null_value": 4294967295}`, []bool{true, second, true, true})
		array(b, "_cols/u", []int64{4}, []uint32{1, 1, 3, math.MaxUint32})
		c, err := b.column("u")
		if err != nil {
			t.Fatal(err)
		}
		last := c.rows.Live - 1
		if got, err := Find(ctx, c, Greater, 1); err != nil || !slices.Equal(got, []int64{last - 1}) {
			t.Errorf("%v, %v", got, err)
		}
		if got, err := ReadNullable[int](ctx, c, 0, last+1); err != nil || *got[0] != 1 || *got[last-1] != 3 || got[last] != nil {
			t.Errorf("%v, %v", got, err)
		}
	}
}
