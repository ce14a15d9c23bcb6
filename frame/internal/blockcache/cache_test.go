package blockcache

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestCache compares a cache with a model, and counts its bytes.
func TestCache(t *testing.T) {
	const most = 5000
	c := New[int](most)
	rng := rand.New(rand.NewPCG(1, 1))
	type block struct {
		key  Key
		data []byte
	}
	var model []block // the least recently used first
	state := 0
	use := func(key Key) []byte {
		for i, b := range model {
			if b.key == key {
				model = append(append(model[:i:i], model[i+1:]...), b)
				return b.data
			}
		}
		return nil
	}
	for range 20000 {
		switch key := (Key{rng.IntN(3), rng.IntN(10)}); rng.IntN(100) {
		case 0:
			state++
		case 1:
			c.Clear()
			model = nil
		default:
			if c.state != state {
				model = nil
			}
			got, want := c.Get(state, key), use(key)
			if string(got) != string(want) || (got == nil) != (want == nil) {
				t.Fatalf("%d bytes, want %d", len(got), len(want))
			}
			if got == nil {
				b := block{key, make([]byte, 1+rng.IntN(most))}
				b.data[0] = byte(rng.IntN(256))
				c.Put(state, key, b.data)
				if len(b.data)+Overhead <= most {
					model = append(model, b)
				}
			}
		}
		sum := 0
		for _, b := range model {
			sum += len(b.data) + Overhead
		}
		for ; sum > most; model = model[1:] {
			sum -= len(model[0].data) + Overhead
		}
		if n := len(c.Keys()); c.state == state && (c.size != int64(sum) || n != len(model) || n != len(c.blocks)) {
			t.Fatalf("%d bytes in %d blocks, want %d in %d", c.size, n, sum, len(model))
		}
	}
}

// TestMemory fills a cache with blocks of one byte, and more than once. The memory must be about that of New.
func TestMemory(t *testing.T) {
	const most = 1 << 20
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	c := New[int](most)
	for i := range 30000 {
		c.Put(1, Key{i, i}, make([]byte, 1))
	}
	if n := heap() - before; n > most*3/2 {
		t.Errorf("%d bytes for %d blocks, want about %d", n, len(c.Keys()), most)
	} else {
		t.Log(n, len(c.Keys()), n/int64(len(c.Keys())))
	}
	runtime.KeepAlive(c)
}
