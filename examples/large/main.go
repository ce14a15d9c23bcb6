// Command large measures the library with arrays that are larger than memory: reading special values, reading from the
// disk with a cold cache, and copying to other chunks with little memory. It prints rows of Markdown tables:
//
//	go run ./examples/large -dir /data
//	go run ./examples/large -dir /data -special 100 -cold 0 -rechunk 0
//
// It needs Linux, and on the disk of -dir 1.2 times the size of -cold, or 3 times the size of -rechunk.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

func main() {
	dir := flag.String("dir", "", "directory for the arrays; the default is one for temporary files")
	special := flag.Int64("special", 100, "GB of special values; 0 = none")
	cold := flag.Int64("cold", 20, "GB of stored data that is read from the disk; 0 = none")
	rounds := flag.Int("rounds", 3, "rounds of reading from the disk")
	rechunk := flag.Int64("rechunk", 8, "GB of items that are copied to other chunks; 0 = none")
	memory := flag.Int64("memory", 256, "MiB that the copy to other chunks may take")
	part := flag.Int64("part", 16, "the copy that reads each new chunk alone makes one of this many parts of the array")
	flag.Parse()
	const gb = 1e9
	ctx := context.Background()
	err := inside(*dir, func(dir string) error {
		if *special > 0 {
			if err := readSpecial(ctx, os.Stdout, dir, *special*gb); err != nil {
				return err
			}
		}
		if *cold > 0 {
			if err := readCold(ctx, os.Stdout, dir, *cold*gb, *rounds); err != nil {
				return err
			}
		}
		if *rechunk > 0 {
			return copyRechunked(ctx, os.Stdout, dir, *rechunk*gb, *memory<<20, *part)
		}
		return nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "large:", err)
		os.Exit(1)
	}
}

// inside calls f with a new directory in dir, and removes it afterwards.
func inside(dir string, f func(dir string) error) error {
	dir, err := os.MkdirTemp(dir, "large")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return f(dir)
}

// usage is what a step has used.
type usage struct {
	time        time.Duration
	peak        int64 // of the memory of the process, in bytes
	read, write int64 // bytes that calls of the system have read and written
}

// measure runs f, after the memory of earlier steps is free.
func measure(f func() error) (usage, error) {
	debug.FreeOSMemory()
	if err := resetPeak(); err != nil {
		return usage{}, err
	}
	before, err := ioBytes()
	if err != nil {
		return usage{}, err
	}
	start := time.Now()
	if err := f(); err != nil {
		return usage{}, err
	}
	u := usage{time: time.Since(start)}
	after, err := ioBytes()
	if err != nil {
		return usage{}, err
	}
	u.read, u.write = after.read-before.read, after.write-before.write
	u.peak, err = peak()
	return u, err
}

// rate returns a number of bytes per second, as text.
func (u usage) rate(bytes int64) string {
	return fmt.Sprintf("%.2f GB/s", float64(bytes)/1e9/u.time.Seconds())
}

// readAll reads all items of an array, a chunk at a time.
func readAll(ctx context.Context, a *ndarray.Array) (items int64, err error) {
	for t, err := range ndarray.Tiles[float32](ctx, a, ndarray.ByChunk(a).ReadAhead(2)) {
		if err != nil {
			return 0, err
		}
		items += int64(len(t.Items))
	}
	return items, nil
}

// readSpecial reads an array that consists of one value.
func readSpecial(ctx context.Context, w io.Writer, dir string, size int64) error {
	name := filepath.Join(dir, "special.b2nd")
	shape := []int64{size / 4e6, 1000, 1000}
	created, err := measure(func() error {
		a, err := ndarray.Full(ctx, name, shape, float32(1.5), nil)
		if err != nil {
			return err
		}
		return a.Close()
	})
	if err != nil {
		return err
	}
	a, err := ndarray.Open(ctx, name, nil)
	if err != nil {
		return err
	}
	defer a.Close()
	read, err := measure(func() error {
		items, err := readAll(ctx, a)
		if err == nil && items != a.Size() {
			err = fmt.Errorf("read %d of %d items", items, a.Size())
		}
		return err
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "| %d GB of one value, a file of %d bytes | created in %.1f ms, read at %s, peak memory %d MiB |\n",
		size/1e9, info.Size(), float64(created.time.Microseconds())/1e3, read.rate(size), read.peak>>20)
	return nil
}
