package b2arrow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/internal/mutation"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
)

// stream returns an Arrow stream of one column with the values of JSON, and its schema, as python-blosc2 writes them.
func stream(t testing.TB, typ arrow.DataType, values string, options ...ipc.Option) (content, schema []byte) {
	t.Helper()
	return streamOf(t, fromJSON(t, typ, values), options...)
}

// fromJSON returns an array with the values of JSON.
func fromJSON(t testing.TB, typ arrow.DataType, values string) arrow.Array {
	t.Helper()
	a, _, err := array.FromJSON(memory.DefaultAllocator, typ, strings.NewReader(values))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// streamOf is stream for the values of an array.
func streamOf(t testing.TB, a arrow.Array, options ...ipc.Option) (content, schema []byte) {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{{Name: "values", Type: a.DataType(), Nullable: true}}, nil)
	batch := array.NewRecordBatch(s, []arrow.Array{a}, int64(a.Len()))
	var out, head bytes.Buffer
	w := ipc.NewWriter(&out, append(options, ipc.WithSchema(s))...)
	if err := errors.Join(w.Write(batch), w.Close()); err != nil {
		t.Fatal(err)
	}
	if err := ipc.NewWriter(&head, ipc.WithSchema(s)).Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), head.Bytes()[:head.Len()-8] // without the mark of the end
}

// arrowLayer is the metalayer of a batch array of Arrow streams.
func arrowLayer(schema []byte) map[string]any {
	return map[string]any{"version": 1, "serializer": "arrow", "items_per_block": 2, "arrow_schema": schema}
}

