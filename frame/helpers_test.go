package frame

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
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

// interleave tries pairs of calls of two operations, and returns the number of pairs. See simulated.Interleave.
func interleave(t *testing.T, every int, prepare func() simulated.Rivals) int {
	t.Helper()
	pairs, err := simulated.Interleave(every, prepare)
	if err != nil {
		t.Error(err)
	}
	return pairs
}

// version makes a state of n chunks. The items of all chunks, a metalayer and a variable-length metalayer are k.
func version(b *Batch, k, n int) error {
	for b.NumChunks() > n {
		if err := b.Delete(b.NumChunks() / 2); err != nil {
			return err
		}
	}
	for i := range n {
		edit := func() error { return b.Append(context.Background(), stamped(k, 10)) }
		if i < b.NumChunks() {
			edit = func() error { return b.Update(context.Background(), i, stamped(k, 10)) }
		}
		if err := edit(); err != nil {
			return err
		}
	}
	return errors.Join(b.SetMeta("k", []byte{byte(k)}), b.SetVLMeta("k", []byte{byte(k)}))
}

// versionOf returns which version a frame has: the number of its metalayers.
func versionOf(f *Frame) (k int, err error) {
	v, err := f.VLMeta("k")
	if m := f.Meta(); err == nil && (len(m) != 1 || !bytes.Equal(m[0].Content, v)) {
		err = fmt.Errorf("metalayer %v, variable-length %v", m, v)
	}
	if err != nil {
		return 0, err
	}
	return int(v[0]), nil
}

// checkVersion reads all chunks and returns an error if they are not those of version k, which has n chunks.
func checkVersion(f *Frame, k, n int) error {
	b, err := io.ReadAll(f.Content(context.Background()))
	if err == nil && (f.NumChunks() != n || !bytes.Equal(b, bytes.Repeat(stamped(k, 10), n))) {
		err = fmt.Errorf("version %d: %d chunks, %x", k, f.NumChunks(), b)
	}
	return err
}

// TestEditedRace opens, refreshes and reads a frame while another process edits it. Opening and Refresh must find one
// of its versions. Reading returns that, or ErrChanged if its chunks were written over.
func TestEditedRace(t *testing.T) {
	pairs := 0
	for _, sparse := range []bool{false, true} {
		e := &editedRace{sparse: sparse, chunks: []int{2}}
		edits := [][]int{{2}, {2, 2, 2}, {0}, {1, compacts}, {overwrite}, {exchanges}, {exchanges, overwrite}}
		if sparse { // which makes more calls of the system
			e.chunks, edits = []int{1}, [][]int{{1}, {2, 1}, {0, compacts}, {overwrite}, {exchanges}, {exchanges, overwrite}}
		}
		e.sys = simulated.New()
		must(t, e.create(t, 0, sparse))
		for _, e.edits = range edits {
			for _, e.read = range []string{"open", "refresh", "read", "verify"} {
				if e.read == "verify" && len(e.edits) == 1 || e.read != "open" && e.read != "refresh" && slices.Contains(e.edits, exchanges) {
					continue // as with other edits
				}
				pairs += interleave(t, 2, func() simulated.Rivals { return e.prepare(t) })
				pairs += interleave(t, 2, func() simulated.Rivals {
					r := e.prepare(t)
					r.A, r.B = r.B, r.A
					return r
				})
				if t.Failed() {
					t.Logf("sparse %v, chunks %v, %s", sparse, e.edits, e.read)
				}
			}
		}
	}
	t.Log(pairs, "pairs")
}

// editedRace is a writer, which makes versions of a frame, and a reader.
type editedRace struct {
	sys    *simulated.System // with the first version
	sparse bool
	chunks []int  // numbers of chunks of the first version
	edits  []int  // numbers of chunks of the next versions, or one of the numbers below
	read   string // what the reader does
}

const (
	compacts  = -1 // the writer calls Compact
	overwrite = -2 // the writer creates a new frame with the name
	exchanges = -3 // the writer creates a new frame of the other kind with the name
)

// create creates a frame of version k with as many chunks as the first version.
func (e *editedRace) create(t *testing.T, k int, sparse bool) error {
	o := &CreateOptions{Sparse: sparse, Checksums: true, Concurrency: 1, sys: e.sys, ChunkSize: 40, Overwrite: true, NoSync: true,
		Meta: []meta.Layer{{Name: "k", Content: []byte{0}}}}
	f, err := CreateFunc(t.Context(), "x", func(b *Batch) error { return version(b, k, e.chunks[0]) }, o)
	if err == nil {
		err = f.Close()
	}
	return err
}

