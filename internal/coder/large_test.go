package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

// TestLargeSpecial opens special chunks of the largest size, and decodes single blocks, which must take only the memory
// of a block. Zeros and values may have any size, the others must be whole items.
func TestLargeSpecial(t *testing.T) {
	const blockSize = 64 << 10
	value := []byte("five!") // 2^31-33 is a multiple of 5
	for _, c := range []struct {
		special Special
		size    int
		value   []byte
		nbytes  int
	}{
		{Zeros, 4, nil, MaxBytes},
		{Value, 5, value, MaxBytes},
		{Value, 1, []byte{7}, MaxBytes},
		{Uninit, 1, nil, MaxBytes},
		{NaNs, 4, nil, MaxBytes - MaxBytes%4},
		{NaNs, 8, nil, MaxBytes - MaxBytes%8},
	} {
		t.Run(fmt.Sprintf("%v-%d", c.special, c.size), func(t *testing.T) {
			gotBlock, wantBlock := make([]byte, blockSize), make([]byte, blockSize)
			before := allocated()
			b, err := EncodeSpecial(nil, c.special, c.nbytes, c.value, Params{TypeSize: c.size, BlockSize: blockSize})
			if err != nil {
				t.Fatal(err)
			}
			pool := NewPool(nil)
			w := pool.Get()
			var r Reader
			if err := w.Open(&r, b); err != nil {
				t.Fatal(err)
			}
			if r.NBytes != c.nbytes || r.NumBlocks != (c.nbytes-1)/r.BlockSize+1 {
				t.Fatalf("%d bytes in %d blocks", r.NBytes, r.NumBlocks)
			}
			total := 0
			for _, k := range []int{0, 1, r.NumBlocks / 2, r.NumBlocks - 2, r.NumBlocks - 1} {
				got, want := gotBlock[:r.BlockLen(k)], wantBlock[:r.BlockLen(k)]
				if err := w.DecodeBlock(got, &r, k); err != nil {
					t.Fatal(err)
				}
				clear(want)
				item := c.value
				if c.special == NaNs {
					item = map[int][]byte{4: {0, 0, 0xc0, 0x7f}, 8: {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}}[c.size]
				}
				for i := range want {
					if item != nil {
						want[i] = item[(r.BlockOffset(k)+i)%len(item)]
					}
				}
				if !bytes.Equal(got, want) {
					t.Errorf("block %d has wrong bytes", k)
				}
				total += len(got)
			}
			at, err := newReaderAt(bytes.NewReader(b), int64(len(b)), nil)
			if err != nil {
				t.Fatal(err)
			}
			if n, err := at.ReadAt(make([]byte, 100), int64(c.nbytes)-60); n != 60 || err == nil {
				t.Errorf("the end: %d bytes, %v", n, err)
			}
			if _, err := pool.Decode(nil, b); !errors.Is(err, errs.ErrTooLarge) {
				t.Errorf("decoding all of it by default: %v", err)
			}
			if n := allocated() - before; n > 16*blockSize {
				t.Errorf("%d bytes of memory for blocks of %d in total", n, total)
			}
			if _, err := EncodeSpecial(nil, c.special, MaxBytes+1, c.value, Params{TypeSize: 1}); !errors.Is(err, errs.ErrTooLarge) {
				t.Errorf("one byte more: %v", err)
			}
		})
	}
}

