package frame

import (
	"context"

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
		v.s.drop()
		v.s.readers.Add(-1)
		v.f.unshare()
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
	return c, v.sound(err)
}

// sound returns the error of a read, or that the state may have been written over meanwhile.
func (v View) sound(err error) error {
	if v.batch {
		return err
	}
	if e := v.f.intact(v.s); e != nil {
		err = e
	}
	return v.f.orClosed(err)
}

// View returns the state that the batch makes, as far as it is. Releasing it is not needed.
func (b *Batch) View() View { return View{f: b.f, s: b.next, batch: true} }