// prepare opens the frame twice.
func (from *editedRace) prepare(t *testing.T) simulated.Rivals {
	e := *from
	e.chunks = slices.Clone(e.chunks)
	e.sys = simulated.On(e.sys.Image.Clone())
	w, err := Edit(t.Context(), "x", &OpenOptions{Concurrency: 1, sys: e.sys, NoSync: true})
	must(t, err)
	o := &OpenOptions{Concurrency: 1, sys: e.sys, Verify: true}
	f, err := Open(t.Context(), "x", o)
	must(t, err)
	last := 0
	write := func() {
		for _, n := range e.edits {
			if n == compacts {
				must(t, w.Compact(t.Context()))
				continue
			}
			if last++; n < 0 {
				e.chunks = append(e.chunks, e.chunks[0])
				must(t, e.create(t, last, e.sparse == (n == overwrite)))
				continue
			}
			e.chunks = append(e.chunks, n)
			must(t, w.edit(t.Context(), func(b *Batch) error { return version(b, last, n) }))
		}
		must(t, w.Close())
	}
	var failed error
	read := func() { f, failed = e.reader(t, f, o) }
	return simulated.Rivals{System: e.sys, A: write, B: read, Check: func() error {
		if failed != nil || f == nil {
			return failed
		}
		defer f.Close()
		_, err := f.Refresh(t.Context())
		if errors.Is(err, ErrChanged) && f.Info().Sparse != (e.sys.Image[e.sys.Image[0].Dir["x"]].Dir != nil) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("afterwards: %w", err)
		}
		return checkVersion(f, last, e.chunks[last])
	}}
}

// reader opens or refreshes a frame, and reads it.
func (e *editedRace) reader(t *testing.T, f *Frame, o *OpenOptions) (*Frame, error) {
	var err error
	switch e.read {
	case "open":
		must(t, f.Close())
		f, err = Open(t.Context(), "x", o)
	case "refresh":
		if _, err = f.Refresh(t.Context()); errors.Is(err, ErrChanged) && slices.Contains(e.edits, exchanges) {
			err = nil
		}
	}
	if err != nil {
		return f, err
	}
	k, err := versionOf(f)
	if err == nil && e.read == "verify" {
		var fault error
		err = cmp.Or(f.Verify(t.Context(), func(err error) error { fault = err; return nil }), fault)
	} else if err == nil {
		err = checkVersion(f, k, e.chunks[k])
	}
	if errors.Is(err, ErrChanged) {
		err = nil
	}
	return f, err
}

// unreadableSystem is a system in which some bytes cannot be read, or some files cannot be opened.
type unreadableSystem struct {
	storage.System
	from, to int64  // bytes of the file, for ReadAt
	name     string // of a file in a directory, for Open
	err      error
}

func (s *unreadableSystem) Open(name string, flag int, mode fs.FileMode) (storage.File, error) {
	f, err := s.System.Open(name, flag, mode)
	if err != nil || filepath.Base(name) != "broken" {
		return f, err
	}
	return unreadableFile{f, s}, nil
}

func (s *unreadableSystem) Lstat(name string) (fs.FileInfo, error) {
	if filepath.Base(name) == s.name {
		return nil, &fs.PathError{Op: "lstat", Path: name, Err: s.err}
	}
	return s.System.Lstat(name)
}

func (s *unreadableSystem) OpenRoot(name string) (storage.Root, error) {
	r, err := s.System.OpenRoot(name)
	if err != nil || filepath.Base(name) != "broken" {
		return r, err
	}
	return unreadableRoot{r, s}, nil
}

type unreadableFile struct {
	storage.File
	s *unreadableSystem
}

func (f unreadableFile) ReadAt(p []byte, off int64) (int, error) {
	if off >= f.s.to || off+int64(len(p)) <= f.s.from {
		return f.File.ReadAt(p, off)
	}
	n, _ := f.File.ReadAt(p[:max(0, f.s.from-off)], off)
	return n, &fs.PathError{Op: "read", Path: "broken", Err: f.s.err}
}

type unreadableRoot struct {
	storage.Root
	s *unreadableSystem
}

func (r unreadableRoot) Open(name string, flag int, mode fs.FileMode) (storage.File, error) {
	if name == r.s.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: r.s.err}
	}
	return r.Root.Open(name, flag, mode)
}
