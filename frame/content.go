package frame

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"sort"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
)

// Content returns a reader of the decoded bytes of the super-chunk: its chunks, one after the other. Several goroutines
// may call ReadAt of the result; Read and Seek share one position. The size of the reader, in bytes, is that of the
// frame at the time of the call.
//
// Each ReadAt or Read sees one committed state, which may be newer than that of the read before; Save writes a single
// state. A read decodes only the blocks that it needs, on up to Concurrency goroutines, and stops when ctx is done. In
// a frame with chunks of variable size, the first read reads the headers of all chunks.
//
// Each read decodes its blocks again. Read at least a block at a time, for example with io.CopyBuffer or a
// bufio.Reader, or set OpenOptions.Cache. A read that ends inside a block may stop decoding it there, and then does not
// run the codec's own check of the rest, such as the Adler-32 of zlib. ReadChunk and ReadBlock decode to the end.
//
// The errors of a read are io.EOF, those of ReadChunk, and those of ctx. If the frame is closed, every read before the
// end returns fs.ErrClosed.
func (f *Frame) Content(ctx context.Context) *io.SectionReader {
	n := int64(math.MaxInt64) // of a closed frame: reads must fail, not find the end
	if s := f.snap.Load(); s != nil {
		n = s.nbytes
	}
	return io.NewSectionReader(&contentReader{f, task.Context(ctx)}, 0, n)
}

// contentReader reads the decoded bytes of a frame.
type contentReader struct {
	f   *Frame
	ctx context.Context // of all reads
}

// ReadAt implements io.ReaderAt.
func (c *contentReader) ReadAt(p []byte, off int64) (_ int, err error) {
	f := c.f
	s, err := f.acquire(c.ctx)
	if err != nil {
		return 0, err
	}
	defer f.release(s, &err)
	if off < 0 {
		return 0, f.wrap("super-chunk", -1, fmt.Errorf("reading at %d: %w", off, ErrBounds))
	}
	if off >= s.nbytes {
		return 0, io.EOF
	}
	want := p[:min(int64(len(p)), s.nbytes-off)]
	if err := f.readRange(c.ctx, s, want, off); err != nil {
		return 0, err
	}
	if len(want) < len(p) {
		return len(want), io.EOF
	}
	return len(p), nil
}

// readRange reads decoded bytes that exist.
func (f *Frame) readRange(ctx context.Context, s *snapshot, dst []byte, off int64) error {
	if len(dst) == 0 {
		return nil
	}
	r := &rangePlan{s: s, dst: dst, off: off}
	if s.chunkSize > 0 {
		r.chunk = int(off / int64(s.chunkSize))
		return f.decodePlan(ctx, s, nil, false, r, r.blocks(), 0)
	}
	var err error
	if r.ends, err = f.chunkEnds(ctx, s); err != nil {
		return err
	}
	r.chunk = sort.Search(len(r.ends), func(i int) bool { return r.ends[i] > off })
	return f.decodePlan(ctx, s, nil, false, r, r.blocks(), 0)
}

// chunkEnds returns the end of each chunk in the decoded bytes. The first call reads the headers of all chunks.
func (f *Frame) chunkEnds(ctx context.Context, s *snapshot) ([]int64, error) {
	if s.index.n == 0 {
		return nil, nil
	}
	x := &s.ends
	_, err := x.known.Get(ctx, 1, func() (int64, error) {
		list, err := f.readEnds(ctx, s)
		if err != nil {
			return 0, err // another call may succeed
		}
		if end := list[len(list)-1]; end != s.nbytes {
			list, err = nil, f.wrap("header", offNBytes, corrupt("%d bytes, the chunks have %d", s.nbytes, end))
		}
		if err != nil && s.sparse {
			return 0, err // chunk files may be restored
		}
		x.list, x.err = list, err
		return 1, nil
	})
	if err != nil {
		return nil, err
	}
	return x.list, x.err
}

// readEnds is chunkEnds without a comparison with the size of the frame. It reads the header of each chunk once, even
// if several index entries reference the chunk.
func (f *Frame) readEnds(ctx context.Context, s *snapshot) ([]int64, error) {
	var list []int64 // grown step by step: a small file may claim any number of special values
	var sizes map[entry]int
	if !s.index.ascends() {
		sizes = map[entry]int{}
	}
	end := int64(0)
	chunks := f.chunkReader(ctx, s)
	chunks.readAhead(readHeaders)
	defer chunks.stop()
	for i := range s.index.n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, known := sizes[s.index.at(i)]
		if !known {
			h, err := chunks.header(i)
			if err != nil {
				return nil, err
			}
			if n = h.NBytes; sizes != nil {
				sizes[s.index.at(i)] = n
			}
		}
		end += int64(n)
		list = append(list, end)
	}
	return list, nil
}

