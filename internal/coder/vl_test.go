package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/manifest"
)

// cut cuts b into pieces of random sizes from 1 byte up.
func cut(b []byte, seed uint64, most int) [][]byte {
	rnd := rand.New(rand.NewPCG(seed, 1))
	var out [][]byte
	for len(b) > 0 {
		n := min(1+rnd.IntN(most), len(b))
		out = append(out, b[:n])
		b = b[n:]
	}
	return out
}

func TestVLRoundTrip(t *testing.T) {
	t.Parallel()
	for _, id := range someCodecs() {
		for name, filters := range pipelines {
			for _, ts := range []int{1, 4, 7, 300} {
				for i, level := range []int{codec.NoCompression, 1, 5} {
					if brief() && i == 1 {
						continue
					}
					for _, content := range []string{"ramp", "noise", "sevens", "part"} {
						what := fmt.Sprintf("%v, %s, items of %d, level %d, %s", id, name, ts, level, content)
						src := contents[content](3000)
						blocks := cut(src, uint64(ts), 400)
						p := Params{Codec: id, Filters: filters, TypeSize: ts, Level: level}
						vlRoundTrip(t, what, p, src, blocks)
					}
				}
			}
		}
	}
	for _, sizes := range [][]int{{1}, {1, 1, 1}, {31}, {100_000}, {1, 100_000, 1}} {
		var blocks [][]byte
		for _, n := range sizes {
			blocks = append(blocks, contents["ramp"](n))
		}
		vlRoundTrip(t, fmt.Sprint(sizes), Params{TypeSize: 4}, bytes.Join(blocks, nil), blocks)
	}
}

