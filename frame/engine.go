package frame

import (
	"context"
	"errors"
	"iter"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Engine returns an interface for package ndarray, which reads and writes the blocks of arrays with it. Its type is
// internal and may change in any version: other packages should not use it.
func (f *Frame) Engine() engine.Frame { return (*engineFrame)(f) }

// Engine is for package ndarray. See Frame.Engine.
func (b *Batch) Engine() engine.Batch { return (*engineBatch)(b) }

// engineFrame implements engine.Frame.
type engineFrame Frame

func (e *engineFrame) View(ctx context.Context) (engine.View, error) {
	s, err := (*Frame)(e).acquire(task.Context(ctx))
	if err != nil {
		return nil, err
	}
	return (*view)(s), nil
}

func (e *engineFrame) CheckTarget(name string) error {
	return (*Frame)(e).checkTarget(name, &CreateOptions{Locking: true, Overwrite: true})
}

func (e *engineFrame) ReadBlock(ctx context.Context, dst []byte, i, k int) ([]byte, int, error) {
	return (*Frame)(e).findBlock(ctx, dst, i, k, true)
}

func (e *engineFrame) Name() string { return e.name }

func (e *engineFrame) Options() engine.Options { return e.opts }

func (e *engineFrame) CheckAlloc(ctx context.Context, n int64) error {
	return (*Frame)(e).checkAlloc(task.Context(ctx), n)
}

func (e *engineFrame) AllocLimit(ctx context.Context) int64 {
	return (*Frame)(e).mostAlloc(task.Context(ctx))
}

// view implements engine.View. It is a snapshot in use, or the draft of a batch.
type view snapshot

// viewed returns the snapshot of a view.
func viewed(v engine.View) *snapshot {
	if ahead, ok := v.(aheadView); ok {
		v = ahead.view
	}
	return (*snapshot)(v.(*view))
}

// aheadView is a view whose chunks are read ahead, or compared with their checksums.
type aheadView struct {
	*view
	pass    *chunkPass // or nil
	compare bool       // see Frame.mustCheck
}

func (v *view) Release() {
	if !v.draft {
		v.f.unuse((*snapshot)(v))
	}
}

func (v aheadView) Release() {}

func (v *view) MetaLayer(name string) ([]byte, bool) {
	i := findLayer(v.meta, name)
	if i < 0 {
		return nil, false
	}
	return v.meta[i].Content, true
}

func (v *view) Meta() []meta.Layer { return copyLayers(v.meta) }

func (v *view) VLMeta(name string) ([]byte, error) { return (*snapshot)(v).vlMeta(name) }

func (v *view) Info() engine.Info { return engine.Info((*snapshot)(v).info()) }

func (v *view) ChunkInfo(ctx context.Context, i int) (engine.ChunkInfo, error) {
	return aheadView{view: v}.ChunkInfo(ctx, i)
}

func (v aheadView) ChunkInfo(ctx context.Context, i int) (engine.ChunkInfo, error) {
	s := (*snapshot)(v.view)
	c, err := v.f.chunkInfo(task.Context(ctx), s, v.pass, i)
	return engine.ChunkInfo(c), v.f.afterRead(s, err)
}

func (v *view) ChunkInfos(ctx context.Context, ahead func() (int, bool)) (next func(i int) (engine.ChunkInfo, error), stop func()) {
	s := (*snapshot)(v)
	chunks := v.f.chunkReader(task.Context(ctx), s)
	chunks.readHeadersAhead(ahead)
	return func(i int) (c engine.ChunkInfo, err error) {
		err = v.f.checkBounds(s, i)
		if err == nil {
			var h coder.Header
			if h, err = chunks.header(i); err == nil {
				c = engine.ChunkInfo(s.describe(i, h))
			}
		}
		return c, v.f.afterRead(s, err)
	}, chunks.stop
}

func (v *view) Local() bool { return !v.remote }

func (v *view) Far() bool { return (*snapshot)(v).ranges() != nil }

func (v *view) Ahead(ctx context.Context, sharing int, next func(v *engine.Visit) bool) (ahead engine.View, stop func()) {
	return aheadView{view: v}.Ahead(ctx, sharing, next)
}

func (v aheadView) Ahead(ctx context.Context, sharing int, next func(v *engine.Visit) bool) (ahead engine.View, stop func()) {
	pass := v.f.newPass(task.Context(ctx), (*snapshot)(v.view), next)
	if pass == nil {
		return v, func() {}
	}
	pass.p.d.compare = v.compare
	pass.p.most = min(pass.p.most, max(windowBytes/int64(sharing), leastWindow))
	pass.share()
	return aheadView{v.view, pass, v.compare}, pass.stop
}

func (v *view) AheadChunks(ctx context.Context, next func() (i int, ok bool)) (ahead engine.View, stop func()) {
	return aheadView{view: v}.AheadChunks(ctx, next)
}

func (v aheadView) AheadChunks(ctx context.Context, next func() (i int, ok bool)) (ahead engine.View, stop func()) {
	ctx = task.Context(ctx)
	s := (*snapshot)(v.view)
	pass := v.f.newPass(ctx, s, s.visitOnce(ctx, next))
	if pass == nil {
		return v, func() {}
	}
	pass.begin()
	return aheadView{v.view, pass, v.compare}, pass.stop
}

func (v *view) Shared() engine.View { return aheadView{view: v} }

func (v *view) Compared() engine.View { return aheadView{view: v, compare: true} }

func (v *view) Decode(ctx context.Context, p engine.ReadPlan, blocks int64, blockSize int) error {
	s := (*snapshot)(v)
	return v.f.afterRead(s, v.f.decodePlan(task.Context(ctx), s, nil, false, p, blocks, blockSize))
}

func (v aheadView) Decode(ctx context.Context, p engine.ReadPlan, blocks int64, blockSize int) error {
	s := (*snapshot)(v.view)
	return v.f.afterRead(s, v.f.decodePlan(task.Context(ctx), s, v.pass, v.compare, p, blocks, blockSize))
}

func (v *view) Uniform() (chunk.Special, bool) {
	if v.index.n == 0 || v.index.list != nil || v.f.opts.Postfilter != nil || v.origin != nil {
		return chunk.Regular, false
	}
	special, err := v.index.uniform.special()
	return special, err == nil && special != chunk.Regular
}

func (v *view) Special(i int) chunk.Special {
	special, err := v.index.at(i).special()
	if err != nil {
		return chunk.Regular // reading it returns the error
	}
	return special
}

// engineBatch implements engine.Batch.
type engineBatch Batch

func (e *engineBatch) Encode(ctx context.Context, size int, p engine.WritePlan, all int64) error {
	return (*Batch)(e).encodePlan(task.Context(ctx), size, p, all)
}

func (e *engineBatch) BlockSize() int { return int(e.next.blockSize) }

func (e *engineBatch) View() engine.View { return (*view)(e.next) }

func (e *engineBatch) Hold() (v engine.View, release func()) {
	b := (*Batch)(e)
	b.pinned, b.owned = true, false
	return (*view)(b.next.successor()), func() {
		b.pinned = false
		for _, p := range b.unfreed {
			b.free(p.e, p.size)
		}
		b.unfreed = nil
	}
}

func (e *engineBatch) CopyChunks(ctx context.Context, v engine.View) error {
	b := (*Batch)(e)
	if err := b.checkEditable(); err != nil {
		return err
	}
	s := viewed(v)
	if err := s.f.checkAllFetched(s); err != nil {
		return err
	}
	return b.fail(s.f.afterRead(s, s.f.copyChunks(task.Context(ctx), s, b)))
}

func (e *engineBatch) CopyMeta(v engine.View, layers []meta.Layer) error {
	s := viewed(v)
	if err := s.f.checkCopied(s, false, layers); err != nil {
		return err
	}
	return (*Batch)(e).takeMeta(layers)
}

func (e *engineBatch) CopyVLMeta(v engine.View) error {
	b := (*Batch)(e)
	if b.done {
		return b.errDone()
	}
	s := viewed(v)
	if err := s.f.checkCopied(s, true, s.vlmeta); err != nil {
		return err
	}
	b.takeVLMeta(s)
	return nil
}

func (e *engineBatch) PutChunks(ctx context.Context, v engine.View, pairs iter.Seq2[int, int]) error {
	s := viewed(v)
	b := (*Batch)(e)
	ahead, _ := v.(aheadView)
	return b.fail(s.f.afterRead(s, b.putChunks(task.Context(ctx), s.f, s, ahead.pass, pairs)))
}

func (e *engineBatch) SelectChunks(ctx context.Context, n, size int64, from func(i int64) int64) error {
	return (*Batch)(e).selectChunks(task.Context(ctx), n, size, from)
}

func (e *engineBatch) CheckChunks(n, size int64) error { return (*Batch)(e).checkChunks(n, size) }

func (e *engineBatch) ReplaceMeta(name string, content []byte) error {
	return (*Batch)(e).replaceMeta(name, content)
}

func (e *engineBatch) FillSpecial(n int64, special chunk.Special) error {
	return (*Batch)(e).fillSpecial(n, special)
}

func (e *engineBatch) Scratch() (engine.Storage, error) {
	if c, ok := e.f.store.(*contiguous); ok {
		if _, ok := c.Bytes.(*Memory); ok {
			return NewMemory(nil), nil
		}
	}
	if e.f.path == "" { // a Storage of the caller: no folder was named
		return nil, errors.ErrUnsupported
	}
	return storage.CreateScratch(e.f.sys, e.f.path)
}
