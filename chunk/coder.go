package chunk

import (
	"context"
	"io"
	"sync"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// Coder encodes and decodes chunks with the settings in its fields, and keeps codecs and memory between calls. The zero
// Coder is ready to use. It is safe for concurrent use. The fields must not change, and the Coder must not be copied,
// after the first call.
//
// Every method returns ErrParam if a codec or filter is nil, has a reserved number, or has the number of another codec
// or filter.
type Coder struct {
	Codecs      []codec.Codec // codecs besides the built-in ones, with numbers from 32 up
	UserFilters []UserFilter  // filters besides those of the format, with numbers from 32 up
	TypeSize    int           // item size of the frame in bytes, for decoding; 0 = that in the chunk header, 1 to 255
	BlockShape  []int32       // shape of a block in items, for codecs and filters that need it
	Concurrency int           // goroutines that a call may use; 0 = GOMAXPROCS, more than 1024 = 1024
	// MaxBytes is the largest allocation that a chunk may request. 0 = 8 MiB for a block and 64 MiB for a chunk, or
	// 4096 times its stored size, in which pages of zeros do not count. -1 = no limit.
	//
	// A call holds up to four blocks for each of its goroutines: one without filters, three with several filters, and
	// one more with Delta. If the blocks are larger than 8 MiB, decoding uses no more goroutines than four blocks for
	// each allow within the limit, but at least one. DecodeAt may also hold the stored bytes of blocks.
	MaxBytes int64

	once sync.Once
	p    *coder.Pool
	err  error
}

// pool returns the pool of the coder, which the first call makes.
func (c *Coder) pool() (*coder.Pool, error) {
	c.once.Do(func() {
		o := coder.Options{ItemSize: c.TypeSize, BlockShape: c.BlockShape, Concurrency: c.Concurrency, MaxBytes: c.MaxBytes}
		if o.Plugins, c.err = coder.NewPlugins(c.Codecs, c.UserFilters); c.err == nil {
			c.p = coder.NewPool(&o)
		}
	})
	return c.p, c.err
}

// Encode appends a chunk with the content src to dst. The bytes do not depend on the number of goroutines. They equal
// the bytes that C-Blosc2 writes with one thread if the codec writes the same streams, which LZ4 and LZ4HC do only
// without a dictionary. Large items with SplitAlways are an exception: C-Blosc2 may select smaller blocks. See
// [Params.BlockSizeFor].
//
// A chunk of zeros is encoded as a special value, unless a user filter turns them into other bytes. The error wraps
// ErrParam, errors.ErrUnsupported or ErrTooLarge, or is an error of a user codec or user filter.
func (c *Coder) Encode(dst, src []byte, p Params) ([]byte, error) {
	pool, err := c.pool()
	if err != nil {
		return dst, err
	}
	return pool.Encode(dst, src, coder.Params(p))
}

// Decode appends the content of the chunk at the start of src to dst. It ignores bytes after the chunk. The error is an
// *Error that wraps ErrCorrupt, errors.ErrUnsupported or ErrTooLarge, or an error of a user codec or user filter.
func (c *Coder) Decode(dst, src []byte) ([]byte, error) {
	pool, err := c.pool()
	if err != nil {
		return dst, err
	}
	return pool.Decode(dst, src)
}

// DecodeAt decodes the bytes [off, off+len(dst)) of the chunk at the start of src into dst, and returns their number.
// It reads the header, the positions of the blocks, and the blocks that it needs; it ignores bytes after the chunk. src
// is a *bytes.Reader or an *io.SectionReader, for instance. If the chunk ends at off or before off+len(dst), DecodeAt
// returns the number of bytes before the end and io.EOF. After another error it returns 0, and the content of dst is
// undefined. The error wraps ErrParam if off is negative. Otherwise it is an *Error that wraps ErrCorrupt,
// errors.ErrUnsupported or ErrTooLarge, or an error of src.
//
// Each call decodes its blocks again. To decode a chunk from start to end in small steps, ask for whole blocks. If the
// blocks have sizes of their own, each call reads the whole chunk; DecodeBlocks returns all of them at once.
func (c *Coder) DecodeAt(dst []byte, src interface {
	io.ReaderAt
	Size() int64
}, off int64) (int, error) {
	pool, err := c.pool()
	if err != nil {
		return 0, err
	}
	return pool.DecodeAt(dst, src, src.Size(), off)
}

// EncodeBlocks appends a chunk with at least one block to dst. Its blocks have sizes of their own, from 1 byte up. It
// ignores the parameters BlockSize and Split: each block is one stream. Delta does not refer to other blocks; C-Blosc2
// misreads such chunks. With NoCompression the blocks are only filtered. The chunk can be larger than its data, by 8
// bytes a block, the header and a dictionary. The errors are those of [Coder.Encode].
func (c *Coder) EncodeBlocks(dst []byte, blocks [][]byte, p Params) ([]byte, error) {
	pool, err := c.pool()
	if err != nil {
		return dst, err
	}
	return pool.EncodeVL(context.Background(), dst, blocks, coder.Params(p), -1)
}

// DecodeBlocks returns the blocks of the chunk at the start of src, which may be any chunk. The blocks share memory.
// The errors are those of [Coder.Decode].
func (c *Coder) DecodeBlocks(src []byte) ([][]byte, error) {
	pool, err := c.pool()
	if err != nil {
		return nil, err
	}
	return pool.DecodeVL(src)
}
