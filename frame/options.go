package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/meta"
)

// CreateOptions are the settings for creating a frame. A nil *CreateOptions and zero fields are the defaults. Overwrite
// and NoSync have no effect on a frame in memory. No other field is ignored: if a field that is set does not apply to
// the call, the call returns ErrParam. The frame copies the slices. The name of each metalayer must be UTF-8 of 1 to 31
// bytes without a NUL, because other libraries misread other names. Otherwise the call returns ErrParam.
type CreateOptions struct {
	Params    chunk.Params // compression parameters of new chunks
	Goal      chunk.Goal   // chooses codec and filters of new chunks by their data; 0 = those of Params. See chunk.Goal
	ChunkSize int          // decoded size of all chunks but the last, in bytes; 0 = that of the first chunk appended
	Meta      []meta.Layer // metalayers: fixed names and lengths; nil = none
	VLMeta    []meta.Layer // variable-length metalayers, not compressed; nil = none
	Checksums bool         // keep a CRC-32C of each chunk, the index and the metalayers

	// BlockTable stores the positions of the blocks in a variable-length metalayer, "b2blocks", about 2 bytes for each
	// block. A block of a frame on a server is then read in one round trip instead of two. The table is written when
	// the frame is created. A commit that changes chunks removes it, and Copy writes it again. A frame with more than
	// 16 million blocks has no table.
	BlockTable bool

	Sparse    bool    // a directory with one file for each chunk; needs a name
	Overwrite bool    // replace an existing file or frame directory, or the content of Storage
	Storage   Storage // holds the frame, if the name is empty; closing the frame closes it; nil = memory
	Objects   Objects // is for CreateRegions: holds the frame, if the name is empty

	// Concurrency is the number of goroutines that a call may use; 0 = GOMAXPROCS, and more than 1024 count as 1024.
	Concurrency int
	// Locking shares the frame with other processes; see OpenOptions.Locking. It needs a name. With Overwrite, it waits
	// for the lock of the frame that is replaced, so that no commit to that is lost. So two calls at the same time that
	// copy frame A onto frame B and B onto A wait for each other until their contexts end. Reads of a sparse frame do
	// not keep it from being replaced. Its chunk files are removed, so such a read, or a loop over Tiles, may return
	// ErrChanged.
	Locking bool
	// NoSync makes commits return before the disk has their bytes. A power failure may then damage the frame.
	NoSync bool

	Codecs      []codec.Codec      // user codecs, besides the built-in ones
	UserFilters []chunk.UserFilter // user filters
	// Prefilter transforms each block before it is encoded: it reads src and fills dst, which is as long as src.
	// Several goroutines may call it at the same time. It must not change src, and must not retain dst or src. If it
	// returns an error, so does the call. nil = none.
	Prefilter func(dst, src []byte, b chunk.BlockInfo) error
	// Postfilter transforms each block after it is decoded, by the same rules. nil = none.
	Postfilter func(dst, src []byte, b chunk.BlockInfo) error

	regions bool           // the call is CreateRegions
	copied  bool           // Meta is of another frame, whose names need not pass checkLayerName
	sys     storage.System // nil = the operating system
}

