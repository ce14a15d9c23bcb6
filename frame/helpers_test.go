package frame

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/meta"
)

// options are settings for tests that both create and open frames. Each call takes the fields that apply to it.
type options struct {
	Params                         chunk.Params
	ChunkSize                      int
	Meta, VLMeta                   []meta.Layer
	Sparse, Overwrite, Checksums   bool
	UserFilters                    []chunk.UserFilter
	Prefilter, Postfilter          func(dst, src []byte, b chunk.BlockInfo) error
	Codecs                         []codec.Codec
	Concurrency                    int
	Locking, NoSync                bool
	MaxBytes, MaxMeta, Cache       int64
	MaxChunks                      int
	Verify, RequireChecksums, Mmap bool
	sys                            storage.System
}

// create returns the options for Create.
func (o *options) create() *CreateOptions {
	if o == nil {
		return nil
	}
	return &CreateOptions{
		Params: o.Params, ChunkSize: o.ChunkSize, Meta: o.Meta, VLMeta: o.VLMeta, Sparse: o.Sparse, Overwrite: o.Overwrite,
		Checksums: o.Checksums, UserFilters: o.UserFilters, Prefilter: o.Prefilter, Postfilter: o.Postfilter, Codecs: o.Codecs,
		Concurrency: o.Concurrency, Locking: o.Locking, NoSync: o.NoSync, sys: o.sys,
	}
}

// copying returns the options for Copy and Salvage.
func (o *options) copying() *CreateOptions {
	c := o.create()
	if c != nil {
		c.Params, c.ChunkSize, c.Meta, c.VLMeta = chunk.Params{}, 0, nil, nil
	}
	return c
}

// memory returns the options for Create in memory.
func (o *options) memory() *CreateOptions {
	c := o.create()
	if c != nil {
		c.Sparse, c.Locking = false, false
	}
	return c
}

// edit returns the options for Edit.
func (o *options) edit() *OpenOptions {
	if o == nil {
		return nil
	}
	return &OpenOptions{
		UserFilters: o.UserFilters, Prefilter: o.Prefilter, Postfilter: o.Postfilter, Codecs: o.Codecs, Concurrency: o.Concurrency,
		Locking: o.Locking, NoSync: o.NoSync, MaxBytes: o.MaxBytes, MaxMeta: o.MaxMeta, Cache: o.Cache,
		MaxChunks: o.MaxChunks, Verify: o.Verify, RequireChecksums: o.RequireChecksums, sys: o.sys,
	}
}

// open returns the options for Open.
func (o *options) open() *OpenOptions {
	e := o.edit()
	if e != nil {
		e.NoSync, e.Prefilter, e.Mmap = false, nil, o.Mmap
	}
	return e
}

// bytes returns the options for OpenBytes, OpenReaderAt and OpenSource.
func (o *options) bytes() *OpenOptions {
	e := o.open()
	if e != nil {
		e.Locking, e.Mmap = false, false
	}
	return e
}

// storage returns the options for EditStorage.
func (o *options) storage() *OpenOptions {
	e := o.edit()
	if e != nil {
		e.Locking = false
	}
	return e
}

// content returns all decoded bytes.
func content(t testing.TB, f *Frame) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := io.Copy(&b, f.Content(t.Context())); err != nil {
		t.Fatalf("%s: %v", f.Path(), err)
	}
	return b.Bytes()
}

// must fails the test at once when there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verify checks that a frame has no faults.
func verify(t testing.TB, f *Frame) {
	t.Helper()
	must(t, f.Verify(context.Background(), func(err error) error { return err }))
}

// unhex decodes lines of hexadecimal digits and spaces.
func unhex(t *testing.T, lines ...string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Join(lines, ""), " ", ""))
	must(t, err)
	return b
}

const emptyTrailer = "94 01 93 cd0006 de0000 dc0000 ce00000023 d800 00000000000000000000000000000000"

// window is the part of a Storage from a byte on.
type window struct {
	Storage
	base int64
}

func (w window) ReadAt(p []byte, off int64) (int, error)  { return w.Storage.ReadAt(p, w.base+off) }
func (w window) WriteAt(p []byte, off int64) (int, error) { return w.Storage.WriteAt(p, w.base+off) }
func (w window) Truncate(size int64) error                { return w.Storage.Truncate(w.base + size) }

