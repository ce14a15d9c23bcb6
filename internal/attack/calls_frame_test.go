package attack

import (
	"bytes"
	"context"
	"io"
	"math"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// frameCalls returns calls of frames.
func frameCalls(t *testing.T) []oddCall {
	ctx := context.Background()
	create := func(o *frame.CreateOptions, p []byte) *frame.Frame {
		f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, p) }, o)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f, closed := create(nil, []byte("items")), create(nil, []byte("items"))
	closed.Close()
	edit := func(do func(b *frame.Batch) error) func() error {
		return func() error {
			b, err := f.Begin(ctx)
			if err != nil {
				return err
			}
			defer b.Rollback()
			return do(b)
		}
	}
	with := func(o *frame.CreateOptions) func() error {
		return func() error { return second(frame.Create(ctx, "", o)) }
	}
	done := func() *frame.Batch {
		b, err := f.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		b.Rollback()
		return b
	}()
	return []oddCall{
		{"Create nil", nil, with(nil)},
		{"ChunkSize -1", frame.ErrParam, with(&frame.CreateOptions{ChunkSize: -1})},
		{"ChunkSize huge", frame.ErrParam, with(&frame.CreateOptions{ChunkSize: math.MaxInt})},
		{"TypeSize -1", frame.ErrParam, with(&frame.CreateOptions{Params: chunk.Params{TypeSize: -1}})},
		{"TypeSize huge", frame.ErrParam, with(&frame.CreateOptions{Params: chunk.Params{TypeSize: math.MaxInt}})},
		{"BlockSize -1", frame.ErrParam, with(&frame.CreateOptions{Params: chunk.Params{BlockSize: -1}})},
		{"Level 10", frame.ErrParam, with(&frame.CreateOptions{Params: chunk.Params{Level: 10}})},
		{"Codec 31", frame.ErrParam, with(&frame.CreateOptions{Params: chunk.Params{Codec: 31}})},
		{"Concurrency -1", frame.ErrParam, with(&frame.CreateOptions{Concurrency: -1})},
		{"Meta without name", frame.ErrParam, with(&frame.CreateOptions{Meta: []meta.Layer{{}}})},
		{"Meta twice", frame.ErrParam, with(&frame.CreateOptions{Meta: []meta.Layer{{Name: "a", Content: []byte{1}}, {Name: "a", Content: []byte{1}}}})},
		{"Meta without content", nil, func() error { with(&frame.CreateOptions{Meta: []meta.Layer{{Name: "a"}}})(); return nil }},
		{"Meta of a long name", frame.ErrParam, with(&frame.CreateOptions{Meta: []meta.Layer{{Name: string(make([]byte, 1000))}}})},
		{"VLMeta of a long name", frame.ErrParam, with(&frame.CreateOptions{VLMeta: []meta.Layer{{Name: string(make([]byte, 1000)), Content: []byte{1}}}})},
		{"Goal 99", frame.ErrParam, with(&frame.CreateOptions{Goal: 99})},
		{"nil codec", frame.ErrParam, func() error {
			o := &frame.OpenOptions{}
			o.Codecs = append(o.Codecs, nil)
			return second(frame.OpenBytes([]byte("x"), o))
		}},
		{"Copy closed", errAny, func() error { return second(frame.Copy(ctx, "", closed, nil)) }},
		{"Copy BlockSize 7", nil, func() error {
			second(frame.Copy(ctx, "", f, &frame.CreateOptions{Params: chunk.Params{BlockSize: 7, TypeSize: 3}}))
			return nil
		}},
		{"ReadChunk -1", frame.ErrBounds, func() error { return second(f.ReadChunk(ctx, nil, -1)) }},
		{"ReadChunk top", frame.ErrBounds, func() error { return second(f.ReadChunk(ctx, nil, math.MaxInt)) }},
		{"ReadBlock low", frame.ErrBounds, func() error { return second(f.ReadBlock(ctx, nil, 0, math.MinInt)) }},
		{"ReadBlock top", frame.ErrBounds, func() error { return second(f.ReadBlock(ctx, nil, 0, math.MaxInt)) }},
		{"ReadRaw -1", frame.ErrBounds, func() error { return second(f.ReadRaw(ctx, nil, -1)) }},
		{"ChunkInfo -1", frame.ErrBounds, func() error { return second(f.ChunkInfo(ctx, -1)) }},
		{"VLMeta none", errAny, func() error { return second(f.VLMeta("")) }},
		{"ReadChunk closed", errAny, func() error { return second(closed.ReadChunk(ctx, nil, 0)) }},
		{"Content closed", errAny, func() error { return second(io.ReadAll(closed.Content(ctx))) }},
		{"Content negative", errAny, func() error { return second(f.Content(ctx).ReadAt(make([]byte, 1), -1)) }},
		{"Info closed", nil, func() error { _ = closed.Info(); _ = closed.Meta(); _ = closed.VLMetaNames(); return nil }},
		{"Begin closed", errAny, func() error { return second(closed.Begin(ctx)) }},
		{"Compact closed", errAny, func() error { return closed.Compact(ctx) }},
		{"Refresh closed", errAny, func() error { return second(closed.Refresh(ctx)) }},
		{"DeadBytes closed", errAny, func() error { return second(closed.DeadBytes(ctx)) }},
		{"Append nil", nil, edit(func(b *frame.Batch) error { b.Append(ctx, nil); return nil })},
		{"AppendBlocks none", errAny, edit(func(b *frame.Batch) error { return b.AppendBlocks(ctx, nil) })},
		{"AppendBlocks nil block", errAny, edit(func(b *frame.Batch) error { return b.AppendBlocks(ctx, [][]byte{nil}) })},
		{"AppendRaw nil", errAny, edit(func(b *frame.Batch) error { return b.AppendRaw(ctx, nil) })},
		{"AppendRaw noise", errAny, edit(func(b *frame.Batch) error { return b.AppendRaw(ctx, make([]byte, 32)) })},
		{"InsertRaw -1", errAny, edit(func(b *frame.Batch) error { return b.InsertRaw(ctx, -1, make([]byte, 32)) })},
		{"Insert -1", frame.ErrBounds, edit(func(b *frame.Batch) error { return b.Insert(ctx, -1, []byte("items")) })},
		{"Insert top", frame.ErrBounds, edit(func(b *frame.Batch) error { return b.Insert(ctx, math.MaxInt, []byte("items")) })},
		{"Update -1", frame.ErrBounds, edit(func(b *frame.Batch) error { return b.Update(ctx, -1, []byte("items")) })},
		{"Update with another length", nil, edit(func(b *frame.Batch) error { return b.Update(ctx, 0, []byte("item")) })},
		{"Delete -1", frame.ErrBounds, edit(func(b *frame.Batch) error { return b.Delete(-1) })},
		{"Delete top", frame.ErrBounds, edit(func(b *frame.Batch) error { return b.Delete(math.MaxInt) })},
		{"Reorder nil", errAny, edit(func(b *frame.Batch) error { return b.Reorder(nil) })},
		{"Reorder negative", errAny, edit(func(b *frame.Batch) error { return b.Reorder([]int{-1}) })},
		{"Reorder twice", errAny, edit(func(b *frame.Batch) error { return b.Reorder([]int{0, 0}) })},
		{"SetMeta missing", errAny, edit(func(b *frame.Batch) error { return b.SetMeta("zz", []byte{1}) })},
		{"SetVLMeta without name", nil, edit(func(b *frame.Batch) error { b.SetVLMeta("", []byte{1}); return nil })},
		{"SetVLMeta nil", nil, edit(func(b *frame.Batch) error { b.SetVLMeta("a", nil); return nil })},
		{"DeleteVLMeta missing", errAny, edit(func(b *frame.Batch) error { return b.DeleteVLMeta("zz") })},
		{"Append after Rollback", errAny, func() error { return done.Append(ctx, []byte("x")) }},
		{"Commit after Rollback", errAny, func() error { return done.Commit() }},
		{"Rollback twice", nil, func() error { done.Rollback(); return nil }},
		{"NumChunks after Rollback", nil, func() error { _ = done.NumChunks(); return nil }},
		{"CheckAlloc", nil, func() error { f.CheckAlloc(top); f.CheckAlloc(low); closed.CheckAlloc(1 << 40); return nil }},
		{"OpenReaderAt -1", frame.ErrParam, func() error { return second(frame.OpenReaderAt(ctx, bytes.NewReader(nil), -1, nil)) }},
		{"OpenReaderAt of fewer bytes", errAny, func() error { return second(frame.OpenReaderAt(ctx, bytes.NewReader(nil), top, nil)) }},
		{"OpenSource -1", frame.ErrParam, func() error { return second(frame.OpenSource(ctx, oddSource(-1), nil)) }},
		{"OpenSource top", errAny, func() error { return second(frame.OpenSource(ctx, oddSource(top), nil)) }},
		{"EditStorage of memory", errAny, func() error { return second(frame.EditStorage(ctx, frame.NewMemory(nil), nil)) }},
		{"MaxBytes low", nil, func() error {
			second(frame.OpenBytes(nil, &frame.OpenOptions{MaxBytes: low, MaxChunks: math.MinInt, MaxMeta: low, Cache: low}))
			return nil
		}},
		{"CreateRegions -1", errAny, func() error {
			return second(frame.CreateRegions(ctx, filepath.Join(t.TempDir(), "r"), -1, &frame.CreateOptions{ChunkSize: 64}))
		}},
		{"CreateRegions top", errAny, func() error {
			return second(frame.CreateRegions(ctx, filepath.Join(t.TempDir(), "r"), top, &frame.CreateOptions{ChunkSize: 64}))
		}},
		{"Salvage nothing", errAny, func() error { _, _, err := frame.Salvage(ctx, "", "", nil, nil); return err }},
		{"Save nothing", errAny, func() error { return second(closed.Save(ctx, io.Discard)) }},
		{"Verify closed", errAny, func() error { return closed.Verify(ctx, nil) }},
		{"Close twice", nil, closed.Close},
	}
}

// oddSource is a source with no bytes that claims a size.
type oddSource int64

func (s oddSource) ReadAtContext(context.Context, []byte, int64) (int, error) { return 0, io.EOF }
func (s oddSource) Size() int64                                               { return int64(s) }