// OpenOptions are the settings for opening a frame. A nil *OpenOptions and zero fields are the defaults. No field
// except Mmap is ignored: if a field that is set does not apply to the call, the call returns ErrParam. The frame
// copies the slices.
//
// Symbolic links in the name of a frame are followed. Inside the directory of a sparse frame, a link is followed only
// for reading, and only to a file in the same directory. New files are never written through links: a file or link of
// that name is removed first.
type OpenOptions struct {
	// Concurrency is the number of goroutines that a call may use; 0 = GOMAXPROCS, and more than 1024 count as 1024.
	Concurrency int

	// Cache is the size of a cache of decoded blocks, in bytes; 0 = none. Each block counts 192 bytes more than it has.
	// The cache holds the blocks of small reads, which decode at most a quarter of Cache, for later reads of any
	// goroutine, and drops the least recently used ones. Use it to read neighboring items one by one. Commits and
	// Refresh clear the cache. A frame with a Postfilter cannot have one.
	Cache int64

	// Mmap is for Open: it maps the file of a contiguous frame into memory, and chunks are decoded without copying
	// their bytes. It has no effect on sparse frames, and on systems without such mappings. Closing the frame unmaps
	// the memory after the last read has ended.
	//
	// Use Mmap only for files that no process edits in place or truncates while they are open; edits by this package
	// and by C-Blosc2 do both. Bytes that change while they are decoded can give wrong data or crash the process. Leave
	// Mmap off for files of other users: then every byte is copied before it is parsed. If the file is truncated or the
	// disk fails, a read of a missing page returns ErrChanged. For this, reads set runtime/debug.SetPanicOnFault for
	// their goroutines, and recover only from faults inside the mapping.
	Mmap bool

	// Locking is for Open and Edit: several processes may then read and edit a frame in a file or directory at the same
	// time, if all of them use locking. The lock file is that of C-Blosc2: NAME.b2lock, or .b2lock in the directory.
	// There, BLOSC_LOCKING=1 or "locking" enables it. Each read and each batch begins with the state that was committed
	// last. A batch waits until no other process reads or edits, and other processes wait until the batch ends.
	// Goroutines of this Frame may read during its own batch; such a read may return ErrChanged if another process
	// edits just before or after the batch. Methods that only return sizes and metalayers do not look for newer states:
	// see Refresh. A call that writes to an io.Writer, such as Save, holds the lock until it ends, also while the
	// writer waits: save to memory first if it is slow. If a program without the lock has replaced the frame, reads
	// continue with the old one, and a batch returns ErrChanged before it writes anything. Refresh switches to the new
	// file; for a directory, which has another lock file, it returns ErrChanged: open the frame again.
	//
	// All processes must use the same name of the frame, or names whose lock file is the same. As in C-Blosc2, a
	// symbolic link to a file has another lock file, LINK.b2lock: processes that use both names do not wait for each
	// other, and can damage the frame. Do not remove a lock file during a batch: processes that create a new one do not
	// wait for the batch. Each batch opens the lock file by its name again, and begins with the stored state.
	//
	// The locks are those of the operating system. They are not fair: processes that read, or edit, without a pause can
	// keep others waiting for seconds. While reads overlap without a moment between them, by goroutines that share a
	// Frame or by processes, no other Frame can edit, however long that lasts. Systems without locks, and some network
	// file systems, return errors.ErrUnsupported. Other network file systems lock nothing. A lock file must be a
	// regular file. For editing, it must have no other hard link. Opening creates the lock file if it is missing, which
	// needs the right to write in the folder. If it exists, reading needs only the right to read it. So create a frame
	// that other users read with Locking.
	Locking bool

	// NoSync is for editing: commits return before the disk has their bytes. A power failure may then damage the frame.
	NoSync bool

	// Verify compares the bytes that are read with the checksums of the frame, if it has any. See the package comment.
	Verify bool

	// RequireChecksums rejects frames without checksums and implies Verify. Opening and Refresh then return ErrChecksum
	// if the frame has no checksums or stale ones, and so do reads after a commit of another process. Edits cannot
	// remove the checksums. Without RequireChecksums, a frame that has lost its checksums looks like one that never had
	// any, unless Verify finds their record under another name.
	RequireChecksums bool

	// MaxBytes limits the bytes that a call may allocate because the frame states a size; beyond that it returns
	// ErrTooLarge. 0 = 8 MiB for a block and 64 MiB for all else, or 4096 times the stored bytes that are not zero,
	// whichever is larger; -1 = no limit.
	//
	// The limit applies to each buffer. A read holds up to four blocks for each of its goroutines: one without filters,
	// three with several filters, and one more with Delta. If the blocks are larger than 8 MiB, it starts no more
	// goroutines than four blocks for each allow within the limit, but at least one.
	//
	// It does not limit memory for stored bytes. ReadRaw, ReadChunk, Save and reads with Verify hold a stored chunk in
	// memory, and Open holds the index and the metalayers, whatever their size: limit the size of the file, and set
	// MaxMeta.
	MaxBytes int64
	// MaxMeta limits the stored bytes of the metalayers in the header, and of those in the trailer. If a frame has
	// more, opening it returns ErrTooLarge. 0 = the size of the frame.
	MaxMeta int64
	// MaxChunks limits the number of chunks. If a frame has more, opening it returns ErrTooLarge. 0 = as many as fit in
	// an index, of 8 bytes for each chunk, whose decoded size is at most 1 MiB or 4096 times its stored size; no limit
	// if all chunks are one special value.
	MaxChunks int

	// Objects is for OpenRegions: the objects of the frame, if the name is empty.
	Objects Objects

	Codecs      []codec.Codec      // user codecs, besides the built-in ones
	UserFilters []chunk.UserFilter // user filters
	// Prefilter transforms each block before it is encoded: it fills dst, which is as long as src. Several goroutines
	// may call it at the same time. It must not retain dst or src. It is for editing. nil = none.
	Prefilter func(dst, src []byte, b chunk.BlockInfo) error
	// Postfilter transforms each block after it is decoded, in the same way. nil = none.
	Postfilter func(dst, src []byte, b chunk.BlockInfo) error

	sys storage.System // nil = the operating system
}

