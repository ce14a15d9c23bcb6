package b2arrow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/ndarray"
)

// Items returns the items of a batch or list array whose blocks are Arrow streams: an array for each block, in order,
// in memory of mem, or of memory.DefaultAllocator if mem is nil. All arrays have the same type. An array is released
// after its iteration; call Retain to keep it. The error wraps ndarray.ErrFormat if the items are in MessagePack: read
// these with objects.Array.Items. It wraps ndarray.ErrCorrupt, ndarray.ErrTooLarge or errors.ErrUnsupported for streams
// that violate the format, or that have types without an offset in each list or text, such as views and unions.
func Items(ctx context.Context, o *objects.Array, mem memory.Allocator) iter.Seq2[arrow.Array, error] {
	return func(yield func(arrow.Array, error) bool) {
		if _, ok := o.ArrowSchema(); !ok {
			yield(nil, fmt.Errorf("b2arrow: the objects are not in Arrow streams: %w", ndarray.ErrFormat))
			return
		}
		t, err := streamType(o)
		if err == nil {
			err = eachBlock(ctx, allocator(mem), o, t, 0, o.Len(), &lastBlock{}, func(_ int64, a arrow.Array) error {
				if !yield(a, nil) {
					return errStop
				}
				return nil
			})
		}
		if err != nil && err != errStop {
			yield(nil, fmt.Errorf("b2arrow: %w", err))
		}
	}
}

// errStop ends a loop early. It never reaches the caller.
var errStop = errors.New("stop")

// streamType returns the type of the items in the Arrow streams of an array of objects.
func streamType(o *objects.Array) (arrow.DataType, error) {
	schema, _ := o.ArrowSchema()
	if len(schema) == 0 { // as long as there are no items
		if o.Len() > 0 {
			return nil, corrupt("Arrow streams without a schema")
		}
		return arrow.Null, nil
	}
	if _, err := checkMessages(schema); err != nil {
		return nil, fmt.Errorf("schema of Arrow streams: %w", err)
	}
	r, err := ipc.NewReader(bytes.NewReader(schema), ipc.WithEnsureNativeEndian(true))
	if err != nil {
		return nil, corrupt("schema of Arrow streams: %v", err)
	}
	defer r.Release()
	if n := r.Schema().NumFields(); n != 1 {
		return nil, corrupt("%d columns in Arrow streams, want 1", n)
	}
	t := r.Schema().Field(0).Type
	if err := checkType(t); err != nil {
		return nil, fmt.Errorf("schema of Arrow streams: %w", err)
	}
	return t, nil
}

// lastBlock is the block in which a read ended, or the one after it, where the next read goes on.
type lastBlock struct {
	batch, block int
	first        int64       // number of its first item
	a            arrow.Array // nil if it is not held
}

// release releases the array.
func (l *lastBlock) release() {
	if l.a != nil {
		l.a.Release()
		l.a = nil
	}
}

// eachBlock calls see with the blocks that hold the items start to stop-1, and the number of the first item of each.
// The array is released after the call, unless last holds it for the next one.
func eachBlock(ctx context.Context, mem memory.Allocator, o *objects.Array, t arrow.DataType, start, stop int64,
	last *lastBlock, see func(first int64, a arrow.Array) error) error {
	schema, _ := o.ArrowSchema()
	perBlock := o.ItemsPerBlock()
	var stream []byte
	batches := o.Batches()
	batch := sort.Search(batches, func(i int) bool {
		_, end, err := o.BatchRange(i)
		return err != nil || end > start
	})
	for ; batch < batches; batch++ {
		first, end, err := o.BatchRange(batch)
		if err != nil {
			return err
		}
		if first >= stop {
			return nil
		}
		blocks, err := o.Blocks(ctx, batch)
		if err != nil {
			return err
		}
		k, from := 0, max(start, first)
		if perBlock > 0 {
			skip := (from - first) / perBlock
			k = int(min(skip, int64(blocks))) // without such a block, items are missing
			first += skip * perBlock
		}
		if last.batch == batch && last.first >= first && last.first <= from {
			k, first = last.block, last.first
		}
		for ; k < blocks; k++ {
			if first >= stop && stop < end {
				return nil
			}
			a := last.a
			if a != nil && last.batch == batch && last.block == k {
				last.a = nil
			} else {
				last.release()
				if stream, err = o.Block(ctx, stream[:0], batch, k); err != nil {
					return err
				}
				if a, err = readStream(mem, stream, schema, t); err != nil {
					return fmt.Errorf("batch %d, block %d: %w", batch, k, err)
				}
			}
			n := int64(a.Len())
			switch {
			case n > end-first:
				err = corrupt("batch %d has more items than its length", batch)
			case perBlock > 0 && n != min(perBlock, end-first):
				err = corrupt("batch %d, block %d: %d items, want %d", batch, k, n, min(perBlock, end-first))
			case first < stop && first+n > start:
				err = see(first, a)
			}
			if err != nil {
				a.Release()
				return err
			}
			if first+n > stop {
				*last = lastBlock{batch, k, first, a}
			} else {
				a.Release()
				*last = lastBlock{batch, k + 1, first + n, nil}
			}
			first += n
		}
		if first < end {
			return corrupt("batch %d: %d items are missing", batch, end-first)
		}
	}
	return nil
}