// rangePlan is the engine.ReadPlan that reads a range of the decoded bytes.
type rangePlan struct {
	s     *snapshot
	dst   []byte
	off   int64 // of dst in the super-chunk
	chunk int   // the next chunk
	ends  []int64
}

// start returns the offset of chunk i in the decoded bytes.
func (r *rangePlan) start(i int) int64 {
	switch {
	case r.ends == nil:
		return int64(i) * int64(r.s.chunkSize)
	case i == 0:
		return 0
	}
	return r.ends[i-1]
}

// blocks estimates the number of blocks.
func (r *rangePlan) blocks() int64 {
	return int64(len(r.dst))/r.s.assumedBlockSize() + 1
}

// Next implements engine.ReadPlan.
func (r *rangePlan) Next(v *engine.Visit) bool {
	end := r.off + int64(len(r.dst))
	if r.chunk >= r.s.index.n || r.start(r.chunk) >= end {
		return false
	}
	v.Chunk = r.chunk
	r.chunk++
	at := r.start(v.Chunk)
	v.From = int(max(r.off, at) - at)
	v.To = int(min(end, r.start(r.chunk)) - at)
	return true
}

// part returns the part of dst for bytes [at, at+n) of the super-chunk, and the range of these bytes that it receives.
func (r *rangePlan) part(at, n int64) (dst []byte, from int64) {
	lo, hi := max(r.off, at), min(r.off+int64(len(r.dst)), at+n)
	if lo >= hi {
		return nil, 0
	}
	return r.dst[lo-r.off : hi-r.off], lo - at
}

// Block implements engine.ReadPlan.
func (r *rangePlan) Block(b *engine.Block, v *engine.Visit, _, at, n int) {
	dst, from := r.part(r.start(v.Chunk)+int64(at), int64(n))
	b.Data, b.ItemSize, b.Need, b.Mover = dst, 0, int(from)+len(dst), nil
	b.Copy.Begin(0, int(from), len(dst))
}

// Special implements engine.ReadPlan.
func (r *rangePlan) Special(v *engine.Visit, s chunk.Special, value []byte, typeSize, n int) error {
	dst, from := r.part(r.start(v.Chunk), int64(n))
	coder.FillSpecial(dst, s, value, typeSize, int(from))
	return nil
}

// ReadRaw appends the stored bytes of chunk i, header included, to dst. For a special value that only the index holds,
// it appends a chunk that represents the value. Errors are those of ReadChunk.
func (f *Frame) ReadRaw(ctx context.Context, dst []byte, i int) (_ []byte, err error) {
	ctx = task.Context(ctx)
	s, err := f.acquire(ctx)
	if err != nil {
		return dst, err
	}
	defer f.release(s, &err)
	if err := f.checkFetched(s, i); err != nil {
		return dst, err
	}
	return f.rawNext(ctx, dst, s, i)
}

// ReadChunk appends the decoded bytes of chunk i to dst, on up to OpenOptions.Concurrency goroutines. Errors are
// ErrBounds, ErrCorrupt, errors.ErrUnsupported or ErrTooLarge, in an *Error.
func (f *Frame) ReadChunk(ctx context.Context, dst []byte, i int) (_ []byte, err error) {
	ctx = task.Context(ctx)
	s, err := f.acquire(ctx)
	if err != nil {
		return dst, err
	}
	defer f.release(s, &err)
	if err := f.checkFetched(s, i); err != nil {
		return dst, err
	}
	raw, err := f.rawNext(ctx, nil, s, i)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return dst, err
	}
	out, err := f.pool.DecodeNumber(ctx, dst, raw, int64(i))
	if err != nil {
		return dst, cmp.Or(ctx.Err(), f.chunkError(s, i, err))
	}
	return out, nil
}

// ReadBlock appends the decoded bytes of block k of chunk i to dst. It decodes no other block, except block 0 if the
// chunk has the filter Delta. The items of a super-chunk with blocks of variable size are read this way: such a chunk
// is read as a whole, and kept in memory while its blocks are read in order. A loop over these blocks in a frame from a
// [Source] reads chunks ahead. Errors are ErrBounds, ErrCorrupt, errors.ErrUnsupported or ErrTooLarge, in an *Error.
func (f *Frame) ReadBlock(ctx context.Context, dst []byte, i, k int) (_ []byte, err error) {
	dst, _, err = f.findBlock(ctx, dst, i, k, false)
	return dst, err
}

