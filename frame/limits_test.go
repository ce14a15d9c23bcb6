package frame

import (
	"errors"
	"fmt"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
)

// TestLimits opens frames that are as large as the options allow, and larger.
func TestLimits(t *testing.T) {
	fixed := []meta.Layer{{Name: "m", Content: make([]byte, 5000)}}
	list := func(size int) []byte {
		f, err := CreateMemory(&Options{Meta: fixed, ChunkSize: size}, func(b *Batch) error {
			for i := range 50 {
				if err := b.Append(small(i)); err != nil {
					return err
				}
			}
			return b.SetVLMeta("v", small(1))
		})
		must(t, err)
		b, err := f.AppendTo(nil)
		must(t, err)
		return b
	}
	one, err := CreateMemory(&Options{ChunkSize: 8}, func(b *Batch) error { return b.FillSpecial(8*50, chunk.Zeros) })
	must(t, err)
	uniform, err := one.AppendTo(nil)
	must(t, err)
	for _, c := range []struct {
		what string
		b    []byte
		o    Options
		ok   bool
	}{
		{"chunks", list(160), Options{MaxChunks: 50}, true},
		{"chunks", list(160), Options{MaxChunks: 49}, false},
		{"chunks of any size", list(200), Options{MaxChunks: 50}, true},
		{"chunks of any size", list(200), Options{MaxChunks: 49}, false},
		{"chunks of zeros", uniform, Options{MaxChunks: 50}, true},
		{"chunks of zeros", uniform, Options{MaxChunks: 49}, false},
		{"metalayers", list(160), Options{MaxMeta: 5200}, true},
		{"metalayers", list(160), Options{MaxMeta: 4999}, false},
		{"trailer", uniform, Options{MaxMeta: 97}, true},
		{"trailer", uniform, Options{MaxMeta: 34}, false},
	} {
		if _, err := FromBytes(c.b, &c.o); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s, %d chunks, %d bytes allowed: %v", c.what, c.o.MaxChunks, c.o.MaxMeta, err)
		}
	}
}

// BenchmarkCommit appends one chunk to a frame of many and commits: the index is written anew each time.
func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{1000, 100_000, 1_000_000} {
		for _, o := range []Options{{NoSync: true}, {}, {NoSync: true, Checksums: true}} {
			o.Concurrency, o.CParams = 1, chunk.CParams{TypeSize: 4, Codec: chunk.CodecFromCode(1)}
			name := map[bool]string{true: "nosync", false: "sync"}[o.NoSync] + map[bool]string{true: "-checksums"}[o.Checksums]
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				f, err := Create(b.TempDir()+"/x", &o, func(t *Batch) error {
					for i := range n {
						if err := t.Append(small(i)); err != nil {
							return err
						}
					}
					return nil
				})
				must(b, err)
				defer f.Close()
				p := small(1)
				b.SetBytes(int64(len(p)))
				b.ReportAllocs()
				for b.Loop() {
					must(b, f.Append(p))
				}
			})
		}
	}
}
