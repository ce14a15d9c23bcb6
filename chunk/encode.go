package chunk

import (
	"encoding/binary"
	"errors"

	"github.com/goblosc/blosc2/codec"
)

// errNoRoom says that a chunk would not be smaller than its data.
var errNoRoom = errors.New("no room")

// EncodeBlock appends the streams of block k to dst. src is the block, BlockLen(k) bytes that stay as they are; ref
// is block 0 where NeedsReference says so. The order in which blocks are encoded does not matter. Errors are
// ErrParam or ErrUnsupported.
func (w *Worker) EncodeBlock(dst []byte, l *Layout, k int, src, ref []byte) ([]byte, error) {
	return w.encodeBlock(dst, l, k, src, ref, 1<<31-1)
}

// encodeBlock is EncodeBlock with room left for so many bytes; it fails with errNoRoom when they are not enough.
func (w *Worker) encodeBlock(dst []byte, l *Layout, k int, src, ref []byte, room int) ([]byte, error) {
	b := block{typeSize: l.typeSize, version: versionRegular}
	if k > 0 {
		b.ref = ref
	}
	filtered, err := w.forward(src, &l.pipeline, &b)
	if err != nil {
		return dst, err
	}
	enc, err := w.encoder(l)
	if err != nil {
		return dst, err
	}
	streams := 1
	if l.split && len(src) == l.blockSize {
		streams = l.typeSize
	}
	n := len(src) / streams
	start := len(dst)
	for j := range streams {
		dst, err = encodeStream(dst, filtered[j*n:(j+1)*n], enc, room-(len(dst)-start))
		if err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// encodeStream appends one stream: its length and its bytes, following the order of the reference's checks so that
// the outcome is the same. room is what is left for both.
func encodeStream(dst, src []byte, enc codec.Encoder, room int) ([]byte, error) {
	at := len(dst)
	room -= 4
	dst = append(dst, 0, 0, 0, 0)
	if isRun(src) {
		if src[0] != 0 {
			binary.LittleEndian.PutUint32(dst[at:], uint32(-int32(src[0])))
			dst = append(dst, 1)
			room--
		}
		if room < 0 {
			return dst, errNoRoom
		}
		return dst, nil
	}
	most := min(len(src), room)
	if most <= 0 {
		return dst, errNoRoom
	}
	dst = grow(dst, len(src))
	n, err := enc.Encode(dst[at+4:at+4+most], src)
	switch {
	case errors.Is(err, codec.ErrIncompressible) || err == nil && n == len(src):
		if len(src) > room {
			return dst, errNoRoom
		}
		n = copy(dst[at+4:], src)
	case err != nil:
		return dst, err
	}
	binary.LittleEndian.PutUint32(dst[at:], uint32(n))
	return dst[:at+4+n], nil
}

// isRun tells whether all bytes are the same.
func isRun(b []byte) bool {
	word := uint64(b[0]) * 0x0101010101010101
	i := 0
	for ; i+8 <= len(b); i += 8 {
		if binary.LittleEndian.Uint64(b[i:]) != word {
			return false
		}
	}
	for _, c := range b[i:] {
		if c != b[0] {
			return false
		}
	}
	return true
}

// Assemble appends the chunk made of blocks that EncodeBlock has encoded. plain returns block k as it was before
// encoding; it is asked for where blocks do not pay and must be stored, and may reuse its memory at each call.
// blocks is not looked at when l.Stored.
func (w *Worker) Assemble(dst []byte, l *Layout, blocks [][]byte, plain func(k int) ([]byte, error)) ([]byte, error) {
	if l.store {
		return appendStored(dst, l, plain)
	}
	start := len(dst)
	dst = l.h.append(dst)
	starts := len(dst)
	dst = grow(dst, 4*l.nblocks)
	zeros := true
	var ref []byte
	for k, b := range blocks {
		at := len(dst) - start
		room := l.h.NBytes + MaxOverhead - at
		// Blocks were encoded as if there were room without end. Near the end of it, encode again with what is left.
		if len(b)+l.BlockLen(k) > room {
			src, err := plain(k)
			if err != nil {
				return dst[:start], err
			}
			if l.NeedsReference() && k > 0 && ref == nil {
				if ref, src, err = reference(plain, k); err != nil {
					return dst[:start], err
				}
			}
			w.out, err = w.encodeBlock(w.out[:0], l, k, src, ref, room)
			if errors.Is(err, errNoRoom) {
				return appendStored(dst[:start], l, plain)
			}
			if err != nil {
				return dst[:start], err
			}
			b = w.out
		}
		zeros = zeros && allZero(b, l, k)
		binary.LittleEndian.PutUint32(dst[starts+4*k:], uint32(at))
		dst = append(dst, b...)
	}
	if zeros {
		dst = dst[:starts]
		dst[start+31] |= uint8(Zeros) << specialShift
	}
	binary.LittleEndian.PutUint32(dst[start+12:], uint32(len(dst)-start))
	return dst, nil
}

// reference fetches block 0, kept, and then block k.
func reference(plain func(int) ([]byte, error), k int) (ref, src []byte, err error) {
	if ref, err = plain(0); err != nil {
		return nil, nil, err
	}
	ref = append([]byte(nil), ref...)
	src, err = plain(k)
	return ref, src, err
}

// allZero tells whether the streams of a block are all zero runs: then each is just its length.
func allZero(b []byte, l *Layout, k int) bool {
	n := 4
	if l.split && l.BlockLen(k) == l.blockSize {
		n *= l.typeSize
	}
	return len(b) == n
}

// appendStored appends the chunk with its data as they are.
func appendStored(dst []byte, l *Layout, plain func(k int) ([]byte, error)) ([]byte, error) {
	start := len(dst)
	h := l.h
	h.Flags |= flagStored
	h.CBytes = h.NBytes + HeaderSize
	dst = h.append(dst)
	for k := range l.nblocks {
		b, err := plain(k)
		if err != nil {
			return dst[:start], err
		}
		dst = append(dst, b...)
	}
	return dst, nil
}

// Encode appends a chunk with the content src to dst, on up to Options.Concurrency goroutines; the bytes do not
// depend on their number. They are those of C-Blosc2 with one thread where the codec's streams are. A chunk of
// zeros comes out as special value. Errors are ErrParam, ErrUnsupported or ErrTooLarge.
func (p *Pool) Encode(dst, src []byte, c CParams) ([]byte, error) {
	l, err := c.Layout(len(src))
	if err != nil {
		return dst, err
	}
	w := p.Get()
	defer p.Put(w)
	plain := func(k int) ([]byte, error) {
		at := k * l.blockSize
		return src[at : at+l.BlockLen(k)], nil
	}
	if l.store {
		return appendStored(dst, l, plain)
	}
	ref := src[:l.BlockLen(0)]
	if p.o.workers(l.nblocks) == 1 {
		return w.encodeSerial(dst, l, src, ref, plain)
	}
	blocks := make([][]byte, l.nblocks)
	err = p.parallel(w, l.nblocks, func(w *Worker, k int) error {
		b, _ := plain(k)
		out, err := w.EncodeBlock(w.out[:0], l, k, b, ref)
		w.out = out
		blocks[k] = append([]byte(nil), out...)
		return err
	})
	if err != nil {
		return dst, err
	}
	return w.Assemble(dst, l, blocks, plain)
}

// encodeSerial encodes block after block straight into dst.
func (w *Worker) encodeSerial(dst []byte, l *Layout, src, ref []byte, plain func(int) ([]byte, error)) ([]byte, error) {
	start := len(dst)
	dst = l.h.append(dst)
	starts := len(dst)
	dst = grow(dst, 4*l.nblocks)
	zeros := true
	for k := range l.nblocks {
		at := len(dst)
		binary.LittleEndian.PutUint32(dst[starts+4*k:], uint32(at-start))
		b, _ := plain(k)
		var err error
		dst, err = w.encodeBlock(dst, l, k, b, ref, l.h.NBytes+MaxOverhead-(at-start))
		if errors.Is(err, errNoRoom) {
			return appendStored(dst[:start], l, plain)
		}
		if err != nil {
			return dst[:start], err
		}
		zeros = zeros && allZero(dst[at:], l, k)
	}
	if zeros {
		dst = dst[:starts]
		dst[start+31] |= uint8(Zeros) << specialShift
	}
	binary.LittleEndian.PutUint32(dst[start+12:], uint32(len(dst)-start))
	return dst, nil
}

// Encode appends a chunk with the content src to dst. See [Pool.Encode].
func Encode(dst, src []byte, c CParams, o *Options) ([]byte, error) {
	return NewPool(o).Encode(dst, src, c)
}
