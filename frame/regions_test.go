package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// Frames of these tests have regionChunks chunks, the last of them shorter.
const (
	regionChunks = 7
	regionBytes  = regionChunks*64 - 32
)

func regionOptions(sys storage.System) *CreateOptions {
	return &CreateOptions{
		ChunkSize: 64, Checksums: true, Params: chunk.Params{TypeSize: 4, Codec: codec.LZ4}, Concurrency: 1, sys: sys,
		VLMeta: []meta.Layer{{Name: "note", Content: []byte("\xa5hello")}},
	}
}

// regionItems returns the content of a chunk: zeros, a repeated value, or other items.
func regionItems(i int) []byte {
	p := make([]byte, min(64, regionBytes-64*i))
	for k := range p {
		switch i % 3 {
		case 1:
			p[k] = byte(7 + i)
		case 2:
			p[k] = byte(i*i + k*k*41)
		}
	}
	return p
}

// missing returns the numbers of the missing chunks.
func missing(t testing.TB, r *Regions) []int {
	t.Helper()
	var list []int
	for i, err := range r.Missing(t.Context()) {
		must(t, err)
		list = append(list, i)
	}
	return list
}

// checkRegions returns an error if a finished frame does not have the chunks of these tests.
func checkRegions(f *Frame) error {
	var all bytes.Buffer
	if _, err := io.Copy(&all, f.Content(context.Background())); err != nil {
		return err
	}
	var want []byte
	for i := range regionChunks {
		want = append(want, regionItems(i)...)
	}
	note, err := f.VLMeta("note")
	if err != nil || string(note) != "\xa5hello" || !bytes.Equal(all.Bytes(), want) {
		return fmt.Errorf("%q, %v, content %x", note, err, all.Bytes())
	}
	return f.Verify(context.Background(), nil)
}

// finishedFiles are the files of the finished frame: chunks of zeros have none.
var finishedFiles = []string{"00000001.chunk", "00000002.chunk", "00000004.chunk", "00000005.chunk", "chunks.b2frame"}

// TestRegionsDiffer checks that CreateRegions names the option that differs, not the block size that depends on it.
func TestRegionsDiffer(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	const size = 16 << 20
	o := CreateOptions{ChunkSize: 4 << 20, Params: chunk.Params{TypeSize: 4}}
	r, err := CreateRegions(t.Context(), name, size, &o)
	must(t, err)
	defer r.Close()
	for _, c := range []struct {
		want   string
		change func(o *CreateOptions) int64
	}{
		{"another size or chunk size", func(o *CreateOptions) int64 { return 2 * size }},
		{"another size or chunk size", func(o *CreateOptions) int64 { o.ChunkSize /= 2; return size }},
		{"another item size", func(o *CreateOptions) int64 { o.Params.TypeSize = 8; return size }},
		{"another codec", func(o *CreateOptions) int64 { o.Params.Codec = codec.LZ4HC; return size }},
		{"another level", func(o *CreateOptions) int64 { o.Params.Level = 9; return size }},
		{"other filters", func(o *CreateOptions) int64 { o.Params.Filters = []chunk.Filter{}; return size }},
		{"another block size", func(o *CreateOptions) int64 { o.Params.BlockSize = 64 << 10; return size }},
	} {
		other := o
		n := c.change(&other)
		_, err := CreateRegions(t.Context(), name, n, &other)
		if !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), "an unfinished frame with "+c.want) {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}

