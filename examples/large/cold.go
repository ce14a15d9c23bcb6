package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

// field is a time series of planes of float32, with smooth values and noise in about half of the bits.
type field struct {
	noise []uint32
	plane []byte // the rest of the current plane
	at    int    // of the next plane
	all   []byte
}

// side is the length of the edges of a plane.
const side = 512

func newField() *field {
	f := &field{noise: make([]uint32, 1<<22), all: make([]byte, 4*side*side)}
	x := uint32(1)
	for i := range f.noise {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		f.noise[i] = x
	}
	return f
}

// next makes the next plane.
func (f *field) next() {
	from := f.at * 7919 % (len(f.noise) - side*side)
	noise := f.noise[from:][:side*side]
	for i := range side {
		row := math.Float32bits(280 + 20*float32(math.Sin(float64(i+f.at)/200)))
		for j := range side {
			v := row + noise[i*side+j]>>14 // 18 bits of noise
			p := f.all[4*(i*side+j):][:4]
			p[0], p[1], p[2], p[3] = byte(v), byte(v>>8), byte(v>>16), byte(v>>24)
		}
	}
	f.at++
	f.plane = f.all
}

// Read makes a field an io.Reader.
func (f *field) Read(p []byte) (int, error) {
	if len(f.plane) == 0 {
		f.next()
	}
	n := copy(p, f.plane)
	f.plane = f.plane[n:]
	return n, nil
}

// create makes an array of at least size bytes.
func (f *field) create(ctx context.Context, name string, size int64, o *ndarray.CreateOptions) (*ndarray.Array, error) {
	planes := (size + 4*side*side - 1) / (4 * side * side)
	return ndarray.FromReader(ctx, name, []int64{planes, side, side}, "<f4", f, o)
}

// readCold compares reading an array from the disk with reading the bytes of its file.
func readCold(ctx context.Context, w io.Writer, dir string, stored int64, rounds int) error {
	name := filepath.Join(dir, "cold.b2nd")
	// The noise does not compress: three of four bytes are stored.
	a, err := newField().create(ctx, name, stored/3*4, &ndarray.CreateOptions{
		Codec: codec.LZ4, Level: 5, Chunks: []int64{16, side, side}, NoSync: true,
	})
	if err != nil {
		return err
	}
	size := a.Size() * 4
	if err := a.Close(); err != nil {
		return err
	}
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	var plain, array []usage
	for range rounds {
		u, err := measureCold(name, func() error { return readFile(name) })
		if err != nil {
			return err
		}
		plain = append(plain, u)
		u, err = measureCold(name, func() error {
			a, err := ndarray.Open(ctx, name, nil)
			if err != nil {
				return err
			}
			defer a.Close()
			_, err = readAll(ctx, a)
			return err
		})
		if err != nil {
			return err
		}
		array = append(array, u)
	}
	p, r := median(plain), median(array)
	fmt.Fprintf(w, "| %.1f GB in a file of %.1f GB, cold cache, median of %d | read at %s of stored bytes, %.2f times as fast as the file alone, peak memory %d MiB |\n",
		float64(size)/1e9, float64(info.Size())/1e9, rounds, r.rate(info.Size()), p.time.Seconds()/r.time.Seconds(), r.peak>>20)
	return os.Remove(name)
}

// measureCold runs f after the cache of the operating system has dropped a file.
func measureCold(name string, f func() error) (usage, error) {
	if err := dropCache(name); err != nil {
		return usage{}, err
	}
	return measure(f)
}

// readFile reads all bytes of a file, as dd does with bs=4M.
func readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	buf := make([]byte, 4<<20)
	for {
		if _, err := f.Read(buf); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// median returns the usage with the middle time.
func median(all []usage) usage {
	slices.SortFunc(all, func(a, b usage) int { return cmp.Compare(a.time, b.time) })
	return all[len(all)/2]
}

// seconds returns a time in seconds, as text.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
