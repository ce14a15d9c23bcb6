package zstd

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand"
	"slices"

	"github.com/goblosc/blosc2/codec/internal/mutant"
	"github.com/goblosc/blosc2/codec/internal/trial"
)

// frameFormat is Zstandard as a mutant.Format. It writes one frame of blocks with literals and tables of all kinds,
// which it makes once.
type frameFormat struct {
	dict     []byte // content, or nil
	codes    []huffmanCode
	machines [3][]*stateMachine // the first one is the preset

	// What Prepare decides.
	blocks  []blockPlan
	values  []int  // of offsets, by sequence
	content []byte // memory for literals
	window  int
	mutate  bool

	frame    []byte
	literals frameWriter // with the Huffman code of the previous block
	tables   [3]*stateMachine
	same     [3]int // the symbol of a table of one symbol, or -1
}

type huffmanCode struct {
	*huffman
	description []byte
}

// blockPlan is a block: the sequences up to end, without the first literals that the block before has, and then the
// first literals of the next sequence.
type blockPlan struct {
	end, extra int
	code       *huffmanCode
}

// stateMachine is a machine with its states by symbol.
type stateMachine struct {
	*machine
	description []byte
	first       [][]int      // states of a symbol
	previous    [][]stateBit // of a symbol, by the next state
}

// stateBit is a state and the bits that lead from it to the next.
type stateBit struct {
	state, n int
	bits     uint64
}

func newStateMachine(m *machine) *stateMachine {
	s := &stateMachine{machine: m, description: m.description()}
	s.first, s.previous = make([][]int, len(m.probs)), make([][]stateBit, len(m.probs))
	for i := range s.previous {
		s.previous[i] = make([]stateBit, len(m.rows))
	}
	for i, row := range m.rows {
		s.first[row.symbol] = append(s.first[row.symbol], i)
		for k := range 1 << row.bits {
			s.previous[row.symbol][row.base+k] = stateBit{i, row.bits, uint64(k)}
		}
	}
	return s
}

func newFrameFormat(dict []byte) *frameFormat {
	r := rand.New(rand.NewSource(1))
	f := &frameFormat{dict: dict, literals: frameWriter{r: r}}
	for len(f.codes) < 40 {
		h := randomHuffman(r)
		if b := h.description(r); b != nil {
			f.codes = append(f.codes, huffmanCode{h, b})
		}
	}
	for i := range f.machines {
		f.machines[i] = []*stateMachine{newStateMachine(presets[i])}
		for range 8 {
			needed := make([]bool, len(presets[i].probs))
			for s := range needed {
				needed[s] = true
			}
			m := randomMachine(r, needed, codings[i].maxLog)
			f.machines[i] = append(f.machines[i], newStateMachine(m))
		}
	}
	return f
}

// Valid returns sequences for some content.
func (f *frameFormat) Valid(r *rand.Rand, limit int) (seqs []mutant.Sequence, dict []byte) {
	content := trial.Input(r.Intn(len(trial.Kinds())), limit, r.Int63())
	seqs = mutant.Find(content, mutant.Rules{MinLength: 3, MaxLength: 1 << 16, MaxDistance: 1 << 17})
	if r.Intn(3) == 0 {
		return seqs, f.dict
	}
	return seqs, nil
}

// Prepare divides sequences into blocks, takes literals of the code of each, and chooses how offsets are written.
func (f *frameFormat) Prepare(r *rand.Rand, seqs []mutant.Sequence, valid bool) (window int) {
	f.divide(r, seqs)
	f.replace(seqs)
	f.mutate = !valid
	f.values = f.values[:0]
	repeats := [3]int{1, 4, 8}
	block := 0
	for i := range seqs[:len(seqs)-1] {
		s := &seqs[i]
		literals := len(s.Literals)
		if i > 0 && i == f.blocks[block].end {
			literals -= f.blocks[block].extra
			block++
		}
		f.values = append(f.values, f.value(r, &repeats, literals, s, valid || 2*i < len(seqs)))
	}
	total := mutant.Total(seqs)
	switch {
	case r.Intn(2) == 0:
		f.window = 0 // the size of the content
		return math.MaxInt
	case valid || total < 1<<11 || r.Intn(3) > 0:
		f.window = max(minWindow, 1<<bits.Len(uint(total)))
	default:
		f.window = 1 << (bits.Len(uint(total)) - 1)
	}
	return f.window
}

