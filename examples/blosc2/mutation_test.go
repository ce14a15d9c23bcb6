package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/internal/mutation"
)

// limit is the memory in bytes that programs may use to read mutated files.
const limit = 256 << 20

// subject is a stored frame or chunk with a file to mutate.
type subject struct {
	name  string // of the fixture
	path  string // of the copy: a file or a directory
	file  string // the file to mutate
	bytes []byte // its original contents
}

// subjects copies all fixtures of at most most bytes to a directory. The index and one chunk file of a sparse frame are
// a subject each.
func subjects(t testing.TB, dir string, most int64) []subject {
	var list []subject
	root := filepath.Join("..", "..", "testdata")
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		copied := filepath.Join(dir, fmt.Sprint(len(list)))
		if d.IsDir() {
			if _, err := os.Stat(filepath.Join(p, "chunks.b2frame")); err != nil {
				return nil
			}
			files, err := filepath.Glob(filepath.Join(p, "*.chunk"))
			if err != nil {
				return err
			}
			for _, f := range append(files[:min(1, len(files))], filepath.Join(p, "chunks.b2frame")) {
				copied := filepath.Join(dir, fmt.Sprint(len(list)))
				if err := os.CopyFS(copied, os.DirFS(p)); err != nil {
					return err
				}
				b, err := os.ReadFile(f)
				if err != nil {
					return err
				}
				list = append(list, subject{f, copied, filepath.Join(copied, filepath.Base(f)), b})
			}
			return fs.SkipDir
		}
		fi, err := d.Info()
		if err != nil || !slices.Contains([]string{".chunk", ".b2nd", ".b2frame"}, filepath.Ext(p)) || fi.Size() > most {
			return err
		}
		b, err := os.ReadFile(p)
		list = append(list, subject{p, copied, copied, b})
		return err
	})
	if err != nil || len(list) < 100 {
		t.Fatal(len(list), err)
	}
	return list
}

// limitedOutput is an output that accepts a few MiB, because a mutated size may result in terabytes of zeros.
type limitedOutput struct{ left int }

var errFull = errors.New("output limit reached")