func (w window) Size() (int64, error) {
	n, err := w.Storage.Size()
	return n - w.base, err
}

// liveSource is a Source that learns the size of a Storage when it is asked to.
type liveSource struct {
	st   Storage
	size atomic.Int64
}

func (s *liveSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return s.st.ReadAt(p, off)
}

func (s *liveSource) Size() int64 {
	if n := s.size.Load(); n > 0 {
		return n
	}
	n, _ := s.st.Size() // before the first Refresh
	s.size.Store(n)
	return n
}

func (s *liveSource) Refresh(context.Context) error {
	n, err := s.st.Size()
	s.size.Store(n)
	return err
}

// singleEdit makes edits of a frame, each a batch of its own.
type singleEdit struct{ f *Frame }

func one(f *Frame) singleEdit { return singleEdit{f} }

func (o singleEdit) do(change func(b *Batch) error) error {
	return o.f.edit(context.Background(), change)
}

func (o singleEdit) Insert(i int, p []byte) error {
	return o.do(func(b *Batch) error { return b.Insert(context.Background(), i, p) })
}

func (o singleEdit) Update(i int, p []byte) error {
	return o.do(func(b *Batch) error { return b.Update(context.Background(), i, p) })
}

func (o singleEdit) AppendBlocks(blocks [][]byte) error {
	return o.do(func(b *Batch) error { return b.AppendBlocks(context.Background(), blocks) })
}

func (o singleEdit) Delete(i int) error { return o.do(func(b *Batch) error { return b.Delete(i) }) }

func (o singleEdit) Reorder(order []int) error {
	return o.do(func(b *Batch) error { return b.Reorder(order) })
}

func (o singleEdit) FillSpecial(n int64, s chunk.Special) error {
	return o.do(func(b *Batch) error { return b.fillSpecial(n, s) })
}

func (o singleEdit) SetMeta(name string, content []byte) error {
	return o.do(func(b *Batch) error { return b.SetMeta(name, content) })
}

func (o singleEdit) SetVLMeta(name string, content []byte) error {
	return o.do(func(b *Batch) error { return b.SetVLMeta(name, content) })
}

func (o singleEdit) DeleteVLMeta(name string) error {
	return o.do(func(b *Batch) error { return b.DeleteVLMeta(name) })
}

func (o singleEdit) SetChecksums(ctx context.Context, on bool) error {
	return o.f.edit(ctx, func(b *Batch) error { return b.SetChecksums(ctx, on) })
}

// appendTo appends what Save writes to dst.
func appendTo(f *Frame, dst []byte) ([]byte, error) {
	w := bytes.NewBuffer(dst)
	_, err := f.Save(context.Background(), w)
	if err != nil {
		return dst, err
	}
	return w.Bytes(), nil
}

// TestSimulated checks the simulated system itself with a frame of each kind.
func TestSimulated(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		s := simulated.New()
		f, err := CreateFunc(t.Context(), "x", func(b *Batch) error { return b.Append(t.Context(), stamped(1, 10)) }, &CreateOptions{sys: s, Sparse: sparse})
		must(t, err)
		must(t, f.Append(t.Context(), stamped(2, 10)))
		must(t, f.Close())
		f, err = Open(t.Context(), "x", &OpenOptions{sys: s})
		must(t, err)
		verify(t, f)
		if s.Opened == 0 || f.NumChunks() != 2 || len(s.Image[0].Dir) != 1 {
			t.Error(s.Opened, f.Info(), s.Image[0].Dir)
		}
		must(t, f.Close())
		if s.Opened != 0 || len(s.Log) < 5 {
			t.Error(s.Opened, fmt.Sprint(s.Log))
		}
	}
}

// rivals are two operations on one simulated system, which act like two processes, and a check after both. The
// operations must call the system on the goroutine that calls them.
type rivals struct {
	sys   *simulated.System
	a, b  func()
	check func() error
}

// interleave tries each pair of calls of the operating system of two operations: a stops before one of its calls, b
// runs up to one of its calls, and then a and at last b go on. prepare makes them for each pair. interleave returns the
// number of pairs.
func interleave(t *testing.T, prepare func() rivals) (pairs int) {
	t.Helper()
	faults := 0
	for resume := 1; ; resume++ {
		resumed := false
		for stop := 1; ; stop++ {
			r := prepare()
			stopped, during := r.run(stop, resume)
			if !stopped {
				break // a makes fewer calls
			}
			if err := r.check(); err != nil {
				if faults++; faults <= 3 {
					t.Errorf("call %d of the first, call %d of the second: %v", stop, resume, err)
				}
			}
			resumed = resumed || during
			pairs++
		}
		if !resumed {
			break // b makes fewer calls
		}
	}
	t.Log(pairs, "pairs,", faults, "faults")
	return pairs
}

