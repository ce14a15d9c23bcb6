package ndlz

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
)

// random is the xorshift64* generator.
type random uint64

func (r *random) below(n int) int {
	x := uint64(*r)
	x ^= x >> 12
	x ^= x << 25
	x ^= x >> 27
	*r = random(x)
	return int(x * 0x2545f4914f6cdd1d >> 33 % uint64(n))
}

// blockKinds names the contents that makeBlock makes.
var blockKinds = []string{"tiles4", "tiles8", "rows", "sparse", "ramp", "noise", "flat"}

// makeBlock makes a block; the golden digests name blocks by kind and seed, so it must never change.
func makeBlock(kind string, rows, cols, seed int) []byte {
	r := random(seed*7919 + 12345)
	b := make([]byte, rows*cols)
	var bank [12][64]byte
	for i := range bank {
		for j := range bank[i] {
			bank[i][j] = byte(r.below(5) * 50)
		}
	}
	for i := range b {
		y, x := i/cols, i%cols
		switch kind {
		case "tiles4":
			b[i] = bank[(x/4*7+y/4*(y+x)/5)%len(bank)][y%4*4+x%4]
		case "tiles8":
			b[i] = bank[(x/8*5+y/8*y/3)%len(bank)][y%8*8+x%8]
		case "rows": // rows of four or eight bytes are repeated at other positions
			b[i] = bank[(x/8+y*y/7)%len(bank)][(y*3+x/8)%8*8+x%8]
		case "sparse":
			if r.below(40) == 0 {
				b[i] = byte(r.below(256))
			}
		case "ramp":
			b[i] = byte(x + y/3)
		case "noise":
			b[i] = byte(r.below(256))
		case "flat":
			b[i] = byte(1 + x/32 + y/16)
		default:
			panic("no block of kind " + kind)
		}
		if kind != "noise" && r.below(90) == 0 {
			b[i] = byte(r.below(256))
		}
	}
	return b
}

// shapes are blocks with whole and with clipped cells.
var shapes = [][2]int{{8, 8}, {9, 8}, {8, 15}, {16, 16}, {31, 33}, {40, 64}, {64, 41}, {120, 130}, {7, 300}, {256, 240}}

// digest returns the number of streams for blocks of a shape, and a hash of all of them. The room for a stream is 8
// bytes less than its block, as in a chunk of one block.
func digest(rows, cols int, encode func(src []byte, room int) []byte) string {
	h := sha256.New()
	streams := 0
	for i, kind := range blockKinds {
		for seed := range 4 {
			src := makeBlock(kind, rows, cols, i*10+seed)
			if same(src) {
				continue // stored as a special chunk, without a codec
			}
			out := encode(src, rows*cols-8)
			var n [4]byte
			binary.LittleEndian.PutUint32(n[:], uint32(len(out)))
			h.Write(n[:])
			h.Write(out)
			if len(out) > 0 {
				streams++
			}
		}
	}
	return fmt.Sprintf("%d %s", streams, hex.EncodeToString(h.Sum(nil)[:8]))
}

// TestSameStreams compares streams with digests of the streams of C-Blosc2, and decodes them.
func TestSameStreams(t *testing.T) {
	file, err := os.Open("testdata/digests.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	want := map[string]string{}
	for s := bufio.NewScanner(file); s.Scan(); {
		if name, sum, ok := strings.Cut(s.Text(), ": "); ok && name[0] != '#' {
			want[name] = sum
		}
	}
	var e Encoder
	n := 0
	for _, shape := range shapes {
		for _, edge := range []int{4, 8} {
			rows, cols := shape[0], shape[1]
			got := digest(rows, cols, func(src []byte, room int) []byte {
				dst := make([]byte, room)
				out := dst[:e.Encode(dst, src, edge, rows, cols)]
				if len(out) > 0 {
					checkDecode(t, out, src, edge)
				}
				return out
			})
			name := fmt.Sprintf("%d %dx%d", edge, rows, cols)
			if got != want[name] {
				t.Errorf("%s: %s, want %s", name, got, want[name])
			}
			n++
		}
	}
	if n != len(want) {
		t.Errorf("%d digests for %d cases", len(want), n)
	}
}

// checkDecode decodes a stream with Decode and with the naive decoder.
func checkDecode(t *testing.T, stream, want []byte, edge int) {
	t.Helper()
	got := make([]byte, len(want))
	if err := Decode(got, stream, edge); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("stream of %d bytes does not decode: %v", len(stream), err)
	}
	if got := naive(t, stream, edge); !bytes.Equal(got, want) {
		t.Fatal("the naive decoder differs")
	}
}

