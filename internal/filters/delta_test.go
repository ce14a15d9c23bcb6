package filters

import (
	"bytes"
	"testing"
)

func naiveDelta(src, ref []byte, typeSize int) []byte {
	w := map[int]int{1: 1, 2: 2, 4: 4, 8: 8, 16: 8, 24: 8, 3: 1, 6: 1, 12: 1, 255: 1}[typeSize]
	dst := bytes.Clone(src)
	for i := 0; i+w <= len(src); i += w {
		for k := i; k < i+w; k++ {
			switch {
			case ref != nil && i+w <= len(ref):
				dst[k] ^= ref[k]
			case ref == nil && i > 0:
				dst[k] ^= src[k-w]
			}
		}
	}
	return dst
}

func TestDelta(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 255} {
		for n := range 130 {
			src := randomBytes(n, uint64(n))
			refs := map[string][]byte{
				"self":   nil,
				"same":   randomBytes(n, 1000),
				"longer": randomBytes(n+5, 1000),
				"empty":  {},
			}
			if n > 0 {
				refs["one less"] = randomBytes(n-1, 1000)
				refs["half"] = randomBytes(n/2, 1000)[:n/2]
			}
			for name, ref := range refs {
				want := naiveDelta(src, ref, size)
				enc := func(dst, src []byte, size int) { DeltaEncode(dst, src, ref, size) }
				dec := func(dst, src []byte, size int) { DeltaDecode(dst, src, ref, size) }
				if got := run(t, enc, src, size, n%8); !bytes.Equal(got, want) {
					t.Fatalf("type size %d, %d bytes, reference %s: got % x, want % x", size, n, name, got, want)
				}
				if got := run(t, dec, want, size, n%8); !bytes.Equal(got, src) {
					t.Fatalf("type size %d, %d bytes, reference %s: decoded % x, want % x", size, n, name, got, src)
				}
				inPlace := bytes.Clone(src)
				DeltaEncode(inPlace, inPlace, ref, size)
				if !bytes.Equal(inPlace, want) {
					t.Fatalf("type size %d, %d bytes, reference %s: wrong in place", size, n, name)
				}
				DeltaDecode(inPlace, inPlace, ref, size)
				if !bytes.Equal(inPlace, src) {
					t.Fatalf("type size %d, %d bytes, reference %s: decoded wrong in place", size, n, name)
				}
			}
		}
	}
}

// TestDeltaKnown pins the layout with a value worked out by hand.
func TestDeltaKnown(t *testing.T) {
	src := []byte{1, 2, 3, 4, 5, 6, 7}
	got := make([]byte, 7)
	DeltaEncode(got, src, nil, 2)
	if want := []byte{1, 2, 1 ^ 3, 2 ^ 4, 3 ^ 5, 4 ^ 6, 7}; !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func naiveByteDelta(src []byte, streams int) []byte {
	dst := bytes.Clone(src)
	n := len(src) / streams
	for s := range streams {
		for i := 1; i < n; i++ {
			dst[s*n+i] = src[s*n+i] - src[s*n+i-1]
		}
	}
	return dst
}

func TestByteDelta(t *testing.T) { testLadder(t, ByteDeltaEncode, ByteDeltaDecode, naiveByteDelta) }

func TestByteDeltaInPlace(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		for n := range 300 {
			src := randomBytes(n, uint64(n))
			for _, streams := range []int{1, 3, 4} {
				got := naiveByteDelta(src, streams)
				ByteDeltaDecode(got, got, streams)
				if !bytes.Equal(got, src) {
					t.Fatalf("%d streams, %d bytes: wrong in place", streams, n)
				}
			}
		}
	})
}

func TestByteDeltaDecodeV1(t *testing.T) {
	forEachKernel(t, func(t *testing.T) {
		for _, streams := range []int{1, 2, 4, 7} {
			for n := range 200 {
				src := randomBytes(n*streams+n%streams, uint64(n))
				enc := bytes.Clone(src)
				for s := range streams {
					for i := 1; i < n; i++ {
						if i != n/16*16 {
							enc[s*n+i] = src[s*n+i] - src[s*n+i-1]
						}
					}
				}
				if got := run(t, ByteDeltaDecodeV1, enc, streams, n%16); !bytes.Equal(got, src) {
					t.Fatalf("%d streams of %d bytes: decoded wrong", streams, n)
				}
				ByteDeltaDecodeV1(enc, enc, streams)
				if !bytes.Equal(enc, src) {
					t.Fatalf("%d streams of %d bytes: wrong in place", streams, n)
				}
			}
		}
	})
}
