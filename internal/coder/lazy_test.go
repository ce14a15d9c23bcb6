package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

// lazyOf returns the lazy chunk of b, which is not special and has a 32-byte header.
func lazyOf(t testing.TB, b []byte, chunk int32, off int64) []byte {
	t.Helper()
	w := NewPool(&Options{ItemSize: 4, BlockShape: []int32{10, 4}}).Get()
	var r Reader
	if err := w.Open(&r, b); err != nil {
		t.Fatal(err)
	}
	n := r.NumBlocks()
	out := append(bytes.Clone(b[:32]), make([]byte, 4*n)...)
	if !r.h.Stored() {
		copy(out[32:], b[32:])
	}
	out[31] |= 8
	out = binary.LittleEndian.AppendUint32(out, uint32(chunk))
	out = binary.LittleEndian.AppendUint64(out, uint64(off))
	for k := range n {
		size := r.BlockLen(k)
		if !r.h.Stored() {
			size = int(r.ends[k] - r.starts[k])
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(size))
	}
	return out
}

// TestLazyOfReference reads lazy chunks that C-Blosc2 made of chunks in a file.
func TestLazyOfReference(t *testing.T) {
	for _, c := range []struct {
		lazy, chunk string
		number      int32
		off         int64
		sizes       []int32
	}{
		{
			"05012502c800000040000000ae0000000000000000010100000000000000000830000000560000007c000000a20000000000000061000000000000002600000026000000260000000c000000",
			"05012502c800000040000000ae0000000000000000010100000000000000000030000000560000007c000000a20000000f0000005f07070505050500035005050507070f0000005f07050505050500035005050507050f0000005f05050507070500035005070705050f0000005f05050507050500035005070505050f0000005f05070705050500035007050505070f0000005f0507050505050003500505050507080000000705050505050505",
			0, 0x61, []int32{38, 38, 38, 12},
		},
		{ // stored
			"05012702c800000040000000e8000000000000000001010000000000000000080000000000000000ffffffff00000000010000000f0100000000000040000000400000004000000008000000",
			"05012702c800000040000000e80000000000000000010100000000000000000007080905050505050505111213050505050505051b1c1d05050505050505252627050505050505052f303105050505050505393a3b05050505050505434445050505050505054d4e4f0505050505050557585905050505050505616263050505050505056b6c6d05050505050505757677050505050505057f808105050505050505898a8b05050505050505939495050505050505059d9e9f05050505050505a7a8a905050505050505b1b2b305050505050505bbbcbd05050505050505c5c6c705050505050505",
			1, 0x10f, []int32{64, 64, 64, 8},
		},
		{ // runs
			"05012502c8000000400000005300000000000000000101000000000000000008300000003a000000440000004e00000001000000b4000000000000000a0000000a0000000a00000005000000",
			"05012502c8000000400000005300000000000000000101000000000000000000300000003a000000440000004e000000f7ffffff01f7ffffff01f7ffffff01f7ffffff01f7ffffff01f7ffffff01f7ffffff01",
			1, 0xb4, []int32{10, 10, 10, 5},
		},
	} {
		lazy, chunk := unhex(t, c.lazy), unhex(t, c.chunk)
		l, err := ParseLazy(lazy)
		if err != nil || l.Chunk != c.number || l.Off != c.off || !slices.Equal(l.Sizes, c.sizes) {
			t.Errorf("%+v, %v", l, err)
		}
		h, err := ParseHeader(chunk, int64(len(chunk)))
		if err != nil || l.Header != h {
			t.Errorf("header %+v, want %+v; %v", l.Header, h, err)
		}
		openLazy(t, "reference", lazy, chunk)
	}
}

// openLazy reads the blocks of a lazy chunk.
func openLazy(t *testing.T, name string, lazy, chunk []byte) {
	t.Helper()
	want, err := Decode(nil, chunk, nil)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	w := NewPool(nil).Get()
	var r Reader
	file := append(make([]byte, 1000), chunk...)
	if err := w.OpenLazy(&r, lazy, bytes.NewReader(file), 1000, int64(len(chunk))); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	clear(lazy)
	readAll(t, name, w, &r, want)
}

func TestLazy(t *testing.T) {
	for name, c := range chunksForBlocks(t) {
		h, err := ParseHeader(c[0], int64(len(c[0])))
		if err != nil {
			t.Fatal(err)
		}
		if h.Special() == Regular {
			openLazy(t, name, lazyOf(t, c[0], 3, 1000), c[0])
		}
	}
	vl, err := EncodeVL(nil, cut(floats(3000), 1, 500), Params{Codec: codec.LZ4, TypeSize: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	openLazy(t, "variable", lazyOf(t, vl, 0, 0), vl)
	tiny, err := Encode(nil, noise(100), Params{BlockSize: 2, Codec: codec.LZ4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	openLazy(t, "stored in blocks of two bytes", lazyOf(t, tiny, 0, 0), tiny)
	for _, chunk := range frameChunks(t, "legacy/vl_zstd_dict_c.b2frame", 2) {
		openLazy(t, "variable with dictionary", lazyOf(t, chunk, 0, 0), chunk)
	}
	chunk := frameChunks(t, "python-blosc2/dict_zstd.b2nd", 1)[0]
	if chunk[31]&b2flagDict == 0 {
		t.Error("the chunk has no dictionary")
	}
	openLazy(t, "dictionary", lazyOf(t, chunk, 0, 0), chunk)
}

func TestLazyHostile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for name, b := range smallChunks(t) {
		h, err := ParseHeader(b, int64(len(b)))
		if err != nil || h.Special() != Regular || !h.Extended() {
			continue
		}
		lazy := lazyOf(t, b, 1, 2)
		// Files do not hold lazy chunks.
		if _, err := Decode(nil, lazy, nil); err == nil {
			t.Errorf("%s: a lazy chunk decodes without error", name)
		}
		if _, err := ParseLazy(b); !errors.Is(err, errs.ErrCorrupt) {
			t.Errorf("%s: read as a lazy chunk: %v", name, err)
		}
		for n := range lazy {
			if _, err := ParseLazy(lazy[:n:n]); !errors.Is(err, errs.ErrCorrupt) {
				t.Errorf("%s, truncated at %d: %v", name, n, err)
			}
		}
		w := NewPool(hostileOptions).Get()
		for range 500 {
			bad := bytes.Clone(lazy)
			for range 1 + rnd.IntN(3) {
				bad[rnd.IntN(len(bad))] = byte(rnd.Uint64() & rnd.Uint64())
			}
			var r Reader
			err := w.OpenLazy(&r, bad, bytes.NewReader(b), 0, int64(len(b)))
			clearError(t, name, err)
			for k := 0; err == nil && k < min(r.NumBlocks(), 20) && r.NBytes() < 1<<20; k++ {
				err = w.DecodeBlock(make([]byte, r.BlockLen(k)), &r, k)
				clearError(t, name, err)
			}
		}
	}
	value, err := EncodeSpecial(nil, Value, 40, []byte("ab"), Params{})
	if err != nil {
		t.Fatal(err)
	}
	value[31] |= b2flagLazy
	if _, err := ParseLazy(append(value, make([]byte, 100)...)); !errors.Is(err, errs.ErrCorrupt) {
		t.Errorf("a lazy special value: %v", err)
	}
}
