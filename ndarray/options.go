package ndarray

import (
	"fmt"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// CreateOptions are the options for creating an array. A nil *CreateOptions and zero fields select the defaults, which
// are those of python-blosc2:
//
//	a, err := ndarray.Create(ctx, "t.b2nd", shape, data, &ndarray.CreateOptions{Codec: codec.LZ4HC, Level: 9})
//
// A function returns ErrParam if a field that is set cannot apply to the call: Sparse, Overwrite or Locking to an
// array in memory, a name together with Storage, or DType to a function that takes the dtype as an argument.
//
// Copy, Reshape, Concat, Stack and Map take fields that are not set from the source. The fields from Codec to Goal are
// one group: if any of them is set, the others have their defaults. Chunks and Blocks are another group: if one of them
// is set, the other is automatic. Codecs, UserFilters, Concurrency, Checksums and BlockTable are taken one by one.
// Sparse, Overwrite, Storage, Locking, MaxMemory and NoSync are never taken from the source.
type CreateOptions struct {
	// Codec compresses the blocks: codec.Zstd, LZ4, LZ4HC, BloscLZ, Zlib, NDLZ, ZFPAcc, ZFPPrec, ZFPRate, or a user
	// codec. 0 selects Zstd. "go doc codec.Default" lists them; the package comment has more.
	Codec codec.ID
	// CodecMeta is the parameter of NDLZ, ZFP and user codecs, which "go doc codec.Default" describes. Other codecs
	// ignore it.
	CodecMeta uint8
	// Level is 1 (fast) to 9 (small). 0 selects 5. codec.NoCompression stores items uncompressed.
	Level int
	// Filters transform a block before it is compressed, in this order: chunk.Shuffle, BitShuffle, Delta, ByteDelta,
	// TruncPrec, IntTrunc, NDCell, NDMean, or user filters. nil selects Shuffle, or none for ZFP. If Codec and Level
	// are not set either, text (dtype U) is shuffled by characters of four bytes, as in python-blosc2. A list, such as
	// []chunk.Filter{chunk.BitShuffle}, selects exactly these filters, and an empty list none. "go doc chunk.NoFilter"
	// describes them. As in C-Blosc2, nothing checks the dtype: TruncPrec, NDMean and the ZFP codecs destroy other
	// numbers than <f4 and <f8, and IntTrunc those that are not little-endian integers.
	Filters []chunk.Filter
	// Split selects when a block is divided into one stream for each byte of an item. 0 selects chunk.SplitAuto.
	Split chunk.SplitMode
	// Dict trains a dictionary for each chunk. Only Zstd, LZ4 and LZ4HC have dictionaries; other codecs ignore it.
	Dict bool

	// Goal is Balanced, Smallest or Fastest. It chooses codec, level, filters and split mode by the data, so none of
	// the fields above may be set. See Goal.
	Goal Goal

	// Chunks and Blocks are the shapes of a chunk and of a block in items. nil selects the shape that python-blosc2
	// chooses on a machine with a second-level cache of 256 KiB. A length of 0 is chosen automatically. A length of -1
	// is the length of the axis, or in Blocks the length of the chunk if that is shorter. For automatic lengths, an
	// axis of length 0 counts as one that will grow.
	//
	// Set both to get exactly these blocks. Blocks alone only sets the number of items in a block, as in python-blosc2:
	// {64, 1, 1} can become {1, 1, 60}. It keeps its lengths if one of them is 0 or -1, or if an axis has length 0.
	Chunks, Blocks []int64

	// DType is a NumPy dtype in place of DTypeOf for the functions that take Go values. The values are converted as in
	// Write. In Create, "S" and "U" get the length of the longest string. For Copy, Reshape, Concat and Stack, DType
	// replaces the dtype of the source, and the bytes of the items are copied unchanged, so both dtypes must have the
	// same size. Concat and Stack first give all items the byte order of the first source. To convert items, copy an
	// AsType view.
	DType string
	// Attrs are the attributes, which python-blosc2 calls vlmeta. See Array.SetAttr for the values. For Copy of an
	// array, nil selects the attributes of the source, and an empty map none.
	Attrs map[string]any
	// Meta are metalayers of fixed length. For Copy of an array, nil selects those of the source, and an empty list
	// none. The name "b2nd" is reserved. Names must be UTF-8 of 1 to 31 bytes without a NUL.
	Meta []meta.Layer
	// Checksums stores a CRC-32C of each chunk, of the index and of the metalayers, which every edit updates.
	// OpenOptions.Verify compares them when the array is read.
	Checksums bool
	// BlockTable stores the positions of the blocks, about 2 bytes for each, in a variable-length metalayer that other
	// libraries ignore. An item of an array on a server is then read in one round trip instead of two. The table is
	// written when the array is created. A commit that changes items removes it, and Copy writes it again. An array
	// with more than 16 million blocks has no table.
	BlockTable bool

	// Sparse creates a directory with one file for each chunk, in place of one file. It requires a name.
	Sparse bool
	// Overwrite replaces an existing file or frame directory with the first commit. If it is unset and the name exists,
	// or if a directory has other files than those of a frame, the call returns fs.ErrExist. For the files that a
	// killed process can leave, see frame.Create.
	Overwrite bool
	// Storage holds the array in place of a file. The name must be empty. Closing the array closes it.
	Storage frame.Storage
	// Objects is for CreateRegions: a place in an object store that receives the array. The name must be empty.
	Objects frame.Objects

	// Concurrency is the number of goroutines that a call may use. 0 selects GOMAXPROCS; more than 1024 count as 1024.
	Concurrency int
	// Locking shares the array with other processes through the lock file of C-Blosc2. See OpenOptions.Locking, and for
	// Overwrite, also of Copy and Map, frame.CreateOptions.Locking.
	Locking bool
	// MaxMemory is for Copy: about how many bytes of memory it may use while it compresses items again. At most half of
	// that is in use at a time, because the garbage collector frees memory late. Each goroutine takes a part of it.
	// If a few chunks need more, Copy uses more. 0 allows 32 MiB of items, besides the chunks.
	MaxMemory int64
	// NoSync makes commits return before the disk has the data. A power failure may then damage the file. NoSync has no
	// effect in memory.
	NoSync bool
	// Codecs are user codecs, besides the built-in ones. One of them replaces a built-in codec with the same ID.
	Codecs []codec.Codec
	// UserFilters are user filters, besides those of the format.
	UserFilters []chunk.UserFilter
}

// Goal chooses how the chunks of a new array are compressed, by trying codecs and filters on the items. See chunk.Goal
// for the candidates and their cost. The choice is made again for later chunks, so chunks may have different codecs and
// filters. Array.CreateOptions returns the choice for the first chunk, and Array.ChunkInfos the codec and the filters
// of each chunk.
//
// The goal belongs to the Array that was created with it. Later writes of whole chunks follow the goal, and so do
// chunks that Append adds. A chunk that is written in part gets the parameters of the first chunk. After the array is
// opened again, all new chunks get these parameters.
type Goal = chunk.Goal

// The goals: see chunk.Balanced, chunk.Smallest and chunk.Fastest.
const (
	Balanced = chunk.Balanced // small, and fast to read and write
	Smallest = chunk.Smallest // the fewest stored bytes; writing is slow
	Fastest  = chunk.Fastest  // fastest to read
)

// OpenOptions are the options for opening an array. A nil *OpenOptions and zero fields select the defaults.
//
// A function returns ErrParam if a field that is set cannot apply to the call: NoSync to an array that is opened for
// reading, Locking to an array that is not in a file or directory, and Mmap to a call other than Open.
type OpenOptions struct {
	// Concurrency is the number of goroutines that a call may use. 0 selects GOMAXPROCS; more than 1024 count as 1024.
	Concurrency int
	// Cache is the size of a cache of decoded blocks, in bytes, for later reads of neighboring items. Each block counts
	// 192 bytes more than it has. 0 selects no cache. See frame.OpenOptions.Cache.
	Cache int64
	// Mmap is for Open: it maps a file into memory. Use it only for files that no process edits in place or truncates.
	// It has no effect on sparse frames, and on systems without such mappings. See frame.OpenOptions.Mmap.
	Mmap bool
	// Locking shares the array with other processes through the lock file of C-Blosc2. See frame.OpenOptions.Locking.
	// Shape, and calls that need it, such as Size, NBytes, SelectionShape, String and Slice, look for the newest state,
	// too: they wait without a context while another handle edits. To follow an array under a context, read the next
	// items until the error is not ErrBounds, or call Refresh first, so that Shape seldom waits.
	//
	// Tiles, ChunkInfos, Map, ToWriter and Save hold the lock from start to end, also in the body of the loop and while
	// a writer or a function waits. Until then no other process can edit. Read into memory first, or read one box for
	// each call.
	Locking bool
	// NoSync is for Edit: commits return before the disk has the data. A power failure may then damage the file.
	NoSync bool
	// Verify compares the stored bytes that are read with the checksums, if the array has checksums. For a difference,
	// reads return ErrChecksum.
	Verify bool
	// RequireChecksums implies Verify and rejects arrays without checksums with ErrChecksum.
	RequireChecksums bool
	// DType replaces the stored NumPy dtype. It must have the same item size. Use it for Caterva arrays, which have no
	// stored dtype; without it their items are raw bytes.
	DType string

	// MaxBytes limits each allocation whose size the file states, in bytes. This includes blocks, the results of Read
	// and the tiles of Tiles, but not buffers of the caller, as for ReadInto. A call may make several allocations: a
	// read holds up to four blocks for each goroutine. 0 selects 8 MiB for a block and 64 MiB for all else, or 4096
	// times the stored bytes that are not zero, whichever is larger. A value above 8 MiB allows larger blocks than the
	// default does. -1 selects no limit. Beyond the limit, calls return ErrTooLarge. Reductions, Histogram, Quantiles
	// and Tiles of ByChunk hold whole chunks, and Copy, Reshape and Concat, if they compress chunks again, hold whole
	// chunks of the result. Such a chunk must not exceed the limit either. Reads and ToWriter do not hold whole chunks.
	// Memory for stored bytes is not limited: see frame.OpenOptions.MaxBytes.
	MaxBytes int64
	// MaxMeta limits the stored bytes of metalayers and attributes. 0 selects the size of the file.
	MaxMeta int64
	// MaxChunks limits the number of chunks. 0 selects a limit that the size of the index justifies.
	MaxChunks int

	// Objects is for OpenRegions: the place of the array in an object store. The name must be empty.
	Objects frame.Objects

	// Codecs are user codecs, besides the built-in ones. One of them replaces a built-in codec with the same ID.
	Codecs []codec.Codec
	// UserFilters are user filters, besides those of the format.
	UserFilters []chunk.UserFilter
}

// frameOptions returns the options for opening the frame of an array. The frame checks them.
func (o *OpenOptions) frameOptions() *frame.OpenOptions {
	if o == nil {
		return nil
	}
	return &frame.OpenOptions{
		Concurrency: o.Concurrency, Cache: o.Cache, Mmap: o.Mmap, Locking: o.Locking, NoSync: o.NoSync,
		Verify: o.Verify, RequireChecksums: o.RequireChecksums,
		MaxBytes: o.MaxBytes, MaxMeta: o.MaxMeta, MaxChunks: o.MaxChunks, Objects: o.Objects,
		Codecs: o.Codecs, UserFilters: o.UserFilters,
	}
}

// frameOptions returns the options for creating the frame of an array with a name. It does not set what follows from
// the shape and dtype: the item size, the size of blocks and chunks, and the metalayer with the shapes.
func (o *CreateOptions) frameOptions(name string) (frame.CreateOptions, error) {
	for _, l := range o.Meta {
		if l.Name == "b2nd" {
			return frame.CreateOptions{}, paramError("option Meta has a metalayer b2nd, which holds the shapes")
		}
	}
	if o.Goal != 0 && o.hasParams() {
		return frame.CreateOptions{}, paramError("option Goal is in place of Codec, CodecMeta, Level, Filters, Split and Dict")
	}
	if o.Overwrite && name == "" && o.Storage == nil && o.Objects == nil {
		return frame.CreateOptions{}, paramError("option Overwrite is for an array with a name, a Storage or Objects")
	}
	return frame.CreateOptions{
		Params: o.params(), Goal: o.Goal, Meta: o.Meta, Sparse: o.Sparse, Overwrite: o.Overwrite, Checksums: o.Checksums, BlockTable: o.BlockTable,
		Storage: o.Storage, Objects: o.Objects, Concurrency: o.Concurrency, Locking: o.Locking, NoSync: o.NoSync,
		Codecs: o.Codecs, UserFilters: o.UserFilters,
	}, nil
}

// paramError returns an error about options.
func paramError(what string) error { return fmt.Errorf("ndarray: %s: %w", what, ErrParam) }

// params returns the compression parameters.
func (o *CreateOptions) params() chunk.Params {
	return chunk.Params{Codec: o.Codec, CodecMeta: o.CodecMeta, Level: o.Level, Filters: o.Filters, Split: o.Split, Dict: o.Dict}
}

// setParams sets the compression parameters.
func (o *CreateOptions) setParams(p chunk.Params) {
	o.Codec, o.CodecMeta, o.Level, o.Filters, o.Split, o.Dict = p.Codec, p.CodecMeta, p.Level, p.Filters, p.Split, p.Dict
}

// compresses reports whether a compression parameter or a goal is set.
func (o *CreateOptions) compresses() bool {
	return o.Goal != 0 || o.hasParams()
}

// hasParams reports whether a compression parameter is set that a Goal would choose.
func (o *CreateOptions) hasParams() bool {
	return o.Codec != 0 || o.CodecMeta != 0 || o.Level != 0 || o.Filters != nil || o.Split != 0 || o.Dict
}

// from returns the options with what they leave out taken from like. Metalayers and attributes are not taken.
func (o *CreateOptions) from(like *CreateOptions) *CreateOptions {
	var next CreateOptions
	if o != nil {
		next = *o
	}
	if !next.compresses() {
		next.setParams(like.params())
	}
	if next.Chunks == nil && next.Blocks == nil {
		next.Chunks, next.Blocks = like.Chunks, like.Blocks
	}
	if next.Concurrency == 0 {
		next.Concurrency = like.Concurrency
	}
	next.Checksums = next.Checksums || like.Checksums
	next.BlockTable = next.BlockTable || like.BlockTable
	if next.Codecs == nil {
		next.Codecs = like.Codecs
	}
	if next.UserFilters == nil {
		next.UserFilters = like.UserFilters
	}
	return &next
}

// innerOptions returns the options for opening an array that is stored as an attribute of a. Its decoded bytes do not
// justify memory, because few stored bytes decode to many.
func (a *Array) innerOptions() *OpenOptions {
	o := &a.opts
	most := o.MaxBytes
	if most == 0 {
		most = coder.EmbeddedLimit(a.f.Info().FrameLen)
	}
	return &OpenOptions{
		Concurrency: o.Concurrency, MaxBytes: most, MaxMeta: o.MaxMeta, MaxChunks: o.MaxChunks,
		Codecs: o.Codecs, UserFilters: o.UserFilters,
	}
}
