// Package cli has what the programs share: the runner, lists of numbers in flags, and sample data.
package cli

import (
	"context"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"     // the runner of this process
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal" // the runner of job servers, such as Flink's
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/internal/paths"
)

var runner = flag.String("runner", "prism", "where the pipeline runs: prism, universal or dataflow; see README.md")

// Main parses the flags and calls run, as the main function of a program.
func Main(run func(ctx context.Context) error) {
	flag.Parse()
	beam.Init()
	err := checkFlags(flag.CommandLine)
	if err == nil {
		err = run(context.Background())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// checkFlags returns an error for a flag that is not UTF-8, such as the name of a folder, which Beam cannot send to
// workers.
func checkFlags(flags *flag.FlagSet) (err error) {
	flags.Visit(func(f *flag.Flag) {
		if !utf8.ValidString(f.Value.String()) {
			err = fmt.Errorf("-%s %q is not UTF-8", f.Name, f.Value)
		}
	})
	return err
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

// Files returns the arrays of a path, which may be a URL or a pattern. Names of files and folders that exist are no
// patterns.
func Files(path string) ([]b2beam.File, error) {
	if strings.Contains(path, "://") {
		base, _, _ := strings.Cut(path, "?")
		base = strings.TrimRight(base, "/") // of a sparse array
		base = base[strings.LastIndexByte(base, '/')+1:]
		return []b2beam.File{{Name: strings.TrimSuffix(base, filepath.Ext(base)), Path: path}}, nil
	}
	path = paths.Trim(path)
	if _, err := os.Stat(path); err == nil {
		base := filepath.Base(path)
		return []b2beam.File{{Name: strings.TrimSuffix(base, filepath.Ext(base)), Path: path}}, nil
	}
	root, pattern := paths.Dir(path), filepath.Base(path)
	for _, err := os.Stat(root); err != nil && root != paths.Dir(root); _, err = os.Stat(root) {
		root, pattern = paths.Dir(root), filepath.Base(root)+"/"+pattern
	}
	return b2beam.Glob(root, pattern)
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