// openMode is the way in which a frame is opened.
type openMode uint8

const (
	modeRead    openMode = iota // a file or directory, for reading
	modeEdit                    // a file or directory, for editing
	modeBytes                   // a source or memory, for reading
	modeStorage                 // a Storage, for editing
	modeRegions                 // the directory of a frame that several writers fill
)

// settings returns the internal form of o, or ErrParam if a field cannot apply.
func (o *OpenOptions) settings(mode openMode) (engine.Options, storage.System, error) {
	if o == nil {
		return engine.Options{}, storage.OS(), nil
	}
	write := mode == modeEdit || mode == modeStorage || mode == modeRegions
	regions := mode == modeRegions
	err := firstBad([]fieldCheck{
		{"MaxBytes", o.MaxBytes < -1, "is below -1"},
		{"Concurrency", o.Concurrency < 0, "is negative"},
		{"Cache", o.Cache < 0, "is negative"},
		{"MaxMeta", o.MaxMeta < 0, "is negative"},
		{"MaxChunks", o.MaxChunks < 0, "is negative"},
		{"Cache", o.Cache > 0 && o.Postfilter != nil, "cannot be combined with a Postfilter"},
		{"Mmap", o.Mmap && mode != modeRead, "is for Open"},
		{"Locking", o.Locking && mode != modeRead && mode != modeEdit, "is for files and directories"},
		{"NoSync", o.NoSync && !write, "is for editing"},
		{"Prefilter", o.Prefilter != nil && !write, "is for editing"},
		{"Cache", o.Cache > 0 && regions, "is for reading"},
		{"Verify", o.Verify && regions, "is for reading"},
		{"RequireChecksums", o.RequireChecksums && regions, "is for reading"},
		{"Postfilter", o.Postfilter != nil && regions, "is for reading"},
		{"Objects", o.Objects != nil && !regions, "is for OpenRegions"},
	})
	if err == nil {
		err = checkLocking(o.Locking)
	}
	if err != nil {
		return engine.Options{}, nil, err
	}
	return engine.Options{
		Concurrency: o.Concurrency, Cache: o.Cache, Mmap: o.Mmap, Locking: o.Locking, NoSync: o.NoSync,
		Verify: o.Verify || o.RequireChecksums, RequireChecksums: o.RequireChecksums,
		MaxBytes: o.MaxBytes, MaxMeta: o.MaxMeta, MaxChunks: o.MaxChunks,
		Codecs: slices.Clone(o.Codecs), UserFilters: slices.Clone(o.UserFilters), Prefilter: o.Prefilter, Postfilter: o.Postfilter,
	}, cmp.Or(o.sys, storage.OS()), nil
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
		{"Objects", o.Objects != nil && !o.regions, "is for CreateRegions"},
		{"Objects", o.Objects != nil && name != "", "is in place of a name"},
		{"Sparse", o.Sparse && name == "" && o.Objects == nil, "needs the name of a directory"},
		{"Locking", o.Locking && name == "", "needs the name of a file or directory"},
		{"VLMeta", repeatsName(o.VLMeta), "has two metalayers of one name"},
		{"Goal", o.Goal.Check() != nil, "is not a goal"},
		{"Goal", o.Goal != 0 && compresses(o.Params), "is in place of codec, level, filters, split mode and dictionaries"},
		{"Goal", o.Goal != 0 && (o.Prefilter != nil || o.Postfilter != nil), "cannot be combined with a Prefilter or Postfilter"},
	})
	if err == nil {
		err = checkLocking(o.Locking)
	}
	for i := 0; err == nil && !o.copied && i < len(o.Meta); i++ {
		if e := checkLayerName(o.Meta[i].Name); e != nil {
			err = fmt.Errorf("frame: option Meta: %w", e)
		}
	}
	if err != nil {
		return engine.Options{}, nil, err
	}
	return engine.Options{
		Params: o.Params, Goal: o.Goal, ChunkSize: o.ChunkSize, Meta: copyLayers(o.Meta), VLMeta: o.VLMeta, Checksums: o.Checksums, BlockTable: o.BlockTable,
		Sparse: o.Sparse, Overwrite: o.Overwrite, Concurrency: o.Concurrency, Locking: o.Locking, NoSync: o.NoSync,
		Codecs: slices.Clone(o.Codecs), UserFilters: slices.Clone(o.UserFilters), Prefilter: o.Prefilter, Postfilter: o.Postfilter,
	}, cmp.Or(o.sys, storage.OS()), nil
}

