package task

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// outcome calls f on a goroutine and returns how it ended.
func outcome(f func()) (value any, goexit bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		goexit = true
		defer func() {
			if value = recover(); value != nil {
				goexit = false
			}
		}()
		f()
		goexit = false
	}()
	<-done
	return value, goexit
}

func TestResult(t *testing.T) {
	want := errors.New("an error")
	if err := Go(func() error { return want }).Result(); err != want {
		t.Error(err)
	}
	x := Go(func() error { panic(want) })
	x.Wait()
	for range 2 {
		if v, _ := outcome(func() { x.Result() }); v != want {
			t.Errorf("panic with %v", v)
		}
	}
	var r runtime.Error
	if v, _ := outcome(func() { Go(func() error { var p *int; *p = 1; return nil }).Result() }); !errors.As(v.(error), &r) {
		t.Errorf("panic with %v", v)
	}
	if v, goexit := outcome(func() { Go(func() error { runtime.Goexit(); return nil }).Result() }); v != nil || !goexit {
		t.Errorf("panic %v, Goexit %v", v, goexit)
	}
}

// TestStack checks that the last message of a crashing program shows the stack of the original panic.
func TestStack(t *testing.T) {
	if os.Getenv("TASK_TEST_DIE") != "" {
		Go(func() error { return theCulprit() }).Result()
	}
	self, err := os.Executable()
	if err != nil {
		t.Skip(err)
	}
	c := exec.Command(self, "-test.run=^TestStack$")
	c.Env = append(os.Environ(), "TASK_TEST_DIE=1")
	out, err := c.CombinedOutput()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOEXEC) { // as in emulated programs
		t.Skip(err)
	}
	if err == nil || !strings.Contains(string(out), "panic: the value") || !strings.Contains(string(out), "theCulprit") {
		t.Errorf("%v\n%s", err, out)
	}
}

//go:noinline
func theCulprit() error { panic("the value") }

func TestContext(t *testing.T) {
	var none context.Context
	if Context(none) == nil || Context(t.Context()) != t.Context() {
		t.Error("another context")
	}
}

// TestOnce checks that each call of Do ends as the function did.
func TestOnce(t *testing.T) {
	var fine Once
	calls := 0
	for range 3 {
		fine.Do(func() { calls++ })
	}
	if calls != 1 {
		t.Errorf("%d calls", calls)
	}
	var panics, exits Once
	for range 3 {
		var value any
		func() {
			defer func() { value = recover() }()
			panics.Do(func() { panic("a panic") })
		}()
		if value != "a panic" {
			t.Errorf("panic %v", value)
		}
		returned, done := false, make(chan any)
		go func() {
			defer func() { done <- recover() }()
			exits.Do(runtime.Goexit)
			returned = true
		}()
		if value := <-done; value != nil || returned {
			t.Errorf("after Goexit: panic %v, returned %v", value, returned)
		}
	}
}
