package coder

import (
	"context"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/goblosc/blosc2/internal/task"
)

// Worker encodes and decodes blocks on one goroutine. It owns the scratch memory and the codecs, so that encoding and
// decoding many blocks allocates nothing. Get one from a [Pool].
type Worker struct {
	// Chunk is the number of the chunk in its frame, for functions of the program. See BlockInfo. -1 means unknown: Get
	// and NewWorker set it.
	Chunk int64

	ctx      context.Context // of the call that the worker serves, or nil; checked between blocks
	pool     *Pool
	o        *Options
	block    block // the argument of the filters
	buf      buffers
	pre      []byte    // a block after Options.Prefilter
	post     []byte    // a block before Options.Postfilter
	second   []byte    // the second of two blocks, before its filters are undone
	in       [2][]byte // compressed bytes read from an io.ReaderAt
	out      []byte    // encoded blocks
	scratch  []byte    // a chunk whose size is not known yet
	part     []byte    // a block that is needed in part
	batch    batch     // streams that are decoded at once
	encoders []cachedEncoder
	decoders []cachedDecoder
	encoding encoding
	decoding decoding

	// For calls that encode or decode whole chunks.
	reader  Reader
	blocks  [][]byte
	ref     []byte
	workers []*Worker
}

// canceled returns the error of the context of the call that the worker serves.
func (w *Worker) canceled() error { return task.Context(w.ctx).Err() }

// encoderKey identifies the encoders that can serve any chunk with the same parameters.
type encoderKey struct {
	id    codec.ID
	level int
	meta  uint8
	size  int
}

type cachedEncoder struct {
	encoderKey
	enc codec.Encoder
}

// decoderKey identifies the decoders that can serve any chunk with the same header fields.
type decoderKey struct {
	format codec.Format
	code   uint8 // of a user codec
	meta   uint8
	size   int
	dict   bool // the decoder is a codecs.DictDecoder
}

type cachedDecoder struct {
	decoderKey
	dec codec.Decoder
}

// decoding is the state for decoding the blocks of one opened chunk: one opening of one reader.
type decoding struct {
	reader      *Reader
	opened      uint64
	dec         codec.Decoder
	prefix      codec.PrefixDecoder // dec, if it can decode the beginning of a stream
	batch       codecs.BatchDecoder // dec, if it can decode several streams at once
	batchPlanes bool                // decoding the streams of one block at once is faster
}

// encoding is the state for encoding the blocks of one layout.
type encoding struct {
	layout   *Layout
	steps    steps
	itemSize int           // for codecs and N-dimensional filters
	enc      codec.Encoder // nil until a block needs it
}

// maxCached is the largest number of codecs that a worker keeps. Chunks of one frame rarely need more than two.
const maxCached = 6

// encodingOf returns the state for a layout. The item size of Params has priority over that of Options, unless it is 1,
// the default.
func (w *Worker) encodingOf(l *Layout) *encoding {
	e := &w.encoding
	if e.layout != l {
		*e = encoding{layout: l, steps: w.o.encodeSteps(&l.p.pipeline, l.TypeSize), itemSize: l.p.TypeSize}
		if e.itemSize == 1 && w.o.ItemSize > 0 {
			e.itemSize = w.o.ItemSize
		}
	}
	return e
}

// encoder returns the encoder for a layout.
func (w *Worker) encoder(l *Layout) (codec.Encoder, error) {
	e := w.encodingOf(l)
	if e.enc == nil {
		enc, err := w.findEncoder(l, e.itemSize)
		if err != nil {
			return nil, err
		}
		e.enc = enc
	}
	return e.enc, nil
}

// findEncoder returns a cached encoder, or a new one. An encoder with a dictionary serves only one chunk.
func (w *Worker) findEncoder(l *Layout, itemSize int) (codec.Encoder, error) {
	key := encoderKey{id: l.p.Codec, level: l.p.Level, meta: l.p.CodecMeta, size: itemSize}
	for i := range w.encoders {
		if e := &w.encoders[i]; l.dict == nil && e.encoderKey == key {
			return e.enc, nil
		}
	}
	c, err := w.o.Plugins.encoder(key.id)
	if err != nil {
		return nil, err
	}
	enc, err := c.NewEncoder(codec.Params{Level: key.level, Meta: key.meta, TypeSize: key.size, BlockShape: w.o.BlockShape, Dict: l.dict})
	if err != nil || l.dict != nil {
		return enc, err
	}
	if len(w.encoders) == maxCached {
		clear(w.encoders)
		w.encoders = w.encoders[:0]
	}
	w.encoders = append(w.encoders, cachedEncoder{key, enc})
	return enc, nil
}

// decoder returns the decoder for a chunk, with its optional interfaces.
func (w *Worker) decoder(r *Reader) (*decoding, error) {
	d := &w.decoding
	if d.reader == r && d.opened == r.opened {
		return d, nil
	}
	*d = decoding{} // findDecoder may give its decoder the dictionary of r
	dec, err := w.findDecoder(r)
	if err != nil {
		return nil, err
	}
	*d = decoding{reader: r, opened: r.opened, dec: dec}
	d.prefix, _ = dec.(codec.PrefixDecoder)
	d.batch, _ = dec.(codecs.BatchDecoder)
	d.batchPlanes = d.batch != nil && d.batch.BatchesPlanes()
	return d, nil
}

// findDecoder returns a cached decoder, or a new one. A decoder with a dictionary serves only one chunk, unless it is a
// codecs.DictDecoder, which gets the dictionary of r.
func (w *Worker) findDecoder(r *Reader) (codec.Decoder, error) {
	key := decoderKey{format: r.Format, meta: r.CodecMeta, size: r.itemSize, dict: r.dict != nil}
	if key.format == codec.FormatUser {
		key.code = r.Codec
	}
	for i := range w.decoders {
		if d := &w.decoders[i]; d.decoderKey == key {
			if r.dict != nil {
				return d.dec, d.dec.(codecs.DictDecoder).SetDict(r.dict)
			}
			return d.dec, nil
		}
	}
	c, err := w.o.Plugins.codecs.ByFormat(key.format, key.code)
	if err != nil {
		return nil, err
	}
	dec, err := c.NewDecoder(codec.Params{Meta: key.meta, TypeSize: key.size, BlockShape: w.o.BlockShape, Dict: r.dict})
	if err != nil {
		return nil, err
	}
	if _, ok := dec.(codecs.DictDecoder); r.dict != nil && !ok {
		return dec, nil
	}
	if len(w.decoders) == maxCached {
		clear(w.decoders)
		w.decoders = w.decoders[:0]
	}
	w.decoders = append(w.decoders, cachedDecoder{key, dec})
	return dec, nil
}
