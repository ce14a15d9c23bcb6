package tune

import (
	"cmp"
	"slices"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/coder"
)

// share is the part of the time for writing that trials may take.
const share = 0.1

// horizon is the largest number of bytes that pay for trials: after them, the data may have changed.
const horizon = 32 << 20

// Sizes of samples in bytes.
const (
	minPiece   = 8 << 10
	screenSize = 16 << 10  // of a piece for the screening
	maxScreen  = 128 << 10 // of all pieces
	maxPiece   = 256 << 10 // of a piece for the choice
	maxSample  = 2 << 20   // of all pieces
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

	layout    *coder.Layout // of the last chunk
	out, ref  []byte
	screening sample
	choosing  sample
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
// the time for it. That is soon at first, and then every 32 MiB.
func (t *Tuner) Due(size int) bool {
	switch {
	case size < minPiece:
		return false
	case !t.Chosen():
		return true
	}
	pause := max(2*int64(size), min(t.done/4, horizon))
	return t.earned-t.spent >= max(share*writeTime(t.choice)*float64(pause), t.least)
}

// left returns the time that is left for the trials of a chunk of size bytes if a byte takes write to encode. The first
// trials may borrow from half of the bytes that are known to follow.
func (t *Tuner) left(size int, write float64) float64 {
	if !t.Chosen() {
		return share*write*float64(min(max(t.ahead/2, int64(size)), horizon)) - (t.spent - t.started)
	}
	return min(t.earned-t.spent, share*write*horizon)
}

// Try chooses the parameters of c and of the chunks after it.
func (t *Tuner) Try(c *Chunk) error {
	t.started = t.spent
	best, err := t.screen(c)
	if err != nil || best == nil {
		return err
	}
	table, err := t.compare(c, best)
	if err != nil {
		return err
	}
	t.settle(table)
	return nil
}

// settle takes the first row as the choice, unless the previous choice is as good.
func (t *Tuner) settle(table []Trial) {
	slices.SortStableFunc(table, func(a, b Trial) int { return cmp.Compare(a.Cost, b.Cost) })
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

// screen returns the pipelines that are best on a small sample, the best first, with the least row of each. It returns
// nil if the sample has no information.
func (t *Tuner) screen(c *Chunk) ([]Trial, error) {
	list, with := pipelines(t.typeSize), t.goal.screens()
	perByte := 0.0
	cheapest := 0.0
	for _, p := range with {
		perByte += float64(len(list)) * writeTime(p)
		if w := writeTime(p); cheapest == 0 || w < cheapest {
			cheapest = w
		}
	}
	t.least = perByte * minPiece
	// A third of the time, if the cheapest codec wins.
	n := min(max(int(t.left(c.Size, cheapest)/3/perByte), minPiece), maxScreen)
	if err := c.sample(&t.screening, t.typeSize, screenSize, n); err != nil || t.screening.flat() {
		return nil, err
	}
	var best []Trial
	for _, filters := range list {
		if len(filters) > 0 && filters[0] == coder.Delta && len(t.screening.pieces) < 2 {
			continue
		}
		var least Trial
		for i, p := range with {
			p.TypeSize, p.Filters = t.typeSize, filters
			r, err := t.try(p, &t.screening)
			if err != nil {
				return nil, err
			}
			if i == 0 || r.Cost < least.Cost {
				least = r
			}
		}
		best = append(best, least)
	}
	slices.SortStableFunc(best, func(a, b Trial) int { return cmp.Compare(a.Cost, b.Cost) })
	n, factor := t.goal.kept()
	best = best[:min(n, len(best))]
	for len(best) > 1 && best[len(best)-1].Cost > factor*best[0].Cost {
		best = best[:len(best)-1]
	}
	return best, nil
}

// compare tries codecs with the best pipelines on a larger sample.
func (t *Tuner) compare(c *Chunk, best []Trial) ([]Trial, error) {
	var list []coder.Params
	for _, row := range best {
		for _, p := range t.goal.codecs() {
			p.TypeSize, p.Filters = t.typeSize, row.Params.Filters
			for _, p.Split = range splits(p) {
				list = append(list, p)
			}
		}
	}
	if t.Chosen() && !slices.ContainsFunc(list, func(p coder.Params) bool { return same(p, t.choice) }) {
		list = append(list, t.choice)
	}
	if t.goal == Fastest {
		list = append(list, coder.Params{TypeSize: t.typeSize, Codec: codec.LZ4, Level: codec.NoCompression, Filters: []coder.Filter{}})
	}
	perByte := 0.0
	for _, p := range list {
		perByte += writeTime(p)
	}
	t.least += perByte * minPiece
	write := writeTime(best[0].Params)
	if t.goal == Smallest {
		write = encodeTime(codec.Zstd, 9)
	}
	n := min(max(int(t.left(c.Size, write)/perByte), minPiece), maxSample)
	if err := c.sample(&t.choosing, t.typeSize, maxPiece, n); err != nil {
		return nil, err
	}
	table := make([]Trial, 0, len(list))
	for _, p := range list {
		r, err := t.try(p, &t.choosing)
		if err != nil {
			return nil, err
		}
		table = append(table, r)
	}
	return table, nil
}

// sample sets s to about n bytes of c, in pieces of at most size bytes from all parts of the chunk.
func (c *Chunk) sample(s *sample, typeSize, size, n int) error {
	const unit = 8 // items, which bitshuffle needs
	size = min(size, n, c.BlockSize)
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
	s.size = size
	s.pieces = slices.Grow(s.pieces[:0], count)[:count]
	for i := range s.pieces {
		// Spread the pieces over the chunk.
		at := (2*i + 1) * blocks * perBlock / (2 * count)
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
