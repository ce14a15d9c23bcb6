package inflate

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/goblosc/blosc2/codec/internal/adler"
)

// Decoder decodes one stream at a time. It belongs to one goroutine. It keeps its tables between calls.
type Decoder struct {
	run
	preset bool // the tables are those of the preset codes
	final  [finalSize]byte
	code   codeReader
	tables tables
}

// The last bytes of the input are copied to a buffer with zeros after them, so that 8 bytes can be loaded anywhere.
const (
	margin    = 16 // bytes available at the start of an iteration
	kept      = 8  // bytes that were loaded but may not be used yet
	finalSize = kept + margin + 2*margin
)

var (
	errInput    = errors.New("stream is truncated")
	errHeader   = errors.New("not a stream")
	errDict     = errors.New("stream requires a dictionary")
	errKind     = errors.New("reserved kind of block")
	errStored   = errors.New("the two lengths of a stored block differ")
	errCode     = errors.New("invalid Huffman code")
	errSymbol   = errors.New("unknown symbol")
	errDistance = errors.New("match before the start of the content")
	errShorter  = errors.New("content is shorter than expected")
	errLonger   = errors.New("content is longer than expected")
	errChecksum = errors.New("wrong checksum")
)

// Decode decodes src to exactly len(dst) bytes. src may hold any bytes, and any bytes after the stream. dst and src
// must not overlap. After an error the content of dst is undefined.
func (d *Decoder) Decode(dst, src []byte) error { return d.upTo(dst, src, math.MaxInt) }

// DecodePrefix decodes at least the first n bytes into dst, for n < len(dst). The contents of dst after them are
// undefined. It checks neither the rest of the stream nor the checksum.
func (d *Decoder) DecodePrefix(dst, src []byte, n int) error { return d.upTo(dst, src, n) }

// upTo decodes src to dst until at least stop bytes are decoded.
func (d *Decoder) upTo(dst, src []byte, stop int) error {
	if len(src) < 2 {
		return errInput
	}
	head := binary.BigEndian.Uint16(src)
	switch {
	case head>>8&15 != 8 || head>>12 > 7 || head%31 != 0:
		return errHeader
	case head&0x20 != 0:
		return errDict
	}
	d.run = run{src: src, dst: dst, in: 2, stop: stop, end: len(src)}
	err := d.blocks()
	if err == nil && d.out < stop {
		err = d.finish()
	}
	d.run = run{} // retain no memory of the caller
	return err
}

// finish checks the bytes after the last block.
func (d *Decoder) finish() error {
	if d.out < len(d.dst) {
		return errShorter
	}
	in := d.place()
	if d.end-in < 4 {
		return errInput
	}
	if binary.BigEndian.Uint32(d.src[in:]) != adler.Checksum(d.dst) {
		return errChecksum
	}
	return nil
}

// blocks decodes all blocks, or those that begin before d.stop.
func (d *Decoder) blocks() error {
	for {
		head, err := d.bits(3)
		if err != nil {
			return err
		}
		switch head >> 1 {
		case 0:
			err = d.stored()
		case 1:
			if !d.preset {
				d.preset = true
				d.tables.makePreset()
			}
			err = d.symbols()
		case 2:
			d.preset = false
			if err = d.readCodes(); err == nil {
				err = d.symbols()
			}
		default:
			err = errKind
		}
		if err != nil || head&1 != 0 || d.out >= d.stop {
			return err
		}
	}
}

// stored copies a block of stored bytes.
func (d *Decoder) stored() error {
	in := d.place() // skips the rest of a byte
	if d.end-in < 4 {
		return errInput
	}
	n := int(binary.LittleEndian.Uint16(d.src[in:]))
	if n^0xffff != int(binary.LittleEndian.Uint16(d.src[in+2:])) {
		return errStored
	}
	in += 4
	switch {
	case n > d.end-in:
		return errInput
	case n > len(d.dst)-d.out:
		return errLonger
	}
	d.out += copy(d.dst[d.out:], d.src[in:in+n])
	d.in, d.word, d.left = in+n, 0, 0
	return nil
}

// symbols decodes the symbols of a block, or some up to d.stop.
func (d *Decoder) symbols() error {
	for {
		if !d.ahead() {
			return errInput
		}
		stop := d.fast(&d.tables)
		if d.out >= d.stop {
			return nil
		}
		if stop == stopLimit && d.in <= len(d.src)-margin {
			stop = d.careful(&d.tables)
		}
		switch stop {
		case stopEnd:
			if d.place() > d.end {
				return errInput
			}
			return nil
		case stopSymbol:
			return errSymbol
		case stopDistance:
			return errDistance
		case stopLonger:
			return errLonger
		}
	}
}

// ahead ensures that margin bytes can be loaded. Near the end it moves the rest of the input to a separate buffer. It
// returns false when that is used up.
func (d *Decoder) ahead() bool {
	if d.in <= len(d.src)-margin {
		return true
	}
	if len(d.src) > d.end {
		return false
	}
	rest := d.src[max(0, d.in-kept):d.end]
	clear(d.final[copy(d.final[:], rest):])
	d.in -= d.end - len(rest)
	d.src, d.end = d.final[:], len(rest)
	return true
}

// bits takes n bits, at most 32.
func (d *Decoder) bits(n uint) (uint32, error) {
	if d.left < n {
		if !d.ahead() {
			return 0, errInput
		}
		d.refill()
	}
	v := uint32(d.word) & (1<<n - 1)
	d.word >>= n
	d.left -= n
	return v, nil
}
