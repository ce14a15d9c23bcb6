package attack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// Outcome is what programs got from a mutant.
type Outcome struct {
	Opened bool // as a frame, or decoded as a chunk
	Intact bool // Verify found no fault
	Data   int  // steps that succeeded
	Errors int  // steps that failed, with a clear error
}

// checker checks one mutant.
type checker struct {
	Outcome
	mu     *Mutant
	rng    *rand.Rand
	dir    string // of the mutant and what is made of it
	path   string // of the mutant
	faults []string
}

// Check does with a mutant what programs do, in an empty folder, beside which links of the mutant lead to outside. It
// returns an error that describes what went wrong.
func (m *Mutant) Check(dir, outside string) (Outcome, error) {
	c := &checker{mu: m, rng: rand.New(rand.NewPCG(m.Seed, 18)), dir: dir, path: filepath.Join(dir, "in")}
	if err := m.Write(c.path, outside); err != nil {
		return c.Outcome, fmt.Errorf("cannot write the mutant: %w", err)
	}
	if m.from.model == nil {
		c.checkChunk(m.files[0].head)
	} else {
		c.checkFrame()
	}
	if len(c.faults) > 0 {
		return c.Outcome, errors.New(strings.Join(c.faults, "\n\t"))
	}
	return c.Outcome, nil
}

func (c *checker) faultf(format string, args ...any) {
	if len(c.faults) < 10 {
		c.faults = append(c.faults, fmt.Sprintf(format, args...))
	}
}

// step counts a step, and reports whether it succeeded. An error must be clear.
func (c *checker) step(name string, err error) bool {
	if err == nil {
		c.Data++
		return true
	}
	c.Errors++
	if why := unclear(err); why != "" {
		c.faultf("%s: %s: %q", name, why, err)
	}
	return false
}

// limit reports whether an error is about a limit of the options or of the format, such as a name of a metalayer that
// can be read but not written. That is no fault of an intact mutant.
func limit(err error) bool {
	return errors.Is(err, frame.ErrTooLarge) || errors.Is(err, frame.ErrParam) && strings.Contains(err.Error(), "metalayer name")
}

// mustStep is step for what must succeed in a mutant that is intact.
func (c *checker) mustStep(name string, err error) bool {
	ok := c.step(name, err)
	if !ok && c.Intact && !limit(err) {
		c.faultf("%s, of an intact mutant: %v", name, err)
	}
	return ok
}

// clearErrors are the errors of the packages, one of which each error wraps. An error of the operating system is clear
// as well if it names a file.
var clearErrors = []error{
	frame.ErrFormat, frame.ErrCorrupt, errors.ErrUnsupported, frame.ErrTooLarge, frame.ErrParam, frame.ErrReadOnly, frame.ErrBounds,
	fs.ErrNotExist, fs.ErrExist, frame.ErrChanged,
	ndarray.ErrShape, ndarray.ErrType, ndarray.ErrNotArray,
}

// unclear returns what is wrong with an error of a step, or "".
func unclear(err error) string {
	text := err.Error()
	if text == "" || len(text) > 2000 {
		return "an error without text, or with too much"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' }) {
		return "an error with control characters"
	}
	for _, e := range clearErrors {
		if errors.Is(err, e) {
			return ""
		}
	}
	var path *fs.PathError
	var link *os.LinkError
	if errors.As(err, &path) && !errors.Is(err, syscall.EFAULT) || errors.As(err, &link) {
		return ""
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	if strings.Contains(text, ": lock ") {
		return "" // the caller cannot do anything about any of them but remove the lock file
	}
	if errors.Is(err, io.EOF) {
		return "an end of file"
	}
	return "an error without a kind"
}

// options returns options as programs use them.
func (c *checker) options() *frame.OpenOptions {
	o := new(frame.OpenOptions)
	o.Concurrency = 1 + c.rng.IntN(2)
	o.MaxBytes = pick[int64](c.rng, 0, 1<<20, 32<<20)
	o.NoSync = true
	o.Verify = c.rng.IntN(3) == 0
	o.Mmap = c.rng.IntN(4) == 0
	if c.rng.IntN(4) == 0 {
		o.Cache = 1 << 16
	}
	if c.rng.IntN(8) == 0 {
		o.MaxChunks, o.MaxMeta = 50_000, 1<<16
	}
	return o
}

// arrayOptions returns options for opening an array for reading.
func (c *checker) arrayOptions() *ndarray.OpenOptions {
	o := c.options()
	return &ndarray.OpenOptions{
		Concurrency: o.Concurrency, MaxBytes: o.MaxBytes, Verify: o.Verify, Mmap: o.Mmap,
		Cache: o.Cache, MaxChunks: o.MaxChunks, MaxMeta: o.MaxMeta,
	}
}