// divide decides where blocks end. The last one begins in the second half.
func (f *frameFormat) divide(r *rand.Rand, seqs []mutant.Sequence) {
	last := len(seqs) - 1
	var ends []int
	if last >= 2 && r.Intn(4) > 0 {
		ends = append(ends, last/2+r.Intn((last+1)/2))
		for range r.Intn(3) {
			ends = append(ends, 1+r.Intn(ends[0]))
		}
		slices.Sort(ends)
		ends = slices.Compact(ends)
	}
	f.blocks = f.blocks[:0]
	code := &f.codes[r.Intn(len(f.codes))]
	for _, end := range append(ends, last) {
		b := blockPlan{end: end, code: code}
		if end < last {
			b.extra = r.Intn(2) * r.Intn(len(seqs[end].Literals)+1)
		}
		f.blocks = append(f.blocks, b)
		if r.Intn(2) == 0 {
			code = &f.codes[r.Intn(len(f.codes))]
		}
	}
}

// replace makes all literals ones that the codes of their blocks have.
func (f *frameFormat) replace(seqs []mutant.Sequence) {
	f.content = f.content[:0]
	block, extra := 0, 0
	for i := range seqs {
		start := len(f.content)
		for k, c := range seqs[i].Literals {
			b := &f.blocks[block]
			if k < extra {
				b = &f.blocks[block-1]
			}
			f.content = append(f.content, b.code.symbols[int(c)%len(b.code.symbols)])
		}
		seqs[i].Literals = f.content[start:len(f.content):len(f.content)]
		if extra = 0; block < len(f.blocks)-1 && i+1 == f.blocks[block].end {
			extra = f.blocks[block].extra
			block++
		}
	}
}

// value returns how the offset of a sequence is written, and keeps the list of offsets. Unless careful is set, it
// sometimes repeats an offset whatever it is.
func (f *frameFormat) value(r *rand.Rand, repeats *[3]int, literals int, s *mutant.Sequence, careful bool) int {
	shift := 0
	if literals == 0 {
		shift = 1
	}
	list := [4]int{repeats[0], repeats[1], repeats[2], repeats[0] - 1}
	v, i := s.Distance+3, 3
	for k, d := range list[shift : shift+3] {
		if d == s.Distance && r.Intn(4) > 0 {
			v, i = k+1, k+shift
			break
		}
	}
	if !careful && r.Intn(48) == 0 {
		v = 1 + r.Intn(3)
		i = v - 1 + shift
		s.Distance = list[i]
	}
	if i > 1 {
		repeats[2] = repeats[1]
	}
	if i > 0 {
		repeats[1] = repeats[0]
	}
	repeats[0] = s.Distance
	return v
}

func (f *frameFormat) Write(r *rand.Rand, seqs []mutant.Sequence, content []byte, n int) (stream []byte, exact bool) {
	checksum := r.Intn(3) == 0
	f.header(r, n, checksum)
	limit := min(f.window, maxBlock)
	if f.window == 0 {
		limit = min(max(n, minWindow), maxBlock)
	}
	f.literals = frameWriter{r: r}
	f.tables, f.same = [3]*stateMachine{}, [3]int{-1, -1, -1}
	exact = true
	start, extra := 0, 0
	for i, b := range f.blocks {
		var block [3]int // where it starts, its sequences start, and its bits start
		block[0] = len(f.frame)
		f.frame = append(f.frame, 0, 0, 0)
		size := f.block(r, seqs, start, extra, b, &block)
		stored := len(f.frame) - block[0] - 3
		if stored > limit || size > limit {
			exact = false
		}
		head := stored<<3 | 2<<1
		if i == len(f.blocks)-1 {
			head |= 1
			if f.mutate && len(f.blocks) > 1 && r.Intn(12) == 0 {
				f.corrupt(r, block)
				exact = false
			}
		}
		f.frame[block[0]], f.frame[block[0]+1], f.frame[block[0]+2] = byte(head), byte(head>>8), byte(head>>16)
		start, extra = b.end, b.extra
	}
	if checksum {
		f.frame = binary.LittleEndian.AppendUint32(f.frame, uint32(xxhash64(content)))
	}
	return f.frame, exact
}

// header writes the header of a frame.
func (f *frameFormat) header(r *rand.Rand, n int, checksum bool) {
	f.frame = append(f.frame[:0], 0x28, 0xb5, 0x2f, 0xfd, 0)
	flags := byte(0)
	if checksum {
		flags |= 4
	}
	if f.window == 0 {
		flags |= 32
	} else {
		f.frame = append(f.frame, byte((bits.Len(uint(f.window))-11)<<3))
	}
	switch kind := r.Intn(4); {
	case kind == 0 && f.window > 0: // not told
	case kind <= 1 && n >= 256 && n < 256+1<<16:
		flags |= 1 << 6
		f.frame = binary.LittleEndian.AppendUint16(f.frame, uint16(n-256))
	case kind <= 2:
		flags |= 2 << 6
		f.frame = binary.LittleEndian.AppendUint32(f.frame, uint32(n))
	default:
		flags |= 3 << 6
		f.frame = binary.LittleEndian.AppendUint64(f.frame, uint64(n))
	}
	f.frame[4] = flags
}

