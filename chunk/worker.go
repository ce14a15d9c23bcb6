package chunk

import (
	"github.com/goblosc/blosc2/codec"
)

// Worker codes blocks on one goroutine. It owns the scratch memory and the codecs that this needs, so that coding
// block after block allocates nothing. Get one from a [Pool].
type Worker struct {
	// Chunk is the number of the chunk in its frame, which filters of the user are told. Pool.Get sets it to -1, not
	// known.
	Chunk int64

	pool     *Pool
	o        *Options
	buf      [2][]byte // blocks between two filters
	pre      []byte    // a block after Options.Prefilter
	post     []byte    // a block before Options.Postfilter
	in       [2][]byte // compressed bytes read from an io.ReaderAt
	out      []byte    // encoded blocks
	again    []byte    // a block encoded a second time, with less room, or a chunk before it is known how long it gets
	part     []byte    // a block of which only a part is wanted
	batch    batch     // streams that are expanded together
	encoders []cachedEncoder
	decoders []cachedDecoder
	dict     dictDecoder
	dictEnc  dictEncoder

	// For the calls that code whole chunks.
	reader Reader
	blocks [][]byte
	early  []encodedBlock
	spare  [][]byte // memory for encoded blocks
	ref    []byte
	team   []*Worker
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

// dictDecoder is the decoder for a chunk with a dictionary: one opening of one reader.
type dictDecoder struct {
	reader *Reader
	opened uint64
	dec    codec.Decoder
}

// dictEncoder is the encoder for a chunk with a dictionary.
type dictEncoder struct {
	layout *Layout
	enc    codec.Encoder
}

// maxCached bounds the codecs that a worker keeps. Chunks of one frame rarely use more than one or two.
const maxCached = 6

// scratch returns n bytes of buffer i.
func (w *Worker) scratch(i, n int) []byte {
	w.buf[i] = sized(w.buf[i], n)
	return w.buf[i]
}

// sized returns n bytes with any content: those of b if it has so many.
func sized(b []byte, n int) []byte {
	if cap(b) < n {
		b = make([]byte, n)
	}
	return b[:n]
}

// itemSize is the item size that codecs and N-dimensional filters are told.
func (w *Worker) itemSize(header int) int {
	if w.o.ItemSize > 0 {
		return w.o.ItemSize
	}
	return header
}

// encoder returns the encoder for a layout.
func (w *Worker) encoder(l *Layout) (codec.Encoder, error) {
	if l.dict != nil {
		return w.encoderWithDict(l)
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

// encoderWithDict returns the encoder for a chunk with a dictionary. Only that of the last chunk is kept.
func (w *Worker) encoderWithDict(l *Layout) (codec.Encoder, error) {
	if w.dictEnc.layout == l {
		return w.dictEnc.enc, nil
	}
	enc, err := w.newEncoder(l)
	if err != nil {
		return nil, err
	}
	w.dictEnc = dictEncoder{layout: l, enc: enc}
	return enc, nil
}

func (w *Worker) newEncoder(l *Layout) (codec.Encoder, error) {
	c, err := w.o.Codecs.ByID(l.p.Codec)
	if err != nil {
		return nil, err
	}
	return c.NewEncoder(codec.Params{
		Level: l.p.Level, Meta: l.p.CodecMeta, TypeSize: w.itemSize(l.p.TypeSize), BlockShape: w.o.BlockShape, Dict: l.dict,
	})
}

// decoder returns the decoder for a chunk.
func (w *Worker) decoder(r *Reader) (codec.Decoder, error) {
	if r.dict != nil {
		return w.decoderWithDict(r)
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

// decoderWithDict returns the decoder for a chunk with a dictionary. Only that of the last chunk is kept.
func (w *Worker) decoderWithDict(r *Reader) (codec.Decoder, error) {
	if w.dict.reader == r && w.dict.opened == r.opened {
		return w.dict.dec, nil
	}
	dec, err := w.newDecoder(r)
	if err != nil {
		return nil, err
	}
	w.dict = dictDecoder{reader: r, opened: r.opened, dec: dec}
	return dec, nil
}

func (w *Worker) newDecoder(r *Reader) (codec.Decoder, error) {
	c, err := w.o.Codecs.ByFormat(r.h.Format(), r.h.Codec)
	if err != nil {
		return nil, err
	}
	return c.NewDecoder(codec.Params{Meta: r.h.CodecMeta, TypeSize: w.itemSize(r.h.TypeSize), BlockShape: w.o.BlockShape, Dict: r.dict})
}
