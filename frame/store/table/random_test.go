package table

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/goblosc/blosc2/meta"
)

// randomTable is a table with columns of several kinds, and a model of its rows.
type randomTable struct {
	b      *builder
	rng    *rand.Rand
	live   []bool
	values map[string][]any // of all stored rows; nil is null
}

const randomColumns = `{"name": "i", "kind": "int32", "null_value": -7}, {"name": "f", "kind": "float64", "null_value": NaN},
	{"name": "m", "kind": "int16", "nullable": true, "null_storage": "mask"}, {"name": "s", "kind": "string", "null_value": ""},
	{"name": "u", "kind": "utf8", "null_value": "-"}, {"name": "d", "kind": "dictionary", "nullable": true},
	{"name": "t", "kind": "timestamp", "unit": "ms", "nullable": true}, {"name": "v", "kind": "vlstring", "nullable": true}`

// newRandomTable makes a table of n stored rows. Its arrays may be longer. Items are big-endian in half of the tables.
func newRandomTable(t *testing.T, rng *rand.Rand, n int) *randomTable {
	r := &randomTable{rng: rng, live: make([]bool, n), values: map[string][]any{}}
	few := rng.IntN(3) // rows are deleted rarely, often, or not at all
	for i := range r.live {
		r.live[i] = few == 0 || rng.IntN(few*few*5) > 1
	}
	more := rng.IntN(3)
	r.b = build(t, randomColumns, append(r.live, make([]bool, more)...))
	order := []binary.ByteOrder{binary.LittleEndian, binary.BigEndian}[rng.IntN(2)]
	mark := map[binary.ByteOrder]string{binary.LittleEndian: "<", binary.BigEndian: ">"}[order]
	items := map[string][]byte{}
	put := func(name string, size int, u uint64, v any) {
		item := make([]byte, 8)
		order.PutUint64(item, u)
		if order == binary.ByteOrder(binary.LittleEndian) {
			item = item[:size]
		} else {
			item = item[8-size:]
		}
		items[name] = append(items[name], item...)
		r.values[name] = append(r.values[name], v)
	}
	ends, pool, mask, dict := []int64{0}, []byte{}, []bool{}, []any{"", "red", "é"}
	var list []any
	for range n + more {
		null := rng.IntN(4) == 0
		if i := int32(rng.IntN(9) - 4); null {
			put("i", 4, uint64(math.MaxUint32-6), nil)
		} else {
			put("i", 4, uint64(uint32(i)), i)
		}
		if f := []float64{math.Copysign(0, -1), 0, 1.5, math.Inf(1), math.Inf(-1), -2}[rng.IntN(6)]; null {
			put("f", 8, math.Float64bits(math.NaN()), nil)
		} else {
			put("f", 8, math.Float64bits(f), f)
		}
		m := int16(rng.IntN(5))
		if put("m", 2, uint64(uint16(m)), any(m)); null {
			r.values["m"][len(r.values["m"])-1] = nil
		}
		mask = append(mask, !null)
		s := []string{"a", "é", "zz"}[rng.IntN(3)]
		for k := range 2 {
			c := rune(0)
			if text := []rune(s); k < len(text) && !null {
				c = text[k]
			}
			u := make([]byte, 4)
			order.PutUint32(u, uint32(c))
			items["s"] = append(items["s"], u...)
		}
		text := []string{"", "x", "long text"}[rng.IntN(3)]
		code := rng.IntN(len(dict))
		at := rng.Int64N(1 << 40)
		if null {
			r.values["s"], r.values["u"], list = append(r.values["s"], nil), append(r.values["u"], nil), append(list, nil)
			put("d", 4, math.MaxUint32, nil)
			put("t", 8, 1<<63, nil)
			text = "-"
		} else {
			r.values["s"], r.values["u"], list = append(r.values["s"], s), append(r.values["u"], text), append(list, text)
			put("d", 4, uint64(code), dict[code])
			put("t", 8, uint64(at), time.UnixMilli(at).UTC())
		}
		pool = append(pool, text...)
		ends = append(ends, int64(len(pool)))
	}
	r.values["v"] = list
	for name, dtype := range map[string]string{"i": "i4", "f": "f8", "m": "i2", "s": "U2", "d": "i4", "t": "i8"} {
		r.b.fixed("_cols/"+name, mark+dtype, items[name])
	}
	array(r.b, "_cols/m.notnull", []int64{int64(len(mask))}, mask)
	array(r.b, "_cols/u", []int64{int64(len(ends))}, ends)
	array(r.b, "_cols/u.utf8", []int64{int64(len(pool))}, pool)
	r.b.Items("_cols/d_dict", dict)
	var batches [][]any
	for part := range slices.Chunk(list, 1+rng.IntN(40)) {
		batches = append(batches, part)
	}
	r.b.Items("_cols/v", batches...)
	if n+more > 0 {
		r.index(t, n+more, mark)
	}
	return r
}

