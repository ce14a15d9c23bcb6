package remote

import (
	"context"
	"io"
	"runtime"
	"testing"
)

// zeros is a Getter of an object of zeros.
type zeros struct{ size int64 }

func (z zeros) Get(_ context.Context, off, n int64, _ string) (*Answer, error) {
	if off < 0 {
		off = z.size - n
	}
	return &Answer{Body: io.NopCloser(io.LimitReader(zeroReader{}, min(n, z.size-off))), Size: z.size, Version: "1"}, nil
}

type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// A cache of short ranges takes little more memory than its limit.
func TestCacheMemory(t *testing.T) {
	const limit = 2 << 20
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	obj, err := OpenGetter(t.Context(), "x", zeros{1 << 50}, &Options{Cache: limit})
	if err != nil {
		t.Fatal(err)
	}
	defer obj.Close()
	for i := range int64(20_000) {
		b := make([]byte, 32)
		obj.table.release([]*segment{obj.table.add(1e6*(i+1), b)})
	}
	if n, max := len(obj.table.segments), limit/segmentCost; n > max || n < max/2 {
		t.Errorf("%d ranges are cached, want at most %d", n, max)
	}
	if n := heap() - before; n > limit*3/2 {
		t.Errorf("%d bytes for a cache of %d", n, limit)
	}
}
