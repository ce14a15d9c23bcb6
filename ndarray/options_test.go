package ndarray

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

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

// TestCopyOptions checks what a copy takes from its source.
func TestCopyOptions(t *testing.T) {
	a, err := Create(ctx, "", []int64{8, 8}, make([]float32, 64), &CreateOptions{
		Codec: codec.LZ4, Level: 9, Filters: []chunk.Filter{}, Chunks: []int64{4, 8}, Blocks: []int64{2, 8}, Checksums: true,
		Attrs: map[string]any{"units": "K"}, Meta: []meta.Layer{{Name: "m", Content: []byte{1}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for _, c := range []struct {
		o           *CreateOptions
		id          codec.ID
		level       int
		chunks      []int64
		attrs, meta int
	}{
		{nil, codec.LZ4, 9, []int64{4, 8}, 1, 2},
		{&CreateOptions{}, codec.LZ4, 9, []int64{4, 8}, 1, 2},
		{&CreateOptions{Codec: codec.Zlib}, codec.Zlib, 5, []int64{4, 8}, 1, 2},
		{&CreateOptions{Level: 3}, codec.Zstd, 3, []int64{4, 8}, 1, 2},
		{&CreateOptions{Chunks: []int64{0, 0}}, codec.LZ4, 9, []int64{8, 8}, 1, 2},
		{&CreateOptions{Chunks: []int64{2, -1}}, codec.LZ4, 9, []int64{2, 8}, 1, 2},
		{&CreateOptions{Attrs: map[string]any{}}, codec.LZ4, 9, []int64{4, 8}, 0, 2},
		{&CreateOptions{Meta: []meta.Layer{}}, codec.LZ4, 9, []int64{4, 8}, 1, 1},
	} {
		b, err := Copy(ctx, "", a, c.o)
		if err != nil {
			t.Fatal(err)
		}
		p := b.Frame().Info().Params
		if p.Codec != c.id || p.Level != c.level || !slices.Equal(b.Chunks(), c.chunks) || len(b.Attrs()) != c.attrs ||
			len(b.Frame().Meta()) != c.meta || !b.Frame().Info().Checksums {
			t.Errorf("%+v: %v level %d, chunks %v, attributes %v", c.o, p.Codec, p.Level, b.Chunks(), b.Attrs())
		}
		b.Close()
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
