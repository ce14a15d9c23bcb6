package coder

import (
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/codecs"
)

// Worker encodes and decodes blocks on one goroutine. It owns the scratch memory and the codecs, so that encoding and
// decoding many blocks allocates nothing. Get one from a [Pool].
type Worker struct {
	// Chunk is the number of the chunk in its frame, for user filters. Pool.Get sets it to -1, which means unknown.
	Chunk int64

	pool     *Pool
	o        *Options
	block    block // the argument of the filters
	buf      buffers
	pre      []byte    // a block after Options.Prefilter
	post     []byte    // a block before Options.Postfilter
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

type cachedEncoder struct {
	id    codec.ID
	level int
	meta  uint8
	size  int
	enc   codec.Encoder
}

type cachedDecoder struct {
	format codec.Format
	code   uint8
	meta   uint8
	size   int
	dec    codec.Decoder
}

// decoding is the state for decoding the blocks of one opened chunk: one opening of one reader.
type decoding struct {
	reader *Reader
	opened uint64
	dec    codec.Decoder
	prefix codec.PrefixDecoder // dec, if it can stop waiting
	batch  codecs.BatchDecoder // dec, if it can decode several streams at once
	planes bool                // decoding the streams of one block at once is faster
}

// encoding is the state for encoding the blocks of one layout.
type encoding struct {
	layout *Layout
	steps  steps
	enc    codec.Encoder // nil until a block needs it
}

// maxCached is the largest number of codecs that a worker keeps. Chunks of one frame rarely need more than two.
const maxCached = 6

// endChunk drops the state that serves one chunk.
func (w *Worker) endChunk() { w.encoding, w.decoding = encoding{}, decoding{} }

// itemSize returns the item size that codecs and N-dimensional filters use.
func (w *Worker) itemSize(header int) int {
	if w.o.ItemSize > 0 {
		return w.o.ItemSize
	}
	return header
}

// stepsOf returns the filters of a layout.
func (w *Worker) stepsOf(l *Layout) *steps {
	if e := &w.encoding; e.layout != l {
		*e = encoding{layout: l, steps: w.o.encodeSteps(&l.pipeline, l.typeSize)}
	}
	return &w.encoding.steps
}

// encoder returns the encoder for a layout.
func (w *Worker) encoder(l *Layout) (codec.Encoder, error) {
	w.stepsOf(l)
	if w.encoding.enc == nil {
		enc, err := w.findEncoder(l)
		if err != nil {
			return nil, err
		}
		w.encoding.enc = enc
	}
	return w.encoding.enc, nil
}

// findEncoder returns a cached encoder, or a new one. An encoder with a dictionary serves only one chunk.
func (w *Worker) findEncoder(l *Layout) (codec.Encoder, error) {
	if l.dict != nil {
		return w.newEncoder(l)
	}
	key := cachedEncoder{id: l.p.Codec, level: l.p.Level, meta: l.p.CodecMeta, size: w.itemSize(l.p.TypeSize)}
	for i := range w.encoders {
		e := &w.encoders[i]
		if e.id == key.id && e.level == key.level && e.meta == key.meta && e.size == key.size {
			return e.enc, nil
		}
	}
	enc, err := w.newEncoder(l)
	if err != nil {
		return nil, err
	}
	if len(w.encoders) == maxCached {
		clear(w.encoders)
		w.encoders = w.encoders[:0]
	}
	key.enc = enc
	w.encoders = append(w.encoders, key)
	return enc, nil
}

func (w *Worker) newEncoder(l *Layout) (codec.Encoder, error) {
	c, err := w.o.Plugins.encoder(l.p.Codec)
	if err != nil {
		return nil, err
	}
	return c.NewEncoder(codec.Params{
		Level: l.p.Level, Meta: l.p.CodecMeta, TypeSize: w.itemSize(l.p.TypeSize), BlockShape: w.o.BlockShape, Dict: l.dict,
	})
}

// decoder returns the decoder for a chunk, with its optional interfaces.
func (w *Worker) decoder(r *Reader) (*decoding, error) {
	d := &w.decoding
	if d.reader == r && d.opened == r.opened {
		return d, nil
	}
	dec, err := w.findDecoder(r)
	if err != nil {
		return nil, err
	}
	*d = decoding{reader: r, opened: r.opened, dec: dec}
	d.prefix, _ = dec.(codec.PrefixDecoder)
	d.batch, _ = dec.(codecs.BatchDecoder)
	d.planes = d.batch != nil && d.batch.BatchesPlanes()
	return d, nil
}

// findDecoder returns a cached decoder, or a new one. A decoder with a dictionary serves only one chunk.
func (w *Worker) findDecoder(r *Reader) (codec.Decoder, error) {
	if r.dict != nil {
		return w.newDecoder(r)
	}
	key := cachedDecoder{format: r.h.Format(), meta: r.h.CodecMeta, size: w.itemSize(r.h.TypeSize)}
	if key.format == codec.FormatUser {
		key.code = r.h.Codec
	}
	for i := range w.decoders {
		d := &w.decoders[i]
		if d.format == key.format && d.code == key.code && d.meta == key.meta && d.size == key.size {
			return d.dec, nil
		}
	}
	dec, err := w.newDecoder(r)
	if err != nil {
		return nil, err
	}
	if len(w.decoders) == maxCached {
		clear(w.decoders)
		w.decoders = w.decoders[:0]
	}
	key.dec = dec
	w.decoders = append(w.decoders, key)
	return dec, nil
}

func (w *Worker) newDecoder(r *Reader) (codec.Decoder, error) {
	c, err := w.o.Plugins.codecs.ByFormat(r.h.Format(), r.h.Codec)
	if err != nil {
		return nil, err
	}
	return c.NewDecoder(codec.Params{Meta: r.h.CodecMeta, TypeSize: w.itemSize(r.h.TypeSize), BlockShape: w.o.BlockShape, Dict: r.dict})
}
