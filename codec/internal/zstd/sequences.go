package zstd

import "errors"

var (
	errSequences = errors.New("invalid sequences")
	errTable     = errors.New("invalid table of sequences")
	errStates    = errors.New("table of sequences with too many states")
	errRepeat    = errors.New("no table of sequences to repeat")
	errZero      = errors.New("match at offset 0")
	errOffset    = errors.New("match before the start of the content")
)

// The three tables of sequences.
const (
	literalLengths = iota
	matchOffsets
	matchLengths
)

// maxOffsetCode is the largest code of an offset. The number of its bits is the code.
const maxOffsetCode = 31

// coding holds the constants of one of the tables.
type coding struct {
	codes  []entry
	maxLog int
	preset table // the machine that needs no description
}

// codings never change.
var codings = makeCodings()

func makeCodings() *[3]coding {
	c := &[3]coding{{maxLog: 9}, {maxLog: 8}, {maxLog: 9}}
	// Numbers of codes with the same number of bits. The values of a code follow those of the previous code.
	c[literalLengths].codes = makeCodes(0, []uint8{
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	})
	c[matchLengths].codes = makeCodes(3, []uint8{
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
	})
	for n := range maxOffsetCode + 1 {
		c[matchOffsets].codes = append(c[matchOffsets].codes, entry(1)<<(32+n)|entry(n))
	}
	for i, log := range [3]int{6, 5, 6} {
		var s scratch
		copy(s.probs[:], presetProbs[i])
		c[i].preset.build(&s, log, len(presetProbs[i]), c[i].codes)
	}
	return c
}

// presetProbs holds the numbers of states of the symbols of the preset machines. -1 is the last free state.
var presetProbs = [3][]int16{
	{
		4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1,
	},
	{1, 1, 1, 1, 1, 1, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1},
	{
		1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1,
	},
}

// makeCodes returns codes with the given numbers of bits. The first code has the value first.
func makeCodes(first uint32, bits []uint8) (codes []entry) {
	for i, n := range bits {
		if i > 0 {
			first += 1 << bits[i-1]
		}
		codes = append(codes, entry(first)<<32|entry(n))
	}
	return codes
}

// readCount reads the number of sequences at the start of src, and returns its length in bytes.
func readCount(src []byte) (count, n int, ok bool) {
	if len(src) == 0 {
		return 0, 0, false
	}
	count = int(src[0])
	switch {
	case count < 128:
		return count, 1, true
	case count < 255:
		if len(src) < 2 {
			return 0, 0, false
		}
		return (count-128)<<8 + int(src[1]), 2, true
	}
	if len(src) < 3 {
		return 0, 0, false
	}
	return int(src[1]) + int(src[2])<<8 + 0x7f00, 3, true
}

// The modes of a table.
const (
	presetMode = iota
	sameMode   // one symbol
	describedMode
	repeatMode // as in the last block with sequences
)

// readTables reads the modes of the three tables and the tables at the start of src, and returns their length in bytes.
func (d *Decoder) readTables(src []byte) (n int, err error) {
	if len(src) == 0 || src[0]&3 != 0 {
		return 0, errTable
	}
	modes := src[0]
	n = 1
	for i := range d.tables {
		c := &codings[i]
		switch modes >> (6 - 2*i) & 3 {
		case presetMode:
			d.tables[i] = &c.preset
		case sameMode:
			if n == len(src) || int(src[n]) >= len(c.codes) {
				return 0, errTable
			}
			d.tables[i] = &d.ownTables[i]
			d.tables[i].buildSame(c.codes[src[n]])
			n++
		case describedMode:
			d.tables[i] = &d.ownTables[i]
			used, err := d.readTable(d.tables[i], i, src[n:])
			if err != nil {
				return 0, err
			}
			n += used
		case repeatMode:
			if d.tables[i] == nil {
				return 0, errRepeat
			}
		}
	}
	return n, nil
}

// readTable makes t a machine for one of the three tables from the description at the start of src. It returns the
// length of the description in bytes.
func (d *Decoder) readTable(t *table, which int, src []byte) (int, error) {
	c := &codings[which]
	if len(src) > 0 && int(src[0]&15)+5 > c.maxLog {
		return 0, errStates
	}
	log, symbols, n, ok := d.readProbabilities(src, c.maxLog, len(c.codes)-1)
	if !ok {
		return 0, errTable
	}
	t.build(&d.scratch, log, symbols, c.codes)
	return n, nil
}