// naive decodes a valid stream with the table of tokens. It fails the test for offsets that the decoder of C-Blosc2
// misreads: for rows of cells of edge 4, it adds the length of token and offsets to the offset in 16 bits.
func naive(t *testing.T, src []byte, edge int) []byte {
	rows, cols := int(binary.LittleEndian.Uint32(src[1:])), int(binary.LittleEndian.Uint32(src[5:]))
	out := make([]byte, rows*cols)
	pos := 9
	for y := 0; y < rows; y += edge {
		for x := 0; x < cols; x += edge {
			h, w := min(edge, rows-y), min(edge, cols-x)
			start, token := pos, src[pos]
			pos++
			take := func(n int) []byte { pos += n; return src[pos-n : pos] }
			offset := func() []byte {
				n := int(binary.LittleEndian.Uint16(take(2)))
				if edge == 4 && token != 0xc0 && (n > 65532 || token < 0x40 && n > 65530) {
					t.Errorf("token %#x with offset %d", token, n)
				}
				return src[start-n:]
			}
			set := func(r int, from []byte) { copy(out[(y+r)*cols+x:][:w], from) }
			rest := func(from []byte, copied ...int) { // the rows that were not copied
				i := 0
				for r := range edge {
					if !bytes.ContainsRune([]byte(fmt.Sprint(copied)), rune('0'+r)) {
						set(r, from[i*edge:])
						i++
					}
				}
			}
			some := func(copied ...int) {
				from := offset()
				for i, r := range copied {
					set(r, from[i*edge:])
				}
				rest(take(edge*(edge-len(copied))), copied...)
			}
			pairs := func(a, b int) {
				from := offset()
				set(a, from)
				set(b, from[edge:])
				rest(offset(), a, b)
			}
			switch {
			case token == 0:
				for r := range h {
					set(r, take(w))
				}
			case token == 0x40:
				all := bytes.Repeat(take(1), w)
				for r := range h {
					set(r, all)
				}
			case token == 0xc0:
				from := offset()
				for r := range h {
					set(r, from[r*w:])
				}
			case edge == 8 && token >= 0xa8:
				r := int(token & 7)
				some(r, r+1, r+2)
			case edge == 8:
				r := int(token & 7)
				some(r, r+1)
			case token == 0xe0:
				some(1, 2, 3)
			case token == 0xe8:
				some(0, 1, 2)
			case token == 0xf0:
				some(0, 1, 3)
			case token == 0xf8:
				some(0, 2, 3)
			case token == 0x80:
				some(2, 3)
			case token == 0x88:
				some(0, 1)
			case token == 0x90:
				some(0, 2)
			case token == 0x98:
				some(0, 3)
			case token == 0xb0:
				some(1, 2)
			case token == 0xb8:
				some(1, 3)
			case token == 0x28:
				pairs(0, 1)
			case token == 0x30:
				pairs(0, 2)
			case token == 0x38:
				pairs(0, 3)
			default:
				panic("token")
			}
		}
	}
	return out
}

// TestTokens decodes each token, valid or not, after an uncompressed cell, with offsets from zero to too large ones.
func TestTokens(t *testing.T) {
	for _, edge := range []int{4, 8} {
		size := edge * edge
		valid := map[byte]int{0: size, 0x40: 1, 0xc0: 2} // token: length of the payload
		if edge == 4 {
			for _, token := range []byte{0xe0, 0xe8, 0xf0, 0xf8} {
				valid[token] = 6
			}
			for _, token := range []byte{0x80, 0x88, 0x90, 0x98, 0xb0, 0xb8} {
				valid[token] = 10
			}
			for _, token := range []byte{0x28, 0x30, 0x38} {
				valid[token] = 4
			}
		} else {
			for r := range byte(7) {
				valid[0x88|r] = 50
				if r < 6 {
					valid[0xa8|r] = 42
				}
			}
		}
		for token := range 256 {
			for _, offset := range []int{0, 1, 7, 8, 11, 12, 15, 16, 17, 24, size - 1, size, size + 1, size + 2, size + 10, 65535} {
				n, ok := valid[byte(token)]
				if !ok {
					n = 60
				}
				stream := []byte{2, byte(edge), 0, 0, 0, byte(2 * edge), 0, 0, 0, 0}
				for i := range size {
					stream = append(stream, byte(i*37))
				}
				start := len(stream)
				stream = append(stream, byte(token))
				payload := make([]byte, n)
				for i := range payload {
					payload[i] = byte(200 + i)
				}
				need := 0
				if n > 1 && token != 0 {
					binary.LittleEndian.PutUint16(payload, uint16(offset))
					if n == 4 {
						binary.LittleEndian.PutUint16(payload[2:], uint16(offset))
					}
					switch {
					case token == 0xc0:
						need = size
					case edge == 4 && token >= 0xe0:
						need = 12
					case edge == 4:
						need = 8
					case token >= 0xa8:
						need = 24
					default:
						need = 16
					}
				}
				stream = append(stream, payload...)
				ok = ok && (need == 0 || offset >= need && start-offset >= 9)
				dst := make([]byte, 2*size)
				err := Decode(dst, stream, edge)
				if ok != (err == nil) {
					t.Errorf("edge %d, token %#x, offset %d: %v", edge, token, offset, err)
				}
				if err == nil && !bytes.Equal(dst, naive(t, stream, edge)) {
					t.Errorf("edge %d, token %#x, offset %d: other content", edge, token, offset)
				}
				for k := range stream {
					if ok && Decode(dst, stream[:k], edge) == nil {
						t.Errorf("edge %d, token %#x: %d of %d bytes decode", edge, token, k, len(stream))
					}
				}
				if ok && !errors.Is(Decode(dst, append(stream, 0), edge), ErrLong) {
					t.Errorf("edge %d, token %#x: one more byte", edge, token)
				}
			}
		}
	}
}