// run stops a before a call, and lets it go on before a call of b. It reports whether a stopped, and whether it went on
// during b.
func (r *rivals) run(stop, resume int) (stopped, during bool) {
	calls := 0
	before := func(n int, f func()) func() {
		return func() {
			if calls++; calls == n {
				r.sys.Before = nil
				f()
			}
		}
	}
	next, end := iter.Pull(func(yield func(struct{}) bool) {
		r.sys.Before = before(stop, func() { yield(struct{}{}) })
		r.a()
		r.sys.Before = nil
	})
	defer end()
	if _, stopped = next(); !stopped {
		return false, false
	}
	calls = 0
	r.sys.Before = before(resume, func() { next() })
	r.b()
	r.sys.Before = nil
	if during = calls >= resume; !during {
		next()
	}
	return true, during
}

// TestCreateRace creates a frame twice at the same time. Without Overwrite one call succeeds, and the other returns
// fs.ErrExist. With Overwrite one of the frames remains, and the other call succeeds, too, or returns ErrChanged.
func TestCreateRace(t *testing.T) {
	for _, sparse := range [][2]bool{{false, false}, {true, true}, {false, true}, {true, false}} {
		for _, overwrite := range []bool{false, true} {
			t.Run(fmt.Sprintf("sparse %v overwrite %v", sparse, overwrite), func(t *testing.T) {
				interleave(t, func() rivals { return creators(t, sparse, overwrite) })
			})
		}
	}
}

// creators are two calls of Create for the same name.
func creators(t *testing.T, sparse [2]bool, overwrite bool) rivals {
	s := simulated.New()
	if overwrite {
		f, err := Create(t.Context(), "x", &CreateOptions{sys: s, Sparse: true})
		must(t, err)
		must(t, f.Close())
	}
	var errs [2]error
	create := func(i int) func() {
		return func() {
			var f *Frame
			f, errs[i] = CreateFunc(t.Context(), "x", func(b *Batch) error { return b.Append(t.Context(), stamped(i, 10)) },
				&CreateOptions{sys: s, Sparse: sparse[i], Overwrite: overwrite, Concurrency: 1})
			if errs[i] == nil {
				must(t, f.Close())
			}
		}
	}
	return rivals{s, create(0), create(1), func() error {
		t.Helper()
		f, err := Open(t.Context(), "x", &OpenOptions{sys: s})
		if err != nil {
			return fmt.Errorf("%w; creating: %v", err, errs)
		}
		defer f.Close()
		got, err := io.ReadAll(f.Content(t.Context()))
		won := slices.IndexFunc([][]byte{stamped(0, 10), stamped(1, 10)}, func(p []byte) bool { return bytes.Equal(p, got) })
		ok := won >= 0 && errs[won] == nil
		if lost := errs[1-max(0, won)]; overwrite {
			ok = ok && (lost == nil || errors.Is(lost, ErrChanged))
		} else {
			ok = ok && errors.Is(lost, fs.ErrExist)
		}
		if names := s.Image[0].Dir; err != nil || !ok || len(names) != 1 {
			return fmt.Errorf("frame %d remains, %v; creating: %v; files %v", won, err, errs, names)
		}
		return nil
	}}
}

// TestCreateLate creates a frame over a directory with other files, which appeared while the frame was filled.
func TestCreateLate(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		s := simulated.New()
		_, err := CreateFunc(t.Context(), "x", func(*Batch) error {
			must(t, s.Mkdir("x", 0o777))
			f, err := s.Open("x/notes", os.O_CREATE, 0o666)
			must(t, err)
			return f.Close()
		}, &CreateOptions{sys: s, Sparse: sparse, Overwrite: true})
		if _, lost := s.Stat("x/notes"); !errors.Is(err, fs.ErrExist) || lost != nil || len(s.Image[0].Dir) != 1 {
			t.Errorf("sparse %v: %v, %v, files %v", sparse, err, lost, s.Image[0].Dir)
		}
	}
}
