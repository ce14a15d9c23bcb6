// Command compare times this library and C-Blosc2 side by side: in one process, on the same memory and files,
// alternately. It prints a line for each cell and a summary of each group. With -json it also writes the results as
// JSON. See README.md.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/goblosc/blosc2/examples/compare/cblosc"
	"github.com/goblosc/blosc2/examples/compare/result"
	"github.com/goblosc/blosc2/internal/cpu"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// run parses the arguments, measures, and prints the results.
func run(args []string, out io.Writer) error {
	c := &config{rounds: 7, round: 50 * time.Millisecond, size: 16 << 20, sets: sets,
		edge: 128, frames: 1000, points: 10_000}
	fs := flag.NewFlagSet("compare", flag.ContinueOnError)
	fs.Func("run", "run the cells whose GROUP/NAME match this `regexp`", func(s string) (err error) {
		c.run, err = regexp.Compile(s)
		return err
	})
	fs.Func("levels", "compression `levels` instead of 1,5,9, or of 5 with -quick", func(s string) error {
		c.levels = nil
		for f := range strings.SplitSeq(s, ",") {
			level, err := strconv.Atoi(f)
			if err != nil || level < 1 || level > 9 {
				return fmt.Errorf("level %q, want 1 to 9", f)
			}
			c.levels = append(c.levels, level)
		}
		return nil
	})
	fs.IntVar(&c.size, "size", c.size, "bytes in a chunk")
	fs.IntVar(&c.rounds, "rounds", c.rounds, "number of rounds; a round times both sides")
	fs.DurationVar(&c.round, "round", c.round, "minimum time of a side in a round")
	quick := fs.Bool("quick", false, "use small data, short rounds and level 5 only")
	name := fs.String("json", "", "also write the results as JSON to this `file`")
	docs := fs.String("docs", "", "also write the results, the chart and the tables of the documentation below this `folder`")
	from := fs.String("from", "", "read the results from this JSON `file` instead of measuring")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 || c.size < 4096 || c.rounds < 1 {
		return fmt.Errorf("usage: compare [-run REGEXP] [-levels LIST] [-size N] [-rounds N] [-round TIME] [-quick]\n" +
			"\t[-json FILE] [-docs FOLDER] [-from FILE]")
	}
	if *quick {
		c.size, c.round, c.edge, c.frames = min(c.size, 1<<20), time.Millisecond, 32, 100
	}
	switch {
	case c.levels != nil:
	case *quick:
		c.levels = []int{5}
	default:
		c.levels = []int{1, 5, 9}
	}
	c.log = func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	r, err := c.results(*from)
	if err != nil {
		return err
	}
	if *from == "" {
		r.Command = commandOf(args)
	}
	r.Print(out)
	if *name != "" {
		text, err := r.JSON()
		if err == nil {
			err = os.WriteFile(*name, text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	if *docs != "" {
		return r.WriteDocs(*docs)
	}
	return nil
}

// commandOf returns the flags that affect the results, without those for files.
func commandOf(args []string) string {
	var kept []string
	for i := 0; i < len(args); i++ {
		switch strings.TrimLeft(args[i], "-") {
		case "json", "docs":
			i++ // the value
		case "run":
			i++
			kept = append(kept, "-run", "'"+args[i]+"'")
		default:
			kept = append(kept, args[i])
		}
	}
	return strings.Join(kept, " ")
}

// results reads the results from a file if it has a name, and measures otherwise.
func (c *config) results(from string) (*result.Report, error) {
	if from != "" {
		return result.Read(from)
	}
	return c.report()
}

// report runs all cells.
func (c *config) report() (*result.Report, error) {
	var err error
	if c.dir, err = os.MkdirTemp("", "compare"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(c.dir)
	r := &result.Report{CPU: cpuName(), CPUs: runtime.NumCPU(), Go: runtime.Version(), Kernel: cpu.Current().String(),
		C: cblosc.Version(), Codecs: cblosc.Codecs()}
	c.log("%s, %d CPUs, Go %s with kernels %s, C-Blosc2 %s with %s; times in microseconds", r.CPU, runtime.NumCPU(), r.Go, r.Kernel, r.C, r.Codecs)
	c.log("%-12s %-52s %10s %10s    %8s", "group", "name", "Go", "C", "Go/C")
	for _, f := range []func() ([]row, error){c.kernels, c.chunks, c.reads, c.writes} {
		rows, err := f()
		r.Rows = append(r.Rows, rows...)
		if err != nil {
			return nil, err
		}
	}
	r.Summarize()
	return r, nil
}

// cpuName returns the model name of the CPU on Linux, and the architecture on other systems.
func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // exists only on Linux
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
