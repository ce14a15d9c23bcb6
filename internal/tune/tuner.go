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
	maxPiece  = 128 << 10
)

// Tuner chooses the parameters of chunks, one after the other. It is not safe for concurrent use.
type Tuner struct {
	goal     Goal
	typeSize int
	pool     *coder.Pool

	choice  coder.Params // of the last trials; Level is 0 before
	table   []Trial      // of the last trials
	write   float64      // time for encoding a byte with the choice
	ahead   int64        // bytes that are known to follow
	done    int64        // bytes of the chunks before
	next    int64        // bytes before the next trials
	spent   float64      // time of all trials
	earned  float64      // share of the time of all chunks
	started float64      // spent before the trials under way

	layout   *coder.Layout // of the last chunk
	out, ref []byte
	sample   sample
	rows     []Trial // of the round under way
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
	t.earned += share * t.write * float64(size)
	if l := t.layout; l != nil && l.NBytes == size && l.BlockLen(0) == min(blockSize, size) {
		return l, nil
	}
	p.BlockSize = blockSize
	l, err := p.Layout(size)
	t.layout = l
	return l, err
}

// Due reports whether the next chunk must be tried: the first one, and later ones when the chunks before have earned
// the time for the trials before. That is soon at first, and then every 16 MiB.
func (t *Tuner) Due(size int) bool {
	return size >= minSize && (!t.Chosen() || t.done >= t.next && t.earned >= t.spent)
}

// left returns the time that is left for the trials of a chunk of size bytes. The first trials borrow from half of the
// bytes that are known to follow.
func (t *Tuner) left(size int) float64 {
	best := t.best()
	write := best.Write
	if t.goal == Smallest { // which allows more time
		write = writeTime(deepest(best.Params), &best.m, true) / float64(best.Bytes)
	}
	if !t.Chosen() {
		return 0.9*share*write*float64(min(max(t.ahead/2, int64(size)), horizon)) - (t.spent - t.started)
	}
	return min(t.earned-t.spent, share*write*horizon)
}

// Try chooses the parameters of c and of the chunks after it, in rounds that try fewer candidates more thoroughly, as
// far as there is time. If samples of c have no information, there is no new choice.
func (t *Tuner) Try(c *Chunk) error {
	t.started, t.rows = t.spent, nil
	if err := c.sample(&t.sample, t.typeSize, minSample, minPiece); err != nil || t.sample.flat() {
		return err
	}
	if err := t.screen(); err != nil {
		return err
	}
	if err := t.refine(c.Size); err != nil {
		return err
	}
	first := t.rank()
	if err := t.confirm(c); err != nil {
		return err
	}
	t.settle(first)
	t.next = t.done + min(max(t.done, 2*int64(c.Size)), horizon)
	return nil
}

// screen tries all filters, and the present parameters.
func (t *Tuner) screen() error {
	p, next := t.goal.screens()
	for _, p.Filters = range pipelines(t.typeSize, t.goal) {
		if err := t.try(p); err != nil {
			return err
		}
	}
	if t.goal == Fastest {
		if err := t.try(coder.Params{Codec: codec.LZ4, Level: codec.NoCompression, Filters: []coder.Filter{}}); err != nil {
			return err
		}
	}
	if next.Level != 0 {
		const near = 1.5 // filters with which LZ4 needs more than this are no better with Zstd
		least := slices.MinFunc(t.rows, func(a, b Trial) int { return cmp.Compare(a.Stored, b.Stored) }).Stored
		for i, r := range t.rows {
			if i > 0 && float64(r.Stored) > near*float64(least) {
				continue
			}
			next.Filters = r.Params.Filters
			if err := t.try(next); err != nil {
				return err
			}
		}
	}
	if p := t.present(); p.Level != 0 && !t.tried(p) {
		return t.try(p)
	}
	return nil
}

// present returns the parameters that a better row replaces: the choice, or before that the defaults, in whose place
// Smallest and Fastest take the best row.
func (t *Tuner) present() coder.Params {
	if t.Chosen() || t.goal != Balanced {
		return t.choice
	}
	return t.defaults()
}

// defaults returns the default parameters.
func (t *Tuner) defaults() coder.Params {
	return coder.Params{Codec: codec.Zstd, Level: codec.DefaultLevel, Filters: pipelines(t.typeSize, t.goal)[0]}
}

// tried reports whether there is a row for parameters.
func (t *Tuner) tried(p coder.Params) bool {
	return slices.ContainsFunc(t.rows, func(r Trial) bool { return same(r.Params, p) })
}

