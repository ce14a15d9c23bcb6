// Package trap helps to test what happens when a user's function panics or calls runtime.Goexit.
package trap

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// Trap makes the functions that call Tick panic, or call runtime.Goexit, while it is armed.
type Trap struct {
	Goexit bool // call runtime.Goexit, do not panic
	armed  atomic.Bool
}

// Tick ends the calling goroutine if the trap is armed. The value of the panic is the trap.
func (x *Trap) Tick() {
	switch {
	case !x.armed.Load():
	case x.Goexit:
		runtime.Goexit()
	default:
		panic(x)
	}
}

// Spring calls f with the trap armed. The test fails unless the call ends as the trap does: with its value, on the
// goroutine that made the call, within 30 seconds.
func (x *Trap) Spring(t testing.TB, what string, f func() error) {
	t.Helper()
	x.armed.Store(true)
	defer x.armed.Store(false)
	done := make(chan string, 1)
	go func() {
		how := "runtime.Goexit"
		defer func() {
			if v := recover(); v == any(x) {
				how = "panic"
			} else if v != nil {
				how = fmt.Sprint("another panic: ", v)
			}
			done <- how
		}()
		err := f()
		how = fmt.Sprint("returned ", err)
	}()
	want := "panic"
	if x.Goexit {
		want = "runtime.Goexit"
	}
	select {
	case how := <-done:
		if how != want {
			t.Errorf("%s: %s, want %s", what, how, want)
		}
	case <-time.After(30 * time.Second):
		buf := make([]byte, 1<<20)
		t.Fatalf("%s hangs\n%s", what, buf[:runtime.Stack(buf, true)])
	}
}
