package frame

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/blockcache"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/tune"
	"github.com/goblosc/blosc2/meta"
)

// Frame is an open super-chunk: a list of chunks with metalayers. All methods are safe for concurrent use. Each read
// sees one committed state. Edits wait for each other.
type Frame struct {
	lifecycle
	path      string
	name      string // path or the name of the source, for errors
	opts      engine.Options
	sys       storage.System
	store     store
	writable  bool
	fixed     bool                         // the layout of Regions, whose state does not change
	atClose   func()                       // frees space; nil for reading, so that the linker omits commits
	trusted   atomic.Bool                  // created by this handle, without chunks of a frame that was opened
	lock      *storage.Lock                // nil without Locking
	old       oldFrame                     // during Create
	plain     *coder.Pool                  // for indexes and metalayers
	pool      *coder.Pool                  // for chunks
	plugins   coder.Plugins                // user codecs and filters, checked
	workers   sync.Pool                    // of *worker
	decodings sync.Pool                    // of *decoding
	cache     *blockcache.Cache[*snapshot] // nil without Cache
	encoders  sync.Pool                    // of *encoding
	mu        gate                         // held by the open batch; see unlock
	unsettled bool                         // a reader follows a state that may not be synced; guarded by lock, or by mu
	unnamed   bool                         // likewise the name of its file
	left      atomic.Bool                  // the last reader of an old state has ended since releaseLeft
	tuner     *tuner                       // chooses the parameters of new chunks; nil without a goal
}

// oldFrame is the lock of a frame that a new one will replace.
type oldFrame struct {
	lock *storage.Lock
	root storage.Root // of a sparse frame
}

func newFrame(path string, opts engine.Options, sys storage.System) (*Frame, error) {
	f := &Frame{
		path: path, name: path, opts: opts, sys: storage.At(sys, path), mu: newGate(),
	}
	f.plain = coder.NewPool(&coder.Options{Concurrency: 1, MaxBytes: opts.MaxBytes, Trusted: &f.trusted})
	var err error
	if f.plugins, err = coder.NewPlugins(opts.Codecs, opts.UserFilters); err != nil {
		return nil, f.error(err)
	}
	return f, nil
}

// start makes s the first state of f.
func (f *Frame) start(s *snapshot) {
	f.prepare(s)
	f.publish(nil, s)
}

// prepare makes the pools for reading and writing chunks of a state like s.
func (f *Frame) prepare(s *snapshot) {
	f.pool = coder.NewPool(f.chunkOptions(int(s.typeSize), blockShape(s)))
	if f.opts.Cache > 0 {
		f.cache = blockcache.New[*snapshot](f.opts.Cache)
	}
}

// arrayRecord returns the metalayer with the shapes of an array, or nil. The shapes do not depend on the item size,
// which may be 0 in a damaged frame.
func arrayRecord(s *snapshot) *meta.Array {
	for _, l := range s.meta {
		if l.Name == "b2nd" || l.Name == "caterva" {
			if a, err := meta.ParseArray(l.Content, max(int(s.typeSize), 1)); err == nil {
				return a
			}
		}
	}
	return nil
}

// blockShape returns the shape of the blocks of an array, or nil.
func blockShape(s *snapshot) []int32 {
	if a := arrayRecord(s); a != nil {
		return a.BlockShape
	}
	return nil
}

// arraySizes returns the sizes of the items and of the blocks of an array in bytes, or zeros. If items have more than
// 255 bytes, the type size in the header may be 1; then the size of the chunks determines that of the items.
func arraySizes(s *snapshot) (item, block int64) {
	a := arrayRecord(s)
	if a == nil {
		return 0, 0
	}
	size := func(n int64, shape []int32) int64 {
		for _, length := range shape {
			if n *= int64(length); n > math.MaxInt32 {
				break // larger than any chunk
			}
		}
		return n
	}
	item = int64(s.typeSize)
	if n := size(1, a.ChunkShape); item == 1 && n > 0 && int64(s.chunkSize)/n > coder.MaxTypeSize {
		item = int64(s.chunkSize) / n
	}
	return item, size(item, a.BlockShape)
}

// error adds the name of the frame to an error.
func (f *Frame) error(err error) error {
	if f.name == "" {
		return fmt.Errorf("frame: %w", err)
	}
	return fmt.Errorf("frame %s: %w", f.name, err)
}

