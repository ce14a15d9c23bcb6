package frame

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// CreateOptions are the settings for creating a frame. A nil *CreateOptions and zero fields are the defaults. No field
// is ignored: a field that cannot apply to the call is ErrParam. The frame keeps the slices and functions.
type CreateOptions struct {
	Params    chunk.Params // compression parameters of new chunks
	ChunkSize int          // decoded size of all chunks but the last, in bytes; 0 = that of the first chunk appended
	Meta      []meta.Layer // metalayers: fixed names and lengths; nil = none
	VLMeta    []meta.Layer // variable-length metalayers, not compressed; nil = none
	Checksums bool         // keep a CRC-32C of each chunk, the index and the metalayers

	Sparse    bool    // a directory with one file for each chunk; needs a name
	Overwrite bool    // replace an existing file or frame directory, or the content of Storage
	Storage   Storage // where the frame goes, in place of a name; closing the frame closes it; nil = the name decides

	// Concurrency is the number of goroutines that a call may use, at most 1024; 0 = GOMAXPROCS.
	Concurrency int
	// Locking shares the frame with other processes; see OpenOptions.Locking. It needs a name.
	Locking bool
	// NoSync makes commits not wait for the disk: after a power cut, the frame may be damaged.
	NoSync bool

	Codecs      []codec.Codec      // user codecs, besides the built-in ones
	UserFilters []chunk.UserFilter // user filters
	// Prefilter changes each block before it is encoded: it sets dst, which has the size of src, and may be called by
	// several goroutines. nil = none.
	Prefilter func(dst, src []byte, b chunk.BlockInfo) error
	// Postfilter changes each block after it is decoded, in the same way. nil = none.
	Postfilter func(dst, src []byte, b chunk.BlockInfo) error

	sys storage.System // nil = the operating system
}

// OpenOptions are the settings for opening a frame. A nil *OpenOptions and zero fields are the defaults. No field is
// ignored: a field that cannot apply to the call is ErrParam. The frame keeps the slices and functions.
//
// Symbolic links in the name of a frame are followed. Inside the directory of a sparse frame, a link is followed only
// for reading, and only to a file in the same directory. New files are never written through links: a file or link of
// that name is removed first.
type OpenOptions struct {
	// Concurrency is the number of goroutines that a call may use, at most 1024; 0 = GOMAXPROCS.
	Concurrency int

	// Cache is the number of bytes of decoded blocks to keep; 0 = none. Blocks that were decoded for a small read, one
	// of at most a quarter of Cache in its blocks, are kept for later reads of all goroutines, and the least used are
	// dropped. It is for reading items one by one that are close to each other. Commits and Refresh empty the cache. It
	// cannot be combined with a Postfilter.
	Cache int64

	// Mmap is for Open: it maps the file of a contiguous frame into memory, and chunks are decoded from there without a
	// copy. It has no effect for sparse frames, and where the operating system has no such mapping. Use it for files
	// that no process edits in place or truncates while they are open; edits by this package and by C-Blosc2 do both.
	// If the file is truncated nevertheless, or the disk fails, a read of a missing page returns ErrChanged: the read
	// sets runtime/debug.SetPanicOnFault for its goroutines and recovers from faults inside the mapping, and from no
	// others. Bytes that change while they are decoded can give wrong data or crash the process. For files of other
	// users, leave Mmap off: then every byte is copied before it is parsed. The memory is unmapped when the frame is
	// closed and its last reader has ended.
	Mmap bool

	// Locking is for Open and Edit: frames in files and directories may then be read and edited by several processes at
	// a time, if all of them use it. It uses the lock file of C-Blosc2 (NAME.b2lock, or .b2lock in the directory;
	// BLOSC_LOCKING=1 or "locking" there). Each read and batch begins with what was committed last. A batch waits until
	// no other process reads or edits, and other processes wait until it ends. Goroutines of this Frame go on reading
	// while one of them edits, but where another process edits just before that batch or after it, they may get
	// ErrChanged. Methods that only return sizes and metalayers return what the Frame knows: see Refresh. The locks are
	// those of the operating system and not fair: processes that read without a pause can keep others from editing.
	// Systems without such locks return errors.ErrUnsupported; some network file systems do so, too, or lock nothing. A
	// lock file must be a regular file, and for editing must have no other name (hard link).
	Locking bool

	// NoSync is for editing: commits do not wait for the disk. After a power cut, the frame may be damaged.
	NoSync bool

	// Verify compares what is read with the checksums that the frame keeps. See the package comment.
	Verify bool

	// RequireChecksums is for callers who rely on checksums. It implies Verify. For a frame without checksums, or with
	// stale ones, opening and Refresh return ErrChecksum, and so do reads that follow a commit of another process.
	// Edits cannot remove the checksums. Without RequireChecksums, a frame whose checksums are lost looks like one that
	// never had any, unless Verify finds their record under another name.
	RequireChecksums bool

	// MaxBytes is the number of bytes that may be allocated because the frame claims a size; a negative value is no
	// limit. 0 = 64 MiB, or 4096 times the stored bytes that are not zero.
	MaxBytes int64
	// MaxMeta is the number of bytes that stored metalayers may take, in the header and in the trailer each. A frame
	// with more is ErrTooLarge when it is opened. 0 = the size of the frame.
	MaxMeta int64
	// MaxChunks is the number of chunks that a frame may have. A frame with more is ErrTooLarge when it is opened. 0 =
	// an index may take 4096 times its stored size of memory.
	MaxChunks int

	Codecs      []codec.Codec      // user codecs, besides the built-in ones
	UserFilters []chunk.UserFilter // user filters
	// Prefilter changes each block before it is encoded: it sets dst, which has the size of src, and may be called by
	// several goroutines. It is for editing. nil = none.
	Prefilter func(dst, src []byte, b chunk.BlockInfo) error
	// Postfilter changes each block after it is decoded, in the same way. nil = none.
	Postfilter func(dst, src []byte, b chunk.BlockInfo) error

	sys storage.System // nil = the operating system
}

