package frame

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
)

// benchFrame makes a frame of n chunks of size bytes that compress to about half.
func benchFrame(b testing.TB, n, size int) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "x.b2frame")
	p := make([]byte, size)
	f, err := Create(name, &Options{CParams: chunk.CParams{TypeSize: 4}, NoSync: true}, func(t *Batch) error {
		for i := range n {
			for k := range p {
				p[k] = byte(k*k>>3) + byte(i)
			}
			if err := t.Append(p); err != nil {
				return err
			}
		}
		return nil
	})
	must(b, err)
	must(b, f.Close())
	return name
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1, 1000, 100000} {
		b.Run(fmt.Sprintf("%d-chunks", n), func(b *testing.B) {
			name := benchFrame(b, n, 64)
			b.ReportAllocs()
			for b.Loop() {
				f, err := Open(name, nil)
				must(b, err)
				f.Close()
			}
		})
	}
}

func BenchmarkReadAt(b *testing.B) {
	for _, size := range []int{4, 1 << 10, 1 << 20, 16 << 20} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			f, err := Open(benchFrame(b, 32, 1<<20), nil)
			must(b, err)
			defer f.Close()
			p := make([]byte, size)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			off := int64(0)
			for b.Loop() {
				if _, err := f.ReadAt(p, off); err != nil {
					b.Fatal(err)
				}
				off = (off + 1234567) % (16 << 20)
			}
		})
	}
}

// BenchmarkReadSparse reads chunks of a sparse frame, each of which is opened as a file.
func BenchmarkReadSparse(b *testing.B) {
	for _, size := range []int{1 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			name := filepath.Join(b.TempDir(), "x")
			p := make([]byte, size)
			made, err := Create(name, &Options{CParams: chunk.CParams{TypeSize: 4}, NoSync: true, Sparse: true}, func(t *Batch) error {
				for i := range 64 {
					for k := range p {
						p[k] = byte(k*k>>3) + byte(i)
					}
					if err := t.Append(p); err != nil {
						return err
					}
				}
				return nil
			})
			must(b, err)
			must(b, made.Close())
			f, err := Open(name, &Options{Concurrency: 1})
			must(b, err)
			defer f.Close()
			b.SetBytes(int64(size))
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, err := f.ReadAt(p, int64(i*size)); err != nil {
					b.Fatal(err)
				}
				i = (i + 7) % 64
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20} {
		for _, noSync := range []bool{true, false} {
			b.Run(fmt.Sprintf("%d-sync-%v", size, !noSync), func(b *testing.B) {
				f, err := Create(filepath.Join(b.TempDir(), "x"), &Options{NoSync: noSync}, nil)
				must(b, err)
				defer f.Close()
				p := make([]byte, size)
				for k := range p {
					p[k] = byte(k * k >> 3)
				}
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					must(b, f.Append(p))
				}
			})
		}
	}
}
