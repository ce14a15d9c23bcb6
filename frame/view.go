package frame

import (
	"context"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Info describes a frame. Sizes are in bytes.
type Info struct {
	Version   int   // of the frame format
	Sparse    bool  // a directory of chunk files
	NBytes    int64 // decoded size of all chunks
	CBytes    int64 // room that the chunks take
	FrameLen  int64 // size of the frame; without the chunks in sparse frames
	NumChunks int
	TypeSize  int
	BlockSize int // decoded size of a block; 0 = automatic, for each chunk
	ChunkSize int // decoded size of all chunks but the last; 0 = each has its own; -1 = not known yet
	VLBlocks  bool
	Params    chunk.Params // parameters for new chunks
	Checksums bool         // it keeps checksums; see Options
}

// Info returns what the header says of the frame, or the zero Info when it is closed.
func (f *Frame) Info() Info {
	if s := f.snap.Load(); s != nil {
		return s.info()
	}
	return Info{}
}

func (s *snapshot) info() Info {
	p := chunk.Params(s.cparams())
	p.Filters = slices.Clone(p.Filters) // snapshots do not change
	return Info{
		Version: int(s.version), Sparse: s.sparse, NBytes: s.nbytes, CBytes: s.cbytes, FrameLen: s.frameLen,
		NumChunks: s.index.n, TypeSize: int(s.typeSize), BlockSize: int(s.blockSize), ChunkSize: int(s.chunkSize),
		VLBlocks: s.vlBlocks, Params: p, Checksums: s.checksums != nil,
	}
}

// Options returns how the frame was opened. The caller may change the copy.
func (f *Frame) Options() Options { return f.opts }

// Path returns the name that the frame was opened with, or "".
func (f *Frame) Path() string { return f.path }

// NumChunks returns the number of chunks.
func (f *Frame) NumChunks() int { return f.current().index.n }

// NBytes returns the decoded size of all chunks in bytes.
func (f *Frame) NBytes() int64 { return f.current().nbytes }

// Meta returns the metalayers. The slice and the contents are the caller's.
func (f *Frame) Meta() []meta.Layer {
	s := f.snap.Load()
	if s == nil {
		return nil
	}
	out := make([]meta.Layer, len(s.meta))
	for i, l := range s.meta {
		out[i] = meta.Layer{Name: l.Name, Content: slices.Clone(l.Content)}
	}
	return out
}

// MetaLayer returns the content of a metalayer, or fs.ErrNotExist. It is the caller's.
func (f *Frame) MetaLayer(name string) ([]byte, error) {
	s := f.snap.Load()
	if s == nil {
		return nil, f.errClosed()
	}
	if i := findLayer(s.meta, name); i >= 0 {
		return slices.Clone(s.meta[i].Content), nil
	}
	return nil, f.wrap("metalayer "+name, -1, errs.ErrNotExist)
}

// VLMetaNames returns the names of the variable-length metalayers, in their order, except ChecksumLayer.
func (f *Frame) VLMetaNames() []string {
	s := f.snap.Load()
	if s == nil {
		return nil
	}
	names := make([]string, 0, len(s.vlmeta))
	for _, l := range s.vlmeta {
		if l.Name != ChecksumLayer {
			names = append(names, l.Name)
		}
	}
	return names
}

// VLMeta returns the content of a variable-length metalayer, or fs.ErrNotExist. It is the caller's. By python-blosc2's
// convention it is a MessagePack value: see meta.Unmarshal.
func (f *Frame) VLMeta(name string) ([]byte, error) {
	s := f.snap.Load()
	if s == nil {
		return nil, f.errClosed()
	}
	i := findLayer(s.vlmeta, name)
	if i < 0 {
		return nil, f.wrap("variable-length metalayer "+name, -1, errs.ErrNotExist)
	}
	if f.opts.Verify {
		if err := f.checkLayer(s, true, s.vlmeta[i]); err != nil {
			return nil, err
		}
	}
	return f.vlContent(s.vlmeta[i])
}

// View is one state of a frame, kept for several reads that must agree with each other. The zero View is of no use.
// Release it; until then the space of that state is not used again. It may be used by any number of goroutines.
type View struct {
	f     *Frame
	s     *snapshot
	batch bool
}

// View returns the newest state.
func (f *Frame) View() (View, error) { return f.ViewContext(context.Background()) }

// ViewContext is View with a context that bounds how long it waits for a lock file. See Options.
func (f *Frame) ViewContext(ctx context.Context) (View, error) {
	s, err := f.acquire(task.Context(ctx))
	return View{f: f, s: s}, err
}

// Release ends the use of the view.
func (v View) Release() {
	if !v.batch {
		v.f.unuse(v.s)
	}
}

// MetaLayer returns the content of a metalayer and whether there is one. It is shared: the caller must not change
// it. It is the same memory as long as the metalayer does not change.
func (v View) MetaLayer(name string) ([]byte, bool) {
	i := findLayer(v.s.meta, name)
	if i < 0 {
		return nil, false
	}
	return v.s.meta[i].Content, true
}

// Info returns what the header says of the state.
func (v View) Info() Info { return v.s.info() }

// ChunkInfo returns what header and index say of chunk i. See Frame.ChunkInfo.
func (v View) ChunkInfo(i int) (ChunkInfo, error) {
	c, err := v.f.chunkInfo(v.s, i)
	return c, v.checked(err)
}

// checked returns the error of a read, or ErrChanged if the state may have been written over since.
func (v View) checked(err error) error {
	if v.batch {
		return err
	}
	return v.f.afterRead(v.s, err)
}

// View returns the state that the batch makes, as far as it is. Releasing it is not needed.
func (b *Batch) View() View { return View{f: b.f, s: b.next, batch: true} }

// Hold returns the state that the batch has made so far and keeps it readable until release is called, whatever the
// batch does: for edits that make new chunks of old ones. Release it before Commit; one state can be kept at
// a time.
func (b *Batch) Hold() (v View, release func()) {
	b.pinned, b.owned = true, false
	return View{f: b.f, s: b.next.successor(), batch: true}, func() {
		b.pinned = false
		for _, p := range b.unfreed {
			b.free(p.e, p.size)
		}
		b.unfreed = nil
	}
}

// Uniform returns the special value that all chunks are, when the index has one entry for all of them. It returns false
// if reading gives something else: what a Postfilter makes of the value, or the error for data that is not in the
// frame.
func (v View) Uniform() (chunk.Special, bool) {
	x := &v.s.index
	if x.n == 0 || x.list != nil || v.f.opts.Postfilter != nil || v.s.origin != nil {
		return chunk.Regular, false
	}
	special, err := x.uniform.special()
	return special, err == nil && special != chunk.Regular
}

// Special returns the special value that the index has for chunk i: zeros, NaNs or uninitialized items, or
// chunk.Regular for a stored chunk. It reads nothing; i must be the number of a chunk.
func (v View) Special(i int) chunk.Special {
	special, err := v.s.index.at(i).special()
	if err != nil {
		return chunk.Regular // reading it will say why
	}
	return special
}
