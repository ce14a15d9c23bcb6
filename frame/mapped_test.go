package frame

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
)

// mappedFrame makes a frame in a file and opens it as memory.
func mappedFrame(t *testing.T, o *Options) (f *Frame, data []byte) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.b2frame")
	data = stamped(3, 5000)
	p := chunk.CParams{TypeSize: 8, BlockSize: 1024}
	made, err := Create(name, &Options{ChunkSize: 8192, CParams: p, Checksums: true, NoSync: true}, func(b *Batch) error {
		for piece := range slices.Chunk(data, 8192) {
			if err := b.Append(piece); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	must(t, made.Close())
	o.Mmap = true
	f, err = Open(name, o)
	must(t, err)
	return f, data
}

// TestMmap reads frames of all kinds that are shown as memory, where the system can.
func TestMmap(t *testing.T) {
	names, frames := contiguousFixtures(t, 1<<15)
	for i, b := range frames {
		name := filepath.Join(t.TempDir(), "f")
		must(t, os.WriteFile(name, b, 0o666))
		want, err := FromBytes(b, nil)
		must(t, err)
		got, err := Open(name, &Options{Mmap: true})
		must(t, err)
		if !bytes.Equal(content(t, got), content(t, want)) {
			t.Errorf("%s: other content", names[i])
		}
		must(t, got.Close())
	}
	f, data := mappedFrame(t, &Options{Verify: true})
	e, err := Edit(f.Path(), nil)
	must(t, err)
	more := bytes.Repeat([]byte("more"), 1000)
	must(t, e.Append(more))
	must(t, e.Close())
	// Bytes after the memory are read: those that were appended since.
	_, err = f.Refresh()
	must(t, err)
	if !bytes.Equal(content(t, f), append(data, more...)) {
		t.Error("other content after an edit")
	}
	must(t, f.Close())
}

// TestMmapClose closes a frame while goroutines read from its memory, which must stay until they have ended.
func TestMmapClose(t *testing.T) {
	for range 5 {
		f, data := mappedFrame(t, &Options{Concurrency: 1})
		m, ok := f.snap.Load().src.(*storage.Mapped)
		if !ok {
			t.Skip("this system shows no files as memory")
		}
		var wg sync.WaitGroup
		began := make(chan bool, 2)
		for range 2 {
			wg.Go(func() {
				got := make([]byte, len(data))
				for first := true; ; first = false {
					_, err := f.ReadAt(got, 0)
					if first {
						began <- true
					}
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil || !bytes.Equal(got, data) {
						t.Error("other content", err)
						return
					}
				}
			})
		}
		v, err := f.View()
		must(t, err)
		<-began
		must(t, f.Close())
		wg.Wait()
		if n := m.Uses(); n != 1 {
			t.Errorf("%d uses of the memory, want that of the view alone", n)
		}
		got := make([]byte, len(data))
		if err := v.Decode(context.Background(), &rangePlan{s: v.s, dst: got}, 1000, 0); err != nil || !bytes.Equal(got, data) {
			t.Error("a view of a closed frame:", err)
		}
		v.Release()
		if n := m.Uses(); n != 0 || m.Pin() {
			t.Errorf("%d uses of the memory after the last reader", n)
		}
	}
}
