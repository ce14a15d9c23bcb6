package zstd

import (
	"encoding/binary"
	"errors"
	"math"
)

// Decoder decodes one input at a time, or the frames of a batch. It belongs to one goroutine. It keeps its tables and a
// buffer of at most 128 KiB between calls, and twice as much after its first batch.
type Decoder struct {
	// SkipChecksum disables the verification of checksums.
	SkipChecksum bool

	dict    *dictionary // ownDict, or nil
	ownDict *dictionary // nil until there was a dictionary

	// State that a block of a frame passes to the next one.
	huffman *huffmanTable
	tables  [3]*table
	repeats [3]uint32

	ownHuffman huffmanTable
	pairs      pairTable
	paired     bool // pairs is the table of the current code
	minPairs   int  // least number of literals for a table of pairs
	ownTables  [3]table
	literals   []byte // buffer for the literals of a block
	run        run
	stop       int // needed bytes of the content; may be more than its length
	streams    streams4
	scratch    scratch
	batch      batch
}

// scratch is memory for the construction of tables.
type scratch struct {
	weights [256]uint8
	sorted  [256]uint8
	table   weightTable
	probs   [256]int16
	symbols [maxStates]uint8
	runs    [maxStates + 8]uint8
	first   [256]uint16
	last    [256]uint16
}

// NewDecoder returns a decoder for frames that were encoded with the dictionary dict, or without one if dict is empty.
// See SetDict.
func NewDecoder(dict []byte) (*Decoder, error) {
	d := &Decoder{minPairs: 4096}
	if err := d.SetDict(dict); err != nil {
		return nil, err
	}
	return d, nil
}

// SetDict makes d a decoder for frames that were encoded with another dictionary, or without one if dict is empty. A
// dictionary without magic number is content only. The decoder retains dict, which must not change. After an error the
// decoder has no dictionary.
func (d *Decoder) SetDict(dict []byte) error {
	d.dict = nil
	if d.ownDict != nil {
		d.ownDict.content = nil // memory of the caller
	}
	if len(dict) == 0 {
		return nil
	}
	if d.ownDict == nil {
		d.ownDict = new(dictionary)
	}
	if err := d.parseDictionary(d.ownDict, dict); err != nil {
		return err
	}
	d.dict = d.ownDict
	return nil
}

// Magic numbers of frames.
const (
	frameMagic     = 0xfd2fb528
	skippableMagic = 0x184d2a50 // and the next 15 numbers
)

var (
	errInput     = errors.New("input is too short")
	errMagic     = errors.New("not a frame")
	errReserved  = errors.New("reserved bit is set")
	errWindow    = errors.New("window is too large")
	errDict      = errors.New("frame needs another dictionary")
	errContent   = errors.New("frame has another length than its header says")
	errShorter   = errors.New("content is shorter than expected")
	errLonger    = errors.New("content is longer than expected")
	errChecksum  = errors.New("wrong checksum")
	errBlockType = errors.New("reserved type of block")
	errBlockSize = errors.New("block is too large")
)

// Decode decodes src, one or more frames, to exactly len(dst) bytes. src may hold any bytes. dst and src must not
// overlap. After an error the content of dst is undefined.
func (d *Decoder) Decode(dst, src []byte) error { return d.upTo(dst, src, math.MaxInt) }

// DecodePrefix decodes at least the first n bytes into dst, for n < len(dst). The contents of dst after them are
// undefined. It decodes only the literals and the sequences that these bytes need, and does not check the rest of src.
func (d *Decoder) DecodePrefix(dst, src []byte, n int) error { return d.upTo(dst, src, n) }

// upTo decodes src to dst until at least stop bytes are decoded.
func (d *Decoder) upTo(dst, src []byte, stop int) error {
	if len(src) == 0 {
		return errInput
	}
	d.stop = stop
	defer func() { d.run, d.streams = run{}, streams4{} }() // retain no memory of the caller
	out := 0
	for len(src) > 0 && out < d.stop {
		if len(src) < 4 {
			return errInput
		}
		magic := binary.LittleEndian.Uint32(src)
		if magic&^15 == skippableMagic {
			if len(src) < 8 {
				return errInput
			}
			n := uint64(binary.LittleEndian.Uint32(src[4:]))
			if n > uint64(len(src)-8) {
				return errInput
			}
			src = src[8+n:]
			continue
		}
		if magic != frameMagic {
			return errMagic
		}
		n, used, err := d.frame(dst, out, src)
		if err != nil {
			return err
		}
		out, src = n, src[used:]
	}
	if out < min(len(dst), d.stop) {
		return errShorter
	}
	return nil
}