// index adds summaries of the numbers, with segments of a random length.
func (r *randomTable) index(t *testing.T, n int, mark string) {
	t.Helper()
	type ints struct {
		Min   int32 `b2:"min"`
		Max   int32 `b2:"max"`
		Flags uint8 `b2:"flags"`
	}
	type floats struct {
		Min   float64 `b2:"min"`
		Max   float64 `b2:"max"`
		Flags uint8   `b2:"flags"`
	}
	length := 1 + r.rng.IntN(n)
	var is []ints
	var fs []floats
	for from := 0; from < n; from += length {
		x, y := ints{math.MaxInt32, math.MinInt32, 0}, floats{math.Inf(1), math.Inf(-1), 0}
		some := false
		for k := from; k < min(from+length, n); k++ {
			if i, ok := r.values["i"][k].(int32); ok {
				x.Min, x.Max, some = min(x.Min, i), max(x.Max, i), true
			}
			if f, ok := r.values["f"][k].(float64); ok {
				y.Min, y.Max = min(y.Min, f), max(y.Max, f)
			} else {
				y.Flags |= hasNaN
			}
		}
		if !some {
			x, y = ints{0, 0, allNull}, floats{0, 0, allNaN}
		}
		is, fs = append(is, x), append(fs, y)
	}
	array(r.b, "_indexes/i/summary.block", []int64{int64(len(is))}, is)
	array(r.b, "_indexes/f/summary.block", []int64{int64(len(fs))}, fs)
	entry := func(name, dtype string, count int) map[string]any {
		return map[string]any{"stale": false, "built_value_epoch": 1, "dtype": mark + dtype, "shape": []int{n},
			"target": map[string]any{"source": "field", "field": nil},
			"levels": map[string]any{"block": map[string]any{"segment_len": length, "nsegments": count, "path": "_indexes/" + name + "/summary.block.b2nd"}}}
	}
	r.b.Frame("_meta.b2f", nil, []meta.Layer{r.b.Layer("kind", "ctable"), r.b.Layer("value_epoch", 1),
		r.b.Layer("index_catalog", map[string]any{"i": entry("i", "i4", len(is)), "f": entry("f", "f8", len(fs))}),
		r.b.Layer("schema", `{"version": 3, "columns": [`+randomColumns+`]}`)}, nil)
}

// TestRandomTables compares the values, nulls and filters of random tables with a model: few rows, deleted rows, arrays
// longer than the table, nulls of all kinds, both byte orders, and segments of all lengths.
func TestRandomTables(t *testing.T) {
	ctx := t.Context()
	for seed := range 6 {
		rng := rand.New(rand.NewPCG(uint64(seed), 21))
		rows := rng.IntN(4)
		if seed%2 == 0 {
			rows = rng.IntN(150)
		}
		r := newRandomTable(t, rng, rows)
		tab, err := r.b.open()
		if err != nil {
			t.Fatal(err)
		}
		for name, stored := range r.values {
			var want []any
			for i, live := range r.live {
				if live {
					want = append(want, stored[i])
				}
			}
			c, err := tab.Column(ctx, name)
			if err != nil || tab.Rows() != int64(len(want)) {
				t.Fatalf("seed %d: %d rows, want %d, %v", seed, tab.Rows(), len(want), err)
			}
			for range 4 {
				from := rng.IntN(len(want) + 1)
				to := from + rng.IntN(len(want)-from+1)
				got, err := Read[any](ctx, c, int64(from), int64(to))
				if err != nil || len(got) != to-from || len(got) > 0 && !reflect.DeepEqual(got, want[from:to]) {
					t.Errorf("seed %d, column %s, rows %d to %d: %v, %v, want %v", seed, name, from, to, got, err, want[from:to])
				}
				nulls, err := c.Nulls(ctx, int64(from), int64(to))
				for k, v := range want[from:to] {
					if err != nil || name != "t" && nulls[k] != (v == nil) {
						t.Errorf("seed %d, column %s: nulls %v, %v, want %v", seed, name, nulls, err, want[from:to])
						break
					}
				}
			}
			if n, err := drain(All[any](ctx, c)); err != nil || n != len(want) {
				t.Errorf("seed %d, column %s: %d values, %v", seed, name, n, err)
			}
			switch name {
			case "i":
				checkFind[int32](t, c, -7, -5, -4, 0, 4, 5)
				checkFind[int64](t, c, -7, 0, 5)
			case "f":
				checkFind(t, c, math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), 1.5, -3)
			case "m":
				checkFind[int16](t, c, 0, 4, 5)
			case "s", "u", "d", "v":
				checkFind(t, c, "", "-", "x", "zz", "é")
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}
