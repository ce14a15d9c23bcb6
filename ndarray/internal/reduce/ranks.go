package reduce

import (
	"math"
	"slices"
	"unsafe"
)

// digit is the number of bits of a key that one pass over the items finds out.
const digit = 16

// maxPrefixes is the number of prefixes that a pass counts digits for. Each takes 512 KiB.
const maxPrefixes = 16

// Ranks finds the numbers at given positions of the sorted items, by radix selection: each number has a key, an
// unsigned integer of the same order. The first pass over the items counts the first 16 bits of all keys, NaN aside.
// From these counts follow the first bits of the wanted keys. Each further pass counts the next 16 bits of the keys
// that begin with them. See https://en.wikipedia.org/wiki/Radix_sort.
type Ranks struct {
	N      int64 // items that are not NaN
	NaNs   int64 // items that are NaN
	bits   int   // of a key
	wanted []wanted
}

// wanted is the state of the search for one number.
type wanted struct {
	rank  int64  // position among the keys that begin with prefix
	key   uint64 // known first bits of the key, followed by zeros
	known int    // their number
}

// NewRanks returns a search for numbers of size bytes. The first pass needs no positions.
func NewRanks(size int) *Ranks { return &Ranks{bits: 8 * size} }

// Pass is one pass over the items.
type Pass struct {
	r        *Ranks
	shift    int      // position of the digit in the key
	prefixes []uint64 // key >> shift >> digit, sorted
	counts   Counts
}

// First returns the pass over all items.
func (r *Ranks) First() *Pass { return &Pass{r: r, shift: max(0, r.bits-digit), prefixes: []uint64{0}} }

// Next returns another pass that the search needs, or nil. It is for the numbers of which least is known, so that each
// pass serves as many numbers as it can.
func (r *Ranks) Next() *Pass {
	shift := -1
	for _, w := range r.wanted {
		shift = max(shift, r.bits-w.known-digit)
	}
	if shift < 0 {
		return nil
	}
	p := &Pass{r: r, shift: shift}
	for _, w := range r.wanted {
		if r.bits-w.known-digit != shift {
			continue
		}
		prefix := prefixOf(w.key, shift)
		if i, ok := slices.BinarySearch(p.prefixes, prefix); !ok && len(p.prefixes) < maxPrefixes {
			p.prefixes = slices.Insert(p.prefixes, i, prefix)
		}
	}
	return p
}

// prefixOf returns the bits of a key before the digit at shift.
func prefixOf(key uint64, shift int) uint64 { return key >> shift >> digit }

// Keys returns the kernel of a pass: a count for each digit after each prefix, and the number of NaNs. It reduces all
// axes.
func Keys[T Real](p *Pass) Kernel[T, struct{}] {
	key := keyOf[T]()
	size := len(p.prefixes) << digit
	return tally(&p.counts, size+1, func(counts []int64, items []T, n int64) {
		for _, x := range items {
			if x != x {
				counts[size] += n
				continue
			}
			k := key(x)
			at := 0
			if prefix := prefixOf(k, p.shift); len(p.prefixes) > 1 || prefix != p.prefixes[0] {
				var ok bool
				if at, ok = slices.BinarySearch(p.prefixes, prefix); !ok {
					continue
				}
			}
			counts[at<<digit|int(k>>p.shift&(1<<digit-1))] += n
		}
	})
}

// Done ends a pass. After the first one, the search is for the positions that want returns.
func (p *Pass) Done(want func() []int64) {
	r, counts := p.r, p.counts.Sum()
	if counts == nil {
		return
	}
	if r.wanted == nil {
		last := len(counts) - 1
		r.NaNs = counts[last]
		for _, n := range counts[:last] {
			r.N += n
		}
		for _, rank := range want() {
			r.wanted = append(r.wanted, wanted{rank: rank})
		}
	}
	for i := range r.wanted {
		w := &r.wanted[i]
		known := r.bits - p.shift
		at, ok := slices.BinarySearch(p.prefixes, prefixOf(w.key, p.shift))
		if !ok || w.known >= known {
			continue
		}
		for d, n := range counts[at<<digit : (at+1)<<digit] {
			if w.rank < n {
				w.key |= uint64(d) << p.shift
				break
			}
			w.rank -= n
		}
		w.known = known
	}
}

// Number returns the number at the i-th of the wanted positions.
func Number[T Real](r *Ranks, i int) float64 { return numberOf[T]()(r.wanted[i].key) }

// keyOf returns the function from numbers to their keys. Keys of floats are their bits, all inverted for negative
// numbers, and otherwise only the sign.
func keyOf[T Real]() func(T) uint64 {
	var f any
	switch any(*new(T)).(type) {
	case int8:
		f = func(x int8) uint64 { return uint64(uint8(x) ^ 1<<7) }
	case int16:
		f = func(x int16) uint64 { return uint64(uint16(x) ^ 1<<15) }
	case int32:
		f = func(x int32) uint64 { return uint64(uint32(x) ^ 1<<31) }
	case int64:
		f = func(x int64) uint64 { return uint64(x) ^ 1<<63 }
	case float32:
		f = func(x float32) uint64 {
			b := math.Float32bits(x)
			return uint64(b ^ (uint32(int32(b)>>31) | 1<<31))
		}
	case float64:
		f = func(x float64) uint64 {
			b := math.Float64bits(x)
			return b ^ (uint64(int64(b)>>63) | 1<<63)
		}
	default:
		return func(x T) uint64 { return uint64(x) }
	}
	return f.(func(T) uint64)
}

// numberOf returns the function from keys to numbers.
func numberOf[T Real]() func(uint64) float64 {
	bits := 8 * int(unsafe.Sizeof(*new(T)))
	sign := uint64(1) << (bits - 1)
	switch any(*new(T)).(type) {
	case float32:
		return func(k uint64) float64 {
			if k&sign == 0 {
				return float64(math.Float32frombits(^uint32(k)))
			}
			return float64(math.Float32frombits(uint32(k ^ sign)))
		}
	case float64:
		return func(k uint64) float64 {
			if k&sign == 0 {
				return math.Float64frombits(^k)
			}
			return math.Float64frombits(k ^ sign)
		}
	case int8, int16, int32, int64:
		return func(k uint64) float64 { return float64(int64(k^sign) << (64 - bits) >> (64 - bits)) }
	}
	return func(k uint64) float64 { return float64(k) }
}

// Between returns the number at a fractional position t between a and b, as NumPy computes it.
func Between(a, b, t float64) float64 {
	if a == b {
		return a
	}
	d := b - a
	if t >= 0.5 {
		return b - float64(d*(1-t))
	}
	return a + float64(d*t)
}