// TestLargeBlocks checks block sizes at the limit of the format, with small chunks whose streams are runs. It never
// allocates such a block.
func TestLargeBlocks(t *testing.T) {
	before := allocated()
	head := func(nbytes, blockSize uint32) []byte {
		h := Header{Version: versionRegular, VersionLZ: 1, notSplit: true, TypeSize: 1}
		b := h.append(nil)
		binary.LittleEndian.PutUint32(b[4:], nbytes)
		binary.LittleEndian.PutUint32(b[8:], blockSize)
		blocks := int(min((uint64(nbytes)+uint64(blockSize)-1)/max(1, uint64(blockSize)), 8))
		at := len(b) + 4*blocks
		for k := range blocks {
			b = binary.LittleEndian.AppendUint32(b, uint32(at+5*k))
		}
		for range blocks {
			b = append(binary.LittleEndian.AppendUint32(b, ^uint32(6)), 1) // a run of sevens
		}
		binary.LittleEndian.PutUint32(b[12:], uint32(len(b)))
		return b
	}
	for _, c := range []struct {
		nbytes, blockSize uint32
		want              error // of the header
	}{
		{MaxBytes, MaxBlockSize - 1, nil},
		{MaxBytes, MaxBlockSize, nil},
		{MaxBytes, MaxBlockSize + 1, errs.ErrCorrupt},
		{MaxBytes, MaxBytes, errs.ErrCorrupt},
		{MaxBytes, 1 << 31, errs.ErrCorrupt},
		{MaxBytes, 1<<32 - 1, errs.ErrCorrupt},
		{MaxBytes + 1, MaxBlockSize, errs.ErrCorrupt},
		{1<<32 - 1, MaxBlockSize, errs.ErrCorrupt},
		{MaxBlockSize, MaxBlockSize, nil},
		{MaxBlockSize + 1, MaxBlockSize, nil},
		{1000, MaxBlockSize, nil}, // clamped to 1000
		{1000, MaxBlockSize + 1, errs.ErrCorrupt},
		{1000, 0, errs.ErrCorrupt},
	} {
		b := head(c.nbytes, c.blockSize)
		if _, err := ParseHeader(b, int64(len(b))); !errors.Is(err, c.want) {
			t.Errorf("%d bytes in blocks of %d: %v, want %v", c.nbytes, c.blockSize, err, c.want)
		} else if c.want != nil {
			continue
		}
		_, err := Decode(nil, b, nil)
		if large := c.nbytes > 1000; large && !errors.Is(err, errs.ErrTooLarge) || !large && err != nil {
			t.Errorf("decoding %d bytes in blocks of %d: %v", c.nbytes, c.blockSize, err)
		}
	}
	// The last block of MaxBlockSize + 1 has one byte: with a limit that allows it, it decodes by itself.
	pool := NewPool(&Options{MaxBytes: -1})
	w := pool.Get()
	var r Reader
	if err := w.Open(&r, head(MaxBlockSize+1, MaxBlockSize)); err != nil {
		t.Fatal(err)
	}
	var one [1]byte
	if err := w.DecodeBlock(one[:], &r, 1); err != nil || one[0] != 7 || r.BlockOffset(1) != MaxBlockSize {
		t.Errorf("the last block: %v at %d, %v", one, r.BlockOffset(1), err)
	}
	for size, want := range map[int]error{MaxBlockSize: nil, MaxBlockSize + 1: errs.ErrParam, -1: errs.ErrParam} {
		l, err := Params{BlockSize: size}.Layout(MaxBytes)
		if !errors.Is(err, want) {
			t.Errorf("a layout with blocks of %d: %v, want %v", size, err, want)
		} else if err == nil && (l.BlockLen(0) != size || l.NumBlocks != 5 || l.BlockLen(4) != MaxBytes-4*size) {
			t.Errorf("%d blocks, of %d, the last of %d", l.NumBlocks, l.BlockLen(0), l.BlockLen(4))
		}
		if _, err := (Params{BlockSize: size, TypeSize: 4}).BlockSizeFor(MaxBytes); !errors.Is(err, want) {
			t.Errorf("a block size of %d: %v, want %v", size, err, want)
		}
	}
	if _, err := (Params{}).Layout(MaxBytes + 1); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("a layout of a chunk that is too large: %v", err)
	}
	if n := allocated() - before; n > 1<<20 {
		t.Errorf("%d bytes of memory", n)
	}
}