// TestRegions fills a frame in any order, twice, through two handles.
func TestRegions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	o := regionOptions(nil)
	r, err := CreateRegions(t.Context(), name, regionBytes, o)
	must(t, err)
	defer r.Close()
	again, err := CreateRegions(t.Context(), name, regionBytes, o) // the same layout
	must(t, err)
	defer again.Close()
	for _, other := range []func(o *CreateOptions){
		func(o *CreateOptions) { o.ChunkSize = 32 },
		func(o *CreateOptions) { o.Params.Level = 9 },
		func(o *CreateOptions) { o.Checksums = false },
		func(o *CreateOptions) { o.VLMeta = nil },
		func(o *CreateOptions) { o.Meta = []meta.Layer{{Name: "a", Content: []byte{1}}} },
	} {
		c := *o
		other(&c)
		_, err := CreateRegions(t.Context(), name, regionBytes, &c)
		// Overwrite would remove the chunks of the other writers.
		if !errors.Is(err, fs.ErrExist) || strings.Contains(err.Error(), "Overwrite") {
			t.Errorf("another layout: %v", err)
		}
	}
	opened, err := OpenRegions(t.Context(), name, &OpenOptions{NoSync: true})
	must(t, err)
	defer opened.Close()

	unfinished := func(err error, text string) {
		t.Helper()
		if !errors.Is(err, ErrUnfinished) || errors.Is(err, ErrCorrupt) || errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %s", err, text)
		}
	}
	for k, i := range []int{5, 0, 5, 3, 1, 6, 0, 4} {
		must(t, []*Regions{r, again, opened}[k%3].Write(t.Context(), i, regionItems(i)))
	}
	if got := missing(t, r); !slices.Equal(got, []int{2}) {
		t.Errorf("missing %v", got)
	}
	for range 2 {
		unfinished(r.Finish(t.Context()), "6 of 7 chunks")
	}
	_, err = Open(t.Context(), name, nil)
	unfinished(err, "6 of 7 chunks")
	_, err = Edit(t.Context(), name, nil)
	unfinished(err, "6 of 7 chunks")
	must(t, opened.Write(t.Context(), 2, []byte(strings.Repeat("abcd", 16)))) // replaced by the next
	must(t, again.Write(t.Context(), 2, regionItems(2)))
	_, err = Open(t.Context(), name, nil)
	unfinished(err, "Finish was not called")

	for range 2 {
		must(t, r.Finish(t.Context()))
	}
	f, err := Open(t.Context(), name, nil)
	must(t, err)
	must(t, checkRegions(f))
	must(t, f.Close())
	for _, h := range []*Regions{r, again, opened} {
		for i := range regionChunks {
			must(t, h.Write(t.Context(), i, regionItems(i)))
			if err := h.Write(t.Context(), i, bytes.Repeat([]byte{99}, len(regionItems(i)))); !errors.Is(err, fs.ErrExist) {
				t.Errorf("other items: %v", err)
			}
		}
		must(t, h.Finish(t.Context()))
		if got := missing(t, h); got != nil {
			t.Errorf("missing %v", got)
		}
	}
	late, err := OpenRegions(t.Context(), name, nil)
	must(t, err)
	must(t, late.Write(t.Context(), 2, regionItems(2)))
	must(t, late.Finish(t.Context()))
	must(t, late.Close())
	if err := late.Write(t.Context(), 2, regionItems(2)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if got := dirNames(t, name); !slices.Equal(got, finishedFiles) {
		t.Errorf("files %q", got)
	}
	if _, err := CreateRegions(t.Context(), name, regionBytes, o); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a finished frame: %v", err)
	}
	// An edit, after which Finish removes nothing.
	f, err = Edit(t.Context(), name, nil)
	must(t, err)
	must(t, one(f).Update(0, regionItems(2)))
	must(t, late.Close())
	must(t, r.Finish(t.Context()))
	verify(t, f)
	must(t, f.Close())
	o.Overwrite = true
	over, err := CreateRegions(t.Context(), name, regionBytes, o)
	must(t, err)
	if got := missing(t, over); len(got) != regionChunks {
		t.Errorf("missing %v", got)
	}
	must(t, over.Close())
}

