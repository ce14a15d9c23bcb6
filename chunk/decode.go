package chunk

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/filters"
)

// DecodeBlock decodes block k of an opened chunk into dst, which has BlockLen(k) bytes. Errors are ErrCorrupt or
// ErrUnsupported, or those of the io.ReaderAt and of filters of the user, in an *Error; the content of dst is then
// undefined.
func (w *Worker) DecodeBlock(dst []byte, r *Reader, k int) error {
	return w.DecodePrefix(dst, r, k, len(dst))
}

// DecodePrefix is DecodeBlock for those who want only the first n bytes of the block: what stands behind them in dst is
// undefined. Where nothing but Shuffle is to be undone, streams are expanded no further than that takes, if their codec
// can do so, and nothing tells whether they are sound behind. A plane of an array is often at the beginning of its
// blocks, and a box ends inside of some.
func (w *Worker) DecodePrefix(dst []byte, r *Reader, k, n int) error {
	if k < 0 || k >= r.h.nblocks || len(dst) != r.BlockLen(k) || n < 0 || n > len(dst) {
		return paramError("%d bytes in a buffer of %d bytes for block %d", n, len(dst), k)
	}
	if w.o.Postfilter == nil {
		return w.decodePlain(dst, r, k, n)
	}
	w.post = sized(w.post, len(dst))
	if err := w.decodePlain(w.post, r, k, len(dst)); err != nil {
		return err
	}
	b := w.readerBlock(r, k)
	if err := w.o.Postfilter(dst, w.post, b.BlockInfo); err != nil {
		at := r.h.Overhead()
		if len(r.starts) > 0 {
			at = int(r.starts[k])
		}
		return &Error{Block: k, Off: int64(at), Err: fmt.Errorf("postfilter: %w", err)}
	}
	return nil
}

// readerBlock returns what filters know of block k of an opened chunk.
func (w *Worker) readerBlock(r *Reader, k int) block {
	return block{version: r.h.Version, BlockInfo: BlockInfo{
		Chunk: w.Chunk, Block: k, Offset: r.BlockOffset(k),
		TypeSize: r.h.TypeSize, ItemSize: w.itemSize(r.h.TypeSize), Shape: w.o.BlockShape,
	}}
}

// decodePlain is DecodePrefix without Options.Postfilter.
func (w *Worker) decodePlain(dst []byte, r *Reader, k, n int) error {
	if s := r.h.Special(); s != Regular {
		FillSpecial(dst[:n], s, r.value, r.h.TypeSize, k*r.h.BlockSize)
		return nil
	}
	if r.h.Stored() {
		return r.readStored(dst[:n], k)
	}
	if k == 0 && len(r.ref) > 0 {
		copy(dst[:n], r.ref)
		return nil
	}
	in, err := w.bytes(r, k, 0)
	if err != nil {
		return err
	}
	c := cursor{b: in}
	if err := w.decodeBlock(dst, r, k, n, &c); err != nil {
		return &Error{Block: k, Off: int64(r.starts[k]) + int64(c.at), Err: err}
	}
	return nil
}

// readStored copies the beginning of block k of a stored chunk.
func (r *Reader) readStored(dst []byte, k int) error {
	at := k * r.h.BlockSize
	if r.mem != nil {
		r.h.flat(dst, r.mem, at)
		return nil
	}
	return readFull(r.src, dst, r.base, r.h.Overhead()+at, k)
}

// decodeBlock decodes the streams under c and undoes the filters, for the first n bytes at least.
func (w *Worker) decodeBlock(dst []byte, r *Reader, k, n int, c *cursor) error {
	b := w.readerBlock(r, k)
	if k > 0 && !r.h.VLBlocks() {
		b.ref = r.ref
	}
	out := dst
	if w.active(&r.h.Filters, &b) > 0 {
		out = w.scratch(0, len(dst))
	}
	var err error
	if r.h.VLBlocks() {
		err = w.decodeVL(out, r, c)
	} else {
		err = w.decodeStreams(out, r, c, w.wanted(&r.h.Filters, &b, len(dst), n))
	}
	if err != nil || len(dst) == 0 || &out[0] == &dst[0] {
		return err
	}
	return w.backward(dst, out, &r.h.Filters, &b)
}