func (e *limitedOutput) Write(p []byte) (int, error) {
	if e.left -= len(p); e.left < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// runVerb runs a verb with arguments. It returns an error unless the exit status is 0 with nothing on standard error
// except the note of verify, or 1 with one line, within a second.
func runVerb(args ...string) (code int, fault error) {
	for try := range 3 { // the machine may be busy
		var stderr bytes.Buffer
		start := time.Now()
		code = run(context.Background(), args, nil, &limitedOutput{64 << 20}, &stderr)
		text := stderr.String()
		switch {
		case code == 0 && countErrors(text) == 0:
		case code == 1 && strings.Count(text, "\n") == 1 && strings.HasSuffix(text, "\n") && len(text) > 5:
		default:
			return code, fmt.Errorf("exit status %d, %q", code, text)
		}
		took := time.Since(start)
		if took <= time.Second {
			return code, nil
		}
		if try == 2 {
			return code, fmt.Errorf("%v", took)
		}
	}
	return code, nil
}

// amount returns the number of mutations: few, or the number in the environment.
func amount(few int) int {
	if n, err := strconv.Atoi(os.Getenv("BLOSC2_MUTATIONS")); err == nil {
		return n
	}
	if testing.Short() {
		few /= 10
	}
	return few
}

// TestMutations runs verify and dump on truncated and mutated fixtures, in a process with a memory limit of 256 MiB.
// The result must be data or an error of one line.
//
// BLOSC2_MUTATIONS=100000 go -C examples/blosc2 test -timeout 3h -run TestMutations . tests 100,000 mutations and
// every truncation of the fixtures. A file that fails is kept as $TMPDIR/blosc2-mutation. The number of a mutation
// reproduces it.
func TestMutations(t *testing.T) {
	if os.Getenv("BLOSC2_MUTATIONS_HERE") == "" && canLimit {
		c := exec.Command(os.Args[0], "-test.run=^TestMutations$", "-test.v", "-test.timeout=3h", "-test.short="+strconv.FormatBool(testing.Short()))
		c.Env = append(os.Environ(), "BLOSC2_MUTATIONS_HERE=1")
		out, err := c.CombinedOutput()
		if !errors.Is(err, syscall.ENOEXEC) {
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Logf("%s", out)
			return
		}
		t.Log("emulated, without a memory limit: the operating system does not run programs for", runtime.GOARCH)
	} else if err := limitMemory(limit); err != nil {
		t.Fatal(err)
	}
	debug.SetMemoryLimit(limit / 2)
	list := subjects(t, t.TempDir(), 256<<10)
	n := amount(2000)
	exits := [2]int{}
	slowest := time.Duration(0)
	examine := func(p subject, what string) {
		for _, verb := range []string{"verify", "dump"} {
			start := time.Now()
			code, fault := runVerb(verb, p.path)
			slowest = max(slowest, time.Since(start))
			if fault != nil {
				if b, err := os.ReadFile(p.file); err == nil {
					os.WriteFile(filepath.Join(os.TempDir(), "blosc2-mutation"), b, 0o666)
				}
				t.Errorf("%s %s, %s: %v", verb, p.name, what, fault)
				continue
			}
			exits[code]++
		}
	}
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 11))
		p := list[rng.IntN(len(list))]
		if err := os.WriteFile(p.file, mutation.Bytes(rng, p.bytes), 0o666); err != nil {
			t.Fatal(err)
		}
		examine(p, fmt.Sprintf("mutation %d", i))
		if err := os.WriteFile(p.file, p.bytes, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d mutations: %d results with data, %d errors, slowest %v", n, exits[0], exits[1], slowest)
	truncations := 0
	exits, slowest = [2]int{}, 0
	few := max(1, n/len(list))
	for k, p := range list {
		rng := rand.New(rand.NewPCG(uint64(k), 12))
		if err := os.WriteFile(p.file, p.bytes, 0o666); err != nil {
			t.Fatal(err)
		}
		for i := len(p.bytes) - 1; i >= 0; i-- {
			if n < 100_000 && rng.IntN(len(p.bytes)) >= few {
				continue
			}
			if err := os.Truncate(p.file, int64(i)); err != nil {
				t.Fatal(err)
			}
			truncations++
			examine(p, fmt.Sprintf("%d bytes", i))
		}
	}
	t.Logf("%d truncations: %d results with data, %d errors, slowest %v", truncations, exits[0], exits[1], slowest)
}

// TestMutationsProgram is like TestMutations, but runs the program, with a new process for each file.
func TestMutationsProgram(t *testing.T) {
	if !canLimit || testing.Short() {
		return // TestMutations calls the same code
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "blosc2")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := exec.Command(program, "help").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("emulated: the operating system does not run programs for", runtime.GOARCH)
	}
	list := subjects(t, dir, 64<<10)
	exits := [2]int{}
	for i := range amount(5000) / 100 {
		rng := rand.New(rand.NewPCG(uint64(i), 11))
		p := list[rng.IntN(len(list))]
		if err := os.WriteFile(p.file, mutation.Bytes(rng, p.bytes), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"verify", "dump"} {
			// head stops reading after 64 MiB, which ends the program with status 141.
			c := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -s 1024; ulimit -d %d; { "$0" "$@"; echo $? >&3; } | head -c %d >/dev/null`, limit>>10, 64<<20), program, verb, p.path)
			var stderr bytes.Buffer
			c.Stderr = &stderr
			status, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			c.ExtraFiles = []*os.File{w}
			err = c.Run()
			w.Close()
			var code int
			if _, scanErr := fmt.Fscan(status, &code); err == nil {
				err = scanErr
			}
			status.Close()
			lines := countErrors(stderr.String())
			switch {
			case err != nil || code != 0 && code != 1 && code != 141 || code < 2 && lines != code:
				t.Errorf("%s %s, mutation %d: status %d, %v, %q", verb, p.name, i, code, err, stderr.String())
			case code < 2:
				exits[code]++
			}
		}
		if err := os.WriteFile(p.file, p.bytes, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d results with data, %d errors", exits[0], exits[1])
}
