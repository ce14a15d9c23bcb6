package coder

import (
	"bytes"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/codecs"
)

// Options control how chunks are encoded and decoded. They are not stored. A nil *Options and zero fields select the
// defaults. Several goroutines may use the same Options, which must not be changed during that time.
type Options struct {
	Plugins     Plugins // codecs and filters besides the built-in ones
	ItemSize    int     // item size of the frame in bytes; 0 = the type size in the header of a chunk
	BlockShape  []int32 // shape of a block in items, for codecs and filters that need it
	Concurrency int     // goroutines that a call may use, at most 1024; 0 = GOMAXPROCS
	// MaxBytes is the largest allocation that a chunk may request. 0 = 8 MiB for a block and 64 MiB for a chunk, or
	// 4096 times its stored size, in which pages of zeros do not count (see MayRead). -1 = no limit.
	MaxBytes int64
	// Trusted is set while 0 means no limit too. nil = never.
	Trusted *atomic.Bool

	// Prefilter computes from each block src the bytes that are encoded instead. It runs before the filters of the
	// chunk, and for stored chunks too. Postfilter computes from each decoded block src the bytes that the reader gets.
	// It runs for special values too. Both must write all of dst, under the rules of UserFilter. nil = the block is not
	// changed.
	Prefilter  func(dst, src []byte, b BlockInfo) error
	Postfilter func(dst, src []byte, b BlockInfo) error
}

// Plugins are the codecs and filters of a program. The zero value holds none.
type Plugins struct {
	codecs  codec.Set
	filters map[uint8]*filterDef // by number; never changes
}

// NewPlugins returns the plugins with these codecs and filters. It returns ErrParam if one is nil, if two have the same
// number, or if a number is reserved.
func NewPlugins[F UserFilter](codecs []codec.Codec, filters []F) (Plugins, error) {
	var p Plugins
	var err error
	if p.codecs, err = codec.NewSet(codecs); err == nil {
		p.filters, err = userFilters(filters)
	}
	return p, err
}

// CheckEncoding returns errors.ErrUnsupported if the codec or a filter of the parameters is not available for encoding.
func (p Plugins) CheckEncoding(with Params) error {
	c, err := p.encoder(with.Codec)
	if err != nil {
		return err
	}
	if c, ok := c.(codecs.Checker); ok {
		if err := c.CheckEncoder(with.CodecMeta); err != nil {
			return err
		}
	}
	for _, f := range with.Filters {
		if p.filter(f) == nil {
			return unsupportedFilter(f)
		}
	}
	return nil
}

// encoder returns the codec with an identifier, for encoding.
func (p Plugins) encoder(id codec.ID) (codec.Codec, error) {
	c, err := p.codecs.ByID(id)
	if err != nil && id.Code() >= 32 { // below are the codecs of the format
		err = fmt.Errorf("%w; add it to Codecs", err)
	}
	return c, err
}

// filter returns the definition of a filter of the program or of the format, or nil.
func (p Plugins) filter(f Filter) *filterDef {
	if def := p.filters[f.Code()]; def != nil {
		return def
	}
	return builtinFilter(f)
}

// limit returns MaxBytes, or -1 if there is no limit now.
func (o *Options) limit() int64 {
	if o.MaxBytes == 0 && o.Trusted != nil && o.Trusted.Load() {
		return -1
	}
	return o.MaxBytes
}

// limitText describes a limit of allows for a buffer, such as "a block", in an error.
func (o *Options) limitText(buffer string, limit int64) string {
	if o.MaxBytes == 0 {
		return fmt.Sprintf("the default limit for %s is %d; MaxBytes in the options may allow more", buffer, limit)
	}
	return fmt.Sprintf("MaxBytes in the options allows %d", limit)
}

// allows returns the number of bytes that a chunk may request, and reports whether n is within that limit. The chunk is
// mem or, if that is nil, at off in src. Its own size counts only as far as it is evidence. If the caller sets no
// limit, floor bytes are always allowed. The error is that of reading.
func (o *Options) allows(n, floor int64, h *Header, src io.ReaderAt, off int64, mem []byte) (limit int64, ok bool, err error) {
	limit = o.limit()
	switch {
	case limit < 0:
		limit = MaxBytes
	case limit == 0 && n <= floor:
		return floor, true, nil
	case limit == 0:
		if mem != nil {
			src, off = bytes.NewReader(mem), 0
		}
		stored := int64(h.CBytes)
		if need := (n-1)/MemoryRatio + 1; need <= stored {
			stored, err = Evidence(src, off, stored, need)
		}
		limit = max(floor, MemoryRatio*stored)
	}
	return limit, n <= limit, err
}
