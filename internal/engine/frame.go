package engine

import (
	"context"
	"io"
	"iter"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
)

// Frame is what package ndarray uses of a frame besides its public methods. See frame.Frame.Engine.
type Frame interface {
	// View returns the newest state. ctx bounds how long it waits for a lock file.
	View(ctx context.Context) (View, error)
	// CheckTarget returns ErrParam if creating a contiguous frame of that name with Overwrite and Locking would wait
	// for the end of reading this frame.
	CheckTarget(name string) error
	// ReadBlock is frame.Frame.ReadBlock. It also returns the number of blocks of the chunk, or -1 if the chunk cannot
	// be opened. Here a special chunk has no blocks.
	ReadBlock(ctx context.Context, dst []byte, i, k int) (b []byte, blocks int, err error)
	// Name returns the name of the frame in errors, or "" if it has none.
	Name() string
	// Options returns how the frame was opened or created. The caller may change the copy.
	Options() Options
	// CheckAlloc is frame.Frame.CheckAlloc with a context.
	CheckAlloc(ctx context.Context, n int64) error
	// AllocLimit returns the number of bytes that frame.Frame.CheckAlloc allows. It reads up to 16 MiB of the stored
	// bytes, or up to 64 MiB if many of them are zeros. Beyond 64 GiB it counts the size of the frame instead.
	AllocLimit(ctx context.Context) int64
}

// Batch is what package ndarray uses of a batch besides its public methods. See frame.Batch.Engine. Its methods must
// not be called at the same time as other edits of the batch.
type Batch interface {
	// Encode writes chunks of size bytes each with the frame's parameters, their blocks encoded on as many goroutines
	// as the options allow. The result does not depend on the number of goroutines. all is about the size of the
	// content of all chunks, for which memory is reserved, or 0 if it is unknown. Encode stops at the first error of
	// the plan, of the context or of writing; the batch can then only be rolled back.
	Encode(ctx context.Context, size int, p WritePlan, all int64) error
	// BlockSize returns the block size of the header, which new chunks get, or 0 if it is automatic.
	BlockSize() int
	// View returns the state of the batch with the edits so far. It need not be released.
	View() View
	// Hold returns the state of the batch with the edits so far. The state stays readable until release is called,
	// regardless of later edits: it is for edits that make new chunks from old ones. The caller must release it before
	// the commit. Only one state can be held at a time.
	Hold() (v View, release func())
	// CopyChunks appends all chunks of a view to an empty frame, as they are stored. The chunk sizes must be the same.
	CopyChunks(ctx context.Context, v View) error
	// CopyMeta adds metalayers of a view to a new frame without chunks, as they are stored. Unlike those of
	// frame.CreateOptions, they may have names with a NameFault. The frame retains them.
	CopyMeta(v View, layers []meta.Layer) error
	// CopyVLMeta copies the variable-length metalayers of a view to the batch, as they are stored.
	CopyVLMeta(v View) error
	// PutChunks replaces chunks of the batch by chunks of a view of any frame, as they are stored. pairs yields the
	// number of a chunk of the batch, and the number of the chunk of the view that replaces it. The chunk sizes must be
	// the same.
	PutChunks(ctx context.Context, v View, pairs iter.Seq2[int, int]) error
	// SelectChunks sets the index to n chunks of size bytes. Chunk i becomes the previous chunk from(i), or zeros if
	// from(i) is negative. Chunks that are no longer referenced are deleted. Arrays use it to change their grid.
	SelectChunks(ctx context.Context, n, size int64, from func(i int64) int64) error
	// CheckChunks returns the error of SelectChunks for an index of n chunks of size bytes, and changes nothing.
	CheckChunks(n, size int64) error
	// ReplaceMeta replaces the content of a metalayer by content of the same length.
	ReplaceMeta(name string, content []byte) error
	// FillSpecial fills an empty frame with n bytes of a special value: zeros, NaNs or uninitialized. It writes only
	// the index. The chunk size must be known.
	FillSpecial(n int64, special chunk.Special) error
	// Scratch returns storage for temporary bytes, which closing it removes: a file beside the frame, or memory if the
	// frame is in memory.
	Scratch() (Storage, error)
}

// Storage is frame.Storage.
type Storage interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Size() (int64, error)
	Truncate(size int64) error
	Sync() error
}

// Regions is what package ndarray uses of a frame that several writers fill. See frame.Regions.Engine.
type Regions interface {
	// Encode writes the chunks of the plan, of size bytes each, to their files. The plan must write every item of a
	// chunk and keep none. all is about the size of the content of all chunks. See Batch.Encode.
	Encode(ctx context.Context, size int, p WritePlan, all int64) error
}