// openItems opens a batch array.
func openItems(t testing.TB, path string) *objects.Array {
	t.Helper()
	f, err := frame.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := objects.New(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

// streamCases are types with the JSON of two values, and the same as Go values.
var streamCases = []struct {
	typ    arrow.DataType
	values string
	want   []any
}{
	{arrow.PrimitiveTypes.Int64, `[1, null]`, []any{int64(1), nil}},
	{arrow.FixedWidthTypes.Boolean, `[true, false]`, []any{true, false}},
	{arrow.BinaryTypes.String, `["é", ""]`, []any{"é", ""}},
	{arrow.BinaryTypes.LargeString, `[null, "x"]`, []any{nil, "x"}},
	{arrow.ListOf(arrow.PrimitiveTypes.Float64), `[[1.5, null], []]`, []any{[]any{1.5, nil}, []any{}}},
	{arrow.ListOf(arrow.ListOf(arrow.BinaryTypes.String)), `[[["a"], null], null]`, []any{[]any{[]any{"a"}, nil}, nil}},
	{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), `[[1, 2], [3, 4]]`, []any{[]any{int8(1), int8(2)}, []any{int8(3), int8(4)}}},
	{arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}), `[{"a": 1}, {"a": null}]`,
		[]any{map[string]any{"a": int8(1)}, map[string]any{"a": nil}}},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["b", "a"]`, []any{"b", "a"}},
}

// TestItems reads batch arrays of Arrow streams, with the schema in each stream and only once.
func TestItems(t *testing.T) {
	ctx := context.Background()
	for _, c := range streamCases {
		for name, options := range map[string][]ipc.Option{"plain": nil, "bare": nil} {
			t.Run(fmt.Sprint(c.typ, "/", name), func(t *testing.T) {
				content, schema := stream(t, c.typ, c.values, options...)
				if name == "bare" && c.typ.ID() != arrow.DICTIONARY {
					content = content[len(schema):]
				}
				b := &builder{&tabletest.Builder{T: t, Dir: t.TempDir()}}
				b.Batches("items", arrowLayer(schema), []int{2, 4}, [][][]byte{{content}, {content, content}})
				n := 0
				for a, err := range Items(ctx, openItems(t, b.File("items.b2b")), checked(t)) {
					if err != nil {
						t.Fatal(err)
					}
					if got := valuesAt(t, a, 0, a.Len()); !reflect.DeepEqual(got, c.want) || !arrow.TypeEqual(a.DataType(), c.typ) {
						t.Errorf("%v of type %v, want %v", got, a.DataType(), c.want)
					}
					n++
				}
				if n != 3 {
					t.Errorf("%d arrays, want 3", n)
				}
				for range Items(ctx, openItems(t, b.File("items.b2b")), checked(t)) {
					break
				}
			})
		}
	}
	o := openItems(t, "../testdata/stores/batches.b2b")
	for a, err := range Items(ctx, o, nil) {
		if a != nil || !errors.Is(err, ndarray.ErrFormat) {
			t.Errorf("MessagePack: %v", err)
		}
	}
}

// A list column may be stored in Arrow streams.
func TestStreamColumn(t *testing.T) {
	live := []bool{true, false, true, true, true, false, true, true}
	b := build(t, `{"name": "c", "kind": "list", "serializer": "arrow", "item": {"kind": "int32"}}`, live)
	typ := arrow.LargeListOf(arrow.PrimitiveTypes.Int32)
	var contents [][]byte
	var schema, content []byte
	for i := range 4 {
		content, schema = stream(t, arrow.ListOf(arrow.PrimitiveTypes.Int32), fmt.Sprintf(`[[%d, null], %s]`, 2*i, []string{"null", "[]", "[7]", "[8]"}[i]))
		contents = append(contents, content)
	}
	b.Batches("_cols/c", arrowLayer(schema), []int{6, 2}, [][][]byte{contents[:3], contents[3:]})
	pair := func(i int32) any { return []any{i, nil} }
	checkColumn(t, b.open(), "c", "list<item: int32, nullable>", pair(0), pair(2), []any{}, pair(4), pair(6), []any{int32(8)})

	ctx := context.Background()
	other, _ := stream(t, typ, `[[1], [2]]`)
	for name, blocks := range map[string][][]byte{
		"other type": {contents[0], other, contents[1]}, "too few": {contents[0], contents[1]},
		"too many": {contents[0], contents[1], contents[2], contents[3]}, "no stream": {contents[0], {1, 2, 3}, contents[1]},
	} {
		b.Batches("_cols/c", arrowLayer(schema), []int{6, 2}, [][][]byte{blocks, contents[3:]})
		c, err := b.open().Column(ctx, "c")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Column(ctx, c, 0, 5, checked(t)); !errors.Is(err, ndarray.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}

	// A read ends with the block of its last item.
	b.Batches("_cols/c", arrowLayer(schema), []int{6, 2}, [][][]byte{{contents[0], contents[1], {1, 2, 3}}, contents[3:]})
	c, err := b.open().Column(ctx, "c")
	if err != nil {
		t.Fatal(err)
	}
	a, err := Column(ctx, c, 0, 2, checked(t))
	if err != nil {
		t.Fatal(err)
	}
	a.Release()
}

// countingAllocator counts the allocations.
type countingAllocator struct {
	memory.Allocator
	n int
}

func (c *countingAllocator) Allocate(size int) []byte {
	c.n++
	return c.Allocator.Allocate(size)
}

// TestStreamBatches reads a batch of many blocks in record batches that end in blocks or with them, and a single row.
// No block is read again for each record batch; joining blocks allocates, too.
func TestStreamBatches(t *testing.T) {
	const blocks, perBlock = 30, 6
	var contents [][]byte
	var schema []byte
	for k := range blocks {
		content, head := stream(t, arrow.ListOf(arrow.PrimitiveTypes.Int32), strings.ReplaceAll(`[[k, 0], [k, 1], [k, 2], [k, 3], [k, 4], [k, 5]]`, "k", fmt.Sprint(k)))
		contents, schema = append(contents, content), head
	}
	for _, known := range []int{perBlock, 0} {
		b := build(t, `{"name": "c", "kind": "list", "serializer": "arrow", "item": {"kind": "int32"}}`, tabletest.AllLive(blocks*perBlock))
		layer := arrowLayer(schema)
		layer["items_per_block"] = known
		b.Batches("_cols/c", layer, []int{blocks * perBlock}, [][][]byte{contents})
		tab := b.open()
		whole := 0
		for _, rows := range []int64{1000, 1, 4, 6, 7, 50} {
			mem := &countingAllocator{Allocator: checked(t)}
			row := 0
			for batch, err := range Batches(t.Context(), tab, &Options{Rows: rows, Allocator: mem}) {
				if err != nil {
					t.Fatal(err)
				}
				for i := range int(batch.NumRows()) {
					if got, want := batch.Column(0).ValueStr(i), fmt.Sprintf("[%d,%d]", row/perBlock, row%perBlock); got != want {
						t.Errorf("batches of %d rows: row %d is %s, want %s", rows, row, got, want)
					}
					row++
				}
			}
			if whole == 0 {
				whole = mem.n
			}
			if row != blocks*perBlock || mem.n > 4*whole {
				t.Errorf("items_per_block %d, batches of %d rows: %d rows, %d allocations, want at most %d", known, rows, row, mem.n, 4*whole)
			}
		}
		c, err := tab.Column(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		mem := &countingAllocator{Allocator: checked(t)}
		a, err := Column(t.Context(), c, blocks*perBlock-2, blocks*perBlock-1, mem)
		if err != nil || a.Len() != 1 || a.ValueStr(0) != "[29,4]" || known > 0 && mem.n > 2*whole/blocks {
			t.Errorf("items_per_block %d: one row is %v, %v, with %d allocations", known, a, err, mem.n)
		}
		a.Release()
	}
}

// TestNestedDictionaries joins blocks of lists whose dictionaries differ. Some blocks or rows have no values.
func TestNestedDictionaries(t *testing.T) {
	typ := arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String})
	for _, values := range [][]string{
		{`["a"]`, `["b"]`}, {`["a"]`, `[]`}, {`null`, `["a","b"]`, `["b"]`}, {`[null]`, `["a"]`, `[]`},
	} {
		var blocks [][]byte
		var schema []byte
		for _, v := range values {
			content, head := stream(t, typ, "["+v+", []]") // the second row is deleted
			blocks, schema = append(blocks, content), head
			content, _ = stream(t, typ, `[["c"], []]`) // the first row is deleted
			blocks = append(blocks, content)
		}
		var live []bool
		for range values {
			live = append(live, true, false, false, true)
		}
		b := build(t, `{"name": "c", "kind": "list", "serializer": "arrow", "item": {"kind": "string"}}`, live)
		b.Batches("_cols/c", arrowLayer(schema), []int{len(live)}, [][][]byte{blocks})
		c, err := b.open().Column(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		a, err := Column(t.Context(), c, 0, int64(2*len(values)), checked(t))
		if err != nil {
			t.Errorf("%v: %v", values, err)
			continue
		}
		for i, want := range values {
			if want == "null" {
				want = array.NullValueStr
			}
			if got := a.ValueStr(2 * i); got != want || a.ValueStr(2*i+1) != "[]" {
				t.Errorf("%v: row %d is %s and %s", values, i, got, a.ValueStr(2*i+1))
			}
		}
		a.Release()
	}
}

// TestDictionaryValues joins blocks whose dictionaries have values that package array cannot unify: it need not if the
// dictionaries are equal.
func TestDictionaryValues(t *testing.T) {
	i8 := arrow.PrimitiveTypes.Int8
	a := arrow.Field{Name: "a", Type: i8}
	for _, c := range []struct {
		value         arrow.DataType
		first, second string
	}{
		{arrow.FixedWidthTypes.Boolean, "[true]", "[false]"}, {arrow.ListOf(i8), "[[1]]", "[[2]]"}, {arrow.StructOf(a), `[{"a": 1}]`, `[{"a": 2}]`},
		{arrow.BinaryTypes.LargeString, `["a"]`, `["b"]`},
	} {
		dictionary := &arrow.DictionaryType{IndexType: i8, ValueType: c.value}
		for _, typ := range []arrow.DataType{dictionary, arrow.StructOf(arrow.Field{Name: "d", Type: dictionary})} {
			for _, second := range []string{c.first, c.second} {
				var blocks [][]byte
				var schema []byte
				for _, values := range []string{c.first, second} {
					items := arrow.Array(array.NewDictionaryArray(dictionary, fromJSON(t, i8, "[0, 0]"), fromJSON(t, c.value, values)))
					if typ != arrow.DataType(dictionary) {
						data := array.NewData(typ, 2, []*memory.Buffer{nil}, []arrow.ArrayData{items.Data()}, 0, 0)
						items = array.MakeFromData(data)
					}
					var content []byte
					content, schema = streamOf(t, items)
					blocks = append(blocks, content)
				}
				b := build(t, `{"name": "c", "kind": "list", "serializer": "arrow", "item": {"kind": "int32"}}`, tabletest.AllLive(4))
				b.Batches("_cols/c", arrowLayer(schema), []int{4}, [][][]byte{blocks})
				column, err := b.open().Column(t.Context(), "c")
				if err != nil {
					t.Fatal(err)
				}
				got, err := Column(t.Context(), column, 0, 4, checked(t))
				if second == c.second {
					if !errors.Is(err, errors.ErrUnsupported) || errors.Is(err, ndarray.ErrTooLarge) {
						t.Errorf("%v: %v", typ, err)
					}
					continue
				}
				if err != nil || got.Len() != 4 {
					t.Errorf("%v: %v, %v", typ, got, err)
					continue
				}
				got.Release()
			}
		}
	}
}

// TestManyCategories joins blocks of lists whose dictionaries together have more values than their codes.
func TestManyCategories(t *testing.T) {
	typ := arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String})
	var blocks [][]byte
	var schema []byte
	for k := range 2 {
		var words []string
		for i := range 100 {
			words = append(words, fmt.Sprintf("%q", fmt.Sprint(100*k+i)))
		}
		content, head := stream(t, typ, "[["+strings.Join(words, ",")+"], []]")
		blocks, schema = append(blocks, content), head
	}
	b := build(t, `{"name": "c", "kind": "list", "serializer": "arrow", "item": {"kind": "string"}}`, tabletest.AllLive(4))
	b.Batches("_cols/c", arrowLayer(schema), []int{4}, [][][]byte{blocks})
	c, err := b.open().Column(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Column(t.Context(), c, 0, 4, checked(t)); !errors.Is(err, ndarray.ErrTooLarge) {
		t.Errorf("more categories than codes: %v", err)
	}
	for _, start := range []int64{0, 2, 4} {
		a, err := Column(t.Context(), c, start, min(start+2, 4), checked(t))
		if err != nil || a.Len() != int(min(start+2, 4)-start) {
			t.Fatalf("rows from %d: %v, %v", start, a, err)
		}
		a.Release()
	}
	if a, err := Column(t.Context(), c, 5, 5, nil); !errors.Is(err, ndarray.ErrBounds) {
		t.Errorf("no rows after the last one: %v, %v", a, err)
	}
}

// TestNoStreams reads no rows of columns of all types of Arrow, among them dictionaries without a builder.
func TestNoStreams(t *testing.T) {
	ctx, i8 := context.Background(), arrow.PrimitiveTypes.Int8
	dictionary := func(value arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: i8, ValueType: value}
	}
	for _, typ := range []arrow.DataType{
		i8, arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, arrow.ListOf(i8), arrow.MapOf(i8, i8), arrow.StructOf(),
		arrow.FixedSizeListOf(2, dictionary(arrow.ListOf(i8))), arrow.StructOf(arrow.Field{Name: "a", Type: dictionary(arrow.FixedWidthTypes.Boolean)}),
		dictionary(arrow.BinaryTypes.String), dictionary(arrow.BinaryTypes.LargeString), dictionary(arrow.ListOf(i8)), dictionary(arrow.StructOf()),
		arrow.ListOf(dictionary(arrow.ListOf(i8))), arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, i8),
		arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: i8}}, []arrow.UnionTypeCode{0}), arrow.ListViewOf(i8), arrow.BinaryTypes.StringView,
		arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: i8}}, []arrow.UnionTypeCode{0}), &arrow.Decimal256Type{Precision: 40},
		&arrow.FixedSizeBinaryType{}, arrow.FixedWidthTypes.MonthDayNanoInterval, &arrow.TimestampType{Unit: arrow.Second},
	} {
		var head bytes.Buffer
		s := arrow.NewSchema([]arrow.Field{{Name: "values", Type: typ, Nullable: true}}, nil)
		if err := ipc.NewWriter(&head, ipc.WithSchema(s)).Close(); err != nil {
			t.Fatal(err)
		}
		b := build(t, `{"name": "c", "kind": "list", "serializer": "arrow", "item": {"kind": "int32"}}`, nil)
		b.Batches("_cols/c", arrowLayer(head.Bytes()[:head.Len()-8]), []int{}, nil)
		c, err := b.open().Column(ctx, "c")
		if err != nil {
			t.Fatal(err)
		}
		a, err := Column(ctx, c, 0, 0, checked(t))
		if err != nil || a.Len() != 0 || !arrow.TypeEqual(a.DataType(), typ) {
			t.Errorf("%v: %v, %v", typ, a, err)
			continue
		}
		a.Release()
	}
}

// TestHostileStreams changes streams: every byte, and several at once. None may panic, then or when the values are
// used.
func TestHostileStreams(t *testing.T) {
	failed, used := 0, 0
	use := func(typ arrow.DataType, content, schema []byte) {
		a, err := readStream(memory.DefaultAllocator, content, schema, typ)
		if err != nil {
			failed++
			return
		}
		defer a.Release()
		used++
		valuesAt(t, a, 0, min(a.Len(), 1000))
		if a.Len() > 1 && a.Len() < 1000 {
			s := array.NewSlice(a, 1, int64(a.Len()))
			defer s.Release()
			if all, err := array.Concatenate([]arrow.Array{s, a}, memory.DefaultAllocator); err == nil {
				all.Release()
			}
		}
	}
	for i, c := range streamCases {
		content, schema := stream(t, c.typ, c.values)
		for i := range content {
			for _, x := range []byte{0, 1, 0x7f, 0x80, 0xff, content[i] + 1} {
				changed := bytes.Clone(content)
				changed[i] = x
				use(c.typ, changed, schema)
			}
		}
		rng := rand.New(rand.NewPCG(uint64(i), 5))
		for range 2000 {
			use(c.typ, mutation.Bytes(rng, content), schema)
			changed := mutation.Bytes(rng, schema)
			if _, err := checkMessages(changed); err == nil {
				ipc.NewReader(bytes.NewReader(changed))
			}
		}
	}
	t.Logf("%d errors, %d arrays", failed, used)
	if failed < 1000 || used < 1000 {
		t.Errorf("%d errors, %d arrays", failed, used)
	}
}