// TestFill decodes chunks without streams, by one worker and in pieces by several.
func TestFill(t *testing.T) {
	for _, workers := range []int{1, 2, 3} {
		pool := NewPool(&Options{Concurrency: workers})
		for _, n := range []int{0, 840, 5000 * 840} {
			check := func(name string, b []byte, err error, item string) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				got, err := pool.Decode([]byte("head"), b)
				if err != nil {
					t.Fatal(err)
				}
				want := bytes.Repeat([]byte(item), n/len(item))
				if string(got[:4]) != "head" || !bytes.Equal(got[4:], want) {
					t.Errorf("%s, %d bytes, %d workers: wrong bytes", name, n, workers)
				}
				h, err := ParseHeader(b, int64(len(b)))
				if err != nil {
					t.Fatal(err)
				}
				clear(got)
				if err := pool.fillPieces(t.Context(), got[4:], h, b, 0, workers); err != nil || string(got[:4]) != "\x00\x00\x00\x00" || !bytes.Equal(got[4:], want) {
					t.Errorf("%s, %d bytes, %d workers: wrong bytes in pieces", name, n, workers)
				}
			}
			p := Params{TypeSize: 4, BlockSize: 4096}
			b, err := EncodeSpecial(nil, Zeros, n, nil, p)
			check("zeros", b, err, "\x00")
			b, err = EncodeSpecial(nil, NaNs, n, nil, p)
			check("nans", b, err, "\x00\x00\xc0\x7f")
			for _, item := range []string{"a", "abc", "abcd", "seven.!"} {
				if n > 0 {
					b, err = EncodeSpecial(nil, Value, n, []byte(item), p)
					check("values", b, err, item)
				}
			}
			p.Level = codec.NoCompression
			b, err = pool.Encode(nil, bytes.Repeat([]byte("sevens!"), n/7), p)
			check("stored", b, err, "sevens!")
		}
	}
}

// TestUncached decodes chunks that filters write past the caches, to memory of several alignments, and chunks that are
// just too short for that.
func TestUncached(t *testing.T) {
	src := make([]byte, uncachedFill+8)
	for i := range src {
		src[i] = byte(i>>9 + i&3*(i*i>>8)) // some planes compress, others do not
	}
	for _, c := range []struct {
		size    int
		filters []Filter
	}{
		{2, []Filter{Shuffle}}, {3, []Filter{Shuffle}}, {4, []Filter{Shuffle}}, {8, []Filter{Shuffle}},
		{8, []Filter{Shuffle, ByteDelta}}, {4, []Filter{Shuffle.With(8), Shuffle}}, {4, []Filter{Delta, Shuffle}},
	} {
		sizes := []int{uncachedLeast - 8, uncachedLeast, uncachedLeast + 7}
		switch {
		case brief():
			sizes = []int{uncachedLeast - 8, uncachedLeast + 7}
		case c.size == 4:
			sizes = append(sizes, uncachedFill-8, uncachedFill)
		}
		for _, n := range sizes {
			b, err := Encode(nil, src[:n], Params{Codec: codec.BloscLZ, Level: 5, TypeSize: c.size, Filters: c.filters}, nil)
			if err != nil {
				t.Fatal(err)
			}
			pool := NewPool(&Options{Concurrency: 1 + n/(uncachedFill-8)})
			for _, prefix := range []string{"", "a", "01234567"} {
				got, err := pool.Decode([]byte(prefix), b)
				if err != nil || string(got[:len(prefix)]) != prefix || !bytes.Equal(got[len(prefix):], src[:n]) {
					t.Fatalf("%d bytes of items of %d with %v after %q: %v, or other bytes", n, c.size, c.filters, prefix, err)
				}
			}
		}
	}
}

// TestUncachedSpecial fills memory with special values past the caches.
func TestUncachedSpecial(t *testing.T) {
	const n = uncachedFill + 5*8
	for _, c := range []struct {
		special     Special
		size        int
		value, item []byte
	}{
		{Zeros, 4, nil, []byte{0}},
		{NaNs, 4, nil, []byte{0, 0, 0xc0, 0x7f}},
		{Value, 8, []byte("12345678"), []byte("12345678")},
		{Value, 5, []byte("five!"), []byte("five!")},
	} {
		n := n - n%c.size
		b, err := EncodeSpecial(nil, c.special, n, c.value, Params{TypeSize: c.size})
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Repeat(c.item, n/len(c.item))
		got := make([]byte, 3, n+3)
		for i := range got[:n+3] {
			got[:n+3][i] = 0xa5
		}
		got, err = NewPool(&Options{Concurrency: 2}).Decode(got, b)
		if err != nil || string(got[:3]) != "\xa5\xa5\xa5" || !bytes.Equal(got[3:], want) {
			t.Errorf("%v of %d bytes: %v, or other bytes", c.special, c.size, err)
		}
	}
}