// TestRegionsReplaced replaces the directory of a layout: Refresh does not follow it.
func TestRegionsReplaced(t *testing.T) {
	switch runtime.GOOS {
	case "windows", "js", "plan9", "wasip1":
		t.Skip("this system cannot rename an opened directory, or follows the name")
	}
	fill := func(t *testing.T, r *Regions) {
		for i := range regionChunks {
			must(t, r.Write(t.Context(), i, regionItems(i)))
		}
	}
	for _, c := range []struct {
		name    string
		replace func(t *testing.T, name string)
	}{
		{"an equal layout", func(t *testing.T, name string) {
			r, err := CreateRegions(t.Context(), name, regionBytes, regionOptions(nil))
			must(t, err)
			must(t, r.Close())
		}},
		{"another layout", func(t *testing.T, name string) {
			r, err := CreateRegions(t.Context(), name, 2*regionBytes, regionOptions(nil))
			must(t, err)
			must(t, r.Close())
		}},
		{"a finished frame", func(t *testing.T, name string) {
			r, err := CreateRegions(t.Context(), name, regionBytes, regionOptions(nil))
			must(t, err)
			fill(t, r)
			must(t, r.Finish(t.Context()))
			must(t, r.Close())
		}},
		{"a file", func(t *testing.T, name string) { must(t, os.WriteFile(name, nil, 0o666)) }},
	} {
		for _, finished := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s-%v", c.name, finished), func(t *testing.T) {
				name := filepath.Join(t.TempDir(), "x")
				r, err := CreateRegions(t.Context(), name, regionBytes, regionOptions(nil))
				must(t, err)
				if finished {
					fill(t, r)
					must(t, r.Finish(t.Context()))
					must(t, r.Close())
					r, err = OpenRegions(t.Context(), name, nil)
					must(t, err)
				}
				defer r.Close()
				if changed, err := r.Layout().Refresh(t.Context()); changed || err != nil {
					t.Errorf("its own directory: %v, %v", changed, err)
				}
				must(t, os.Rename(name, name+".old"))
				c.replace(t, name)
				if changed, err := r.Layout().Refresh(t.Context()); changed || !errors.Is(err, ErrChanged) {
					t.Errorf("%v, %v, want ErrChanged", changed, err)
				}
				fill(t, r) // the directory that it has opened
				must(t, r.Finish(t.Context()))
				f, err := Open(t.Context(), name+".old", nil)
				must(t, err)
				defer f.Close()
				must(t, checkRegions(f))
			})
		}
	}
}

// TestRegionsEdited edits a finished frame that is open as Regions.
func TestRegionsEdited(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	r, err := CreateRegions(t.Context(), name, regionBytes, regionOptions(nil))
	must(t, err)
	defer r.Close()
	for i := range regionChunks {
		must(t, r.Write(t.Context(), i, regionItems(i)))
	}
	must(t, r.Finish(t.Context()))
	if _, err := r.Layout().Refresh(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Finish: %v, want fs.ErrNotExist", err)
	}
	opened, err := OpenRegions(t.Context(), name, nil)
	must(t, err)
	defer opened.Close()
	f, err := Edit(t.Context(), name, nil)
	must(t, err)
	must(t, one(f).Update(0, regionItems(2)))
	must(t, f.Close())
	if changed, err := opened.Layout().Refresh(t.Context()); changed || !errors.Is(err, ErrChanged) {
		t.Errorf("%v, %v, want ErrChanged", changed, err)
	}
}

func dirNames(t testing.TB, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestRegionsSame compares the files of frames whose chunks were written in other orders and with other concurrency.
func TestRegionsSame(t *testing.T) {
	dir := t.TempDir()
	read := func(name string, order []int, concurrency int) map[string]string {
		o := &CreateOptions{ChunkSize: 1 << 16, Params: chunk.Params{TypeSize: 8, BlockSize: 1 << 13}, Concurrency: concurrency}
		r, err := CreateRegions(t.Context(), filepath.Join(dir, name), 4<<16, o)
		must(t, err)
		defer r.Close()
		for _, i := range order {
			p := make([]byte, 1<<16)
			for k := range p {
				p[k] = byte((k / 8 * i) >> (k % 8))
			}
			must(t, r.Write(t.Context(), i, p))
		}
		must(t, r.Finish(t.Context()))
		files := map[string]string{}
		for _, n := range dirNames(t, filepath.Join(dir, name)) {
			b, err := os.ReadFile(filepath.Join(dir, name, n))
			must(t, err)
			files[n] = string(b)
		}
		return files
	}
	a, b := read("a", []int{0, 1, 2, 3}, 1), read("b", []int{3, 1, 3, 0, 2}, 4)
	if len(a) != 4 || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%d and %d files differ", len(a), len(b))
	}
}

