package table

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path"
	"strings"

	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/ndarray"
)

// summary has the smallest and the largest value of segments of stored rows. The zero summary has no segments.
type summary[T cmp.Ordered] struct {
	length    int64 // stored rows of a segment
	low, high []T
	flags     []uint8
}

// Flags of a segment.
const (
	allNaN  = 1 << iota // all values are NaNs, or null
	hasNaN              // some are NaNs
	allNull             // all values are null
)

func (s *summary[T]) segments() int { return len(s.low) }

// end returns the stored row after segment i.
func (s *summary[T]) end(i int) int64 { return int64(i+1) * s.length }

// mayMatch reports whether a value of segment i may compare with v.
func (s *summary[T]) mayMatch(i int, op Op, v T) bool {
	low, high, flags := s.low[i], s.high[i], s.flags[i]
	switch {
	case flags&allNull != 0:
		return false
	case op == NotEqual:
		return flags&(allNaN|hasNaN) != 0 || low != v || high != v
	case flags&allNaN != 0:
		return false
	}
	switch op {
	case Equal:
		return low <= v && v <= high
	case Less, LessOrEqual:
		return matches(low, op, v)
	}
	return matches(high, op, v)
}

// ranges returns the rows of c that may compare with v. Rows of segments that lie in the same block are one range, with
// the rows between them, so that no block is decoded for several ranges. A block of the mask may lie in several ranges,
// because c.marks holds it, and because such a block has many blocks of values between the segments.
func (s *summary[T]) ranges(c *Column, op Op, v T) iter.Seq2[int64, int64] {
	return func(yield func(start, stop int64) bool) {
		from, to := int64(0), int64(0) // stored rows of the range
		for i := range s.segments() + 1 {
			next, end := s.end(i-1), s.end(i)
			if i == s.segments() {
				if end = c.rows.Stored; next >= end { // no segment has these rows
					break
				}
			} else if !s.mayMatch(i, op, v) {
				continue
			}
			if !c.shareBlock(to, next) {
				if !yield(c.rows.Rank(from), c.rows.Rank(to)) {
					return
				}
				from = next
			}
			to = end
		}
		yield(c.rows.Rank(from), c.rows.Rank(to))
	}
}

// shareBlock reports whether the stored rows up to end-1 and those starting at from have a block of the array in
// common, or follow each other. Blocks of the mask count only if c.marks could not hold one.
func (c *Column) shareBlock(end, from int64) bool {
	if from <= end || c.array != nil && blockStart(c.array, from) < end {
		return true
	}
	return c.marks != nil && (c.marks.failed || c.marks.partial) && blockStart(c.mask, from) < end
}

// indexEntry is the description of the index of a column.
type indexEntry struct {
	Stale  bool    `msgpack:"stale"`
	Epoch  int64   `msgpack:"built_value_epoch"`
	DType  string  `msgpack:"dtype"`
	Shape  []int64 `msgpack:"shape"`
	Levels map[string]struct {
		Length int64  `msgpack:"segment_len"`
		Count  int64  `msgpack:"nsegments"`
		Path   string `msgpack:"path"`
	} `msgpack:"levels"`
	Target struct {
		Source string `msgpack:"source"`
		Field  any    `msgpack:"field"`
	} `msgpack:"target"`
}

// readSummary returns the summary of a column. If no valid summary exists, it returns the zero summary, by which every
// row may match.
func readSummary[T cmp.Ordered](ctx context.Context, c *Column) (*summary[T], error) {
	s := &summary[T]{}
	if c.array == nil || c.info.Kind == "utf8" || c.info.Kind == "dictionary" {
		return s, nil
	}
	f, err := c.t.s.Frame(ctx, path.Join(c.t.key, "_meta"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var epoch int64
	var catalog map[string]indexEntry
	for name, v := range map[string]any{"value_epoch": &epoch, "index_catalog": &catalog} {
		b, ok, err := frames.VLMeta(f, name)
		if err != nil {
			return nil, err
		}
		if !ok || frames.UnmarshalMeta(f, b, v) != nil {
			return s, nil
		}
	}
	e, ok := catalog[c.info.Name]
	level, hasBlocks := e.Levels["block"]
	n := c.array.Shape()[0]
	if !ok || !hasBlocks || e.Stale || e.Epoch != epoch || e.Target.Source != "field" || e.Target.Field != nil ||
		e.DType != c.array.DType().String() || len(e.Shape) != 1 || e.Shape[0] != n ||
		level.Length <= 0 || level.Length > n || level.Count != (n-1)/level.Length+1 {
		return s, nil
	}
	if err := s.read(ctx, c, level.Path, level.Count); err != nil {
		return &summary[T]{}, task.Context(ctx).Err() // an index that cannot be read is not needed
	}
	s.length = level.Length
	return s, nil
}

// errSummary is returned for a summary that does not fit.
var errSummary = errors.New("the summary does not fit")

// read reads the values of a summary.
func (s *summary[T]) read(ctx context.Context, c *Column, file string, n int64) error {
	key := "/" + strings.TrimSuffix(file, path.Ext(file))
	if strings.HasPrefix(file, "_indexes/") {
		key = path.Join(c.t.key, key)
	}
	a, err := c.t.s.Array(ctx, key)
	if err != nil {
		return err
	}
	defer a.Close()
	if shape := a.Shape(); len(shape) != 1 || shape[0] != n {
		return errSummary
	}
	if s.low, err = readField[T](ctx, a, "min"); err != nil {
		return err
	}
	if s.high, err = readField[T](ctx, a, "max"); err != nil {
		return err
	}
	s.flags, err = readField[uint8](ctx, a, "flags")
	return err
}

// readField returns a field of all items of an array.
func readField[T any](ctx context.Context, a *ndarray.Array, name string) ([]T, error) {
	v, err := ndarray.Field(a, name)
	if err != nil {
		return nil, err
	}
	return ndarray.Read[T](ctx, v)
}