// decodeStreams sets a part of dst from the streams of a regular block.
func (w *Worker) decodeStreams(dst []byte, r *Reader, c *cursor, p part) error {
	if w.decodePlanes(dst, r, *c, p) {
		return nil
	}
	return eachStream(dst, r, c, p, func(dst, in []byte, n int) error { return w.expand(dst, in, r, n) })
}

// eachStream calls expand for the streams of a regular block and their places in dst, and with how many bytes of each are
// wanted. It fills the places of runs.
func eachStream(dst []byte, r *Reader, c *cursor, p part, expand func(dst, in []byte, n int) error) error {
	streams := r.h.streams(len(dst))
	n := len(dst) / streams
	if n == 0 || n*streams != len(dst) {
		return corrupt("block of %d bytes in %d streams", len(dst), streams)
	}
	for j := range streams {
		place, wanted := dst[j*n:(j+1)*n:(j+1)*n], p.of(j*n, (j+1)*n)
		in, err := c.stream(place[:wanted])
		if err == nil && in != nil && wanted > 0 {
			err = expand(place, in, wanted)
		}
		if err != nil {
			if streams > 1 {
				err = fmt.Errorf("stream %d: %w", j, err)
			}
			return err
		}
	}
	return nil
}

// stream returns the next stream, or fills dst and returns nil where there is a run.
func (c *cursor) stream(dst []byte) ([]byte, error) {
	n, err := c.length()
	if err != nil {
		return nil, err
	}
	switch {
	case n == 0:
		filters.Fill(dst, []byte{0})
		return nil, nil
	case n < 0:
		token, err := c.take(1)
		if err != nil {
			return nil, err
		}
		if n < -255 || token[0]&1 == 0 {
			return nil, corrupt("run of %d with token %#x", -n, token[0])
		}
		filters.Fill(dst, []byte{byte(-n)})
		return nil, nil
	}
	return c.take(n)
}

// decodeVL fills dst from a block of variable length.
func (w *Worker) decodeVL(dst []byte, r *Reader, c *cursor) error {
	if _, err := c.length(); err != nil { // the size, known already
		return err
	}
	in, err := c.take(len(c.b) - c.at)
	if err != nil {
		return err
	}
	return w.expand(dst, in, r, len(dst))
}

// expand decodes one stream of the codec, the first n bytes at least; one as long as its content is stored as it is.
func (w *Worker) expand(dst, in []byte, r *Reader, n int) error {
	if len(in) == len(dst) {
		filters.Copy(dst[:n], in[:n])
		return nil
	}
	dec, err := w.decoder(r)
	if err != nil {
		return err
	}
	if p, ok := dec.(codec.PrefixDecoder); ok && n < len(dst) {
		return p.DecodePrefix(dst, in, n)
	}
	return dec.Decode(dst, in)
}

// Decode appends the content of the chunk at the start of src to dst, on up to Options.Concurrency goroutines.
// Bytes behind the chunk are ignored. Errors are ErrCorrupt, ErrUnsupported or ErrTooLarge, in an *Error.
func (p *Pool) Decode(dst, src []byte) ([]byte, error) {
	h, err := ParseHeader(src, int64(len(src)))
	if err != nil {
		return dst, err
	}
	if p.o.Postfilter == nil && (h.Special() != Regular || h.Stored()) {
		out, err := p.room(dst, &h)
		if err == nil {
			p.decodeFlat(out[len(dst):], &h, src)
		}
		return out, err
	}
	w := p.Get()
	defer p.Put(w)
	r := &w.reader
	defer r.reset() // hold no memory of the caller
	if err := w.Open(r, src); err != nil {
		return dst, err
	}
	out, err := p.room(dst, &r.h)
	if err != nil {
		return dst, err
	}
	whole := out[len(dst):]
	if err := p.decodeBlocks(whole, w, r); err != nil {
		return dst, err
	}
	return out, nil
}