// TestRegionsUniform finishes frames of one special value, and one without chunks.
func TestRegionsUniform(t *testing.T) {
	for _, n := range []int64{0, 64, 640} {
		name := filepath.Join(t.TempDir(), "x")
		r, err := CreateRegions(t.Context(), name, n, regionOptions(nil))
		must(t, err)
		for i := range int(n / 64) {
			must(t, r.Write(t.Context(), i, make([]byte, 64)))
		}
		must(t, r.Finish(t.Context()))
		must(t, r.Close())
		f, err := Edit(t.Context(), name, &OpenOptions{Verify: true})
		must(t, err)
		if b, err := io.ReadAll(f.Content(t.Context())); err != nil || !bytes.Equal(b, make([]byte, n)) {
			t.Errorf("%d bytes: %x, %v", n, b, err)
		}
		verify(t, f)
		must(t, f.Append(t.Context(), regionItems(2)))
		must(t, f.Close())
		if got := dirNames(t, name); !slices.Equal(got, []string{"00000000.chunk", "chunks.b2frame"}) {
			t.Errorf("%d bytes: files %q", n, got)
		}
	}
}

// TestRegionsDamage checks that Missing and Finish find damaged chunk files, and that writing them again repairs them.
func TestRegionsDamage(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	r, err := CreateRegions(t.Context(), name, regionBytes, regionOptions(nil))
	must(t, err)
	defer r.Close()
	for i := range regionChunks {
		must(t, r.Write(t.Context(), i, regionItems(i)))
	}
	nans, err := coder.EncodeSpecial(nil, chunk.NaNs, 64, nil, coder.Params{TypeSize: 8})
	must(t, err)
	for what, c := range map[string][]byte{
		"empty": {}, "zeros": make([]byte, 40), "another size": nil, "NaNs of another type": append(nans, 0),
	} {
		file := filepath.Join(name, chunkFileName(4))
		if what == "another size" {
			c, err = os.ReadFile(filepath.Join(name, chunkFileName(5)))
			must(t, err)
			c = append(c, 0)
		}
		must(t, os.WriteFile(file, c, 0o666))
		var at *Error
		if err := r.Finish(t.Context()); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrUnfinished) || !errors.As(err, &at) || at.Chunk != 4 {
			t.Errorf("%s: %v", what, err)
		}
		if got := missing(t, r); !slices.Equal(got, []int{4}) {
			t.Errorf("%s: missing %v", what, got)
		}
		must(t, r.Write(t.Context(), 4, regionItems(4)))
	}
	must(t, os.WriteFile(filepath.Join(name, tempDir, "0123456789abcdef.tmp"), []byte("left"), 0o666))
	must(t, os.WriteFile(filepath.Join(name, "0123456789abcdef.tmp"), []byte("left"), 0o666))
	must(t, r.Finish(t.Context()))
	if got := dirNames(t, name); !slices.Equal(got, finishedFiles) {
		t.Errorf("files %q", got)
	}
	// A damaged layout is not unfinished but corrupt.
	o := regionOptions(nil)
	o.Overwrite = true
	r, err = CreateRegions(t.Context(), name, regionBytes, o)
	must(t, err)
	must(t, r.Close())
	must(t, os.Truncate(filepath.Join(name, layoutFile), 60))
	for _, err := range []error{openError(t, name), func() error { _, err := OpenRegions(t.Context(), name, nil); return err }()} {
		if errors.Is(err, ErrUnfinished) || !errors.Is(err, ErrFormat) && !errors.Is(err, ErrCorrupt) {
			t.Errorf("a damaged layout: %v", err)
		}
	}
}

func openError(t testing.TB, name string) error {
	_, err := Open(t.Context(), name, nil)
	return err
}

