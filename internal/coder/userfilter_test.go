package coder

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// addFilter adds its parameter and the number of the block to each byte, and records its arguments.
type addFilter struct {
	id   FilterID
	mu   sync.Mutex
	seen []BlockInfo
}

func (f *addFilter) ID() FilterID { return f.id }

func (f *addFilter) Forward(dst, src []byte, b BlockInfo) error {
	f.mu.Lock()
	f.seen = append(f.seen, b)
	f.mu.Unlock()
	for i, c := range src {
		dst[i] = c + b.Meta + byte(b.Block)
	}
	return nil
}

func (f *addFilter) Backward(dst, src []byte, b BlockInfo) error {
	f.mu.Lock()
	f.seen = append(f.seen, b)
	f.mu.Unlock()
	for i, c := range src {
		dst[i] = c - b.Meta - byte(b.Block)
	}
	return nil
}

// failFilter fails.
type failFilter struct{ err error }

func (failFilter) ID() FilterID                                 { return 200 }
func (f failFilter) Forward(dst, src []byte, b BlockInfo) error { return f.err }
func (f failFilter) Backward(dst, src []byte, b BlockInfo) error {
	return f.err
}

func TestUserFilters(t *testing.T) {
	add := &addFilter{id: 160}
	o := &Options{Filters: FilterSet{}.With(&addFilter{id: 160}).With(add), ItemSize: 300, BlockShape: []int32{5, 5}, Concurrency: 2}
	src := noise(2600)
	mask(src, 0x03)
	for _, filters := range [][]Filter{
		{{ID: 160, Meta: 9}},
		{{ID: 160, Meta: 9}, {ID: Shuffle, Meta: 4}},
		{{ID: BitShuffle}, {ID: 160, Meta: 1}, {ID: 160, Meta: 2}, {}, {}, {ID: Shuffle, Meta: 4}},
		{{ID: Delta}, {ID: 160, Meta: 3}},
		{{ID: 160, Meta: 3}, {ID: Delta}},
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
		vl, err := EncodeVL(nil, [][]byte{src[:100], src[100:1000], src[1000:]}, p, o)
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
		t.Fatal("of two filters with the same number, the first was called")
	}
	for _, b := range add.seen {
		if b.Chunk != -1 || b.TypeSize != 1 || b.ItemSize != 300 || !slices.Equal(b.Shape, o.BlockShape) || b.Meta == 0 {
			t.Fatalf("the filter got %+v", b)
		}
	}
	// The worker knows the number of the chunk.
	p := Params{TypeSize: 300, BlockSize: 600, Codec: codec.Zlib, Filters: []Filter{{ID: 160, Meta: 7}}}
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
	want := BlockInfo{Chunk: 1 << 40, Block: 3, Offset: 1800, TypeSize: 1, ItemSize: 300, Shape: o.BlockShape, Meta: 7}
	if len(add.seen) != 1 || fmt.Sprint(add.seen[0]) != fmt.Sprint(want) {
		t.Errorf("the filter got %+v, want %+v", add.seen, want)
	}
	pool.Put(w)
	if w := pool.Get(); w.Chunk != -1 {
		t.Errorf("a worker from the pool has chunk %d", w.Chunk)
	}
}

func TestUserFilterErrors(t *testing.T) {
	errMine := errors.New("mine")
	o := &Options{Filters: FilterSet{}.With(&addFilter{id: 200})}
	bad := &Options{Filters: FilterSet{}.With(failFilter{errMine})}
	p := Params{BlockSize: 1000, Codec: codec.Zlib, Filters: []Filter{{ID: 200}}}
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
	// A filter with a number of the format is never called.
	own := &Options{Filters: FilterSet{}.With(&addFilter{id: Shuffle})}
	if b, err = Encode(nil, src, Params{TypeSize: 4}, own); err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(nil, b, nil); err != nil || !bytes.Equal(got, src) {
		t.Errorf("a filter in place of shuffle: %v, or other data", err)
	}
	// A filter with the number of a plug-in is called.
	cell := &Options{Filters: FilterSet{}.With(&addFilter{id: NDCell})}
	p.Filters = []Filter{{ID: NDCell, Meta: 5}}
	if b, err = Encode(nil, src, p, cell); err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(nil, b, cell); err != nil || !bytes.Equal(got, src) {
		t.Errorf("a filter in place of ndcell: %v, or other data", err)
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
				for _, level := range []int{NoCompression, 5} {
					src := contents[content](n)
					p := Params{TypeSize: 4, BlockSize: 500, Codec: codec.LZ4, Filters: filters, Level: level}
					l, err := p.Layout(n)
					if err != nil {
						t.Fatal(err)
					}
					want := make([]byte, n)
					for i, c := range src {
						want[i] = ^c + byte(i/l.blockSize)
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
	vl, err := EncodeVL(nil, [][]byte{{1, 2, 3}, {4, 5}}, Params{}, &Options{Prefilter: invert})
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
		a, err := NewReaderAt(bytes.NewReader(c[0]), int64(len(c[0])), o)
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
