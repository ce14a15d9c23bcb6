package frame

import (
	"runtime"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/meta"
)

// Options say how a frame is opened or created. A nil *Options and zero fields are the defaults.
//
// With Locking, frames in files and directories may be read and edited by several processes at a time, if all of them
// use it: the lock file of C-Blosc2 (NAME.b2lock, or .b2lock in the directory; BLOSC_LOCKING=1 or "locking" there).
// Each read, View and batch begins with what was committed last. A batch waits until no other process reads or edits,
// and other processes wait until it ends; a View lets others read, but not edit, until it is released. Goroutines of
// this handle go on reading while one of them edits, but where another process edits just before that batch or after
// it, they may get an ErrChanged. Methods that only tell sizes and metalayers tell what the handle knows: see Refresh.
// The locks are the system's and not fair: processes that read without a pause can keep others from editing. Systems
// without such locks give errors.ErrUnsupported; some network file systems do so, too, or lock nothing.
//
// With Cache, blocks that were decoded for a small read, one of at most a quarter of that many bytes in its blocks, are
// kept for the next ones of all goroutines, and the least used thrown out: for reading items one by one that lie close to
// each other. Commits and Refresh empty it. Frames with a Postfilter have none.
//
// With Mmap, Open has the system show the file of a contiguous frame as memory, and chunks are decoded from there without
// a copy. It is for files that nobody changes in place or cuts off while they are open, this library's and C-Blosc2's
// edits included: reading what was cut off ends the process with a fault of memory that cannot be caught, and bytes that
// change while they are decoded may do so, too. Where the system cannot, and in all other frames, it changes nothing. The
// memory is given back when the frame is closed and its last reader and View have ended.
type Options struct {
	// For frames that are created.
	CParams   chunk.CParams // compression parameters of new chunks
	ChunkSize int           // decoded size of all chunks but the last, in bytes; 0 = that of the first chunk appended
	Meta      []meta.Layer  // metalayers: fixed names and lengths
	VLMeta    []meta.Layer  // variable-length metalayers; copies have those of the original
	Sparse    bool          // a directory with one file for each chunk
	Overwrite bool          // replace what is there under the name, at the first commit
	Checksums bool          // keep a CRC-32C of each chunk, the index and the metalayers

	// For all frames.
	Filters     chunk.FilterSet                                // filters of the user
	Prefilter   func(dst, src []byte, b chunk.BlockInfo) error // see chunk.Options
	Postfilter  func(dst, src []byte, b chunk.BlockInfo) error // see chunk.Options
	Codecs      chunk.CodecSet                                 // codecs to use; the zero value holds the built-in ones
	Concurrency int                                            // goroutines a call may use; 0 = GOMAXPROCS
	MaxBytes    int64                                          // see chunk.Options
	MaxChunks   int                                            // frames with more are an ErrTooLarge when opened; 0 = no limit but that memory for the index is at most 4096 times its stored size
	MaxMeta     int64                                          // the same for bytes of metalayers, as they are stored in header and trailer; 0 = those of the file
	Locking     bool                                           // use the lock file; see Options
	Verify      bool                                           // compare what is read with the checksums, in frames that keep them
	Cache       int64                                          // bytes of decoded blocks to keep for small reads; 0 = none; see Options
	Mmap        bool                                           // see the files that Open opens as memory; see Options
	NoSync      bool                                           // leave it to the system when written bytes reach the disk
	sys         system                                         // nil = that of the machine
	Offset      int64                                          // where the frame starts in its file, in bytes; contiguous frames only
}

// chunkOptions returns what chunks need to know. blockShape is nil for frames that are not arrays.
func (o *Options) chunkOptions(itemSize int, blockShape []int32) *coder.Options {
	return &coder.Options{
		Codecs: o.Codecs, Filters: o.Filters, Prefilter: o.Prefilter, Postfilter: o.Postfilter,
		Concurrency: o.Concurrency, MaxBytes: o.MaxBytes,
		ItemSize: itemSize, BlockShape: blockShape,
	}
}

// workers returns the number of goroutines for n pieces of work.
func (o *Options) workers(n int64) int {
	c := o.Concurrency
	if c <= 0 {
		c = runtime.GOMAXPROCS(0)
	}
	return int(max(1, min(int64(c), n)))
}
