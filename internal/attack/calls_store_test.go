package attack

import (
	"bytes"
	"context"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/meta"
)

// storeCalls returns calls of stores.
func storeCalls(t *testing.T) []oddCall {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := store.Create(ctx, filepath.Join(dir, "s.b2d"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f, err := frame.Create(ctx, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(ctx, "g/a", f); err != nil {
		t.Fatal(err)
	}
	closed, err := store.Create(ctx, filepath.Join(dir, "c.b2d"), nil)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	ended, err := frame.Create(ctx, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	ended.Close()
	calls := []oddCall{
		{"Create without name", errAny, func() error { return second(store.Create(ctx, "", nil)) }},
		{"Create of zip", errAny, func() error { return second(store.Create(ctx, filepath.Join(dir, "x.b2z"), nil)) }},
		{"Layout 99", store.ErrParam, func() error {
			return second(store.Create(ctx, filepath.Join(dir, "l.b2d"), &store.CreateOptions{Layout: 99}))
		}},
		{"Threshold low", store.ErrParam, func() error {
			return second(store.Create(ctx, filepath.Join(dir, "t.b2d"), &store.CreateOptions{OpenOptions: store.OpenOptions{Threshold: low}}))
		}},
		{"MaxLeaves -1", nil, func() error {
			second(store.Open(ctx, filepath.Join(dir, "s.b2d"), &store.OpenOptions{MaxLeaves: -1}))
			return nil
		}},
		{"Open without name", errAny, func() error { return second(store.Open(ctx, "", nil)) }},
		{"OpenReaderAt -1", store.ErrParam, func() error { return second(store.OpenReaderAt(ctx, bytes.NewReader(nil), -1, nil)) }},
		{"OpenReaderAt top", errAny, func() error { return second(store.OpenReaderAt(ctx, bytes.NewReader(nil), top, nil)) }},
		{"OpenSource -1", store.ErrParam, func() error { return second(store.OpenSource(ctx, oddSource(-1), nil)) }},
		{"OpenTensor without name", errAny, func() error { return second(store.OpenTensor(ctx, "", nil)) }},
		{"ArrayOf closed", errAny, func() error { return second(store.ArrayOf(ctx, ended)) }},
		{"Describe closed", fs.ErrClosed, func() error { return second(store.Describe(ctx, ended)) }},
		{"ReadReference of nothing", errAny, func() error { return second(store.ReadReference(meta.Ext{})) }},
		{"Put closed frame", errAny, func() error { return s.Put(ctx, "c", ended) }},
		{"Put closed store", errAny, func() error { return closed.Put(ctx, "c", f) }},
		{"Put below a leaf", nil, func() error { s.Put(ctx, "g/a/b", f); return nil }},
		{"Delete root", errAny, func() error { return s.Delete(ctx, "/") }},
		{"Delete group", errAny, func() error { return s.Delete(ctx, "g") }},
		{"Delete missing", errAny, func() error { return s.Delete(ctx, "zz") }},
		{"Frame closed", errAny, func() error { return second(closed.Frame(ctx, "a")) }},
		{"Frame of group", errAny, func() error { return second(s.Frame(ctx, "g")) }},
		{"Frame without key", errAny, func() error { return second(s.Frame(ctx, "")) }},
		{"Array of frame", errAny, func() error { return second(s.Array(ctx, "g/a")) }},
		{"Objects of frame", errAny, func() error { return second(s.Objects(ctx, "g/a")) }},
		{"Sub of frame", errAny, func() error { return second(s.Sub(ctx, "g/a")) }},
		{"Stat outside", errAny, func() error { return second(s.Stat(ctx, "../../etc/passwd")) }},
		{"Open of fs outside", errAny, func() error { return second(s.Open("../x")) }},
		{"Walk missing", nil, func() error { ends(s.Walk(ctx, "zz")); return nil }},
		{"Walk closed", nil, func() error { ends(closed.Walk(ctx, "/")); return nil }},
		{"Attr of missing group", errAny, func() error { var v any; return s.Attr(ctx, "zz", "a", &v) }},
		{"Attr nil", errAny, func() error { return s.Attr(ctx, "g", "a", nil) }},
		{"SetAttr channel", errAny, func() error { return s.SetAttr(ctx, "g", "a", make(chan int)) }},
		{"SetAttr without name", nil, func() error { s.SetAttr(ctx, "g", "", 1); return nil }},
		{"SetAttr closed", errAny, func() error { return closed.SetAttr(ctx, "g", "a", 1) }},
		{"Pack without name", errAny, func() error { return s.Pack(ctx, "", nil) }},
		{"Pack closed", errAny, func() error { return closed.Pack(ctx, filepath.Join(dir, "c.b2z"), nil) }},
		{"Close twice", nil, closed.Close},
	}
	for _, key := range []string{"", "/", ".", "..", "../x", "a\x00b", "a\\b", string(make([]byte, 5000)), "g", "embed.b2e", "a.b2nd", "CON", "a:b", "\xff"} {
		calls = append(calls, oddCall{"Put " + key[:min(len(key), 10)], nil, func() error { s.Put(ctx, key, f); return nil }})
	}
	return calls
}

// tableCalls returns calls of tables and their columns.
func tableCalls(t *testing.T) []oddCall {
	ctx := context.Background()
	b := tabletest.New(t, `{"name": "x", "kind": "int64"}, {"name": "v", "kind": "vlstring"}`, []bool{true, false, true, true})
	tabletest.Write(b, "_cols/x", []int64{4}, []int64{1, 2, 3, 4})
	b.Items("_cols/v", []any{"a", "b", "c", "d"})
	tab, err := openTable(t, b)
	if err != nil {
		t.Fatal(err)
	}
	none := tabletest.New(t, "", nil)
	empty, _ := openTable(t, none)
	x, err := tab.Column(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	v, err := tab.Column(ctx, "v")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		X int64 `b2:"x"`
	}
	calls := []oddCall{
		{"Column without name", errAny, func() error { return second(tab.Column(ctx, "")) }},
		{"Column outside", errAny, func() error { return second(tab.Column(ctx, "../_meta")) }},
		{"Attr nil", errAny, func() error { return tab.Attr(ctx, "zz", nil) }},
		{"Read as channel", table.ErrType, func() error { return second(table.Read[chan int](ctx, x, 0, 1)) }},
		{"Read as error", table.ErrType, func() error { return second(table.Read[error](ctx, x, 0, 1)) }},
		{"Rows of no struct", table.ErrType, func() error { return ends(table.Rows[int](ctx, tab, 0, 1)) }},
		{"Rows of pointers", errAny, func() error { return ends(table.Rows[*row](ctx, tab, 0, 1)) }},
		{"Rows of any", errAny, func() error { return ends(table.Rows[any](ctx, tab, 0, 1)) }},
		{"Rows of unknown column", errAny, func() error {
			return ends(table.Rows[struct {
				Y int `b2:"yy"`
			}](ctx, tab, 0, 1))
		}},
		{"Find op 99", frame.ErrParam, func() error { return second(table.Find(ctx, x, table.Op(99), int64(1))) }},
		{"Find text in numbers", errAny, func() error { return second(table.Find(ctx, x, table.Equal, "a")) }},
		{"Find numbers in text", errAny, func() error { return second(table.Find(ctx, v, table.Equal, 1.5)) }},
	}
	if empty != nil {
		calls = append(calls, oddCall{"Rows of no columns", nil, func() error { ends(table.Rows[struct{}](ctx, empty, 0, 0)); return nil }})
	}
	for _, r := range [][2]int64{{-1, 1}, {0, 4}, {2, 1}, {low, top}, {top, top}, {4, 4}} {
		for _, c := range []*table.Column{x, v} {
			calls = append(calls, oddCall{"Read", table.ErrBounds, func() error { return second(table.Read[any](ctx, c, r[0], r[1])) }},
				oddCall{"ReadNullable", table.ErrBounds, func() error { return second(table.ReadNullable[any](ctx, c, r[0], r[1])) }},
				oddCall{"Nulls", table.ErrBounds, func() error { return second(c.Nulls(ctx, r[0], r[1])) }},
				oddCall{"Stored", nil, func() error {
					n := 0
					for range c.Stored(r[0], r[1]) {
						if n++; n > 1000 {
							return errAny
						}
					}
					return nil
				}})
		}
		calls = append(calls, oddCall{"Rows", table.ErrBounds, func() error { return ends(table.Rows[row](ctx, tab, r[0], r[1])) }})
	}
	return calls
}

// openTable opens a table.
func openTable(t *testing.T, b *tabletest.Builder) (*table.Table, error) {
	s, err := store.Open(t.Context(), b.Dir, nil)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { s.Close() })
	return table.Open(t.Context(), s, "/")
}

// objectCalls returns calls of arrays of objects.
func objectCalls(t *testing.T) []oddCall {
	ctx := context.Background()
	f, err := frame.Create(ctx, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := objects.Create(ctx, "", objects.Objects, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Append(ctx, 1); err != nil {
		t.Fatal(err)
	}
	closed, err := objects.Create(ctx, "", objects.Batches, nil)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	return []oddCall{
		{"New of a frame", errAny, func() error { return second(objects.New(ctx, f)) }},
		{"New of a closed frame", errAny, func() error { return second(objects.New(ctx, closed.Frame())) }},
		{"Kind 9", objects.ErrParam, func() error { return second(objects.Create(ctx, "", 9, nil)) }},
		{"Lists without element", objects.ErrParam, func() error { return second(objects.Create(ctx, "", objects.Lists, nil)) }},
		{"Append none", nil, func() error { return o.Append(ctx) }},
		{"Append channel", objects.ErrType, func() error { return o.Append(ctx, make(chan int)) }},
		{"Append nil", nil, func() error { return o.Append(ctx, nil) }},
		{"Append closed", errAny, func() error { return closed.Append(ctx, 1) }},
		{"Item nil", errAny, func() error { return o.Item(ctx, 0, nil) }},
		{"Item value", errAny, func() error { return o.Item(ctx, 0, 3) }},
		{"Item nil pointer", errAny, func() error { return o.Item(ctx, 0, (*int)(nil)) }},
		{"Items closed", fs.ErrClosed, func() error { return ends(closed.Items(ctx, 0, 0)) }},
		{"Len closed", nil, func() error { _ = closed.Len(); _ = closed.Batches(); _ = closed.Kind(); return nil }},
		{"Decode nothing", errAny, func() error { var v any; return o.Decode(nil, &v) }},
		{"Decode into nil", errAny, func() error { return o.Decode([]byte{1}, nil) }},
		{"Decode noise", errAny, func() error { var v any; return o.Decode([]byte{0xdd, 0xff, 0xff, 0xff, 0xff}, &v) }},
		{"Decode closed", nil, func() error { var v any; return closed.Decode([]byte{1}, &v) }},
		{"Block of objects", errAny, func() error { return second(o.Block(ctx, nil, 0, 0)) }},
		{"Close twice", nil, closed.Close},
	}
}
