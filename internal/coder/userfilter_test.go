package coder

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

// addFilter adds its parameter and the number of the block to each byte, and records its arguments.
type addFilter struct {
	code uint8
	mu   sync.Mutex
	seen []BlockInfo
}

func (f *addFilter) Code() uint8 { return f.code }

func (f *addFilter) Forward(dst, src []byte, b BlockInfo) error {
	f.mu.Lock()
	f.seen = append(f.seen, b)
	f.mu.Unlock()
	for i, c := range src {
		dst[i] = c + b.Param + byte(b.Block)
	}
	return nil
}

func (f *addFilter) Backward(dst, src []byte, b BlockInfo) error {
	f.mu.Lock()
	f.seen = append(f.seen, b)
	f.mu.Unlock()
	for i, c := range src {
		dst[i] = c - b.Param - byte(b.Block)
	}
	return nil
}

// xorFilter inverts the bits of each byte that are set in it.
type xorFilter byte

func (xorFilter) Code() uint8 { return 170 }

func (x xorFilter) Forward(dst, src []byte, _ BlockInfo) error {
	for i, c := range src {
		dst[i] = c ^ byte(x)
	}
	return nil
}

func (x xorFilter) Backward(dst, src []byte, b BlockInfo) error { return x.Forward(dst, src, b) }

// failFilter fails.
type failFilter struct{ err error }

func (failFilter) Code() uint8                                  { return 200 }
func (f failFilter) Forward(dst, src []byte, b BlockInfo) error { return f.err }
func (f failFilter) Backward(dst, src []byte, b BlockInfo) error {
	return f.err
}

func TestUserFilters(t *testing.T) {
	add := &addFilter{code: 160}
	o := &Options{Plugins: plugins(add, &addFilter{code: 161}), ItemSize: 300, BlockShape: []int32{5, 5}, Concurrency: 2}
	src := noise(2600)
	mask(src, 0x03)
	for _, filters := range [][]Filter{
		{Filter(160).With(9)},
		{Filter(160).With(9), Shuffle.With(4)},
		{BitShuffle, Filter(160).With(1), Filter(160).With(2), NoFilter, NoFilter, Shuffle.With(4)},
		{Delta, Filter(160).With(3)},
		{Filter(160).With(3), Delta},
	} {
		p := Params{TypeSize: 300, BlockSize: 600, Codec: codec.Zlib, Filters: filters}
		b, err := Encode(nil, src, p, o)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Decode(nil, b, o); err != nil || !bytes.Equal(got, src) {
			t.Errorf("%v: %v, or other data", filters, err)
		}
		if _, err := Decode(nil, b, nil); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v, without the filter: %v", filters, err)
		}
		if _, err := Encode(nil, src, p, nil); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%v, encoding without the filter: %v", filters, err)
		}
		before := len(add.seen)
		vl, err := NewPool(o).EncodeVL(t.Context(), nil, [][]byte{src[:100], src[100:1000], src[1000:]}, p, -1)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range add.seen[before:] {
			if b.Offset != []int{0, 100, 1000}[b.Block] {
				t.Errorf("the filter got offset %[2]d for block %[1]d", b.Block, b.Offset)
			}
		}
		if got, err := Decode(nil, vl, o); err != nil || !bytes.Equal(got, src) {
			t.Errorf("%v, blocks of variable length: %v, or other data", filters, err)
		}
	}
	if len(add.seen) == 0 {
		t.Fatal("the filter was not called")
	}
	for _, b := range add.seen {
		if b.Chunk != -1 || b.TypeSize != 300 || !slices.Equal(b.Shape, o.BlockShape) || b.Param == 0 {
			t.Fatalf("the filter got %+v", b)
		}
	}
	// The worker knows the number of the chunk.
	p := Params{TypeSize: 300, BlockSize: 600, Codec: codec.Zlib, Filters: []Filter{Filter(160).With(7)}}
	b, err := Encode(nil, src, p, o)
	if err != nil {
		t.Fatal(err)
	}
	add.seen = nil
	pool := NewPool(o)
	w := pool.Get()
	w.Chunk = 1 << 40
	var r Reader
	if err := w.Open(&r, b); err != nil {
		t.Fatal(err)
	}
	if err := w.DecodeBlock(make([]byte, 600), &r, 3); err != nil {
		t.Fatal(err)
	}
	want := BlockInfo{Chunk: 1 << 40, Block: 3, Offset: 1800, TypeSize: 300, Shape: o.BlockShape, Param: 7}
	if len(add.seen) != 1 || fmt.Sprint(add.seen[0]) != fmt.Sprint(want) {
		t.Errorf("the filter got %+v, want %+v", add.seen, want)
	}
	pool.Put(w)
	if w := pool.Get(); w.Chunk != -1 {
		t.Errorf("a worker from the pool has chunk %d", w.Chunk)
	}
}

