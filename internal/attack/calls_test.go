package attack

import (
	"errors"
	"math"
	"testing"
)

// oddCall is a call with odd arguments. It must return an error that wraps want; any error will do if want is errAny.
type oddCall struct {
	name string
	want error
	do   func() error
}

var errAny = errors.New("any error")

// check fails for a call that panics or returns another error.
func (c oddCall) check(t *testing.T) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s: panic: %v", c.name, p)
		}
	}()
	err := c.do()
	if ok := c.want == nil && err == nil || c.want == errAny && err != nil; !ok && (c.want == nil || !errors.Is(err, c.want)) {
		t.Errorf("%s: %v, want %v", c.name, err, c.want)
	}
}

// second returns the error of a call with one result.
func second[T any](_ T, err error) error { return err }

// ends returns the last error of a loop, which it ends after some steps.
func ends[T any](seq func(func(T, error) bool)) error {
	n := 0
	for _, err := range seq {
		if n++; err != nil || n > 1000 {
			return err
		}
	}
	return nil
}

const top, low = math.MaxInt64, math.MinInt64

// TestOddArguments calls everything with arguments that make no sense, or little. Nothing panics.
func TestOddArguments(t *testing.T) {
	for what, calls := range map[string][]oddCall{"ndarray": arrayCalls(t), "frame": frameCalls(t), "store": storeCalls(t), "table": tableCalls(t), "objects": objectCalls(t)} {
		t.Run(what, func(t *testing.T) {
			for _, c := range calls {
				c.check(t)
			}
		})
	}
}
