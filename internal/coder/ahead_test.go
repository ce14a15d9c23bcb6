package coder

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/goblosc/blosc2/codec"
)

// patientReader counts its calls, and fails after a number of them.
type patientReader struct {
	io.ReaderAt
	calls, most int
}

var errEnough = errors.New("enough")

func (c *patientReader) ReadAt(p []byte, off int64) (int, error) {
	if c.calls++; c.calls > c.most {
		return 0, errEnough
	}
	return c.ReaderAt.ReadAt(p, off)
}

// TestReadAhead decodes blocks of a chunk in a file, and counts the reads of the file.
func TestReadAhead(t *testing.T) {
	const blockSize, blocks = 4096, 300
	src := noise(blockSize * blocks)
	for i := range src {
		src[i] &= 0x3f // compresses only a little
	}
	encoded, err := Encode(nil, src, Params{TypeSize: 1, BlockSize: blockSize, Level: 5, Filters: []Filter{BitShuffle}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := NewPool(nil).Get()
	for _, c := range []struct {
		name     string
		first, n int
		list     []int32
		reads    int // after opening
	}{
		{"one", 10, 1, nil, 1},
		{"a run", 10, 16, nil, 1},
		{"a list", 0, 0, []int32{20, 21, 22, 30}, 1},
		{"two with little between", 0, 0, []int32{20, 22}, 1},
		{"two with much between", 0, 0, []int32{20, 29}, 2},
		{"all", 0, blocks, nil, 1},
		{"none", 5, 0, nil, 0},
	} {
		file := &patientReader{ReaderAt: bytes.NewReader(encoded), most: 1000}
		var r Reader
		for range 2 { // the reader is opened again
			if err := w.OpenAt(&r, file, 0, int64(len(encoded)), 0, 0.1); err != nil {
				t.Fatal(err)
			}
			if len(r.ahead) > 0 {
				t.Fatalf("%s: bytes ahead of a chunk just opened", c.name)
			}
			before := file.calls
			r.ReadAhead(c.first, c.n, c.list)
			each := func(f func(k int)) {
				for i := range max(c.n, len(c.list)) {
					if len(c.list) > 0 {
						f(int(c.list[i]))
					} else {
						f(c.first + i)
					}
				}
			}
			block := make([]byte, blockSize)
			check := func(k int) {
				if err := w.DecodeBlock(block, &r, k); err != nil {
					t.Fatalf("%s, block %d: %v", c.name, k, err)
				}
				if !bytes.Equal(block, src[k*blockSize:(k+1)*blockSize]) {
					t.Fatalf("%s, block %d: wrong bytes", c.name, k)
				}
			}
			each(check)
			if n := file.calls - before; n != c.reads {
				t.Errorf("%s: %d reads, want %d", c.name, n, c.reads)
			}
			check(0) // blocks that were not read ahead
			check(150)
			check(blocks - 1)
		}
		// Decoding the block reports the error of the source.
		for most := range 2 {
			file.calls, file.most = 0, 1000
			if err := w.OpenAt(&r, file, 0, int64(len(encoded)), 0, 0.1); err != nil {
				t.Fatal(err)
			}
			file.calls, file.most = 0, most
			r.ReadAhead(10, 5, nil)
			var e *Error
			if err := w.DecodeBlock(make([]byte, blockSize), &r, 12+100*most); !errors.Is(err, errEnough) || !errors.As(err, &e) || e.Block != 12+100*most {
				t.Errorf("a source that fails: %v", err)
			}
		}
	}
}

// TestReadOnce checks that blocks that were read with the head of the chunk are not read again.
func TestReadOnce(t *testing.T) {
	const blockSize = 512
	src := noise(128 * blockSize)
	for i := range src {
		src[i] &= 0x3f
	}
	encoded := mustEncode(t, src, Params{TypeSize: 1, BlockSize: blockSize, Level: 5, Filters: []Filter{BitShuffle}})
	w := NewPool(nil).Get()
	file := &patientReader{ReaderAt: bytes.NewReader(encoded), most: 1000}
	var r Reader
	if err := w.OpenAt(&r, file, 0, int64(len(encoded)), 0, 0.1); err != nil {
		t.Fatal(err)
	}
	before, inHead := file.calls, 0
	block := make([]byte, blockSize)
	for k := range r.NumBlocks {
		if err := w.DecodeBlock(block, &r, k); err != nil || !bytes.Equal(block, src[k*blockSize:][:blockSize]) {
			t.Fatalf("block %d: %v, or wrong bytes", k, err)
		}
		if int(r.ends[k]) <= 4096 { // in the first read
			inHead++
		}
	}
	if n := file.calls - before; inHead == 0 || inHead == r.NumBlocks || n != r.NumBlocks-inHead {
		t.Errorf("%d reads for %d blocks of which %d are in the head", n, r.NumBlocks, inHead)
	}
}

// TestReadAheadLittle checks that ReadAhead reads nothing if the chunk is in memory, or if it would read too much.
func TestReadAheadLittle(t *testing.T) {
	src := noise(4 << 20)
	for i := range src {
		src[i] &= 0x3f
	}
	p := Params{TypeSize: 1, BlockSize: 4096, Level: 5, Filters: []Filter{BitShuffle}}
	b, err := Encode(nil, src, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := NewPool(nil).Get()
	var r Reader
	if err := w.OpenAt(&r, bytes.NewReader(b), 0, int64(len(b)), 0, 0.1); err != nil {
		t.Fatal(err)
	}
	if r.ReadAhead(0, r.NumBlocks, nil); len(r.ahead) > 0 {
		t.Errorf("%d bytes read ahead", len(r.ahead))
	}
	for _, c := range [][]byte{b, mustEncode(t, src, Params{TypeSize: 1, BlockSize: 4096, Level: codec.NoCompression})} {
		if err := w.Open(&r, c); err != nil {
			t.Fatal(err)
		}
		if r.ReadAhead(0, 20, nil); len(r.ahead) > 0 {
			t.Errorf("%d bytes read ahead of a chunk in memory", len(r.ahead))
		}
	}
}

func mustEncode(t *testing.T, src []byte, p Params) []byte {
	t.Helper()
	b, err := Encode(nil, src, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestReadAheadKinds reads chunks of all kinds ahead, whole and in halves.
func TestReadAheadKinds(t *testing.T) {
	w := NewPool(nil).Get()
	var r Reader
	for name, c := range chunksForBlocks(t) {
		b, want := c[0], c[1]
		for _, first := range []int{0, 1} {
			if err := w.OpenAt(&r, bytes.NewReader(b), 0, int64(len(b)), 0, 0.1); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			r.ReadAhead(first*r.NumBlocks/2, r.NumBlocks/2, nil)
			for k := range r.NumBlocks {
				got := make([]byte, r.BlockLen(k))
				if err := w.DecodeBlock(got, &r, k); err != nil {
					t.Fatalf("%s, block %d: %v", name, k, err)
				}
				if at := r.BlockOffset(k); !bytes.Equal(got, want[at:at+len(got)]) {
					t.Errorf("%s, block %d: wrong bytes", name, k)
				}
			}
		}
	}
}