// TestUserFilterZeros encodes data that a user filter turns into zeros, which Backward must see, and zeros.
func TestUserFilterZeros(t *testing.T) {
	invert := func(dst, src []byte, b BlockInfo) error { return xorFilter(0xff).Forward(dst, src, b) }
	for _, c := range []struct {
		key, src byte
		pre      bool // with a Prefilter, too, which inverts
		special  Special
	}{
		{0xaa, 0xaa, false, Regular}, {0xaa, 0, false, Regular}, {0, 0, false, Zeros}, {0, 0xaa, false, Regular},
		{0xff, 0, true, Regular}, {0, 0xff, true, Zeros}, {0, 0, true, Regular}, {0xff, 0xff, true, Regular},
	} {
		for _, filters := range [][]Filter{{170}, {Shuffle, 170}, {170, Shuffle}, {170, Delta}, {Delta, 170}} {
			for _, n := range []int{100, 5000} {
				for _, concurrency := range []int{1, 3} {
					o := &Options{Plugins: plugins(xorFilter(c.key)), Concurrency: concurrency}
					if c.pre {
						o.Prefilter, o.Postfilter = invert, invert
					}
					src := bytes.Repeat([]byte{c.src}, n)
					b, err := Encode(nil, src, Params{TypeSize: 4, BlockSize: 1000, Codec: codec.LZ4, Filters: filters}, o)
					if err != nil {
						t.Fatal(err)
					}
					h, err := ParseHeader(b, int64(len(b)))
					if err != nil || h.Special != c.special {
						t.Errorf("%+v, %v, %d bytes: %v, special value %v", c, filters, n, err, h.Special)
					}
					if got, err := Decode(nil, b, o); err != nil || !bytes.Equal(got, src) {
						t.Errorf("%+v, %v, %d bytes: %v, or other data", c, filters, n, err)
					}
				}
			}
		}
	}
}