func vlRoundTrip(t *testing.T, what string, p Params, src []byte, blocks [][]byte) {
	t.Helper()
	b, err := NewPool(&Options{Concurrency: 1}).EncodeVL(t.Context(), []byte("head"), blocks, p, -1)
	if err != nil || string(b[:4]) != "head" {
		t.Fatalf("%s: %v", what, err)
	}
	b = b[4:]
	if c, err := NewPool(&Options{Concurrency: 3}).EncodeVL(t.Context(), nil, blocks, p, -1); err != nil || !bytes.Equal(b, c) {
		t.Errorf("%s: %v, or other bytes with three workers", what, err)
	}
	checkVLLayout(t, what, b, blocks)
	if got, err := Decode(nil, b, nil); err != nil || !bytes.Equal(got, src) {
		t.Errorf("%s: %v, or other data", what, err)
	}
	got, err := NewPool(nil).DecodeVL(append(bytes.Clone(b), "behind"...))
	if err != nil || len(got) != len(blocks) {
		t.Fatalf("%s: %d blocks, want %d; %v", what, len(got), len(blocks), err)
	}
	for k := range got {
		if !bytes.Equal(got[k], blocks[k]) {
			t.Errorf("%s: block %d has other data", what, k)
		}
	}
	w := NewPool(nil).Get()
	for _, want := range []float64{0, 1} {
		var r Reader
		if err := w.OpenAt(&r, bytes.NewReader(b), 0, int64(len(b)), 0, want); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		readAll(t, what, w, &r, src)
	}
	a, err := newReaderAt(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	part := make([]byte, (len(src)+1)/2)
	if _, err := a.ReadAt(part, int64(len(src)/3)); err != nil || !bytes.Equal(part, src[len(src)/3:len(src)/3+len(part)]) {
		t.Errorf("%s: a part: %v", what, err)
	}
}

// checkVLLayout checks the layout of chunks with blocks of variable length.
func checkVLLayout(t *testing.T, what string, b []byte, blocks [][]byte) {
	t.Helper()
	le := binary.LittleEndian
	nbytes := 0
	at := 32 + 4*len(blocks)
	for k, block := range blocks {
		start := int(le.Uint32(b[32+4*k:]))
		if start != at || int(le.Uint32(b[start:])) != len(block) {
			t.Fatalf("%s: block %d at %d, want %d; size %d, want %d", what, k, start, at, le.Uint32(b[start:]), len(block))
		}
		at = len(b)
		if k < len(blocks)-1 {
			at = int(le.Uint32(b[32+4*k+4:]))
		}
		if size := at - start - 4; size > len(block) || size < 1 {
			t.Errorf("%s: block %d of %d bytes takes %d", what, k, len(block), size)
		}
		nbytes += len(block)
	}
	if b[0] != 6 || b[2]&0x17 != 0x15 || b[30] != 1 || b[31] != 0 ||
		int(le.Uint32(b[4:])) != nbytes || int(le.Uint32(b[8:])) != len(blocks) || int(le.Uint32(b[12:])) != len(b) {
		t.Errorf("%s: header %x", what, b[:32])
	}
}

func TestVLParams(t *testing.T) {
	for name, blocks := range map[string][][]byte{
		"no blocks":      {},
		"an empty block": {{1}, {}, {2}},
	} {
		if b, err := NewPool(nil).EncodeVL(t.Context(), nil, blocks, Params{}, -1); !errors.Is(err, errs.ErrParam) || len(b) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewPool(nil).EncodeVL(t.Context(), nil, [][]byte{{1}}, Params{Level: 12}, -1); !errors.Is(err, errs.ErrParam) {
		t.Errorf("level 12: %v", err)
	}
	if _, err := NewPool(nil).EncodeVL(t.Context(), nil, [][]byte{{1}}, Params{Codec: codec.FromCode(222)}, -1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("an unknown codec: %v", err)
	}
	// Any chunk has blocks.
	b, err := Encode(nil, contents["ramp"](1000), Params{BlockSize: 300}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if blocks, err := NewPool(nil).DecodeVL(b); err != nil || len(blocks) != 4 || len(blocks[3]) != 100 {
		t.Errorf("blocks of an ordinary chunk: %d, %v", len(blocks), err)
	}
	if _, err := NewPool(nil).DecodeVL(b[:40]); !errors.Is(err, errs.ErrCorrupt) {
		t.Errorf("half a chunk: %v", err)
	}
}

// frameChunks returns the chunks of a contiguous frame, which follow the header. The header starts with its length.
func frameChunks(t testing.TB, file string, n int) [][]byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	b = b[binary.BigEndian.Uint32(b[11:]):]
	var out [][]byte
	for range n {
		h, err := ParseHeader(b, int64(len(b)))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, b[:h.CBytes])
		b = b[h.CBytes:]
	}
	return out
}

// TestVLSizes has invalid block sizes.
func TestVLSizes(t *testing.T) {
	b, err := NewPool(nil).EncodeVL(t.Context(), nil, [][]byte{noise(100), noise(200), noise(300)}, Params{}, -1)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	for _, sizes := range [][3]int32{{0, 300, 300}, {-100, 400, 300}, {100, 201, 300}, {100, 199, 300}, {1 << 30, 1 << 30, -1<<31 + 600}, {100, 500, 0}, {700, -200, 100}} {
		bad := bytes.Clone(b)
		for k, n := range sizes {
			le.PutUint32(bad[le.Uint32(bad[32+4*k:]):], uint32(n))
		}
		var e *Error
		if _, err := Decode(nil, bad, nil); !errors.Is(err, errs.ErrCorrupt) || !errors.As(err, &e) {
			t.Errorf("%v: %v", sizes, err)
		}
		if _, err := newReaderAt(bytes.NewReader(bad), int64(len(bad)), nil); !errors.Is(err, errs.ErrCorrupt) {
			t.Errorf("%v, opening: %v", sizes, err)
		}
	}
	bad := bytes.Clone(b)
	copy(bad[32:36], b[36:40])
	copy(bad[36:40], b[32:36])
	if _, err := Decode(nil, bad, nil); !errors.Is(err, errs.ErrCorrupt) {
		t.Errorf("blocks out of order: %v", err)
	}
}

// TestVLFixtures reads the blocks that C-Blosc2 wrote.
func TestVLFixtures(t *testing.T) {
	frames := 0
	for _, c := range manifest.Read(t, "legacy") {
		if c.Kind != "vlblocks" || c.File[len(c.File)-len("_c.b2frame"):] != "_c.b2frame" {
			continue
		}
		frames++
		for i, chunk := range frameChunks(t, filepath.Join("legacy", c.File), len(c.BlockSizes)) {
			blocks, err := NewPool(nil).DecodeVL(chunk)
			if err != nil || len(blocks) != len(c.BlockSizes[i]) {
				t.Errorf("%s, chunk %d: %d blocks, want %d; %v", c.File, i, len(blocks), len(c.BlockSizes[i]), err)
				continue
			}
			for k, b := range blocks {
				if len(b) != c.BlockSizes[i][k] || sum(b) != c.BlockSHA256[i][k] {
					t.Errorf("%s, chunk %d, block %d: other data", c.File, i, k)
				}
			}
		}
	}
	if frames != 4 {
		t.Errorf("%d frames, want 4", frames)
	}
}

// TestVLDelta has a chunk of C-Blosc2 whose blocks were filtered with Delta, each on its own.
func TestVLDelta(t *testing.T) {
	var blocks [][]byte
	for i, n := range []int{40, 24, 60} {
		b := make([]byte, n)
		for j := range b {
			b[j] = byte(i*50 + j*j*7)
		}
		blocks = append(blocks, b)
	}
	p := Params{TypeSize: 4, Codec: codec.LZ4, Filters: []Filter{NoFilter, NoFilter, NoFilter, NoFilter, Delta}}
	b, err := NewPool(nil).EncodeVL(t.Context(), nil, blocks, p, -1)
	if err != nil {
		t.Fatal(err)
	}
	want := unhex(t, "06013d047c00000003000000b4000000000000000300010000000000000001002c00000058000000740000002800000000071c3f70a8e068b0"+
		"98401830a8e068f07880f8f0e8e0a830184098b0e8e0a87038003870a8e0e81800000032394e7190d860f85088c008d0b860d810c88048105860b83c0000"+
		"00646b80a3b078e018f08840087098e038304880c83038e09870084088f018e0f8b0480048b0f8e018f08840087098e03830c880483038e09870084088")
	if !bytes.Equal(b, want) {
		t.Errorf("got  %x\nwant %x", b, want)
	}
	if got, err := Decode(nil, want, nil); err != nil || !bytes.Equal(got, bytes.Join(blocks, nil)) {
		t.Errorf("%x, %v", got, err)
	}
}