// block writes a compressed block, whose first sequence is without its first skip literals. It returns the length of
// its content.
func (f *frameFormat) block(r *rand.Rand, seqs []mutant.Sequence, start, skip int, b blockPlan, marks *[3]int) (size int) {
	var literals []byte
	var all []sequence
	for i, s := range seqs[start:b.end] {
		p := s.Literals
		if i == 0 {
			p = p[skip:]
		}
		literals = append(literals, p...)
		all = append(all, sequence{len(p), f.values[start+i], s.Length})
		size += len(p) + s.Length
	}
	rest := seqs[b.end].Literals
	if b.end < len(seqs)-1 {
		rest = rest[:b.extra]
	} else if b.end == start {
		rest = rest[skip:]
	}
	literals = append(literals, rest...)
	size += len(rest)

	kind := rawLiterals
	switch r.Intn(4) {
	case 0:
		if len(literals) > 0 && len(slices.Compact(slices.Clone(literals))) == 1 {
			kind = sameLiterals
		}
	case 1, 2:
		if len(literals) > 0 {
			kind = huffmanLiterals
			if f.literals.huffman == b.code.huffman {
				kind = treelessLiterals
			}
		}
	}
	f.literals.r = r
	f.frame = append(f.frame, f.literals.literals(kind, literals, b.code.huffman, b.description(kind))...)
	marks[1] = len(f.frame)
	f.sequences(r, all, marks)
	return size
}

// description returns the description of the code that literals of a kind begin with.
func (b *blockPlan) description(kind int) []byte {
	if kind == huffmanLiterals {
		return b.code.description
	}
	return nil
}

// sequences writes what follows the literals of a block.
func (f *frameFormat) sequences(r *rand.Rand, seqs []sequence, marks *[3]int) {
	n := len(seqs)
	if n < 128 {
		f.frame = append(f.frame, byte(n))
	} else {
		f.frame = append(f.frame, byte(n>>8|128), byte(n))
	}
	if n == 0 {
		marks[2] = len(f.frame)
		return
	}
	modes := len(f.frame)
	f.frame = append(f.frame, 0)
	for i := range 3 {
		f.frame[modes] |= byte(f.table(r, i, seqs) << (6 - 2*i))
	}
	marks[2] = len(f.frame)
	w := bitWriter{b: f.frame}
	var states [3]int
	for k := n - 1; k >= 0; k-- {
		v := [3]int{seqs[k].literals, seqs[k].offset, seqs[k].match}
		var symbols, counts [3]int
		var more [3]uint64
		for i := range v {
			symbols[i], more[i], counts[i] = code(i, v[i])
		}
		for _, i := range [3]int{matchOffsets, matchLengths, literalLengths} {
			if m := f.tables[i]; m != nil && k == n-1 {
				states[i] = m.first[symbols[i]][r.Intn(len(m.first[symbols[i]]))]
			} else if m != nil {
				p := &m.previous[symbols[i]][states[i]]
				w.add(p.bits, p.n)
				states[i] = p.state
			}
		}
		for _, i := range [3]int{literalLengths, matchLengths, matchOffsets} {
			w.add(more[i], counts[i])
		}
	}
	for _, i := range [3]int{matchLengths, matchOffsets, literalLengths} {
		if m := f.tables[i]; m != nil {
			w.add(uint64(states[i]), m.log)
		}
	}
	f.frame = w.end()
}

// table chooses a table for sequences, writes its description and returns the mode.
func (f *frameFormat) table(r *rand.Rand, i int, seqs []sequence) (mode int) {
	first, single := -1, true
	for _, s := range seqs {
		symbol, _, _ := code(i, [3]int{s.literals, s.offset, s.match}[i])
		if first < 0 {
			first = symbol
		}
		single = single && symbol == first
	}
	repeat := f.tables[i] != nil || single && f.same[i] == first
	switch mode = r.Intn(4); {
	case mode == repeatMode && repeat:
		return mode
	case mode == sameMode && single:
		f.tables[i], f.same[i] = nil, first
		f.frame = append(f.frame, byte(first))
		return mode
	case mode == presetMode:
		f.tables[i], f.same[i] = f.machines[i][0], -1
		return mode
	}
	m := f.machines[i][1+r.Intn(len(f.machines[i])-1)]
	f.tables[i], f.same[i] = m, -1
	f.frame = append(f.frame, m.description...)
	return describedMode
}

// corrupt changes a field of the last block: the header of its literals or its Huffman code, the number of its
// sequences or its tables, the first bytes of its bits, or the last one.
func (f *frameFormat) corrupt(r *rand.Rand, marks [3]int) {
	at := [4]int{marks[0] + 3, marks[1], marks[2], len(f.frame) - 1}[r.Intn(4)]
	p := &f.frame[min(at+r.Intn(6), len(f.frame)-1)]
	switch r.Intn(3) {
	case 0:
		*p++
	case 1:
		*p--
	default:
		*p = byte(r.Intn(256))
	}
}
