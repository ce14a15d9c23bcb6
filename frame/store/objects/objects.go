package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/faults"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/internal/engine"
)

// An Array is an open object, batch or list array of python-blosc2 (.b2b): a list of items of any type, which may be
// grouped into batches. It is safe for concurrent use. Errors of methods with a context wrap ErrBounds for an item,
// batch or block that does not exist, ErrCorrupt, ErrTooLarge or fs.ErrClosed, or are errors of reading.
type Array struct {
	f       *frame.Frame
	kind    Kind
	element string                  // kind of the elements of lists
	batched bool                    // each chunk is a batch, and each of its blocks an array of items
	count   atomic.Int64            // of an array that is not batched, the last length that was seen
	batches atomic.Pointer[batches] // of a batched array; Append and Refresh replace it
	last    atomic.Pointer[place]   // of a batched array, where the last read ended; nil = not known
	arrow   bool                    // the blocks are Arrow streams
	schema  []byte                  // of the Arrow streams
	mu      sync.Mutex              // held by Append and Refresh
}

// batches describes the batches of an array. The elements of its slices do not change. Append makes a new batches,
// whose slices may share memory with those of the newest one.
type batches struct {
	perBlock int64   // items of each block of a batch but the last; 0 = not known
	ends     []int64 // number of items up to the end of each batch
	encoded  []byte  // the lengths in MessagePack, once Append has needed them
}

// len returns the number of items.
func (b *batches) len() int64 {
	if len(b.ends) == 0 {
		return 0
	}
	return b.ends[len(b.ends)-1]
}

// bounds returns the numbers of the first item of a batch, which must exist, and of the item after its last one.
func (b *batches) bounds(i int) (start, stop int64) {
	if i > 0 {
		start = b.ends[i-1]
	}
	return start, b.ends[i]
}

// batchMeta is the metalayer "batcharray", and a part of "vlarray".
type batchMeta struct {
	Serializer    string `msgpack:"serializer"`
	ItemsPerBlock int64  `msgpack:"items_per_block"`
	ArrowSchema   []byte `msgpack:"arrow_schema"`
}

// New returns the object, batch or list array in an open frame, which it then owns. After an error the
// frame is still open. The error wraps ErrFormat if the frame holds something else, ErrCorrupt, or
// errors.ErrUnsupported if the items are neither MessagePack nor Arrow streams.
func New(ctx context.Context, f *frame.Frame) (*Array, error) {
	o := &Array{f: f}
	layer := "batcharray"
	b, ok := frames.MetaLayer(f, layer)
	if o.batched = ok; !ok {
		layer = "vlarray"
		if b, ok = frames.MetaLayer(f, layer); !ok {
			return nil, cmp.Or(frames.Closed(f), faults.Formatf("not an array of objects: no metalayer batcharray or vlarray"))
		}
	}
	o.kind, o.element, _ = o.form()
	var m batchMeta
	if err := frames.UnmarshalMeta(f, b, &m); err != nil {
		return nil, fmt.Errorf("metalayer %s: %w", layer, err)
	}
	switch {
	case m.ItemsPerBlock < 0:
		return nil, faults.Corruptf("%d items per block", m.ItemsPerBlock)
	case m.Serializer == "arrow" && o.batched:
		o.arrow, o.schema = true, m.ArrowSchema
	case m.Serializer != "msgpack" && m.Serializer != "":
		return nil, faults.Unsupportedf("items in %q", faults.Clip(m.Serializer))
	}
	if !o.batched {
		o.Len() // for count
		return o, nil
	}
	if err := o.readBatches(ctx); err != nil {
		return nil, err
	}
	return o, nil
}

// form returns the kind of the array that the frame has now, and the kind of the elements of lists. ok is false if it
// is no array, or if its items are now in batches or no longer.
func (o *Array) form() (kind Kind, element string, ok bool) {
	_, batched := frames.MetaLayer(o.f, "batcharray")
	_, single := frames.MetaLayer(o.f, "vlarray")
	ok = batched == o.batched && (batched || single)
	if batched {
		kind = Batches
	}
	if _, lists := frames.MetaLayer(o.f, "listarray"); lists {
		kind = Lists
		if m, err := o.listMeta(); err == nil {
			element = m.Item.Kind
		}
	}
	return kind, element, ok
}