// header holds the fields of a frame header that blocks need.
type header struct {
	window   uint64 // bytes
	content  uint64 // bytes; only with sized
	sized    bool
	checksum bool
}

const (
	minWindow = 1 << 10
	maxBlock  = 128 << 10
)

// readHeader reads the header after the magic number and returns its length.
func (d *Decoder) readHeader(src []byte) (h header, n int, err error) {
	if len(src) < 1 {
		return h, 0, errInput
	}
	flags := src[0]
	if flags&8 != 0 {
		return h, 0, errReserved
	}
	single := flags&32 != 0
	h.checksum = flags&4 != 0
	idSize := [4]int{0, 1, 2, 4}[flags&3]
	contentSize := [4]int{0, 2, 4, 8}[flags>>6]
	if single && contentSize == 0 {
		contentSize = 1
	}
	n = 1 + idSize + contentSize
	if !single {
		n++
	}
	if len(src) < n {
		return h, 0, errInput
	}
	p := src[1:n]
	if !single {
		log := 10 + p[0]>>3
		if log > 31 {
			return h, 0, errWindow
		}
		h.window = 1<<log + 1<<log/8*uint64(p[0]&7)
		p = p[1:]
	}
	if id := uint32(littleEndian(p[:idSize])); id != 0 && (d.dict == nil || id != d.dict.id) {
		return h, 0, errDict
	}
	p = p[idSize:]
	h.content, h.sized = littleEndian(p), contentSize > 0
	if contentSize == 2 {
		h.content += 256
	}
	if single {
		h.window = max(h.content, minWindow)
	}
	return h, n, nil
}

// littleEndian returns the integer in at most 8 bytes.
func littleEndian(p []byte) (v uint64) {
	for i := len(p) - 1; i >= 0; i-- {
		v = v<<8 | uint64(p[i])
	}
	return v
}

// frame decodes the frame at the start of src to dst[start:]. It returns the end of the content in dst and of the frame
// in src. If d.stop is before that, it ends after the block that reaches it.
func (d *Decoder) frame(dst []byte, start int, src []byte) (end, used int, err error) {
	h, in, err := d.readHeader(src[4:])
	if err != nil {
		return 0, 0, err
	}
	if h.sized && h.content > uint64(len(dst)-start) {
		return 0, 0, errLonger
	}
	in += 4
	limit := int(min(h.window, maxBlock)) // largest size of a block, encoded and decoded
	d.huffman, d.tables, d.repeats, d.paired = nil, [3]*table{}, [3]uint32{1, 4, 8}, false
	d.run = run{dst: dst, start: start, window: uint32(min(h.window, 1<<32-1))}
	if d.dict != nil {
		d.dict.begin(d)
	}
	out := start
	for last := false; !last; {
		if len(src)-in < 3 {
			return 0, 0, errInput
		}
		head := uint32(src[in]) | uint32(src[in+1])<<8 | uint32(src[in+2])<<16
		in += 3
		last = head&1 != 0
		size := int(head >> 3)
		if size > limit {
			return 0, 0, errBlockSize
		}
		stored := size
		if head>>1&3 == 1 {
			stored = 1
		}
		if stored > len(src)-in {
			return 0, 0, errInput
		}
		switch head >> 1 & 3 {
		case 0:
			if size > len(dst)-out {
				return 0, 0, errLonger
			}
			copy(dst[out:], src[in:in+size])
			out += size
		case 1:
			if size > len(dst)-out {
				return 0, 0, errLonger
			}
			fill(dst[out:out+size], src[in])
			out += size
		case 2:
			out, err = d.block(dst, out, min(limit, len(dst)-out), src, in, in+size)
			if err != nil {
				return 0, 0, err
			}
		default:
			return 0, 0, errBlockType
		}
		in += stored
		if out >= d.stop {
			return out, in, nil
		}
	}
	if h.sized && h.content != uint64(out-start) {
		return 0, 0, errContent
	}
	if h.checksum {
		if len(src)-in < 4 {
			return 0, 0, errInput
		}
		if !d.SkipChecksum && binary.LittleEndian.Uint32(src[in:]) != uint32(xxhash64(dst[start:out])) {
			return 0, 0, errChecksum
		}
		in += 4
	}
	return out, in, nil
}
