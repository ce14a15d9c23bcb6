//go:build linux || darwin || freebsd

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBrokenPipe runs verbs whose output nothing reads, as after the end of head. SIGPIPE ends them, and they write no
// error. A create from a large pipe leaves no temporary file.
func TestBrokenPipe(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, numbers(1000), "create", "-raw", a)
	input := strings.Repeat("not zero", 33<<17) // more than create keeps in memory
	for _, args := range [][]string{{"slice", "-csv", a, ":"}, {"create", "-raw", "-level", "0", "-"}} {
		temp := t.TempDir()
		c := program(t, args...)
		c.Env = append(c.Env, "TMPDIR="+temp)
		c.Stdin = strings.NewReader(input)
		var errOut strings.Builder
		c.Stderr = &errOut
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		c.Stdout = w
		err = c.Run()
		w.Close()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || errOut.Len() > 0 {
			t.Errorf("%q: %v, %q", args, err, &errOut)
		}
		if left := names(t, temp); len(left) > 0 {
			t.Errorf("%q: left %v", args, left)
		}
	}
}
