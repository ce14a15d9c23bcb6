package coder

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/filters"
)

// DecodeBlock decodes block k of an opened chunk into dst, which has BlockLen(k) bytes. Errors are ErrCorrupt or
// errors.ErrUnsupported, or those of the io.ReaderAt and of user filters, in an *Error. After an error the content of
// dst is undefined.
func (w *Worker) DecodeBlock(dst []byte, r *Reader, k int) error {
	return w.DecodePrefix(dst, r, k, len(dst))
}

// DecodePrefix decodes at least the first n bytes of block k into dst, which has BlockLen(k) bytes. The contents of dst
// after them are undefined. If Shuffle is the only filter to undo and the codec supports it, DecodePrefix decodes each
// stream only as far as it needs, and does not detect damage after that. It is for planes of arrays, which often lie at
// the beginning of their blocks, and for boxes that end inside a block.
func (w *Worker) DecodePrefix(dst []byte, r *Reader, k, n int) error {
	if k < 0 || k >= r.NumBlocks || len(dst) != r.BlockLen(k) || n < 0 || n > len(dst) {
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
		at := r.Overhead
		if len(r.starts) > 0 {
			at = int(r.starts[k])
		}
		return &Error{Block: k, Off: int64(at), Err: fmt.Errorf("postfilter: %w", err)}
	}
	return nil
}

// readerBlock returns the description of block k of an opened chunk. It is valid until the worker's next block.
func (w *Worker) readerBlock(r *Reader, k int) *block {
	w.block = block{version: r.Version, typeSize: r.TypeSize, uncached: r.uncached, BlockInfo: BlockInfo{
		Chunk: w.Chunk, Block: k, Offset: r.BlockOffset(k),
		TypeSize: r.itemSize, Shape: w.o.BlockShape,
	}}
	if k > 0 && !r.VLBlocks {
		w.block.ref = r.ref
	}
	return &w.block
}

// decodePlain is DecodePrefix without Options.Postfilter.
func (w *Worker) decodePlain(dst []byte, r *Reader, k, n int) error {
	if s := r.Special; s != Regular {
		FillSpecial(dst[:n], s, r.Value, r.TypeSize, k*r.BlockSize)
		return nil
	}
	if r.Stored {
		return r.readStored(dst[:n], k*r.BlockSize)
	}
	if k == 0 && len(r.ref) > 0 {
		copy(dst[:n], r.ref)
		return nil
	}
	in, err := r.bytes(k, &w.in[0])
	if err != nil {
		return err
	}
	c := cursor{b: in}
	if err := w.decodeBlock(dst, r, k, n, &c); err != nil {
		return &Error{Block: k, Off: int64(r.starts[k]) + int64(c.at), Err: err}
	}
	return nil
}

// decodeBlock decodes the streams at c and undoes the filters, for at least the first n bytes.
func (w *Worker) decodeBlock(dst []byte, r *Reader, k, n int, c *cursor) error {
	if n == len(dst) && w.joins(r, n) {
		return w.decodeJoined(dst, r, c)
	}
	out := dst
	if r.steps.n > 0 {
		out = w.buf.first(len(dst))
	}
	var err error
	if r.VLBlocks {
		c.at = len(c.b) // the stream is all bytes after the size, which readSizes has read
		err = w.decodeStream(out, c.b[4:], r, len(out))
	} else {
		err = w.decodeStreams(out, r, c, r.steps.partOf(len(dst), n))
	}
	if err != nil || r.steps.n == 0 || len(dst) == 0 {
		return err
	}
	return r.steps.backward(dst, out, w.readerBlock(r, k), &w.buf)
}

// joins reports whether decodeJoined is faster for a whole block of size bytes. It is not with codecs that decode all
// streams of a block at once.
func (w *Worker) joins(r *Reader, size int) bool {
	if r.steps.planes < 2 || r.streams(size) != r.steps.planes || !filters.JoinFaster(r.steps.planes) {
		return false
	}
	d, err := w.decoder(r)
	return err == nil && !d.batchPlanes
}

// decodeJoined decodes a block with one stream for each byte plane, and joins the planes. It joins streams that are
// stored uncompressed from where they are.
func (w *Worker) decodeJoined(dst []byte, r *Reader, c *cursor) error {
	buf := w.buf.first(len(dst))
	var memory [8][]byte
	planes := memory[:r.steps.planes]
	n := len(buf) / len(planes)
	for j := range planes {
		planes[j] = buf[j*n : (j+1)*n]
	}
	err := eachStream(buf, &r.Header, c, whole(len(buf)), func(j int, plane, in []byte, n int) error {
		if len(in) == len(plane) {
			planes[j] = in
			return nil
		}
		return w.decodeStream(plane, in, r, n)
	})
	if err == nil {
		filters.Join(dst, planes, r.uncached)
	}
	return err
}

// decodeStreams sets a part of dst from the streams of a regular block.
func (w *Worker) decodeStreams(dst []byte, r *Reader, c *cursor, p part) error {
	if w.decodePlanes(dst, r, *c, p) {
		return nil
	}
	return eachStream(dst, &r.Header, c, p, func(_ int, dst, in []byte, n int) error { return w.decodeStream(dst, in, r, n) })
}