// TestRegionsOptions checks options that do not apply, and chunks that do not fit.
func TestRegionsOptions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	for _, o := range []*CreateOptions{nil, {}, {ChunkSize: 8, BlockTable: true}, {ChunkSize: 8, Locking: true}, {ChunkSize: 8, Storage: NewMemory(nil)},
		{ChunkSize: 8, Postfilter: func(_, _ []byte, _ chunk.BlockInfo) error { return nil }}} {
		if _, err := CreateRegions(t.Context(), name, 64, o); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := CreateRegions(t.Context(), "", 64, &CreateOptions{ChunkSize: 8}); !errors.Is(err, ErrParam) {
		t.Errorf("no name: %v", err)
	}
	for _, n := range []int64{-1, 63} {
		if _, err := CreateRegions(t.Context(), name, n, regionOptions(nil)); !errors.Is(err, ErrParam) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
	for _, o := range []*OpenOptions{{Cache: 1}, {Mmap: true}, {Locking: true}, {Verify: true}, {RequireChecksums: true}} {
		if _, err := OpenRegions(t.Context(), name, o); !errors.Is(err, ErrParam) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := OpenRegions(t.Context(), t.TempDir(), nil); !errors.Is(err, ErrFormat) {
		t.Errorf("no layout: %v", err)
	}
	r, err := CreateRegions(t.Context(), name, regionBytes, regionOptions(nil))
	must(t, err)
	defer r.Close()
	for i, want := range map[int]error{-1: ErrBounds, regionChunks: ErrBounds, regionChunks - 1: ErrParam} {
		if err := r.Write(t.Context(), i, make([]byte, 64)); !errors.Is(err, want) {
			t.Errorf("chunk %d: %v", i, err)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range []error{r.Write(done, 0, regionItems(0)), r.Finish(done)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a context that has ended: %v", err)
		}
	}
	if got := missing(t, r); len(got) != regionChunks {
		t.Errorf("missing %v", got)
	}
}

// TestRegionsAtOnce lets several writers write all chunks while others finish the frame again and again.
func TestRegionsAtOnce(t *testing.T) {
	for range programs(t, 20) {
		name := filepath.Join(t.TempDir(), "x")
		var wait sync.WaitGroup
		for w := range 6 {
			wait.Go(func() {
				r, err := CreateRegions(t.Context(), name, regionBytes, regionOptions(nil))
				for errors.Is(err, fs.ErrExist) { // finished
					r, err = OpenRegions(t.Context(), name, nil)
				}
				if err != nil {
					t.Error(err)
					return
				}
				defer r.Close()
				if w < 4 {
					for _, i := range rand.Perm(regionChunks) {
						if err := r.Write(t.Context(), i, regionItems(i)); err != nil {
							t.Error(err)
						}
					}
					return
				}
				for err = ErrUnfinished; errors.Is(err, ErrUnfinished); {
					err = r.Finish(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		f, err := Open(t.Context(), name, nil)
		must(t, err)
		must(t, checkRegions(f))
		must(t, f.Close())
		if got := dirNames(t, name); !slices.Equal(got, finishedFiles) {
			t.Errorf("files %q", got)
		}
	}
}

// TestRegionsLate writes a chunk again while Finish runs.
func TestRegionsLate(t *testing.T) {
	pairs := 0
	for i := range 3 { // the kinds of items
		pairs += interleave(t, 1, func() simulated.Rivals {
			s := simulated.New()
			r, late := filledRegions(t, "x", s), openRegions(t, s)
			var finished, written error
			return simulated.Rivals{
				System: s,
				A:      func() { finished = r.Finish(t.Context()) },
				B:      func() { written = late.Write(t.Context(), i, regionItems(i)) },
				Check: func() error {
					if finished != nil || written != nil {
						return fmt.Errorf("chunk %d: Write: %w; Finish: %w", i, written, finished)
					}
					return errors.Join(r.Close(), late.Close())
				},
			}
		})
	}
	if t.Log(pairs, "pairs"); pairs < 300 {
		t.Errorf("%d pairs", pairs)
	}
}

// TestRegionsRace does two things with a frame at the same time: the first must succeed. Finish then finishes it.
func TestRegionsRace(t *testing.T) {
	filled := simulated.New()
	must(t, filledRegions(t, "x", filled).Close())
	type call func(s *simulated.System, r *Regions) error
	finish := func(_ *simulated.System, r *Regions) error { return r.Finish(t.Context()) }
	write := func(_ *simulated.System, r *Regions) error { return r.Write(t.Context(), 2, regionItems(2)) }
	create := func(s *simulated.System, _ *Regions) error {
		r, err := CreateRegions(t.Context(), "x", regionBytes, regionOptions(s))
		return closed(r, err)
	}
	errAny := errors.New("any error, because another frame replaces this one")
	pairs := 0
	for _, c := range []struct {
		name string
		on   *simulated.System
		a, b call
		may  error // returned by b
	}{
		{"Finish, Finish", filled, finish, finish, nil},
		{"Write, Finish", filled, write, finish, nil},
		{"Write, Write", filled, write, write, nil},
		{"Finish, Missing", filled, finish, func(_ *simulated.System, r *Regions) error {
			for i, err := range r.Missing(t.Context()) {
				return fmt.Errorf("chunk %d is missing, %w", i, err)
			}
			return nil
		}, nil},
		{"Finish, OpenRegions", filled, finish, func(s *simulated.System, _ *Regions) error {
			r, err := OpenRegions(t.Context(), "x", &OpenOptions{Concurrency: 1, sys: s})
			return closed(r, err)
		}, nil},
		{"Finish, an edit", filled, finish, func(s *simulated.System, _ *Regions) error {
			f, err := Edit(t.Context(), "x", &OpenOptions{Concurrency: 1, sys: s})
			if err != nil {
				return err
			}
			return errors.Join(one(f).Update(5, regionItems(5)), f.Close())
		}, ErrUnfinished},
		{"Finish, CreateRegions", filled, finish, create, fs.ErrExist},
		{"CreateRegions, CreateRegions", simulated.New(), create, create, nil},
		{"Create, Finish", filled, func(s *simulated.System, _ *Regions) error {
			f, err := Create(t.Context(), "x", &CreateOptions{Overwrite: true, Concurrency: 1, sys: s})
			if err == nil {
				err = f.Close()
			}
			return err
		}, finish, errAny},
	} {
		t.Run(c.name, func(t *testing.T) {
			pairs += interleave(t, 3, func() simulated.Rivals {
				s := simulated.On(c.on.Image.Clone())
				var handles [2]*Regions
				for i := range handles {
					if c.on == filled {
						handles[i] = openRegions(t, s)
					}
				}
				var a, b error
				return simulated.Rivals{
					System: s,
					A:      func() { a = c.a(s, handles[0]) },
					B:      func() { b = c.b(s, handles[1]) },
					Check: func() error {
						if a != nil || b != nil && c.may != errAny && !errors.Is(b, c.may) {
							return fmt.Errorf("%v; %v", a, b)
						}
						for _, r := range handles {
							if r != nil {
								must(t, r.Close())
							}
						}
						if c.may == errAny {
							return nil
						}
						return recoverRegions(t, s.Image, true, false, nil)
					},
				}
			})
		})
	}
	t.Log(pairs, "pairs")
}

// closed closes what was opened, and returns the first error.
func closed(r *Regions, err error) error {
	if err == nil {
		err = r.Close()
	}
	return err
}

// filledRegions lays out the frame of these tests and writes all chunks.
func filledRegions(t *testing.T, name string, sys storage.System) *Regions {
	t.Helper()
	r, err := CreateRegions(t.Context(), name, regionBytes, regionOptions(sys))
	must(t, err)
	for k := range regionChunks {
		must(t, r.Write(t.Context(), k, regionItems(k)))
	}
	return r
}

// openRegions opens that frame for another writer.
func openRegions(t *testing.T, s *simulated.System) *Regions {
	r, err := OpenRegions(t.Context(), "x", &OpenOptions{Concurrency: 1, sys: s})
	must(t, err)
	return r
}
