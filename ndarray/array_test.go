package ndarray

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/manifest"
	"github.com/goblosc/blosc2/meta"
)

// fixture is an array of the test data.
type fixture struct{ manifest.Case }

// fixtures returns the arrays of a directory of testdata.
func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	var out []fixture
	for _, c := range manifest.Read(t, folder) {
		if c.Kind == "b2nd" {
			out = append(out, fixture{c})
		}
	}
	return out
}

// sum returns the SHA-256 of b in hexadecimal.
func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// TestFixtures reads the arrays of the test data, and compares them and their slices with the manifest.
func TestFixtures(t *testing.T) {
	ctx := context.Background()
	for folder, want := range map[string]int{"python-blosc2": 202, "legacy": 18} {
		cases := fixtures(t, folder)
		if len(cases) != want {
			t.Errorf("%s: %d arrays, want %d", folder, len(cases), want)
		}
		for _, c := range cases {
			t.Run(c.File, func(t *testing.T) {
				a, err := Open(ctx, c.Path, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				b := make([]byte, c.NBytes)
				err = a.ReadBytes(ctx, b)
				if err != nil {
					t.Fatal(err)
				}
				if sum(b) != c.SHA256 {
					t.Error("the contents differ")
				}
				for i, s := range c.Slices {
					sel := make([]Index, len(s.Start))
					n := int64(c.ItemSize)
					for k := range sel {
						sel[k] = Step(s.Start[k], s.Stop[k], s.Step[k])
						n *= s.Shape[k]
					}
					b := make([]byte, n)
					if err := a.ReadBytes(ctx, b, sel...); err != nil {
						t.Errorf("slice %d %v: %v", i, sel, err)
					} else if sum(b) != s.SHA256 {
						t.Errorf("slice %d %v: the contents differ", i, sel)
					}
				}
			})
		}
	}
}

// TestRefresh refreshes an array that another handle has edited.
func TestRefresh(t *testing.T) {
	ctx := t.Context()
	for _, sparse := range []bool{false, true} {
		o := &CreateOptions{Chunks: []int64{4, 4}, Blocks: []int64{2, 2}}
		o.Sparse, o.NoSync = sparse, true
		name := filepath.Join(t.TempDir(), "x")
		w, err := Create(ctx, name, []int64{2, 3}, []int32{1, 2, 3, 4, 5, 6}, o)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Open(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := r.Refresh(ctx); err != nil || c {
			t.Error(c, err)
		}
		if err := w.Resize(ctx, 3, 5); err != nil {
			t.Fatal(err)
		}
		if err := Write(ctx, w, []int32{7}, Span(2, 3), Span(4, 5)); err != nil {
			t.Fatal(err)
		}
		if got := r.Shape(); !slices.Equal(got, []int64{2, 3}) {
			t.Error("before Refresh:", got)
		}
		if c, err := r.Refresh(ctx); err != nil || !c {
			t.Error(c, err)
		}
		want := []int32{1, 2, 3, 0, 0, 4, 5, 6, 0, 0, 0, 0, 0, 0, 7}
		if got, err := Read[int32](ctx, r); err != nil || !slices.Equal(got, want) || !slices.Equal(r.Shape(), []int64{3, 5}) {
			t.Error(r.Shape(), got, err)
		}
		w.Close()
		r.Close()
		if _, err := r.Refresh(ctx); !errors.Is(err, fs.ErrClosed) {
			t.Error(err)
		}
	}
}

// TestRequireChecksums opens arrays with and without checksums.
func TestRequireChecksums(t *testing.T) {
	o := &OpenOptions{RequireChecksums: true}
	if _, err := Open(ctx, "../testdata/python-blosc2/full.b2nd", o); !errors.Is(err, frame.ErrChecksum) {
		t.Errorf("without checksums: %v", err)
	}
	name := filepath.Join(t.TempDir(), "x")
	a, err := Create(ctx, name, []int64{3}, []int16{1, 2, 3}, &CreateOptions{Checksums: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if !a.Frame().Info().Checksums {
		t.Error("a new array has no checksums")
	}
	b, err := Open(ctx, name, o)
	if err != nil {
		t.Fatal(err)
	}
	b.Close()
}

// TestAttrs sets, reads and deletes attributes of all kinds, one by one and in a batch, and reads them from the file.
func TestAttrs(t *testing.T) {
	ctx := context.Background()
	name := filepath.Join(t.TempDir(), "a.b2nd")
	a, err := Create(ctx, name, []int64{4, 5}, make([]float32, 20), nil)
	if err != nil {
		t.Fatal(err)
	}
	type station struct {
		Name   string
		Height float64
	}
	mask, err := Create(ctx, "", []int64{3}, []uint8{1, 0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer mask.Close()
	if err := errors.Join(
		a.SetAttr(ctx, "units", "K"), a.SetAttr(ctx, "scale", 0.5), a.SetAttr(ctx, "mask", mask),
		a.SetAttr(ctx, "station", station{"Jena", 155}), a.SetAttr(ctx, "gone", nil), a.DeleteAttr(ctx, "gone"),
	); err != nil {
		t.Fatal(err)
	}
	b, err := a.Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Flip(mask, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.SetAttr(ctx, "levels", []int{3, 1}), b.SetAttr(ctx, "flipped", v), b.DeleteAttr(ctx, "scale"), b.Commit()); err != nil {
		t.Fatal(err)
	}
	if err := b.SetAttr(ctx, "late", 1); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if a, err = Open(ctx, name, nil); err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if got, want := a.Attrs(), []string{"units", "mask", "station", "levels", "flipped"}; !slices.Equal(got, want) {
		t.Errorf("attributes %q, want %q", got, want)
	}
	var (
		units  string
		levels []int
		place  station
		value  any
		m, f   *Array
	)
	if err := errors.Join(a.Attr("units", &units), a.Attr("levels", &levels), a.Attr("station", &place), a.Attr("station", &value),
		a.Attr("mask", &m), a.Attr("flipped", &f)); err != nil {
		t.Fatal(err)
	}
	if units != "K" || !slices.Equal(levels, []int{3, 1}) || place != (station{"Jena", 155}) ||
		!reflect.DeepEqual(value, map[string]any{"Name": "Jena", "Height": 155.0}) {
		t.Errorf("%q, %v, %v, %#v", units, levels, place, value)
	}
	if got, err := Read[uint8](ctx, m); err != nil || !slices.Equal(got, []uint8{1, 0, 1}) {
		t.Error(got, err)
	}
	if got, err := Read[uint8](ctx, f, At(0)); err != nil || !slices.Equal(got, []uint8{1}) {
		t.Error(got, err)
	}
	if err := a.Attr("none", &units); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, v := range []any{&m, new(int)} {
		if err := a.Attr("units", v); err == nil || !strings.Contains(err.Error(), `attribute "units"`) {
			t.Errorf("%T: %v", v, err)
		}
	}
	if err := a.SetAttr(ctx, "x", 1); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if err := m.SetAttr(ctx, "x", 1); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
}

// TestAttrMessages checks that errors about attributes name the attribute, and what is wrong in a value.
func TestAttrMessages(t *testing.T) {
	a, err := Create(ctx, "", []int64{1}, []int32{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	const allowed = ": wrong type; an attribute is an array, or made of numbers, text, booleans, bytes, slices, maps and structs; " +
		"store times as text"
	for _, c := range []struct {
		v    any
		part string
	}{
		{time.Now(), `attribute "x": meta: marshal: time.Time has no exported fields` + allowed},
		{map[string]any{"k": time.Now()}, "value of key k: time.Time has no exported fields" + allowed},
		{map[string]any{"k": a}, "value of key k: ndarray.Array has no exported fields" + allowed},
		{[]any{1, a}, "element 1: ndarray.Array has no exported fields" + allowed},
		{make(chan int), "chan int has no encoding" + allowed},
		{meta.Map{{Key: 5, Value: struct{ V complex64 }{1}}}, "value of key 5: field V: complex64 has no encoding" + allowed},
	} {
		wantMessage(t, a.SetAttr(ctx, "x", c.v), ErrType, c.part)
		_, err := Zeros(ctx, "", []int64{1}, "<i4", &CreateOptions{Attrs: map[string]any{"x": c.v}})
		wantMessage(t, err, ErrType, `attribute "x": `)
		wantMessage(t, err, ErrType, c.part)
	}
	const missing = "frame: attribute nope: not found"
	wantMessage(t, a.Attr("nope", new(int)), fs.ErrNotExist, missing)
	wantMessage(t, a.DeleteAttr(ctx, "nope"), fs.ErrNotExist, missing)
	wantMessage(t, a.SetAttr(ctx, "b2crc32c", 1), ErrParam, "frame: attribute b2crc32c: ")
	if err := a.Attr("nope", new(int)); strings.Contains(err.Error(), "metalayer") {
		t.Error(err)
	}
}

// TestAttrNil stores nil pointers to arrays and views, and reads nil as an array.
func TestAttrNil(t *testing.T) {
	for _, v := range []any{nil, (*Array)(nil), (*View)(nil)} {
		a, err := Create(ctx, "", []int64{1}, []int32{1}, &CreateOptions{Attrs: map[string]any{"x": v}})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.SetAttr(ctx, "y", v); err != nil {
			t.Error(err)
		}
		for _, name := range a.Attrs() {
			inner := a
			if err := a.Attr(name, &inner); err != nil || inner != nil {
				t.Errorf("%T: %v, %v", v, inner, err)
			}
			var content any = 1
			if err := a.Attr(name, &content); err != nil || content != nil {
				t.Errorf("%T: %v, %v", v, content, err)
			}
		}
		wantMessage(t, a.Attr("x", (**Array)(nil)), ErrType, "want a pointer")
	}
}

// TestInfo describes arrays and views in a line, and checks them.
func TestInfo(t *testing.T) {
	ctx := context.Background()
	o := &CreateOptions{Chunks: []int64{10, 10}, Blocks: []int64{5, 5}}
	a, err := Create(ctx, "", []int64{20, 10}, make([]int16, 200), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.String(), "[20 10] <i2, chunks [10 10], blocks [5 5], zstd level 5, shuffle, 400 bytes"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if err := Write(ctx, a, []int16{1, 2, 3}, At(0), Span(0, 3)); err != nil {
		t.Fatal(err)
	}
	if got := a.String(); !strings.HasPrefix(got, "[20 10] <i2, chunks [10 10], blocks [5 5], zstd level 5, shuffle, 400 bytes in ") || !strings.Contains(got, "ratio ") {
		t.Errorf("%q", got)
	}
	v, err := Slice(a, At(0))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.String(); !strings.HasPrefix(got, "[10] <i2, view of [20 10] <i2, chunks") {
		t.Errorf("%q", got)
	}
	if a.NBytes() != 400 || a.CBytes() == 0 {
		t.Errorf("%d bytes in %d", a.NBytes(), a.CBytes())
	}
	if err := a.Verify(ctx, nil); err != nil {
		t.Error(err)
	}
	if err := a.Compact(ctx); !errors.Is(err, ErrParam) { // it is in memory
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if got, want := a.String(), "[20 10] <i2, closed"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestReadOnlyMessage checks that the error for an edit of something that is open for reading names the way to edit it.
func TestReadOnlyMessage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.b2nd")
	a, err := Create(ctx, name, []int64{4}, []int32{1, 2, 3, 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := saved(a.Frame())
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
	a, err = Open(ctx, name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	const want = "a.b2nd: opened for reading only; open it with Edit"
	wantMessage(t, Write(ctx, a, []int32{1, 2, 3, 4}), ErrReadOnly, want)
	wantMessage(t, a.SetAttr(ctx, "x", 1), ErrReadOnly, want)
	wantMessage(t, a.Frame().Append(ctx, nil), ErrReadOnly, want)
	wantMessage(t, a.Frame().Compact(ctx), ErrReadOnly, want)
	m, err := OpenBytes(stored, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantMessage(t, Fill(ctx, m, int32(1)), ErrReadOnly, "frame: opened for reading only; copy it to edit it")
}

// TestURLNames checks that the error for a URL in place of the name of a file names the package that reads it. A file
// may have such a name.
func TestURLNames(t *testing.T) {
	const remote, cloud = "; see package frame/remote for URLs", "; see module cloud for buckets"
	for name, part := range map[string]string{
		"http://x/y.b2nd": remote, "https://x/y.b2nd?a=b": remote, "s3://x/y.b2nd": cloud, "gs://x/y.b2nd": cloud,
		"azblob://x/y.b2nd": cloud,
	} {
		_, err := Open(ctx, name, nil)
		wantMessage(t, err, fs.ErrNotExist, part)
		_, err = Edit(ctx, name, nil)
		wantMessage(t, err, fs.ErrNotExist, part)
		_, err = OpenRegions(ctx, name, nil)
		wantMessage(t, err, fs.ErrNotExist, part)
		_, err = Zeros(ctx, name, []int64{1}, "<i4", nil)
		wantMessage(t, err, fs.ErrNotExist, part)
	}
	for _, name := range []string{"none.b2nd", "file:///none/x.b2nd", "a/x://y"} {
		if _, err := Open(ctx, name, nil); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "; see") {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("http:/x", 0o777); err != nil {
		t.Skip("names of files cannot have a colon: ", err)
	}
	if _, err := Zeros(ctx, "http://x/y.b2nd", []int64{1}, "<i4", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, "http://x/y.b2nd", nil); err != nil {
		t.Error(err)
	}
}

// TestReplacedDType replaces the file of an array by an array whose items have the same size and another dtype.
func TestReplacedDType(t *testing.T) {
	for _, c := range []struct {
		locking bool
		from    string
		to      string
	}{{false, "<i8", "<f8"}, {true, "<i8", "<f8"}, {true, "<i8", ">i8"}, {true, "<M8[s]", "<M8[ms]"}} {
		name := filepath.Join(t.TempDir(), "a.b2nd")
		o := &CreateOptions{Locking: c.locking}
		a, err := Zeros(ctx, name, []int64{4}, c.from, o)
		if errors.Is(err, errors.ErrUnsupported) {
			continue // no file locks here
		} else if err != nil {
			t.Fatal(err)
		}
		open := &OpenOptions{Locking: c.locking}
		r, err := Open(ctx, name, open)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Edit(ctx, name, open)
		if err := errors.Join(err, a.Close()); err != nil {
			t.Fatal(err)
		}
		o.Overwrite = true
		b, err := Zeros(ctx, name, []int64{4}, c.to, o)
		if err != nil {
			t.Fatal(err)
		}
		_, refreshErr := r.Refresh(ctx)
		_, readErr := Read[int64](ctx, r)
		calls := []error{refreshErr, readErr}
		if c.locking {
			calls = append(calls, Append(ctx, w, 0, []int64{1, 2}))
		}
		for i, err := range calls {
			if !errors.Is(err, ErrChanged) {
				t.Errorf("%v, call %d: %v, want ErrChanged", c, i, err)
			}
		}
		if got := b.Shape(); got[0] != 4 {
			t.Errorf("%v: the new array has shape %v", c, got)
		}
		if err := errors.Join(b.Close(), r.Close(), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMissingDirectory checks that the error for a new file in a directory that does not exist names both.
func TestMissingDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	name := filepath.Join(dir, "a.b2nd")
	want := fmt.Sprintf("create %s: directory %s does not exist", name, dir)
	for _, o := range []*CreateOptions{nil, {Sparse: true}, {Locking: true}, {Locking: true, Sparse: true}} {
		_, err := Zeros(ctx, name, []int64{1}, "<i4", o)
		wantMessage(t, err, fs.ErrNotExist, want)
	}
	_, err := CreateRegions(ctx, name, []int64{1}, "<i4", nil)
	wantMessage(t, err, fs.ErrNotExist, want)
}

// TestSameErrors checks that the packages export one value for each kind of failure.
func TestSameErrors(t *testing.T) {
	for name, c := range map[string]struct {
		want     error
		exported []error
	}{
		"ErrFormat":   {errs.ErrFormat, []error{ErrFormat, frame.ErrFormat}},
		"ErrNotArray": {errs.ErrNotArray, []error{ErrNotArray}},
		"ErrCorrupt":  {errs.ErrCorrupt, []error{ErrCorrupt, frame.ErrCorrupt, chunk.ErrCorrupt, codec.ErrCorrupt, meta.ErrCorrupt}},
		"ErrChecksum": {errs.ErrChecksum, []error{ErrChecksum, frame.ErrChecksum}},
		"ErrChanged":  {errs.ErrChanged, []error{ErrChanged, frame.ErrChanged}},
		"ErrTooLarge": {errs.ErrTooLarge, []error{ErrTooLarge, frame.ErrTooLarge, chunk.ErrTooLarge, meta.ErrTooLarge}},
		"ErrReadOnly": {errs.ErrReadOnly, []error{ErrReadOnly, frame.ErrReadOnly}},
		"ErrParam":    {errs.ErrParam, []error{ErrParam, frame.ErrParam, chunk.ErrParam, codec.ErrParam}},
		"ErrShape":    {errs.ErrShape, []error{ErrShape}},
		"ErrBounds":   {errs.ErrBounds, []error{ErrBounds, frame.ErrBounds}},
		"ErrType":     {errs.ErrType, []error{ErrType, meta.ErrType}},
		"ErrValue":    {errs.ErrValue, []error{ErrValue}},
	} {
		for i, err := range c.exported {
			if err != c.want {
				t.Errorf("%s: exported value %d is another one: %v", name, i, err)
			}
		}
	}
}

// TestOptionErrors checks that a field that cannot apply returns ErrParam.
func TestOptionErrors(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	a, err := Zeros(ctx, name, []int64{4}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var file bytes.Buffer
	if _, err := a.Save(ctx, &file); err != nil {
		t.Fatal(err)
	}
	b := file.Bytes()
	create := func(name string, o CreateOptions) error {
		_, err := Create(ctx, name, []int64{1}, []int32{1}, &o)
		return err
	}
	open := func(o OpenOptions) error { _, err := Open(ctx, name, &o); return err }
	edit := func(o OpenOptions) error { _, err := Edit(ctx, name, &o); return err }
	inBytes := func(o OpenOptions) error { _, err := OpenBytes(b, &o); return err }
	inReader := func(o OpenOptions) error {
		_, err := OpenReaderAt(ctx, bytes.NewReader(b), int64(len(b)), &o)
		return err
	}
	other := name + "2"
	for what, err := range map[string]error{
		"Sparse":             create("", CreateOptions{Sparse: true}),
		"Overwrite":          create("", CreateOptions{Overwrite: true}),
		"Locking":            create("", CreateOptions{Locking: true}),
		"Storage and a name": create(other, CreateOptions{Storage: frame.NewMemory(nil)}),
		"b2nd":               create("", CreateOptions{Meta: []meta.Layer{{Name: "b2nd"}}}),
		"Concurrency":        create("", CreateOptions{Concurrency: -1}),
		"Level":              create("", CreateOptions{Level: 10}),
		"nil codec":          create("", CreateOptions{Codecs: []codec.Codec{nil}}),
		"nil filter":         create("", CreateOptions{UserFilters: []chunk.UserFilter{nil}}),
		"two dtypes": func() error {
			_, err := Zeros(ctx, "", []int64{1}, "<i4", &CreateOptions{DType: "<i4"})
			return err
		}(),
		"two dtypes of bytes": func() error {
			_, err := CreateBytes(ctx, "", []int64{1}, "|u1", []byte{1}, &CreateOptions{DType: "|u1"})
			return err
		}(),
		"two dtypes of a reader": func() error {
			_, err := FromReader(ctx, "", []int64{1}, "|u1", bytes.NewReader(b), &CreateOptions{DType: "|u1"})
			return err
		}(),
		"NoSync for reading":   open(OpenOptions{NoSync: true}),
		"NoSync of bytes":      inBytes(OpenOptions{NoSync: true}),
		"Mmap for editing":     edit(OpenOptions{Mmap: true}),
		"Mmap of bytes":        inBytes(OpenOptions{Mmap: true}),
		"Mmap of a reader":     inReader(OpenOptions{Mmap: true}),
		"Locking of bytes":     inBytes(OpenOptions{Locking: true}),
		"Locking of a reader":  inReader(OpenOptions{Locking: true}),
		"Cache":                open(OpenOptions{Cache: -1}),
		"MaxBytes":             open(OpenOptions{MaxBytes: -2}),
		"MaxMeta":              open(OpenOptions{MaxMeta: -1}),
		"MaxChunks":            open(OpenOptions{MaxChunks: -1}),
		"Concurrency, opening": open(OpenOptions{Concurrency: -1}),
	} {
		if !errors.Is(err, ErrParam) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestGrow appends to arrays that start with axes of length zero, with the automatic partition.
func TestGrow(t *testing.T) {
	a, err := Zeros(ctx, "", []int64{0, 256, 256}, "<u2", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	image := make([]uint16, 256*256)
	for i := range 3 {
		image[0] = uint16(i + 1)
		if err := Append(ctx, a, 0, image); err != nil {
			t.Fatal(err)
		}
	}
	x, err := Item[uint16](ctx, a, 2, 0, 0)
	if err != nil || x != 3 || !slices.Equal(a.Chunks(), []int64{32, 256, 256}) {
		t.Error(x, err, a.Chunks())
	}
}