// same returns ErrChanged if the frame now has an array of another kind, or lists of other elements.
func (o *Array) same() error {
	if kind, element, ok := o.form(); !ok || kind != o.kind || element != o.element {
		return cmp.Or(frames.Closed(o.f), fmt.Errorf("another array has taken its place: %w", frame.ErrChanged))
	}
	return nil
}

// readBatches sets the batches to those of one state of the frame: another process may append at the same time.
func (o *Array) readBatches(ctx context.Context) error {
	v, err := o.f.Engine().View(ctx)
	if err != nil {
		return err
	}
	defer v.Release()
	list := &batches{}
	if list.perBlock, err = o.itemsPerBlock(v); err != nil {
		return err
	}
	lengths, err := o.batchLengths(ctx, v)
	if err != nil {
		return err
	}
	if list.ends, err = appendEnds(nil, lengths); err == nil {
		o.batches.Store(list)
	}
	return err
}

// Refresh switches the Array to the state that is stored now, and reports whether it differs from the previous one,
// because another process has edited the array. It waits for an Append. A read at the same time may use a part of each
// state, and fail with ErrCorrupt. With OpenOptions.Locking, reads switch the frame to the newest state, but only
// Refresh finds its batches.
//
// The error wraps ErrCorrupt, frame.ErrChanged if an array of another kind, or with lists of other elements, has taken
// its place, or is an error of [frame.Frame.Refresh].
func (o *Array) Refresh(ctx context.Context) (bool, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	changed, err := o.f.Refresh(ctx)
	if err != nil {
		return false, err
	}
	if err := o.same(); err != nil {
		return false, fmt.Errorf("objects: refreshing: %w", err)
	}
	if !o.batched {
		o.Len() // for Len after Close
		return changed, nil
	}
	old := o.batches.Load()
	if err := o.readBatches(ctx); err != nil {
		return false, fmt.Errorf("objects: refreshing: %w", err)
	}
	return changed || !slices.Equal(old.ends, o.batches.Load().ends), nil // a read may have switched the frame
}

// itemsPerBlock returns the number of items of the blocks of a batched array, or 0, in a state of the frame.
func (o *Array) itemsPerBlock(v engine.View) (int64, error) {
	content, _ := v.MetaLayer("batcharray")
	var m batchMeta
	if err := frames.UnmarshalMeta(o.f, content, &m); err != nil {
		return 0, cmp.Or(frames.Closed(o.f), fmt.Errorf("metalayer batcharray: %w", err))
	}
	if m.ItemsPerBlock < 0 {
		return 0, faults.Corruptf("%d items per block", m.ItemsPerBlock)
	}
	return m.ItemsPerBlock, nil
}

// lengthsLayer is the variable-length metalayer with the lengths of the batches.
const lengthsLayer = "_batch_array_metadata"

// batchLengths returns the number of items of each batch in a state of the frame.
func (o *Array) batchLengths(ctx context.Context, v engine.View) ([]int64, error) {
	b, err := v.VLMeta(lengthsLayer)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var m struct {
		Lengths []int64 `msgpack:"batch_lengths"`
	}
	if err == nil {
		if err := frames.UnmarshalMeta(o.f, b, &m); err != nil {
			return nil, fmt.Errorf("metalayer %s: %w", lengthsLayer, err)
		}
	}
	n := v.Info().NumChunks
	if m.Lengths == nil && n > 0 {
		if m.Lengths, err = o.countItems(ctx, n); err != nil {
			return nil, err
		}
	}
	if len(m.Lengths) != n {
		return nil, faults.Corruptf("%d batch lengths for %d batches", len(m.Lengths), n)
	}
	return m.Lengths, nil
}