// decodeBlocks decodes all blocks of a chunk that w has opened. Where that pays, workers take two blocks at a time, as long
// as there are two for each of them.
func (p *Pool) decodeBlocks(whole []byte, w *Worker, r *Reader) error {
	n, pairs := r.h.nblocks, 0
	team := p.team(n)
	defer p.dismiss(team)
	if w.TwoPay(r) {
		pairs = n / (2 * len(team)) * len(team)
	}
	place := func(k int) []byte {
		at := r.BlockOffset(k)
		return whole[at : at+r.BlockLen(k)]
	}
	return work(team, n-pairs, func(w *Worker, i int) error {
		if i < pairs {
			return w.DecodeTwo([2][]byte{place(2 * i), place(2*i + 1)}, r, [2]int{2 * i, 2*i + 1})
		}
		return w.DecodeBlock(place(pairs+i), r, pairs+i)
	})
}

// room returns dst with as many more bytes as a chunk decodes to. It fails with ErrTooLarge.
func (p *Pool) room(dst []byte, h *Header) ([]byte, error) {
	n := h.NBytes
	if limit := p.o.limit(h.CBytes, 64<<20); cap(dst)-len(dst) < n && (int64(n) > limit || n > math.MaxInt-len(dst)) {
		return dst, headerError(4, ErrTooLarge, "%d bytes decoded from %d, Options.MaxBytes allows %d", n, h.CBytes, limit)
	}
	return grow(dst, n), nil
}

// decodeFlat fills dst with the content of a chunk in memory that is stored or special, whatever its blocks are.
func (p *Pool) decodeFlat(dst []byte, h *Header, chunk []byte) {
	if len(dst) < sharedFrom {
		h.flat(dst, chunk, 0)
		return
	}
	p.decodePieces(dst, *h, chunk, 1+len(dst)/sharedFrom)
}

// decodePieces is decodeFlat for several workers. Writing a piece never fails.
func (p *Pool) decodePieces(dst []byte, h Header, chunk []byte, workers int) {
	team := p.team(workers)
	defer p.dismiss(team)
	_ = work(team, (len(dst)-1)/movedPiece+1, func(_ *Worker, i int) error {
		at := i * movedPiece
		h.flat(dst[at:min(at+movedPiece, len(dst))], chunk, at)
		return nil
	})
}

// flat fills dst with what stands at byte at of the content of a chunk in memory that is stored or special.
func (h *Header) flat(dst, chunk []byte, at int) {
	if s := h.Special(); s != Regular {
		FillSpecial(dst, s, h.value(chunk), h.TypeSize, at)
		return
	}
	at += h.Overhead()
	filters.Copy(dst, chunk[at:at+len(dst)])
}

// value returns the item that a chunk repeats, if it is a Value.
func (h *Header) value(chunk []byte) []byte {
	if h.Special() == Value {
		return chunk[HeaderSize:h.CBytes]
	}
	return nil
}

// Decode appends the content of the chunk at the start of src to dst. It sets up codecs for this one call; a [Pool]
// keeps them for the next. See [Pool.Decode].
func Decode(dst, src []byte, o *Options) ([]byte, error) { return NewPool(o).Decode(dst, src) }

// cursor reads the streams of a block.
type cursor struct {
	b  []byte
	at int
}

// length reads the length field of a stream.
func (c *cursor) length() (int, error) {
	if len(c.b)-c.at < 4 {
		return 0, corrupt("stream length cut off")
	}
	n := int32(binary.LittleEndian.Uint32(c.b[c.at:]))
	c.at += 4
	return int(n), nil
}

// take reads n bytes.
func (c *cursor) take(n int) ([]byte, error) {
	if n > len(c.b)-c.at {
		return nil, corrupt("stream of %d bytes, %d left", n, len(c.b)-c.at)
	}
	b := c.b[c.at : c.at+n : c.at+n]
	c.at += n
	return b, nil
}
