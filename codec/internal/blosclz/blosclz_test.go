package blosclz

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
)

// reference decodes a stream byte by byte, exactly as the format is described. It returns nil if the stream is invalid
// or does not decode to n bytes.
func reference(src []byte, n int) []byte {
	out := []byte{}
	next := func() int {
		c := int(src[0])
		src = src[1:]
		return c
	}
	if len(src) == 0 {
		return nil
	}
	c := next() & 31
	for {
		if c < 32 {
			if c+1 > len(src) {
				return nil
			}
			out = append(out, src[:c+1]...)
			src = src[c+1:]
			if len(src) == 0 {
				break
			}
		} else {
			length, distance := c>>5+2, c&31<<8
			for more := 255; c>>5 == 7 && more == 255; {
				if len(src) < 2 {
					return nil
				}
				more = next()
				length += more
			}
			if len(src) < 2 {
				return nil
			}
			low := next()
			distance += low + 1
			if c&31 == 31 && low == 255 {
				if len(src) < 3 {
					return nil
				}
				distance = next() << 8
				distance += next() + 8192
			}
			if distance > len(out) || len(src) == 0 || length > n {
				return nil
			}
			for range length {
				out = append(out, out[len(out)-distance])
			}
		}
		if len(out) > n {
			return nil
		}
		c = next()
	}
	if len(out) != n {
		return nil
	}
	return out
}

// decode runs Decode with guard bytes around its output.
func decode(t *testing.T, src []byte, n int) []byte {
	t.Helper()
	all := bytes.Repeat([]byte{0x5a}, n+80)
	ok := Decode(all[40:40+n], src)
	if string(all[:40]) != strings.Repeat("\x5a", 40) || string(all[40+n:]) != strings.Repeat("\x5a", 40) {
		t.Fatalf("%x to %d: wrote outside", src, n)
	}
	out := all[40 : 40+n]
	if !ok {
		out = nil
	}
	begins := trial.Prefixes(t, n, out, func(dst []byte, n int) bool { return DecodePrefix(dst, src, n) })
	others := trial.Prefixes(t, n, out, func(dst []byte, n int) bool { // without a kernel
		d := decoder{src: src, dst: dst}
		return len(src) > 0 && d.rest(n)
	})
	if begins != others {
		t.Fatalf("%x to %d: different beginnings are valid: %v and %v", src, n, begins, others)
	}
	return out
}