// repeatsName reports whether two metalayers have the same name.
func repeatsName(layers []meta.Layer) bool {
	for i, l := range layers {
		if findLayer(layers[:i], l.Name) >= 0 {
			return true
		}
	}
	return false
}

// compresses reports whether parameters are set that a goal chooses.
func compresses(p chunk.Params) bool {
	p.TypeSize, p.BlockSize = 0, 0
	return !reflect.ValueOf(p).IsZero()
}

// checkKept returns ErrParam if o has a field of the content of a frame, which the call, a Copy or Salvage, takes from
// another frame.
func (o *CreateOptions) checkKept(call string) error {
	if o == nil {
		return nil
	}
	reason := "comes from the frame in a " + call
	return firstBad([]fieldCheck{
		{"Goal", o.Goal != 0 && call != "Copy", "does not apply to " + call},
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

// checkLocking returns errors.ErrUnsupported if locking is set and the system has no file locks.
func checkLocking(locking bool) error {
	if locking && !storage.CanLock {
		return fmt.Errorf("frame: this system has no file locks: %w", errors.ErrUnsupported)
	}
	return nil
}

// CheckAlloc returns an error that wraps ErrTooLarge if a caller should not allocate n bytes for data that the frame
// claims to have. Call it before allocating memory whose size a file of unknown origin determines, such as the memory
// for a whole array. Methods that return new memory check it themselves.
//
// The limit is OpenOptions.MaxBytes. Without it, n may be at most 64 MiB, or 4096 times the stored bytes. Pages of
// zeros, such as holes in a file, do not count as stored. A Frame that was created, not opened, has no limit, unless it
// has chunks that were copied from a frame with one. On systems with addresses of 32 bits, it also refuses what they
// cannot address.
//
// To find the stored bytes, CheckAlloc may read up to 64 MiB of them, or samples of that size. It waits for a [Source]
// up to ten seconds. If the source cannot be read, CheckAlloc returns its error or context.DeadlineExceeded, and the
// next call tries again.
func (f *Frame) CheckAlloc(n int64) error {
	ctx, cancel := evidenceContext(n)
	defer cancel()
	return f.checkAlloc(ctx, n)
}

// evidenceContext returns the context in which a call without one looks for evidence for n bytes.
func evidenceContext(n int64) (context.Context, context.CancelFunc) {
	if n <= coder.FreeBytes {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), 10*time.Second)
}

// checkAlloc is CheckAlloc with a context.
func (f *Frame) checkAlloc(ctx context.Context, n int64) error {
	if err := checkAddress(n); err != nil {
		return err
	}
	limit := f.claimedLimit()
	if n <= limit {
		var err error
		if limit, err = f.allocLimit(ctx, n); err != nil {
			return err
		}
	}
	return checkLimit(n, limit, f.opts.MaxBytes > 0)
}

// CheckAllocs is CheckAlloc for n bytes that belong to several frames, such as those of the columns of a table: their
// stored bytes justify the memory together. With OpenOptions.MaxBytes, the limit is the largest one of the frames. A
// frame must not be given twice.
func CheckAllocs(n int64, frames ...*Frame) error {
	if err := checkAddress(n); err != nil {
		return err
	}
	ctx, cancel := evidenceContext(n)
	defer cancel()
	limit, sum, fixed := int64(0), int64(0), len(frames) > 0
	var fault error
	for _, f := range frames {
		switch {
		case f.opts.MaxBytes > 0:
			limit = max(limit, f.opts.MaxBytes)
			continue
		case f.opts.MaxBytes < 0 || f.trusted.Load():
			limit = math.MaxInt64
		case n > coder.FreeBytes:
			found, err := f.evidence(ctx, (n-1)/coder.MemoryRatio+1-sum)
			sum, fault = sum+found, cmp.Or(fault, err)
		}
		fixed = false
		if limit = max(limit, coder.FreeBytes, ratioOf(sum)); limit >= n {
			return nil
		}
	}
	return cmp.Or(fault, checkLimit(n, limit, fixed))
}

// claimedLimit returns the limit of CheckAlloc if the bytes that the frame claims to have are evidence, without reading
// any.
func (f *Frame) claimedLimit() int64 {
	s := f.snap.Load()
	switch {
	case s == nil || f.opts.MaxBytes != 0 || f.trusted.Load():
		return math.MaxInt64
	case s.sparse:
		return max(coder.FreeBytes, ratioOf(s.storedChunks()*fileEvidence))
	}
	return max(coder.FreeBytes, ratioOf(s.frameLen))
}

// checkAddress returns an error if the system cannot address n bytes.
func checkAddress(n int64) error {
	if n > math.MaxInt || runtime.GOARCH == "wasm" && n > math.MaxUint32 {
		return fmt.Errorf("%d bytes, which this system cannot address: %w", n, ErrTooLarge)
	}
	return nil
}

// checkLimit returns an error if n bytes are more than a limit, which is that of MaxBytes if fixed is true.
func checkLimit(n, limit int64, fixed bool) error {
	switch {
	case n <= limit:
		return nil
	case fixed:
		return fmt.Errorf("%d bytes, but option MaxBytes allows %d: %w", n, limit, ErrTooLarge)
	default:
		return fmt.Errorf("%d bytes, but the default limit is %d; OpenOptions.MaxBytes may allow more: %w", n, limit, ErrTooLarge)
	}
}

// mostAlloc returns the number of bytes that CheckAlloc allows. It reads up to 16 MiB of the stored bytes, or up to 64
// MiB if many of them are zeros. Beyond 64 GiB it counts the size of the frame instead of reading.
func (f *Frame) mostAlloc(ctx context.Context) int64 {
	const most = 64 << 30
	limit, _ := f.allocLimit(ctx, most) // the next read returns the error
	if s := f.snap.Load(); s != nil && limit >= most && limit < math.MaxInt64 && f.opts.MaxBytes == 0 {
		limit = max(limit, ratioOf(s.frameLen))
	}
	return limit
}

// allocLimit returns the limit of CheckAlloc, or a lower number that is at least n: it counts stored bytes only until
// they justify n. After an error of reading, the limit may be higher.
func (f *Frame) allocLimit(ctx context.Context, n int64) (int64, error) {
	switch {
	case f.opts.MaxBytes > 0:
		return f.opts.MaxBytes, nil
	case f.opts.MaxBytes < 0 || f.trusted.Load():
		return math.MaxInt64, nil
	case n <= coder.FreeBytes:
		return coder.FreeBytes, nil
	}
	found, err := f.evidence(ctx, (n-1)/coder.MemoryRatio+1)
	return max(coder.FreeBytes, ratioOf(found)), err
}

// ratioOf returns the number of bytes that a number of stored bytes justifies.
func ratioOf(stored int64) int64 {
	return coder.MemoryRatio * min(stored, math.MaxInt64/coder.MemoryRatio)
}

// evidence returns the number of stored bytes that are evidence (see coder.Evidence), or a lower number that is at
// least enough. After an error of reading, there may be more, and the next call looks again.
func (f *Frame) evidence(ctx context.Context, enough int64) (int64, error) {
	s := f.pin()
	if s == nil {
		return 0, nil
	}
	defer f.unpin(s)
	return s.evidence.Get(ctx, enough, func() (int64, error) { return f.store.evidence(ctx, s, enough) })
}