// appendEnds appends the number of items up to the end of each batch with these lengths.
func appendEnds(ends, lengths []int64) ([]int64, error) {
	end := int64(0)
	if len(ends) > 0 {
		end = ends[len(ends)-1]
	}
	for _, length := range lengths {
		if length < 0 || length > math.MaxInt64-end {
			return nil, faults.Corruptf("batch %d of %d items", len(ends), length)
		}
		end += length
		ends = append(ends, end)
	}
	return ends, nil
}

// countItems returns the lengths of n batches from the blocks. Older files do not have them anywhere else.
func (o *Array) countItems(ctx context.Context, n int) ([]int64, error) {
	if o.arrow {
		return nil, faults.Unsupportedf("batches of Arrow streams without their lengths")
	}
	lengths := make([]int64, n)
	var buf []byte
	decoded := int64(0)
	for i := range lengths {
		blocks, err := o.blocks(ctx, i)
		if err != nil {
			return nil, err
		}
		for k := range blocks {
			if buf, err = o.f.ReadBlock(ctx, buf[:0], i, k); err != nil {
				return nil, err
			}
			count, _, err := frames.ArrayHeader(buf)
			if decoded += int64(len(buf)); err == nil {
				err = o.f.Engine().CheckAlloc(ctx, decoded) // chunks may be referenced many times
			}
			if err != nil {
				return nil, fmt.Errorf("counting the items of batch %d, block %d: %w", i, k, err)
			}
			lengths[i] += count
		}
	}
	return lengths, nil
}

// Kind is how the items of an array are organized.
type Kind uint8

// Kinds of arrays, after the classes of python-blosc2.
const (
	Objects Kind = iota // ObjectArray: objects of any type
	Batches             // BatchArray: batches of objects
	Lists               // ListArray: lists
)

// Kind returns the kind of the array.
func (o *Array) Kind() Kind { return o.kind }

// Len returns the number of items: of all batches together, if the array is grouped into batches. After Close it is
// the last number that this Array has seen.
func (o *Array) Len() int64 {
	if o.batched {
		return o.batches.Load().len()
	}
	n := int64(o.f.NumChunks())
	if n == 0 && frames.Closed(o.f) != nil {
		return o.count.Load()
	}
	if o.count.Load() != n {
		o.count.Store(n)
	}
	return n
}

// Batches returns the number of batches, or 0 if the items are not grouped.
func (o *Array) Batches() int {
	if !o.batched {
		return 0
	}
	return len(o.batches.Load().ends)
}

// BatchRange returns the numbers of the first item of a batch and of the item after its last one. The error wraps
// ErrBounds.
func (o *Array) BatchRange(i int) (start, stop int64, err error) {
	if n := o.Batches(); i < 0 || i >= n {
		return 0, 0, fmt.Errorf("objects: batch %d of %d: %w", i, n, ErrBounds)
	}
	start, stop = o.batches.Load().bounds(i)
	return start, stop, nil
}

// checkRange returns an error that wraps ErrBounds unless the items start to stop-1 exist.
func (o *Array) checkRange(start, stop int64) error {
	if n := o.Len(); start < 0 || stop < start || stop > n {
		if err := frames.Closed(o.f); err != nil {
			return err
		}
		return fmt.Errorf("objects: items %d to %d of %d: %w", start, stop, n, ErrBounds)
	}
	return nil
}

// Item decodes item i into the value that v points to, as meta.Unmarshal does. It decodes the chunk or block that holds
// the item, and no other item in it.
func (o *Array) Item(ctx context.Context, i int64, v any) error {
	if i < 0 || i >= o.Len() {
		if err := frames.Closed(o.f); err != nil {
			return err
		}
		return fmt.Errorf("objects: item %d of %d: %w", i, o.Len(), ErrBounds)
	}
	err := o.each(ctx, i, i+1, func(_ int64, raw []byte) error { return frames.Unmarshal(o.f, raw, v) })
	if err != nil {
		return fmt.Errorf("objects: item %d: %w", i, err)
	}
	return nil
}

