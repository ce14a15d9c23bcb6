package inflate

// Numbers of symbols.
const (
	maxLiterals  = 286 // literals, end of block, lengths
	maxDistances = 30
	endOfBlock   = 256
	maxBits      = 15 // of one code
)

// codeReader reads the description of two codes: the lengths of the codes of all symbols, run-length encoded with a
// third code. The lengths of the third code, 3 bits each, precede it in the order of the format.
type codeReader struct {
	lengths [maxLiterals + maxDistances]uint8
	table   [1 << orderBits]uint8 // code length of a symbol in the low 3 bits, and the symbol above
}

const orderBits = 7

// order holds the symbols of the third code in the order of their lengths.
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// readCodes reads the codes of a block and builds their tables.
func (d *Decoder) readCodes() error {
	v, err := d.bits(14)
	if err != nil {
		return err
	}
	literals, distances, n := int(v&31)+257, int(v>>5&31)+1, int(v>>10)+4
	if literals > maxLiterals || distances > maxDistances {
		return errCode
	}
	var lengths [19]uint8
	for _, symbol := range order[:n] {
		v, err := d.bits(3)
		if err != nil {
			return err
		}
		lengths[symbol] = uint8(v)
	}
	c := &d.code
	if !c.makeTable(&lengths) {
		return errCode
	}
	all := c.lengths[:literals+distances]
	for i := 0; i < len(all); {
		if d.left < orderBits+7 {
			if !d.ahead() {
				return errInput
			}
			d.refill()
		}
		e := c.table[d.word&(1<<orderBits-1)]
		n := uint(e & 7)
		if n == 0 {
			return errCode
		}
		d.word >>= n
		d.left -= n
		symbol := e >> 3
		if symbol < 16 {
			all[i] = symbol
			i++
			continue
		}
		// A repetition of zero, or of the previous length.
		times, more, value := 3, uint(2), uint8(0)
		switch symbol {
		case 16:
			if i == 0 {
				return errCode
			}
			value = all[i-1]
		case 17:
			more = 3
		case 18:
			times, more = 11, 7
		}
		times += int(d.word & (1<<more - 1))
		d.word >>= more
		d.left -= more
		if times > len(all)-i {
			return errCode
		}
		for range times {
			all[i] = value
			i++
		}
	}
	if d.place() > d.end {
		return errInput
	}
	// Finding pairs takes time, so do it only if much input follows.
	if !d.tables.makeLiterals(all[:literals], d.end-d.in > 1<<10) || !d.tables.makeDistances(all[literals:]) {
		return errCode
	}
	return nil
}

// makeTable builds the table of the third code. Entries without a symbol are 0.
func (c *codeReader) makeTable(lengths *[19]uint8) bool {
	var s sorter
	if !s.sort(lengths[:]) {
		return false
	}
	clear(c.table[:])
	for s.next() {
		for i := s.code; i < len(c.table); i += 1 << s.bits {
			c.table[i] = uint8(s.symbol)<<3 | uint8(s.bits)
		}
	}
	return true
}