func (f *Frame) errClosed() error { return f.error(errs.ErrClosed) }

// orClosed returns an error that wraps fs.ErrClosed, if the frame was closed during the read that failed, because its
// file may be closed.
func (f *Frame) orClosed(err error) error {
	if err == nil || !f.closed.Load() || errors.Is(err, errs.ErrClosed) {
		return err
	}
	return f.error(fmt.Errorf("%w: %w", errs.ErrClosed, err))
}

// wrap adds the part of the frame to an error.
func (f *Frame) wrap(part string, off int64, err error) error {
	return &Error{Path: f.name, Part: part, Chunk: -1, Off: off, Err: err}
}

// chunkError adds the chunk to an error.
func (f *Frame) chunkError(s *snapshot, i int, err error) error {
	switch e := s.index.at(i); {
	case e < 0:
		return f.chunkErrorAt(i, -1, err)
	case s.sparse:
		return f.chunkFileError(i, int64(e), err)
	default:
		return f.chunkErrorAt(i, int64(s.headerLen)+int64(e), err)
	}
}

// chunkErrorAt adds a chunk to an error. off is its offset in a contiguous frame, or -1.
func (f *Frame) chunkErrorAt(i int, off int64, err error) error {
	return &Error{Path: f.name, Part: "chunk", Chunk: i, Off: off, Err: err}
}

// chunkFileError adds a chunk of a sparse frame and its file to an error.
func (f *Frame) chunkFileError(i int, number int64, err error) error {
	return &Error{Path: f.name, Part: "chunk", Chunk: i, Off: number, Err: err, file: true}
}

// checkBounds returns ErrBounds if s has no chunk i.
func (f *Frame) checkBounds(s *snapshot, i int) error {
	if i < 0 || i >= s.index.n {
		return f.errBounds(s, i)
	}
	return nil
}

// errBounds returns the error for a number that no chunk of s has.
func (f *Frame) errBounds(s *snapshot, i int) error {
	err := fmt.Errorf("the number of chunks is %d: %w", s.index.n, ErrBounds)
	if i < 0 { // an Error has no negative chunk number
		return f.wrap(fmt.Sprintf("chunk %d", i), -1, err)
	}
	return f.chunkErrorAt(i, -1, err)
}

// vlContent decodes a variable-length metalayer.
func (f *Frame) vlContent(l meta.Layer) ([]byte, error) {
	b, err := f.plain.Decode(nil, l.Content)
	if err != nil {
		return nil, f.wrap("variable-length metalayer "+l.Name, -1, err)
	}
	return b, nil
}

// checkContent returns an error if a variable-length metalayer cannot be decoded. See once for seen.
func (f *Frame) checkContent(ctx context.Context, seen map[*byte]error, l meta.Layer) error {
	err := once(seen, l, func(l meta.Layer) error {
		_, err := f.plain.DecodeNumber(ctx, nil, l.Content, -1)
		return err
	})
	if err != nil {
		return f.wrap("variable-length metalayer "+l.Name, -1, err)
	}
	return nil
}

// Info describes a frame. Sizes are in bytes.
type Info struct {
	Version    int          // of the frame format
	Sparse     bool         // a directory of chunk files
	NBytes     int64        // decoded size of all chunks
	CBytes     int64        // stored size of the chunks; in a contiguous frame, dead bytes between them included
	FrameLen   int64        // size of the frame; without the chunks in sparse frames
	NumChunks  int          // number of chunks
	TypeSize   int          // size of an item
	BlockSize  int          // decoded size of a block; 0 = automatic, for each chunk
	ChunkSize  int          // decoded size of all chunks but the last; 0 = each has its own; -1 = not known yet
	VLBlocks   bool         // whether blocks have variable sizes
	Params     chunk.Params // parameters for new chunks
	Checksums  bool         // whether the frame has checksums; see CreateOptions
	BlockTable bool         // whether the frame has a block table; see CreateOptions
}

// Info returns the content of the header, or the zero Info if the frame is closed.
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
		BlockTable: findLayer(s.vlmeta, blockLayer) >= 0,
	}
}