// TestHeaders decodes blocks of shapes that do not fit their size.
func TestHeaders(t *testing.T) {
	cell := append([]byte{0}, make([]byte, 16)...)
	for _, test := range []struct {
		dims       byte
		rows, cols uint32
		n          int
		ok         bool
	}{
		{2, 4, 4, 16, true}, {2, 2, 8, 16, false}, {1, 4, 4, 16, false}, {3, 4, 4, 16, false}, {2, 4, 4, 15, false},
		{2, 4, 4, 17, false}, {2, 0, 4, 0, false}, {2, 1 << 31, 1, 16, false}, {2, 1<<32 - 4, 1<<32 - 4, 16, false},
		{2, 1 << 16, 1 << 16, 0, false}, {2, 1 << 30, 1 << 30, 16, false}, {2, 16, 1, 16, false},
	} {
		stream := []byte{test.dims}
		stream = binary.LittleEndian.AppendUint32(stream, test.rows)
		stream = binary.LittleEndian.AppendUint32(stream, test.cols)
		if err := Decode(make([]byte, test.n), append(stream, cell...), 4); (err == nil) != test.ok {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// TestFarReferences encodes cells that equal others, or some of their rows, as far back as offsets reach.
func TestFarReferences(t *testing.T) {
	var e Encoder
	for _, edge := range []int{4, 8} {
		size := edge * edge
		r := random(edge)
		noise := func() []byte {
			b := make([]byte, size)
			for i := range b {
				b[i] = byte(r.below(256))
			}
			return b
		}
		first, second := noise(), noise()
		mixed := append(bytes.Clone(first[:size/2]), second[size/2:]...) // rows of the two
		ends := map[string][][]byte{"cell": {first}, "rows of two": {mixed}}
		for row := range edge {
			altered := bytes.Clone(first)
			altered[row*edge] ^= 1
			ends[fmt.Sprint("but row ", row)] = [][]byte{altered}
		}
		for name, end := range ends {
			least := [2]int{1 << 30, 1 << 30} // the shortest streams with and without a copy
			for i := range 50 {
				if testing.Short() && i%10 != 5 {
					continue
				}
				apart := 65505 + i // bytes from the token of the first cell to the token of the last cell
				far := i / 40
				if far == 1 {
					apart += 200
				}
				distance := apart - 2*(size+1)
				var cells [][]byte
				for i := range 1000 { // cells that compress well
					cells = append(cells, bytes.Repeat([]byte{byte(i)}, size))
				}
				cells = append(cells, first, second)
				n := 65000 / (size + 1)
				n -= (n ^ distance) & 1 // uncompressed cells take an odd number of bytes, flat cells two
				for range n {
					cells = append(cells, noise())
				}
				for range (distance - n*(size+1)) / 2 {
					cells = append(cells, bytes.Repeat([]byte{9}, size))
				}
				cells = append(cells, end...)
				cols := edge * len(cells)
				src := make([]byte, edge*cols)
				for i, c := range cells {
					for y := range edge {
						copy(src[y*cols+i*edge:], c[y*edge:][:edge])
					}
				}
				dst := make([]byte, 2*len(src))
				dst = dst[:e.Encode(dst, src, edge, edge, cols)]
				checkDecode(t, dst, src, edge)
				// The stream up to the last cell is as long as planned.
				last := len(dst) - (headerSize + 2000 + 2*(size+1) + distance)
				least[far] = min(least[far], last)
			}
			if least[0] > size-2 || least[1] != size+1 {
				t.Errorf("edge %d, %s: %d bytes at least where it is near, and %d where it is far", edge, name, least[0], least[1])
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	var e Encoder
	for i, kind := range blockKinds {
		src := makeBlock(kind, 16, 20, i)
		dst := make([]byte, len(src))
		f.Add(dst[:e.Encode(dst, src, 4+i%2*4, 16, 20)], 320, i%2 == 1)
	}
	f.Fuzz(func(t *testing.T, stream []byte, n int, eight bool) {
		edge := 4
		if eight {
			edge = 8
		}
		dst := make([]byte, max(0, min(n, 1<<16)))
		if Decode(dst, stream, edge) == nil && !bytes.Equal(dst, naive(t, stream, edge)) {
			t.Fatal("the naive decoder differs")
		}
	})
}