// decodeStream decodes at least the first n bytes of one stream. A stream as long as its content is stored
// uncompressed.
func (w *Worker) decodeStream(dst, in []byte, r *Reader, n int) error {
	if len(in) == len(dst) {
		filters.Copy(dst[:n], in[:n])
		return nil
	}
	d, err := w.decoder(r)
	if err != nil {
		return err
	}
	if d.prefix != nil && n < len(dst) {
		return d.prefix.DecodePrefix(dst, in, n)
	}
	return d.dec.Decode(dst, in)
}

// DecodeShuffled decodes block k of an opened chunk without unshuffling it, and returns true, if Shuffle is its only
// filter. It decodes at least the items in the first n bytes of the block; the other items are undefined. If it returns
// false, it did nothing, and DecodePrefix decodes the block. Errors are those of DecodePrefix.
func (w *Worker) DecodeShuffled(r *Reader, k, n int) (Shuffled, bool, error) {
	if !r.ByPlane || k < 0 || k >= r.NumBlocks {
		return Shuffled{}, false, nil
	}
	in, err := r.bytes(k, &w.in[0])
	if err != nil {
		return Shuffled{}, false, err
	}
	c := cursor{b: in}
	out := w.buf.first(r.BlockLen(k))
	if err := w.decodeStreams(out, r, &c, r.steps.partOf(len(out), n)); err != nil {
		return Shuffled{}, false, &Error{Block: k, Off: int64(r.starts[k]) + int64(c.at), Err: err}
	}
	return Shuffled{out, r.steps.planes}, true, nil
}

// PrefersPairs reports whether DecodePair is faster than decoding two blocks of an opened chunk one after the other. It
// is with LZ4 and Zstd if there are no filters to undo: each match or symbol waits for the one before it, and two
// interleaved streams fill the waits. With filters it is with Zstd if a block is one stream.
func (w *Worker) PrefersPairs(r *Reader) bool {
	const largest = 256 << 10 // before the filters are undone, two blocks must stay in the cache
	if !r.pairs {
		return false
	}
	d, err := w.decoder(r)
	if err != nil || d.batch == nil {
		return false
	}
	return r.steps.n == 0 || d.batchPlanes && r.LargestBlock <= largest && r.streams(r.LargestBlock) == 1
}

// DecodePair decodes two blocks of an opened chunk, each as DecodeBlock does. It returns the error of the first block
// that fails.
func (w *Worker) DecodePair(dst [2][]byte, r *Reader, k [2]int) error {
	if w.PrefersPairs(r) && w.decodePair(dst, r, k) {
		return nil
	}
	if err := w.DecodeBlock(dst[0], r, k[0]); err != nil {
		return err
	}
	return w.DecodeBlock(dst[1], r, k[1])
}

// decodePair decodes two blocks at once, with the decoder that PrefersPairs has found, and reports whether it could. If
// not, decoding them one by one finds the error.
func (w *Worker) decodePair(dst [2][]byte, r *Reader, k [2]int) bool {
	defer w.batch.reset()
	out := dst
	if r.steps.n > 0 {
		w.second = sized(w.second, len(dst[1]))
		out = [2][]byte{w.buf.first(len(dst[0])), w.second}
	}
	for i, k := range k {
		if k < 0 || k >= r.NumBlocks || len(dst[i]) != r.BlockLen(k) {
			return false
		}
		in, err := r.bytes(k, &w.in[i])
		if err != nil || w.batch.addBlock(out[i], &r.Header, &cursor{b: in}, whole(len(out[i]))) != nil {
			return false
		}
	}
	if w.batch.decode(w.decoding.batch) != nil {
		return false
	}
	for i := range out {
		if r.steps.n > 0 && r.steps.backward(dst[i], out[i], w.readerBlock(r, k[i]), &w.buf) != nil {
			return false
		}
	}
	return true
}

// decodePlanes decodes the streams of a block at once, if that is faster, and reports whether it did. If not, decoding
// them one by one finds the error, if there is one.
func (w *Worker) decodePlanes(dst []byte, r *Reader, c cursor, p part) bool {
	if r.streams(len(dst)) < 2 {
		return false
	}
	d, err := w.decoder(r)
	if err != nil || !d.batchPlanes {
		return false
	}
	defer w.batch.reset()
	return w.batch.addBlock(dst, &r.Header, &c, p) == nil && w.batch.decode(d.batch) == nil
}

// batch holds streams that are decoded at once, src[i] to at least the first n[i] bytes of dst[i].
type batch struct {
	dst, src [][]byte
	n        []int
}

// addBlock adds the streams of a regular block that p needs. dst receives the block.
func (b *batch) addBlock(dst []byte, h *Header, c *cursor, p part) error {
	return eachStream(dst, h, c, p, func(_ int, dst, in []byte, n int) error {
		if len(in) == len(dst) {
			filters.Copy(dst[:n], in[:n])
			return nil
		}
		b.dst, b.src, b.n = append(b.dst, dst), append(b.src, in), append(b.n, n)
		return nil
	})
}

// decode decodes the streams.
func (b *batch) decode(dec codecs.BatchDecoder) error {
	if len(b.dst) == 0 {
		return nil
	}
	return dec.DecodeBatch(b.dst, b.src, b.n)
}

// reset removes all streams.
func (b *batch) reset() {
	clear(b.dst)
	clear(b.src)
	b.dst, b.src, b.n = b.dst[:0], b.src[:0], b.n[:0]
}
