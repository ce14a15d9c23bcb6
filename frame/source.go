package frame

import (
	"context"
	"io"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/internal/task"
)

// Source holds the bytes of a frame that are neither in a file nor in memory, such as an object on a server. Several
// goroutines call its methods at the same time.
//
// If a Source also has the method
//
//	Refresh(ctx context.Context) error
//
// then [Frame.Refresh] calls it first. After that, Size returns the number of bytes that are stored now. Reads of the
// previous state continue with the same source. So if its bytes were replaced, and not only appended to, Refresh and
// all later reads of the source must return ErrChanged.
//
// If a Source also has the method
//
//	ReadRanges(ctx context.Context, want []Range, got func(i int, at int64, b []byte) error) error
//
// then reads call it for the bytes of many chunks and blocks at a time, before they decode them. It reads ranges of the
// source, which may overlap and have any order. It calls got on the goroutine of the caller: b holds the bytes of range
// want[i] that begin at byte at of the range. A range may arrive in several parts, in any order, but each byte once.
// got does not retain b. ReadRanges stops at an error of got or of ctx, and returns it. An error of ReadRanges is
// final: the read returns it. A read keeps up to 64 MiB of stored bytes that wait to be decoded, or MaxBytes if that is
// less. A loop of [Frame.ReadChunk] keeps about 8 MiB of them for its next calls.
//
// If it also has the method
//
//	Gap() int64
//
// then ReadRanges reads over gaps of up to that many bytes between ranges of a call. Chunks of about that size are read
// as a whole. Unless the method exists and returns 0, a read requests up to 1 MiB more than it needs if that saves a
// round trip. That limit is lower if the Source also has the method
//
//	RoundTripBytes() int64
//
// which returns the number of bytes that arrive in the time of a round trip: it is the limit if it is less than 1 MiB.
//
// If a Source has the method
//
//	ChunkOffset(n int64) int64
//
// then it is the source of a sparse frame. The file chunks.b2frame is at offset 0, and Size returns its length. The
// chunk file with number n, such as 0000001A.chunk for 26, is at the offset that ChunkOffset returns. A negative offset
// means that there is no such file. The offsets of two files differ by at least 2 GiB. A read past the end of a file
// returns the bytes before the end. ReadAtContext then returns io.EOF, and ReadRanges no error.
//
// If a Source is a [fmt.Stringer], String returns its name: OpenSource calls it once, and errors of the frame have the
// name as their Path.
type Source interface {
	// ReadAtContext reads len(p) bytes at offset off, like the ReadAt of an [io.ReaderAt]. It should return the error
	// of ctx soon after ctx is done. It must not retain p.
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
	// Size returns the number of bytes. It does not wait.
	Size() int64
}

// Range is the bytes [Off, Off+Len) of a [Source].
type Range = ranges.Range

// OpenSource opens the frame in src for reading. ctx bounds only the opening; the frame does not retain it. Reads of
// the frame pass their own context to src. Close does not close src. Errors are those of Open and of src.
func OpenSource(ctx context.Context, src Source, o *OpenOptions) (*Frame, error) {
	return openBytes(ctx, storage.FromSource(src), o)
}

// OpenReaderAt opens the frame in the first size bytes of r for reading. If several goroutines use the frame, r must be
// safe for concurrent use. To read a frame at an offset of a file, use an [io.SectionReader]. A call checks its context
// between reads of r, but cannot interrupt a read. Close does not close r. Errors are those of Open and of r.
func OpenReaderAt(ctx context.Context, r io.ReaderAt, size int64, o *OpenOptions) (*Frame, error) {
	return openBytes(ctx, storage.FromReader(r, size), o)
}

// OpenBytes opens the frame in b for reading. The frame retains b, which must not change while the frame is open.
// Errors are those of Open.
func OpenBytes(b []byte, o *OpenOptions) (*Frame, error) {
	return openBytes(context.Background(), NewMemory(b), o)
}

// sourceFiles is the store of a sparse frame whose files a Source has. It is only read. The size of a chunk file is not
// known before it is read.
type sourceFiles struct {
	sparse
	bytes *storage.SourceBytes
	files storage.ChunkFiles
}

func (d *sourceFiles) open(s *snapshot, from io.ReaderAt, e, _ entry) (chunkSource, error) {
	off := int64(-1)
	if e <= maxChunkFile {
		off = d.files.ChunkOffset(int64(e))
	}
	if off < 0 {
		return chunkSource{}, corrupt("chunk file number %d", e)
	}
	src := chunkSource{at: from, off: off, size: chunk.MaxBytes, usual: chunk.MaxBytes}
	if s.chunkSize > 0 && !s.vlBlocks { // each block of variable size adds its position and size
		src.usual = min(src.usual, int64(s.chunkSize)+chunk.MaxOverhead) // a chunk may have unused bytes
	}
	src.mean = min(max(s.cbytes, 0)/max(1, s.storedChunks()), src.usual)
	src.guess = min(src.usual, 2*src.mean+4096)
	src.exact = true // more is rare
	return src, nil
}

// evidence reads the beginnings of at most 64 files. If they cannot be read together, it reads each alone, until four
// of them cannot be read: the others may be enough.
func (d *sourceFiles) evidence(ctx context.Context, s *snapshot, enough int64) (int64, error) {
	const mostFiles, mostErrors = 64, 4
	if far := s.ranges(); far != nil {
		var list []Range
		files := 0
		for _, e := range s.index.distinct() {
			if src, err := d.open(s, nil, e, -1); err == nil {
				size := min(src.guess, fileEvidence)
				for at := int64(0); at < size; at += coder.EvidenceStep {
					list = append(list, Range{Off: src.off + at, Len: min(size-at, coder.EvidenceStep)})
				}
			}
			if files++; files == mostFiles {
				break
			}
		}
		if sum, err := evidenceIn(ctx, far, list, enough); err == nil || concernsAll(ctx, err) {
			return sum, err
		}
	}
	return filesEvidence(ctx, d, s, enough, mostFiles*fileEvidence, mostErrors)
}

// size returns the size of the files that the state references: the others are not known.
func (d *sourceFiles) size(s *snapshot) (int64, error) { return s.frameLen + s.cbytes, nil }

func (d *sourceFiles) reopen(ctx context.Context, _ bool) (r reopened, err error) {
	if err := d.bytes.Refresh(ctx); err != nil {
		return r, err
	}
	r.same, r.src = true, d.bytes
	r.size, err = d.bytes.Size()
	return r, err
}

// openFiles opens the sparse frame with the index in src.
func (f *Frame) openFiles(ctx context.Context, src *storage.SourceBytes) error {
	size, err := src.Size()
	if err != nil {
		return err
	}
	s, err := f.loadIndex(ctx, src, size)
	if err != nil {
		return err
	}
	f.store = &sourceFiles{sparse: sparse{sys: f.sys}, bytes: src, files: src.Files()}
	f.start(s)
	return nil
}

// openBytes opens a frame for reading that is not in a file.
func openBytes(ctx context.Context, st Storage, o *OpenOptions) (*Frame, error) {
	ctx = task.Context(ctx)
	opts, sys, err := o.settings(modeBytes)
	if err != nil {
		return nil, err
	}
	f, err := newFrame("", opts, sys)
	if err != nil {
		return nil, err
	}
	src, ok := st.(*storage.SourceBytes)
	if ok {
		f.name = printable(src.Name())
	}
	if ok && src.Files() != nil {
		err = f.openFiles(ctx, src)
	} else {
		err = f.openStorage(ctx, st, false)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}
