package deflate

// Symbols that represent repetitions: of the previous length, 3 to 6 times, and of zero, 3 to 10 and 11 to 138 times.
const (
	repeatLength = 16
	repeatZero   = 17
	repeatZeros  = 18
)

// description is the encoded form of the two codes of a block.
type description struct {
	symbols [numLiterals + numDistances]uint16 // symbols of the third code, and above bit 8 the number after them
	count   int
	freqs   [numLengths]uint16
	code    code
	numbers int // number of lengths of the third code to write
	cost    int // total number of bits
}

// order is the order in which the lengths of the third code are written.
var order = [numLengths]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// repeatMore is the number of bits after repetitions.
var repeatMore = [numLengths]uint8{repeatLength: 2, repeatZero: 3, repeatZeros: 7}

// describe makes the description of the block's codes.
func (b *block) describe() {
	d := &b.description
	d.count = 0
	clear(d.freqs[:])
	d.add(b.literals.lengths[:b.literals.last+1])
	d.add(b.distances.lengths[:b.distances.last+1])
	b.builder.build(&d.code, d.freqs[:], 7)
	d.numbers = numLengths
	for d.numbers > 4 && d.code.lengths[order[d.numbers-1]] == 0 {
		d.numbers--
	}
	d.cost = 5 + 5 + 4 + 3*d.numbers + d.code.cost(d.freqs[:])
	for symbol, n := range repeatMore {
		d.cost += int(d.freqs[symbol]) * int(n)
	}
}

// add adds the lengths of a code. It finds the same repetitions as the C library.
func (d *description) add(lengths []uint8) {
	before := -1
	for i := 0; i < len(lengths); {
		n := lengths[i]
		most, least := 7, 4
		if n == 0 {
			most, least = 138, 3
		} else if int(n) == before {
			most, least = 6, 3
		}
		run := 1
		for run < most && i+run < len(lengths) && lengths[i+run] == n {
			run++
		}
		i += run
		switch {
		case run < least:
			for range run {
				d.symbol(uint16(n), 0)
			}
		case n != 0:
			if int(n) != before {
				d.symbol(uint16(n), 0)
				run--
			}
			d.symbol(repeatLength, run-3)
		case run <= 10:
			d.symbol(repeatZero, run-3)
		default:
			d.symbol(repeatZeros, run-11)
		}
		before = int(n)
	}
}

func (d *description) symbol(symbol uint16, more int) {
	d.symbols[d.count] = symbol | uint16(more)<<8
	d.count++
	d.freqs[symbol]++
}

// writeDescription writes the description. There must be space.
func (b *block) writeDescription() {
	d := &b.description
	b.put(uint64(b.literals.last+1-257)|uint64(b.distances.last+1-1)<<5|uint64(d.numbers-4)<<10, 14)
	for _, symbol := range order[:d.numbers] {
		b.put(uint64(d.code.lengths[symbol]), 3)
	}
	for _, s := range d.symbols[:d.count] {
		symbol := s & 255
		n := uint(d.code.lengths[symbol])
		b.put(uint64(d.code.codes[symbol])|uint64(s>>8)<<n, n+uint(repeatMore[symbol]))
	}
}
