package frame

import (
	"cmp"
	"errors"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/crc32c"
)

// once does work on the chunks of a state once for each stored chunk, though an index may reference one many times. It
// also bounds that work by the space of the chunks: chunks of more bytes overlap, which no writer makes.
type once struct {
	f    *Frame
	s    *snapshot
	seen map[entry]*seenChunk // nil when no chunk is referenced twice
	left int64                // bytes of chunks that may still come

	blockSize int64 // bytes of a block, which verify compares, or 0
}

// seenChunk is what is known of a stored chunk.
type seenChunk struct {
	h      chunk.Header
	sum    uint32
	err    error // of its content
	place  place // of its copy, if that is stored
	stored bool
}

func (f *Frame) once(s *snapshot) *once {
	o := &once{f: f, s: s, left: s.areaLen()}
	if _, shared := s.index.storedEntries(); shared {
		o.seen = map[entry]*seenChunk{}
	}
	return o
}

// areaLen returns how many bytes the chunks of a state can have, or a number that is larger. The chunks of a sparse
// frame have a file each.
func (s *snapshot) areaLen() int64 {
	if s.sparse {
		return 1<<63 - 1
	}
	return max(s.cbytes, s.area-int64(s.headerLen))
}

// spend is an error when the chunks so far, with chunk i of n bytes, have more bytes than there are.
func (o *once) spend(i, n int) error {
	if o.left -= int64(n); o.left < 0 {
		return o.f.chunkError(o.s, i, corrupt("it overlaps other chunks"))
	}
	return nil
}

// repeated returns what is known of chunk i if its copy is stored already, or nil.
func (o *once) repeated(i int) *seenChunk {
	if e := o.s.index.at(i); e >= 0 && o.seen != nil && o.seen[e] != nil && o.seen[e].stored {
		return o.seen[e]
	}
	return nil
}

// fits is an error if a stored chunk that was seen before cannot be chunk i.
func (o *once) fits(i int, c *seenChunk) error {
	err := c.err
	if err == nil {
		err = o.s.checkChunk(i, &c.h)
	}
	if err == nil && o.s.index.sums != nil && o.s.index.sums[i] != c.sum {
		err = ErrChecksum
	}
	if err != nil {
		return o.f.chunkError(o.s, i, err)
	}
	return nil
}

// verify decodes chunk i and returns its decoded size, and whether the next ones must not be verified: there is no end
// of chunks that overlap.
func (o *once) verify(i int) (n int64, last bool, err error) {
	if o.s.index.at(i) < 0 || o.seen == nil {
		h, err := o.f.verifyChunk(o.s, i)
		if over := o.spend(i, o.stored(i, &h)); over != nil {
			return 0, true, over
		}
		return int64(h.NBytes), false, cmp.Or(err, o.checkBlockSize(i, &h))
	}
	c := o.seen[o.s.index.at(i)]
	if c == nil {
		c = o.examine(i, o.f.verifyChunk)
		o.seen[o.s.index.at(i)] = c
		if over := o.spend(i, c.h.CBytes); over != nil {
			return 0, true, over
		}
	}
	return int64(c.h.NBytes), false, cmp.Or(o.fits(i, c), o.checkBlockSize(i, &c.h))
}

// checkBlockSize is an error if chunk i of an array has blocks of another size: then the array cannot be read.
func (o *once) checkBlockSize(i int, h *chunk.Header) error {
	if o.blockSize == 0 || o.s.index.at(i) < 0 || h.Special() != chunk.Regular || int64(h.BlockSize) == o.blockSize && !h.VLBlocks() {
		return nil
	}
	return o.f.chunkError(o.s, i, corrupt("blocks of %d bytes, those of the array have %d", h.BlockSize, o.blockSize))
}

// blockBytes returns the size of the blocks of an array, or 0.
func blockBytes(s *snapshot) int64 {
	shape := blockShape(s)
	if shape == nil {
		return 0
	}
	n := int64(s.typeSize)
	for _, b := range shape {
		n *= int64(b)
	}
	return n
}

// stored returns how many bytes chunk i takes.
func (o *once) stored(i int, h *chunk.Header) int {
	if o.s.index.at(i) < 0 {
		return 0
	}
	return h.CBytes
}

// examine decodes chunk i by means of decode, whatever its number says of it.
func (o *once) examine(i int, decode func(*snapshot, int) (chunk.Header, error)) *seenChunk {
	s := o.s.successor()
	s.chunkSize, s.index.sums = 0, nil
	c := &seenChunk{}
	if c.h, c.err = decode(s, i); c.err == nil && o.s.index.sums != nil {
		var raw []byte
		raw, c.err = o.f.rawChunk(nil, s, i)
		c.sum = crc32c.Checksum(raw)
	}
	var e *Error
	if errors.As(c.err, &e) {
		c.err = e.Err // without the number
	}
	return c
}

// read appends the stored bytes of chunk i, which was not seen before, to dst and compares them with its checksum.
func (o *once) read(dst []byte, i int) ([]byte, error) {
	at := len(dst)
	dst, err := o.f.rawChunk(dst, o.s, i)
	if err == nil {
		err = o.f.checkSum(o.s, i, dst[at:])
	}
	if err == nil && o.s.index.at(i) >= 0 {
		err = o.spend(i, len(dst)-at)
	}
	return dst, err
}

// put stores chunk i, of bytes c that are not used if its copy is stored already, by means of insert or update.
func (o *once) put(b *Batch, i int, c []byte, put func(h *chunk.Header, store func() (place, error)) error) error {
	if seen := o.repeated(i); seen != nil {
		if err := o.fits(i, seen); err != nil {
			return err
		}
		b.f.store.share()
		return put(&seen.h, func() (place, error) { return seen.place, nil })
	}
	h, err := b.examine(c, nil, b.next.index.n)
	if err != nil {
		return err
	}
	var p place
	err = put(&h, func() (_ place, err error) {
		p, err = b.store(c, &h)
		return p, err
	})
	if err == nil && o.seen != nil && o.s.index.at(i) >= 0 {
		sum := crc32c.Checksum(c[:h.CBytes])
		if p.e >= 0 { // the checksum of a special chunk that only the index holds is 0
			p.sum = sum
		}
		o.seen[o.s.index.at(i)] = &seenChunk{h: h, sum: sum, place: p, stored: true}
	}
	return err
}

// append adds chunk i as the last of a batch, and uses buf for it, which it returns.
func (o *once) append(b *Batch, i int, buf []byte) ([]byte, error) {
	var err error
	if o.repeated(i) == nil {
		if buf, err = o.read(buf[:0], i); err != nil {
			return buf, err
		}
	}
	if err := b.check(b.next.index.n, b.next.index.n); err != nil {
		return buf, err
	}
	return buf, o.put(b, i, buf, func(h *chunk.Header, store func() (place, error)) error {
		return b.insert(b.next.index.n, h, store)
	})
}

// update puts chunk i in the place of chunk to of a batch, and uses buf for it, which it returns.
func (o *once) update(b *Batch, to, i int, buf []byte) ([]byte, error) {
	var err error
	if o.repeated(i) == nil {
		if buf, err = o.f.rawChunk(buf[:0], o.s, i); err != nil {
			return buf, err
		}
	}
	if err := b.check(to, b.next.index.n-1); err != nil {
		return buf, err
	}
	return buf, o.put(b, i, buf, func(h *chunk.Header, store func() (place, error)) error {
		return b.update(to, h, store)
	})
}