func TestDecodeTokens(t *testing.T) {
	far := strings.Repeat("1f"+strings.Repeat("41", 32), 300) // 9600 literals
	tests := []struct {
		name   string
		stream string
		want   string // nil output where it starts with "!"
		n      int
	}{
		{"one literal", "2061", "a", 1},
		{"marker is ignored", "e061", "a", 1},
		{"no marker", "0061", "a", 1},
		{"two runs", "2061 0162 63", "abc", 3},
		{"run of distance 1", "2061 20 00 0062", "aaaab", 5},
		{"longest short match", "2161 62 c0 01 0063", "ababababab" + "c", 11},
		{"shortest long match", "2061 e0 00 00 0062", "aaaaaaaaaa" + "b", 11},
		{"long match", "2061 e0 02 00 0062", "aaaaaaaaaaaab", 13},
		{"long match of two bytes", "2061 e0 ff 00 00 0062", strings.Repeat("a", 265) + "b", 266},
		{"distance 2", "2161 62 20 01 0063", "ababac", 6},
		{"two matches", "2161 62 20 01 20 00 0063", "ababaaaac", 9},
		{"empty", "", "!", 0},
		{"empty for one byte", "", "!", 1},
		{"run is cut", "2161", "!", 2},
		{"output is short", "2161 62", "!", 3},
		{"output is long", "2161 62", "!", 1},
		{"distance before the start", "2061 20 01 0062", "!", 5},
		{"match without distance", "2061 20", "!", 4},
		{"match at the end", "2061 20 00", "!", 4},
		{"literal run after a match is cut", "2061 20 00 00", "!", 5},
		{"length is cut", "2061 e0 ff", "!", 300},
		{"length and no distance", "2061 e0 ff 00", "!", 300},
		{"match beyond the output", "2061 40 00 0062", "!", 4},
		{"far match", far + "3f ff 0000 0062", strings.Repeat("A", 9603) + "b", 9604},
		{"far match at its limit", far + "3f ff 0580 0062", strings.Repeat("A", 9603) + "b", 9604},
		{"far match before the start", far + "3f ff 0581 0062", "!", 9604},
		{"far match is cut", far + "3f ff 05", "!", 9603},
		{"nearest is not far", far + "3f fe 0062", strings.Repeat("A", 9603) + "b", 9604},
	}
	for _, test := range tests {
		src, err := hex.DecodeString(strings.ReplaceAll(test.stream, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		got, bad := decode(t, src, test.n), strings.HasPrefix(test.want, "!")
		if bad != (got == nil) || !bad && string(got) != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if !bytes.Equal(reference(src, test.n), got) {
			t.Errorf("%s: %q, reference %q", test.name, got, reference(src, test.n))
		}
	}
}

// randomTokens builds a stream of random tokens, so that all lengths and distances of copies occur. n is the size of
// the decoded stream in bytes.
func randomTokens(r *rand.Rand) (src []byte, n int) {
	literals := func() {
		k := 1 + r.Intn(32)
		src = append(src, byte(k-1))
		for range k {
			src = append(src, byte(r.Intn(256)))
		}
		n += k
	}
	literals()
	for range r.Intn(1 << r.Intn(9)) {
		if r.Intn(3) == 0 {
			literals()
			continue
		}
		length := 3 + r.Intn(1<<r.Intn(10))
		d := 1 + r.Intn(min(n, 1<<r.Intn(17), maxFar))
		buf := make([]byte, length/255+6)
		src = append(src, buf[:putMatch(buf, 0, length-2, d)]...)
		n += length
	}
	literals()
	if r.Intn(10) == 0 {
		src[r.Intn(len(src))] ^= 1 << r.Intn(8)
	}
	return src, n
}

func TestDecodeRandomTokens(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	valid := 0
	for range 3000 {
		src, n := randomTokens(r)
		want := reference(src, n)
		if got := decode(t, src, n); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
			t.Fatalf("%x to %d: differs from the reference", src, n)
		}
		// The result must not depend on the kernel.
		d := decoder{src: src, dst: make([]byte, n)}
		if ok := d.rest(math.MaxInt); ok != (want != nil) || ok && !bytes.Equal(d.dst, want) {
			t.Fatalf("%x to %d: differs from the reference without a kernel", src, n)
		}
		if want != nil {
			valid++
		}
	}
	if valid < 2000 {
		t.Errorf("only %d valid streams", valid)
	}
}

func TestEncodeRefuses(t *testing.T) {
	var e Encoder
	zeros := make([]byte, 1000)
	tests := []struct{ n, room, want int }{
		{15, 1000, 0}, {1000, 65, 0}, {0, 0, 0}, {1000, 66, 15}, {1000, 1000, 15},
	}
	for _, test := range tests {
		if got := e.Encode(make([]byte, test.room), zeros[:test.n], 5); got != test.want {
			t.Errorf("%d bytes into %d: %d, want %d", test.n, test.room, got, test.want)
		}
	}
}

func TestEncodeKnown(t *testing.T) {
	var e Encoder
	dst := make([]byte, 100)
	n := e.Encode(dst, make([]byte, 1000), 9)
	// 4 literals, a match of 9+255*3+219 at distance 4, 3 literals.
	if got, want := fmt.Sprintf("%x", dst[:n]), "2300000000e0ffffffdb0302000000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func FuzzDecode(f *testing.F) {
	var e Encoder
	for _, s := range []string{"", "a", strings.Repeat("abc", 100), strings.Repeat("\x00", 70000) + strings.Repeat("word ", 30)} {
		dst := make([]byte, len(s)+66)
		f.Add(dst[:e.Encode(dst, []byte(s), 9)], len(s))
	}
	f.Fuzz(func(t *testing.T, src []byte, n int) {
		n = max(0, min(n, 1<<17))
		want := reference(src, n)
		if got := decode(t, src, n); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
			t.Fatalf("%x to %d: differs from the reference", src, n)
		}
	})
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte("hello hello hello hello hello hello hello"), 100, 5)
	f.Add(bytes.Repeat([]byte("0123456789abcdefghijklm"), 1000), 70, 9)
	var e Encoder
	f.Fuzz(func(t *testing.T, src []byte, room, level int) {
		room, level = max(0, min(room, 1<<16)), 1+max(0, level)%9
		all := bytes.Repeat([]byte{0x5a}, room+40)
		n := e.Encode(all[:room], src, level)
		if string(all[room:]) != strings.Repeat("\x5a", 40) {
			t.Fatal("wrote outside")
		}
		if n > 0 && !bytes.Equal(reference(all[:n], len(src)), src) {
			t.Fatalf("%d bytes into %d at level %d: does not decode", len(src), room, level)
		}
	})
}