func TestUserFilterErrors(t *testing.T) {
	errMine := errors.New("mine")
	o := &Options{Plugins: plugins(&addFilter{code: 200})}
	bad := &Options{Plugins: plugins(failFilter{errMine})}
	p := Params{BlockSize: 1000, Codec: codec.Zlib, Filters: []Filter{200}}
	src := contents["nibbles"](5000)
	b, err := Encode(nil, src, p, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Encode(nil, src, p, bad); !errors.Is(err, errMine) {
		t.Errorf("encoding: %v", err)
	}
	var e *Error
	if _, err := Decode(nil, b, bad); !errors.Is(err, errMine) || !errors.As(err, &e) || e.Block != 0 {
		t.Errorf("decoding: %v", err)
	}
	// A filter with the number of a plug-in is called.
	cell := &Options{Plugins: plugins(&addFilter{code: NDCell.Code()})}
	p.Filters = []Filter{NDCell.With(5)}
	if b, err = Encode(nil, src, p, cell); err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(nil, b, cell); err != nil || !bytes.Equal(got, src) {
		t.Errorf("a filter in place of ndcell: %v, or other data", err)
	}
}

// TestReplacedFilters encodes with user filters and a user codec that have the numbers of built-in ones. The rules for
// the built-in ones do not apply to them.
func TestReplacedFilters(t *testing.T) {
	src := contents["ramp"](5000)
	for _, f := range []Filter{NDCell, NDMean, ByteDeltaOld, ByteDelta, IntTrunc, 37, IntTrunc.With(200)} {
		add := &addFilter{code: f.Code()}
		o := &Options{Plugins: plugins(add)}
		p := Params{TypeSize: 4, BlockSize: 1000, Codec: codec.LZ4, Filters: []Filter{Shuffle, f}}
		b, err := Encode(nil, src, p, o)
		if err == nil {
			b, err = Decode(nil, b, o)
		}
		if err != nil || !bytes.Equal(b, src) || len(add.seen) == 0 || add.seen[0].Param != f.Param() {
			t.Errorf("filter %d(%d): %v, or other data; the filter got %+v", f.Code(), f.Param(), err, add.seen)
		}
		if b, err = NewPool(o).EncodeVL(t.Context(), nil, [][]byte{src}, p, -1); err == nil {
			b, err = Decode(nil, b, o)
		}
		if err != nil || !bytes.Equal(b, src) {
			t.Errorf("filter %d(%d), a block of variable size: %v, or other data", f.Code(), f.Param(), err)
		}
	}
	o := &Options{Plugins: plugins(storeCodec{idCodec(codec.ZFPAcc)})}
	for _, filters := range [][]Filter{{Shuffle}, {BitShuffle}, nil} {
		p := Params{TypeSize: 4, BlockSize: 1000, Codec: codec.ZFPAcc, Filters: filters}
		b, err := Encode(nil, contents["tail"](5000), p, o)
		if err != nil {
			t.Errorf("%v: %v", filters, err)
			continue
		}
		want := p.Filters
		if want == nil {
			want = []Filter{0, 0, 0, 0, 0, Shuffle}
		}
		h, err := ParseHeader(b, int64(len(b)))
		if err != nil || h.Codec != codec.ZFPAcc.Code() || !slices.Equal(h.Filters[:len(want)], want) {
			t.Errorf("%v: %v, codec %d, filters %v", filters, err, h.Codec, h.Filters)
		}
		if got, err := Decode(nil, b, o); err != nil || !bytes.Equal(got, contents["tail"](5000)) {
			t.Errorf("%v: %v, or other data", filters, err)
		}
		if _, err := p.Layout(5000); filters != nil && !errors.Is(err, errs.ErrParam) {
			t.Errorf("%v, with the built-in codec: %v", filters, err)
		}
	}
}

// storeCodec is a codec that compresses nothing.
type storeCodec struct{ idCodec }

func (c storeCodec) NewEncoder(codec.Params) (codec.Encoder, error) { return c, nil }
func (c storeCodec) NewDecoder(codec.Params) (codec.Decoder, error) { return c, nil }
func (storeCodec) Encode(dst, src []byte) (int, error)              { return 0, codec.ErrIncompressible }
func (storeCodec) Decode(dst, src []byte) error                     { return errs.ErrCorrupt }

// TestPlugins checks which codecs and filters can be registered.
func TestPlugins(t *testing.T) {
	for _, c := range []struct {
		codecs  []codec.Codec
		filters []UserFilter
		want    error
	}{
		{nil, nil, nil},
		{[]codec.Codec{fakeCodec{}}, []UserFilter{&addFilter{code: 32}, &addFilter{code: 255}}, nil},
		{[]codec.Codec{nil}, nil, errs.ErrParam},
		{[]codec.Codec{fakeCodec{}, fakeCodec{}}, nil, errs.ErrParam},
		{[]codec.Codec{idCodec(codec.Default)}, nil, errs.ErrParam},
		{[]codec.Codec{idCodec(codec.Zstd)}, nil, errs.ErrParam},
		{[]codec.Codec{idCodec(codec.FromCode(31))}, nil, errs.ErrParam},
		{[]codec.Codec{idCodec(0x200)}, nil, errs.ErrParam},
		{[]codec.Codec{idCodec(codec.NDLZ)}, nil, nil},
		{nil, []UserFilter{nil}, errs.ErrParam},
		{nil, []UserFilter{&addFilter{code: 200}, &addFilter{code: 200}}, errs.ErrParam},
		{nil, []UserFilter{&addFilter{code: Shuffle.Code()}}, errs.ErrParam},
		{nil, []UserFilter{&addFilter{code: 31}}, errs.ErrParam},
	} {
		if _, err := NewPlugins(c.codecs, c.filters); !errors.Is(err, c.want) {
			t.Errorf("%v, %v: %v, want %v", c.codecs, c.filters, err, c.want)
		}
	}
}

// idCodec is a codec with an identifier only.
type idCodec codec.ID

func (c idCodec) ID() codec.ID                                 { return codec.ID(c) }
func (idCodec) NewEncoder(codec.Params) (codec.Encoder, error) { return nil, errors.ErrUnsupported }
func (idCodec) NewDecoder(codec.Params) (codec.Decoder, error) { return nil, errors.ErrUnsupported }

// TestFilterValues checks the parts of filters, and the parameters that they take.
func TestFilterValues(t *testing.T) {
	for _, c := range []struct {
		f     Filter
		code  uint8
		param uint8
		text  string
		ok    bool
	}{
		{Shuffle, 1, 0, "shuffle", true},
		{Shuffle.With(4), 1, 4, "shuffle(4)", true},
		{TruncPrec.With(-3), 4, 253, "trunc_prec(-3)", true},
		{TruncPrec.With(-3).With(10), 4, 10, "trunc_prec(10)", true},
		{Filter(200).With(255), 200, 255, "filter 200(255)", true},
		{Filter(200).With(-128), 200, 128, "filter 200(128)", true},
		{Shuffle.With(256), 1, 0, "shuffle", false},
		{Shuffle.With(-129), 1, 0, "shuffle", false},
		{Shuffle.With(256).With(0), 1, 0, "shuffle", true},
	} {
		if c.f.Code() != c.code || c.f.Param() != c.param || c.f.String() != c.text {
			t.Errorf("filter %d with parameter %d, %q, want %+v", c.f.Code(), c.f.Param(), c.f, c)
		}
		p := Params{TypeSize: 8, Filters: []Filter{c.f}}
		if _, err := p.Normalize(); (err == nil) != c.ok || err != nil && !errors.Is(err, errs.ErrParam) {
			t.Errorf("%#x: %v", uint32(c.f), err)
		}
	}
	_, err := Params{Filters: []Filter{Filter(200).With(256)}}.Normalize()
	if want := "filter 200: the parameter is out of range"; err == nil || strings.Contains(err.Error(), "filter filter") || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if _, err = (Params{Filters: []Filter{Shuffle.With(256)}}).Normalize(); err == nil || !strings.Contains(err.Error(), "filter shuffle: the") {
		t.Error(err)
	}
}

// TestPrefilter encodes transformed data, in all forms of chunks.
func TestPrefilter(t *testing.T) {
	invert := func(dst, src []byte, b BlockInfo) error {
		for i, c := range src {
			dst[i] = ^c + byte(b.Block)
		}
		return nil
	}
	for _, content := range []string{"ramp", "noise", "zeros", "sevens", "part", "tail"} {
		for _, n := range []int{1, 31, 32, 700, 5000} {
			for _, filters := range pipelines {
				for _, level := range []int{codec.NoCompression, 5} {
					src := contents[content](n)
					p := Params{TypeSize: 4, BlockSize: 500, Codec: codec.LZ4, Filters: filters, Level: level}
					l, err := p.Layout(n)
					if err != nil {
						t.Fatal(err)
					}
					want := make([]byte, n)
					for i, c := range src {
						want[i] = ^c + byte(i/l.BlockSize)
					}
					o := &Options{Prefilter: invert, Concurrency: 2}
					b, err := Encode(nil, src, p, o)
					if err != nil {
						t.Fatal(err)
					}
					if plain, err := Encode(nil, want, p, nil); err != nil || !bytes.Equal(b, plain) {
						t.Errorf("%s, %d bytes, %+v: %v, or other bytes than those of the filtered data", content, n, p, err)
					}
					if got, err := Decode(nil, b, o); err != nil || !bytes.Equal(got, want) {
						t.Errorf("%s, %d bytes, %+v: %v, or other data", content, n, p, err)
					}
				}
			}
		}
	}
	vl, err := NewPool(&Options{Prefilter: invert}).EncodeVL(t.Context(), nil, [][]byte{{1, 2, 3}, {4, 5}}, Params{}, -1)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(nil, vl, nil); err != nil || !bytes.Equal(got, []byte{0xfe, 0xfd, 0xfc, 0xfc, 0xfb}) {
		t.Errorf("blocks of variable length: %x, %v", got, err)
	}
}

// TestPostfilter decodes to transformed data, for all forms of chunks.
func TestPostfilter(t *testing.T) {
	o := &Options{Concurrency: 2, Postfilter: func(dst, src []byte, b BlockInfo) error {
		for i, c := range src {
			dst[i] = c ^ byte(b.Offset+i)
		}
		return nil
	}}
	for name, c := range chunksForBlocks(t) {
		want := bytes.Clone(c[1])
		for i := range want {
			want[i] ^= byte(i)
		}
		if got, err := Decode(nil, c[0], o); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v, or other data", name, err)
		}
		a, err := newReaderAt(bytes.NewReader(c[0]), int64(len(c[0])), o)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, (len(want)+1)/2)
		if _, err := a.ReadAt(got, int64(len(want)/4)); err != nil || !bytes.Equal(got, want[len(want)/4:len(want)/4+len(got)]) {
			t.Errorf("%s, a part: %v, or other data", name, err)
		}
	}
	errMine := errors.New("mine")
	bad := &Options{Postfilter: func(dst, src []byte, b BlockInfo) error { return errMine }}
	for name, c := range chunksForBlocks(t) {
		var e *Error
		if _, err := Decode(nil, c[0], bad); !errors.Is(err, errMine) || !errors.As(err, &e) || e.Block != 0 || e.Off < 16 {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad.Prefilter, bad.Postfilter = bad.Postfilter, nil
	for _, n := range []int{10, 1000} {
		if _, err := Encode(nil, floats(n), Params{TypeSize: 4}, bad); !errors.Is(err, errMine) {
			t.Errorf("prefilter: %v", err)
		}
	}
}
