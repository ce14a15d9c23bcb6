// Command tuning measures what a goal does with ten kinds of data, beside the defaults of python-blosc2 and the best
// parameters for the whole array. It prints a table of ratios:
//
//	go run ./examples/tuning
//	go run ./examples/tuning -docs .
//
// With -docs, it writes the table into docs/PERFORMANCE.md.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

func main() {
	size := flag.Int("size", 32, "MiB of each kind of data")
	rounds := flag.Int("rounds", 15, "rounds of timing, of which the median counts")
	static := flag.Int("static", 4, "MiB of each kind of data for the search for the best static choice; 0 = none")
	docs := flag.String("docs", "", "directory of the repository, to write the table into docs/PERFORMANCE.md")
	flag.Parse()
	var out bytes.Buffer
	err := run(context.Background(), io.MultiWriter(os.Stdout, &out), *size<<20, *static<<20, *rounds)
	if err == nil && *docs != "" {
		err = paste(filepath.Join(*docs, "docs", "PERFORMANCE.md"), out.Bytes())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// goals are the goals, in the order of the columns.
var goals = []ndarray.Goal{ndarray.Balanced, ndarray.Smallest, ndarray.Fastest}

// run prints the table.
func run(ctx context.Context, w io.Writer, size, static, rounds int) error {
	fmt.Fprintf(w, "%d CPUs, %s, %d MiB of each kind, one goroutine:\n\n", runtime.NumCPU(), runtime.Version(), size>>20)
	fmt.Fprintln(w, "| data | default: ratio | balanced: size, reading, trials | smallest: size | beside the best static choice | fastest: reading, size |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- |")
	var rows []row
	for i := range kinds {
		r, err := measure(ctx, &kinds[i], size, static, rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", kinds[i].name, err)
		}
		rows = append(rows, r)
		r.print(w)
	}
	mean := row{name: "mean", best: "-"}
	for _, r := range rows {
		mean.ratio += r.ratio / float64(len(rows))
		mean.trials += r.trials / float64(len(rows))
		mean.small += r.small / float64(len(rows))
		for g := range goals {
			mean.size[g] += r.size[g] / float64(len(rows))
			mean.read[g] += r.read[g] / float64(len(rows))
		}
	}
	mean.print(w)
	return nil
}

// row is a line of the table.
type row struct {
	name   string
	ratio  float64       // of the default
	size   [len3]float64 // with each goal, divided by the default
	read   [len3]float64 // speed of reading, divided by that of the default
	trials float64       // part of the time for writing that Balanced takes for trials
	small  float64       // size with Smallest, divided by that of the best static choice
	best   string        // the best static choice
}

const len3 = 3 // goals

// print prints a line of the table.
func (r *row) print(w io.Writer) {
	fmt.Fprintf(w, "| %s | %.2f | %.3f, %.2f, %.1f%% | %.3f | %.3f (%s) | %.2f, %.3f |\n",
		r.name, r.ratio, r.size[0], r.read[0], 100*r.trials, r.size[1], r.small, r.best, r.read[2], r.size[2])
}

// data is the items of a kind.
type data struct {
	shape []int64
	dtype string
	items []byte
}

// create makes an array in memory.
func (d *data) create(ctx context.Context, o ndarray.CreateOptions) (*ndarray.Array, error) {
	o.Concurrency = 1
	return ndarray.CreateBytes(ctx, "", d.shape, d.dtype, d.items, &o)
}

// stored returns the size of the chunks of an array.
func stored(a *ndarray.Array) float64 { return float64(a.Frame().Info().CBytes) }

// measure returns the row of a kind of data.
func measure(ctx context.Context, k *kind, size, static, rounds int) (row, error) {
	r := row{name: k.name, best: "-"}
	dt, err := meta.ParseDType(k.dtype)
	if err != nil {
		return r, err
	}
	d := &data{dtype: k.dtype}
	d.shape, d.items = k.generate(size, dt.Size)
	plain, err := d.create(ctx, ndarray.CreateOptions{})
	if err != nil {
		return r, err
	}
	defer plain.Close()
	r.ratio = float64(len(d.items)) / stored(plain)
	for g, goal := range goals {
		a, err := d.create(ctx, ndarray.CreateOptions{Goal: goal})
		if err != nil {
			return r, err
		}
		defer a.Close()
		r.size[g] = stored(a) / stored(plain)
		if r.read[g], err = faster(ctx, plain, a, d.items, rounds); err != nil {
			return r, err
		}
		if g == 0 {
			if r.trials, err = d.trials(ctx, a, rounds/2); err != nil {
				return r, err
			}
		}
	}
	if static > 0 {
		d.shape, d.items = k.generate(static, dt.Size)
		r.small, r.best, err = d.static(ctx)
	}
	return r, err
}

// faster returns how many times faster b is read than a, in alternate rounds.
func faster(ctx context.Context, a, b *ndarray.Array, want []byte, rounds int) (float64, error) {
	dst := make([]byte, len(want))
	read := func(x *ndarray.Array) (time.Duration, error) {
		start := time.Now()
		err := x.ReadBytes(ctx, dst)
		return time.Since(start), err
	}
	var ratios []float64
	for round := range rounds + 1 {
		ta, err := read(a)
		if err != nil {
			return 0, err
		}
		tb, err := read(b)
		if err != nil {
			return 0, err
		}
		if !bytes.Equal(dst, want) {
			return 0, fmt.Errorf("the tuned array has other items")
		}
		if round > 0 { // the first one warms up
			ratios = append(ratios, float64(ta)/float64(tb))
		}
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2], nil
}

// trials returns the part of the time for writing a, with the goal Balanced, that trials take: the difference from
// writing the array with the parameters of its header, which all its chunks have if the data is the same throughout. Of
// several rounds, the least time counts, because fresh memory takes time that has nothing to do with trials.
func (d *data) trials(ctx context.Context, a *ndarray.Array, rounds int) (float64, error) {
	p := a.Frame().Info().Params
	given := ndarray.CreateOptions{Codec: p.Codec, Level: p.Level, Filters: p.Filters, Split: p.Split}
	var least [2]time.Duration
	for round := range max(rounds, 1) {
		for i, o := range []ndarray.CreateOptions{given, {Goal: ndarray.Balanced}} {
			runtime.GC() // so that both write to memory that was used before
			start := time.Now()
			b, err := d.create(ctx, o)
			if err != nil {
				return 0, err
			}
			took := time.Since(start)
			b.Close()
			if round == 0 || took < least[i] {
				least[i] = took
			}
		}
	}
	return float64(least[1])/float64(least[0]) - 1, nil
}

// static returns the size with the goal Smallest, divided by that of the smallest array with the same parameters for
// all chunks, and these parameters. It tries all codecs at three levels with five lists of filters.
func (d *data) static(ctx context.Context) (float64, string, error) {
	a, err := d.create(ctx, ndarray.CreateOptions{Goal: ndarray.Smallest})
	if err != nil {
		return 0, "", err
	}
	defer a.Close()
	least, best := 0.0, ""
	for _, c := range []codec.ID{codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd} {
		for _, level := range []int{1, 5, 9} {
			for _, filters := range [][]chunk.Filter{{}, {chunk.Shuffle}, {chunk.BitShuffle}, {chunk.Shuffle, chunk.ByteDelta}, {chunk.Delta, chunk.Shuffle}} {
				b, err := d.create(ctx, ndarray.CreateOptions{Codec: c, Level: level, Filters: filters})
				if err != nil {
					return 0, "", err
				}
				if n := stored(b); best == "" || n < least {
					least, best = n, fmt.Sprintf("%v:%d %v", c, level, filters)
				}
				b.Close()
			}
		}
	}
	return stored(a) / least, best, nil
}

// paste puts a table between the marks of the program in a file.
func paste(name string, table []byte) error {
	begin, end := []byte("<!-- written by examples/tuning -->\n"), []byte("<!-- end of tuning -->")
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	head, rest, ok := bytes.Cut(b, begin)
	_, tail, found := bytes.Cut(rest, end)
	if !ok || !found {
		return fmt.Errorf("%s has no marks for the table", name)
	}
	return os.WriteFile(name, slices.Concat(head, begin, table, end, tail), 0o666)
}