// Path returns the name that the frame was opened with, without "file://", or "" if it has none. A relative name counts
// from the working directory at that time. The frame remains the same after os.Chdir, and if that directory is renamed
// while it is the working directory.
func (f *Frame) Path() string { return f.path }

// NumChunks returns the number of chunks.
func (f *Frame) NumChunks() int { return f.current().index.n }

// Meta returns copies of the metalayers, or nil if the frame is closed.
func (f *Frame) Meta() []meta.Layer {
	s := f.snap.Load()
	if s == nil {
		return nil
	}
	return copyLayers(s.meta)
}

// copyLayers returns copies of metalayers.
func copyLayers(layers []meta.Layer) []meta.Layer {
	out := make([]meta.Layer, len(layers))
	for i, l := range layers {
		out[i] = meta.Layer{Name: l.Name, Content: slices.Clone(l.Content)}
	}
	return out
}

// VLMetaNames returns the names of the variable-length metalayers in stored order, except "b2crc32c" and
// "b2blocks", or nil if the frame is closed.
func (f *Frame) VLMetaNames() []string {
	s := f.snap.Load()
	if s == nil {
		return nil
	}
	names := make([]string, 0, len(s.vlmeta))
	for _, l := range s.vlmeta {
		if l.Name != checksumLayer && l.Name != blockLayer {
			names = append(names, l.Name)
		}
	}
	return names
}

// VLMeta returns a copy of the content of a variable-length metalayer, decompressed. By python-blosc2's convention it
// is a MessagePack value: see meta.Unmarshal. The error wraps fs.ErrNotExist, fs.ErrClosed, ErrCorrupt, ErrChecksum or
// ErrTooLarge.
func (f *Frame) VLMeta(name string) ([]byte, error) {
	s := f.snap.Load()
	if s == nil {
		return nil, f.errClosed()
	}
	return s.vlMeta(name)
}

// vlMeta is VLMeta for a state.
func (s *snapshot) vlMeta(name string) ([]byte, error) {
	i := findLayer(s.vlmeta, name)
	if i < 0 {
		return nil, s.f.wrap("variable-length metalayer "+name, -1, errs.ErrNotExist)
	}
	if s.f.opts.Verify {
		if err := s.f.checkLayer(nil, s, true, s.vlmeta[i]); err != nil {
			return nil, err
		}
	}
	return s.f.vlContent(s.vlmeta[i])
}

// pin is acquire without the lock file. It returns nil if the frame is closed. Call unpin afterwards.
func (f *Frame) pin() *snapshot {
	for {
		s := f.snap.Load()
		if s == nil {
			return nil
		}
		s.readers.Add(1)
		// A commit may have happened in between: space that s references may already be overwritten. A mapped file
		// stays mapped until unuse, even if the frame is closed. Pin returns false if it is no longer mapped.
		if f.snap.Load() == s && (s.mapped == nil || s.mapped.Pin()) {
			return s
		}
		f.leave(s)
	}
}

// unpin undoes pin.
func (f *Frame) unpin(s *snapshot) {
	if s.mapped != nil {
		s.mapped.Unpin() // a reader has no use for the error
	}
	f.leave(s)
}

// leave removes a reader of s. After the last reader of an old state it closes the file or directory that only this
// state has used. If another goroutine holds f.mu, that goroutine does, in unlock.
func (f *Frame) leave(s *snapshot) {
	if s.readers.Add(-1) == 0 && f.snap.Load() != s {
		f.left.Store(true)
		f.releaseLeft()
	}
}

// releaseLeft releases the states that their last readers have left, unless another goroutine holds f.mu.
func (f *Frame) releaseLeft() {
	for f.left.Load() && f.mu.tryLock() {
		if f.left.Swap(false) {
			f.ifOpen(func() { f.lock.Do(f.store.release) })
		}
		f.mu.unlock()
	}
}

// unlock unlocks f.mu. A state that was left in the meantime is released now.
func (f *Frame) unlock() {
	f.mu.unlock()
	f.releaseLeft()
}

// lifecycle is the newest snapshot of a frame, with the reason why it accepts no more edits, and whether it is closed.
// Only its methods change it.
type lifecycle struct {
	snap   atomic.Pointer[snapshot] // nil when closed
	broken error                    // not nil if the stored state is unknown: edits return it. Guarded by Frame.mu
	closed atomic.Bool              // set with ending held

	ending  sync.Mutex // guards the fields below
	inBatch bool
}

