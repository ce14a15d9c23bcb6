package zstdenc

import (
	"encoding/binary"
	"math"
	"math/rand"
	"slices"
	"testing"
)

// TestHuffmanCode builds codes for random counts: complete, not too long, prefix-free and not much worse than the
// entropy.
func TestHuffmanCode(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var h huffmanCode
	var s sorter
	for range 3000 {
		var count [256]uint32
		symbols := 2 + r.Intn(255)
		steep := r.Float64() * 3
		total := 0.0
		for i := range symbols {
			count[i] = 1 + uint32(math.Exp(steep*r.Float64()*3)*float64(r.Intn(20)))
			total += float64(count[i])
		}
		r.Shuffle(256, func(i, j int) { count[i], count[j] = count[j], count[i] })
		limit := uint(8 + r.Intn(4))
		h.build(&count, limit, &s)
		kraft, ideal := 0, 0.0
		owner := map[int]int{} // of the codes of longest bits
		for i, c := range count {
			n := h.length(i)
			if (n > 0) != (c > 0) || n > limit {
				t.Fatalf("count %d has %d bits, limit %d", c, n, limit)
			}
			if c == 0 {
				continue
			}
			ideal += float64(c) * math.Log2(total/float64(c))
			size := 1 << (h.longest - n)
			kraft += size
			for k := range size {
				owner[int(h.code[i]>>4)<<(h.longest-n)+k]++
			}
		}
		if kraft != 1<<h.longest || len(owner) != kraft {
			t.Fatalf("codes take %d of %d, %d of them once", kraft, 1<<h.longest, len(owner))
		}
		cost, ok := h.cost(&count)
		if !ok || limit == 11 && float64(cost) > ideal/8*1.1+total/8+1 {
			t.Fatalf("%d bytes, entropy %.0f", cost, ideal/8)
		}
	}
}

// TestDistribution shares states among random symbols.
func TestDistribution(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 5000 {
		count := make([]uint32, 2+r.Intn(maxCodes-1))
		total, highest := uint32(0), 0
		for total == 0 || count[highest] == total {
			total = 0
			for i := range count {
				count[i] = 0
				if r.Intn(3) > 0 {
					count[i] = uint32(r.Intn(1 << r.Intn(16)))
				}
				if total += count[i]; count[i] > 0 {
					highest = i
				}
			}
		}
		var d distribution
		d.normalize(count[:highest+1], total, statesLog(total, highest, maxStatesLog))
		sum := 0
		for i, p := range d.probs[:d.n] {
			if (p > 0) != (count[i] > 0) {
				t.Fatalf("count %d has %d states", count[i], p)
			}
			sum += int(p)
		}
		if sum != 1<<d.log || d.n != highest+1 {
			t.Fatalf("%d states of %d", sum, 1<<d.log)
		}
	}
}

// TestMachine checks the transitions backwards: the bits and the next state must determine the previous state.
func TestMachine(t *testing.T) {
	for which := range presets {
		c := &presets[which]
		size := uint32(1) << c.machine.log
		for s := range c.n {
			reached := map[uint32]uint32{} // the states before, by next state and bits
			for state := size; state < 2*size; state++ {
				tr := c.code[s]
				n := (state + tr.bits) >> 16
				next := uint32(c.next[int(state>>n)+int(tr.place)])
				key := next<<16 | state&(1<<n-1)<<4 | n
				if before, ok := reached[key]; ok {
					t.Fatalf("table %d, symbol %d: states %d and %d look the same", which, s, before, state)
				}
				reached[key] = state
			}
		}
	}
}

func TestMatchLength(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		b := make([]byte, 2+r.Intn(100))
		for i := range b {
			b[i] = byte(r.Intn(20) / 19)
		}
		at := 1 + r.Intn(len(b)-1)
		from := r.Intn(at)
		want := 0
		for at+want < len(b) && b[from+want] == b[at+want] {
			want++
		}
		if got := matchLength(b, from, at); got != want {
			t.Fatalf("%v from %d at %d: %d, want %d", b, from, at, got, want)
		}
	}
}

func TestEqualBytes(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 20000 {
		v, want := uint64(0), uint32(0)
		c := uint8(r.Intn(4)) * 0x55
		for i := range 8 {
			b := [5]uint8{0, 0x55, 0xaa, 0xff, c + 1}[r.Intn(5)]
			v |= uint64(b) << (8 * i)
			if b == c {
				want |= 1 << i
			}
		}
		if got := equalBytes(v, c); got != want {
			t.Fatalf("%#x, %#x: %b, want %b", v, c, got, want)
		}
	}
}

// TestTags checks that the tags of positions in rows differ even if some of the hashed bytes are always the same.
func TestTags(t *testing.T) {
	for level := 4; level <= 7; level++ {
		for _, size := range []int{1 << 10, 1 << 16, 1 << 18, 1 << 20} {
			e := NewEncoder(level)
			e.begin(numbers(size))
			e.params = e.first
			e.rows.prepare(e, size)
			var count [256]int
			for at := range size - 8 {
				count[uint8(e.rows.hash(at))]++
			}
			if most := slices.Max(count[:]); most > size/12 {
				t.Errorf("level %d: %d of %d positions have the same tag", level, most, size)
			}
		}
	}
}

// numbers returns consecutive numbers of 4 bytes.
func numbers(size int) []byte {
	b := make([]byte, size)
	for i := range size / 4 {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(i))
	}
	return b
}

// TestCodes compares the codes of lengths with the table of RFC 8878, section 3.1.1.3.2.1.1, by the first of each.
func TestCodes(t *testing.T) {
	first := uint32(0)
	for code, n := range literalBits[:36] {
		if last := first + 1<<n - 1; literalCode(first) != uint8(code) || literalCode(last) != uint8(code) {
			t.Errorf("%d to %d literals have codes %d, %d, want %d", first, last, literalCode(first), literalCode(last), code)
		}
		first += 1 << n
	}
	first = 0
	for code, n := range matchBits[:maxCodes] {
		if last := first + 1<<n - 1; matchCode(first) != uint8(code) || matchCode(last) != uint8(code) {
			t.Errorf("lengths %d to %d have codes %d, %d, want %d", first+3, last+3, matchCode(first), matchCode(last), code)
		}
		first += 1 << n
	}
}

func TestLog2(t *testing.T) {
	for _, x := range []uint32{1, 2, 3, 4, 5, 7, 8, 100, 255, 256, 257, 1000, 65535, 65536, 1 << 20, 1<<32 - 1} {
		if got, want := float64(log2(x))/oneBit, math.Log2(float64(x)); math.Abs(got-want) > 0.01 {
			t.Errorf("log2(%d) = %v, want %v", x, got, want)
		}
	}
}