// readStream returns the only column of an Arrow stream. Older versions of python-blosc2 wrote a batch without the
// schema.
func readStream(mem memory.Allocator, stream, schema []byte, t arrow.DataType) (arrow.Array, error) {
	first, err := checkMessages(stream)
	if err != nil {
		return nil, fmt.Errorf("reading an Arrow stream: %w", err)
	}
	src := io.Reader(bytes.NewReader(stream))
	if first != schemaMessage {
		src = io.MultiReader(bytes.NewReader(schema), src)
	}
	r, err := ipc.NewReader(src, ipc.WithAllocator(mem), ipc.WithEnsureNativeEndian(true))
	if err != nil {
		return nil, corrupt("Arrow stream: %v", err)
	}
	defer r.Release()
	if s := r.Schema(); s.NumFields() != 1 || !arrow.TypeEqual(s.Field(0).Type, t) {
		return nil, corrupt("Arrow stream with the schema %v, want a column of type %v", s, t)
	}
	if !r.Next() {
		return nil, corrupt("Arrow stream without a batch (%v)", r.Err())
	}
	a := r.RecordBatch().Column(0)
	if err := check(a.Data()); err != nil {
		return nil, fmt.Errorf("reading an Arrow stream: %w", err)
	}
	a.Retain()
	return a, nil
}

// readStreams returns ranges of items of Arrow streams.
func readStreams(ctx context.Context, mem memory.Allocator, o *objects.Array, t arrow.DataType, ranges iter.Seq2[int64, int64],
	last *lastBlock) (arrow.Array, error) {
	var parts []arrow.Array
	defer func() { releaseAll(parts) }()
	held := uint64(0) // bytes of the blocks, each of which may be within the limit
	for g := range groups(ranges, window/8) {
		err := eachBlock(ctx, mem, o, t, g[0].from, g[len(g)-1].to, last, func(first int64, a arrow.Array) error {
			held += a.Data().SizeInBytes()
			if err := o.Frame().CheckAlloc(int64(min(held, math.MaxInt64))); err != nil {
				return fmt.Errorf("all rows at once, read fewer: %w", err)
			}
			a = makeArray(withBuffers(a.Data()))
			defer a.Release()
			end := first + int64(a.Len())
			for _, s := range g {
				if from, to := max(s.from, first), min(s.to, end); from < to {
					parts = append(parts, array.NewSlice(a, from-first, to-first))
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	switch len(parts) {
	case 0:
		return makeArray(emptyData(t)), nil
	case 1:
		parts[0].Retain()
		return parts[0], nil
	}
	a, err := array.Concatenate(parts, mem)
	switch {
	case err == nil:
		return a, nil
	case cannotUnify(mem, t, err):
		return nil, unsupported("blocks with different dictionaries: %v", err)
	}
	return nil, tooLarge("%v: read fewer rows", err) // offsets or codes of a dictionary do not fit their type
}

// cannotUnify reports whether err, of joining arrays of a type, is the one for different dictionaries whose values
// package array cannot unify.
func cannotUnify(mem memory.Allocator, t arrow.DataType, err error) bool {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		u, unifyErr := array.NewDictionaryUnifier(mem, t.ValueType)
		if unifyErr == nil {
			u.Release()
			return false
		}
		return err.Error() == unifyErr.Error()
	case arrow.NestedType:
		return slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return cannotUnify(mem, f.Type, err) })
	}
	return false
}

// withBuffers returns data in which all codes of dictionaries have a buffer and a bitmap: array.Concatenate panics
// without them if the dictionaries differ and a part has no codes.
func withBuffers(d arrow.ArrayData) arrow.ArrayData {
	buffers := slices.Clone(d.Buffers())
	if d.DataType().ID() == arrow.DICTIONARY {
		if buffers[0] == nil {
			buffers[0] = memory.NewBufferBytes(bytes.Repeat([]byte{0xff}, int(bitutil.BytesForBits(int64(d.Offset()+d.Len())))))
		}
		if buffers[1] == nil {
			buffers[1] = memory.NewBufferBytes(nil)
		}
		return array.NewDataWithDictionary(d.DataType(), d.Len(), buffers, d.NullN(), d.Offset(), d.Dictionary().(*array.Data))
	}
	var children []arrow.ArrayData
	for _, c := range d.Children() {
		child := withBuffers(c)
		defer child.Release()
		children = append(children, child)
	}
	return array.NewData(d.DataType(), d.Len(), buffers, children, d.NullN(), d.Offset())
}
