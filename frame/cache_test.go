package frame

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/chunk"
)

// TestCache reads bytes here and there while commits change them all: every read must see one state, whatever is kept.
func TestCache(t *testing.T) {
	const chunks, size = 4, 4096
	state := func(n int) []byte { return bytes.Repeat([]byte{byte(n), 1, 2, 3}, size/4) }
	o := &Options{Cache: 16 << 10, NoSync: true, ChunkSize: size, CParams: chunk.CParams{TypeSize: 4, BlockSize: 512}, Concurrency: 1}
	f, err := Create(filepath.Join(t.TempDir(), "f"), o, func(b *Batch) error {
		for range chunks {
			if err := b.Append(state(0)); err != nil {
				return err
			}
		}
		return nil
	})
	must(t, err)
	defer f.Close()
	var wg sync.WaitGroup
	done := make(chan bool)
	for g := range uint64(3) {
		wg.Go(func() {
			rng, p := rand.New(rand.NewPCG(g, 1)), make([]byte, 100)
			last := byte(0)
			for {
				select {
				case <-done:
					return
				default:
				}
				off := rng.IntN(chunks*size-len(p)) &^ 3
				if _, err := f.ReadAt(p, int64(off)); err != nil {
					t.Error(err)
					return
				}
				if p[0] < last || !bytes.Equal(p, bytes.Repeat([]byte{p[0], 1, 2, 3}, 25)) {
					t.Errorf("after state %d: % x", last, p)
					return
				}
				last = p[0]
			}
		})
	}
	for n := 1; n <= 30; n++ {
		err := f.edit(func(b *Batch) error {
			for i := range chunks {
				if err := b.Update(i, state(n)); err != nil {
					return err
				}
			}
			return nil
		})
		must(t, err)
		var p [4]byte
		for range 2 {
			if _, err := f.ReadAt(p[:], 3*size); err != nil || p[0] != byte(n) {
				t.Errorf("state %d: % x, error %v", n, p, err)
			}
		}
		if n%10 == 0 {
			_, err := f.Refresh()
			must(t, err)
		}
	}
	close(done)
	wg.Wait()
	c := f.cache
	kept := int64(0)
	for e := c.order.Front(); e != nil; e = e.Next() {
		kept += int64(len(e.Value.(*cached).data))
	}
	if kept != c.size || c.size > c.most || len(c.blocks) != c.order.Len() {
		t.Errorf("%d bytes kept, %d counted, at most %d; %d and %d blocks", kept, c.size, c.most, len(c.blocks), c.order.Len())
	}
}

// TestCacheUsed counts what the cache saves, and that what is kept is taken without memory.
func TestCacheUsed(t *testing.T) {
	data := stamped(7, 16<<10)
	o := &Options{Cache: 8 << 10, CParams: chunk.CParams{TypeSize: 4, BlockSize: 1 << 10}, Concurrency: 1}
	name := filepath.Join(t.TempDir(), "f")
	f, err := Create(name, o, func(b *Batch) error { return b.Append(data) })
	must(t, err)
	defer f.Close()
	read := func(off, n int) {
		p := make([]byte, n)
		if _, err := f.ReadAt(p, int64(off)); err != nil || !bytes.Equal(p, data[off:off+n]) {
			t.Fatalf("%d bytes at %d: other content, error %v", n, off, err)
		}
	}
	keys := func() string {
		var s []int
		for e := f.cache.order.Front(); e != nil; e = e.Next() {
			s = append(s, e.Value.(*cached).key.block)
		}
		return fmt.Sprint(s)
	}
	for k := range 10 {
		read(k<<10, 8)
	}
	read(3<<10, 4)
	if got := keys(); got != "[3 9 8 7 6 5 4 2]" {
		t.Error(got)
	}
	read(0, 32<<10) // too much to be kept
	if got := keys(); got != "[3 9 8 7 6 5 4 2]" {
		t.Error(got)
	}
	_, err = f.Refresh()
	must(t, err)
	if got := keys(); got != "[]" {
		t.Error(got)
	}
}
