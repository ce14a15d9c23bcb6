package frame

import (
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// Frame is an open super-chunk: a list of chunks with metalayers. All methods are safe for use by any number of
// goroutines: reading ones see one committed state each, editing ones wait for each other.
type Frame struct {
	path     string
	opts     Options
	store    store
	writable bool
	trusted  atomic.Bool              // made by this very handle
	seed     maphash.Seed             // of the sums of snapshots
	lock     *lock                    // nil without Options.Locking
	snap     atomic.Pointer[snapshot] // nil when closed
	plain    *coder.Pool              // for indexes and metalayers
	pool     *coder.Pool              // for chunks
	workers  sync.Pool                // of *worker
	engines  sync.Pool                // of *decoding
	cache    *cache                   // nil without Options.Cache
	encoders sync.Pool                // of *encoding
	mu       gate                     // held by the open batch
	broken   error                    // after a commit that may have been half done; guarded by mu

	closed  atomic.Bool // set with state held
	state   sync.Mutex  // guards what follows
	inBatch bool
}

func newFrame(path string, o *Options) *Frame {
	f := &Frame{path: path, seed: maphash.MakeSeed(), mu: newGate()}
	if o != nil {
		f.opts = *o
	}
	f.opts.sys = o.system()
	if f.opts.RequireChecksums {
		f.opts.Verify, f.opts.Checksums = true, true
	}
	f.plain = coder.NewPool(&coder.Options{Concurrency: 1, MaxBytes: f.opts.MaxBytes})
	return f
}

// start makes s the first state of f.
func (f *Frame) start(s *snapshot) {
	f.pool = coder.NewPool(f.opts.chunkOptions(int(s.typeSize), blockShape(s)))
	if f.opts.Postfilter == nil {
		f.cache = newCache(f.opts.Cache)
	}
	f.snap.Store(s)
}

// blockShape returns the shape of the blocks of an array, or nil.
func blockShape(s *snapshot) []int32 {
	for _, l := range s.meta {
		if l.Name == "b2nd" || l.Name == "caterva" {
			if a, err := meta.ParseArray(l.Content, int(s.typeSize)); err == nil {
				return a.BlockShape
			}
		}
	}
	return nil
}

// error says which frame an error belongs to.
func (f *Frame) error(err error) error {
	if f.path == "" {
		return fmt.Errorf("frame: %w", err)
	}
	return fmt.Errorf("frame %s: %w", f.path, err)
}

func (f *Frame) errClosed() error { return f.error(ErrClosed) }

// orClosed returns an error of a read that ErrClosed is the cause of, if the frame was closed meanwhile: what is read
// from may be closed by then.
func (f *Frame) orClosed(err error) error {
	if err == nil || !f.isClosed() || errors.Is(err, ErrClosed) {
		return err
	}
	return f.error(fmt.Errorf("%w: %w", ErrClosed, err))
}

// wrap says which part of the frame an error belongs to.
func (f *Frame) wrap(part string, off int64, err error) error {
	return &Error{Path: f.path, Part: part, Chunk: -1, Off: off, Err: err}
}

// Close releases the frame. It does not wait: reads that are under way, also those of Views, succeed or fail with
// ErrClosed. An open batch can only be rolled back, and keeps the file open until then. A second Close does nothing.
func (f *Frame) Close() error {
	f.state.Lock()
	defer f.state.Unlock()
	if f.isClosed() {
		return nil
	}
	f.closed.Store(true)
	if f.inBatch {
		f.snap.Store(nil)
		return nil
	}
	return f.shut()
}

// shut gives back free space and closes the store, even if storage of the user panics.
func (f *Frame) shut() (err error) {
	defer func() {
		f.snap.Store(nil)
		err = f.closeStore()
	}()
	if f.writable && f.lock == nil { // else the next batch does it
		f.store.reclaim(f)
	}
	return nil
}

func (f *Frame) closeStore() error {
	f.lock.close()
	return f.store.close()
}

func (f *Frame) isClosed() bool { return f.closed.Load() }

// beginBatch notes that a batch is open, unless the frame is closed.
func (f *Frame) beginBatch() bool {
	f.state.Lock()
	defer f.state.Unlock()
	f.inBatch = !f.isClosed()
	return f.inBatch
}

// endBatch lets the next batch begin, and closes what Close could not.
func (f *Frame) endBatch() {
	defer f.mu.unlock()
	f.unlockEdit()
	f.state.Lock()
	defer f.state.Unlock()
	late := f.inBatch && f.isClosed()
	f.inBatch = false
	if late {
		f.closeStore() // nothing is lost: a commit has synced
	}
}

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
	CParams   chunk.CParams // parameters for new chunks
	Checksums bool          // it keeps checksums; see Options
}

