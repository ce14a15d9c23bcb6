package frame

import (
	"errors"
	"fmt"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Options are the settings for opening and creating frames. A nil *Options and zero fields are the defaults.
//
// With Locking, frames in files and directories may be read and edited by several processes at a time, if all of them
// use it: the lock file of C-Blosc2 (NAME.b2lock, or .b2lock in the directory; BLOSC_LOCKING=1 or "locking" there).
// Each read, View and batch begins with what was committed last. A batch waits until no other process reads or edits,
// and other processes wait until it ends; a View lets others read, but not edit, until it is released. Goroutines of
// this handle go on reading while one of them edits, but where another process edits just before that batch or after
// it, they may get an ErrChanged. Methods that only return sizes and metalayers return what the handle knows: see
// Refresh. The locks are the system's and not fair: processes that read without a pause can keep others from editing.
// Systems without such locks give errors.ErrUnsupported; some network file systems do so, too, or lock nothing.
//
// With Cache, blocks that were decoded for a small read, one of at most a quarter of that many bytes in its blocks, are
// kept for the next ones of all goroutines, and the least used thrown out: for reading items one by one that lie close
// to each other. Commits and Refresh empty it. Frames with a Postfilter have none.
//
// With Mmap, Open maps the file of a contiguous frame into memory, and chunks are decoded from there without a copy. It
// is for files that no process edits in place or truncates while they are open; edits by this package and by C-Blosc2
// do both. If the file is truncated nevertheless, or the disk fails, a read of a missing page returns ErrChanged: the
// read sets runtime/debug.SetPanicOnFault for its goroutines and recovers from faults inside the mapping, and from no
// others. Bytes that change while they are decoded can give wrong data or crash the process. For files of other users,
// leave Mmap off: then every byte is copied before it is parsed. Where the operating system has no such mapping, and
// for all other frames, Mmap has no effect. The memory is unmapped when the frame is closed and its last reader and
// View have ended.
//
// Symbolic links in the name of a frame are followed. Inside the directory of a sparse frame, a link is followed only
// for reading, and only to a file in the same directory. New files are never written through links: a file or link of
// that name is removed first. A lock file must be a regular file, and for editing must have no other name (hard link).
//
// Frames with more than MaxChunks chunks, or more than MaxMeta bytes of metalayers in header and trailer, are
// ErrTooLarge when they are opened. Without MaxChunks, the index may take up to 4096 times its stored size of memory.
// Without MaxMeta, the size of the file is the limit.
//
// Prefilter computes from each block src the bytes that are encoded instead. It runs before the filters of the chunk,
// and for stored chunks too. Postfilter computes from each decoded block src the bytes that the reader gets. It runs
// for special values too. Both must write all of dst, under the rules of chunk.UserFilter. nil = the block is not
// changed.
type Options struct {
	// For frames that are created.
	Params    chunk.Params // compression parameters of new chunks
	ChunkSize int          // decoded size of all chunks but the last, in bytes; 0 = that of the first chunk appended
	Meta      []meta.Layer // metalayers: fixed names and lengths
	VLMeta    []meta.Layer // variable-length metalayers; copies have those of the original
	Sparse    bool         // a directory with one file for each chunk
	Overwrite bool         // the first commit replaces an existing file or frame
	Checksums bool         // keep a CRC-32C of each chunk, the index and the metalayers

	// For all frames.
	UserFilters []chunk.UserFilter                             // user filters
	Prefilter   func(dst, src []byte, b chunk.BlockInfo) error // see above
	Postfilter  func(dst, src []byte, b chunk.BlockInfo) error // see above
	Codecs      []codec.Codec                                  // user codecs
	Concurrency int                                            // goroutines per call, at most 1024; 0 = GOMAXPROCS
	MaxBytes    int64                                          // see chunk.Coder
	MaxChunks   int                                            // most chunks; 0 = see below
	MaxMeta     int64                                          // most bytes of stored metalayers; 0 = see below
	Locking     bool                                           // use the lock file; see above
	Verify      bool                                           // compare with the checksums that a frame keeps
	Cache       int64                                          // bytes of decoded blocks to keep; 0 = none; see above
	Mmap        bool                                           // Open maps files into memory; see above
	NoSync      bool                                           // commits do not wait for the disk
	plugins     coder.Plugins                                  // Codecs and UserFilters, checked
	sys         storage.System                                 // nil = the operating system
	Offset      int64                                          // of a contiguous frame in its file, in bytes

	// RequireChecksums is for callers who rely on checksums. It implies Verify. For a frame without checksums, or
	// with stale ones, opening and Refresh return ErrChecksum, and so do reads that follow a commit of another process.
	// New frames have checksums, and edits cannot remove them. Without RequireChecksums, a frame whose checksums are
	// lost looks like one that never had any, unless Verify finds their record under another name.
	RequireChecksums bool
}

// chunkOptions returns what chunks need to know. blockShape is nil for frames that are not arrays.
func (o *Options) chunkOptions(itemSize int, blockShape []int32) *coder.Options {
	return &coder.Options{
		Plugins: o.plugins, Prefilter: o.Prefilter, Postfilter: o.Postfilter,
		Concurrency: o.Concurrency, MaxBytes: o.MaxBytes,
		ItemSize: itemSize, BlockShape: blockShape,
	}
}

// system returns the operating system, or what takes its place in tests.
func (o *Options) system() storage.System {
	if o == nil || o.sys == nil {
		return storage.OS()
	}
	return o.sys
}

// checkLocking fails where Options.Locking asks for what this system does not have.
func (o *Options) checkLocking() error {
	if o != nil && o.Locking && !storage.CanLock {
		return fmt.Errorf("frame: this system has no locks of files: %w", errors.ErrUnsupported)
	}
	return nil
}

// workers returns the number of goroutines for n units of work.
func (o *Options) workers(n int64) int {
	return task.Workers(o.Concurrency, n)
}
