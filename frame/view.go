package frame

import (
	"context"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/task"
)

// View is one state of a frame, held for several reads that must agree with each other. The zero View is of no use.
// Release it; until then the space of that state is not used again. It may be used by any number of goroutines.
type View struct {
	f     *Frame
	s     *snapshot
	batch bool
}

// View returns the newest state.
func (f *Frame) View() (View, error) { return f.ViewContext(context.Background()) }

// ViewContext is View with a context that bounds how long it waits for a lock file. See Options.
func (f *Frame) ViewContext(ctx context.Context) (View, error) {
	s, err := f.acquire(task.Context(ctx))
	return View{f: f, s: s}, err
}

// Release ends the use of the view.
func (v View) Release() {
	if !v.batch {
		v.f.unuse(v.s)
	}
}

// MetaLayer returns the content of a metalayer and whether there is one. It is shared: the caller must not change
// it. It is the same memory as long as the metalayer does not change.
func (v View) MetaLayer(name string) ([]byte, bool) {
	i := findLayer(v.s.meta, name)
	if i < 0 {
		return nil, false
	}
	return v.s.meta[i].Content, true
}

// Info returns what the header says of the state.
func (v View) Info() Info { return v.s.info() }

// ChunkInfo returns what header and index say of chunk i. See Frame.ChunkInfo.
func (v View) ChunkInfo(i int) (ChunkInfo, error) {
	c, err := v.f.chunkInfo(v.s, i)
	return c, v.checked(err)
}

// checked returns the error of a read, or that the state may have been written over meanwhile.
func (v View) checked(err error) error {
	if v.batch {
		return err
	}
	return v.f.afterRead(v.s, err)
}

// View returns the state that the batch makes, as far as it is. Releasing it is not needed.
func (b *Batch) View() View { return View{f: b.f, s: b.next, batch: true} }

// Hold returns the state that the batch has made so far and keeps it readable until release is called, whatever the
// batch does meanwhile: for edits that make new chunks of old ones. Release it before Commit; one state can be held at
// a time.
func (b *Batch) Hold() (v View, release func()) {
	b.pinned, b.owned = true, false
	return View{f: b.f, s: b.next.successor(), batch: true}, func() {
		b.pinned = false
		for _, p := range b.unfreed {
			b.free(p.e, p.size)
		}
		b.unfreed = nil
	}
}

// Uniform returns the special value that all chunks are, when the index has one entry for all of them. It returns false if
// reading gives something else: what a Postfilter makes of the value, or the error for data that is not in the frame.
func (v View) Uniform() (chunk.Special, bool) {
	x := &v.s.index
	if x.n == 0 || x.list != nil || v.f.opts.Postfilter != nil || v.s.origin != nil {
		return chunk.Regular, false
	}
	special, err := x.uniform.special()
	return special, err == nil && special != chunk.Regular
}

// Special returns what the index says that chunk i stands for: zeros, NaNs or uninitialised items, or chunk.Regular for
// what is stored. It reads nothing; i must be the number of a chunk.
func (v View) Special(i int) chunk.Special {
	special, err := v.s.index.at(i).special()
	if err != nil {
		return chunk.Regular // reading it will say why
	}
	return special
}
