// Package cli has what the programs share: the runner, lists of numbers in flags, and sample data.
package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"     // the runner of this process
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal" // the runner of job servers, such as Flink's
	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

var runner = flag.String("runner", "prism", "where the pipeline runs: prism, universal or dataflow; see README.md")

// Main parses the flags and calls run, as the main function of a program.
func Main(run func(ctx context.Context) error) {
	flag.Parse()
	beam.Init()
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// Run runs the pipeline that build makes, and prints the counters of package b2beam. A program must have called
// flag.Parse and beam.Init.
func Run(ctx context.Context, build func(s beam.Scope) error) error {
	p, s := beam.NewPipelineWithRoot()
	if err := build(s); err != nil {
		return err
	}
	result, err := beam.Run(ctx, *runner, p)
	if err != nil {
		return err
	}
	if result == nil {
		return nil
	}
	sums := map[string]int64{}
	counters := result.Metrics().Query(func(r beam.MetricResult) bool { return r.Namespace() == "blosc2" }).Counters()
	for _, c := range counters {
		sums[c.Name()] += c.Result()
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		fmt.Printf("%s: %d\n", name, sums[name])
	}
	return nil
}

// Files returns the arrays of a path, which may be a URL or a pattern. Names of folders that exist are no patterns.
func Files(path string) ([]b2beam.File, error) {
	if strings.Contains(path, "://") {
		base, _, _ := strings.Cut(path, "?")
		base = strings.TrimRight(base, "/") // of a sparse array
		base = base[strings.LastIndexByte(base, '/')+1:]
		return []b2beam.File{{Name: strings.TrimSuffix(base, filepath.Ext(base)), Path: path}}, nil
	}
	root, pattern := filepath.Dir(path), filepath.Base(path)
	for _, err := os.Stat(root); err != nil && root != filepath.Dir(root); _, err = os.Stat(root) {
		root, pattern = filepath.Dir(root), filepath.Base(root)+"/"+pattern
	}
	return b2beam.Glob(root, pattern)
}

// Chunks returns the chunk shape of the array at a path, which may be a URL. The path of the URL of a sparse array ends
// with a slash.
func Chunks(ctx context.Context, path string) ([]int64, error) {
	if !strings.Contains(path, "://") {
		a, err := ndarray.Open(ctx, path, nil)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		return a.Chunks(), nil
	}
	src, err := openURL(ctx, path)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	a, err := ndarray.OpenSource(ctx, src, nil)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return a.Chunks(), nil
}

// source is an object or a sparse frame at a URL.
type source interface {
	frame.Source
	io.Closer
}

// openURL opens the object or the sparse frame at a URL.
func openURL(ctx context.Context, path string) (source, error) {
	base, _, _ := strings.Cut(path, "?")
	web := strings.HasPrefix(base, "http://") || strings.HasPrefix(base, "https://")
	switch sparse := strings.HasSuffix(base, "/"); {
	case web && sparse:
		return remote.OpenDir(ctx, path, nil)
	case web:
		return remote.Open(ctx, path, nil)
	case sparse:
		return cloud.OpenDir(ctx, path, nil, nil)
	}
	return cloud.Open(ctx, path, nil, nil)
}

// Ints parses a list of numbers, such as "365,-1,16". An empty text is a nil list.
func Ints(text string) ([]int64, error) {
	if text == "" {
		return nil, nil
	}
	var list []int64
	for _, field := range strings.Split(text, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(field), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is no list of numbers", text)
		}
		list = append(list, n)
	}
	return list, nil
}