// place is where a frame is opened.
type place uint8

const (
	placeFile    place = iota // a file or directory, for reading
	placeEdit                 // a file or directory, for editing
	placeBytes                // a source or memory, for reading
	placeStorage              // a Storage, for editing
)

// settings returns the internal form of o, or ErrParam if a field cannot apply.
func (o *OpenOptions) settings(p place) (engine.Options, storage.System, error) {
	if o == nil {
		return engine.Options{}, storage.OS(), nil
	}
	write := p == placeEdit || p == placeStorage
	err := firstBad([]fieldCheck{
		{"MaxBytes", o.MaxBytes < -1, "is below -1"},
		{"Concurrency", o.Concurrency < 0, "is negative"},
		{"Cache", o.Cache < 0, "is negative"},
		{"MaxMeta", o.MaxMeta < 0, "is negative"},
		{"MaxChunks", o.MaxChunks < 0, "is negative"},
		{"Cache", o.Cache > 0 && o.Postfilter != nil, "cannot be combined with a Postfilter"},
		{"Mmap", o.Mmap && p != placeFile, "is for Open"},
		{"Locking", o.Locking && p != placeFile && p != placeEdit, "is for files and directories"},
		{"NoSync", o.NoSync && !write, "is for editing"},
		{"Prefilter", o.Prefilter != nil && !write, "is for editing"},
	})
	if err == nil {
		err = checkLocking(o.Locking)
	}
	return engine.Options{
		Concurrency: o.Concurrency, Cache: o.Cache, Mmap: o.Mmap, Locking: o.Locking, NoSync: o.NoSync,
		Verify: o.Verify || o.RequireChecksums, RequireChecksums: o.RequireChecksums,
		MaxBytes: o.MaxBytes, MaxMeta: o.MaxMeta, MaxChunks: o.MaxChunks,
		Codecs: o.Codecs, UserFilters: o.UserFilters, Prefilter: o.Prefilter, Postfilter: o.Postfilter,
	}, systemOr(o.sys), err
}

// settings returns the internal form of o, or ErrParam if a field cannot apply to a frame of that name.
func (o *CreateOptions) settings(name string) (engine.Options, storage.System, error) {
	if o == nil {
		return engine.Options{}, storage.OS(), nil
	}
	err := firstBad([]fieldCheck{
		{"Concurrency", o.Concurrency < 0, "is negative"},
		{"ChunkSize", o.ChunkSize < 0 || o.ChunkSize > chunk.MaxBytes, fmt.Sprintf("is %d, want 0 to %d", o.ChunkSize, chunk.MaxBytes)},
		{"Storage", o.Storage != nil && name != "", "is in place of a name"},
		{"Sparse", o.Sparse && name == "", "needs the name of a directory"},
		{"Locking", o.Locking && name == "", "needs the name of a file or directory"},
	})
	if err == nil {
		err = checkLocking(o.Locking)
	}
	return engine.Options{
		Params: o.Params, ChunkSize: o.ChunkSize, Meta: o.Meta, VLMeta: o.VLMeta, Checksums: o.Checksums,
		Sparse: o.Sparse, Overwrite: o.Overwrite, Concurrency: o.Concurrency, Locking: o.Locking, NoSync: o.NoSync,
		Codecs: o.Codecs, UserFilters: o.UserFilters, Prefilter: o.Prefilter, Postfilter: o.Postfilter,
	}, systemOr(o.sys), err
}

// checkKept returns ErrParam if o has a field of the content of a frame, which the call, a Copy or Salvage, takes from
// another frame.
func (o *CreateOptions) checkKept(call string) error {
	if o == nil {
		return nil
	}
	reason := "comes from the frame in a " + call
	return firstBad([]fieldCheck{
		{"Params", !reflect.ValueOf(o.Params).IsZero(), reason},
		{"ChunkSize", o.ChunkSize != 0, reason},
		{"Meta", o.Meta != nil, reason},
		{"VLMeta", o.VLMeta != nil, reason},
	})
}

// fieldCheck is a field of options, whether it cannot apply, and why.
type fieldCheck struct {
	name   string
	bad    bool
	reason string
}

// firstBad returns ErrParam for the first field that cannot apply.
func firstBad(checks []fieldCheck) error {
	for _, c := range checks {
		if c.bad {
			return fmt.Errorf("frame: option %s %s: %w", c.name, c.reason, ErrParam)
		}
	}
	return nil
}

// systemOr returns the operating system, or what takes its place in tests.
func systemOr(sys storage.System) storage.System {
	if sys == nil {
		return storage.OS()
	}
	return sys
}

// checkLocking fails where the option Locking asks for what this system does not have.
func checkLocking(locking bool) error {
	if locking && !storage.CanLock {
		return fmt.Errorf("frame: this system has no locks of files: %w", errors.ErrUnsupported)
	}
	return nil
}

// chunkOptions returns what chunks need to know. blockShape is nil for frames that are not arrays.
func (f *Frame) chunkOptions(itemSize int, blockShape []int32) *coder.Options {
	o := &f.opts
	return &coder.Options{
		Plugins: f.plugins, Prefilter: o.Prefilter, Postfilter: o.Postfilter,
		Concurrency: o.Concurrency, MaxBytes: o.MaxBytes,
		ItemSize: itemSize, BlockShape: blockShape,
	}
}

// workersFor returns the number of goroutines for n units of work.
func (f *Frame) workersFor(n int64) int { return task.Workers(f.opts.Concurrency, n) }