// View is one state of a frame, kept for several reads that must agree with each other. Release it; until then the
// space of that state is not used again. It may be used by any number of goroutines. Only package frame implements it.
type View interface {
	// Release ends the use of the view.
	Release()
	// MetaLayer returns the content of a metalayer, and reports whether it exists. The caller must not change the
	// content. It is the same memory as long as the metalayer does not change.
	MetaLayer(name string) ([]byte, bool)
	// Meta returns copies of all metalayers, in the order in which they are stored.
	Meta() []meta.Layer
	// VLMeta returns the content of a variable-length metalayer. See frame.Frame.VLMeta.
	VLMeta(name string) ([]byte, error)
	// Info returns the content of the header of the state.
	Info() Info
	// Local reports whether the bytes are in memory or in a file, and not in a frame.Source.
	Local() bool
	// ChunkInfo describes chunk i. See frame.Frame.ChunkInfo.
	ChunkInfo(ctx context.Context, i int) (ChunkInfo, error)
	// ChunkInfos returns a function like ChunkInfo. From a source far away, it reads ahead the headers of the chunks
	// that ahead returns. The numbers passed to successive calls of next must not decrease, nor must those of ahead.
	// The caller must call stop. Only one goroutine may call next and stop. They call ahead.
	ChunkInfos(ctx context.Context, ahead func() (i int, ok bool)) (next func(i int) (ChunkInfo, error), stop func())
	// Far reports whether the source reads many ranges at once, and chunks may be stored. If not, Ahead and AheadChunks
	// return the view itself.
	Far() bool
	// Ahead returns a view for several calls of Decode, and for ChunkInfo of chunks that they will need. next visits
	// the chunks of their plans, in the same order. From a source far away, the bytes for later calls are read while
	// earlier calls decode, and between them. Several calls may run at the same time if they begin in about that order.
	// The context is that of the calls. Reading begins at once. The caller must call stop after the last call. Until
	// then next may be called, by one goroutine at a time. The caller releases the view of which Ahead was called, not
	// the new one. sharing is the number of views for which Ahead is called at the same time, which share the memory.
	Ahead(ctx context.Context, sharing int, next func(v *Visit) bool) (ahead View, stop func())
	// AheadChunks returns a view for one call of PutChunks. From a source far away, it begins to read the bytes of the
	// chunks that next returns, in ascending order. See Ahead for the context and stop.
	AheadChunks(ctx context.Context, next func() (i int, ok bool)) (ahead View, stop func())
	// Shared returns a view of the same state. To release it does nothing: the caller releases the view of which Shared
	// was called.
	Shared() View
	// Compared returns a view whose Decode compares chunks with their checksums, also without OpenOptions.Verify. It is
	// for copies, which get checksums of their own. The caller releases the view of which Compared was called. To
	// release the new one does nothing.
	Compared() View
	// Decode decodes the blocks that the plan needs, on as many goroutines as the options allow, and does not use the
	// plan after it returns. It reads one committed state, regardless of concurrent commits. blocks is about the number
	// of blocks: no more goroutines are started. blockSize is the decoded size that blocks must have, in bytes, or 0 if
	// any will do. Decode stops at the first error: of the plan, of the context, or ErrCorrupt, ErrUnsupported,
	// ErrTooLarge or of reading, in a *frame.Error with the chunk.
	Decode(ctx context.Context, p ReadPlan, blocks int64, blockSize int) error
	// Uniform returns the special value of all chunks if the index has one entry for all of them. It returns false if a
	// read returns something other than the value: the result of a Postfilter, or the error for data that is not in the
	// frame.
	Uniform() (chunk.Special, bool)
	// Special returns the special value that the index has for chunk i: zeros, NaNs or uninitialized items, or
	// chunk.Regular for a stored chunk. It reads nothing; i must be the number of a chunk.
	Special(i int) chunk.Special
}

// Internal is a parameter of exported functions that only packages of this module can call.
type Internal struct{ _ byte }

// Stored is bytes for exported functions that only packages of this module can call.
type Stored struct {
	Bytes []byte
	First int                 // number of the first item
	Null  func(item int) bool // reports whether an item is null; nil = none is
	_     Internal
}

// Info is frame.Info.
type Info struct {
	Version    int
	Sparse     bool
	NBytes     int64
	CBytes     int64
	FrameLen   int64
	NumChunks  int
	TypeSize   int
	BlockSize  int
	ChunkSize  int
	VLBlocks   bool
	Params     chunk.Params
	Checksums  bool
	BlockTable bool
}

// ChunkInfo is frame.ChunkInfo.
type ChunkInfo struct {
	Special chunk.Special
	Off     int64
	NBytes  int
	CBytes  int
	Blocks  int
	Stored  bool
	Codec   codec.ID
	Filters [6]chunk.Filter
}