// findBlock is ReadBlock. It also returns the number of blocks of the chunk, or -1 if the chunk cannot be opened. With
// regular, a special chunk has no blocks.
func (f *Frame) findBlock(ctx context.Context, dst []byte, i, k int, regular bool) (out []byte, n int, err error) {
	ctx = task.Context(ctx)
	s, err := f.acquire(ctx)
	if err != nil {
		return dst, -1, err
	}
	defer f.release(s, &err)
	if err := f.checkFetched(s, i); err != nil {
		return dst, -1, err
	}
	out, n = dst, -1
	err = f.withWorker(func(w *worker) (err error) {
		out, n, err = f.readBlock(ctx, dst, s, w, i, k, regular)
		return err
	})
	return out, n, err
}

// readBlock is findBlock for a chunk that exists.
func (f *Frame) readBlock(ctx context.Context, dst []byte, s *snapshot, w *worker, i, k int, regular bool) (read []byte, blocks int, err error) {
	if err := ctx.Err(); err != nil {
		return dst, -1, err
	}
	read, blocks = dst, -1 // if recoverFault sets the error
	if s.mapped != nil {
		defer recoverFault(s.mapped, debug.SetPanicOnFault(true), f, i, w, &err)
	}
	w.Chunk = int64(i)
	last := s.blocks.Load()
	r := last.reader(i)
	far := s.vlBlocks && s.far != nil
	kept := r != nil // from the call before
	if !kept {
		r = new(coder.Reader)
	}
	switch {
	case kept:
	case s.index.at(i) < 0:
		c, err := f.specialChunk(s, i)
		if err == nil {
			err = w.Open(r, c)
		}
		if err != nil {
			return dst, -1, err
		}
	case far:
		c, err := f.rawNext(ctx, nil, s, i)
		if err != nil {
			return dst, -1, err
		}
		if err := w.Open(r, c); err != nil {
			return dst, -1, f.chunkError(s, i, err)
		}
	default:
		from := storage.Bind(ctx, s.src)
		if k >= 0 && s.blockSize > 0 {
			if pass := f.newPass(ctx, s, visitBlock(i, k)); pass != nil {
				defer pass.stop()
				if from, err = pass.at(i); err != nil {
					return dst, -1, err
				}
			}
		}
		c, err := f.openChunk(s, from, w, r, i, s.index.after(i), 0, false)
		if err != nil {
			return dst, -1, err
		}
		defer closeSource(c)
	}
	if blocks = r.NumBlocks; regular && r.Special != chunk.Regular {
		blocks = 0
	}
	if k < 0 || k >= blocks {
		return dst, blocks, f.chunkError(s, i, fmt.Errorf("block %d of %d: %w", k, blocks, ErrBounds))
	}
	n := r.BlockLen(k)
	if err := f.checkAlloc(ctx, int64(n)); err != nil {
		return dst, blocks, f.chunkError(s, i, fmt.Errorf("block %d: %w", k, err))
	}
	out := append(dst, make([]byte, n)...)
	if err := w.DecodeBlock(out[len(dst):], r, k); err != nil {
		s.blocks.CompareAndSwap(last, nil) // the chunk may have been read during an edit
		return dst, blocks, f.chunkError(s, i, err)
	}
	if r.VLBlocks {
		s.blocks.Store(last.after(i, k, r, far))
	}
	return out, blocks, nil
}

// maxSequence is about the largest number of stored bytes in a sequence.
const maxSequence = 8 << 20

// rawNext is rawChunk. It reads chunks ahead if calls ask for chunks one after the other.
func (f *Frame) rawNext(ctx context.Context, dst []byte, s *snapshot, i int) ([]byte, error) {
	if s.draft || s.ranges() == nil {
		return f.rawChunk(storage.Bind(ctx, s.src), dst, s, i)
	}
	most := int64(maxSequence)
	if limit := f.opts.MaxBytes; limit > 0 {
		most = min(most, limit/2)
	}
	mean := max(s.cbytes/max(s.storedChunks(), 1), 1)
	b, n, err := s.chunks.Take(ctx, i, int(min(most/mean, int64(s.index.n-i))))
	if err != nil || n == 0 {
		return append(dst, b...), err
	}
	if n > 1 {
		defer s.chunks.End()
	}
	pass := f.newPass(ctx, s, visitChunks(i, i+n))
	defer pass.stop()
	from, err := pass.at(i)
	if err == nil {
		dst, err = f.rawChunk(from, dst, s, i)
	}
	for k := i + 1; k < i+n && err == nil && most > 0; k++ {
		from, err := pass.at(k)
		if err != nil {
			break
		}
		b, err := f.rawChunk(from, nil, s, k)
		if err != nil {
			break // reading that chunk returns the error
		}
		s.chunks.Put(k, b)
		most -= int64(len(b))
	}
	return dst, err
}
