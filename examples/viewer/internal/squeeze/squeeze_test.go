package squeeze

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"testing"
)

// check compares b with what compress/gzip reads, and returns the compressed size.
func check(t *testing.T, b []byte) int {
	z := Gzip(b)
	r, err := gzip.NewReader(bytes.NewReader(z))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, b) {
		t.Fatalf("%d bytes: %v, or other bytes", len(b), err)
	}
	return len(z)
}

// TestGzip compresses inputs of several kinds and lengths.
func TestGzip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := []byte{}
	for len(text) < 100_000 {
		text = append(text, "the quick brown fox jumps over the lazy dog "[r.IntN(40):]...)
	}
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	few := make([]byte, 100_000)
	for i := range few {
		few[i] = byte(r.IntN(3))
	}
	far := append(bytes.Clone(noise[:window]), noise[:window]...) // distance 32768
	for _, b := range [][]byte{text, noise, few, far, make([]byte, 100_000), bytes.Repeat([]byte("ab"), 50_000)} {
		for _, n := range []int{0, 1, 2, 3, 4, 100, 257, 258, 259, 260, piece - 1, piece, piece + 1, len(b)} {
			check(t, b[:min(n, len(b))])
		}
	}
	var best bytes.Buffer
	w, err := gzip.NewWriterLevel(&best, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text)
	w.Close()
	if n := check(t, text); n > best.Len()*97/100 {
		t.Errorf("%d bytes, compress/gzip has %d", n, best.Len())
	}
}

// TestCodeLengths checks that codes are as long as allowed, and complete.
func TestCodeLengths(t *testing.T) {
	fib := []int{1, 1}
	for len(fib) < 30 {
		fib = append(fib, fib[len(fib)-1]+fib[len(fib)-2])
	}
	for _, counts := range [][]int{{0, 0, 0}, {5, 0, 0}, {0, 0, 7}, {1, 1}, {1, 2, 3, 4}, fib} {
		sum, most := 0, 0
		for _, n := range codeLengths(counts, maxCode) {
			if n > 0 {
				sum += 1 << (maxCode - n)
				most = max(most, int(n))
			}
		}
		if sum != 1<<maxCode || most > maxCode {
			t.Errorf("%d: codes of up to %d bits with the sum %d", counts, most, sum)
		}
	}
}

func FuzzGzip(f *testing.F) {
	f.Add([]byte("abcabcabc"))
	f.Fuzz(func(t *testing.T, b []byte) { check(t, b) })
}