// refine tries other levels with the best filters of each codec, as far as there is time.
func (t *Tuner) refine(size int) error {
	screened := t.rank()
	n, factor := t.goal.kept()
	for _, level := range t.goal.levels() {
		for _, r := range screened[:min(n, len(screened))] {
			p := r.Params
			if p.Level == codec.NoCompression || p.Codec != level.Codec || r.Cost > factor*screened[0].Cost || t.wholeShuffled(p, level.Level) {
				continue
			}
			p.Level = level.Level
			if t.tried(p) || writeTime(p, &r.m, false) > t.left(size) {
				continue
			}
			if err := t.try(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// finalists returns the candidates for the last round, the most promising first, and the time for encoding a byte with
// each of them.
func (t *Tuner) finalists() (list []coder.Params, times []float64) {
	ranked := t.rank()
	add := func(p coder.Params, r *Trial) {
		if !slices.ContainsFunc(list, func(q coder.Params) bool { return same(p, q) }) {
			list, times = append(list, p), append(times, writeTime(p, &r.m, true)/float64(r.Bytes))
		}
	}
	const most, near = 3, 1.15 // rows, and by which factor their cost may exceed the least
	for i := range ranked[:min(most, len(ranked))] {
		r := &ranked[i]
		if r.Cost > near*ranked[0].Cost {
			break
		}
		p := r.Params
		if slices.ContainsFunc(list, func(q coder.Params) bool { return q.Codec == p.Codec && slices.Equal(q.Filters, p.Filters) }) {
			continue // there was more time for the choice of a level
		}
		if t.goal == Smallest {
			p = deepest(p)
		}
		add(p, r)
		if i == 0 && t.goal == Balanced {
			add(t.defaults(), r)
		}
		for _, p.Split = range splits(p) {
			add(p, r)
		}
	}
	return list, times
}

// confirm tries the best rows again, with other splits, on larger samples: whole blocks unless they are large.
func (t *Tuner) confirm(c *Chunk) error {
	list, times := t.finalists()
	piece := min(c.BlockSize, maxPiece)
	left, all, n := t.left(c.Size), 0.0, 0
	for _, time := range times {
		if (all+time)*float64(piece) > left {
			break
		}
		all += time
		n++
	}
	if list = list[:n]; n < 2 {
		return nil
	}
	if err := c.sample(&t.sample, t.typeSize, min(int(left/all), maxSample), piece); err != nil {
		return err
	}
	t.rows = nil
	for _, p := range list {
		if err := t.try(p); err != nil {
			return err
		}
	}
	return nil
}

// wholeShuffled reports whether a level of Balanced does not split shuffled blocks. See splits.
func (t *Tuner) wholeShuffled(p coder.Params, level int) bool {
	return t.goal == Balanced && level > 5 && t.typeSize > 1 && len(p.Filters) > 0 && p.Filters[0] == coder.Shuffle
}

// best returns the row with the least cost.
func (t *Tuner) best() *Trial { return &t.rank()[0] }

// rank returns the rows of the round under way, by their cost.
func (t *Tuner) rank() []Trial {
	usual := t.rows[0].Read
	for _, r := range t.rows {
		if same(r.Params, t.defaults()) {
			usual = r.Read
		}
	}
	for i := range t.rows {
		r := &t.rows[i]
		r.Cost = t.goal.cost(r, usual)
	}
	ranked := slices.Clone(t.rows)
	slices.SortStableFunc(ranked, func(a, b Trial) int { return cmp.Compare(a.Cost, b.Cost) })
	return ranked
}

// deepest returns p at the highest level.
func deepest(p coder.Params) coder.Params {
	p.Level = 9
	return p
}

// settle takes the first row of the last round as the choice, unless the present parameters are as good. The choice of
// Smallest has level 9, whose time the trials may take a part of. first are the rows of the first rounds.
func (t *Tuner) settle(first []Trial) {
	table := t.rank()
	if t.goal == Smallest {
		deep := func(r Trial) bool { return r.Params.Level == 9 }
		if !slices.ContainsFunc(table, deep) { // there was no time to try it
			r := table[0]
			r.Params = deepest(r.Params)
			r.Write = writeTime(r.Params, &r.m, true) / float64(r.Bytes)
			table = slices.Insert(table, 0, r)
		}
		slices.SortStableFunc(table, func(a, b Trial) int { return cmp.Compare(b.Params.Level, a.Params.Level) })
	}
	confirmed := table[0].Bytes != first[0].Bytes
	gain := 0.99 // a change must cost at most this
	if t.Chosen() && !confirmed {
		gain = 0.9
	}
	at := slices.IndexFunc(table, func(r Trial) bool { return same(r.Params, t.present()) })
	if at > 0 && table[0].Cost > gain*table[at].Cost {
		row := table[at]
		table = slices.Insert(slices.Delete(table, at, at+1), 0, row)
	}
	t.write = table[0].Write
	if p := table[0].Params; !same(t.choice, p) {
		t.choice, t.layout = p, nil
	}
	if confirmed {
		table = append(table, first...)
	}
	t.table = table
}

// same reports whether parameters are equal.
func same(p, q coder.Params) bool {
	return p.Codec == q.Codec && p.Level == q.Level && p.Split == q.Split && slices.Equal(p.Filters, q.Filters)
}

// sample sets s to about n bytes of c, in pieces of about size bytes from all parts of the chunk.
func (c *Chunk) sample(s *sample, typeSize, n, size int) error {
	const unit = 8 // items, which bitshuffle needs
	size = min(size, c.BlockSize)
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