// Info returns what the header says of the frame, or the zero Info when it is closed.
func (f *Frame) Info() Info {
	if s := f.snap.Load(); s != nil {
		return s.info()
	}
	return Info{}
}

func (s *snapshot) info() Info {
	p := chunk.CParams(s.cparams())
	p.Filters = slices.Clone(p.Filters) // snapshots do not change
	return Info{
		Version: int(s.version), Sparse: s.sparse, NBytes: s.nbytes, CBytes: s.cbytes, FrameLen: s.frameLen,
		NumChunks: s.index.n, TypeSize: int(s.typeSize), BlockSize: int(s.blockSize), ChunkSize: int(s.chunkSize),
		VLBlocks: s.vlBlocks, CParams: p, Checksums: s.sums != nil,
	}
}

// Options returns how the frame was opened. The caller may change the copy.
func (f *Frame) Options() Options { return f.opts }

// Path returns the name that the frame was opened with, or "".
func (f *Frame) Path() string { return f.path }

// NumChunks returns the number of chunks.
func (f *Frame) NumChunks() int {
	if s := f.snap.Load(); s != nil {
		return s.index.n
	}
	return 0
}

// NBytes returns the decoded size of all chunks in bytes.
func (f *Frame) NBytes() int64 {
	if s := f.snap.Load(); s != nil {
		return s.nbytes
	}
	return 0
}

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

// MetaLayer returns the content of a metalayer, or ErrNotFound. It is the caller's.
func (f *Frame) MetaLayer(name string) ([]byte, error) {
	s := f.snap.Load()
	if s == nil {
		return nil, f.errClosed()
	}
	if i := findLayer(s.meta, name); i >= 0 {
		return slices.Clone(s.meta[i].Content), nil
	}
	return nil, f.wrap("metalayer "+name, -1, ErrNotFound)
}

// VLMetaNames returns the names of the variable-length metalayers, in their order, but for ChecksumLayer.
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

// VLMeta returns the content of a variable-length metalayer, or ErrNotFound. It is the caller's. By python-blosc2's
// convention it is a MessagePack value: see meta.Unmarshal.
func (f *Frame) VLMeta(name string) ([]byte, error) {
	s := f.snap.Load()
	if s == nil {
		return nil, f.errClosed()
	}
	i := findLayer(s.vlmeta, name)
	if i < 0 {
		return nil, f.wrap("variable-length metalayer "+name, -1, ErrNotFound)
	}
	if f.opts.Verify {
		if err := f.checkLayer(s, true, s.vlmeta[i]); err != nil {
			return nil, err
		}
	}
	return f.vlContent(s.vlmeta[i])
}

// vlContent decodes a variable-length metalayer.
func (f *Frame) vlContent(l meta.Layer) ([]byte, error) {
	b, err := f.plain.Decode(nil, l.Content)
	if err != nil {
		return nil, f.wrap("variable-length metalayer "+l.Name, -1, err)
	}
	return b, nil
}

func findLayer(layers []meta.Layer, name string) int {
	return slices.IndexFunc(layers, func(l meta.Layer) bool { return l.Name == name })
}
