package frame

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/meta"
)

func keepBlock(dst, src []byte, _ chunk.BlockInfo) error { copy(dst, src); return nil }

// TestOpenOptions sets each field that cannot apply to a way of opening, which is an error, and each one that can.
func TestOpenOptions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	f, err := Create(t.Context(), name, nil)
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	must(t, f.Close())
	ways := map[string]func(o *OpenOptions) (*Frame, error){
		"Open":         func(o *OpenOptions) (*Frame, error) { return Open(t.Context(), name, o) },
		"Edit":         func(o *OpenOptions) (*Frame, error) { return Edit(t.Context(), name, o) },
		"OpenBytes":    func(o *OpenOptions) (*Frame, error) { return OpenBytes(b, o) },
		"OpenReaderAt": func(o *OpenOptions) (*Frame, error) { return OpenReaderAt(t.Context(), NewMemory(b), int64(len(b)), o) },
		"OpenSource":   func(o *OpenOptions) (*Frame, error) { return OpenSource(t.Context(), &liveSource{st: NewMemory(b)}, o) },
		"EditStorage":  func(o *OpenOptions) (*Frame, error) { return EditStorage(t.Context(), NewMemory(b), o) },
	}
	none := map[string]bool{}
	only := func(names ...string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	for _, c := range []struct {
		what string
		o    OpenOptions
		fits map[string]bool // the ways it applies to; nil = all
	}{
		{"negative Concurrency", OpenOptions{Concurrency: -1}, none},
		{"negative Cache", OpenOptions{Cache: -1}, none},
		{"negative MaxMeta", OpenOptions{MaxMeta: -1}, none},
		{"negative MaxChunks", OpenOptions{MaxChunks: -1}, none},
		{"Cache with Postfilter", OpenOptions{Cache: 1, Postfilter: keepBlock}, none},
		{"Mmap", OpenOptions{Mmap: true}, only("Open")},
		{"Locking", OpenOptions{Locking: true}, only("Open", "Edit")},
		{"NoSync", OpenOptions{NoSync: true}, only("Edit", "EditStorage")},
		{"Prefilter", OpenOptions{Prefilter: keepBlock}, only("Edit", "EditStorage")},
		{"others", OpenOptions{Concurrency: 2, Cache: 1 << 20, Verify: true, MaxBytes: -1, MaxMeta: 1 << 20, MaxChunks: 10}, nil},
	} {
		if c.o.Locking && !storage.CanLock {
			continue
		}
		for way, open := range ways {
			f, err := open(&c.o)
			if err == nil {
				must(t, f.Close())
			}
			if fits := c.fits == nil || c.fits[way]; fits != (err == nil) || !fits && !errors.Is(err, ErrParam) {
				t.Errorf("%s, %s: %v", way, c.what, err)
			}
		}
	}
}

// TestCreateOptions does the same for ways of creating.
func TestCreateOptions(t *testing.T) {
	ctx := t.Context()
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken")
	f, err := CreateFunc(ctx, broken, func(b *Batch) error { return b.Append(ctx, small(1)) }, nil)
	must(t, err)
	defer f.Close()
	name := filepath.Join(dir, "new")
	ways := map[string]func(o *CreateOptions) (*Frame, error){
		"Create":         func(o *CreateOptions) (*Frame, error) { return Create(ctx, name, o) },
		"Create, memory": func(o *CreateOptions) (*Frame, error) { return Create(ctx, "", o) },
		"Copy":           func(o *CreateOptions) (*Frame, error) { return Copy(ctx, name, f, o) },
		"Salvage": func(o *CreateOptions) (*Frame, error) {
			f, _, err := Salvage(ctx, name, broken, nil, o)
			return f, err
		},
	}
	type ok map[string]bool
	files := ok{"Create": true, "Copy": true, "Salvage": true}
	made := ok{"Create": true, "Create, memory": true}
	for _, c := range []struct {
		what string
		o    CreateOptions
		fits ok // nil = all
	}{
		{"negative Concurrency", CreateOptions{Concurrency: -1}, ok{}},
		{"negative ChunkSize", CreateOptions{ChunkSize: -1}, ok{}},
		{"large ChunkSize", CreateOptions{ChunkSize: chunk.MaxBytes + 1}, ok{}},
		{"Storage", CreateOptions{Storage: new(Memory)}, ok{"Create, memory": true}},
		{"Storage, Sparse", CreateOptions{Storage: new(Memory), Sparse: true}, ok{}},
		{"Sparse", CreateOptions{Sparse: true}, files},
		{"Locking", CreateOptions{Locking: true}, files},
		{"Params", CreateOptions{Params: chunk.Params{TypeSize: 2}}, made},
		{"ChunkSize", CreateOptions{ChunkSize: 100}, made},
		{"Meta", CreateOptions{Meta: []meta.Layer{}}, made},
		{"VLMeta", CreateOptions{VLMeta: []meta.Layer{}}, made},
		{"others", CreateOptions{Checksums: true, Overwrite: true, Concurrency: 2, NoSync: true, Prefilter: keepBlock, Postfilter: keepBlock}, nil},
	} {
		if c.o.Locking && !storage.CanLock {
			continue
		}
		for way, create := range ways {
			c.o.Overwrite = true
			f, err := create(&c.o)
			if err == nil {
				must(t, f.Close())
			}
			if fits := c.fits == nil || c.fits[way]; fits != (err == nil) || !fits && !errors.Is(err, ErrParam) {
				t.Errorf("%s, %s: %v", way, c.what, err)
			}
		}
	}
}

// TestCreateStorage creates frames in a Storage, which has none or other content.
func TestCreateStorage(t *testing.T) {
	ctx := context.Background()
	st := new(Memory)
	f, err := CreateFunc(ctx, "", func(b *Batch) error { return b.Append(ctx, small(1)) }, &CreateOptions{Storage: st})
	must(t, err)
	must(t, f.Append(ctx, small(2)))
	must(t, f.Close())
	f, err = OpenBytes(st.Bytes(), nil)
	must(t, err)
	if f.NumChunks() != 2 {
		t.Errorf("%d chunks", f.NumChunks())
	}
	before := len(st.Bytes())
	if _, err := Create(ctx, "", &CreateOptions{Storage: st}); !errors.Is(err, fs.ErrExist) || len(st.Bytes()) != before {
		t.Errorf("without Overwrite: %v", err)
	}
	f, err = Create(ctx, "", &CreateOptions{Storage: st, Overwrite: true})
	must(t, err)
	must(t, f.Close())
	f, err = OpenBytes(st.Bytes(), nil)
	must(t, err)
	if f.NumChunks() != 0 {
		t.Errorf("%d chunks after Overwrite", f.NumChunks())
	}
}
