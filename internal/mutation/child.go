package mutation

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/goblosc/blosc2/internal/race"
)

// Limit is how many bytes of memory a child process may use for data.
const Limit = 256 << 20

// envChild is set in the environment of a child process.
const envChild = "BLOSC2_TEST_MUTATIONS_HERE"

func isChild() bool { return os.Getenv(envChild) != "" }

// InChild runs the test t again, in a child process with little memory, and reports whether it did: then the test
// should return. It returns false in the child, with the race detector, which needs more memory, and where programs
// cannot limit or start others.
func InChild(t *testing.T) bool {
	t.Helper()
	if isChild() {
		debug.SetMemoryLimit(Limit / 2) // garbage of earlier mutations does not count
		return false
	}
	if runtime.GOOS != "linux" || race.Enabled {
		return false
	}
	if err := exec.Command(os.Args[0], "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Log("emulated, without a limit")
		return false
	}
	// The stacks of threads count as data.
	limit := fmt.Sprintf(`ulimit -s 1024; ulimit -d %d; exec "$0" "$@"`, Limit>>10)
	c := exec.Command("sh", "-c", limit, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=3h", fmt.Sprintf("-test.short=%v", testing.Short()))
	c.Env = append(os.Environ(), envChild+"=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, lastLines(out))
	}
	t.Logf("%s", lastLines(out))
	return true
}

// lastLines returns the end of what a process printed: the last mutation and what follows it.
func lastLines(out []byte) string {
	var lines []string
	for r := bufio.NewScanner(bytes.NewReader(out)); r.Scan(); {
		if strings.HasPrefix(r.Text(), "mutation ") {
			lines = nil
		}
		if lines = append(lines, r.Text()); len(lines) > 200 {
			break
		}
	}
	return strings.Join(lines, "\n")
}

// Count returns the number of mutations that a test tries: many, few in a short test, or the number in the environment
// variable env.
func Count(env string, many, few int) int {
	if n, err := strconv.Atoi(os.Getenv(env)); err == nil {
		return n
	}
	if testing.Short() {
		return few
	}
	return many
}
