package zfp

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// digestMetas are the codec parameters that contribute to a digest.
var digestMetas = []uint8{0, 1, 5, 10, 17, 33, 50, 60, 99, 128, 200, 240, 251, 255}

// digest returns hashes of the streams of many fields of one shape, and of the fields that these streams and truncated
// streams decode to.
func digest(f Field, m int, encode func(src []byte, meta uint8) []byte, decode func(n int, stream []byte, meta uint8) []byte) string {
	streams, fields := sha256.New(), sha256.New()
	for i, kind := range fieldKinds {
		src := makeField(kind, f.Items(), f.ItemSize, i+m)
		for j, meta := range digestMetas {
			stream := encode(src, meta)
			streams.Write(stream)
			fields.Write(decode(len(src), stream, meta))
			fields.Write(decode(len(src), stream[:len(stream)*(i+j)/30], meta))
		}
	}
	return hex.EncodeToString(streams.Sum(nil)[:8]) + " " + hex.EncodeToString(fields.Sum(nil)[:8])
}

// forEachDigest calls f for all shapes, item sizes and modes.
func forEachDigest(f func(name string, field Field, m int)) {
	for _, shape := range shapes {
		for _, itemSize := range []int{4, 8} {
			for m := range modes {
				name := fmt.Sprintf("%s %s f%d", modes[m].name, strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", "x"), itemSize)
				f(name, Field{Shape: shape, ItemSize: itemSize}, m)
			}
		}
	}
}

// TestSameStreams compares streams and decoded fields with digests of libzfp.
func TestSameStreams(t *testing.T) {
	file, err := os.Open("testdata/digests.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want := map[string]string{}
	for s := bufio.NewScanner(file); s.Scan(); {
		if fields := strings.Fields(s.Text()); fields[0] != "#" {
			want[strings.Join(fields[:3], " ")] = strings.Join(fields[3:], " ")
		}
	}
	dst := make([]byte, 1<<20)
	n := 0
	forEachDigest(func(name string, f Field, m int) {
		if n++; testing.Short() && n%5 != 0 {
			return
		}
		coders := map[uint8]*Coder{}
		for _, meta := range digestMetas {
			coders[meta] = NewCoder(f, modes[m].params(meta, f))
		}
		got := digest(f, m, func(src []byte, meta uint8) []byte {
			n, err := coders[meta].Encode(dst, src)
			if err != nil {
				t.Fatal(err)
			}
			return dst[:n]
		}, func(n int, stream []byte, meta uint8) []byte {
			out := make([]byte, n)
			coders[meta].Decode(out, stream)
			return out
		})
		if got != want[name] {
			t.Errorf("%s: %s, want %s", name, got, want[name])
		}
	})
	if n != len(want) {
		t.Errorf("%d digests, want %d", len(want), n)
	}
}

// TestRoom encodes into less room than the stream needs.
func TestRoom(t *testing.T) {
	f := Field{Shape: []int32{9, 10}, ItemSize: 8}
	src := makeField("noise", f.Items(), f.ItemSize, 1)
	c := NewCoder(f, Precision(20))
	all := bytes.Repeat([]byte{0xa5}, 2000)
	want := make([]byte, 2000)
	n, err := c.Encode(want, src)
	if err != nil || n%8 != 0 || n == 0 {
		t.Fatal(n, err)
	}
	for room := range n + 20 {
		copy(all, bytes.Repeat([]byte{0xa5}, 2000))
		k, err := c.Encode(all[:room], src)
		if room < n && !errors.Is(err, ErrNoRoom) || room >= n && (err != nil || k != n || !bytes.Equal(all[:n], want[:n])) {
			t.Errorf("%d bytes of room for %d: %d, %v", room, n, k, err)
		}
		for i, b := range all[room:] {
			if b != 0xa5 {
				t.Fatalf("%d bytes of room: wrote at %d", room, room+i)
			}
		}
	}
}

// TestBits writes and reads bits, and compares with a slice of them.
func TestBits(t *testing.T) {
	r := random(5)
	for range 300 {
		var bits []byte
		w := writer{dst: make([]byte, 1000)}
		var lengths []int
		for len(bits) < 4000 {
			n := r.below(65)
			v := r.next() >> r.below(64)
			w.bits(v, n)
			for i := range n {
				bits = append(bits, byte(v>>i&1))
			}
			lengths = append(lengths, n)
		}
		n, err := w.finish()
		if err != nil || n != (len(bits)+63)/64*8 {
			t.Fatal(n, err)
		}
		for i, b := range bits {
			if w.dst[i/8]>>(i%8)&1 != b {
				t.Fatalf("bit %d", i)
			}
		}
		src := w.dst[:len(bits)/8] // without the last ones
		at := func(i int) byte {
			if i < len(src)*8 {
				return bits[i]
			}
			return 0
		}
		rd := reader{src: src}
		pos := 0
		for _, n := range lengths {
			if r.below(3) == 0 {
				got := rd.zeros(n)
				want := 0
				for want < n && at(pos+want) == 0 {
					want++
				}
				pos += min(want+1, n)
				if got != want || rd.pos != int64(pos) {
					t.Fatalf("%d zeros up to bit %d, want %d up to %d", got, rd.pos, want, pos)
				}
				continue
			}
			v := rd.bits(n)
			for i := range 64 {
				b := byte(0)
				if i < n {
					b = at(pos + i)
				}
				if byte(v>>i&1) != b {
					t.Fatalf("bit %d of %d at %d", i, n, pos)
				}
			}
			pos += n
		}
	}
}

func TestTranspose(t *testing.T) {
	r := random(7)
	var p, q planes
	for g := range p {
		for i := range p[g] {
			p[g][i] = r.next()
		}
	}
	q = p
	q.transpose(3)
	for g := range p {
		for i := range 64 {
			for k := range 64 {
				a, b := p[g][i]>>k&1, q[g][k]>>i&1
				if g == 3 {
					b = q[g][i] >> k & 1
				}
				if a != b {
					t.Fatalf("group %d, item %d, bit %d", g, i, k)
				}
			}
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, shape := range [][]int32{{100}, {9, 9, 9, 9}} {
		f := Field{Shape: shape, ItemSize: 4}
		c := NewCoder(f, Accuracy(-3))
		src := makeField("smooth", f.Items(), 4, 1)
		dst := make([]byte, 2*len(src))
		if n := testing.AllocsPerRun(10, func() {
			n, _ := c.Encode(dst, src)
			c.Decode(src, dst[:n])
		}); n > 0 {
			t.Errorf("%d dimensions: %v allocations", len(shape), n)
		}
	}
}

// FuzzDecode decodes arbitrary streams, and checks that the field is the same after another round trip.
func FuzzDecode(f *testing.F) {
	for i, kind := range fieldKinds {
		field := Field{Shape: shapes[i], ItemSize: 4 + i%2*4}
		c := NewCoder(field, modes[i%3].params(30, field))
		dst := make([]byte, 1<<16)
		n, err := c.Encode(dst, makeField(kind, field.Items(), field.ItemSize, 1))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), uint8(i%2), uint8(i), uint8(30), dst[:n])
	}
	f.Fuzz(func(t *testing.T, shape, size, m, meta uint8, stream []byte) {
		field := Field{Shape: shapes[int(shape)%len(shapes)], ItemSize: 4 + int(size%2)*4}
		c := NewCoder(field, modes[m%3].params(meta, field))
		out, again := make([]byte, field.Items()*field.ItemSize), make([]byte, field.Items()*field.ItemSize)
		c.Decode(out, stream)
		c.Decode(again, append(bytes.Clone(stream), make([]byte, 100)...))
		if !bytes.Equal(out, again) {
			t.Fatal("zeros after the stream change the field")
		}
		dst := make([]byte, 8*len(out)+1000)
		n, err := c.Encode(dst, out)
		if err != nil {
			t.Fatal(err)
		}
		first := bytes.Clone(dst[:n])
		if n, err = c.Encode(dst, out); err != nil || !bytes.Equal(dst[:n], first) {
			t.Fatal("another stream of the same field")
		}
		c.Decode(again, first)
	})
}

func BenchmarkZFP(b *testing.B) {
	for _, shape := range [][]int32{{65536}, {256, 256}, {32, 32, 64}, {16, 16, 16, 16}} {
		for _, itemSize := range []int{4, 8} {
			for m, meta := range []uint8{253, 16, 25} {
				f := Field{Shape: shape, ItemSize: itemSize}
				c := NewCoder(f, modes[m].params(meta, f))
				src := makeField("smooth", f.Items(), itemSize, 1)
				dst := make([]byte, 2*len(src))
				name := fmt.Sprintf("%s-%dd-f%d", modes[m].name, len(shape), itemSize)
				b.Run("encode-"+name, func(b *testing.B) {
					b.SetBytes(int64(len(src)))
					b.ReportAllocs()
					for b.Loop() {
						if _, err := c.Encode(dst, src); err != nil {
							b.Fatal(err)
						}
					}
				})
				n, err := c.Encode(dst, src)
				if err != nil {
					b.Fatal(err)
				}
				b.Run("decode-"+name, func(b *testing.B) {
					b.SetBytes(int64(len(src)))
					b.ReportAllocs()
					for b.Loop() {
						c.Decode(src, dst[:n])
					}
				})
			}
		}
	}
}
