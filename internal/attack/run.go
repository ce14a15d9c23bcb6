package attack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// deadline is how long a check of one mutant may take.
const deadline = 5 * time.Second

// Names of the environment that a child process gets: the test, and its folder.
const (
	envChild = "ATTACK_CHILD"
	envDir   = "ATTACK_DIR"
	envAlone = "ATTACK_ALONE"
)

// Count returns the number of mutants that a test checks: n, fewer in a short test, or as many as the environment asks
// for.
func Count(n int) int {
	if n, err := strconv.Atoi(os.Getenv("ATTACK_MUTANTS")); err == nil {
		return n
	}
	if testing.Short() {
		return n / 20
	}
	return n
}

// total sums up outcomes.
type total struct {
	mu                      sync.Mutex
	mutants, opened, intact int
	data, errors            int
	slowest                 time.Duration
	slowestSeed             uint64
	faults                  int
	restarts                int // children that ran out of memory, but not with the same mutant alone
	slow                    int // the same for time
}

// maxFaults is how many mutants with faults a run reports before it ends.
const maxFaults = 50

// run is one call of Run.
type run struct {
	t     testing.TB
	check CheckFunc
	next  chan uint64
	total
}

// Run checks n mutants, from seed $ATTACK_FIRST or 0 up, with the child processes of test t, which must call Run before
// anything else. See the comment of the package.
func Run(t *testing.T, n int, check CheckFunc) {
	if os.Getenv(envChild) == t.Name() {
		if os.Getenv(envAlone) != "" {
			limitTime(deadline) // without it there is still the deadline
		}
		if err := serve(os.Getenv(envDir), check, os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	first, _ := strconv.ParseUint(os.Getenv("ATTACK_FIRST"), 10, 64)
	r := &run{t: t, check: check, next: make(chan uint64)}
	start := time.Now()
	dir := workFolder(t)
	var wait sync.WaitGroup
	for i := range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() { r.work(filepath.Join(dir, fmt.Sprint(i))) })
	}
	for i := range n {
		r.next <- first + uint64(i)
		if n >= 50_000 && i%10_000 == 9999 {
			fmt.Fprintf(os.Stderr, "%d mutants in %v\n", i+1, time.Since(start).Round(time.Second))
		}
	}
	close(r.next)
	wait.Wait()
	t.Logf("%d mutants on %s in %v: %d opened, %d intact; %d steps gave data, %d errors; the slowest, seed %d, took %v; %d children ran out of memory and %d of time, but not with the same mutant alone",
		r.mutants, runtime.GOARCH, time.Since(start).Round(time.Second), r.opened, r.intact, r.data, r.errors, r.slowestSeed, r.slowest.Round(time.Millisecond), r.restarts, r.slow)
	if k := r.mutants; k < min(n, 20) || k >= 500 && (r.opened < k/5 || r.intact < k/50) {
		t.Errorf("too few mutants get past the first checks")
	}
}

// workFolder makes a folder, in memory where the system has one there.
func workFolder(t testing.TB) string {
	if runtime.GOOS == "linux" {
		if dir, err := os.MkdirTemp("/dev/shm", "attack"); err == nil {
			t.Cleanup(func() { os.RemoveAll(dir) })
			return dir
		}
	}
	return t.TempDir()
}

// work checks mutants, in child processes if this process can start them.
func (r *run) work(base string) {
	c, err := startChild(r.t.Name(), base)
	if errors.Is(err, errNoChildren) || errors.Is(err, syscall.ENOEXEC) {
		r.t.Log("mutants are checked without limits, because programs cannot start others here:", err)
		r.workHere(base)
		return
	}
	for seed := range r.next {
		if c == nil && err == nil {
			c, err = startChild(r.t.Name(), base)
		}
		if err != nil {
			r.t.Error(err)
			for range r.next { // the seeds must end
			}
			return
		}
		if !r.one(c, seed) {
			c = nil
		}
	}
	if c != nil {
		c.stop()
	}
}

// one checks a mutant in a child process, and reports whether the child is still of use.
func (r *run) one(c *child, seed uint64) bool {
	start := time.Now()
	o, fault, err := c.ask(seed)
	took := time.Since(start)
	if err == nil {
		r.note(seed, o, took, fault)
		return true
	}
	c.stop()
	first := err
	if errors.Is(err, errDeadline) || isMemory(err.Error()) {
		// The machine may be busy, or earlier mutants may have left garbage. A new child checks the mutant alone, in as
		// much CPU time.
		alone, err := startChild(r.t.Name(), c.base, envAlone+"=1")
		if err == nil {
			o, fault, err = alone.askFor(seed, 10*deadline)
			alone.stop()
		}
		if err == nil {
			r.mu.Lock()
			if errors.Is(first, errDeadline) {
				r.slow++
			} else {
				r.restarts++
			}
			r.mu.Unlock()
			r.note(seed, o, 0, fault)
			return false
		}
		first = errors.Join(first, fmt.Errorf("alone: %w", err))
	}
	r.note(seed, Outcome{}, took, first.Error())
	return false
}

// isMemory reports whether a process ended for lack of memory. Go's runtime does not notice that when it makes the
// pointer mask of a large type, and faults.
func isMemory(text string) bool {
	for _, s := range []string{"out of memory", "cannot allocate memory", "runtime.getGCMaskOnDemand"} {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// count returns the number of mutants so far.
func (r *run) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mutants
}

// note counts an outcome, and reports a fault.
func (r *run) note(seed uint64, o Outcome, took time.Duration, fault string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mutants++
	if o.Opened {
		r.opened++
	}
	if o.Intact {
		r.intact++
	}
	r.data, r.errors = r.data+o.Data, r.errors+o.Errors
	if took > r.slowest {
		r.slowest, r.slowestSeed = took, seed
	}
	if fault == "" {
		return
	}
	if r.faults++; r.faults > maxFaults {
		return
	}
	r.t.Errorf("%s\n\t%s", r.describe(seed), fault)
}

// describe returns what the mutant of a seed is.
func (r *run) describe(seed uint64) string {
	dir, err := os.MkdirTemp("", "attack")
	if err != nil {
		return err.Error()
	}
	defer os.RemoveAll(dir)
	list, err := originals(dir)
	if err != nil {
		return err.Error()
	}
	return (&server{list: list}).describe(seed)
}

// mostHere is how many mutants a process checks that cannot start others: it is emulated, and slow.
const mostHere = 100

// workHere checks mutants in this process.
func (r *run) workHere(base string) {
	s, err := newServer(base, r.check)
	if err != nil {
		r.t.Error(err)
	}
	for seed := range r.next {
		if err == nil && r.count() < mostHere {
			start := time.Now()
			o, err := s.one(seed)
			fault := ""
			if err != nil {
				fault = err.Error()
			}
			r.note(seed, o, time.Since(start), fault)
		}
	}
}

var (
	errDeadline   = fmt.Errorf("no answer within %v", deadline)
	errNoChildren = errors.New("this system has no child processes")
)
