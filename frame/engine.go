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
)

// Engine returns an interface for package ndarray, which reads and writes the blocks of arrays with it. Its type is
// internal and may change in any version: other packages should not use it.
func (f *Frame) Engine() engine.Frame { return (*engineFrame)(f) }

// Engine is for package ndarray. See Frame.Engine.
func (b *Batch) Engine() engine.Batch { return (*engineBatch)(b) }

// engineFrame implements engine.Frame and engine.Reader.
type engineFrame Frame

// snapshotOf returns the frame and the snapshot of a view.
func snapshotOf(v engine.View) (*Frame, *snapshot) {
	return (*Frame)(v.Reader().(*engineFrame)), v.State().(*snapshot)
}

func (f *Frame) newView(s *snapshot, draft bool) engine.View {
	return engine.NewView((*engineFrame)(f), s, draft)
}

func (e *engineFrame) View(ctx context.Context) (engine.View, error) {
	s, err := (*Frame)(e).acquire(task.Context(ctx))
	if err != nil {
		return engine.View{}, err
	}
	return (*Frame)(e).newView(s, false), nil
}

func (e *engineFrame) CheckTarget(name string) error {
	return (*Frame)(e).checkTarget(name, &CreateOptions{Locking: true, Overwrite: true})
}

func (e *engineFrame) Options() engine.Options { return e.opts }

func (e *engineFrame) CheckAlloc(n int64) error { return (*Frame)(e).checkAlloc(n) }

func (e *engineFrame) AllocLimit() int64 { return (*Frame)(e).mostAlloc() }

func (e *engineFrame) Release(state any, draft bool) {
	if !draft {
		(*Frame)(e).unuse(state.(*snapshot))
	}
}

func (e *engineFrame) MetaLayer(state any, name string) ([]byte, bool) {
	s := state.(*snapshot)
	i := findLayer(s.meta, name)
	if i < 0 {
		return nil, false
	}
	return s.meta[i].Content, true
}

func (e *engineFrame) Info(state any) engine.Info { return engine.Info(state.(*snapshot).info()) }

func (e *engineFrame) ChunkInfo(ctx context.Context, state any, draft bool, ahead any, i int) (engine.ChunkInfo, error) {
	s := state.(*snapshot)
	pass, _ := ahead.(*chunkPass)
	c, err := (*Frame)(e).chunkInfo(task.Context(ctx), s, pass, i)
	return engine.ChunkInfo(c), e.checked(s, draft, err)
}

func (e *engineFrame) ChunkInfos(ctx context.Context, state any, draft bool, ahead func() (int, bool)) (
	next func(i int) (engine.ChunkInfo, error), stop func()) {
	s := state.(*snapshot)
	chunks := (*Frame)(e).chunkReader(task.Context(ctx), s)
	chunks.readHeadersAhead(ahead)
	return func(i int) (c engine.ChunkInfo, err error) {
		err = (*Frame)(e).checkChunk(s, i)
		if err == nil {
			var h coder.Header
			if h, err = chunks.header(i); err == nil {
				c = engine.ChunkInfo(s.describe(i, h))
			}
		}
		return c, e.checked(s, draft, err)
	}, chunks.stop
}

func (e *engineFrame) Ahead(ctx context.Context, state any, draft bool, next func(v *engine.Visit) bool) (ahead any, stop func()) {
	if pass := (*Frame)(e).newPass(task.Context(ctx), state.(*snapshot), next); pass != nil {
		pass.share()
		return pass, pass.stop
	}
	return nil, func() {}
}

func (e *engineFrame) Decode(ctx context.Context, state any, draft bool, ahead any, p engine.ReadPlan, blocks int64, blockSize int) error {
	s := state.(*snapshot)
	pass, _ := ahead.(*chunkPass)
	return e.checked(s, draft, (*Frame)(e).decode(task.Context(ctx), s, pass, p, blocks, blockSize))
}

// checked returns the error of a read, or ErrChanged if the state may have been written over since.
func (e *engineFrame) checked(s *snapshot, draft bool, err error) error {
	if draft {
		return err
	}
	return (*Frame)(e).afterRead(s, err)
}

func (e *engineFrame) Uniform(state any) (chunk.Special, bool) {
	s := state.(*snapshot)
	if s.index.n == 0 || s.index.list != nil || e.opts.Postfilter != nil || s.origin != nil {
		return chunk.Regular, false
	}
	special, err := s.index.uniform.special()
	return special, err == nil && special != chunk.Regular
}

func (e *engineFrame) Special(state any, i int) chunk.Special {
	special, err := state.(*snapshot).index.at(i).special()
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

func (e *engineBatch) View() engine.View { return e.f.newView(e.next, true) }

func (e *engineBatch) Hold() (v engine.View, release func()) {
	b := (*Batch)(e)
	b.pinned, b.owned = true, false
	return b.f.newView(b.next.successor(), true), func() {
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
	f, s := snapshotOf(v)
	if err := f.checkAllFetched(s); err != nil {
		return err
	}
	return b.fail((*engineFrame)(f).checked(s, v.Draft(), f.copyChunks(task.Context(ctx), s, b)))
}

func (e *engineBatch) CopyVLMeta(v engine.View) error {
	b := (*Batch)(e)
	if b.done {
		return b.errDone()
	}
	_, s := snapshotOf(v)
	b.takeVLMeta(s)
	return nil
}

func (e *engineBatch) PutChunks(ctx context.Context, v engine.View, pairs iter.Seq2[int, int]) error {
	f, s := snapshotOf(v)
	b := (*Batch)(e)
	return b.fail((*engineFrame)(f).checked(s, v.Draft(), b.putChunks(task.Context(ctx), f, s, pairs)))
}

func (e *engineBatch) SelectChunks(n, size int64, from func(i int64) int64) error {
	return (*Batch)(e).selectChunks(n, size, from)
}

func (e *engineBatch) ReplaceMeta(name string, content []byte) error {
	return (*Batch)(e).replaceMeta(name, content)
}

func (e *engineBatch) FillSpecial(n int64, special chunk.Special) error {
	return (*Batch)(e).fillSpecial(n, special)
}

func (e *engineBatch) SetVariable() error { return (*Batch)(e).setVariable() }

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
