package ndarray

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// TestDecodeTogether has eight blocks of one handle decoded at the same time: a filter waits in each until all eight are
// there, which would never be if a lock were held meanwhile. Once eight goroutines read a block each, and once one call
// reads them all.
func TestDecodeTogether(t *testing.T) {
	const n = 8
	ctx := context.Background()
	var mu sync.Mutex
	var here int
	var all chan bool
	o := &Options{Chunks: []int32{n * 100}, Blocks: []int32{100}}
	o.Postfilter = func(dst, src []byte, _ chunk.BlockInfo) error {
		mu.Lock()
		if here++; here == n {
			close(all)
		}
		wait := all
		mu.Unlock()
		select {
		case <-wait:
		case <-time.After(20 * time.Second):
			t.Error("others are kept from decoding")
		}
		copy(dst, src)
		return nil
	}
	data := make([]int32, n*100)
	for i := range data {
		data[i] = int32(i)
	}
	o.Concurrency = n
	a, err := Create(ctx, "", []int64{n * 100}, data, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	read := func(from, to int64) {
		got := make([]int32, to-from)
		if err := ReadInto(ctx, a, got, Span(from, to)); err != nil || got[0] != int32(from) || got[to-from-1] != int32(to-1) {
			t.Errorf("%d to %d: other items, error %v", from, to, err)
		}
	}
	here, all = 0, make(chan bool)
	var wg sync.WaitGroup
	for i := range int64(n) {
		wg.Go(func() { read(100*i, 100*i+100) })
	}
	wg.Wait()
	here, all = 0, make(chan bool)
	read(0, n*100)
}

// BenchmarkDisjoint reads disjoint slices of one handle in eight goroutines. With -cpu 1,2,... it shows what more cores
// are worth.
func BenchmarkDisjoint(b *testing.B) {
	ctx := context.Background()
	o := benchOptions(codec.LZ4, 5)
	o.Concurrency = 1
	data := benchData()
	a, err := Create(ctx, filepath.Join(b.TempDir(), "a.b2nd"), benchShape, data, o)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	const n = 8
	rows := benchShape[0] / n
	dst := make([]float32, len(data))
	b.SetBytes(int64(4 * len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range int64(n) {
			part := dst[i*rows*256*256:][:rows*256*256]
			wg.Go(func() {
				if err := ReadInto(ctx, a, part, Span(i*rows, i*rows+rows)); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
	}
}
