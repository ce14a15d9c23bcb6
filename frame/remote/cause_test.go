package remote

import (
	"context"
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// repeating is a Getter that repeats a failed request until its context ends.
type repeating struct{ last error }

func (g repeating) Get(ctx context.Context, _, _ int64, _ string) (*Answer, error) {
	<-ctx.Done()
	return nil, repeatedError{ctx.Err(), g.last}
}

// repeatedError is the error of a Getter whose context ended while it waited before a repetition, as the library of
// Google Cloud Storage returns it.
type repeatedError struct{ ended, last error }

func (e repeatedError) Error() string        { return e.ended.Error() }
func (e repeatedError) Unwrap() error        { return e.last }
func (e repeatedError) Is(target error) bool { return errors.Is(e.ended, target) }

// The error of a Getter that repeats its requests for too long has their error.
func TestGetterCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("connection refused")
		_, err := OpenGetter(t.Context(), "x", repeating{refused}, &Options{Retries: -1})
		if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.Is(err, refused) || errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if _, err = OpenGetter(t.Context(), "x", repeating{}, &Options{Retries: -1}); !errors.Is(err, os.ErrDeadlineExceeded) ||
			err.Error() != "x: the server sends nothing: i/o timeout (after 1 attempt)" {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = OpenGetter(ctx, "x", repeating{refused}, nil); err != context.DeadlineExceeded {
			t.Error(err)
		}
	})
}