// Items ranges over the items start to stop-1, decoded as meta.Unmarshal does for an any. It holds one chunk or block
// at a time. The first error ends the loop.
func (o *Array) Items(ctx context.Context, start, stop int64) iter.Seq2[any, error] {
	return func(yield func(any, error) bool) {
		if err := o.checkRange(start, stop); err != nil {
			yield(nil, err)
			return
		}
		err := o.each(ctx, start, stop, func(_ int64, raw []byte) error {
			var v any
			if err := frames.Unmarshal(o.f, raw, &v); err != nil {
				return err
			}
			if !yield(v, nil) {
				return faults.ErrStop
			}
			return nil
		})
		if err != nil && err != faults.ErrStop {
			yield(nil, fmt.Errorf("objects: %w", err))
		}
	}
}

// Block appends the decoded bytes of a block of a batch to dst: a MessagePack array, or an Arrow stream.
func (o *Array) Block(ctx context.Context, dst []byte, batch, block int) ([]byte, error) {
	if _, _, err := o.BatchRange(batch); err != nil {
		return dst, err
	}
	return o.f.ReadBlock(ctx, dst, batch, block)
}

// ItemsPerBlock returns the number of items of each block of a batch except the last. It is 0 if the items are not
// grouped, or if the frame does not store it.
func (o *Array) ItemsPerBlock() int64 {
	if !o.batched {
		return 0
	}
	return o.batches.Load().perBlock
}

// Blocks returns the number of blocks of a batch.
func (o *Array) Blocks(ctx context.Context, batch int) (int, error) {
	if _, _, err := o.BatchRange(batch); err != nil {
		return 0, err
	}
	return o.blocks(ctx, batch)
}

// blocks is Blocks for a batch that exists. A chunk of one value may have many more blocks than it has bytes.
func (o *Array) blocks(ctx context.Context, batch int) (int, error) {
	info, err := o.f.ChunkInfo(ctx, batch)
	if err == nil && info.Special != chunk.Regular {
		err = faults.Corruptf("batch %d: a chunk of %v", batch, info.Special)
	}
	return info.Blocks, err
}

// ArrowSchema returns the schema of the Arrow streams, and reports whether the blocks are Arrow streams. Item, Items
// and Each then return errors.ErrUnsupported. Do not change the schema.
func (o *Array) ArrowSchema() (schema []byte, ok bool) { return o.schema, o.arrow }

// Close closes the frame. A second Close does nothing.
func (o *Array) Close() error {
	o.Len() // for count
	o.last.Store(nil)
	return o.f.Close()
}

// Decode decodes the MessagePack of an item of the array into the value that v points to, as meta.Unmarshal does. The
// values may take many times the memory of the MessagePack. The error wraps ErrTooLarge if that is more than
// OpenOptions.MaxBytes of the frame, or than the stored bytes justify. raw is not retained.
func (o *Array) Decode(raw []byte, v any) error {
	if err := frames.Unmarshal(o.f, raw, v); err != nil {
		return fmt.Errorf("objects: %w", err)
	}
	return nil
}

// Each calls see with the number and the MessagePack of each of the items start to stop-1. see must not retain raw,
// which Decode decodes. An error of see ends the calls, and Each returns it. If an item does not exist, Each returns an
// error that wraps ErrBounds and makes no call.
//
// The items of a batch array may be read by several calls, one after the other. If a call goes on where the one before
// it ended, the Array keeps the block for the next call, until one has read its last item.
func (o *Array) Each(ctx context.Context, start, stop int64, see func(i int64, raw []byte) error) error {
	if err := o.checkRange(start, stop); err != nil {
		return err
	}
	return o.each(ctx, start, stop, see)
}

// each is Each for items that exist.
func (o *Array) each(ctx context.Context, start, stop int64, see func(i int64, raw []byte) error) error {
	if o.arrow {
		return faults.Unsupportedf("items in Arrow streams")
	}
	if start == stop {
		return frames.Closed(o.f)
	}
	if o.batched {
		return o.eachInBatches(ctx, start, stop, see)
	}
	var buf []byte
	var err error
	for i := start; i < stop; i++ {
		if buf, err = o.f.ReadChunk(ctx, buf[:0], int(i)); err == nil {
			err = see(i, buf)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
