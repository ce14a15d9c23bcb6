package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/internal/storage"
)

// walk returns n items of 4 bytes that compress to about a half: random steps with some runs.
func walk(n int) []byte {
	rng := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, 0, 4*n)
	for v := uint32(0); len(b) < 4*n; {
		if rng.IntN(8) > 0 {
			v += uint32(rng.IntN(1 << 12))
		}
		b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
	}
	return b
}

// needFaultAddress skips a test if the operating system does not report the address of a fault. User-mode qemu for some
// CPUs does not. To find out, it reads past the end of a mapped file that it has truncated.
func needFaultAddress(t *testing.T) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "x"))
	must(t, err)
	defer f.Close()
	must(t, f.Truncate(1<<16))
	b, err := syscall.Mmap(int(f.Fd()), 0, 1<<16, syscall.PROT_READ, syscall.MAP_SHARED)
	must(t, err)
	defer syscall.Munmap(b)
	must(t, f.Truncate(0))
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		fault, ok := recover().(interface{ Addr() uintptr })
		if start := uintptr(unsafe.Pointer(&b[0])); !ok || fault.Addr()-start >= 1<<16 {
			t.Skip("this system does not report the address of a fault")
		}
	}()
	t.Fatal("read", b[1<<15])
}

// truncatedReads are the methods that read memory of a mapped file.
var truncatedReads = map[string]func(f *Frame) error{
	"ReadAt": func(f *Frame) error {
		_, err := f.Content(context.Background()).ReadAt(make([]byte, f.Info().NBytes), 0)
		return err
	},
	"WriteTo": func(f *Frame) error {
		_, err := io.Copy(io.Discard, f.Content(context.Background()))
		return err
	},
	"ReadChunk": func(f *Frame) error {
		return eachChunk(f, func(i int) error { _, err := f.ReadChunk(context.Background(), nil, i); return err })
	},
	"ReadRaw": func(f *Frame) error {
		return eachChunk(f, func(i int) error {
			dst, err := f.ReadRaw(context.Background(), []byte("kept"), i)
			if !bytes.HasPrefix(dst, []byte("kept")) {
				return fmt.Errorf("dst lost: %w", err)
			}
			return err
		})
	},
	"ReadBlock": func(f *Frame) error {
		return eachChunk(f, func(i int) error {
			for k := range 4 {
				dst, err := f.ReadBlock(context.Background(), []byte("kept"), i, k)
				if !bytes.HasPrefix(dst, []byte("kept")) {
					return fmt.Errorf("dst lost: %w", err)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	},
	"ChunkInfo": func(f *Frame) error {
		return eachChunk(f, func(i int) error { _, err := f.ChunkInfo(context.Background(), i); return err })
	},
	"Verify":   func(f *Frame) error { return f.Verify(context.Background(), func(err error) error { return err }) },
	"AppendTo": func(f *Frame) error { _, err := appendTo(f, nil); return err },
}

func eachChunk(f *Frame, do func(i int) error) error {
	var first error
	for i := range f.NumChunks() {
		if err := do(i); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// truncatedKinds are frames with different codecs and filters, so that faults are in different kernels.
var truncatedKinds = []struct {
	name string
	p    chunk.Params
	o    options
}{
	{"BloscLZ", chunk.Params{Codec: codec.FromCode(0)}, options{}},
	{"LZ4", chunk.Params{Codec: codec.FromCode(1)}, options{}},
	{"LZ4 with a cache", chunk.Params{Codec: codec.FromCode(1)}, options{Cache: 64 << 20}},
	{"LZ4 with checksums", chunk.Params{Codec: codec.FromCode(1)}, options{Verify: true}},
	{"LZ4 without filters", chunk.Params{Codec: codec.FromCode(1), Filters: []chunk.Filter{}}, options{}},
	{"Zlib", chunk.Params{Codec: codec.FromCode(4)}, options{}},
	{"Zstd", chunk.Params{Codec: codec.FromCode(5)}, options{}},
	{"stored", chunk.Params{Level: codec.NoCompression}, options{}},
}

// TestMmapTruncated truncates mapped files at many of their pages, so that reads fault while they decode, also inside
// assembly. Each of these reads must return an error, and reads of the remaining pages must succeed.
func TestMmapTruncated(t *testing.T) {
	needFaultAddress(t)
	const chunkSize, blockSize = 128 << 10, 32 << 10
	faults, calls := 0, 0
	page := os.Getpagesize()
	data := walk(4 * chunkSize / 4)
	for _, kind := range truncatedKinds {
		name := filepath.Join(t.TempDir(), "x.b2frame")
		p := kind.p
		p.TypeSize, p.BlockSize = 4, blockSize
		made, err := CreateFunc(t.Context(), name, func(b *Batch) error {
			for i := range 4 {
				if err := b.Append(t.Context(), data[i*chunkSize:(i+1)*chunkSize]); err != nil {
					return err
				}
			}
			return nil
		}, &CreateOptions{Params: p, NoSync: true, Checksums: true})
		must(t, err)
		must(t, made.Close())
		whole, err := os.ReadFile(name)
		must(t, err)
		for _, concurrency := range []int{1, 3} {
			o := kind.o
			o.Mmap, o.Concurrency = true, concurrency
			f, err := Open(t.Context(), name, (&o).open())
			must(t, err)
			for size := len(whole) &^ (page - 1); size >= 0; size -= 3 * page {
				must(t, os.Truncate(name, int64(size)))
				for what, read := range truncatedReads {
					err := read(f)
					calls++
					switch {
					case errors.Is(err, ErrChanged):
						faults++
					case err != nil && !errors.Is(err, ErrCorrupt):
						t.Fatalf("%s, %s, %d bytes: %v", kind.name, what, size, err)
					}
				}
			}
			must(t, os.WriteFile(name, whole, 0o666)) // of the same inode
			if !bytes.Equal(content(t, f), data) {
				t.Errorf("%s: other content after faults", kind.name)
			}
			must(t, f.Close())
		}
	}
	t.Logf("%d calls, %d with faults", calls, faults)
	if faults < calls/2 {
		t.Error("too few faults")
	}
}

// TestMmapTruncatedRace truncates and restores a file again and again while several goroutines read it.
func TestMmapTruncatedRace(t *testing.T) {
	needFaultAddress(t)
	o := &options{Concurrency: 3}
	f, data := mappedFrame(t, o)
	whole, err := os.ReadFile(f.Path())
	must(t, err)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	faults := make([]int, 3)
	for g := range faults {
		wg.Go(func() {
			got := make([]byte, len(data))
			for {
				select {
				case <-stop:
					return
				default:
				}
				_, err := f.Content(t.Context()).ReadAt(got, 0)
				if errors.Is(err, ErrChanged) {
					faults[g]++
				} else if err != nil && !errors.Is(err, ErrCorrupt) {
					t.Error(err)
					return
				}
			}
		})
	}
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		must(t, os.Truncate(f.Path(), 4096))
		time.Sleep(200 * time.Microsecond)
		must(t, os.WriteFile(f.Path(), whole, 0o666))
	}
	close(stop)
	wg.Wait()
	t.Log(faults, "faults")
	if !bytes.Equal(content(t, f), data) {
		t.Error("other content after faults")
	}
	must(t, f.Close())
}

// TestMmapOtherFaults checks that panics which are not faults of the mapped file stay panics.
func TestMmapOtherFaults(t *testing.T) {
	f, _ := mappedFrame(t, &options{Concurrency: 1})
	defer f.Close()
	m := f.snap.Load().src.(*storage.Mapped)
	for _, p := range []any{"text", errors.New("an error"), io.EOF} {
		func() {
			defer func() {
				if got := recover(); got != p {
					t.Errorf("%v became %v", p, got)
				}
			}()
			var err error
			defer recoverFault(m, false, f, 0, nil, &err)
			panic(p)
		}()
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a nil pointer became an error")
			}
		}()
		var err error
		defer recoverFault(m, false, f, 0, nil, &err)
		var none *int
		*none = 1
	}()
}
