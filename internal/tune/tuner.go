package tune

import (
	"cmp"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// share is the part of the time for writing that trials may take.
const share = 0.05

// minSize is the smallest size in bytes of a chunk with a choice of its own.
const minSize = 8 << 10

// horizon is the largest number of bytes that trials are for: after them, the data may have changed.
const horizon = 16 << 20

// Sizes of samples and of their pieces in bytes.
const (
	minSample = 24 << 10
	maxSample = 512 << 10
	minPiece  = 8 << 10
	maxPiece  = 64 << 10
)

// Tuner chooses the parameters of chunks, one after the other. It is not safe for concurrent use.
type Tuner struct {
	goal     Goal
	typeSize int
	pool     *coder.Pool

	choice  coder.Params // of the last trials; Level is 0 before
	table   []Trial      // of the last trials
	ahead   int64        // bytes that are known to follow
	done    int64        // bytes of the chunks before
	spent   float64      // time of all trials
	earned  float64      // share of the time of all chunks
	least   float64      // time of trials with the smallest samples
	started float64      // spent before the trials under way
	usual   float64      // time for decoding a byte of the sample with the default parameters; 0 is unknown

	layout   *coder.Layout // of the last chunk
	out, ref []byte
	sample   sample
}

// New returns a Tuner for items of a size.
func New(g Goal, typeSize int) *Tuner {
	return &Tuner{goal: g, typeSize: max(typeSize, 1), pool: coder.NewPool(&coder.Options{Concurrency: 1, MaxBytes: -1})}
}

// Chunk is a chunk whose parameters are to be chosen.
type Chunk struct {
	Size      int // in bytes
	BlockSize int // in bytes
	// Plain returns block k before encoding, and may reuse its memory.
	Plain func(k int) ([]byte, error)
}

// Expect announces n bytes in the next chunks. Trials are more thorough the more bytes they are for.
func (t *Tuner) Expect(n int64) { t.ahead = n }

// Chosen reports whether there is a choice.
func (t *Tuner) Chosen() bool { return t.choice.Level != 0 }

// Params returns the parameters for the next chunk, without a block size: the choice, or before that the defaults.
func (t *Tuner) Params() coder.Params {
	if !t.Chosen() {
		return coder.Params{TypeSize: t.typeSize}
	}
	return t.choice
}

// Table returns the rows of the last trials, the best first.
func (t *Tuner) Table() []Trial { return t.table }

// Layout returns the layout of the next chunk, after Try if it is due.
func (t *Tuner) Layout(size, blockSize int) (*coder.Layout, error) {
	p := t.Params()
	t.done += int64(size)
	t.ahead = max(t.ahead-int64(size), 0)
	t.earned += share * writeTime(t.full(p)) * float64(size)
	if l := t.layout; l != nil && l.NBytes() == size && l.BlockLen(0) == min(blockSize, size) {
		return l, nil
	}
	p.BlockSize = blockSize
	l, err := p.Layout(size)
	t.layout = l
	return l, err
}

// full returns p with the defaults filled in that the cost depends on.
func (t *Tuner) full(p coder.Params) coder.Params {
	p.Codec = cmp.Or(p.Codec, codec.Zstd)
	p.Level = cmp.Or(p.Level, codec.DefaultLevel)
	return p
}

// Due reports whether the next chunk must be tried: the first one, and later ones when the chunks before have earned
// the time for it. That is soon at first, and then every 16 MiB.
func (t *Tuner) Due(size int) bool {
	switch {
	case size < minSize:
		return false
	case !t.Chosen():
		return true
	}
	pause := max(2*int64(size), min(t.done/4, horizon))
	return t.earned-t.spent >= max(share*writeTime(t.choice)*float64(pause), t.least)
}

// left returns the time that is left for the trials of a chunk of size bytes if a byte takes write to encode. The first
// trials borrow from half of the bytes that are known to follow.
func (t *Tuner) left(size int, write float64) float64 {
	if !t.Chosen() {
		return 0.9*share*write*float64(min(max(t.ahead/2, int64(size)), horizon)) - (t.spent - t.started)
	}
	return min(t.earned-t.spent, share*write*horizon)
}

// Try chooses the parameters of c and of the chunks after it. If samples of c have no information, there is no new
// choice.
func (t *Tuner) Try(c *Chunk) error {
	t.started, t.usual = t.spent, 0
	list, with := pipelines(t.typeSize, t.goal), t.goal.screens()
	perByte := 0.0
	for _, p := range with {
		perByte += float64(len(list)) * writeTime(p)
	}
	write := writeTime(with[len(with)-1])
	if t.goal == Smallest { // which allows more time
		write = encodeTime(codec.Zstd, 9)
	}
	perByte *= t.goal.reserve()
	t.least = perByte * minSample
	n := min(max(int(t.left(c.Size, write)/perByte), minSample), maxSample)
	if err := c.sample(&t.sample, t.typeSize, n); err != nil || t.sample.flat() {
		return err
	}
	var table []Trial
	for _, filters := range list {
		for _, p := range with {
			p.TypeSize, p.Filters = t.typeSize, filters
			r, err := t.try(p, &t.sample)
			if err != nil {
				return err
			}
			table = append(table, r)
		}
	}
	if t.goal == Fastest {
		r, err := t.try(coder.Params{TypeSize: t.typeSize, Codec: codec.LZ4, Level: codec.NoCompression, Filters: []coder.Filter{}}, &t.sample)
		if err != nil {
			return err
		}
		table = append(table, r)
	}
	if err := t.refine(c, &table); err != nil {
		return err
	}
	t.settle(table)
	return nil
}

// refine adds rows to a table: other levels with the best filters of each codec, and other splits of the best row, as
// far as there is time. The time grows with the time for encoding of the best row.
func (t *Tuner) refine(c *Chunk, table *[]Trial) error {
	try := func(p coder.Params) error {
		best := slices.MinFunc(*table, byCost)
		write := writeTime(best.Params)
		if t.goal == Smallest {
			write = encodeTime(codec.Zstd, 9)
		}
		if slices.ContainsFunc(*table, func(r Trial) bool { return same(r.Params, p) }) || writeTime(p)*float64(t.sample.len()) > t.left(c.Size, write) {
			return nil
		}
		r, err := t.try(p, &t.sample)
		*table = append(*table, r)
		return err
	}
	screened := slices.Clone(*table)
	slices.SortStableFunc(screened, byCost)
	if t.Chosen() {
		if err := try(t.choice); err != nil {
			return err
		}
	}
	n, factor := t.goal.kept()
	for _, level := range t.goal.levels() {
		for _, r := range screened[:min(n, len(screened))] {
			p := r.Params
			if p.Level == codec.NoCompression || p.Codec != level.Codec || r.Cost > factor*screened[0].Cost || t.wholeShuffled(p, level.Level) {
				continue
			}
			p.Level = level.Level
			if err := try(p); err != nil {
				return err
			}
		}
	}
	p := slices.MinFunc(*table, byCost).Params
	for _, p.Split = range splits(p, t.goal) {
		if err := try(p); err != nil {
			return err
		}
	}
	return nil
}

// wholeShuffled reports whether a level of Balanced does not split shuffled blocks. See splits.
func (t *Tuner) wholeShuffled(p coder.Params, level int) bool {
	return t.goal == Balanced && level > 5 && t.typeSize > 1 && len(p.Filters) > 0 && p.Filters[0] == coder.Shuffle
}

// byCost compares rows by their cost.
func byCost(a, b Trial) int { return cmp.Compare(a.Cost, b.Cost) }

// settle takes the first row as the choice, unless the previous choice is as good. The choice of Smallest has level 9,
// whose time the trials may take a part of.
func (t *Tuner) settle(table []Trial) {
	slices.SortStableFunc(table, byCost)
	if t.goal == Smallest {
		deep := func(r Trial) bool { return r.Params.Level == 9 }
		if !slices.ContainsFunc(table, deep) { // there was no time to try it
			r := table[0]
			r.Params.Level, r.Write = 9, r.Write-encodeTime(r.Params.Codec, r.Params.Level)+encodeTime(r.Params.Codec, 9)
			table = slices.Insert(table, 0, r)
		}
		slices.SortStableFunc(table, func(a, b Trial) int { return cmp.Compare(b.Params.Level, a.Params.Level) })
	}
	const gain = 0.99 // a change must cost at most this
	at := slices.IndexFunc(table, func(r Trial) bool { return same(r.Params, t.choice) })
	if at > 0 && table[0].Cost > gain*table[at].Cost {
		row := table[at]
		table = slices.Insert(slices.Delete(table, at, at+1), 0, row)
	}
	if t.table = table; !same(t.choice, table[0].Params) {
		t.choice, t.layout = table[0].Params, nil
	}
}

// same reports whether parameters are equal.
func same(p, q coder.Params) bool {
	return p.Codec == q.Codec && p.Level == q.Level && p.Split == q.Split && slices.Equal(p.Filters, q.Filters)
}

// sample sets s to about n bytes of c, in pieces of equal length from all parts of the chunk.
func (c *Chunk) sample(s *sample, typeSize, n int) error {
	const unit, pieces = 8, 4 // items, which bitshuffle needs; least number of pieces
	size := min(max(n/pieces, minPiece), maxPiece, c.BlockSize)
	if u := unit * typeSize; size > u {
		size -= size % u
	} else {
		size = min(max(size, typeSize), c.BlockSize)
	}
	blocks := c.Size / c.BlockSize // without a short one
	if blocks == 0 {
		blocks, size = 1, min(size, c.Size)
	}
	perBlock := max(c.BlockSize/size, 1)
	count := min(max(n/size, 1), blocks*perBlock)
	s.size, s.part = size, float64(size)/float64(c.BlockSize)
	s.pieces = slices.Grow(s.pieces[:0], count)[:count]
	for i := range s.pieces {
		// Spread the pieces over the chunk. Regular distances could select the same part of each row of blocks.
		total := blocks * perBlock
		at := i*total/count + int(uint32(i+1)*2654435761>>16)%(total/count)
		k, part := at/perBlock, at%perBlock
		b, err := c.Plain(k)
		if err != nil {
			return err
		}
		part = min(part*size, len(b)-size)
		s.pieces[i] = append(s.pieces[i][:0], b[part:part+size]...)
	}
	return nil
}