// current returns the newest snapshot, or an empty one when the frame is closed.
func (l *lifecycle) current() *snapshot {
	if s := l.snap.Load(); s != nil {
		return s
	}
	return &snapshot{}
}

// publish makes s the newest snapshot in place of old, which is nil for the first one, unless the frame was closed.
func (l *lifecycle) publish(old, s *snapshot) { l.snap.CompareAndSwap(old, s) }

// setBroken records why the stored state is unknown. nil changes nothing.
func (l *lifecycle) setBroken(unknown error) {
	if unknown != nil {
		l.broken = unknown
	}
}

// close closes the frame. Unless a batch is open, it calls shut, drops the snapshot, and calls closeStore, even if
// storage of the user panics.
func (l *lifecycle) close(shut func(), closeStore func() error) (err error) {
	l.ending.Lock()
	defer l.ending.Unlock()
	if l.closed.Load() {
		return nil
	}
	l.closed.Store(true)
	if l.inBatch {
		l.snap.Store(nil)
		return nil
	}
	defer func() {
		l.snap.Store(nil)
		err = closeStore()
	}()
	shut()
	return nil
}

// ifOpen calls do, unless the frame is closed, or a call that begins or ends a batch or closes the frame is running.
func (l *lifecycle) ifOpen(do func()) {
	if !l.ending.TryLock() {
		return
	}
	defer l.ending.Unlock()
	if !l.closed.Load() {
		do()
	}
}

// beginBatch records that a batch is open, unless the frame is closed.
func (l *lifecycle) beginBatch() bool {
	l.ending.Lock()
	defer l.ending.Unlock()
	l.inBatch = !l.closed.Load()
	return l.inBatch
}

// leaveBatch undoes beginBatch. If the frame was closed in between, it calls closeStore.
func (l *lifecycle) leaveBatch(closeStore func() error) {
	l.ending.Lock()
	defer l.ending.Unlock()
	late := l.inBatch && l.closed.Load()
	l.inBatch = false
	if late {
		closeStore() // ignore the error: a commit has synced
	}
}

// gate is a mutex whose lock waits no longer than a context allows.
type gate chan struct{}

func newGate() gate { return make(gate, 1) }

// lock returns the error of ctx if ctx is done first. If it had to wait, the error names the frame and what it waited
// for.
func (g gate) lock(ctx context.Context, f *Frame, what string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case g <- struct{}{}:
		return nil
	case <-ctx.Done():
		return f.error(fmt.Errorf("waiting for %s: %w", what, ctx.Err()))
	}
}

// tryLock reports whether it has locked g, which it does not wait for.
func (g gate) tryLock() bool {
	select {
	case g <- struct{}{}:
		return true
	default:
		return false
	}
}

func (g gate) unlock() { <-g }

// tuner chooses the parameters of the chunks that are added by the Frame that created the file, if CreateOptions have a
// Goal. The open batch uses it. A nil *tuner does not change the parameters.
type tuner struct {
	*tune.Tuner
	first coder.Params // the first choice, which the header records; Level is 0 before that
}

// chunkOptions returns what chunks need to know. blockShape is nil for frames that are not arrays.
func (f *Frame) chunkOptions(itemSize int, blockShape []int32) *coder.Options {
	o := &f.opts
	return &coder.Options{
		Plugins: f.plugins, Prefilter: o.Prefilter, Postfilter: o.Postfilter,
		Concurrency: o.Concurrency, MaxBytes: o.MaxBytes, Trusted: &f.trusted,
		ItemSize: itemSize, BlockShape: blockShape,
	}
}

// errClaim is the error of coder.MayRead for n bytes.
func errClaim(n int64, err error) error { return fmt.Errorf("%d bytes: %w", n, err) }

// readStored is storage.ReadAll for a size that a file claims. It returns ErrTooLarge if the stored bytes do not
// justify that size.
func (f *Frame) readStored(src io.ReaderAt, off, n int64) ([]byte, error) {
	if err := coder.MayRead(src, off, n, f.opts.MaxBytes); err != nil {
		return nil, errClaim(n, err)
	}
	return storage.ReadAll(src, off, n)
}
